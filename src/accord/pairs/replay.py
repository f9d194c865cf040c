"""One loop for every replay of votes: ask for some of a pool, learn, ask again."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from accord.typing import IntArray

__all__ = ["replay_votes"]

Learnt = TypeVar("Learnt")


def replay_votes(
    pool: IntArray,
    first: IntArray,
    *,
    learn: Callable[[Learnt | None, IntArray, IntArray], Learnt],
    step: Callable[[int], int],
    rng: np.random.Generator,
    pick: Callable[[Learnt, IntArray, int], IntArray] | None = None,
) -> Iterator[tuple[IntArray, Learnt]]:
    """The votes that were asked for so far and what was learnt from them, after each batch.

    Parameters
    ----------
    pool, first : int arrays
        Votes that may be asked for, and those that are asked for first.
    learn : callable
        ``(what was learnt before or None, all votes so far, the new ones)``: what is learnt.
    step : callable
        How many votes follow on so many; 0 ends the replay.
    rng : numpy.random.Generator
        Of random votes.
    pick : callable, optional
        ``(what was learnt, votes not asked for, n)``: the next ``n``; random ones without it.
    """
    asked = new = first
    learnt: Learnt | None = None
    while True:
        learnt = learn(learnt, asked, new)
        yield asked, learnt
        free = np.setdiff1d(pool, asked)
        n = min(step(asked.size), free.size)
        if n <= 0:
            return
        new = rng.permutation(free)[:n] if pick is None else pick(learnt, free, n)
        asked = np.concatenate([asked, new])
