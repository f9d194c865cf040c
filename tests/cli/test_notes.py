"""Notes on predictions: a model that is used on other texts than it was trained on says so, a sentence each."""

import json

import pytest

from accord.cli.main import main
from accord.store.models import load_model
from accord.typing import KINDS
from accord.workflows.projects import EXAMPLES, open_example

GERMAN = [
    "Der Kellner war unfreundlich und wir mussten eine Stunde auf das Essen warten.",
    "Ich bin dafür, dass die Tische auf dem Platz stehen, weil dort sonst niemand sitzt.",
    "Die Suppe war kalt, aber der Kuchen hat uns allen sehr gut geschmeckt.",
]
ENGLISH = [
    "The waiter was rude and we had to wait for an hour before the food came to the table.",
    "I am for the tables on the square, because nobody else sits there and it is nice.",
    "The soup was cold, but we all liked the cake that they had on the counter.",
]
NAMES = {kind: name for name, (kind, _) in EXAMPLES.items()}
# Settings with which a fit takes a moment.
QUICK = {
    "pairs": ("length_scales=base", "reliability=equal"),
    "threads": ("model=local",),
    "aspects": ("model=ordinal",),
    "links": ("implicit=0",),
    "rationales": (),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for kind in KINDS:
        settings = [part for setting in QUICK[kind] for part in ("--set", setting)]
        assert main(["train", kind, f"example:{NAMES[kind]}", "--model", str(folder / kind), *settings]) == 0
    return folder


def notes(model, path, capsys):
    capsys.readouterr()
    assert main(["predict", str(model), str(path), "--json"]) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    found = json.loads(said.out)["notes"]
    assert said.err.splitlines() == [f"note: {note}." for note in found]
    return found


def table(path, kind, texts, extra=None):
    """A table as a person would give it, with everything that the example of the kind has, but labels."""
    if kind == "pairs":
        head = ["left", "right", "winner"]
        rows = [[texts[0], texts[1], "left"], [texts[1], texts[2], "right"]]
    else:
        head = ["item_id", "text", *([] if extra is None else extra)]
        rows = [[f"n{i}", text, *((extra or {}).values())] for i, text in enumerate(texts)]
    path.write_text("\n".join(",".join(f'"{cell}"' for cell in row) for row in [head, *rows]) + "\n", encoding="utf-8")
    return path


WHOLE = {"threads": {"group_id": "t", "question": "Where to eat?", "author_id": "a"}, "links": {"group_id": "g"}}


@pytest.mark.parametrize("kind", KINDS)
def test_another_language_is_noticed_and_the_same_is_not(kind, models, tmp_path, capsys):
    other = notes(models / kind, table(tmp_path / "de.csv", kind, GERMAN, WHOLE.get(kind)), capsys)
    same = notes(models / kind, table(tmp_path / "en.csv", kind, ENGLISH, WHOLE.get(kind)), capsys)
    assert sum("another language" in note for note in other) == 1
    assert not any("another language" in note for note in same)


@pytest.mark.parametrize("kind", ["threads", "aspects", "links", "rationales"])
def test_that_all_judgements_were_given_is_said(kind, models, tmp_path, capsys):
    values = {
        "threads": {"group_id": "t", "question": "Where to eat?", "author_id": "a", "label": "good"},
        "aspects": {f"score.{name}": "3" for name in ("food", "overall", "price", "room", "service")},
        "links": {"group_id": "g", "author_id": "a", "label": "for"},
        "rationales": {"label": "pos"},
    }[kind]
    found = notes(models / kind, table(tmp_path / "all.csv", kind, ENGLISH, values), capsys)
    assert sum("given by a person" in note for note in found) == 1


@pytest.mark.parametrize("kind", ["threads", "aspects", "links", "rationales"])
def test_what_the_model_never_saw_is_named(kind, models, tmp_path, capsys):
    column = "score.parking" if kind == "aspects" else "label"
    values = {**WHOLE.get(kind, {}), column: "2" if kind == "aspects" else "strange"}
    found = notes(models / kind, table(tmp_path / "odd.csv", kind, ENGLISH, values), capsys)
    assert sum("never saw" in note and ("parking" in note or "strange" in note) for note in found) == 1


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        ("links", {"group_id": "g", "author_id": "a"}, "no links between these texts"),
        ("links", {}, "have no group"),
        ("links", {"group_id": "g"}, "have no author"),
        ("threads", {"group_id": "t", "author_id": "a"}, "have no question"),
        ("threads", {"group_id": "t", "question": "Where to eat?"}, "have no author"),
    ],
)
def test_a_part_that_is_missing_is_named(kind, values, said, models, tmp_path, capsys):
    found = notes(models / kind, table(tmp_path / "bare.csv", kind, ENGLISH, values), capsys)
    assert sum(said in note for note in found) == 1


def test_votes_without_groups_or_texts_are_named(models, tmp_path, capsys):
    found = notes(models / "pairs", table(tmp_path / "v.csv", "pairs", ENGLISH), capsys)
    assert sum("have no group" in note for note in found) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_texts_that_a_model_was_trained_on_lack_nothing(kind, models, capsys):
    found = notes(models / kind, f"example:{NAMES[kind]}", capsys)
    assert found == []


def test_names_that_a_model_of_names_never_saw_are_said(tmp_path, capsys):
    votes, others = tmp_path / "votes.csv", tmp_path / "others.csv"
    votes.write_text("left,right,winner\nx,y,left\ny,z,left\nz,x,right\n")
    others.write_text("left,right,winner\nx,y,left\nx,new,right\n")
    assert main(["train", str(votes), "--model", str(tmp_path / "m")]) == 0
    assert notes(tmp_path / "m", votes, capsys) == []
    (said,) = notes(tmp_path / "m", others, capsys)
    assert "never saw 1 of these names (new)" in said


def test_threads_of_single_comments_are_noticed(models, tmp_path, capsys):
    path = tmp_path / "single.csv"
    rows = [f'c{i},g{i},Where to eat near the station?,a,"{text}"' for i, text in enumerate(ENGLISH)]
    path.write_text("\n".join(["item_id,group_id,question,author_id,text", *rows]) + "\n")
    assert any("one comment" in note for note in notes(models / "threads", path, capsys))


def test_vectors_of_pairs_are_refused_with_the_cure(tmp_path, capsys):
    arguments = ["train", "example:arguments", "--model", str(tmp_path / "m.accord"), "--vectors", "words.txt"]
    assert main(arguments) == 2
    assert "Items.with_features" in capsys.readouterr().err


def test_word_vectors_that_are_gone_are_named(tmp_path, capsys):
    vectors = tmp_path / "words.txt"
    vectors.write_text("cold 1 0\nlovely 0 1\nsoup 1 1\n")
    model = tmp_path / "m"
    assert main(["train", "rationales", "example:cafe-notes", "--model", str(model), "--vectors", str(vectors)]) == 0
    vectors.unlink()
    capsys.readouterr()
    assert main(["predict", str(model), str(table(tmp_path / "en.csv", "rationales", ENGLISH))]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "words.txt" in said


def test_what_a_model_was_trained_on_is_saved_with_it(models):
    about = load_model(models / "links").about
    assert set(about["parts"].split()) >= {"texts", "links", "groups", "authors"}
    assert open_example("cafe-statements").counts["links"] > 0
