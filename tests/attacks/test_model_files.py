"""A model file cannot run code, read files, choose clusters, or ask for more memory than it has itself.

``ACCORD_FUZZ=10000`` makes the last test as long as the one whose figures stand in the documentation.
"""

import json
import os
import sys
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from model_mutations import mutated, pack, unpack
from saved_models import CASES
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

from accord import PreferenceRanker
from accord.errors import InputError
from accord.store.models import load_model, save_model

# One model of each kind, small.
CHOSEN = ("pairs features=ext", "threads table=True", "aspects model=ordinal_crf", "links estimator=", "rationales est")


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The bytes of real model files, one of each kind and one of trees."""
    folder, found = tmp_path_factory.mktemp("models"), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in CHOSEN:
            case = next(case for case in CASES if case.name.startswith(name))
            found.append(save_model(case.fit(), folder / "m", kind=case.kind).read_bytes())
        x = np.random.default_rng(0).normal(size=(60, 3))
        trees = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(x, x[:, 0] > 0)
        found.append(save_model(trees, folder / "m", kind="threads").read_bytes())
    return found


@pytest.fixture
def small(tmp_path):
    """A small model file, and a function that writes it back with changes."""
    path = save_model(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m", kind="threads")
    document, files = unpack(path.read_bytes())

    def write(change, **options):
        told, held = json.loads(json.dumps(document)), dict(files)
        change(told, held)
        path.write_bytes(pack(told, held, **options))
        return path

    return write


def state(document):
    return document["model"]["sklearn.LogisticRegression"]


@pytest.mark.parametrize(
    "name",
    [
        "numpy.distutils.exec_command.Popen",
        "numpy.lib.npyio.DataSource",
        "numpy.f2py.f2py2e.main",
        "os.system",
        "builtins.eval",
        "sklearn.utils._joblib",
        "accord.cli.main.main",
        "sklearn.linear_model.LogisticRegression",
        "__class__",
        "functools.partial",
    ],
)
def test_no_name_outside_the_table_is_looked_up(small, name):
    before = set(sys.modules)
    for value in ({name: {}}, {"tuple": [{name: ["true"]}]}, {"type": name}, {"dtype": name}, {"Generator": {name: 1}}):
        path = small(lambda document, files, value=value: state(document).update(coef_=value))
        with pytest.raises(InputError, match="not a model that Accord saved"):
            load_model(path)
    assert set(sys.modules) == before


def test_a_file_of_the_version_before_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr("schema.json", json.dumps({"__class__": "dict", "__module__": "builtins"}))
    with pytest.raises(InputError, match=r"saved by an earlier version of Accord.*Train it again\.$"):
        load_model(tmp_path / "m")


def test_a_newer_layout_is_refused(small):
    with pytest.raises(InputError, match=r"has layout 2; this version of Accord reads layout 1\. Train it again\.$"):
        load_model(small(lambda document, files: document.update(layout=2)))


def test_files_that_are_no_models_are_refused(tmp_path):
    missing, text, archive, empty = (tmp_path / name for name in ("missing", "text", "archive", "empty"))
    text.write_text("hello")
    empty.write_bytes(b"")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("hello", "hello")
    for path in (missing, text, archive, empty, tmp_path):
        with pytest.raises(InputError):
            load_model(path)


@pytest.mark.parametrize("name, value", [("client", "tcp://host:1"), ("n_jobs", 999), ("cache_dir", "/tmp")])
def test_a_file_cannot_choose_where_a_model_runs(tmp_path, name, value):
    path = save_model(PreferenceRanker(), tmp_path / "m", kind="pairs")
    document, files = unpack(path.read_bytes())
    document["model"]["pairs.PreferenceRanker"][name] = value
    path.write_bytes(pack(document, files))
    with pytest.raises(InputError, match=f"PreferenceRanker has no {name!r}"):
        load_model(path)


@pytest.mark.parametrize("name", ["predict", "fit", "__class__", "learn_hyperparameters", "__dict__", "get_params"])
def test_a_value_cannot_take_the_place_of_a_method(tmp_path, name):
    path = save_model(PreferenceRanker(), tmp_path / "m", kind="pairs")
    document, files = unpack(path.read_bytes())
    document["model"]["pairs.PreferenceRanker"][name] = 1
    path.write_bytes(pack(document, files))
    with pytest.raises(InputError, match=r"is a method|has no"):
        load_model(path)


def test_settings_keep_their_rules(tmp_path):
    path = save_model(CASES[0].fit(), tmp_path / "m", kind="pairs")
    document, files = unpack(path.read_bytes())
    document["kind"] = "threads"
    path.write_bytes(pack(document, files))
    with pytest.raises(InputError, match=r"pairs.PreferenceRanker is not a model of threads"):
        load_model(path)


def test_a_vectoriser_reads_no_files_and_its_words_are_numbered(tmp_path):
    path = save_model(CountVectorizer().fit(["one two"]), tmp_path / "m", kind="links")
    document, files = unpack(path.read_bytes())
    words = document["model"]["sklearn.CountVectorizer"]
    for change, said in (
        ({"input": "filename"}, "must not read files"),
        ({"vocabulary_": {"dict": {"one": 0, "two": 10**9}}}, "numbered from 0"),
        ({"vocabulary_": {"dict": {"one": 0, "two": 1.0}}}, "numbered from 0"),
        ({"_stop_words_id": 3}, "has no '_stop_words_id'"),
        ({"tokenizer": {"os.system": []}}, "not in the table"),
    ):
        told = {**document, "model": {"sklearn.CountVectorizer": {**words, **change}}}
        path.write_bytes(pack(told, files))
        with pytest.raises(InputError, match=said):
            load_model(path)


def test_indices_of_sparse_matrices_are_checked(tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    model.coef_ = sp.csr_matrix(np.eye(3))
    model.coef_.indices = np.array([0, 1, 2**30], dtype=np.int32)
    with pytest.raises(InputError, match="damaged"):
        load_model(save_model(model, tmp_path / "m", kind="threads"))


@pytest.mark.parametrize("column, value", [("left", 0), ("right", 10**6), ("feature_idx", -1), ("feature_idx", 10**6)])
def test_a_tree_cannot_lead_outside_itself_or_in_circles(tmp_path, column, value):
    x = np.random.default_rng(0).normal(size=(60, 3))
    trees = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5).fit(x, x[:, 0] > 0)
    trees._predictors[1][0].nodes[column][0] = value
    with pytest.raises(InputError, match="a tree leads to a node or a feature that it does not have"):
        load_model(save_model(trees, tmp_path / "m", kind="threads"))


def test_an_array_is_as_large_as_its_file(small):
    def claim(document, files):
        state(document)["coef_"]["array"]["shape"] = [10_000, 1_000_000_000]

    def many(document, files):
        state(document)["coef_"] = {"objects": {"shape": [10**12], "values": [1]}}

    for change in (claim, many):
        path = small(change)
        tracemalloc.start()
        with pytest.raises(InputError, match=r"bytes and has others|wrong shape"):
            load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 2e6
        tracemalloc.stop()


def test_nothing_in_a_file_is_compressed_or_listed_twice(small, tmp_path):
    with pytest.raises(InputError, match="compressed or locked"):
        load_model(small(lambda document, files: None, compression=zipfile.ZIP_DEFLATED))
    raw = bytearray(small(lambda document, files: None).read_bytes())
    end = raw.rindex(b"PK\x05\x06")
    raw[end + 12 : end + 16] = (2**31).to_bytes(4, "little")  # the list of files claims 2 GB
    (tmp_path / "list").write_bytes(raw)
    with pytest.raises(InputError, match="list of files claims"):
        load_model(tmp_path / "list")
    with pytest.raises(InputError, match="holds other files"):
        load_model(small(lambda document, files: files.update({"arrays/9.npy": b""})))


def test_depth_is_bounded(small):
    nested = "[" * 100_000 + "]" * 100_000
    path = small(lambda document, files: None)
    document, files = unpack(path.read_bytes())
    raw = json.dumps(document).replace('"C": 1.0', f'"C": {nested}').encode()
    path.write_bytes(pack(raw, files))
    with pytest.raises(InputError, match="damaged"):
        load_model(path)
    with pytest.raises(InputError, match="nested too deeply"):
        load_model(small(lambda document, files: state(document).update(C=json.loads("[" * 90 + "]" * 90))))


EVENTS: list[tuple[str, tuple]] = []
WATCHED = {
    *("import", "exec", "compile", "pickle.find_class", "ctypes.dlopen", "os.system", "subprocess.Popen", "os.exec"),
    *("os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.mkdir", "shutil.rmtree", "socket.__new__"),
}
_watching = False


def _watch(event, arguments):
    if _watching and (event in WATCHED or (event == "open" and arguments[1] not in ("r", "rb"))):
        EVENTS.append((event, arguments))


def test_changed_model_files_import_nothing_and_break_nothing(real, tmp_path):
    global _watching
    sys.addaudithook(_watch)
    rng, path = np.random.default_rng(int(os.environ.get("ACCORD_FUZZ_SEED", "0"))), tmp_path / "m"
    for raw in real:  # whatever real models import is imported now
        path.write_bytes(raw)
        load_model(path)
    accepted, said = 0, []
    n = int(os.environ.get("ACCORD_FUZZ", "600"))
    for number in range(n):
        path.write_bytes(mutated(real[number % len(real)], rng))
        _watching = True
        try:
            load_model(path)
            accepted += 1
        except InputError as error:
            said.append(str(error))
        finally:
            _watching = False
        assert EVENTS == [], f"file {number}"
    print(f"{n} changed files: {n - accepted} refused, {accepted} still models")
    assert accepted < n / 2
    assert not any("\n" in sentence for sentence in said)
