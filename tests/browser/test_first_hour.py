"""The first hour of an owner, by mouse: columns are said what they are, the model is evaluated, pictures taken away."""

import os
import struct
import zlib
from pathlib import Path

import pytest
from ranking import wait_for_ranking

pytestmark = pytest.mark.browser

TASTE = {"kept": "lovely warm bread and kind waiters", "dropped": "cold soup and a rude cook"}
WINDOWS = {"desktop-light": (1280, 800, "light"), "phone-light": (360, 740, "light"), "phone-dark": (360, 740, "dark")}


def table(n, first=0):
    rows = [f"{i},Visit {i} had {TASTE[fate]},{fate},{'am' if i % 3 else 'pm'}" for i, fate in
            ((i, ("kept", "dropped")[i % 2]) for i in range(first, first + n))]  # fmt: skip
    return "nr,remarks,fate,shift\n" + "\n".join(rows) + "\n"


def photographed(page, name):
    """With ACCORD_SCREENSHOTS the page in three windows; in each of them nothing is wider than the window."""
    folder = os.environ.get("ACCORD_SCREENSHOTS")
    before = page.viewport_size
    for window, (width, height, scheme) in WINDOWS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, window)
        if folder:
            page.screenshot(path=Path(folder) / f"{name}-{window}.png", full_page=True)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")


def pixels(data):
    """The size of a PNG and its different bytes, unpacked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        packed += data[at + 8 : at + 8 + size] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    return width, height, set(zlib.decompress(packed))


def test_columns_are_mapped_by_mouse_and_the_choice_is_used_for_the_next_file(page, tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text(table(24))
    page.goto("/projects/new")
    page.locator("#file").set_input_files(file)
    look = page.locator("#look")
    look.get_by_text("Not used: fate, shift.").wait_for()  # two columns may be labels: nothing is guessed
    row = look.get_by_role("row", name="fate")
    assert "kept" in row.inner_text()
    look.get_by_label("What is fate?").select_option("label")
    look.locator("strong", has_text="24 labels").wait_for()
    assert look.get_by_label("What is fate?").input_value() == "label"
    photographed(page, "mapping")
    look.get_by_label("What is shift?").select_option("ignore")
    look.locator("strong", has_text="24 labels").wait_for()
    page.get_by_label("What do you ask?").select_option("")
    page.get_by_role("button", name="Make the project").click()
    page.locator("#judge").wait_for()
    home = page.url.removesuffix("/judge")
    # The same columns in another file are taken in the same way, and texts that are added later, too.
    page.goto("/projects/new")
    more = tmp_path / "more.csv"
    more.write_text(table(8, first=24))
    page.locator("#file").set_input_files(more)
    look.locator("strong", has_text="8 labels").wait_for()
    look.get_by_text("the columns are taken as in the project visits").wait_for()
    page.goto(f"{home}/settings")
    page.locator("form", has=page.get_by_role("button", name="Add the texts")).locator("[type=file]").set_input_files(
        more
    )
    page.get_by_role("button", name="Add the texts").click()
    page.get_by_text("8 new texts, 0 were there already").wait_for()


def test_an_owner_evaluates_the_model_and_takes_the_picture_away(page, tmp_path):
    file = tmp_path / "notes.csv"
    file.write_text(table(24).replace(",am", "").replace(",pm", "").replace(",shift", ""))
    page.goto("/projects/new")
    page.locator("#file").set_input_files(file)
    page.locator("#look strong", has_text="24 labels").wait_for()
    page.get_by_label("Name of the project").fill("Notes to evaluate")
    page.get_by_label("What do you ask?").select_option("links")
    page.get_by_role("button", name="Make the project").click()
    page.locator("#judge").wait_for()
    page.get_by_role("link", name="How good?").click()
    page.get_by_role("button", name="Evaluate now").click()
    page.get_by_text("24 labelled texts Accord is right").wait_for(timeout=300_000)
    for heading in ("Accuracy", "Log loss", "Can its probabilities be trusted?"):
        page.get_by_role("heading", name=heading).wait_for()
    assert page.get_by_role("row", name="logistic regression").count() == 2
    drawn = page.locator("svg.picture").get_attribute("aria-label")
    assert "right in" in drawn
    photographed(page, "evaluate")
    page.reload()  # it is kept
    page.get_by_text("24 labelled texts Accord is right").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    width, height, seen = pixels(Path(download.value.path()).read_bytes())
    assert (width, height) == (860, 676)
    assert len(seen) > 20  # lines and letters, not blank paper
    assert download.value.suggested_filename.endswith("-calibration.png")
    page.get_by_role("link", name="Pictures").click()
    page.get_by_role("heading", name="Is the model as sure as it is right?").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="SVG of Is the model").click()
    assert drawn[:60] in Path(download.value.path()).read_text()
    photographed(page, "pictures-calibration")


def test_any_text_says_why_when_asked(page, place):
    page.goto(f"/projects/{place.keys['pairs']}/results")
    wait_for_ranking(page)
    for path in [link.get_attribute("href") for link in page.locator("table.ranking a").all()][-2:]:
        page.goto(path)
        page.get_by_role("heading", name="Why").wait_for()
        ask = page.get_by_role("button", name="Ask the model why")
        if ask.count():
            ask.click()
        page.get_by_text("What moves the score of this text").wait_for()
        assert page.locator("table.reasons tbody tr").count() > 0
    photographed(page, "text-why")
