"""A block that ends its worker is told from workers that are taken away."""

import jobs
import numpy as np
import pytest

from accord.errors import InputError
from accord.scale import map_blocks
from accord.scale.losses import PATIENCE, Losses

BLOCKS = [np.arange(start, start + 3.0) for start in range(4)]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_workers_may_be_taken_away_as_often_as_they_like_while_something_gets_done():
    clock = Clock()
    losses = Losses(3, "worker", clock=clock)
    for _ in range(500):
        for place in range(5):
            clock.now += 0.9 * PATIENCE / 5
            assert losses.lose(place, 0) <= 0.2
        losses.done()


def test_pauses_grow_until_something_is_done():
    losses = Losses(3, "worker", clock=Clock())
    pauses = [losses.lose(0, 0) for _ in range(9)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 10.0
    losses.done()
    assert losses.lose(0, 0) == pauses[0]
    assert losses.again(0)
    assert not losses.again(1)


def test_a_stated_time_without_anything_done_ends_it():
    clock = Clock()
    losses = Losses(3, "worker", clock=clock)
    losses.lose(7, 0)
    losses.ended(9)
    clock.now = PATIENCE + 1
    said = "no block was done for 181 seconds, in which block 7 was lost with its worker 2 times, 0 of them at work; 9 "
    with pytest.raises(InputError, match=said):
        losses.lose(7, 0)


def test_a_block_that_was_at_work_each_time_is_named():
    losses = Losses(1, "process", clock=Clock())
    losses.lose(3, 0)
    losses.done()
    losses.lose(3, 1)
    losses.ended(3)
    with pytest.raises(
        InputError, match=r"block 3 was at work 2 times when its process ended \(SIGKILL\(-9\)\).*3 ended"
    ):
        losses.lose(3, 2, "SIGKILL(-9)")


def test_processes_that_are_killed_change_nothing(tmp_path):
    found = map_blocks(jobs.die_once, BLOCKS, shared=str(tmp_path / "died"), backend="joblib", n_workers=2)
    assert found == [block.sum() for block in BLOCKS]


def test_the_block_that_kills_its_process_is_found_among_the_others():
    with pytest.raises(InputError, match=r"block 2 was at work 2 times when its process ended \(SIGKILL\(-9\)\)"):
        map_blocks(jobs.third_dies, BLOCKS, backend="joblib", n_workers=2, retries=1)
