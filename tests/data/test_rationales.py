"""Rationales: characters and tokens, tables in and out, refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.data import Items, Rationales
from accord.data.rationales import inside_tags, token_spans, whitespace_tokens
from accord.errors import InputError
from tables import FORMS, one_sentence

TEXT = "not bad, really"
ITEMS = Items(["a", "b"], texts=[TEXT, "so-so 🙂"])

texts = st.text(alphabet="ab ,.🙂\n", max_size=20)


@given(texts, st.data())
def test_a_partly_highlighted_token_is_inside(text, data):
    n = len(text)
    spans = data.draw(
        st.lists(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(1, 6)), max_size=3 if n else 0).map(
            lambda drawn: [(start, min(start + length, n)) for start, length in drawn]
        )
    )
    tokens, places = whitespace_tokens(text)
    assert [text[a:b] for a, b in places] == tokens
    marked = {i for start, end in spans for i in range(start, end)}
    expected = [any(i in marked for i in range(a, b)) for a, b in places]
    assert inside_tags(spans, places).tolist() == expected


def test_half_a_word_marks_the_word():
    places = [(0, 3), (4, 7), (7, 8), (9, 15)]
    assert inside_tags([(5, 7)], places).tolist() == [False, True, False, False]  # "ad"
    assert inside_tags([(3, 4)], places).tolist() == [False] * 4  # only the space


@given(st.lists(st.booleans(), max_size=12))
def test_runs_of_tags_become_spans(tags):
    spans = token_spans(tags)
    back = np.zeros(len(tags), dtype=bool)
    for start, end in spans:
        assert start < end
        back[start:end] = True
    assert back.tolist() == tags
    assert (spans[1:, 0] > spans[:-1, 1]).all()  # touching runs are one


@pytest.mark.parametrize("form", FORMS)
def test_a_table_comes_back(form):
    frame = pd.DataFrame(
        {
            "item_id": ["b", "a", "a"],
            "start": [6, 4, 0],
            "end": [7, 7, 3],
            "quote": ["🙂", "bad", "not"],
            "annotator_id": ["x", None, "x"],
        }
    )
    record = Rationales.from_table(FORMS[form](frame), ITEMS)
    assert [spans.tolist() for spans in record.per_item()] == [[[0, 3], [4, 7]], [[6, 7]]]
    back = record.to_table()
    assert back["quote"].tolist() == ["🙂", "bad", "not"]
    pd.testing.assert_frame_equal(Rationales.from_table(back, ITEMS).to_table(), back)


def test_some_texts_keep_their_spans_and_who_read_them():
    record = Rationales(ITEMS, [1, 0, 0], [0, 4, 0], [2, 7, 3], [0, -1, 0], ["x"], [True, True])
    turned = record.subset([1, 0])
    assert turned.items.ids.tolist() == ["b", "a"]
    assert [spans.tolist() for spans in turned.per_item()] == [[[0, 2]], [[0, 3], [4, 7]]]
    one = record.subset(np.array([True, False]))
    assert one.annotator.tolist() == [-1, 0]
    assert one.annotated.tolist() == [True]
    kept = record.only([1], annotated=np.array([True, False]))
    assert (kept.n_spans, kept.annotated.tolist()) == (1, [True, False])
    with pytest.raises(ValueError, match="read-only"):
        one.start[0] = 9


def test_nothing_marked_differs_from_not_annotated():
    record = Rationales(ITEMS, np.empty(0, dtype=int), [], [], annotated=[True, False])
    assert record.annotated.tolist() == [True, False]
    assert Rationales(ITEMS, [1], [0], [2]).annotated.tolist() == [False, True]


def test_who_read_and_marked_nothing_is_known():
    names = np.array(["x", "y"], dtype=object)
    record = Rationales(ITEMS, [0, 0], [4, 0], [7, 3], [0, 0], names, readings=np.array([[1, 1], [0, 1]]))
    assert record.annotated.tolist() == [True, True]
    assert record.annotations() == [(0, "x", [(0, 3, None), (4, 7, None)]), (0, "y", []), (1, "y", [])]
    assert record.subset([1]).annotations() == [(0, "y", [])]
    unknown = Rationales(ITEMS, [0], [0], [3], annotated=[True, True], labels=np.array(["+"], dtype=object))
    assert unknown.annotations() == [(0, "", [(0, 3, "+")]), (1, "", [])]


SPAN = {"item_id": ["a"], "start": [0], "end": [3]}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Rationales.from_table({**SPAN, "end": [99]}, ITEMS), r"row 1 is \[0, 99\) in 'a', which has 15"),
        (lambda: Rationales.from_table({**SPAN, "end": [2**40]}, ITEMS), "must lie inside its text"),
        (lambda: Rationales.from_table({**SPAN, "start": [3]}, ITEMS), "must lie inside its text"),
        (lambda: Rationales.from_table({**SPAN, "start": [-1]}, ITEMS), "must lie inside its text"),
        (lambda: Rationales.from_table({**SPAN, "start": [0.5]}, ITEMS), "start must be a whole number; row 1 is 0.5"),
        (lambda: Rationales.from_table({**SPAN, "start": ["x"]}, ITEMS), "row 1 is 'x'"),
        (lambda: Rationales.from_table({**SPAN, "end": [None]}, ITEMS), "end must be a whole number; row 1"),
        (lambda: Rationales.from_table({**SPAN, "quote": ["bad"]}, ITEMS), "row 1 quotes 'bad' where .* has 'not'"),
        (lambda: Rationales.from_table({**SPAN, "item_id": ["z"]}, ITEMS), "row 1 names 'z'"),
        (lambda: Rationales.from_table({"item_id": ["a"]}, ITEMS), "start, end are missing"),
        (lambda: Rationales(Items(["a"]), [0], [0], [1]), "give the items their texts"),
        (lambda: Rationales(ITEMS, [0], [0], [1], annotated=[False, True]), "'a' has spans but"),
        (lambda: Rationales(ITEMS, [0], [0], [1], annotated=[True]), "one entry an item"),
        (lambda: Rationales(ITEMS, [0], [0, 1], [1]), "1 spans, 2 starts, 1 ends"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)
