"""A large team at once: several server processes on one PostgreSQL database, and a backup meanwhile.

``python tests/studio/team_load.py --people 500 --seconds 60`` starts a PostgreSQL server of its own, two studios on it
(one with the worker), lets people vote on both, takes a backup in the middle with the command that people use, restores
it into another database and compares all rows. It prints how long people waited, as ``voters.py`` does.
"""

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import psutil
from sqlalchemy import create_engine, select, text
from test_crashes import kill, prepare
from voters import crowd, enrol

from accord.store import people
from accord.store.database import open_database
from accord.store.tables import judgements
from databases import PostgresServer


def start(url, port, *more):
    command = [sys.executable, "-m", "accord", "studio", "--database", url, "--port", str(port), *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment, start_new_session=True)


def wait(port):
    import urllib.request

    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=30):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the studio did not start")


def studio(*arguments):
    subprocess.run([sys.executable, "-m", "accord", "studio", *arguments], check=True, stdout=subprocess.DEVNULL)


def tables(path):
    """The lines of each table of a backup."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=4.0, help="mean seconds of reading before a vote")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--port", type=int, default=8930)
    parser.add_argument("--below", type=float, default=math.inf, help="wait until the machine's load is below this")
    parser.add_argument("--patience", type=float, default=1800.0, help="most seconds of waiting for that")
    options = parser.parse_args()
    server = PostgresServer()
    server.start()
    folder = Path(tempfile.mkdtemp(prefix="accord-load-"))
    ports = [options.port, options.port + 1]
    running = []
    try:
        database, project = prepare(server.url, n_items=options.texts)
        tokens = enrol(database, project, options.people)
        with database.write() as c:
            secret = people.secret(c, "pages")
        running = [start(server.url, ports[0]), start(server.url, ports[1], "--no-worker")]
        for port in ports:
            wait(port)
        until = time.monotonic() + options.patience
        while os.getloadavg()[0] >= options.below and time.monotonic() < until:
            time.sleep(1.0)
        load = os.getloadavg()[0]
        pages = [psutil.Process(one.pid) for one in running]
        before = [sum(one.cpu_times()[:2]) for one in pages]

        async def during(record):
            await asyncio.sleep(options.seconds / 2)
            began = len(record.acknowledged)
            backup = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "accord", "studio", "--database", server.url,
                "--backup", str(folder / "a.backup"), stdout=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            assert await backup.wait() == 0
            record.meanwhile = (began, len(record.acknowledged))
            await asyncio.sleep(options.seconds / 2)

        urls = ",".join(f"http://127.0.0.1:{port}" for port in ports)
        began = time.monotonic()
        record = asyncio.run(crowd(urls, tokens, project=project, think=options.think, during=during, secret=secret))
        lasted = time.monotonic() - began
        after = [sum(one.cpu_times()[:2]) for one in pages]
        with database.read() as c:
            stored = c.execute(select(judgements.c.request_id)).scalars().all()
        database.close()
    finally:
        for process in running:
            kill(process)
    try:
        other = create_engine(server.url, isolation_level="AUTOCOMMIT")
        with other.connect() as c:
            c.execute(text("CREATE DATABASE again"))
        other.dispose()
        again = server.url.replace("/postgres?", "/again?")
        studio("--database", again, "--restore", str(folder / "a.backup"))
        studio("--database", again, "--backup", str(folder / "b.backup"))
        first, second = tables(folder / "a.backup"), tables(folder / "b.backup")
        n_kept = first["judgements.jsonl"].count(b"\n") - 1
        low, high = record.meanwhile
        restored = open_database(again)
        with restored.read() as c:
            rows = c.execute(select(judgements.c.request_id)).scalars().all()
        restored.close()
    finally:
        server.remove()
    summary = {
        "votes": len(record.acknowledged),
        "requests": len(record.seconds),
        "requests_a_second": round(len(record.seconds) / lasted, 1),
        "errors": len(record.errors),
        "first_errors": record.errors[:3],
        "lost": len(set(record.acknowledged) - set(stored)),
        "twice": len(stored) - len(set(stored)),
        **{f"p{share:g}_ms": round(1000 * record.quantile(share / 100), 1) for share in (50, 95, 99, 99.9, 100)},
        "server_ms_a_request": [round(1000 * (b - a) / max(1, len(record.seconds) / 2), 2)
                                for a, b in zip(before, after, strict=True)],
        "load_before": load,
        "backup": {
            "votes": n_kept, "acknowledged_before": low, "acknowledged_after": high,
            "restored_to_the_same_rows": first == second, "restored_votes_are_stored": set(rows) <= set(stored),
        },
    }  # fmt: skip
    print(json.dumps(summary, indent=2))  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
