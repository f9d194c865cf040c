"""Workers that end while they hold work: whether a block ends them, or they are taken away.

On a cluster workers are taken away all the time, and a busy machine takes seconds to start new ones. Work that was lost
is given out again, after a pause that grows, as long as anything gets done. Two things end it: a block that was seen at
work each time that its worker ended, more often than it may be tried again; and a stated time in which nothing was
done at all.
"""

import time
from collections import Counter
from collections.abc import Callable

from accord.errors import InputError

__all__ = ["PATIENCE", "Losses"]

PATIENCE = 180.0  # seconds without any block done after which a run is given up
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds; a worker that starts again takes some


class Losses:
    """What was lost in one run.

    Parameters
    ----------
    retries : int
        How often a block may be at work when its worker ends, and be tried again.
    what : str
        What workers are called: "worker" or "process".
    clock : callable, optional
        Seconds that pass.
    """

    def __init__(self, retries: int, what: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._retries, self._what, self._clock = retries, what, clock
        self._since, self._n_done, self._n_ended = clock(), 0, 0
        self._lost, self._fruitless = Counter[int](), Counter[int]()

    def done(self) -> None:
        """A block was done: the time without any begins anew."""
        self._since, self._n_done = self._clock(), self._n_done + 1
        self._fruitless.clear()

    def ended(self, n: int) -> None:
        """Workers ended, whatever they were at."""
        self._n_ended += n

    def again(self, place: int) -> bool:
        """Whether a block was lost before; one that was says when it begins."""
        return self._lost[place] > 0

    def lose(self, place: int, at_work: int, seen: str = "") -> float:
        """A block was lost; returns the seconds to wait before it is given out again.

        Parameters
        ----------
        place : int
        at_work : int
            How often, since it was first lost, the block had begun when its worker ended.
        seen : str
            How the worker ended, where that is known.
        """
        self._lost[place] += 1
        self._fruitless[place] += 1
        how = f" ({seen})" if seen else ""
        count = f"{max(self._n_ended, self._lost[place])} ended in all and {self._n_done} blocks were done"
        if at_work > self._retries:
            raise InputError(
                f"block {place} was at work {at_work} times when its {self._what} ended{how}, and was never done; "
                f"{count}. It has too little memory, or takes longer than it is left. Give each {self._what} more "
                "memory, use fewer of them, or make the blocks smaller."
            )
        idle = self._clock() - self._since
        if idle > PATIENCE:
            raise InputError(
                f"no block was done for {idle:.0f} seconds, in which block {place} was lost with its {self._what} "
                f"{self._fruitless[place]} times{how}, {at_work} of them at work; {count}. Each {self._what} is taken "
                "away too soon, or has too little memory. Run this again when they stay, or make the blocks smaller."
            )
        return _PAUSES[min(self._fruitless[place], len(_PAUSES)) - 1]
