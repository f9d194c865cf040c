"""An acknowledged judgement is never lost, and none is stored twice, whatever is killed."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request

import pytest
from sqlalchemy import func, select
from voters import crowd, enrol

from accord.store import people, projects
from accord.store.database import wait_until_open
from accord.store.tables import judgements

# How often the server is killed; the whole promise is tried with ACCORD_KILLS=20.
KILLS = int(os.environ.get("ACCORD_KILLS", "2"))
VOTERS = int(os.environ.get("ACCORD_VOTERS", "12"))


def start(url, port):
    command = [sys.executable, "-m", "accord", "studio", "--database", url, "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:  # the voters are there at once, and nobody is served before them
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30):
                return process
        except OSError:
            time.sleep(0.1)
    kill(process)
    raise AssertionError("the studio did not start")


def kill(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def prepare(url, n_items=60):
    database = wait_until_open(url, seconds=30)
    with database.write() as connection:
        owner = people.create_person(connection, "Owner", password_hash=None)
        project = projects.create_project(connection, name="Load", kind="pairs", created_by=owner.id)
        projects.add_items(connection, project, [{"item_id": f"t{i}", "text": f"Text {i}"} for i in range(n_items)])
    return database, project


def check(database, project, acknowledged):
    with database.read() as connection:
        stored = connection.execute(
            select(judgements.c.request_id, func.count())
            .where(judgements.c.project_id == project)
            .group_by("request_id")
        ).all()
    counts = {row[0]: row[1] for row in stored}
    lost = [request for request in acknowledged if request not in counts]
    assert lost == []
    assert set(counts.values()) <= {1}


async def more_votes(record, n):
    """Wait until ``n`` more votes are acknowledged."""
    goal = len(record.acknowledged) + n
    while len(record.acknowledged) < goal:
        await asyncio.sleep(0.05)


def vote_while(url, tokens, project, disturb):
    """Let people vote while ``disturb`` is called again and again, each time in the middle of some votes."""
    rng = random.Random(1)

    async def during(record):
        for _ in range(KILLS):
            await more_votes(record, rng.randint(5, 25))
            await asyncio.to_thread(disturb)
        await more_votes(record, 10)

    async def bounded():
        return await asyncio.wait_for(crowd(url, tokens, project=project, think=0.02, during=during), 60 + 60 * KILLS)

    return asyncio.run(bounded())


def test_killing_the_server_in_the_middle_of_votes_loses_none(database_url, free_port):
    database, project = prepare(database_url)
    tokens = enrol(database, project, VOTERS)
    running = [start(database_url, free_port)]

    def disturb():
        kill(running.pop())
        running.append(start(database_url, free_port))

    try:
        record = vote_while(f"http://127.0.0.1:{free_port}", tokens, project, disturb)
    finally:
        kill(running.pop())
    check(database, project, record.acknowledged)
    database.close()


@pytest.mark.postgres
def test_killing_postgresql_in_the_middle_of_votes_loses_none(own_postgres, free_port):
    database, project = prepare(own_postgres.url)
    tokens = enrol(database, project, VOTERS)
    database.close()
    server = start(own_postgres.url, free_port)

    def disturb():
        own_postgres.kill()
        own_postgres.start()

    try:
        record = vote_while(f"http://127.0.0.1:{free_port}", tokens, project, disturb)
    finally:
        kill(server)
    database = wait_until_open(own_postgres.url, seconds=30)
    check(database, project, record.acknowledged)
    database.close()
