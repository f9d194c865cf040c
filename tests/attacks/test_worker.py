"""One project stops no other: each refit has limits, its failure is shown to the owner, and the next is served."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

import poison
from accord.errors import InputError
from accord.store import judgements, projects, scores
from accord.store.judgements import Judgement
from accord.studio import worker as worker_module
from accord.studio.limited import FailedError, Job, Limits, run
from accord.studio.refitting import Refitted
from accord.studio.worker import Worker
from accord.workflows.exchange import store_project
from accord.workflows.projects import open_example

QUICK = Limits(seconds=3.0, megabytes=200, cure="Split it.", patience=2.0)
SHORT = Limits(seconds=2.0, megabytes=200, cure="Split it.", patience=150.0)
PATIENT = Limits(seconds=300.0, megabytes=2_048, cure="Split it.")


@pytest.mark.parametrize(
    "work, limits, sentence",
    [
        (poison.hang, QUICK, "not done after 6 seconds. Split it."),
        (poison.burn, SHORT, "more than 2 seconds of the processor. Split it."),
        (poison.grow, PATIENT, "more than 2,048 MB of memory. Split it."),
        (poison.large_matrix, PATIENT, "more than 2,048 MB of memory. Split it."),
        (poison.die, PATIENT, "ended with the code -9"),
        (poison.leave, PATIENT, "ended with the code 3"),
        (poison.break_down, PATIENT, "ZeroDivisionError: a fault. This is a fault of Accord"),
    ],
)
def test_whatever_goes_wrong_in_a_process_is_a_sentence(work, limits, sentence):
    with pytest.raises(FailedError) as caught:
        run(work, limits=limits)
    assert sentence in str(caught.value)


def test_good_work_and_bad_input_come_back_as_they_are():
    assert run(poison.answer, {"a": [1, 2]}, limits=PATIENT) == {"a": [1, 2]}
    with pytest.raises(InputError, match="this is bad input"):
        run(poison.refuse, limits=PATIENT)


def until_idle(worker, wanted, turns=3_000):
    """Let the worker go on until it has finished as many refits."""
    ended = []
    for _ in range(turns):
        ended += worker.turn()
        if len(ended) >= wanted:
            return ended
        time.sleep(0.1)
    raise AssertionError(ended)


@pytest.fixture
def place(studio, database_url):
    """A studio with a worker, a poisoned project and a healthy one, both with something to learn."""
    owner = studio.person()
    sick, well = (
        store_project(studio.database, open_example("arguments"), name=name, created_by=owner.id)
        for name in ("sick", "well")
    )
    worker = Worker(studio.database, database_url, limits=PATIENT)
    yield studio, owner, worker, sick, well
    worker.stop()


POISONS = [poison.hang, poison.grow, poison.die, poison.break_down]


@pytest.mark.parametrize("work", POISONS)
def test_a_poisoned_project_is_shown_to_its_owner_and_stops_no_other(place, monkeypatch, work):
    studio, owner, worker, sick, well = place
    worker.limits = QUICK if work is poison.hang else PATIENT

    def start(function, url, key, packed, *, limits):
        return Job(work, limits=limits) if key == sick else Job(function, url, key, packed, limits=PATIENT)

    monkeypatch.setattr(worker_module, "Job", start)
    assert set(until_idle(worker, 2)) == {sick, well}
    with studio.database.read() as c:
        assert scores.get_scores(c, well).n_rows > 10
        assert scores.get_failure(c, well) is None
        failure = scores.get_failure(c, sick)
    assert failure.n_failures == 1
    page = studio.client(owner).get(f"/projects/{sick}/results").text
    assert "could not be fitted" in page
    assert "within seconds" not in page
    assert studio.client(owner).get(f"/api/projects/{sick}/results").json()["problem"] == failure.sentence
    viewer = studio.person()
    studio.join(sick, viewer, "viewer")
    seen = studio.client(viewer).get(f"/projects/{sick}/results").text
    assert "could not be fitted" in seen
    assert failure.sentence not in seen
    assert failure.retry_at > failure.failed_at
    monkeypatch.setattr(worker_module, "now", lambda: failure.failed_at)  # however long the test has taken
    assert worker.turn() == []
    assert not worker.is_busy, "a project that failed rests before it is tried again"


def test_a_project_that_was_mended_is_fitted_and_the_failure_forgotten(place, monkeypatch):
    studio, owner, worker, sick, _ = place
    until_idle(worker, 2)
    with studio.database.write() as c:
        scores.failed(c, sick, "It broke.")
        items, _ = projects.find_items(c, sick)
        vote = Judgement("a-new-vote", "pair", items[0].key, items[1].key, value=1.0, person_id=owner.id)
        judgements.append(c, sick, [vote])
    worker._not_before.clear()
    assert not worker._due(), "it rests"
    later = worker_module.now() + timedelta(hours=2)
    monkeypatch.setattr(worker_module, "now", lambda: later)
    assert until_idle(worker, 1) == [sick]
    with studio.database.read() as c:
        assert scores.get_failure(c, sick) is None


def test_the_project_that_was_refitted_longest_ago_comes_first(place):
    _, _, worker, sick, well = place
    for first, second in ((sick, well), (well, sick)):
        worker._not_before = {first: 1.0, second: 2.0}
        assert worker._due() == [first, second]
    assert worker._due()[0] == well
    worker._not_before = {well: 3.0}
    assert worker._due() == [sick, well], "one that was never refitted is before all others"


def test_a_project_rests_as_long_as_its_refit_took_and_ten_seconds_at_most(place, monkeypatch):
    _, _, worker, _, well = place
    monkeypatch.setattr(worker_module.time, "monotonic", lambda: 100.0)
    for seconds, until in ((2.0, 102.0), (500.0, 110.0)):
        worker._finish(well, Ended(Refitted(40, seconds, False, None)))
        assert worker._not_before[well] == until


class Ended:
    """A refit that is done."""

    def __init__(self, value):
        self.result = lambda: value


def test_slow_projects_leave_room_for_a_quick_one_and_failed_ones_do_not_pile_up(place):
    _, _, worker, sick, well = place

    class Going:
        def __init__(self, seconds):
            self.seconds = seconds

        def stop(self):
            pass

    assert worker._has_room(well)
    worker._jobs = {100: Going(1.0)}
    assert not worker._has_room(well)  # one quick refit at a time
    worker._jobs = {100: Going(60.0)}
    assert worker._has_room(well)
    worker._jobs = {100: Going(60.0), 101: Going(60.0)}
    assert worker._has_room(well)
    worker._jobs = {100: Going(60.0), 101: Going(60.0), 102: Going(60.0)}
    assert not worker._has_room(well)
    worker._failed = {sick: None, 100: None}
    worker._jobs = {100: Going(1.0)}
    assert not worker._has_room(sick)
    assert worker._has_room(well)


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the system does not say which signals are ignored")
def test_ctrl_c_is_not_heard_where_modules_are_imported_for_later_processes():
    code = (
        "import os\n"
        "from multiprocessing import forkserver\n"
        "from accord.studio import limited\n"
        "limited.prepare()\n"
        "server = forkserver._forkserver._forkserver_pid\n"
        "print(open(f'/proc/{server}/status').read())\n"
        "os.kill(server, 9)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    ignored = int(re.search(r"^SigIgn:\s*(\w+)$", said, re.MULTILINE)[1], 16)
    assert ignored & 1 << (signal.SIGINT - 1)


@pytest.mark.skipif(not hasattr(os, "O_ASYNC"), reason="the system sends no signal when a pipe closes")
def test_no_process_is_left_computing_when_its_parent_is_killed():
    code = (
        "import poison\n"
        "from accord.studio.limited import Limits, run\n"
        "run(poison.search_for_ever, limits=Limits(seconds=3_000.0, megabytes=200, cure=''))\n"
    )
    command, folder = [sys.executable, "-c", code], Path(poison.__file__).parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
        is_gone, _, _ = select.select([parent.stdout], [], [], 60.0)  # closed once no process holds it
        if not is_gone:
            os.kill(child, signal.SIGKILL)
    assert is_gone, "the child computes on"


def test_a_result_larger_than_a_pipe_holds_comes_back_whole():
    assert run(poison.answer, 3_000_000 * "x", limits=PATIENT) == 3_000_000 * "x"
