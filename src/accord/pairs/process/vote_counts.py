"""Equal votes counted together: what the inference costs then depends on the pairs, not on the votes."""

from dataclasses import dataclass

import numpy as np

from accord.pairs.process.likelihoods import Ballots
from accord.pairs.process.posterior import Sites, Votes, start_sites
from accord.typing import FloatArray, IntArray

__all__ = ["SiteMemory", "VoteCounts", "count_votes"]


@dataclass(frozen=True, eq=False)
class VoteCounts:
    """Distinct votes with their summed weights, and which of them each raw vote went into."""

    left: IntArray  # (n_distinct,)
    right: IntArray  # (n_distinct,)
    value: FloatArray  # (n_distinct,)
    side: IntArray  # (n_distinct,)
    weight: FloatArray  # (n_distinct,)
    row: IntArray  # (n_raw,)
    raw_weight: FloatArray  # (n_raw,)

    def votes(self, items: IntArray, share: FloatArray | None = None) -> Votes:
        """The votes as positions in a sorted list of items; ``share`` as in :class:`Ballots`."""
        left, right = np.searchsorted(items, self.left), np.searchsorted(items, self.right)
        share = np.ones((self.value.size, 1)) if share is None else share
        return Votes(left, right, Ballots(self.value, self.side.astype(np.float64), share), self.weight, items.size)

    @property
    def key(self) -> IntArray:
        """One number a distinct vote, shape (n_distinct,)."""
        answer = (2.0 * self.value).astype(np.int64) + 4 * (self.side.astype(np.int64) + 1)
        return (self.left.astype(np.int64) << 34) + (self.right.astype(np.int64) << 4) + answer


def count_votes(
    left: IntArray, right: IntArray, value: FloatArray, weight: FloatArray | None, side: IntArray | None = None
) -> VoteCounts:
    """Count equal votes; of each pair the item of the lower number is called left.

    ``side`` is 1 where the left item was shown on the left, −1 where the right one was; without it sides do not matter.
    """
    left, right, value = left.astype(np.int64), right.astype(np.int64), value.astype(np.float64)
    raw = np.ones(left.size) if weight is None else weight.astype(np.float64)
    sides = np.zeros(left.size, dtype=np.int64) if side is None else side.astype(np.int64)
    swap = left > right
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    value, sides = np.where(swap, 1.0 - value, value), np.where(swap, -sides, sides)
    counts = VoteCounts(left, right, value, sides, raw, np.arange(left.size), raw)
    _, first, row = np.unique(counts.key, return_index=True, return_inverse=True)
    total = np.bincount(row, raw, first.size).astype(np.float64)
    return VoteCounts(left[first], right[first], value[first], sides[first], total, row, raw)


@dataclass(frozen=True, eq=False)
class SiteMemory:
    """Sites of an earlier inference by vote, per unit of weight, so that a refit starts where the last one ended."""

    key: IntArray  # (n_sites,) sorted
    precision: FloatArray  # (n_sites,)
    shift: FloatArray  # (n_sites,)

    @classmethod
    def nothing(cls) -> "SiteMemory":
        """Before there was an inference."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    @classmethod
    def of(cls, counts: VoteCounts, sites: Sites, weight: FloatArray) -> "SiteMemory":
        """Remember the sites of counted votes (whose keys are sorted), inferred with ``weight``."""
        unit = np.maximum(weight, 1e-12)
        return cls(counts.key, sites.precision / unit, sites.shift / unit)

    def extended(self, counts: VoteCounts, sites: Sites) -> "SiteMemory":
        """The same with the sites of more votes; of a vote that is remembered the earlier site is kept."""
        key = np.concatenate([self.key, counts.key])
        unit = np.maximum(counts.weight, 1e-12)
        _, first = np.unique(key, return_index=True)
        precision = np.concatenate([self.precision, sites.precision / unit])[first]
        return SiteMemory(key[first], precision, np.concatenate([self.shift, sites.shift / unit])[first])

    def recall(self, counts: VoteCounts, votes: Votes) -> Sites:
        """Sites to start from: remembered where the vote is known, neutral where it is new."""
        fresh = start_sites(votes)
        if not self.key.size:
            return fresh
        place = np.minimum(np.searchsorted(self.key, counts.key), self.key.size - 1)
        known = self.key[place] == counts.key
        return Sites(
            np.where(known, self.precision[place] * votes.weight, fresh.precision),
            np.where(known, self.shift[place] * votes.weight, fresh.shift),
        )
