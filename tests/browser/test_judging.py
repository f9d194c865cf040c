import json
import re
import time
import zipfile

import pytest
from ranking import wait_for_ranking

pytestmark = pytest.mark.browser


def open_project(page, kind):
    page.goto("/")
    page.get_by_role("link", name=f"About {kind}").click()
    page.locator("#judge").wait_for()


def stored(page):
    """Waits until the studio has said that the answer is stored."""
    page.get_by_text("Stored.").wait_for()


def count(page):
    return int(page.locator("[data-count]").inner_text())


def wait_count(page, n):
    """Waits for the count, and until the next question is there."""
    page.wait_for_function(
        "n => document.querySelector('[data-count]').textContent == n && "
        "document.querySelector('#judge').dataset.busy != 'true'",
        arg=str(n),
    )


def test_vote_by_click_by_key_and_undo(page):
    open_project(page, "pairs")
    page.locator("#left .text").filter(has_text=re.compile(".{10}")).wait_for()
    page.locator("#left").click()
    wait_count(page, 1)
    page.keyboard.press("2")
    wait_count(page, 2)
    page.keyboard.press("0")
    wait_count(page, 3)
    page.keyboard.press("u")
    page.get_by_text("Your last answer is taken back.").wait_for()
    assert count(page) == 2
    page.keyboard.press("x")
    page.get_by_role("button", name="Too similar").click()
    wait_count(page, 3)
    page.reload()
    page.locator("#judge").wait_for()
    assert count(page) == 3  # three votes, one of them undone, and a skip


def test_vote_by_touch_on_a_phone(browser, place):
    context = browser.new_context(
        base_url=place.address, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    _, page = place.enter(context, "judge")
    page.goto("/")
    page.get_by_role("link", name="About pairs").tap()
    page.locator("#right .text").filter(has_text=re.compile(".{10}")).wait_for()
    page.locator("#right").tap()
    wait_count(page, 1)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    context.close()


def test_highlight_words_by_dragging_and_by_two_taps(page):
    open_project(page, "rationales")
    words = page.locator("#text .word")
    words.nth(2).wait_for()
    start, end = words.nth(0).bounding_box(), words.nth(2).bounding_box()
    page.mouse.move(start["x"] + 3, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 3, end["y"] + 5, steps=4)
    page.mouse.up()
    assert page.locator(".word.on").count() == 3
    words.nth(5).click()
    words.nth(6).click()
    page.get_by_text("2 highlights").wait_for()
    words.nth(1).click()  # on a highlight: it goes
    page.get_by_text("1 highlight", exact=True).wait_for()
    page.keyboard.press("1")
    wait_count(page, 1)


def test_label_a_thread_by_keys_and_the_labels_stay(page):
    open_project(page, "threads")
    page.locator(".comment.current").wait_for()
    page.keyboard.press("1")
    stored(page)
    page.keyboard.press("2")
    page.locator('.comment[data-given="Bad"]').wait_for()
    page.wait_for_timeout(500)
    page.reload()
    page.locator('.comment [aria-pressed="true"]').first.wait_for()
    assert page.locator('.comment [aria-pressed="true"]').all_inner_texts() == ["Good\n1", "Bad\n2"]


def test_score_aspects_by_keys(page):
    open_project(page, "aspects")
    page.locator(".aspect.current").wait_for()
    page.locator("#text").filter(has_text=re.compile(".{10}")).wait_for()
    page.keyboard.press("4")
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    wait_count(page, 1)


def test_label_linked_texts(page):
    open_project(page, "links")
    page.locator("#text").filter(has_text=re.compile(".{10}")).wait_for()
    page.get_by_role("button", name="yes").click()
    wait_count(page, 1)


def test_votes_change_the_ranking(page):
    open_project(page, "pairs")
    address = page.url
    page.locator("#left .text").filter(has_text=re.compile(".{10}")).wait_for()
    wait_count(page, 0)
    for n in range(1, 6):
        page.keyboard.press("1")
        wait_count(page, n)
    page.goto(address.replace("/judge", "/results"))
    wait_for_ranking(page)
    seen = int(re.search(r"([\d,]+) votes seen", page.locator("main").inner_text()).group(1))
    deadline = time.monotonic() + 120
    while seen < 95 and time.monotonic() < deadline:  # the page shows the new ranking by itself
        page.wait_for_timeout(1000)
        seen = int(re.search(r"([\d,]+) votes seen", page.locator("main").inner_text()).group(1))
    assert seen >= 95  # the ninety votes that were there and these five


@pytest.mark.parametrize("tab", ["Texts", "People", "Export"])
def test_the_other_pages_open(page, tab):
    open_project(page, "pairs")
    page.get_by_role("link", name=tab, exact=True).click()
    page.get_by_role("heading", level=1).wait_for()


def test_a_project_is_made_from_a_file(page, tmp_path):
    file = tmp_path / "texts.csv"
    file.write_text("item_id,text\na,Cats sleep a lot.\nb,Dogs like walks.\n")
    page.goto("/projects/new")
    page.get_by_label("Name of the project").fill("Pets")
    page.locator("#file").set_input_files(file)
    page.locator("#look").filter(has_text="2 texts").wait_for()
    page.get_by_role("button", name="Make the project").click()
    page.locator("#left .text").filter(has_text=re.compile(".{10}")).wait_for()


def test_files_of_another_tool_are_told_apart_and_bad_rows_left_out_when_asked(page, tmp_path):
    file = tmp_path / "choices.jsonl"
    good = {"prompt": "Which pet?", "chosen": "Cats sleep a lot.", "rejected": "Dogs like walks."}
    file.write_text("\n".join(json.dumps(row) for row in (good, {**good, "rejected": good["chosen"]})))
    page.goto("/projects/new")
    page.locator("#file").set_input_files(file)
    page.locator("#look").filter(has_text="choices.jsonl looks like preference data").wait_for()
    assert page.get_by_label("Name of the project").input_value() == "choices"
    page.get_by_label("What do you ask?").select_option("")
    page.get_by_label("Leave these rows out").check()
    page.get_by_role("button", name="Make the project").click()
    page.locator("#left .text").filter(has_text=re.compile(".{10}")).wait_for()


def test_a_download_is_a_zip_file(page):
    open_project(page, "pairs")
    page.get_by_role("link", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="PARQUET").click()
    assert zipfile.is_zipfile(download.value.path())


def test_a_bad_file_gets_its_sentence_beside_the_form(browser, place, tmp_path):
    context = browser.new_context(base_url=place.address)
    _, page = place.enter(context)
    file = tmp_path / "texts.csv"
    file.write_text("item_id,text\na,x\na,y\n")
    page.goto("/projects/new")
    page.get_by_label("Name of the project").fill("Twice")
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Make the project").click()
    page.locator("form .error").filter(has_text="unique").wait_for()
    context.close()


def test_a_guest_of_the_demonstration_sees_the_examples_only(browser, studio_url):
    context = browser.new_context(base_url=studio_url)
    page = context.new_page()
    page.goto("/")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Projects").wait_for()
    assert page.get_by_role("link", name="About").count() == 0
    assert page.get_by_role("link", name="New project").count() == 0
    context.close()


RIGHT_TO_LEFT = """(selector) => {
  const box = document.querySelector(selector);
  box.textContent = "שלום עולם";
  const words = document.createRange();
  words.selectNodeContents(box);
  return box.getBoundingClientRect().right - words.getBoundingClientRect().right;
}"""


@pytest.mark.parametrize("path, selector", [("judge", "#left .text"), ("texts", "table .clip")])
def test_a_text_from_right_to_left_begins_at_the_right(page, place, path, selector):
    page.goto(f"/projects/{place.keys['pairs']}/{path}")
    page.locator(selector).first.filter(has_text=re.compile(".{10}")).wait_for()
    assert page.evaluate(RIGHT_TO_LEFT, selector) < 2.0
