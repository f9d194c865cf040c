import numpy as np
import pytest

from accord.data import Items, Rationales
from accord.errors import InputError
from accord.rationales.features import read_tokens
from accord.rationales.highlights import annotations_of, checked_spans, given_spans


def test_overlapping_spans_are_merged_and_touching_ones_are_not():
    assert checked_spans([(6, 9), (0, 4), (2, 6)], "0123456789", row=0).tolist() == [[0, 6], [6, 9]]
    assert checked_spans([], "abc", row=0).shape == (0, 2)


@pytest.mark.parametrize("span", [(-1, 2), (2, 2), (1, 4)])
def test_spans_outside_the_text_are_refused(span):
    with pytest.raises(InputError, match=r"inside its text.*row 3"):
        checked_spans([span], "abc", row=2)


def test_a_rationale_for_another_class_is_refused():
    assert checked_spans([(0, 1, "pos")], "abc", row=0, label="pos").tolist() == [[0, 1]]
    with pytest.raises(InputError, match=r"class 'pos'.*for 'neg'"):
        checked_spans([(0, 1, "neg")], "abc", row=0, label="pos")


def record(texts, rows, annotated=None):
    item, start, end, annotator = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    items = Items(np.array([f"t{i}" for i in range(len(texts))]), texts=np.array(texts, dtype=object))
    return Rationales(items, item, start, end, annotator, np.array(["ann", "bob"], dtype=object), annotated)


def test_a_record_meets_the_rows_by_id():
    texts = ["good film", "bad film", "so so", "good film"]
    marks = record(texts, [(0, 0, 4, 0), (0, 5, 9, 1), (1, 0, 3, 1)], annotated=np.array([True, True, True, False]))
    rows, ids = ["new", "bad film", "good film", "so so", "good film"], np.array(["n", "t1", "t3", "t2", "t0"])
    spans = given_spans(rows, ["+"] * 5, marks, ids=ids)
    assert [(row, name, found.tolist()) for row, name, found in spans] == [
        (1, "bob", [[0, 3]]),
        (3, "", []),
        (4, "ann", [[0, 4]]),
        (4, "bob", [[5, 9]]),
    ]
    in_order = given_spans(texts, ["+"] * 4, marks)
    assert [(row, name) for row, name, _ in in_order] == [(0, "ann"), (0, "bob"), (1, "bob"), (2, "")]


def test_rows_without_ids_that_are_not_the_records_are_refused():
    marks = record(["a b", "a b"], [(0, 0, 1, 0), (1, 0, 1, 0)])
    with pytest.raises(InputError, match="Give X as a table with item_id and text"):
        given_spans(["a b"], ["+"], marks)
    with pytest.raises(InputError, match="'t1' has another text in row 1 of X"):
        given_spans(["c d"], ["+"], marks, ids=np.array(["t1"]))


def test_annotations_tell_unmarked_from_unread_texts():
    texts = ["good film", "bad film", "so so"]
    spans = given_spans(texts, list("+-+"), [[(0, 4)], None, []], ["ann", "ann", "bob"])
    annotations, annotators = annotations_of(read_tokens(texts), spans)
    assert annotators.tolist() == ["ann", "bob"]
    assert [(row, who, tags.tolist()) for row, who, tags in annotations] == [
        (0, 0, [True, False]),
        (2, 1, [False, False]),
    ]
    assert annotations_of(read_tokens(texts), [])[1].tolist() == [""]


def test_columns_of_another_length_are_refused():
    with pytest.raises(InputError, match="one entry a text"):
        given_spans(["a"], ["+"], [])
    with pytest.raises(InputError, match="annotator must have one entry"):
        given_spans(["a"], ["+"], [[]], [])
