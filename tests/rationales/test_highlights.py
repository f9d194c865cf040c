import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from accord.data import Items, Rationales
from accord.errors import InputError
from accord.rationales.features import read_tokens
from accord.rationales.highlights import annotations_of, best_threshold, expected_threshold, match_spans


def matched(texts, labels, spans, annotator=None):
    return [
        (one.row, one.annotator, one.label, one.spans.tolist()) for one in match_spans(texts, labels, spans, annotator)
    ]


def test_overlapping_spans_are_merged_and_touching_ones_are_not():
    assert matched(["0123456789"], ["+"], [[(6, 9), (0, 4), (2, 6)]]) == [(0, "", "+", [[0, 6], [6, 9]])]
    assert matched(["abc"], ["+"], [[]]) == [(0, "", "+", [])]


@pytest.mark.parametrize("span", [(-1, 2), (2, 2), (1, 4)])
def test_spans_outside_the_text_are_refused(span):
    with pytest.raises(InputError, match=r"inside its text.*row 3"):
        match_spans(["", "", "abc"], ["+"] * 3, [None, None, [span]])


def test_a_rationale_for_another_class_is_an_annotation_of_its_own():
    # [ZE08] footnote 4: who was outvoted still says what speaks for the other class.
    found = matched(["abc", "abc"], ["pos", "neg"], [[(0, 1), (1, 2, "neg")], None])
    assert found == [(0, "", "pos", [[0, 1]]), (0, "", "neg", [[1, 2]])]
    with pytest.raises(InputError, match=r"reason for one of the classes \(neg, pos\); row 1 has one for 'odd'"):
        match_spans(["abc", "abc"], ["pos", "neg"], [[(0, 1, "odd")], None])


def record(texts, rows, annotated=None, readings=None):
    item, start, end, annotator = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    items = Items(np.array([f"t{i}" for i in range(len(texts))]), texts=np.array(texts, dtype=object))
    names = np.array(["ann", "bob"], dtype=object)
    return Rationales(items, item, start, end, annotator, names, annotated, readings)


def test_a_record_is_matched_row_by_row_and_readers_without_marks_are_known():
    texts = ["good film", "bad film", "so so"]
    marks = record(texts, [(0, 0, 4, 0), (0, 5, 9, 1), (1, 0, 3, 1)], readings=np.array([[2, 0]]))
    assert matched(texts, ["+", "-", "+"], marks) == [
        (0, "ann", "+", [[0, 4]]),
        (0, "bob", "+", [[5, 9]]),
        (1, "bob", "-", [[0, 3]]),
        (2, "ann", "+", []),
    ]
    with pytest.raises(InputError, match="Give X as a table with item_id and text"):
        match_spans(texts[:2], ["+", "-"], marks)
    with pytest.raises(InputError, match="'t1' has another text in row 1 of X"):
        match_spans(["c d", "x"], ["+", "-"], marks, ids=np.array(["t1", "n"]))
    by_id = match_spans(["new", "bad film", "good film"], list("+-+"), marks, ids=np.array(["n", "t1", "t0"]))
    assert [(one.row, one.annotator) for one in by_id] == [(1, "bob"), (2, "ann"), (2, "bob")]
    assert len(match_spans(texts[:2], ["+", "-"], marks.subset([0, 1]))) == 3


def test_annotations_tell_unmarked_from_unread_texts_and_unknown_people_share_habits():
    texts = ["good film", "bad film", "so so", "well"]
    spans = match_spans(texts, list("+-+-"), [[(0, 4)], None, [], []], ["ann", "ann", "bob", None])
    annotations, people = annotations_of(read_tokens(texts), spans, {"+": 0, "-": 1})
    assert sorted(people) == ["ann", "bob"]
    assert [(one.row, one.label, one.tags.tolist()) for one in annotations] == [
        (0, 0, [True, False]),
        (2, 0, [False, False]),
        (3, 1, [False]),
    ]
    assert annotations[2].habit == 0
    assert {annotations[0].habit, annotations[1].habit} == {1, 2}
    alone, _ = annotations_of(read_tokens(texts), spans[:1], {"+": 0})
    assert alone[0].habit == 0  # the only one who is known has nobody to differ from
    assert annotations_of(read_tokens(texts), [], {})[1] == []


def test_columns_of_another_length_are_refused():
    with pytest.raises(InputError, match="one entry a text"):
        match_spans(["a"], ["+"], [])
    with pytest.raises(InputError, match="annotator must have one entry"):
        match_spans(["a"], ["+"], [[]], [])


def test_the_best_threshold_has_the_best_f1():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    tags = rng.random(200) < p**2

    def f1(level):
        guess = p >= level
        return 2 * (guess & tags).sum() / (guess.sum() + tags.sum())

    best = best_threshold(p, tags)
    assert_allclose(f1(best), max(f1(level) for level in p))
    assert best_threshold(p, np.zeros(200, dtype=bool)) == 0.5


def test_the_expected_threshold_is_that_of_the_largest_f1_in_the_long_run():
    # Tags drawn from probabilities that were given with wrong odds: the threshold is half of the best F1 there is.
    rng = np.random.default_rng(0)
    true = rng.beta(1, 4, 40000)
    given = true**2 / (true**2 + (1 - true) ** 2)  # log odds twice as large
    tags = rng.random(40000) < true
    order = np.sort(true)[::-1]
    best = (2 * np.cumsum(order) / (np.arange(1, 40001) + order.sum())).max()
    found = expected_threshold(given, tags)
    assert_allclose(found**0.5 / (found**0.5 + (1 - found) ** 0.5), best / 2, atol=0.02)
    assert expected_threshold(given, np.zeros(40000, dtype=bool)) == 0.5


def test_few_tags_move_the_expected_threshold_less_than_the_best_one():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 3, (60, 300))
    tags = rng.random(p.shape) < p
    spread = [np.std([way(*one) for one in zip(p, tags, strict=True)]) for way in (expected_threshold, best_threshold)]
    assert spread[0] < 0.6 * spread[1]


def test_probabilities_against_the_tags_leave_the_best_threshold():
    p, tags = np.array([0.1, 0.2, 0.8, 0.9] * 5), np.array([True, True, False, False] * 5)
    assert expected_threshold(p, tags) == best_threshold(p, tags)


def test_spans_missing_from_a_column_are_those_nobody_looked_for():
    texts, labels = ["good film", "bad film", "good plot"], np.array(["+", "-", "+"])
    given = [[(0, 4)], None, []]
    for missing in (float("nan"), pd.NA):
        assert matched(texts, labels, pd.Series([[(0, 4)], missing, []])) == matched(texts, labels, given)
    with pytest.raises(InputError, match=r"spans come as a list of .*; row 2 has 7"):
        match_spans(texts, labels, [[(0, 4)], 7, []])
