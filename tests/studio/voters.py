"""Many people voting at once: a client for load and crash tests.

Run it by hand against a studio of your own: ``python tests/studio/voters.py URL --voters 200 --seconds 60``. The studio
must be a demonstration, because every voter enters as a guest.
"""

import argparse
import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field

import httpx


@dataclass
class Record:
    """What the voters saw."""

    acknowledged: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def quantile(self, share):
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def voter(client, project, record, stop, pause, rng):
    """One guest: ask, think, vote; a vote that got no answer is sent again until it gets one."""
    entered = await _patiently(client, "POST", "/demo", None, {}, stop, record, timed=False)
    if entered is None:
        return
    headers = {"authorization": f"Bearer {entered['token']}"}
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


async def _patiently(client, method, path, body, headers, stop, record, *, timed=True):
    while True:
        started = time.perf_counter()
        try:
            answer = await client.request(method, path, json=body, headers=headers)
        except httpx.HTTPError as error:
            record.errors.append(type(error).__name__)
        else:
            if answer.status_code < 400:
                if timed:
                    record.seconds.append(time.perf_counter() - started)
                return answer.json()
            record.errors.append(f"{answer.status_code} {answer.text[:120]}")
            if answer.status_code not in {429, 500, 502, 503}:
                return None
        if stop.is_set():
            return None
        await asyncio.sleep(0.1)


async def crowd(url, *, project, voters, seconds, pause, seed=0):
    """Let ``voters`` people vote for some seconds; returns what they saw."""
    record, stop, rng = Record(), asyncio.Event(), random.Random(seed)
    limits = httpx.Limits(max_connections=voters, max_keepalive_connections=voters)
    async with httpx.AsyncClient(base_url=url, timeout=30.0, limits=limits, trust_env=False) as client:
        people = [
            asyncio.create_task(voter(client, project, record, stop, pause, random.Random(rng.random())))
            for _ in range(voters)
        ]
        await asyncio.sleep(seconds)
        stop.set()
        await asyncio.gather(*people)
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--project", type=int, default=1)
    parser.add_argument("--voters", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds of thought before a vote")
    options = parser.parse_args()
    record = asyncio.run(
        crowd(options.url, project=options.project, voters=options.voters, seconds=options.seconds, pause=options.pause)
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
