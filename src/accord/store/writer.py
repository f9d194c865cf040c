"""Many small writes in few transactions.

Each commit waits for the disk. With many people answering at once, the writes that arrive during one commit share the
next one. A caller hears of success only after the commit, so nothing acknowledged can be lost; a write that breaks a
rule fails without the others. A job may run twice, the first time without effect, so it only reads and writes the
database.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from sqlalchemy import Connection

from accord.store.database import Database

__all__ = ["Reader", "Writer"]

Result = TypeVar("Result")
_Job = tuple[Callable[[Connection], Any], "Future[Any]"]


class _WorkError(Exception):
    """A job failed before its transaction was committed, so that nothing of the batch is stored."""


class Writer:
    """A thread that runs submitted writes, several to a transaction."""

    def __init__(self, database: Database, *, most: int = 64) -> None:
        self._database = database
        self._most = most
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"accord-{type(self).__name__.lower()}", daemon=True)
        self._thread.start()

    def submit(self, work: "Callable[[Connection], Result]") -> "Future[Result]":
        """Queue ``work``; the future is done once its transaction is committed."""
        future: Future[Result] = Future()
        self._jobs.put((work, future))
        return future

    def write(self, work: "Callable[[Connection], Result]") -> Result:
        """Run ``work`` in a transaction shared with others, and wait for the commit."""
        return self.submit(work).result()

    def close(self) -> None:
        """Finish what is queued, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _transaction(self) -> AbstractContextManager[Connection]:
        return self._database.write()

    def _run(self) -> None:
        while (first := self._jobs.get()) is not None:
            batch = [first]
            stop = False
            while len(batch) < self._most:
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if job is None:
                    stop = True
                    break
                batch.append(job)
            self._commit([job for job in batch if job[1].set_running_or_notify_cancel()])
            if stop:
                return

    def _commit(self, batch: list[_Job]) -> None:
        try:
            try:
                outcomes = self._together(batch)
            except _WorkError:
                outcomes = self._one_by_one(batch)
        except Exception as error:  # noqa: BLE001 - the commit itself failed: everybody in the batch hears of it
            outcomes = [error] * len(batch)
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def _together(self, batch: list[_Job]) -> list[Any]:
        """The results of all jobs, in one transaction; the first job that fails undoes them all."""
        with self._transaction() as connection:
            try:
                return [work(connection) for work, _ in batch]
            except Exception as error:
                raise _WorkError from error

    def _one_by_one(self, batch: list[_Job]) -> list[Any]:
        """The result or the error of each job; one that fails undoes itself alone, which costs a savepoint each."""
        outcomes: list[Any] = []
        with self._transaction() as connection:
            for work, _ in batch:
                try:
                    with connection.begin_nested():
                        outcomes.append(work(connection))
                except Exception as error:
                    if connection.invalidated:
                        raise
                    outcomes.append(error)
        return outcomes


class Reader(Writer):
    """A thread that answers small questions to the database, several to a transaction, none older than the question.

    One thread with one connection at a time is faster than many that ask at once: they would wait for each other.
    """

    def _transaction(self) -> AbstractContextManager[Connection]:
        return self._database.read()
