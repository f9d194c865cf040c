"""What is stored is what was on the screen: several answers on every page, and servers that are killed meanwhile."""

import os

import pytest
from judging import EMPTY, answer, open_page, stored
from places import KINDS, TEXTS, Place

from accord.store import people

pytestmark = pytest.mark.browser

# How often the server is killed; the whole promise is tried with ACCORD_KILLS=10.
KILLS = min(10, int(os.environ.get("ACCORD_KILLS", "2")))


@pytest.mark.parametrize("kind", KINDS)
def test_four_answers_are_stored_as_they_were_on_the_screen(browser, place, kind):
    context = browser.new_context(base_url=place.address, viewport={"width": 1100, "height": 900})
    person, page = place.enter(context, "judge")
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    open_page(page, place, kind)
    seen = [answer(page, kind, n) for n in range(4)]
    page.wait_for_function(EMPTY)
    context.close()
    assert failures == []
    assert stored(place, person.id) == seen


def test_a_page_that_shows_another_text_sends_nothing(browser, place):
    context = browser.new_context(base_url=place.address)
    person, page = place.enter(context, "judge")
    open_page(page, place, "links")
    page.evaluate("document.getElementById('text').textContent = 'Something else.'")
    page.keyboard.press("1")
    page.get_by_text("Nothing was sent").wait_for()
    shown = answer(page, "links", 1)
    page.wait_for_function(EMPTY)
    context.close()
    assert stored(place, person.id) == [shown]


def test_an_ended_session_keeps_the_answer_until_somebody_signs_in_again(browser, place):
    context = browser.new_context(base_url=place.address)
    person, page = place.enter(context, "judge")
    open_page(page, place, "links")
    context.clear_cookies()
    shown = answer(page, "links", 0)
    page.get_by_text("Your answer is kept").wait_for()
    assert stored(place, person.id) == []
    with place.database() as database, database.write() as c:
        session = people.start_session(c, person.id)
    context.add_cookies([{"name": "accord_session", "value": session, "url": place.address, "httpOnly": True}])
    page.wait_for_function(EMPTY)
    context.close()
    assert stored(place, person.id) == [shown]


def test_no_answer_is_lost_or_invented_while_servers_are_killed(browser, tmp_path):
    place = Place(tmp_path)
    place.prepare([f"{text} That is reason number {n}." for n in range(8) for text in TEXTS], n_threads=12)
    place.start()
    sitting = []
    try:
        for _ in range(3):
            context = browser.new_context(base_url=place.address, viewport={"width": 1100, "height": 900})
            sitting.append((*place.enter(context, "judge"), []))
        pages = ["pairs", "threads", "aspects", "rationales"]
        for kill in range(KILLS):
            turn = [pages[(kill + seat) % 4] for seat in range(3)]
            for (_, page, seen), kind in zip(sitting, turn, strict=True):
                open_page(page, place, kind, after=kill, left=5)
                seen += [answer(page, kind, kill), answer(page, kind, kill + 1)]
                page.wait_for_function(EMPTY)
                if kind != "threads":
                    page.wait_for_function("() => document.getElementById('judge').dataset.busy === 'false'")
            place.kill()
            for (_, page, seen), kind in zip(sitting, turn, strict=True):
                # A thread's labels are given one after the other; on the other pages an answer waits to be stored.
                seen += [answer(page, kind, kill + 2 + n) for n in range(3 if kind == "threads" else 1)]
            if kill % 2:  # a page that is loaded again sends what was left
                place.start()
                for _, page, _ in sitting:
                    page.reload()
            else:
                place.start()
            for _, page, _ in sitting:
                page.wait_for_function(EMPTY)
        for person, _, seen in sitting:
            assert sorted(map(str, stored(place, person.id))) == sorted(map(str, seen))
    finally:
        place.kill()
        for _, page, _ in sitting:
            page.context.close()
