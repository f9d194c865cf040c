"""Replies: what links and threads they make, and what is said of those that make none."""

from collections import Counter

import pytest

from accord.data.project import ITEMS, with_schema
from accord.data.reading.replies import links_of_replies, questions_with_labels, threads_of_replies
from accord.workflows.import_ import import_files


def texts(replies):
    columns = {"item_id": list(replies), "text": list(replies), "reply_to": list(replies.values())}
    return with_schema(columns, ITEMS), {name: place for place, name in enumerate(replies)}


def threads(replies):
    items, known = texts(replies)
    said = Counter()
    found = threads_of_replies(items, known, said)
    return dict(zip(found["item_id"].to_pylist(), found["group_id"].to_pylist(), strict=True)), said


def test_a_text_that_answers_itself_is_said_apart_from_replies_to_texts_that_are_missing():
    items, known = texts({"a": None, "b": "a", "c": "c", "d": "gone", "e": "gone"})
    lost = Counter()
    links = links_of_replies(items, known, lost)
    assert links.column("src_id").to_pylist() == ["b"]
    assert lost == {
        "texts that answer themselves make no link": 1,
        "replies to texts that are not in the files make no link": 2,
    }


def test_comments_on_a_post_that_is_missing_are_one_thread():
    found, said = threads({"a": "t3_post", "b": "t1_a", "c": "t3_post", "d": "t3_other", "e": None})
    assert found == {"a": "t3_post", "b": "t3_post", "c": "t3_post", "d": "t3_other", "e": "e"}
    assert [n for what, n in said.items() if "not in the files" in what] == [4]


def test_replies_in_a_circle_and_to_oneself_are_a_thread():
    found, said = threads({"a": "b", "b": "c", "c": "a", "d": "a", "e": "e"})
    assert found == {"a": "c", "b": "c", "c": "c", "d": "c", "e": "e"}
    assert not any("not in the files" in what for what in said)


def test_a_long_chain_of_replies_is_one_thread():
    chain = {str(place): str(place + 1) for place in range(50_000)} | {"50000": None}
    found, _ = threads(chain)
    assert set(found.values()) == {"50000"}


def test_labels_of_questions_are_counted():
    items = with_schema({"item_id": ["q", "a", "b"], "group_id": ["q", "q", "q"]}, ITEMS)
    lost = Counter()
    questions_with_labels(items, {"q", "a"}, lost)
    assert list(lost.values()) == [1]


@pytest.mark.parametrize("kind", ["links", "threads"])
def test_decimals_that_pandas_made_of_the_ids_that_are_answered_are_found(tmp_path, kind):
    path = tmp_path / "posts.csv"
    path.write_text("id,text,reply_to,label\n1,One,,x\n2,Two,1.0,y\n3,Three,2.0,x\n")
    imported = import_files([path], None, kind=kind)
    assert not any("not in the files" in what for what in (*imported.lost, *imported.assumed))
    assert imported.counts["links"] == (2 if kind == "links" else 0)
