"""Work that goes wrong in every way, for processes with limits."""

import os
import re
import signal
import time


def answer(value):
    return value


def hang():
    time.sleep(10_000)


def burn():
    while True:
        pass


def search_for_ever():
    """A search in C, during which no other thread of Python runs."""
    os.write(1, f"{os.getpid()}\n".encode())
    re.match("(a+)+$", 60 * "a" + "b")


def grow():
    kept = []
    while True:
        kept.append(bytearray(50_000_000))


def large_matrix():
    import numpy as np

    return np.ones((100_000, 100_000)).sum()


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(3)


def break_down():
    raise ZeroDivisionError("a fault")


def refuse():
    from accord.errors import InputError

    raise InputError("this is bad input. Mend it.")
