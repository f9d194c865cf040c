"""Items come in an order of their own, whatever they are called and however they are listed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.pairs.item_order import content_order, item_order


def listed_otherwise(votes, seed):
    """The same votes with other ids, items and rows in another order, sides swapped; where each item stands there."""
    rng = np.random.default_rng(seed)
    items, n = votes.items, votes.items.n_items
    place = rng.permutation(n)
    where = np.argsort(place)
    rows = rng.permutation(votes.n_votes)
    left, right, value = where[votes.left[rows]], where[votes.right[rows]], votes.value[rows]
    swap = rng.random(rows.size) < 0.5
    new = Items(
        [f"{k:04d}" for k in rng.permutation(9_000)[:n]],
        texts=None if items.texts is None else items.texts[place],
        features=None if items.features is None else items.features[place],
        groups=None if items.groups is None else items.groups[place],
    )
    return Comparisons(
        new,
        np.where(swap, right, left),
        np.where(swap, left, right),
        np.where(swap, 1.0 - value, value),
        None if votes.annotator is None else votes.annotator[rows],
        votes.annotators,
        None if votes.weight is None else votes.weight[rows],
        None if votes.shown is None else np.where(swap, -votes.shown[rows], votes.shown[rows]),
    ), place


def in_order(votes, order):
    """All that the votes say, with items called by their places: equal for two listings that change no draw."""
    place = np.argsort(order)
    left, right = place[votes.left], place[votes.right]
    swap = left > right
    rows = np.column_stack([
        np.where(swap, right, left), np.where(swap, left, right), np.where(swap, 1.0 - votes.value, votes.value),
    ])  # fmt: skip
    return sorted(map(tuple, rows.tolist()))


def random_votes(seed, *, n=12, n_votes=40, people=0, sides=False, weighted=False):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n, n_votes)
    return Comparisons(
        Items([f"i{k}" for k in range(n)]),
        left,
        (left + rng.integers(1, n, n_votes)) % n,
        rng.choice([0.0, 0.5, 1.0], n_votes),
        rng.integers(-1, people, n_votes) if people else None,
        np.array([f"p{k}" for k in range(people)], dtype=object) if people else None,
        0.5 + rng.integers(0, 3, n_votes) if weighted else None,
        rng.choice([-1, 0, 1], n_votes) if sides else None,
    )


@pytest.mark.parametrize("with_", [{}, {"people": 4}, {"sides": True}, {"weighted": True}, {"n_votes": 9}])
def test_the_order_follows_the_votes(with_):
    votes = random_votes(3, **with_)
    reference = in_order(votes, item_order(votes))
    for seed in range(5):
        other, _ = listed_otherwise(votes, seed)
        assert in_order(other, item_order(other)) == reference


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=1, max_size=9), st.integers(0, 99)
)
def test_the_order_of_any_few_votes_follows_the_votes(rows, seed):
    rows = [row for row in rows if row[0] < row[1]] or [(0, 1, True)]
    left, right, won = (np.array(column) for column in zip(*rows, strict=True))
    votes = Comparisons(Items([f"i{k}" for k in range(7)]), left, right, won.astype(float))
    other, _ = listed_otherwise(votes, seed)
    assert in_order(other, item_order(other)) == in_order(votes, item_order(votes))


@pytest.mark.parametrize("form", ["chain", "ring", "ring of ties"])
def test_copies_of_the_same_votes_about_other_items_stay_apart(form):
    parts = np.arange(40).reshape(8, 5)  # eight chains or rings of five items; each item beats the next one, or draws
    left, right = parts.ravel(), np.roll(parts, -1, axis=1).ravel()
    keep = np.tile(np.arange(5) < 4, 8) if form == "chain" else slice(None)
    value = np.full(40, 0.5 if form == "ring of ties" else 1.0)
    votes = Comparisons(Items([f"i{k}" for k in range(40)]), left[keep], right[keep], value[keep])
    reference = in_order(votes, item_order(votes))
    for seed in range(5):
        other, _ = listed_otherwise(votes, seed)
        assert in_order(other, item_order(other)) == reference


@pytest.mark.parametrize("what", ["texts", "features", "groups", "scores"])
def test_what_is_known_of_items_without_votes_decides_before_their_ids(what):
    rng = np.random.default_rng(0)
    n = 6
    content = {
        "texts": {"texts": ["a b", "b c", "c d", "d e", "e f", "f g"]},
        "features": {"features": rng.normal(size=(n, 3))},
        "groups": {"groups": ["x", "y", "y", "z", "z", "z"]},
        "scores": {},
    }[what]
    none = np.zeros(0, dtype=np.int32)
    votes = Comparisons(Items([f"i{k}" for k in range(n)], **content), none, none, np.zeros(0, dtype=np.float32))
    value = rng.normal(size=n)
    own = {"texts": np.arange(n), "features": np.arange(n), "groups": np.array([0, 1, 1, 2, 2, 2])}.get(what, value)
    given_scores = what == "scores"
    reference = own[item_order(votes, (np.arange(n), value) if given_scores else None)].tolist()
    for seed in range(5):
        other, place = listed_otherwise(votes, seed)
        found = item_order(other, (np.arange(n), value[place]) if given_scores else None)
        assert own[place][found].tolist() == reference
        if not given_scores:
            assert own[place][content_order(other.items)].tolist() == reference


def test_numbers_that_are_stored_otherwise_are_the_same_numbers():
    x = np.random.default_rng(1).integers(0, 3, (50, 20)).astype(np.float32)
    ids = [f"i{k}" for k in range(50)]
    orders = [content_order(Items(ids, features=each)) for each in (x, x.astype(np.float64), sp.csr_array(x))]
    assert orders[0].tolist() == orders[1].tolist() == orders[2].tolist()


def test_one_item_and_none_have_an_order():
    none = np.zeros(0, dtype=np.int32)
    for n in (0, 1):
        votes = Comparisons(Items([f"i{k}" for k in range(n)]), none, none, np.zeros(0, dtype=np.float32))
        assert item_order(votes).tolist() == list(range(n))
