"""Projects keep what was put in and give the records that the models take."""

import json

import numpy as np
import pytest

from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.errors import InputError


def project_of(kind, items, judgements=None, links=None, **settings):
    """A project from plain dictionaries of columns."""
    return Project(
        kind,
        with_schema(items, ITEMS),
        with_schema(judgements or {}, JUDGEMENTS),
        with_schema(links or {}, LINKS),
        settings,
        "test",
    )


@pytest.fixture
def votes():
    return project_of(
        "pairs",
        {"item_id": ["a", "b", "c"], "text": ["A", "B", "C"], "group_id": ["g", "g", "g"]},
        {
            "kind": ["pair"] * 4,
            "item_id": ["a", "b", "c", "a"],
            "other_id": ["b", "c", "a", "c"],
            "value": ["1", "0.5", "0", "1"],
            "annotator_id": ["x", None, "y", "x"],
            "status": [None, "done", None, "undone"],
        },
    )


def test_votes_are_comparisons_and_what_was_undone_is_left_out(votes):
    table = votes.comparisons().to_table()
    assert table["left"].tolist() == ["a", "b", "c"]
    assert table["right"].tolist() == ["b", "c", "a"]
    assert table["value"].tolist() == [1.0, 0.5, 0.0]
    assert table["annotator_id"].fillna("nobody").tolist() == ["x", "nobody", "y"]


def test_a_saved_project_loads_equal(votes, tmp_path):
    again = Project.load(votes.save(tmp_path / "p"))
    assert again.counts == votes.counts == {"items": 3, "judgements": 4, "links": 0}
    assert again.fingerprint == votes.fingerprint
    assert again.comparisons().to_table().equals(votes.comparisons().to_table())


def test_the_fingerprint_changes_with_one_cell(votes):
    judgements = votes.frames()["judgements"]
    judgements.loc[0, "value"] = "0"
    other = project_of("pairs", votes.frames()["items"].to_dict("list"), judgements.to_dict("list"))
    assert other.fingerprint != votes.fingerprint


def test_saving_never_overwrites_and_leaves_nothing_behind(votes, tmp_path):
    votes.save(tmp_path / "p")
    with pytest.raises(InputError, match="there already"):
        votes.save(tmp_path / "p")
    assert [entry.name for entry in tmp_path.iterdir()] == ["p"]


def test_threads_take_the_question_from_the_item_named_like_the_thread():
    threads = project_of(
        "threads",
        {
            "item_id": ["q1", "c1", "c2", "c3"],
            "text": ["Where?", "Here.", "There.", "No idea."],
            "group_id": ["q1", "q1", "q1", "q2"],
            "author_id": ["ann", "bob", "ann", None],
        },
        {"kind": ["label", "label"], "item_id": ["c1", "c3"], "value": ["good", "bad"]},
    ).threads()
    assert threads.thread_ids.tolist() == ["q1", "q2"]
    assert threads.comment_ids.tolist() == ["c1", "c2", "c3"]
    assert threads.questions.tolist() == ["Where?", None]
    assert threads.askers.tolist() == ["ann", None]
    assert threads.labels.tolist() == ["good", None, "bad"]


def test_labels_are_the_most_frequent_and_of_equals_the_first():
    labels = project_of(
        "links",
        {"item_id": ["a", "b", "c"]},
        {
            "kind": ["label"] * 6,
            "item_id": ["a", "a", "a", "b", "b", "b"],
            "value": ["no", "yes", "yes", "no", "yes", None],
        },
    ).labels()
    assert labels.tolist() == ["yes", "no", None]


def test_ratings_are_averaged_over_people():
    ratings = project_of(
        "aspects",
        {"item_id": ["a", "b"], "text": ["A", "B"]},
        {
            "kind": ["score"] * 3,
            "item_id": ["a", "a", "b"],
            "aspect": ["food", "food", "room"],
            "value": ["3", "4", "2"],
        },
        n_ranks=5,
    ).ratings()
    assert ratings.aspects.tolist() == ["food", "room"]
    assert ratings.ranks.tolist() == [[4, 0], [0, 2]]


def test_links_and_rationales_come_back():
    project = project_of(
        "rationales",
        {"item_id": ["a", "b", "c"], "text": ["good food", "bad room", "so so"]},
        {
            "kind": ["span", "span"],
            "item_id": ["a", "b"],
            "start": [0, None],
            "end": [4, None],
            "quote": ["good", None],
        },
        {"src_id": ["a"], "dst_id": ["b"], "context": ["see b"]},
    )
    rationales = project.rationales()
    assert rationales.to_table()["quote"].tolist() == ["good"]
    assert rationales.annotated.tolist() == [True, True, False]
    links = project.links()
    assert (links.source.tolist(), links.target.tolist(), links.contexts.tolist()) == (["a"], ["b"], ["see b"])
    assert links.kinds is None


def test_a_project_without_judgements_gives_empty_records():
    project = project_of("pairs", {"item_id": ["a"], "text": ["A"]})
    assert project.comparisons().n_votes == 0
    assert project.links().n_links == 0
    assert np.all(project.labels() == None)  # noqa: E711  each entry is None


def test_meta_columns_are_carried(tmp_path):
    project = project_of("pairs", {"item_id": ["a", "b"], "meta.year": [1999, 2001]})
    again = Project.load(project.save(tmp_path / "p"))
    assert again.items().meta["meta.year"].tolist() == [1999, 2001]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("{", "must be JSON"),
        ("[]", "not the manifest"),
        (json.dumps({"format": "accord-project", "schema": 99, "kind": "pairs"}), "schema 1"),
    ],
)
def test_a_bad_manifest_is_refused(tmp_path, manifest, said):
    (tmp_path / "project.json").write_text(manifest)
    with pytest.raises(InputError, match=said):
        Project.load(tmp_path)


def test_an_unreadable_table_is_refused(votes, tmp_path):
    folder = votes.save(tmp_path / "p")
    (folder / "items.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="not readable"):
        Project.load(folder)


def test_an_unknown_word_is_refused():
    with pytest.raises(InputError, match="one of pairs"):
        project_of("letters", {"item_id": ["a"]})
