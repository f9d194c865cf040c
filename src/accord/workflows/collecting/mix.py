"""Which question is asked next: a mix of ways to choose, and how probable the mix makes each question."""

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from accord.typing import IntArray

__all__ = ["REASONS", "Drawn", "PairMix", "TextMix"]

Pair = tuple[int, int]

# Why a question was asked, as owners read it.
REASONS: Mapping[str, str] = {
    "informative": "its answer tells most about the others",
    "accuracy": "of all answers, this one is expected to put the most other labels right",
    "information": "its answer tells most about the others",
    "uncertainty": "the model is least sure of it",
    "coverage": "few judgements here so far",
    "random": "drawn at random, so that figures about all texts can be trusted",
    "repeat": "asked again, to see how steady answers are",
    "judges": "judges answer it differently, or by a bias",
    "overlap": "others have answered it, and more people are to",
    "gold": "its answer is known: a check",
    "adjudication": "answers differ, and somebody decides",
    "again": "taken back, and asked again",
}


class PairMix:
    """Draws pairs of texts: informative ones, texts with few votes, random pairs, and pairs that were asked before.

    Parameters
    ----------
    pools : sequence of sequences of int
        Texts that may be compared with each other.
    counts : mapping of text to int
        Votes that each text has.
    informative, voted : sequences of pairs
        What the model would ask, and every vote that there is.
    shares : mapping
        Shares of ``informative``, ``coverage``, ``random``, ``repeat`` and ``judges``; those that have nothing to draw
        from are left out.
    disputed : sequence of pairs
        What judges answer differently, or by a bias, and no person has answered.
    """

    def __init__(
        self,
        pools: Sequence[Sequence[int]],
        counts: Mapping[int, int],
        informative: Sequence[Pair],
        voted: Sequence[Pair],
        shares: Mapping[str, float],
        disputed: Sequence[Pair] = (),
    ) -> None:
        self._pools = [np.array(pool) for pool in pools if len(pool) > 1]
        self._sizes = [pool.size * (pool.size - 1) / 2 for pool in self._pools]
        self.n_pairs = sum(self._sizes)
        self._votes = [np.array([counts.get(int(key), 0) for key in pool]) for pool in self._pools]
        self._place = {int(key): (p, i) for p, pool in enumerate(self._pools) for i, key in enumerate(pool)}
        inside = [pair for pair in voted if self._together(pair)]
        divided = [pair for pair in disputed if self._together(pair)]
        self._sources = {"informative": list(informative), "repeat": inside, "judges": divided}
        self._likely = {way: Counter(frozenset(pair) for pair in found) for way, found in self._sources.items()}
        kept = {way: share for way, share in shares.items() if share > 0 and self._sources.get(way, True)}
        total = sum(kept.values())
        self.shares = {way: share / total for way, share in kept.items()} if total else {"random": 1.0}

    def _together(self, pair: Pair) -> bool:
        a, b = (self._place.get(key) for key in pair)
        return a is not None and b is not None and a[0] == b[0] and pair[0] != pair[1]

    def draw(self, rng: random.Random) -> tuple[str, Pair]:
        """A way of choosing, and a pair chosen so."""
        (way,) = rng.choices(list(self.shares), list(self.shares.values()))
        if way in self._sources:
            return way, rng.choice(self._sources[way])
        (p,) = rng.choices(range(len(self._pools)), self._sizes)
        pool = self._pools[p]
        if way == "random":
            a, b = rng.sample(range(pool.size), 2)
        else:  # one of the texts of this pool with the fewest votes, against any other
            fewest = np.flatnonzero(self._votes[p] == self._votes[p].min())
            a = int(fewest[rng.randrange(fewest.size)])
            b = (a + rng.randrange(1, pool.size)) % pool.size
        return way, (int(pool[a]), int(pool[b]))

    def propensity(self, pair: Pair) -> float:
        """Probability that one draw from the whole mix is this pair, in either order."""
        key, p = frozenset(pair), 0.0
        for way, found in self._likely.items():
            if way in self.shares:
                p += self.shares[way] * found[key] / len(self._sources[way])
        if not self._together(pair):
            return p
        p += self.shares.get("random", 0.0) / self.n_pairs
        if "coverage" in self.shares:
            (pool, i), (_, j) = (self._place[one] for one in pair)
            votes = self._votes[pool]
            fewest = votes == votes.min()
            chosen = (float(fewest[i]) + float(fewest[j])) / fewest.sum() / (votes.size - 1)
            p += self.shares["coverage"] * self._sizes[pool] / self.n_pairs * chosen
        return p

    def count(self, pair: Pair) -> None:
        """Count a question as if it were answered, so that the next one goes to other texts."""
        for key in pair:
            if key in self._place:
                pool, i = self._place[key]
                self._votes[pool][i] += 1


class Drawn(NamedTuple):
    """A text that was drawn: the way of choosing, the text, and how probable it was among those not yet drawn."""

    way: str
    key: Hashable
    propensity: float


class TextMix:
    """Draws texts, none of them twice: the first of lists, texts with few judgements, and random texts.

    Parameters
    ----------
    keys : sequence
        The texts that may be drawn.
    counts : sequence of int
        Judgements that each has.
    groups : sequence
        The thread or other group of each; of texts with equally few judgements, those of groups with few come first.
    ahead : mapping of way to sequence
        What the model would ask (``informative``) and what judges answer differently (``judges``), best first; one of
        the first few that are left is drawn.
    shares : mapping
        Shares of these, of ``coverage`` and of ``random``; those that have nothing to draw from are left out.
    """

    _LEAD = 3  # of the first of a list, so many are as likely to be drawn next

    def __init__(
        self,
        keys: Iterable[Hashable],
        counts: Sequence[int] | IntArray,
        groups: Iterable[Hashable],
        ahead: Mapping[str, Sequence[Hashable]],
        shares: Mapping[str, float],
    ) -> None:
        self._keys, self._shares = list(keys), shares
        self._open = np.ones(len(self._keys), dtype=bool)
        places: dict[Hashable, int] = {key: place for place, key in enumerate(self._keys)}
        self._ahead = {way: [places[key] for key in found] for way, found in ahead.items()}
        codes: dict[Hashable, int] = {}
        self._group = np.array([codes.setdefault(group, len(codes)) for group in groups], dtype=np.int64)
        self._counts = np.asarray(counts, dtype=np.int64)
        self._of_group = np.bincount(self._group, weights=self._counts, minlength=len(codes))

    def __len__(self) -> int:
        """How many texts are left to draw."""
        return int(self._open.sum())

    def _sources(self) -> dict[str, IntArray]:
        """The places from which each way draws evenly."""
        left = np.flatnonzero(self._open)
        few = left[self._counts[left] == self._counts[left].min()]
        few = few[self._of_group[self._group[few]] == self._of_group[self._group[few]].min()]
        first = {way: np.array(found[: self._LEAD], dtype=np.int64) for way, found in self._ahead.items()}
        return {**first, "coverage": few, "random": left}

    def propensities(self) -> dict[Hashable, float]:
        """The probability of each text to be drawn next."""
        sources = self._sources()
        p = np.zeros(len(self._keys))
        for way, share in self._kept(sources).items():
            p[sources[way]] += share / sources[way].size
        return {key: float(p[place]) for place, key in enumerate(self._keys) if p[place] > 0}

    def _kept(self, sources: Mapping[str, IntArray]) -> dict[str, float]:
        kept = {way: share for way, share in self._shares.items() if way in sources and share > 0 and sources[way].size}
        total = sum(kept.values())
        return {way: share / total for way, share in kept.items()} if total else {"random": 1.0}

    def draw(self, rng: random.Random) -> Drawn:
        """One text, which is not drawn again."""
        sources = self._sources()
        kept = self._kept(sources)
        (way,) = rng.choices(list(kept), list(kept.values()))
        place = int(sources[way][rng.randrange(sources[way].size)])
        p = sum(share / sources[each].size for each, share in kept.items() if place in sources[each])
        self._open[place] = False
        self._of_group[self._group[place]] += 1
        self._ahead = {way: [one for one in found if one != place] for way, found in self._ahead.items()}
        return Drawn(way, self._keys[place], p)
