"""What Accord writes for a tool it reads back equal, whatever characters the texts have."""

import tempfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.data.formats.huggingface import to_hf
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.workflows.export import export_as
from accord.workflows.import_ import project_of_files

# Letters, an astral sign, a combining mark, line ends, tabs, quotation marks and what is special in CSV and XML.
TEXTS = st.text(alphabet="ab é\u0301😀𝔸\r\n\t\"',;&<>[{\\\u2028ß", min_size=1, max_size=12).filter(
    lambda text: text.strip()
)
NAMES = st.text(alphabet="abxyz-_é", min_size=1, max_size=5)
PEOPLE = st.sampled_from(["ada", "bo", "7"])


@st.composite
def pair_projects(draw, *, ties=True, skips=True):
    texts = draw(st.lists(TEXTS, min_size=2, max_size=4, unique=True))
    ids = [f"i{place}" for place in range(len(texts))]
    votes = []
    for place in range(draw(st.integers(1, 5))):
        left, right = draw(st.permutations(ids))[:2]
        skipped = skips and draw(st.booleans())
        value = None if skipped else draw(st.sampled_from(["1", "0", "0.5"] if ties else ["1", "0"]))
        votes.append(
            {
                "judgement_id": str(place),
                "kind": "pair",
                "item_id": left,
                "other_id": right,
                "value": value,
                "annotator_id": draw(PEOPLE),
                "status": "skipped" if skipped else None,
            }
        )
    return project("pairs", {"item_id": ids, "text": texts}, votes)


@st.composite
def text_projects(draw, *, scores=True, nothing=True, tokens=False):
    """Texts with labels, scores and spans; one label, one score and some spans a person and text."""
    texts = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
    ids = [f"i{place}" for place in range(len(texts))]
    rows = []
    for name, text in zip(ids, texts, strict=True):
        for person in draw(st.lists(PEOPLE, max_size=2, unique=True)):
            shared = {"item_id": name, "annotator_id": person}
            rows.append({"kind": "label", "value": draw(st.sampled_from(["pos", "neg"])), "aspect": "mood", **shared})
            if scores:
                rows.append({"kind": "score", "value": str(draw(st.integers(1, 5))), "aspect": "food", **shared})
            for start, end in draw(st.lists(spans_of(text, tokens=tokens), max_size=2, unique=True)):
                rows.append(
                    {"kind": "span", "start": start, "end": end, "quote": text[start:end], "value": "why", **shared}
                )
    return project("rationales", {"item_id": ids, "text": texts, "group_id": ["g"] * len(ids)}, rows)


def spans_of(text, *, tokens):
    if tokens:
        from accord.data.rationales import whitespace_tokens

        return st.sampled_from([tuple(span) for span in whitespace_tokens(text)[1].tolist()])
    return st.integers(0, len(text) - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(start + 1, len(text)))
    )


def project(word, items, rows):
    columns = {name: [row.get(name) for row in rows] for name in JUDGEMENTS.names}
    import pyarrow as pa

    texts = {name: pa.array(column, pa.string()) for name, column in items.items()}
    kinds = {"start": pa.int32(), "end": pa.int32()}
    typed = {name: pa.array(column, kinds.get(name, pa.string())) for name, column in columns.items()}
    return Project(word, with_schema(texts, ITEMS), with_schema(typed, JUDGEMENTS))


def there_and_back(given_project, form, *names, config=None, **settings):
    """Write a project in a format and read what was written."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "out"
        exported = export_as(given_project, folder, form=form)
        paths = [folder / name for name in names] if names else sorted(folder.iterdir())
        return project_of_files(
            paths, form=None if form in ("csv", "tsv", "jsonl", "parquet") else form, config=config and folder / config,
            **settings,
        ), exported  # fmt: skip


def rows(found, *columns):
    frame = found.frames()["judgements"][list(columns)]
    return sorted((tuple(None if pd.isna(cell) else cell for cell in row) for row in frame.values), key=repr)


def texts(found):
    return dict(found.frames()["items"][["item_id", "text"]].values)


def judged_texts(found):
    return {name: text for name, text in texts(found).items() if name in set(found.frames()["judgements"]["item_id"])}


VOTE = ("item_id", "other_id", "value", "annotator_id", "status")
MARK = ("kind", "item_id", "value", "start", "end", "quote", "annotator_id")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
@settings(max_examples=8)
@given(data=st.data())
def test_own_tables(form, data):
    before = data.draw(text_projects())
    if not before.counts["judgements"]:
        return
    after, _ = there_and_back(before, form, kind="rationales")
    assert texts(after) == texts(before)
    assert rows(after, *MARK, "aspect") == rows(before, *MARK, "aspect")


@settings(max_examples=12)
@given(before=pair_projects(ties=False))
def test_label_studio_pairs(before):
    after, exported = there_and_back(before, "label-studio", "tasks.json", config="label_config.xml")
    assert rows(after, *VOTE) == rows(before, *VOTE)
    assert not exported.lost
    assert texts(after).items() <= texts(before).items()


@settings(max_examples=12)
@given(before=text_projects())
def test_label_studio_texts(before):
    if not before.counts["judgements"]:
        return
    after, _ = there_and_back(before, "label-studio", "tasks.json", config="label_config.xml")
    assert texts(after) == texts(before)
    assert rows(after, *MARK, "aspect") == rows(before, *MARK, "aspect")


@settings(max_examples=12)
@given(before=pair_projects())
def test_argilla_pairs(before):
    after, _ = there_and_back(before, "argilla")
    answered = [row for row in rows(before, *VOTE) if row[-1] is None]
    assert sorted(map(one_way, (row for row in rows(after, *VOTE) if row[-1] is None)), key=repr) == sorted(
        map(one_way, answered), key=repr
    )


def one_way(vote):
    """A vote with its sides in the order of their ids: rankings put the winner first."""
    item, other, value, *rest = vote
    return vote if item < other else (other, item, {"1": "0", "0": "1"}.get(value, value), *rest)


@settings(max_examples=12)
@given(before=text_projects())
def test_argilla_texts(before):
    after, _ = there_and_back(before, "argilla")
    assert texts(after) == texts(before)
    assert rows(after, *MARK) == rows(before, *MARK)


@settings(max_examples=12)
@given(before=pair_projects(ties=False))
def test_prodigy_pairs(before):
    after, _ = there_and_back(before, "prodigy")
    assert rows(after, *VOTE) == rows(before, *VOTE)


@settings(max_examples=12)
@given(before=text_projects(scores=False))
def test_prodigy_texts(before):
    after, _ = there_and_back(before, "prodigy")
    assert texts(after) == texts(before)
    assert rows(after, *MARK) == rows(before, *MARK)


@settings(max_examples=12)
@given(before=pair_projects(skips=False))
def test_potato_pairs(before):
    after, _ = there_and_back(before, "potato", "annotation_output", "data.jsonl")
    assert set(rows(after, *VOTE[:4])) <= set(rows(before, *VOTE[:4]))
    # A person answers a question once: of the votes of one person on one pair, one stands.
    assert {row[:2] + row[3:] for row in rows(after, *VOTE)} == {row[:2] + row[3:] for row in rows(before, *VOTE)}


@settings(max_examples=12)
@given(before=text_projects())
def test_potato_texts(before):
    if not before.counts["judgements"]:
        return
    after, _ = there_and_back(before, "potato", "annotation_output", "data.jsonl")
    assert texts(after) == texts(before)
    assert rows(after, *MARK) == rows(before, *MARK)


@settings(max_examples=12)
@given(before=text_projects(scores=False))
def test_doccano(before):
    after, _ = there_and_back(before, "doccano")
    assert texts(after) == texts(before)
    assert {row[:5] for row in rows(after, *MARK[1:]) if row[2] is not None} == {
        row[:5] for row in rows(before, *MARK[1:]) if row[2] is not None
    }
    assert set(rows(after, "item_id", "kind", "value")) - {(name, "span", None) for name in texts(after)} == set(
        rows(before, "item_id", "kind", "value")
    )


@settings(max_examples=12)
@given(before=text_projects(scores=False))
def test_convokit(before):
    after, _ = there_and_back(before, "convokit", ".")
    assert texts(after) == texts(before)
    assert after.labels().tolist() == before.labels().tolist()


@settings(max_examples=12)
@given(before=text_projects(scores=False, tokens=True))
def test_eraser(before):
    if not before.counts["judgements"]:
        return
    after, exported = there_and_back(before, "eraser", ".")
    assert texts(after) == judged_texts(before)
    spans = ("item_id", "start", "end", "quote")
    assert {row for row in rows(after, *spans) if row[1] is not None} == {
        row for row in rows(before, *spans) if row[1] is not None
    }
    assert "spans are widened to whole tokens" not in exported.lost


@settings(max_examples=12)
@given(before=pair_projects(ties=False, skips=False))
def test_crowd_kit(before):
    after, _ = there_and_back(before, "crowd-kit")
    assert rows(after, *VOTE[:4]) == rows(before, *VOTE[:4])


@settings(max_examples=12)
@given(before=pair_projects(skips=False))
def test_arena(before):
    after, _ = there_and_back(before, "arena")
    assert rows(after, *VOTE[:4], "judgement_id") == rows(before, *VOTE[:4], "judgement_id")


@settings(max_examples=12)
@given(before=pair_projects(ties=False, skips=False))
def test_trl(before):
    after, _ = there_and_back(before, "trl")
    was, now = texts(before), texts(after)
    won = sorted((was[a], was[b]) if v == "1" else (was[b], was[a]) for a, b, v in rows(before, *VOTE[:3]))
    assert sorted((now[a], now[b]) for a, b, v in rows(after, *VOTE[:3])) == won


@settings(max_examples=10)
@given(before=text_projects())
def test_hugging_face_files_are_plain_tables(before):
    if not before.counts["judgements"]:
        return
    with tempfile.TemporaryDirectory() as work:
        to_hf(before, work)
        after = project_of_files(sorted((Path(work) / "data").iterdir()), kind="rationales")
        card = (Path(work) / "README.md").read_text(encoding="utf-8")
    assert texts(after) == texts(before)
    assert rows(after, *MARK, "aspect") == rows(before, *MARK, "aspect")
    assert "- config_name: judgements\n  data_files: data/judgements.parquet" in card
