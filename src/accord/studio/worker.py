"""The worker beside the studio: a process of its own that has models refitted and keeps the queues filled.

Nobody waits for it. Each refit is a process of its own with limits of time and memory, so that one project stops no
other: a failure is noted for the owner to see, and tried again ever later. The worker may be stopped or killed at any
moment; the next one goes on from what is stored.
"""

import logging
import os
import time
from dataclasses import dataclass, field

from accord.errors import InputError
from accord.store import judgements, projects, questions, scores
from accord.store.database import Database, wait_until_open
from accord.store.people import now
from accord.studio.limited import FailedError, Job, Limits, prepare
from accord.studio.refitting import refit_project
from accord.typing import KINDS

__all__ = ["Worker", "main", "refit_limits"]

_LOG = logging.getLogger("accord.worker")
_FEWEST_QUESTIONS = 20
# A project rests as long as its last refit took, up to so many seconds: new answers are seen soon, and a project that
# is judged all the time leaves half the time to others.
_LONGEST_REST = 10.0
# How far the worker stands back behind the pages, and a refit behind the worker: with every processor busy a refit
# still gets about a quarter of what a page would get.
_NICE, _NICE_REFIT = 2, 4
# So many models stay in memory to be refitted from where they are.
_MOST_MODELS = 8
# A refit that takes longer is slow: others are started beside it. One at a time is quick, and two at most are slow.
_SLOW, _MOST_SLOW = 10.0, 2


def refit_limits() -> Limits:
    """The limits of a refit, which the environment may change."""
    seconds = float(os.environ.get("ACCORD_REFIT_SECONDS", "900"))
    megabytes = int(os.environ.get("ACCORD_REFIT_MEGABYTES", "2048"))
    cure = "Raise ACCORD_REFIT_SECONDS or ACCORD_REFIT_MEGABYTES where the studio is started, or split the project."
    return Limits(seconds, megabytes, cure, nice=_NICE_REFIT)


@dataclass
class Worker:
    """Looks for projects with new judgements or too few questions, and has them refitted."""

    database: Database
    url: str
    limits: Limits = field(default_factory=refit_limits)
    _failed: dict[int, scores.Failure] = field(default_factory=dict)
    _jobs: dict[int, Job] = field(default_factory=dict)
    _not_before: dict[int, float] = field(default_factory=dict)
    _fitted: dict[int, bytes] = field(default_factory=dict)  # newest last

    def turn(self) -> list[int]:
        """Note the refits that have ended and start those that are due; returns which have ended."""
        ended = [key for key, job in self._jobs.items() if job.is_done()]
        for key in ended:
            self._finish(key, self._jobs.pop(key))
        for key in self._due():
            if self._has_room(key):
                self._jobs[key] = Job(refit_project, self.url, key, self._fitted.pop(key, None), limits=self.limits)
        return ended

    @property
    def is_busy(self) -> bool:
        """Whether a refit is going on."""
        return bool(self._jobs)

    def stop(self) -> None:
        """End all refits that are going on."""
        for job in self._jobs.values():
            job.stop()
        self._jobs.clear()

    def _due(self) -> list[int]:
        with self.database.read() as connection:
            every = [project.id for project in projects.all_projects(connection) if project.state != "archived"]
            newest = judgements.newest(connection, every)
            seen = scores.seen(connection)
            ready = questions.count_open(connection, every)
            self._failed = scores.failures_of(connection)
        moment, due = now(), []
        for key in every:
            stale = key not in seen or newest.get(key, 0) > seen[key]
            # An empty queue that a refit cannot fill (too few texts) is not tried again until something changes.
            hungry = ready.get(key, 0) < _FEWEST_QUESTIONS and key in seen and newest.get(key, 0) > seen[key]
            resting = time.monotonic() < self._not_before.get(key, 0.0)
            if key in self._failed:
                resting = moment < self._failed[key].retry_at
            if (stale or hungry) and not resting and key not in self._jobs:
                due.append(key)
        # The healthy first, and of them the one that was refitted longest ago: none waits for ever behind two others.
        return sorted(due, key=lambda key: (key in self._failed, self._not_before.get(key, 0.0)))

    def _has_room(self, key: int) -> bool:
        """Whether a refit may start: beside slow ones, and a project that failed before only where none is slow."""
        slow = [other for other, job in self._jobs.items() if job.seconds > _SLOW or other in self._failed]
        if key in self._failed:
            return not slow
        return len(self._jobs) == len(slow) <= _MOST_SLOW

    def _finish(self, key: int, job: Job) -> None:
        try:
            done = job.result()
        except (FailedError, InputError) as error:
            with self.database.write() as connection:
                failure = scores.failed(connection, key, f"{str(error)[:1].upper()}{str(error)[1:]}")
            _LOG.warning("project %d failed %d times: %s", key, failure.n_failures, error)
            return
        if done is None:
            return
        if done.packed is not None:
            self._fitted[key] = done.packed
            while len(self._fitted) > _MOST_MODELS:
                del self._fitted[next(iter(self._fitted))]
        self._not_before[key] = time.monotonic() + min(done.seconds, _LONGEST_REST)
        how = "warm" if done.is_warm else "from nothing"
        _LOG.info("project %d refitted %s on %d rows in %.2f s", key, how, done.n_judgements, done.seconds)


def main(url: str, *, parent: int, pause: float = 1.0) -> None:
    """Work until the studio (process ``parent``) is gone."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    prepare(*(f"accord.{kind}.task" for kind in KINDS))
    worker = Worker(wait_until_open(url, seconds=60.0), url)
    while os.getppid() == parent:
        try:
            ended = worker.turn()
        except Exception:  # noqa: BLE001 - most often the database does not answer; whatever it is, the work goes on
            _LOG.exception("the worker could not go on; trying again")
            ended = []
            time.sleep(2.0)
        time.sleep(0.1 if ended else pause)
    worker.stop()


if __name__ == "__main__":
    logging.basicConfig(level=os.environ.get("ACCORD_LOG", "WARNING"))
    main(os.environ["ACCORD_DATABASE"], parent=int(os.environ["ACCORD_STUDIO"]))
