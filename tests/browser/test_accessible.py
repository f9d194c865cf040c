"""Every page is checked by axe-core: no serious and no critical violation, in light and in dark, wide and narrow.

With ACCORD_ALL_PAGES naming a folder every page of every kind is looked at in four windows, in a studio in which much
has happened; the folder gets the pictures, and the bytes and the first paint of each page.
"""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from full_place import FullPlace
from judging import READY
from ranking import wait_for_ranking

from accord.store import people, projects

pytestmark = pytest.mark.browser

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
TABS = (
    "judge", "results", "pictures", "texts", "mine", "answers", "people", "quality", "export", "evaluate", "settings",
)  # fmt: skip
OTHERS = ("threads", "aspects", "rationales", "links")
MOST_BYTES = 150_000
# The bytes of a page with its style and scripts, unpacked, and the milliseconds until something is on the screen.
WEIGHT = """() => [
  [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter((entry) => !entry.name.includes("/api/")).reduce((n, entry) => n + entry.decodedBodySize, 0),
  performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
]"""


def check(page, name):
    # A text that is fading in has less contrast for a fifth of a second; the page is checked as it stays.
    page.evaluate("async () => { await Promise.allSettled(document.getAnimations().map((one) => one.finished)); }")
    page.evaluate(SCRIPT)
    found = page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
    return [
        (name, entry["id"], [node["html"][:160] for node in entry["nodes"]][:3])
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]


EVERY = os.environ.get("ACCORD_ALL_PAGES")
# Colours do not depend on the width, so that two windows do for every change.
WINDOWS = [("light", 1100), ("dark", 360), *([("light", 360), ("dark", 1100)] if EVERY else [])]


@pytest.fixture(scope="module")
def studio(request, tmp_path_factory):
    """The small studio of all tests, or a full one."""
    if not EVERY:
        yield request.getfixturevalue("place")
        return
    place = FullPlace(tmp_path_factory.mktemp("full"))
    place.prepare()
    place.start()
    yield place
    place.kill()


def addresses(place, scheme):
    """The pages of projects by name."""
    kinds = list(place.keys) if EVERY else ["pairs", *(OTHERS if scheme == "light" else ["aspects"])]
    return {
        f"{kind} {tab}": f"/projects/{place.keys[kind]}/{tab}"
        for kind in kinds
        for tab in (TABS if EVERY or kind == "pairs" else ("judge", "results", "settings"))
    }


@pytest.mark.parametrize("scheme, width", WINDOWS)
def test_no_page_has_a_serious_violation_and_all_are_small(browser, studio, scheme, width, tmp_path):
    # A page's own policy forbids scripts from elsewhere; the check is one.
    context = browser.new_context(
        base_url=studio.address, viewport={"width": width, "height": 760}, color_scheme=scheme, bypass_csp=True
    )
    person, page = studio.enter(context)
    pairs = studio.keys["pairs"]
    with studio.database() as database, database.write() as c:
        resting = projects.create_project(
            c, name="Resting", kind="links", settings={"labels": ["a"]}, created_by=person.id
        )
        projects.change_project(c, resting, state="paused")
        invite = people.create_invite(c, project_id=pairs, role="judge", created_by=person.id)
        reset = people.create_reset(c, person.id, project_id=pairs, created_by=person)
    sizes, paints, failures = {}, {}, []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 500 else None)

    def look(name):
        sizes[name], paints[name] = page.evaluate(WEIGHT)
        failures.extend(check(page, name))
        if page.evaluate("document.documentElement.scrollWidth") > width:
            failures.append((name, "is wider than its window"))
        if EVERY:
            window = f"{'phone' if width < 500 else 'desktop'}-{scheme}"
            page.screenshot(path=Path(EVERY) / f"{name.replace(' ', '-')}-{window}.png", full_page=True)

    texts = {}
    shots = addresses(studio, scheme)
    shots |= {"home": "/", "new": "/projects/new", "account": "/account", "closed": f"/projects/{resting}/judge"}
    for name, path in shots.items():
        page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        kind, _, tab = name.partition(" ")
        if tab == "judge":
            page.wait_for_function(READY)
        if name == "pairs results":
            wait_for_ranking(page)
        if EVERY and tab == "results" and kind != "pairs":
            page.locator("table a.clip").first.wait_for()
        if tab == "results" and page.locator("table a").count():
            texts[f"{kind} text"] = page.locator("table a").first.get_attribute("href")
        if name == "new":  # with what is seen in a file
            sheet = tmp_path / "visits.csv"
            sheet.write_text("item_id,text,shift\na,Lovely warm bread.,am\nb,Cold soup.,pm\n")
            page.locator("#file").set_input_files(sheet)
            page.locator("#look").filter(has_text="2 texts").wait_for()
        look(name)
        if name == "pairs judge":
            page.keyboard.press("x")
            look("cannot decide")
            page.keyboard.press("Escape")
            page.get_by_role("button", name="Guidelines").click()
            look("guidelines")
            page.keyboard.press("Escape")
    for name, path in texts.items():
        page.goto(path)
        look(name)
    page.context.clear_cookies()
    for name, path in {
        "welcome": "/", "join": f"/join/{invite}", "reset": f"/reset/{reset}", "ended": "/join/never-made",
        "missing": "/projects/999999/judge",
    }.items():  # fmt: skip
        page.goto(path)
        look(name)
    context.close()
    if EVERY:
        figures = {"bytes": sizes, "first paint": paints, "failures": failures}
        (Path(EVERY) / f"pages-{width}-{scheme}.json").write_text(json.dumps(figures, indent=1))
    assert failures == []
    assert max(sizes.values()) <= MOST_BYTES, sizes
