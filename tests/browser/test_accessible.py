"""Every page is checked by axe-core: no serious and no critical violation, in light and in dark, wide and narrow."""

import json
import os
from importlib.resources import files
from pathlib import Path

import pytest
from judging import READY
from ranking import wait_for_ranking

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


@pytest.mark.parametrize("scheme, width", [("light", 1100), ("dark", 360)])
def test_no_page_has_a_serious_violation_and_all_are_small(browser, place, scheme, width):
    # A page's own policy forbids scripts from elsewhere; the check is one.
    context = browser.new_context(
        base_url=place.address, viewport={"width": width, "height": 760}, color_scheme=scheme, bypass_csp=True
    )
    _, page = place.enter(context)
    sizes, paints, failures = {}, {}, []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 500 else None)
    shots = {f"pairs {tab}": f"/projects/{place.keys['pairs']}/{tab}" for tab in TABS}
    others = ("threads", "aspects", "rationales", "links") if scheme == "light" else ("aspects",)
    for kind in others:
        shots |= {f"{kind} {tab}": f"/projects/{place.keys[kind]}/{tab}" for tab in ("judge", "results", "settings")}
    shots |= {"home": "/", "new": "/projects/new", "account": "/account"}
    for name, path in shots.items():
        page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        if name.endswith("judge"):
            page.wait_for_function(READY)
        if name == "pairs results":
            wait_for_ranking(page)
            shot = page.locator("table.ranking a").first.get_attribute("href")
        sizes[name], paints[name] = page.evaluate(WEIGHT)
        failures += check(page, name)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            failures.append((name, "is wider than its window"))
    page.goto(shot)
    failures += check(page, "text")
    page.context.clear_cookies()
    page.goto("/")
    failures += check(page, "welcome")
    context.close()
    assert failures == []
    assert max(sizes.values()) <= MOST_BYTES, sizes
    if note := os.environ.get("ACCORD_SIZES"):
        Path(note).write_text(json.dumps({"bytes": sizes, "first paint": paints}, indent=1))
