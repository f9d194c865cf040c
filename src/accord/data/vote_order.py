"""One order of votes and voters for all who come with the same votes, once there is one of the items.

What is drawn at random follows the order in which things come. So that the order in which a table lists its rows, which
of two items it calls left, and what its voters are called change no figure, votes are taken in the order of their
content, and voters in that of the votes they gave.
"""

import numpy as np

from accord.data.columns import derived
from accord.data.pairs import Comparisons
from accord.typing import AnyArray, IntArray

__all__ = ["arranged", "id_order", "places_of", "voters_arranged", "votes_of_voters"]

# Constants of the mixing function splitmix64.
_FIRST, _SECOND, _THIRD = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def id_order(ids: AnyArray) -> IntArray:
    """Positions of ids in alphabetical order, shape (n,)."""
    if ids.size < 2 or bool((ids[:-1] <= ids[1:]).all()):
        return np.arange(ids.size)
    return np.argsort(ids, kind="stable").astype(np.int64)


def places_of(order: IntArray) -> IntArray:
    """The place of each position in ``order``, shape (n,)."""
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return place


def _mixed(values: AnyArray) -> AnyArray:
    """A number of 64 bits for each number, as good as drawn at random."""
    x = values + _FIRST
    x = (x ^ (x >> np.uint64(30))) * _SECOND
    x = (x ^ (x >> np.uint64(27))) * _THIRD
    return x ^ (x >> np.uint64(31))


def votes_of_voters(votes: Comparisons, order: IntArray) -> AnyArray:
    """A number for each voter that depends on the votes of this voter alone, in whatever order, shape (n_voters,).

    Two voters have the same number if they gave the same votes; by chance it happens once in 10¹⁹ pairs of voters.

    Parameters
    ----------
    votes : Comparisons
    order : int array of shape (n_items,)
        Positions of the items in the order in which they are taken.
    """
    if votes.annotator is None or votes.annotators is None:
        return np.zeros(0, dtype=np.uint64)
    place = places_of(order)
    left, right = place[votes.left], place[votes.right]
    swap = left > right
    answer = np.where(swap, 1.0 - votes.value, votes.value)
    code = (2.0 * answer).astype(np.uint64)
    if votes.shown is not None:
        code += np.uint64(4) * (np.where(swap, -votes.shown, votes.shown) + 1).astype(np.uint64)
    if votes.weight is not None:
        code += np.uint64(16) * votes.weight.astype(np.float32).view(np.uint32).astype(np.uint64)
    for side in (np.minimum(left, right), np.maximum(left, right)):
        code = _mixed(code) + side.astype(np.uint64)
    total = np.zeros(len(votes.annotators) + 1, dtype=np.uint64)
    # Sums of whole numbers are the same in any order.
    np.add.at(total, votes.annotator, _mixed(code))
    return total[:-1]


def voters_arranged(votes: Comparisons, order: IntArray) -> Comparisons:
    """The same votes with the voters in the order of what they voted; of equal voters, in that of their names.

    Parameters
    ----------
    votes, order
        As in :func:`votes_of_voters`.
    """
    if votes.annotator is None or votes.annotators is None:
        return votes
    people = np.lexsort((places_of(id_order(votes.annotators)), votes_of_voters(votes, order)))
    place = np.append(places_of(people), -1).astype(votes.annotator.dtype)
    return derived(votes, annotator=place[votes.annotator], annotators=votes.annotators[people])


def arranged(votes: Comparisons, order: IntArray) -> Comparisons:
    """The same votes: items in order, the first of two called left, voters by what they voted, votes by all of these.

    Parameters
    ----------
    votes, order
        As in :func:`votes_of_voters`.
    """
    place = places_of(order).astype(votes.left.dtype)
    left, right = place[votes.left], place[votes.right]
    swap = left > right
    columns = {
        "left": np.where(swap, right, left),
        "right": np.where(swap, left, right),
        "value": np.where(swap, 1.0 - votes.value, votes.value).astype(votes.value.dtype),
        "shown": None if votes.shown is None else np.where(swap, -votes.shown, votes.shown).astype(votes.shown.dtype),
    }
    found = voters_arranged(derived(votes, items=votes.items.subset(order), **columns), np.arange(order.size))
    keys = [getattr(found, name) for name in ("weight", "annotator", "shown", "value", "right", "left")]
    return found.subset(np.lexsort([key for key in keys if key is not None]))
