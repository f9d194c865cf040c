"""One order of items for all who come with the same votes about the same content, whatever the items are called.

What is drawn at random follows the order of the items. Every item begins with a key of its text, features and score.
Items that are alike in these are told apart by the votes they got; then, round by round, by the keys of the items they
met, of their group, and of the people who voted (the refinement of Weisfeiler and Leman). Ids decide only between items
that nothing tells apart.
"""

from collections import defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_order import id_order, places_of
from accord.fitting.content_order import group_keys, mixed, row_keys
from accord.texts.rows import text_keys
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["content_order", "item_order"]

# Most rounds of each kind. Items that are still alike then have the same surroundings, so many votes far.
_ROUNDS = 30
# Where more votes than these are between items that are alike, ids decide between all of them.
_MOST_TIED = 200_000
_WORD = 2**64 - 1


def content_order(items: Items) -> IntArray:
    """Positions of items in an order by their texts, features and groups alone, shape (n_items,)."""
    none = np.zeros(0, dtype=np.int32)
    return item_order(Comparisons(items, none, none, np.zeros(0, dtype=np.float32)))


def item_order(votes: Comparisons, scores: tuple[IntArray, FloatArray] | None = None) -> IntArray:
    """Positions of the items in an order that their ids do not decide, shape (n_items,).

    Parameters
    ----------
    votes : Comparisons
    scores : (int array, float array) of shape (n_scores,) each, optional
        Items that have a score, and their scores.
    """
    keys = _first_keys(votes.items, scores)
    if not _alike(keys).any():
        return np.argsort(keys, kind="stable")
    met = _Met(votes)
    keys = mixed(keys, met.told(met.along))  # votes and wins, whoever the other item was
    for refined in (met.by_items, met.by_voters):
        keys = _refined(keys, refined)
    if not _alike(keys).any():
        return np.argsort(keys, kind="stable")
    return np.lexsort((_last_resort(keys, met, votes.items.ids), keys))


def _first_keys(items: Items, scores: tuple[IntArray, FloatArray] | None) -> IntArray:
    keys: AnyArray = np.zeros(items.n_items, dtype=np.uint64)
    if items.texts is not None:
        keys = mixed(keys, text_keys(items.texts))
    features = items.features
    if features is not None and features.dtype.kind in "fiub":
        exact = features.astype(np.float64) if sp.issparse(features) else np.asarray(features, dtype=np.float64)
        keys = mixed(keys, row_keys(exact))
    if scores is not None:
        own = np.zeros(items.n_items, dtype=np.uint64)
        own[scores[0]] = mixed(scores[1].astype(np.float64).view(np.uint64))
        keys = mixed(keys, own)
    return keys


def _alike(keys: IntArray) -> AnyArray:
    """Which keys occur more than once, shape (n,)."""
    _, which, count = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(count[which.ravel()] > 1)


def _refined(keys: IntArray, refine: Callable[[IntArray, AnyArray], IntArray]) -> IntArray:
    """Keys after as many rounds as tell more items apart."""
    alike = _alike(keys)
    for _ in range(_ROUNDS):
        if not alike.any():
            break
        n_alike, n_keys = alike.sum(), np.unique(keys).size
        keys = refine(keys, alike)
        alike = _alike(keys)
        if alike.sum() == n_alike and np.unique(keys).size == n_keys:
            break
    return keys


class _Met:
    """The votes as each of the two items sees them: two rows a vote."""

    def __init__(self, votes: Comparisons) -> None:
        self.into = np.concatenate([votes.left, votes.right])
        self.out_of = np.concatenate([votes.right, votes.left])
        self.n_items = votes.items.n_items
        answer = np.concatenate([2.0 * votes.value, 2.0 - 2.0 * votes.value]).astype(np.uint8)
        if votes.shown is not None:
            answer += 3 * (np.concatenate([votes.shown, -votes.shown]) + 1).astype(np.uint8)
        along: AnyArray = mixed(np.arange(9, dtype=np.uint64))[answer]
        if votes.weight is not None:
            weight = votes.weight.astype(np.float32).view(np.uint32).astype(np.uint64)
            along = mixed(along, np.concatenate([weight, weight]))
        self.along = along
        self.annotator = votes.annotator
        self.groups = None if votes.items.groups is None else pd.factorize(votes.items.groups)[0]

    def told(self, along: AnyArray, rows: AnyArray | slice = slice(None)) -> IntArray:
        """Sums over the votes of each item, which are the same in any order, shape (n_items,)."""
        total = np.zeros(self.n_items, dtype=np.uint64)
        np.add.at(total, self.into[rows], along)
        return total

    def by_items(self, keys: IntArray, alike: AnyArray) -> IntArray:
        """Keys that take in those of the items met, and of the group; only for items that are still alike."""
        rows = np.flatnonzero(alike[self.into])
        return self._joined(keys, self.told(mixed(keys[self.out_of[rows]], self.along[rows]), rows))

    def by_voters(self, keys: IntArray, alike: AnyArray) -> IntArray:
        """The same, with all the votes of each person who voted."""
        if self.annotator is None:
            return keys
        seen = mixed(keys[self.out_of], self.along)
        half = mixed(keys[self.into], seen)
        n = self.annotator.size
        total = np.zeros(int(self.annotator.max(initial=-1)) + 2, dtype=np.uint64)
        np.add.at(total, self.annotator, mixed(half[:n] + half[n:]))
        total[-1] = 0  # of those whose voter is not known
        person = mixed(total)[self.annotator]
        return self._joined(keys, self.told(mixed(seen, np.concatenate([person, person]))))

    def _joined(self, keys: IntArray, told: IntArray) -> IntArray:
        return mixed(keys, told) if self.groups is None else mixed(keys, told, group_keys(self.groups, keys))


def _last_resort(keys: IntArray, met: _Met, ids: ObjectArray) -> IntArray:
    """Places among items of the same key, shape (n_items,): by the items met that have their place, then by id.

    So that two copies of the same votes about other items stay apart: where an item of the first copy stands in front,
    all items of this copy do.
    """
    by_id = places_of(id_order(ids))
    alike = _alike(keys)
    rows = np.flatnonzero(alike[met.into] & alike[met.out_of])
    if not rows.size or rows.size > _MOST_TIED:
        return by_id
    met_by: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item, other, along in zip(*(part[rows].tolist() for part in (met.out_of, met.into, met.along)), strict=True):
        met_by[item].append((other, along))
    tied = np.flatnonzero(alike)
    tied = tied[np.argsort(keys[tied], kind="stable")]
    place = np.full(met.n_items, -1)
    # What an item was told by those that have their place: where the first of them stands, and a hash of all.
    told = dict.fromkeys(tied.tolist(), (met.n_items, 0))
    n_placed = 0
    for members in np.split(tied, np.flatnonzero(keys[tied][1:] != keys[tied][:-1]) + 1):
        waiting = [(*told[item], int(by_id[item]), item) for item in members.tolist()]
        heapify(waiting)
        inside = set(members.tolist())
        while waiting:
            *heard, _, item = heappop(waiting)
            if place[item] >= 0 or tuple(heard) != told[item]:
                continue  # there is a later entry of this item
            place[item] = n_placed
            for other, along in met_by.get(item, ()):
                first, all_ = told[other]
                told[other] = min(first, n_placed), (all_ + along * (2 * n_placed + 1)) & _WORD
                if other in inside and place[other] < 0:
                    heappush(waiting, (*told[other], int(by_id[other]), other))
            n_placed += 1
    return place
