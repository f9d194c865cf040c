"""Turns: expensive work is done for few at a time; the others wait without a thread, and not too many of them."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import HTTPException
from fastapi.concurrency import run_in_threadpool

__all__ = ["Turns"]

Result = TypeVar("Result")


class Turns:
    """At most ``at_once`` pieces of work at a time and ``most_waiting`` that wait for their turn."""

    def __init__(self, at_once: int, *, most_waiting: int = 100) -> None:
        self._free, self._most, self._waiting = asyncio.Semaphore(at_once), most_waiting, 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """What ``work`` returns, done in a thread when it is its turn."""
        if self._waiting >= self._most:
            sentence = "too many people ask for this at once; try again in a moment."
            raise HTTPException(503, sentence, {"retry-after": "5"})
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            return await run_in_threadpool(work)
        finally:
            self._free.release()
