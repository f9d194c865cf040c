import errno
import sys
import tempfile
import threading

import joblib
import jobs
import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.errors import InputError
from accord.fitting.blocked import summed_loss
from accord.fitting.optimise import minimise_lbfgs
from accord.scale import cut, map_blocks, open_blocks, reduce_blocks
from accord.scale.blocks import block_seeds

BLOCKS = [np.full(4, float(i)) for i in range(7)]


@pytest.fixture(scope="module")
def client():
    """A real cluster: a scheduler and two worker processes, which restart when they die."""
    from distributed import Client

    from accord.scale.cluster import local_cluster

    path = [entry for entry in sys.path if entry.endswith(("tests/scale", "src"))]
    with local_cluster(2) as cluster, Client(cluster) as client:
        client.run(lambda: sys.path.extend(path))
        yield client


@pytest.fixture(params=["serial", "joblib", "dask"])
def backend(request):
    return request.getfixturevalue("client") if request.param == "dask" else request.param


def expected():
    return [
        float(np.random.default_rng(seed).normal()) + 2.0 * block.sum()
        for seed, block in zip(block_seeds(5, len(BLOCKS)), BLOCKS, strict=True)
    ]


def test_every_backend_gives_the_same_results_in_order(backend):
    assert map_blocks(jobs.draw, BLOCKS, shared=2.0, seed=5, backend=backend) == expected()


def test_sums_are_the_same_to_the_last_bit(backend):
    serial = reduce_blocks(jobs.draw, BLOCKS, shared=2.0, seed=5)
    assert reduce_blocks(jobs.draw, BLOCKS, shared=2.0, seed=5, backend=backend) == serial


def test_blocks_may_be_loaded_where_they_are_needed(backend):
    from functools import partial

    loaders = [partial(np.arange, start, start + 3.0) for start in range(4)]
    assert map_blocks(jobs.draw, loaders, shared=0.0, backend=backend) == map_blocks(jobs.draw, loaders, shared=0.0)


def test_an_optimiser_runs_over_blocks(backend):
    rng = np.random.default_rng(0)
    x, truth = rng.normal(size=(90, 3)), np.array([1.0, -2.0, 0.5])
    y = x @ truth
    parts = [(x[i : i + 20], y[i : i + 20]) for i in range(0, 90, 20)]
    with open_blocks(parts, backend=backend) as blocks:
        found = minimise_lbfgs(summed_loss(jobs.squares, blocks), np.zeros(3))
    assert_allclose(found.weights, truth, atol=1e-6)


def test_no_blocks_map_to_nothing_and_have_no_sum(backend):
    assert map_blocks(jobs.draw, [], backend=backend) == []
    with pytest.raises(InputError, match="at least one block"):
        reduce_blocks(jobs.draw, [], backend=backend)


def test_an_error_in_a_block_reaches_the_caller(backend):
    with pytest.raises(ValueError, match="this block is bad"):
        map_blocks(jobs.fails, BLOCKS, backend=backend)


def test_a_killed_worker_changes_nothing(client, tmp_path):
    marker = str(tmp_path / "died")
    results = map_blocks(jobs.die_once, BLOCKS, shared=marker, backend=client)
    assert results == [block.sum() for block in BLOCKS]
    assert (tmp_path / "died-2").exists()


@pytest.mark.parametrize("name", ["shared", "common"])
def test_a_worker_that_dies_while_it_is_sent_something_holds_up_nobody(client, tmp_path, name):
    """Dask tries for ever to copy something to a worker that is gone, if it was told to copy it to all."""
    client.wait_for_workers(2)  # one may have been killed before
    found = []
    sent = {name: jobs.KillsTheSecond(tmp_path)}
    thread = threading.Thread(
        target=lambda: found.extend(map_blocks(jobs.slowly, BLOCKS, backend=client, **sent)), daemon=True
    )
    thread.start()
    thread.join(180.0)
    assert found == [block.sum() for block in BLOCKS]
    assert (tmp_path / "killed").exists()


def test_a_block_that_kills_every_worker_is_reported_in_one_sentence(client):
    with pytest.raises(InputError, match=r"block 0 was at work 2 times when its worker ended.*too little memory"):
        map_blocks(jobs.always_dies, BLOCKS[:1], backend=client, retries=1)


def test_the_block_that_kills_its_worker_is_found_among_the_others(client):
    with pytest.raises(InputError, match=r"block 2 was at work [1-9] times when its worker ended"):
        map_blocks(jobs.third_dies, BLOCKS, backend=client, retries=0)


def test_a_process_that_keeps_large_blocks_is_not_replaced():
    pids = map_blocks(jobs.grows, BLOCKS, backend="joblib", n_workers=2)  # joblib allows 300 MB, each keeps 600 or more
    assert len(set(pids)) == 2


@pytest.mark.parametrize("full_at", ["2.block", "common"])
def test_a_full_disk_leaves_no_folder_behind(full_at, tmp_path, monkeypatch):
    def dump(value, path):
        if path.name == full_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(b"")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(joblib, "dump", dump)
    with pytest.raises(OSError, match="No space left"):
        map_blocks(jobs.draw, BLOCKS, shared=0.0, backend="joblib", n_workers=2, common=1.0)
    assert not list(tmp_path.iterdir())


def test_progress_is_told_block_by_block():
    told = []
    map_blocks(jobs.draw, BLOCKS, shared=0.0, progress=lambda what, done, total: told.append((done, total)))
    assert told == [(n, 7) for n in range(1, 8)]


@pytest.mark.parametrize("wrong, sentence", [("threads", "a backend is"), ("tcp://127.0.0.1:1", "none answered")])
def test_a_wrong_backend_is_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        map_blocks(jobs.draw, BLOCKS, backend=wrong)


def test_dask_is_not_imported_before_it_is_asked_for():
    import subprocess

    code = "import accord.scale, sys; raise SystemExit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "costs, limit, most",
    [
        ([1] * 10, 3, None),
        ([5, 1, 1, 1, 9, 1], 4, None),
        ([0, 0], 1, None),
        ([7], 1, None),
        ([1] * 100, 1, 8),
        ([], 1, None),
    ],
)
def test_cuts_hold_every_unit_once_in_order(costs, limit, most):
    parts = cut(np.array(costs), limit, most=most)
    assert [unit for part in parts for unit in range(len(costs))[part]] == list(range(len(costs)))
    assert all(part.start < part.stop for part in parts)
    assert len(parts) <= (most or max(1, -(-sum(costs) // limit)))
    if costs:
        assert max(sum(costs[part]) for part in parts) <= max(sum(costs) / len(parts), limit) + 2 * max(costs)
