"""Aspect ranks: tables in and out, missing ranks, refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accord.data import AspectRatings, Items
from accord.errors import InputError
from tables import FORMS, one_sentence

ITEMS = Items(["a", "b", "c"])


@given(arrays(np.int64, (3, 2), elements=st.integers(0, 5)), st.sampled_from(sorted(FORMS)))
def test_a_table_comes_back(ranks, form):
    ratings = AspectRatings(ITEMS, ["food", "service"], ranks)
    table = ratings.to_table()
    assert len(table) == (ranks > 0).sum()
    if (ranks > 0).any(axis=0).all():  # an aspect nobody scored is not in the table
        back = AspectRatings.from_table(FORMS[form](table), ITEMS)
        assert back.aspects.tolist() == ["food", "service"]
        np.testing.assert_array_equal(back.ranks, ranks)


def test_a_subset_keeps_items_and_ranks_together():
    ratings = AspectRatings(ITEMS, ["food"], [[1], [2], [3]])
    part = ratings.subset(np.array([2, 0]))
    assert part.items.ids.tolist() == ["c", "a"]
    assert part.ranks.ravel().tolist() == [3, 1]


LONG = {"item_id": ["a", "b"], "aspect": ["food", "food"], "value": [1, 5]}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: AspectRatings.from_table({**LONG, "value": [1, 6]}, ITEMS), r"in \[1, 5\]; row 2 is 6"),
        (lambda: AspectRatings.from_table({**LONG, "value": [1, 0]}, ITEMS), r"in \[1, 5\]; row 2 is 0"),
        (lambda: AspectRatings.from_table({**LONG, "value": [1, 2.5]}, ITEMS), "row 2 has 2.5 for 'food'"),
        (lambda: AspectRatings.from_table({**LONG, "value": [1, "good"]}, ITEMS), "row 2 is 'good'"),
        (lambda: AspectRatings.from_table({**LONG, "value": [1, None]}, ITEMS), "row 2 is nan"),
        (
            lambda: AspectRatings.from_table({**LONG, "aspect": ["food", None]}, ITEMS),
            "every aspect needs an id; row 2",
        ),
        (lambda: AspectRatings.from_table({**LONG, "item_id": ["a", "z"]}, ITEMS), "row 2 names 'z'"),
        (lambda: AspectRatings.from_table({**LONG, "item_id": ["a", "a"]}, ITEMS), "row 2 scores .* again"),
        (lambda: AspectRatings.from_table(pd.DataFrame({"item_id": []}), ITEMS), "aspect, value are missing"),
        (lambda: AspectRatings(ITEMS, ["food"], [[1, 2]]), r"\(3, 1\); they have \(1, 2\)"),
        (lambda: AspectRatings(ITEMS, ["food"], [["x"]] * 3), "ranks must be numbers"),
        (lambda: AspectRatings(ITEMS, ["food"], [[1], [2], [9]]), "row 3 has 9 for 'food'"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)
