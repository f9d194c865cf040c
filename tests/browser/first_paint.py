"""How soon each page of a project with 20,000 texts is on the screen, and how many bytes it has.

``python tests/browser/first_paint.py`` fills a database (20,000 texts, 200,000 votes, 500 people), starts a studio on
it and opens every page in Chromium several times, each time in a new window without anything kept. It prints the
median and the longest time until something is on the screen (the browser's first contentful paint) and the bytes of the
page with its style and scripts.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path += [str(Path(__file__).parents[place] / name) for place, name in ((0, "."), (1, "."), (1, "studio"))]

from places import free_port, wait_for
from playwright.sync_api import sync_playwright
from test_accessible import WEIGHT
from test_large import fill

from accord.store import people
from accord.store.database import open_database
from conftest import QUIET

TABS = ["judge", "results", "results?offset=10000", "pictures", "texts", "texts?search=number+19999", "texts/{first}",
        "mine", "answers", "evaluate", "people", "people?offset=450", "quality", "export", "settings"]  # fmt: skip


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    url = f"sqlite:///{Path(tempfile.mkdtemp(prefix='accord-paint-')) / 'studio.db'}"
    database = open_database(url)
    project, first, session = fill(database)
    with database.write() as c:
        owner = people.person_of_session(c, session)
        invite = people.create_invite(c, project_id=project, role="judge", created_by=owner.id)
    database.close()
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    studio = subprocess.Popen(
        [sys.executable, "-m", "accord", "studio", "--database", url, "--port", str(port), "--no-worker"],
        stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        wait_for(address)
        paths = ["/", "/projects/new", "/account", *(f"/projects/{project}/{tab.format(first=first)}" for tab in TABS)]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=QUIET)
            print("page | first paint, median ms | longest ms | kB")  # noqa: T201 - this is a command
            for path, is_known in [*((path, True) for path in paths), ("/", False), (f"/join/{invite}", False)]:
                paints, size = [], 0
                for _ in range(options.times):
                    context = browser.new_context(base_url=address)
                    if is_known:
                        context.add_cookies([{"name": "accord_session", "value": session, "url": address}])
                    page = context.new_page()
                    page.goto(path)
                    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
                    size, paint = page.evaluate(WEIGHT)
                    paints.append(paint)
                    context.close()
                shown = path.replace(invite, "…") if is_known else f"{path.replace(invite, '…')} (signed out)"
                print(f"{shown} | {median(paints):.0f} | {max(paints):.0f} | {size / 1000:.1f}", flush=True)  # noqa: T201
            browser.close()
    finally:
        os.killpg(studio.pid, signal.SIGKILL)
        studio.wait()


if __name__ == "__main__":
    main()
