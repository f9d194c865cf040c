"""Votes: tables in and out, refusals, and a million of them."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.data import Comparisons, Items
from accord.data.pairs import pair_frame
from accord.errors import InputError
from tables import FORMS, one_sentence

names = st.sampled_from(["a", "b", "c", "d"])
rows = st.lists(
    st.tuples(
        names, names, st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["v", "w"]) | st.none(), st.integers(1, 3)
    ),
    min_size=1,
    max_size=8,
).map(lambda votes: [vote for vote in votes if vote[0] != vote[1]] or [("a", "b", 1.0, "v", 1)])


@given(rows, st.sampled_from(sorted(FORMS)))
def test_a_table_comes_back(votes, form):
    frame = pd.DataFrame(votes, columns=["left", "right", "value", "annotator_id", "weight"])
    record = Comparisons.from_table(FORMS[form](frame))
    back = record.to_table()
    for name in frame.columns:
        expected = [None if pd.isna(value) else value for value in frame[name]]
        assert back[name].astype(object).where(back[name].notna(), None).tolist() == expected
    again = Comparisons.from_table(back, record.items)
    pd.testing.assert_frame_equal(again.to_table(), back)
    assert record.items.ids.tolist() == sorted({*frame["left"], *frame["right"]})


@given(rows, st.randoms(use_true_random=False))
def test_a_subset_is_the_same_votes(votes, random):
    record = Comparisons.from_table(pd.DataFrame(votes, columns=["left", "right", "value", "annotator_id", "weight"]))
    mask = np.array([random.random() < 0.5 for _ in votes])
    part = record.subset(mask)
    for name in ("left", "right", "value", "annotator", "weight"):
        np.testing.assert_array_equal(getattr(part, name), getattr(record, name)[mask])
    assert part.items is record.items


def test_votes_followed_by_votes_are_one_table_after_the_other():
    items = Items(["a", "b", "c"])
    first = Comparisons(items, [0, 1], [1, 2], [1.0, 0.0], [0, -1], ["ann"])
    more = Comparisons(items, [2], [0], [0.5], [1], ["ann", "bob"], [3.0])
    both = first.followed_by(more)
    assert both.xy()[0].values.tolist() == [["a", "b"], ["b", "c"], ["c", "a"]]
    assert both.value.tolist() == [1.0, 0.0, 0.5]
    assert both.annotator.tolist() == [0, -1, 1]
    assert both.annotators.tolist() == ["ann", "bob"]
    assert both.weight.tolist() == [1.0, 1.0, 3.0]
    plain = Comparisons(items, [0], [1], [1.0])
    assert plain.followed_by(plain).annotator is None
    assert plain.followed_by(plain).weight is None


def test_x_and_y_are_what_the_ranker_fits():
    X, y = Comparisons.from_table({"left": ["a", "b"], "right": ["b", "c"], "value": [1, 0.5]}).xy()
    assert X.to_dict("list") == {"left": ["a", "b"], "right": ["b", "c"]}
    assert y.tolist() == [1.0, 0.5]


def test_groups_are_those_of_the_items():
    items = Items(["a", "b"], groups=["g", "g"])
    votes = Comparisons(items, [0], [1], [1.0])
    assert votes.groups.tolist() == ["g"]
    with pytest.raises(InputError, match="give the items a group_id"):
        _ = Comparisons(Items(["a", "b"]), [0], [1], [1.0]).groups


ITEMS = Items(["a", "b"])
TABLE = {"left": ["a", "a"], "right": ["b", "b"], "value": [1, 0]}


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Comparisons.from_table({**TABLE, "value": [1, 2]}), "row 2 is 2"),
        (lambda: Comparisons.from_table({**TABLE, "value": [1, None]}), "row 2 is nan"),
        (lambda: Comparisons.from_table({**TABLE, "value": [1, "left"]}), "row 2 is 'left'"),
        (lambda: Comparisons.from_table({**TABLE, "right": ["b", "a"]}), "row 2 compares 'a' with itself"),
        (lambda: Comparisons.from_table({**TABLE, "right": ["b", "z"]}, ITEMS), "row 2 names 'z'"),
        (lambda: Comparisons.from_table({**TABLE, "right": ["b", None]}), "row 2 has none"),
        (lambda: Comparisons.from_table({**TABLE, "right": ["b", ""]}), "row 2 has none"),
        (lambda: Comparisons.from_table({**TABLE, "weight": [1, -1]}), "row 2 is -1"),
        (lambda: Comparisons.from_table({**TABLE, "weight": [1, "x"]}), "row 2 is 'x'"),
        (lambda: Comparisons.from_table({"left": ["a"]}), "right, value are missing"),
        (lambda: Comparisons(ITEMS, [0], [2], [1.0]), r"must lie in 0\.\.1; row 1 is 2"),
        (lambda: Comparisons(ITEMS, [0.0], [1.0], [1.0]), "must be integers"),
        (lambda: Comparisons(ITEMS, [0], [1, 0], [1.0]), "1 rows and 2 entries"),
        (lambda: Comparisons(ITEMS, [0], [1], [1.0, 0.0]), "1 votes and 2 values"),
        (lambda: Comparisons(ITEMS, [0], [1], [1.0], annotator=[0]), "belong together"),
        (lambda: Comparisons(ITEMS, [0], [1], [1.0], annotator=[1], annotators=["v"]), "annotator positions"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)


def test_no_vote_is_a_record_too():
    votes = Comparisons(ITEMS, np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0))
    assert votes.n_votes == 0
    assert votes.to_table().empty


def test_a_record_cannot_be_changed():
    votes = Comparisons(ITEMS, [0], [1], [1.0], annotator=[0], annotators=["v"], weight=[2.0])
    for column in (votes.left, votes.value, votes.annotator, votes.annotators, votes.weight):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_a_million_votes_are_small_and_quick():
    n, rng = 1_000_000, np.random.default_rng(0)
    left = rng.integers(0, 1000, n)
    ids = np.array([f"item{i}" for i in range(1000)], dtype=object)
    frame = pd.DataFrame(
        {
            "left": ids[left],
            "right": ids[(left + rng.integers(1, 1000, n)) % 1000],
            "value": rng.integers(0, 3, n) / 2,
            "annotator_id": np.array([f"v{i}" for i in range(500)], dtype=object)[rng.integers(0, 500, n)],
        }
    )
    tracemalloc.start()
    try:
        votes = Comparisons.from_table(frame)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # left, right, value and annotator at four bytes each; ten million then keep 160 MB and pass through under 1 GB.
    assert kept < 20e6
    assert peak < 100e6
    assert votes.n_votes == n
    np.testing.assert_array_equal(votes.items.ids[votes.left[:1000]], frame["left"][:1000])


def test_missing_columns_are_named_in_the_singular_or_the_plural():
    frame = pd.DataFrame({"slogan_a": ["x"], "right": ["y"]})
    with pytest.raises(InputError, match=r"; left is missing \(it has: slogan_a, right\)\. Rename or add it\."):
        pair_frame(frame)
    with pytest.raises(InputError, match=r"; left, right are missing \(it has: slogan_a\)\. Rename or add them\."):
        pair_frame(frame[["slogan_a"]])


def test_records_of_votes_are_read_by_their_names():
    rows = [{"right": "b", "left": "a"}, {"right": "c", "left": "b"}]
    assert pair_frame(rows).to_numpy().tolist() == [["a", "b"], ["b", "c"]]


@pytest.mark.parametrize("pairs", [("a", "b"), [["a"], ["b"]], ["ab"], "ab", [("a", "b"), ("a", "b", "c")], [1, 2]])
def test_rows_that_are_no_pairs_are_refused(pairs):
    with pytest.raises(InputError, match=r"must have two columns.*Write a single pair as \[\(left, right\)\]"):
        pair_frame(pairs)


def test_a_voter_missing_from_a_list_is_nobody():
    votes = Comparisons.from_xy([("a", "b"), ("b", "c")], [1, 0], annotator=["ann", float("nan")])
    assert votes.annotators.tolist() == ["ann"]
    assert votes.annotator.tolist() == [0, -1]
