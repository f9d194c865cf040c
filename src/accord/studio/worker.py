"""The worker beside the studio: a process of its own that refits models and keeps the queues filled.

Nobody waits for it. It reads what was judged, learns, writes results and questions back, and may be stopped or killed
at any moment: the next one goes on from what is stored.
"""

import logging
import os
import random
import time
import warnings
from dataclasses import dataclass, field

from accord.errors import ConvergenceWarning
from accord.store import judgements, projects, questions, scores
from accord.store.database import Database, DatabaseError, wait_until_open
from accord.workflows.collecting.refit import Fitted, refit

__all__ = ["Worker", "main"]

_LOG = logging.getLogger("accord.worker")
_FEWEST_QUESTIONS = 20
# A project rests this many times as long as its last refit took, so that judging always has most of the machine.
_REST = 4.0
# So many models stay in memory to be refitted from where they are.
_MOST_MODELS = 8


@dataclass
class Worker:
    """Looks for projects with new judgements or too few questions, and refits them."""

    database: Database
    rng: random.Random = field(default_factory=random.Random)
    _not_before: dict[int, float] = field(default_factory=dict)
    _fitted: dict[int, Fitted] = field(default_factory=dict)  # newest last

    def turn(self) -> list[int]:
        """Refit every project that needs it; returns which were."""
        with self.database.read() as connection:
            every = [project.id for project in projects.all_projects(connection)]
            newest = judgements.newest(connection, every)
            seen = scores.seen(connection)
            ready = questions.count_open(connection, every)
        done = []
        for key in every:
            stale = key not in seen or newest.get(key, 0) > seen[key]
            # An empty queue that a refit cannot fill (too few texts) is not tried again until something changes.
            hungry = ready.get(key, 0) < _FEWEST_QUESTIONS and key in seen and newest.get(key, 0) > seen[key]
            if not (stale or hungry) or time.monotonic() < self._not_before.get(key, 0.0):
                continue
            result = refit(self.database, key, rng=self.rng, last=self._fitted.pop(key, None))
            if result is not None:
                if result.fitted is not None:
                    self._fitted[key] = result.fitted
                    while len(self._fitted) > _MOST_MODELS:
                        del self._fitted[next(iter(self._fitted))]
                self._not_before[key] = time.monotonic() + _REST * result.seconds
                done.append(key)
                how = "warm" if result.is_warm else "from nothing"
                _LOG.info("project %d refitted %s on %d rows in %.2f s", key, how, result.n_judgements, result.seconds)
        return done


def main(url: str, *, parent: int, pause: float = 1.0) -> None:
    """Work until the studio (process ``parent``) is gone."""
    if hasattr(os, "nice"):
        os.nice(19)
    warnings.simplefilter("ignore", ConvergenceWarning)  # a half-settled ranking is shown with its uncertainty
    worker = Worker(wait_until_open(url, seconds=60.0))
    while os.getppid() == parent:
        try:
            worked = worker.turn()
        except DatabaseError:
            _LOG.exception("the database did not answer; trying again")
            worked = []
            time.sleep(2.0)
        if not worked:
            time.sleep(pause)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    main(os.environ["ACCORD_DATABASE"], parent=int(os.environ["ACCORD_STUDIO"]))
