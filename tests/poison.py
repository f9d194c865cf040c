"""Work that goes wrong in every way, for processes with limits."""

import os
import signal
import time


def answer(value):
    return value


def hang():
    time.sleep(10_000)


def burn():
    while True:
        pass


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
