"""Every page is checked by axe-core: no serious and no critical violation, in light and in dark, wide and narrow."""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from judging import READY
from ranking import wait_for_ranking

from accord.store import people, projects

pytestmark = pytest.mark.browser

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
TABS = (
    "judge", "results", "pictures", "texts", "mine", "answers", "people", "quality", "export", "evaluate", "settings",
)  # fmt: skip
MOST_BYTES = 150_000
# The bytes of a page with its style and scripts, unpacked, and the milliseconds until something is on the screen.
WEIGHT = """() => [
  [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter((entry) => !entry.name.includes("/api/")).reduce((n, entry) => n + entry.decodedBodySize, 0),
  performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null,
]"""


def check(page, name):
    page.evaluate(SCRIPT)
    found = page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
    return [
        (name, entry["id"], [node["html"][:160] for node in entry["nodes"]][:3])
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]


# Colours do not depend on the width: with ACCORD_DAY the other two combinations are looked at as well.
WINDOWS = [("light", 1100), ("dark", 360), *([("light", 360), ("dark", 1100)] if "ACCORD_DAY" in os.environ else [])]


@pytest.mark.parametrize("scheme, width", WINDOWS)
def test_no_page_has_a_serious_violation_and_all_are_small(browser, place, scheme, width, tmp_path):
    # A page's own policy forbids scripts from elsewhere; the check is one.
    context = browser.new_context(
        base_url=place.address, viewport={"width": width, "height": 760}, color_scheme=scheme, bypass_csp=True
    )
    person, page = place.enter(context)
    with place.database() as database, database.write() as c:
        resting = projects.create_project(
            c, name="Resting", kind="links", settings={"labels": ["a"]}, created_by=person.id
        )
        projects.change_project(c, resting, state="paused")
        invite = people.create_invite(c, project_id=place.keys["pairs"], role="judge", created_by=person.id)
        reset = people.create_reset(c, person.id, project_id=place.keys["pairs"], created_by=person)
    sizes, paints, failures = {}, {}, []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 500 else None)
    shots = {f"pairs {tab}": f"/projects/{place.keys['pairs']}/{tab}" for tab in TABS}
    others = ("threads", "aspects", "rationales", "links") if scheme == "light" else ("aspects",)
    for kind in others:
        shots |= {f"{kind} {tab}": f"/projects/{place.keys[kind]}/{tab}" for tab in ("judge", "results", "settings")}
    shots |= {"home": "/", "new": "/projects/new", "account": "/account", "closed": f"/projects/{resting}/judge"}
    for name, path in shots.items():
        page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        if name.endswith("judge"):
            page.wait_for_function(READY)
        if name == "pairs results":
            wait_for_ranking(page)
            shot = page.locator("table.ranking a").first.get_attribute("href")
        sizes[name], paints[name] = page.evaluate(WEIGHT)
        if name == "new":  # with what is seen in a file
            sheet = tmp_path / "visits.csv"
            sheet.write_text("item_id,text,shift\na,Lovely warm bread.,am\nb,Cold soup.,pm\n")
            page.locator("#file").set_input_files(sheet)
            page.locator("#look").filter(has_text="2 texts").wait_for()
        if name == "pairs judge":
            page.keyboard.press("x")
            failures += check(page, "cannot decide")
            page.keyboard.press("Escape")
            page.get_by_role("button", name="Guidelines").click()
            failures += check(page, "guidelines")
            page.keyboard.press("Escape")
        failures += check(page, name)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            failures.append((name, "is wider than its window"))
    page.goto(shot)
    failures += check(page, "text")
    page.context.clear_cookies()
    for path in ("/", f"/join/{invite}", f"/reset/{reset}", "/projects/999999/judge"):
        page.goto(path)
        failures += check(page, path)
    context.close()
    assert failures == []
    assert max(sizes.values()) <= MOST_BYTES, sizes
    if note := os.environ.get("ACCORD_SIZES"):
        Path(note).write_text(json.dumps({"bytes": sizes, "first paint": paints}, indent=1))
