"""What teams do on pages: undo and change, edit labels, change roles, copy links, watch results come in."""

import re

import pytest
from judging import READY, answer, open_page

pytestmark = pytest.mark.browser


def count(page):
    return int(page.locator("[data-count]").inner_text())


def pressed(page):
    return page.locator("#judge [aria-pressed=true]").all_inner_texts()


def texts(page):
    return [box.text_content() for box in page.locator("#judge [data-drawn]").all()]


@pytest.mark.parametrize("kind", ["pairs", "aspects", "rationales", "links"])
def test_undo_brings_the_question_and_the_answer_back_three_times(page, place, kind):
    open_page(page, place, kind)
    for n in range(3):
        page.wait_for_function(READY)
        before, done = texts(page), count(page)
        answer(page, kind, 0)
        page.wait_for_function("n => document.querySelector('[data-count]').textContent == n", arg=str(done + 1))
        page.wait_for_function(READY)
        page.keyboard.press("u")
        page.get_by_text("Here is its question again").wait_for()
        assert texts(page) == before
        assert pressed(page) != []
        assert count(page) == done
        if kind == "rationales":
            assert page.locator(".word.on").count() == 2
        page.locator("#status").evaluate("box => { box.textContent = ''; }")
        answer(page, kind, 1 + n % 2)  # changed: the highlight page keeps what was marked
        page.wait_for_function("n => document.querySelector('[data-count]').textContent == n", arg=str(done + 1))


def test_labels_are_edited_and_judges_see_them_so(page, place):
    page.goto(f"/projects/{place.keys['links']}/settings")
    page.get_by_role("button", name="Add a label").click()
    page.get_by_label("Name of label 3").fill("maybe")
    page.get_by_label("Colour of label 3").select_option("teal")
    page.get_by_label("Key of label 3").fill("m")
    page.get_by_role("button", name="Move no up").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Save the labels").click()
    assert page.get_by_label("Name of label 1").input_value() == "no"
    open_page(page, place, "links")
    assert [button.get_attribute("data-label") for button in page.locator("[data-label]").all()] == [
        "no",
        "yes",
        "maybe",
    ]
    for _ in range(3):
        before = count(page)
        page.wait_for_function(READY)
        page.keyboard.press("m")
        page.wait_for_function("n => document.querySelector('[data-count]').textContent == n", arg=str(before + 1))
    page.goto(f"/projects/{place.keys['links']}/mine")
    assert page.get_by_role("cell", name="maybe", exact=True).count() == 3
    page.goto(f"/projects/{place.keys['links']}/settings")  # as it was, for the other tests
    page.get_by_role("button", name="Move yes up").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Save the labels").click()


def test_a_project_is_copied_paused_and_deleted(page, place):
    page.goto(f"/projects/{place.keys['aspects']}/settings")
    page.get_by_label("Name of a copy").fill("Short-lived")
    page.get_by_role("button", name="Make a copy").click()
    page.get_by_role("heading", name="Short-lived: settings").wait_for()
    with page.expect_navigation():
        page.get_by_role("button", name="Pause").click()
    page.get_by_text("Nobody is asked until you resume it.").wait_for()
    page.goto(page.url.replace("/settings", "/judge"))
    page.get_by_text("An owner has paused this project").wait_for()
    page.goto(page.url.replace("/judge", "/settings"))
    page.get_by_label("Type the name of the project").fill("Short-lived")
    page.get_by_role("button", name="Delete the project").click()
    page.get_by_role("heading", name="Projects").wait_for()
    assert page.get_by_role("link", name="Short-lived").count() == 0


def test_results_and_counts_refresh_by_themselves(browser, page, place):
    context = browser.new_context(base_url=place.address)
    _, judge = place.enter(context, "judge")
    page.goto(f"/projects/{place.keys['rationales']}/results")
    page.locator("[data-live]").filter(has_text="Fitted").wait_for()
    version = int(page.locator("[data-live]").get_attribute("data-version"))
    open_page(judge, place, "rationales")
    for n in range(3):
        answer(judge, "rationales", n)
    page.locator("[data-fresh]").filter(has_text=re.compile(rf"model (?!{version},)\d+")).wait_for()
    context.close()


def test_a_gold_question_of_two_texts_is_made_on_the_page_of_one(page, place):
    project = f"/projects/{place.keys['pairs']}"
    page.goto(f"{project}/texts")
    page.locator("table a").first.click()
    page.get_by_text("Make this a gold question").click()
    page.get_by_label("Beside which text?").select_option(index=2)
    beside = page.get_by_label("Beside which text?").locator("option:checked").inner_text().partition(": ")[2]
    page.get_by_label("The right answer").select_option("the other text is better")
    page.get_by_label("Because").fill("it names a reason")
    with page.expect_navigation():
        page.get_by_role("button", name="Make it gold").click()
    page.goto(f"{project}/quality")
    row = page.get_by_role("row", name="it names a reason")
    assert beside[:40] in row.inner_text()
    assert "the second is better" in row.inner_text()
    with page.expect_navigation():  # as it was, for the other tests
        row.get_by_role("button", name="Remove").click()
