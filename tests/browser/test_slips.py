"""Hands: keys held down, double clicks, drags that end outside, the keyboard alone, somebody else's session."""

import pytest
from judging import EMPTY, READY, open_page, stored

pytestmark = pytest.mark.browser

LABELS_GIVEN = "[...document.querySelectorAll('.comment')].map((comment) => comment.dataset.given ?? null)"
SLOW_ANSWERS = """() => {
  const fetched = window.fetch;
  const late = (...sent) => new Promise((done) => setTimeout(done, 1500)).then(() => fetched(...sent));
  window.fetch = (path, sent) => (String(path).endsWith("/judgements") ? late(path, sent) : fetched(path, sent));
}"""


@pytest.fixture
def desk(browser, place):
    """Somebody who judges, and their page."""
    context = browser.new_context(base_url=place.address, viewport={"width": 1100, "height": 900})
    person, page = place.enter(context, "judge")
    yield person, page
    context.close()


def test_a_key_that_is_held_down_answers_once(desk, place):
    person, page = desk
    open_page(page, place, "pairs")
    for _ in range(4):
        page.keyboard.down("1")  # what comes after the first is a repetition
        page.wait_for_function(READY)
    page.keyboard.up("1")
    page.keyboard.press("2")
    page.wait_for_function(READY)
    page.wait_for_function(EMPTY)
    assert len(stored(place, person.id)) == 2


@pytest.mark.parametrize(
    "kind, button", [("pairs", "#left"), ("links", "#labels button"), ("threads", ".current button")]
)
def test_the_second_click_of_a_double_click_answers_nothing(desk, place, kind, button):
    person, page = desk
    open_page(page, place, kind)
    page.locator(button).first.click()
    page.wait_for_function(READY)
    page.wait_for_function(EMPTY)
    page.locator(button).first.dispatch_event("click", {"detail": 2, "bubbles": True})
    page.wait_for_timeout(300)
    page.wait_for_function(EMPTY)
    assert len(stored(place, person.id)) == 1


def test_enter_presses_the_button_that_was_reached_by_keyboard(desk, place):
    person, page = desk
    open_page(page, place, "aspects")
    rows = page.locator(".aspect")
    for row, value in ((0, "4"), (1, "2")):
        rows.nth(row).get_by_role("button", name=value).focus()
        page.keyboard.press("Enter")
    assert page.locator(".aspect [aria-pressed=true]").all_inner_texts() == ["4", "2"]
    page.locator("#send").focus()
    page.keyboard.press("Enter")
    page.wait_for_function(EMPTY)
    page.wait_for_function(READY)
    assert [chosen for _, _, chosen in stored(place, person.id)] == [(("food", 4.0), ("service", 2.0))]


def test_words_are_highlighted_by_keyboard_alone(desk, place):
    person, page = desk
    open_page(page, place, "rationales")
    words = page.locator("#text .word").all_text_contents()
    page.locator("#text").focus()
    for key in ("ArrowRight", "ArrowRight", "Enter", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.get_by_text("1 highlight", exact=True).wait_for()
    assert page.locator("#heard").text_content() == words[2]
    page.keyboard.press("End")
    page.keyboard.press("Space")
    page.keyboard.press("Space")
    page.get_by_text("2 highlights").wait_for()
    page.keyboard.press("Enter")  # on a highlight: it goes
    page.get_by_text("1 highlight", exact=True).wait_for()
    page.keyboard.press("2")
    page.wait_for_function(EMPTY)
    page.wait_for_function(READY)
    assert page.evaluate("document.activeElement.id") == "text", "the next text is at hand"
    (_, _, (label, marked)) = stored(place, person.id)[0]
    assert (label, marked) == ("against", " ".join(words[1:3]))


def test_words_of_scripts_without_spaces_are_highlighted_one_by_one(desk, place):
    _, page = desk
    open_page(page, place, "rationales")
    text = "👍 短い日本語の文です。ภาษาไทย, naïve don't"
    page.evaluate(
        """async (text) => {
          const { Marker } = await import("/static/js/words.js");
          const box = document.getElementById("text");
          window.marker = new Marker(box.parentElement.appendChild(box.cloneNode(false)), text);
        }""",
        text,
    )
    words = page.evaluate("marker.words.map(({ word, start, end }) => [word.textContent, start, end])")
    assert all(text[start:end] == word for word, start, end in words)
    assert {"日本語", "ภาษา", "ไทย", "👍", "naïve", "don't"} <= {word for word, _, _ in words}


def test_a_highlight_may_end_outside_the_text_and_begins_with_the_main_button_only(desk, place):
    _, page = desk
    open_page(page, place, "rationales")
    words = page.locator("#text .word")
    words.nth(1).click(button="right")
    assert page.locator(".word.preview").count() == 0
    start, end = words.nth(0).bounding_box(), words.nth(2).bounding_box()
    page.mouse.move(start["x"] + 3, start["y"] + 5)
    page.mouse.down()
    page.mouse.move(end["x"] + 3, end["y"] + 5, steps=4)
    page.mouse.move(end["x"] + 3, end["y"] - 120, steps=4)
    page.mouse.up()
    page.get_by_text("1 highlight", exact=True).wait_for()
    assert page.locator(".word.on").count() == 3


def test_scrolling_between_two_taps_does_not_end_a_highlight(browser, place):
    context = browser.new_context(
        base_url=place.address, viewport={"width": 360, "height": 400}, has_touch=True, is_mobile=True
    )
    _, page = place.enter(context, "judge")
    open_page(page, place, "rationales")
    words = page.locator("#text .word")
    words.nth(0).tap()
    at = words.nth(3).bounding_box()
    finger = page.context.new_cdp_session(page)
    touched = [{"x": at["x"] + 4, "y": at["y"] + 6}]
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touched})
    finger.send("Input.dispatchTouchEvent", {"type": "touchCancel", "touchPoints": []})  # the browser scrolls from here
    assert page.locator(".word.on").count() == 0
    words.nth(1).tap()
    page.get_by_text("1 highlight", exact=True).wait_for()
    assert page.locator(".word.on").count() == 2
    context.close()


def test_an_undo_waits_for_the_answer_that_is_under_way(desk, place):
    _, page = desk
    open_page(page, place, "threads", left=3)
    page.keyboard.press("1")
    page.get_by_text("Stored.").wait_for()
    page.evaluate(SLOW_ANSWERS)
    page.keyboard.press("2")
    page.keyboard.press("u")
    page.get_by_text("Your last answer is taken back.").wait_for()
    assert [label for label in page.evaluate(LABELS_GIVEN) if label] == ["Good"]
    page.reload()
    assert [label for label in page.evaluate(LABELS_GIVEN) if label] == ["Good"]


def test_an_answer_is_never_stored_as_that_of_somebody_else(desk, place):
    person, page = desk
    open_page(page, place, "links")
    page.route("**/judgements", lambda route: route.abort())
    page.keyboard.press("1")
    page.get_by_text("Not stored yet.").wait_for()
    other, session = place.person("judge")
    page.context.add_cookies([{"name": "accord_session", "value": session, "url": place.address, "httpOnly": True}])
    page.unroute("**/judgements")
    page.get_by_text(f"This page is of {person.name}, and {other.name} is signed in now").wait_for()
    assert stored(place, other.id) == []


def test_a_lost_network_is_said_in_a_sentence(desk, place):
    _, page = desk
    open_page(page, place, "links")
    page.route("**/api/**", lambda route: route.abort())
    page.keyboard.press("u")
    page.get_by_text("The studio cannot be reached; check the network.").wait_for()
