"""A studio that runs as people run it, with one project a kind."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from accord.store import judgements, people, projects
from accord.store.database import open_database
from accord.store.judgements import Judgement

TEXTS = [
    "Bottled water should be banned because the plastic lasts for centuries.",
    "A ban takes away safe water in an emergency.",
    "Deposits work better than bans: people bring the bottles back.",
    "Tap water is tested every day and costs almost nothing.",
    "Small shops live from what they sell on hot days.",
    "Whoever wants to carry a flask can do so already.",
]


def some_votes(items, n=90):
    """Votes of five people who mostly prefer the texts that come first."""
    rng = random.Random(0)
    votes = []
    for i in range(n):
        a, b = sorted(rng.sample(range(len(items)), 2))
        votes.append(
            Judgement(
                request_id=f"seeded-{i:04d}", kind="pair", item=items[a].key, other=items[b].key,
                value=1.0 if rng.random() < 0.75 else 0.0, annotator_id=f"voter {i % 5}", source="test",
            )
        )  # fmt: skip
    return votes


def free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url, seconds=600.0):
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


KINDS = {
    "pairs": {},
    "threads": {"labels": ["Good", "Bad"]},
    "aspects": {"aspects": ["food", "service"], "n_ranks": 5},
    "rationales": {"labels": ["for", "against"]},
    "links": {"labels": ["yes", "no"]},
}


@dataclass
class Place:
    """A studio as people run it, with one project a kind, and people who come by cookie."""

    folder: Path
    url: str = ""  # of the database
    keys: dict = field(default_factory=dict)
    port: int = 0
    process: object = None
    environment: dict = field(default_factory=dict)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @contextmanager
    def database(self):
        database = open_database(self.url, upgrade=False)
        yield database
        database.close()

    def prepare(self, texts=TEXTS, n_threads=1):
        """Make the projects."""
        self.url = f"sqlite:///{self.folder / 'studio.db'}"
        database = open_database(self.url)
        with database.write() as c:
            first = people.create_person(c, "Keeper", password_hash=None)
            for kind, settings in KINDS.items():
                key = self.keys[kind] = projects.create_project(
                    c, name=f"About {kind}", kind=kind, settings=settings, created_by=first.id,
                    guidelines="Read both, then choose. There is no wrong answer.",
                )  # fmt: skip
                rows = []
                for place in range(n_threads if kind == "threads" else 1):
                    name = "Ban bottled water?" if place == 0 else f"Ban bottled water, case {place}?"
                    if kind == "threads":
                        rows.append({"item_id": name, "text": "Should we ban bottled water?", "group_id": name})
                    rows += [
                        {"item_id": f"t{place}-{i}", "text": text, "group_id": name, "author_id": f"u{i}"}
                        for i, text in enumerate(texts[:6] if kind == "threads" and n_threads > 1 else texts)
                    ]
                projects.add_items(c, key, rows)
                if kind == "pairs":
                    judgements.append(c, key, some_votes(projects.find_items(c, key)[0]))
        database.close()
        self.port = free_port()

    def start(self):
        """Start the studio; it is ready when this returns."""
        command = [sys.executable, "-m", "accord", "studio", "--demo", "--database", self.url, "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, env={**os.environ, "OMP_NUM_THREADS": "1", **self.environment}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        wait_for(self.address)

    def kill(self):
        """Kill the studio and its worker at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def person(self, role="owner"):
        """Somebody with a role in every project, and the session."""
        with self.database() as database, database.write() as c:
            person = people.create_person(c, f"Person {uuid.uuid4().hex[:8]}", password_hash=None)
            for key in self.keys.values():
                people.add_member(c, key, person.id, role)
            return person, people.start_session(c, person.id)

    def enter(self, context, role="owner"):
        """A page of somebody who is signed in by cookie."""
        person, session = self.person(role)
        context.set_default_timeout(180_000)  # a busy machine is no fault of the page
        context.add_cookies([{"name": "accord_session", "value": session, "url": self.address, "httpOnly": True}])
        return person, context.new_page()
