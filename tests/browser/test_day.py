"""A day of a team, all from pages: a project from a sheet, five judges, one removed, disagreements settled, export.

ACCORD_DAY sets the number of texts, 300 for a whole day.
"""

import csv
import io
import os
import re
import zipfile

import pytest
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
    sheet = tmp_path / "notes.csv"
    rows = [f"n{i},Note number {i} says {'thanks' if i % 2 == 0 else 'it was late'}." for i in range(N_TEXTS)]
    sheet.write_text("item_id,text\n" + "\n".join(rows) + "\n")

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
    link = owner.locator("#invite-link").filter(has_text="/join/").text_content()
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

    for who, page in enumerate(pages):  # everybody some, turn by turn
        judge_until(page, max(3, N_TEXTS // 10), answers, who)
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

    for _ in range(3):
        for who in (0, 2, 3, 4):
            pages[who].goto(f"{home}/judge")  # what somebody else held may be free now
            judge_until(pages[who], N_TEXTS, answers, who)
    for who in (0, 2, 3, 4):
        pages[who].wait_for_function(EMPTY)
        assert pages[who].locator("#all-done").is_visible()

    # Disagreements come with the next refit; the owner settles them.
    expected = {n for n in range(N_TEXTS) if len({label for (_, m), label in answers.items() if m == n}) > 1}
    owner.goto(f"{home}/quality")
    for _ in range(180):
        if owner.locator(".conflict").count() == min(len(expected), 30):
            break
        owner.wait_for_timeout(1000)
        owner.reload()
    assert owner.locator(".conflict").count() == min(len(expected), 30)
    numbers = [int(re.search(r"number (\d+)", card.inner_text()).group(1)) for card in owner.locator(".conflict").all()]
    for number in numbers[:3]:
        card = owner.locator(".conflict", has=owner.get_by_text(re.compile(rf"number {number} ")))
        card.get_by_label("Right is").select_option("good" if number % 2 == 0 else "bad")
        card.get_by_label("Because").fill("the guidelines say so")
        with owner.expect_response(lambda answer: "/resolutions" in answer.url) as stored:
            card.get_by_role("button", name="Settle").click()
        assert stored.value.status == 204

    owner.goto(f"{home}/export")
    with owner.expect_download() as download:
        owner.get_by_role("link", name="CSV").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        name = next(entry for entry in archive.namelist() if "judgement" in entry)
        table = list(csv.DictReader(io.StringIO(archive.read(name).decode("utf-8-sig"))))
    by_judges = [row for row in table if row["source"] == "studio"]
    assert len(by_judges) == len(answers)
    counts = {}
    for row in by_judges:
        counts.setdefault(row["item_id"], set()).add(row["annotator_id"])
    assert {len(people) for people in counts.values()} == {OVERLAP}
    # The owner saw one question when the project was made, and holds it for five minutes.
    assert N_TEXTS - 1 <= len(counts) <= N_TEXTS
    assert sum(row["source"] == "adjudication" for row in table) == min(3, len(expected))
    for page in pages:
        page.context.close()
    office.close()
    assert failures == []
