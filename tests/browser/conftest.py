"""A real studio process and a real browser."""

import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing

import pytest

from accord.store import judgements, people, projects
from accord.store.database import open_database
from accord.store.judgements import Judgement
from requirements import missing

TEXTS = [
    "Bottled water should be banned because the plastic lasts for centuries.",
    "A ban takes away safe water in an emergency.",
    "Deposits work better than bans: people bring the bottles back.",
    "Tap water is tested every day and costs almost nothing.",
    "Small shops live from what they sell on hot days.",
    "Whoever wants to carry a flask can do so already.",
]
QUIET = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


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


def wait_for(url, seconds=60.0):
    deadline = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="session")
def studio_url(tmp_path_factory):
    """The address of a studio with one project a kind, run as people run it."""
    folder = tmp_path_factory.mktemp("studio")
    url = f"sqlite:///{folder / 'studio.db'}"
    database = open_database(url)
    with database.write() as c:
        first = people.create_person(c, "Keeper", password_hash=None)
        for kind, settings in [
            ("pairs", {}),
            ("threads", {"labels": ["Good", "Bad"]}),
            ("aspects", {"aspects": ["food", "service"], "n_ranks": 5}),
            ("rationales", {"labels": ["for", "against"]}),
            ("links", {"labels": ["yes", "no"]}),
        ]:
            key = projects.create_project(
                c, name=f"About {kind}", kind=kind, settings=settings, created_by=first.id,
                guidelines="Read both, then choose. There is no wrong answer.",
            )  # fmt: skip
            rows = [
                {"item_id": f"t{i}", "text": text, "group_id": "Ban bottled water?", "author_id": f"u{i}"}
                for i, text in enumerate(TEXTS)
            ]
            if kind == "threads":
                question = {"item_id": "Ban bottled water?", "text": "Should we ban bottled water?"}
                rows = [{**question, "group_id": "Ban bottled water?"}, *rows]
            projects.add_items(c, key, rows)
            if kind == "pairs":
                judgements.append(c, key, some_votes(projects.find_items(c, key)[0]))
    database.close()
    port = free_port()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "accord", "studio", "--demo", "--database", url, "--port", str(port)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    wait_for(address)
    yield address
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        missing("no Chromium is installed for the browser tests.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def page(browser, studio_url):
    """A guest on the list of projects."""
    context = browser.new_context(base_url=studio_url, viewport={"width": 1100, "height": 800})
    page = context.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.goto("/")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Projects").wait_for()
    yield page
    context.close()
    assert failures == []
