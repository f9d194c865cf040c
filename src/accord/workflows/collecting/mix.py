"""Which pair is asked next: a mix of ways to choose, and how probable the mix makes each pair."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["PairMix"]

Pair = tuple[int, int]


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
        What judges answer differently and no person has answered.
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
