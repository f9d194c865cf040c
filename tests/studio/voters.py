"""Many people voting at once: a client for load and crash tests.

Run it by hand against a studio of your own, with the database it uses, in which the voters get their accounts:
``python tests/studio/voters.py URL DATABASE --voters 200 --seconds 60``.

A voter asks for a question, reads, votes, and asks again. Reading takes ``--think`` seconds in the mean: half of it
always, the other half drawn from an exponential distribution. With ``--think 0`` nobody reads: each voter has a request
under way all the time, which measures how many requests a second the studio takes and not how long people wait.
"""

import argparse
import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from accord.store import people
from accord.store.database import open_database
from accord.studio.security import csrf_token

# What an answer that may be sent again says, and what a broken connection raises.
TRY_AGAIN = {429, 500, 502, 503}
BROKEN = (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError, IndexError)


@dataclass
class Record:
    """What the voters saw."""

    acknowledged: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    strategies: dict[str, int] = field(default_factory=dict)
    finished: int = 0

    def quantile(self, share):
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Browser:
    """One kept-open connection; just enough HTTP for the studio, so that the client leaves the processors to it.

    With the studio's ``secret`` of pages the session goes as a cookie with the token of a page, as browsers send it;
    otherwise as a bearer token.
    """

    def __init__(self, url, session, secret=None):
        self._address = urlsplit(url)
        self._who = (
            f"Authorization: Bearer {session}"
            if secret is None
            else f"Cookie: accord_session={session}\r\nX-CSRF-Token: {csrf_token(secret, session)}"
        )
        self._streams = None

    async def post(self, path, body):
        """The status and the decoded answer of a request."""
        return await asyncio.wait_for(self._post(path, body), 30.0)

    async def _post(self, path, body):
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._address.hostname, self._address.port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._address.netloc}\r\n{self._who}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
        answer = json.loads(await reader.readexactly(length))
        if b"connection: close" in lines:
            self.close()
        return int(lines[0].split()[1]), answer

    def close(self):
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def enrol(database, project, n):
    """Make ``n`` judges of a project; returns their session tokens."""
    tokens = []
    with database.write() as connection:
        for _ in range(n):
            person = people.create_person(connection, f"voter {uuid.uuid4().hex[:12]}", password_hash=None)
            people.add_member(connection, project, person.id, "judge")
            tokens.append(people.start_session(connection, person.id))
    return tokens


async def voter(browser, project, record, stop, think, rng):
    """One judge: ask, read, vote; a vote that got no answer is sent again until it gets one."""
    await asyncio.sleep(rng.uniform(0.0, think))  # people do not all come in the same moment
    while not stop.is_set():
        question = await _patiently(browser, f"/api/projects/{project}/questions/next", None, stop, record)
        if question is None or question["done"]:
            record.finished += question is not None
            return
        record.strategies[question["strategy"]] = record.strategies.get(question["strategy"], 0) + 1
        await asyncio.sleep(think / 2 + rng.expovariate(2 / think) if think else 0.0)
        left, right = question["texts"]
        body = {
            "request_id": uuid.uuid4().hex, "kind": "pair", "item": left["key"], "other": right["key"],
            "value": rng.choice([0.0, 0.5, 1.0]), "shown_left": left["key"], "question_id": question["question_id"],
        }  # fmt: skip
        stored = await _patiently(browser, f"/api/projects/{project}/judgements", body, stop, record)
        if stored is not None:
            record.acknowledged.append(stored["request_id"])


async def _patiently(browser, path, body, stop, record):
    while True:
        started = time.perf_counter()
        try:
            status, answer = await browser.post(path, body)
        except BROKEN as error:
            record.errors.append(type(error).__name__)
            browser.close()
        else:
            if status < 400:
                record.seconds.append(time.perf_counter() - started)
                return answer
            record.errors.append(f"{status} {str(answer)[:120]}")
            if status not in TRY_AGAIN:
                return None
        if stop.is_set():
            return None
        await asyncio.sleep(0.1)


async def crowd(url, tokens, *, project, think, during, secret=None, seed=0):
    """Let the holders of ``tokens`` vote until ``during`` (a coroutine) is done; returns what they saw.

    ``url`` may name several servers with commas between; people are dealt to them in turn. With ``secret`` they come by
    cookie.
    """
    record, stop, rng = Record(), asyncio.Event(), random.Random(seed)
    servers = url.split(",")
    browsers = [Browser(servers[place % len(servers)], token, secret) for place, token in enumerate(tokens)]
    people = [
        asyncio.create_task(voter(browser, project, record, stop, think, random.Random(rng.random())))
        for browser in browsers
    ]
    try:
        await during(record)
    finally:
        stop.set()
        await asyncio.gather(*people)
        for browser in browsers:
            browser.close()
    return record


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("database")
    parser.add_argument("--project", type=int, default=1)
    parser.add_argument("--voters", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--think", type=float, default=2.0, help="mean seconds of reading before a vote")
    options = parser.parse_args()
    database = open_database(options.database)
    tokens = enrol(database, options.project, options.voters)
    database.close()
    started = time.process_time()
    record = asyncio.run(
        crowd(
            options.url,
            tokens,
            project=options.project,
            think=options.think,
            during=lambda record: asyncio.sleep(options.seconds),
        )
    )
    summary = {
        "votes": len(record.acknowledged),
        "requests": len(record.seconds),
        "requests_a_second": round(len(record.seconds) / options.seconds, 1),
        "errors": len(record.errors),
        "first_errors": record.errors[:3],
        "finished_voters": record.finished,
        "strategies": record.strategies,
        **{f"p{share:g}_ms": round(1000 * record.quantile(share / 100), 1) for share in (50, 95, 99, 99.9, 100)},
        "client_cpu_seconds": round(time.process_time() - started, 1),
    }
    print(json.dumps(summary, indent=2))  # noqa: T201 - this is a command


if __name__ == "__main__":
    main()
