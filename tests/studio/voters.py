"""Many people voting at once: a client for load and crash tests.

Run it by hand against a studio of your own, with the database it uses, in which the voters get their accounts:
``python tests/studio/voters.py URL DATABASE --voters 200 --seconds 60``.
"""

import argparse
import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field

import httpx

from accord.store import people
from accord.store.database import open_database


@dataclass
class Record:
    """What the voters saw."""

    acknowledged: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def quantile(self, share):
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def enrol(database, project, n):
    """Make ``n`` judges of a project; returns their session tokens."""
    tokens = []
    with database.write() as connection:
        for _ in range(n):
            person = people.create_person(connection, f"voter {uuid.uuid4().hex[:12]}", password_hash=None)
            people.add_member(connection, project, person.id, "judge")
            tokens.append(people.start_session(connection, person.id))
    return tokens


async def voter(client, project, token, record, stop, pause, rng):
    """One judge: ask, think, vote; a vote that got no answer is sent again until it gets one."""
    headers = {"authorization": f"Bearer {token}"}
    while not stop.is_set():
        question = await _patiently(
            client, "POST", f"/api/projects/{project}/questions/next", None, headers, stop, record
        )
        if question is None or question["done"]:
            return
        await asyncio.sleep(rng.expovariate(1 / pause) if pause else 0)
        left, right = question["texts"]
        body = {
            "request_id": uuid.uuid4().hex, "kind": "pair", "item": left["key"], "other": right["key"],
            "value": rng.choice([0.0, 0.5, 1.0]), "shown_left": left["key"], "question_id": question["question_id"],
        }  # fmt: skip
        stored = await _patiently(client, "POST", f"/api/projects/{project}/judgements", body, headers, stop, record)
        if stored is not None:
            record.acknowledged.append(stored["request_id"])


async def _patiently(client, method, path, body, headers, stop, record):
    while True:
        started = time.perf_counter()
        try:
            answer = await client.request(method, path, json=body, headers=headers)
        except httpx.HTTPError as error:
            record.errors.append(type(error).__name__)
        else:
            if answer.status_code < 400:
                record.seconds.append(time.perf_counter() - started)
                return answer.json()
            record.errors.append(f"{answer.status_code} {answer.text[:120]}")
            if answer.status_code not in {429, 500, 502, 503}:
                return None
        if stop.is_set():
            return None
        await asyncio.sleep(0.1)


async def crowd(url, tokens, *, project, pause, during, seed=0):
    """Let the holders of ``tokens`` vote until ``during`` (a coroutine) is done; returns what they saw."""
    record, stop, rng = Record(), asyncio.Event(), random.Random(seed)
    limits = httpx.Limits(max_connections=len(tokens), max_keepalive_connections=len(tokens))
    async with httpx.AsyncClient(base_url=url, timeout=30.0, limits=limits, trust_env=False) as client:
        people = [
            asyncio.create_task(voter(client, project, token, record, stop, pause, random.Random(rng.random())))
            for token in tokens
        ]
        await during(record)
        stop.set()
        await asyncio.gather(*people)
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("database")
    parser.add_argument("--project", type=int, default=1)
    parser.add_argument("--voters", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds of thought before a vote")
    options = parser.parse_args()
    database = open_database(options.database)
    tokens = enrol(database, options.project, options.voters)
    record = asyncio.run(
        crowd(
            options.url,
            tokens,
            project=options.project,
            pause=options.pause,
            during=lambda record: asyncio.sleep(options.seconds),
        )
    )
    summary = {
        "votes": len(record.acknowledged),
        "requests": len(record.seconds),
        "errors": len(record.errors),
        "p50_ms": 1000 * record.quantile(0.5),
        "p95_ms": 1000 * record.quantile(0.95),
        "p99_ms": 1000 * record.quantile(0.99),
    }
    print(json.dumps(summary, indent=2))  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
