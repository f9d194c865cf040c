"""A real studio process and a real browser."""

import shutil

import pytest
from places import Place

from requirements import missing

QUIET = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A running studio."""
    place = Place(tmp_path_factory.mktemp("studio"))
    place.prepare()
    place.start()
    yield place
    place.kill()


@pytest.fixture(scope="session")
def studio_url(place):
    """The address of the running studio."""
    return place.address


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
def page(browser, place):
    """An owner on the list of projects."""
    context = browser.new_context(base_url=place.address, viewport={"width": 1100, "height": 800})
    _, page = place.enter(context)
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.goto("/")
    page.get_by_role("heading", name="Projects").wait_for()
    yield page
    context.close()
    assert failures == []
