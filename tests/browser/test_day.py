"""A day of a team, all from pages: a project from a spreadsheet, five judges, one removed, conflicts settled, export.

ACCORD_DAY sets the number of texts, 300 for a whole day. The file that ACCORD_DAY_NOTE names gets the counts.
"""

import csv
import io
import json
import os
import re
import zipfile
from pathlib import Path

import pytest
import xlsxwriter
from judging import EMPTY, READY

pytestmark = pytest.mark.browser

N_TEXTS = int(os.environ.get("ACCORD_DAY", "30"))
PASSWORD = "a long enough password"
OVERLAP = 2
DONE = "!document.getElementById('all-done').classList.contains('hidden')"
SHOWN = "document.getElementById('text').textContent"


def watched(context, failures):
    """A page whose errors are noted, those of the server too."""
    page = context.new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 500 else None)
    return page


def judge_until(page, n, answers, who):
    """Answer up to ``n`` questions; returns how many there were."""
    for done in range(n):
        page.wait_for_function(
            f"() => ({READY})() || !document.getElementById('all-done').classList.contains('hidden')"
        )
        if page.locator("#all-done").is_visible():
            return done
        text = page.locator("#text").text_content()
        number = int(re.search(r"\d+", text).group())
        is_good = number % 2 == 0
        if who == 4 and number % 5 == 0:  # one judge sees some texts otherwise
            is_good = not is_good
        answers[who, number] = "good" if is_good else "bad"
        page.keyboard.press("1" if is_good else "2")
        page.wait_for_function(f"text => {DONE} || ({READY})() && {SHOWN} !== text", arg=text)
    return n


def test_a_day_of_a_team(browser, place, tmp_path):
    failures, answers = [], {}
    notes = [f"Note number {i} says {'thanks' if i % 2 == 0 else 'it was late'}." for i in range(N_TEXTS)]
    sheet = tmp_path / "notes.xlsx"
    with xlsxwriter.Workbook(sheet) as book:
        table = book.add_worksheet()
        for line, row in enumerate([("Nr", "Note"), *((f"n{i}", note) for i, note in enumerate(notes))]):
            table.write_row(line, 0, row)

    office = browser.new_context(base_url=place.address)
    office.set_default_timeout(120_000)
    _, first = place.enter(office)
    first.close()
    owner = watched(office, failures)
    owner.goto("/projects/new")
    owner.locator("#file").set_input_files(sheet)
    owner.locator("#look").filter(has_text=f"{N_TEXTS} texts").wait_for()
    owner.get_by_label("Name of the project").fill("Notes")
    owner.get_by_label("What do you ask?").select_option("labels")
    owner.get_by_label("Labels, separated by commas").fill("good, bad")
    owner.get_by_role("button", name="Make the project").click()
    owner.locator("#text").filter(has_text="Note").wait_for()
    home = owner.url.removesuffix("/judge")

    owner.goto(f"{home}/settings")
    owner.get_by_label("People who are asked the same question").fill(str(OVERLAP))
    with owner.expect_navigation():
        owner.locator("form", has=owner.locator("#overlap")).get_by_role("button", name="Save").click()
    assert owner.get_by_label("People who are asked the same question").input_value() == str(OVERLAP)

    owner.goto(f"{home}/people")
    owner.get_by_role("button", name="Make a link").click()
    first_link = owner.locator("#invite-link").filter(has_text="/join/").text_content()
    owner.get_by_role("button", name="Make a link").click()  # and another one on the same page
    owner.locator("#invite-link").filter(has_not_text=first_link).filter(has_text="/join/").wait_for()
    link = owner.locator("#invite-link").text_content()
    assert owner.locator("#invite-link").locator("xpath=ancestor::div[1]//img").get_attribute("src").startswith("data:")

    pages = []
    for who in range(5):
        context = browser.new_context(base_url=place.address)
        context.set_default_timeout(120_000)
        page = watched(context, failures)
        page.goto(link)
        page.get_by_label("Name").fill(f"Judge {who} of {os.getpid()}")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Join").click()
        page.get_by_role("heading", name="Projects").wait_for()
        assert page.get_by_role("link", name="New project").count() == 0
        assert page.get_by_role("link", name="Results").count() == 0
        page.goto(f"{home}/judge")
        pages.append(page)

    for _ in range(max(1, N_TEXTS // 50)):
        for who, page in enumerate(pages):  # everybody some, turn by turn
            judge_until(page, 3, answers, who)
    # The first judge looks at the own answers and changes one.
    changed = pages[0]
    changed.goto(f"{home}/mine")
    changed.get_by_role("link", name="Change").first.click()
    changed.wait_for_function(READY)
    number = int(re.search(r"\d+", changed.locator("#text").text_content()).group())
    assert changed.locator("[data-label][aria-pressed=true]").get_attribute("data-label") == answers[0, number]
    changed.keyboard.press("1" if answers[0, number] == "good" else "2")  # the same again: it is one answer still
    changed.get_by_role("heading", name="my answers").wait_for()
    changed.goto(f"{home}/judge")

    # The second judge is removed in the middle, and what was judged stays.
    owner.goto(f"{home}/people")
    owner.once("dialog", lambda dialog: dialog.accept())
    with owner.expect_navigation():
        owner.get_by_role("button", name=f"Remove Judge 1 of {os.getpid()}").click()
    pages[1].goto(f"{home}/judge")
    assert "not a member" in pages[1].locator("main").inner_text()
    failures[:] = [entry for entry in failures if "404" not in entry]  # the browser notes the refusal as an error

    before_the_end = dict(answers)
    staying, more = (0, 2, 3, 4), True
    while more:  # turn by turn, until nobody is asked anything more
        more = sum(judge_until(pages[who], 10, answers, who) for who in staying)
        for who in staying if not more else ():
            pages[who].goto(f"{home}/judge")  # what somebody else held may be free now
            more += judge_until(pages[who], 1, answers, who)
    for who in staying:
        pages[who].wait_for_function(EMPTY)
        assert pages[who].locator("#all-done").is_visible()
    assert {who for who, _ in answers.keys() - before_the_end.keys()} <= set(staying)

    # Disagreements come with the next refit; the owner settles them.
    expected = {n for n in range(N_TEXTS) if len({label for (_, m), label in answers.items() if m == n}) > 1}
    owner.goto(f"{home}/quality")
    for _ in range(180):
        if owner.locator(".conflict").count() == min(len(expected), 30):
            break
        owner.wait_for_timeout(1000)
        owner.reload()
    assert owner.locator(".conflict").count() == min(len(expected), 30)
    settled = {}
    while owner.locator(".conflict").count():  # all of them, one after the other
        card = owner.locator(".conflict").first
        number = int(re.search(r"number (\d+)", card.inner_text()).group(1))
        settled[number] = "good" if number % 2 == 0 else "bad"
        card.get_by_label("Right is").select_option(settled[number])
        card.get_by_label("Because").fill("the guidelines say so")
        with owner.expect_response(lambda answer: "/resolutions" in answer.url) as stored:
            card.get_by_role("button", name="Settle").click()
        assert stored.value.status == 204
        owner.reload()
        owner.get_by_role("heading", name="Disagreements").wait_for()
    assert settled.keys() == expected
    assert "All that were found are settled." in owner.locator("main").inner_text()

    owner.goto(f"{home}/export")
    with owner.expect_download() as download:
        owner.get_by_role("link", name="CSV").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        tables = {
            name.partition(".")[0]: list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"))))
            for name in archive.namelist() if name.endswith(".csv")
        }  # fmt: skip
    table = tables["judgements"]
    texts = {row["item_id"]: row["text"] for row in tables["items"]}
    # What is stored is what was on the screens: who, which text, which label; and nothing else.
    names = {f"Judge {who} of {os.getpid()}": who for who in range(5)}
    numbers = {note: number for number, note in enumerate(notes)}
    stored = [(names[row["annotator_id"]], numbers[texts[row["item_id"]]], row["value"])
              for row in table if row["source"] == "studio"]  # fmt: skip
    assert sorted(stored) == sorted((who, number, label) for (who, number), label in answers.items())
    by_owner = {numbers[texts[row["item_id"]]]: row["value"] for row in table if row["source"] == "adjudication"}
    assert by_owner == settled
    counts = {}
    for _, number, _ in stored:
        counts[number] = counts.get(number, 0) + 1
    # The owner saw one question when the project was made, and holds it for five minutes.
    assert set(counts.values()) == {OVERLAP}
    assert N_TEXTS - 1 <= len(counts) <= N_TEXTS
    for page in pages:
        page.context.close()
    office.close()
    assert failures == []
    if note := os.environ.get("ACCORD_DAY_NOTE"):
        by_judge = {f"judge {who}": sum(one == who for one, _ in answers) for who in range(5)}
        happened = {"texts": N_TEXTS, "answers": len(answers), **by_judge, "conflicts settled": len(settled)}
        Path(note).write_text(json.dumps(happened, indent=1))
