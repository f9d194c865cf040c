"""Functions that workers run; they must be importable there."""

import os
import signal
import time
from pathlib import Path

import numpy as np

_kept = []


def draw(block, shared, rng):
    return float(rng.normal()) + shared * float(block.sum())


def squares(weights, block):
    x, y = block
    error = x @ weights - y
    return 0.5 * float(error @ error), x.T @ error


def load_rows(start):
    return lambda: np.arange(start, start + 3, dtype=float)


def die_once(block, marker, rng):
    """Kill the worker that runs this, the first time."""
    path = Path(f"{marker}-{int(block[0])}")
    if block[0] == 2 and not path.exists():
        path.touch()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return block.sum()


def always_dies(block, shared, rng):
    os.kill(os.getpid(), signal.SIGKILL)


def third_dies(block, shared, rng):
    """Kill the worker that runs the block that starts with 2."""
    if block[0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return block.sum()


class KillsTheSecond:
    """Something to send that kills the second process in which it arrives."""

    def __init__(self, folder):
        self.folder, self.maker = str(folder), os.getpid()

    def __setstate__(self, state):
        self.__dict__ = state
        if os.getpid() == self.maker:
            return
        Path(self.folder, str(os.getpid())).touch()
        if len(list(Path(self.folder).iterdir())) == 2:
            Path(self.folder, "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)


def slowly(block, shared, rng):
    """So slow that every worker gets some."""
    time.sleep(0.2)
    return block.sum()


def fails(block, shared, rng):
    raise ValueError("this block is bad")


def eats_memory(block, shared, rng):
    """Hold more than a small worker may, long enough for its nanny to look."""
    held = [np.ones(20_000_000) for _ in range(8)]
    time.sleep(5.0)
    return len(held)


def grows(block, shared, rng):
    """Keep 200 MB more, long enough for joblib to look; returns the process."""
    _kept.append(np.ones(25_000_000))
    time.sleep(1.1)
    return os.getpid()
