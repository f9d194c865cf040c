"""Every page on a desktop and on a phone, in light and in dark: nothing is wider than its window.

With ACCORD_SCREENSHOTS naming a folder the pictures are kept there; the documentation shows them.
"""

import os
from pathlib import Path

import pytest
from ranking import wait_for_ranking

from accord.store import people

pytestmark = pytest.mark.browser

PAGES = {
    "vote": ("pairs", "judge"),
    "thread": ("threads", "judge"),
    "aspects": ("aspects", "judge"),
    "highlight": ("rationales", "judge"),
    "label": ("links", "judge"),
    "ranking": ("pairs", "results"),
    "results": ("threads", "results"),
    "texts": ("pairs", "texts"),
    "people": ("pairs", "people"),
    "export": ("pairs", "export"),
    "pictures": ("pairs", "pictures"),
    "mine": ("pairs", "mine"),
    "answers": ("pairs", "answers"),
    "quality": ("pairs", "quality"),
    "settings": ("threads", "settings"),
    "scores": ("aspects", "results"),
    "evaluate": ("pairs", "evaluate"),
}
WINDOWS = {"desktop": (1280, 800), "phone": (360, 740)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", WINDOWS)
def test_pages_fit_their_window(browser, place, window, scheme):
    folder = os.environ.get("ACCORD_SCREENSHOTS")
    width, height = WINDOWS[window]
    context = browser.new_context(
        base_url=place.address,
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        has_touch=window == "phone",
    )
    person, page = place.enter(context)
    page.goto("/")
    page.get_by_role("heading", name="Projects").wait_for()
    shots = {"projects": "/", "new": "/projects/new", "account": "/account"}
    links = {
        kind: page.get_by_role("link", name=f"About {kind}").get_attribute("href")
        for kind in {w for w, _ in PAGES.values()}
    }
    shots |= {name: links[kind].replace("/judge", f"/{tab}") for name, (kind, tab) in PAGES.items()}
    shots["text"] = "/"  # the best of the ranking, once there is one
    for name, path in shots.items():
        page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        page.wait_for_load_state("networkidle")
        if name == "ranking":
            wait_for_ranking(page)
            shots["text"] = page.locator("table.ranking a").first.get_attribute("href")
        _photograph(page, folder, f"{name}-{window}-{scheme}", width)
    with place.database() as database, database.write() as c:
        link = people.create_invite(c, project_id=place.keys["pairs"], role="judge", created_by=person.id)
    context.clear_cookies()
    for name, path in {"welcome": "/", "join": f"/join/{link}", "missing": "/projects/999999/judge"}.items():
        page.goto(path)
        page.get_by_role("heading", level=1).first.wait_for()
        _photograph(page, folder, f"{name}-{window}-{scheme}", width)
    context.close()


def _photograph(page, folder, name, width):
    assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    if folder:
        whole = name.startswith(("settings", "people", "quality", "pictures", "text-", "new"))
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)
