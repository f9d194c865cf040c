"""Every page is checked by axe-core: no serious and no critical violation, in light and in dark, wide and narrow."""

from importlib.resources import files

import pytest
from judging import READY
from ranking import wait_for_ranking

pytestmark = pytest.mark.browser

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
TABS = ("judge", "results", "texts", "mine", "answers", "people", "quality", "export", "settings")
MOST_BYTES = 150_000


def check(page, name):
    page.evaluate(SCRIPT)
    found = page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
    bad = [
        (entry["id"], [node["html"][:160] for node in entry["nodes"]][:3])
        for entry in found
        if entry["impact"] in ("serious", "critical")
    ]
    assert bad == [], (name, bad)


@pytest.mark.parametrize("scheme, width", [("light", 1100), ("dark", 360)])
def test_no_page_has_a_serious_violation_and_all_are_small(browser, place, scheme, width):
    # A page's own policy forbids scripts from elsewhere; the check is one.
    context = browser.new_context(
        base_url=place.address, viewport={"width": width, "height": 760}, color_scheme=scheme, bypass_csp=True
    )
    _, page = place.enter(context)
    sizes, failures = {}, []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 500 else None)
    kinds = list(place.keys) if scheme == "light" else ["pairs", "aspects"]
    shots = {f"{kind} {tab}": f"/projects/{place.keys[kind]}/{tab}" for kind in kinds for tab in TABS}
    shots |= {"home": "/", "new": "/projects/new", "account": "/account"}
    for name, path in shots.items():
        answer = page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        if name.endswith("judge"):
            page.wait_for_function(READY)
        if name == "pairs results":
            wait_for_ranking(page)
            shot = page.locator("table.ranking a").first.get_attribute("href")
        sizes[name] = len(answer.body())
        check(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    page.goto(shot)
    check(page, "text")
    page.context.clear_cookies()
    page.goto("/")
    check(page, "welcome")
    context.close()
    assert failures == []
    assert max(sizes.values()) <= MOST_BYTES, sizes
