"""Broken files of every tool: one sentence with row, rule and cure, and never a traceback."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.cli.main import main
from accord.data.formats.label_config import read_config
from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.import_ import import_files

SAMPLES = Path(__file__).parent / "samples"
# What each fuzzed reader is given: the file that is broken, its format, what else it needs.
TARGETS = {
    "label_studio/pairs.json": ("label-studio", [], "label_studio/pairs.xml"),
    "label_studio/reviews.json": ("label-studio", [], "label_studio/reviews.xml"),
    "label_studio/reviews_min.json": ("label-studio", [], "label_studio/reviews.xml"),
    "label_studio/reviews.csv": ("label-studio", [], "label_studio/reviews.xml"),
    "label_studio/dialogue.json": ("label-studio", [], "label_studio/dialogue.xml"),
    "label_studio/ranking.json": ("label-studio", [], "label_studio/ranking.xml"),
    "argilla/records.json": ("argilla", [], None),
    "argilla/flat.jsonl": ("argilla", [], None),
    "argilla/ranking.json": ("argilla", [], None),
    "prodigy/reviews.jsonl": ("prodigy", [], None),
    "prodigy/compare.jsonl": ("prodigy", [], None),
    "potato/annotation_output/ada/user_state.json": ("potato", ["potato/data.jsonl"], None),
    "potato/data.jsonl": ("potato", ["potato/annotation_output"], None),
    "doccano/labels.jsonl": ("doccano", [], None),
    "doccano/spans.jsonl": ("doccano", [], None),
    "doccano/relations.jsonl": ("doccano", [], None),
    "convokit/utterances.jsonl": ("convokit", [], None),
    "all_our_ideas/votes.csv": ("all-our-ideas", [], None),
    "all_our_ideas/nonvotes.csv": ("all-our-ideas", [], None),
    "all_our_ideas/ideas.csv": ("all-our-ideas", ["all_our_ideas/votes.csv"], None),
    "polis/votes.csv": ("polis", ["polis/comments.csv"], None),
    "polis/comments.csv": ("polis", ["polis/votes.csv"], None),
    "crowdkit/comparisons.csv": ("crowd-kit", [], None),
    "crowdkit/labels.csv": ("crowd-kit", [], None),
    "arena/battles.jsonl": ("arena", [], None),
    "trl/preferences.jsonl": ("trl", [], None),
    "eraser/train.jsonl": ("eraser", [], None),
    "tables/votes.csv": ("tables", ["tables/items.csv"], None),
}
PIECES = [
    *(b"", b"\0", b"\xff", b'"', b"[", b"{", b"}", b",", b"\n", b"\r", b"null", b"-1", b"1e999", b"NaN", b"{}", b"[]"),
    *(b"\xf0\x9f\x98\x80", b"\\ud800", b"99999999999999999999", b'"x"', b"0.5", b"true"),
]
JSON_VALUES = [None, True, -1, 0, 1.5, 10**30, "", "x", [], {}, [[]], [{}], [None], {"a": None}, ["x"], [1, 2, "x"]]


def attempt(path, target):
    """Import a broken file, its format said and found: it is read, or one sentence says why not."""
    form, others, config = TARGETS[target]
    paths = [path, *(SAMPLES / name for name in others)]
    word = "pairs" if form == "tables" else None
    said = []
    for settings_ in ({"form": form}, {}):
        try:
            import_files(paths, None, word=word, config=config and SAMPLES / config, **settings_)
            import_files(paths, path.parent / "project", word=word, config=config and SAMPLES / config, **settings_)
            shutil.rmtree(path.parent / "project")
        except InputError as error:
            said.append(str(error))
        assert not (path.parent / "project").exists()
    assert all("\n" not in sentence for sentence in said)


def broken(data, content):
    """A file with some bytes replaced, or a record with some value replaced."""
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = min(len(content), start + data.draw(st.integers(0, 6)))
        content = content[:start] + data.draw(st.sampled_from(PIECES)) + content[end:]
    return content


def changed(data, value):
    """A JSON value with one part replaced, left out or put elsewhere."""
    if isinstance(value, dict) and value and data.draw(st.integers(0, 5)):
        name = data.draw(st.sampled_from(sorted(value)))
        if not data.draw(st.integers(0, 5)):
            return {key: entry for key, entry in value.items() if key != name}
        return {**value, name: changed(data, value[name])}
    if isinstance(value, list) and value and data.draw(st.integers(0, 5)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], changed(data, value[place]), *value[place + 1 :]]
    return data.draw(st.sampled_from(JSON_VALUES))


def fuzz_bytes(folder, target, data):
    path = folder / Path(target).name
    path.write_bytes(broken(data, (SAMPLES / target).read_bytes()))
    attempt(path, target)


def fuzz_values(folder, target, data):
    path, text = folder / Path(target).name, (SAMPLES / target).read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        lines = [json.loads(line) for line in text.splitlines()]
        place = data.draw(st.integers(0, len(lines) - 1))
        lines[place] = changed(data, lines[place])
        path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    else:
        path.write_text(json.dumps(changed(data, json.loads(text))), encoding="utf-8")
    attempt(path, target)


@pytest.fixture
def folder(tmp_path):
    """Where the broken file lies, with the documents that ERASER's annotations need."""
    shutil.copytree(SAMPLES / "eraser/docs", tmp_path / "docs")
    return tmp_path


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_broken_bytes_never_end_in_a_traceback(folder, target, data):
    fuzz_bytes(folder, target, data)


@pytest.mark.parametrize("target", [name for name in TARGETS if ".json" in name])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_broken_values_never_end_in_a_traceback(folder, target, data):
    fuzz_values(folder, target, data)


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><View>&b;</View>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><View/>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><View>&a;</View>',
    ],
)
def test_xml_bombs_are_refused(tmp_path, content):
    path = tmp_path / "config.xml"
    path.write_text(content)
    with pytest.raises(InputError, match="may not define entities"):
        read_config(path)


@pytest.mark.parametrize("content", ["", "<View", "<View/>", "x" * (2 << 20), "<a>" * 100_000])
def test_configs_that_are_none_are_refused(tmp_path, content):
    path = tmp_path / "config.xml"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_config(path)
    assert "\n" not in str(error.value)


def test_a_span_whose_quote_is_not_its_text_is_named(tmp_path, capsys):
    tasks = json.loads((SAMPLES / "label_studio/reviews.json").read_text(encoding="utf-8"))
    tasks[0]["annotations"][0]["result"][2]["value"]["text"] = "bland"
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    config = str(SAMPLES / "label_studio/reviews.xml")
    assert main(["import", str(path), "--config", config, "--out", str(tmp_path / "p")]) == 2
    said = capsys.readouterr().err
    assert "a span's quote must be its text; row 1 of" in said
    assert "'bland' where the text of '1' has 'superb'" in said
    assert not (tmp_path / "p").exists()


def test_a_text_that_is_dropped_takes_its_judgement_with_it(tmp_path):
    path = tmp_path / "labels.jsonl"
    rows = [{"id": 1, "text": "one", "label": ["a"]}, {"id": 1, "text": "two", "label": ["b"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    imported = import_files([path], tmp_path / "p", form="doccano", drop_bad=True)
    assert imported.dropped == {"an id stands for one text": 1}
    assert Project.load(tmp_path / "p").labels().tolist() == ["a"]


def test_an_unknown_format_and_a_silent_table_are_refused(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    assert main(["import", str(path), "--format", "letters", "--dry-run"]) == 2
    assert "there is no format 'letters'; there are label-studio" in capsys.readouterr().err
    assert main(["import", str(path), "--dry-run"]) == 2
    assert "name one of pairs" in capsys.readouterr().err
    assert main(["export", "example:arguments", "--format", "letters", "--out", str(tmp_path / "o")]) == 2
    assert "the format must be one of csv" in capsys.readouterr().err


def test_column_names_over_several_lines_make_one_sentence(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('"task,worker,label\nt1,w1,cat\nt1",w2,dog\n')
    with pytest.raises(InputError, match="has task,worker,label t1,w1,cat t1, w2, dog"):
        import_files([path], None, form="crowd-kit")
