"""Answering in a browser, with a note of what was on the screen."""

from sqlalchemy import select

from accord.store.tables import items, judgements

READY = """() => {
  const root = document.getElementById("judge");
  if (!root || root.dataset.busy === "true" || root.classList.contains("hidden")) return false;
  const drawn = [...root.querySelectorAll("[data-drawn]")];
  if (drawn.length) return drawn.every((box) => box.textContent);
  return !!root.querySelector(".comment.current:not([data-given])");
}"""
EMPTY = "() => !Object.keys(localStorage).some((place) => place.startsWith('accord-outbox'))"


def open_page(page, place, kind, *, after=-1, left=1):
    """Open the judging page of a kind; of threads the first after a place in which ``left`` comments have no label."""
    page.goto(f"/projects/{place.keys[kind]}/judge" + (f"?after={after}" if kind == "threads" else ""))
    while kind == "threads" and page.locator(".comment:not([data-given])").count() < left:
        with page.expect_navigation():
            page.locator("#next-thread").click()
    page.wait_for_function(READY)


def drawn(page):
    return [box.text_content() for box in page.locator("#judge [data-drawn]").all()]


def answer(page, kind, n):
    """Answer what the page shows by keyboard; returns what was on the screen and what was chosen."""
    page.wait_for_function(READY)
    return {"pairs": _vote, "threads": _label_comment, "aspects": _score, "rationales": _highlight, "links": _label}[
        kind
    ](page, n)


def _vote(page, n):
    texts = drawn(page)
    page.keyboard.press("120"[n % 3])
    return "pairs", tuple(sorted(texts)), (texts[n % 3] if n % 3 < 2 else "equal")


def _label_comment(page, n):
    text = page.locator(".comment.current .text").text_content()
    page.keyboard.press("12"[n % 2])
    return "threads", (text,), ("Good", "Bad")[n % 2]


def _score(page, n):
    (text,) = drawn(page)
    page.keyboard.press(str(1 + n % 5))
    page.keyboard.press("n" if n % 2 else "3")
    page.keyboard.press("Enter")
    return "aspects", (text,), (("food", 1.0 + n % 5), ("service", None if n % 2 else 3.0))


def _highlight(page, n):
    (text,) = drawn(page)
    words = page.locator("#text .word")
    words.nth(n % 3).click()
    words.nth(n % 3 + 1).click()
    marked = " ".join(word.text_content() for word in page.locator("#text .word.on").all())
    page.keyboard.press("12"[n % 2])
    return "rationales", (text,), (("for", "against")[n % 2], marked)


def _label(page, n):
    (text,) = drawn(page)
    page.keyboard.press("12"[n % 2])
    return "links", (text,), ("yes", "no")[n % 2]


ANSWERS = {"pairs": _vote, "threads": _label_comment, "aspects": _score, "rationales": _highlight, "links": _label}


def stored(place, person_id):
    """What is stored of a person, in the form of what was on the screen, in the order in which it came."""
    kinds = {key: kind for kind, key in place.keys.items()}
    with place.database() as database, database.read() as c:
        texts = {row.id: row.text for row in c.execute(select(items.c.id, items.c.text))}
        rows = c.execute(select(judgements).where(judgements.c.person_id == person_id).order_by(judgements.c.id)).all()
    answers = {}
    for row in rows:
        answers.setdefault((row.project_id, row.request_id), []).append(row)
    found = []
    for (project, _), parts in answers.items():
        kind, first = kinds[project], parts[0]
        about = [texts[key] for key in (first.item, first.other) if key is not None]
        if kind == "pairs":
            chosen = {1.0: about[0], 0.0: about[1]}.get(first.value, "equal")
            left = texts[first.shown_left]
            assert left in about
        elif kind == "aspects":
            chosen = tuple((part.aspect, part.value) for part in parts)
        elif kind == "rationales":
            chosen = (first.label, " ".join(part.quote for part in parts[1:]))
        else:
            chosen = first.label
        found.append((kind, tuple(sorted(about)), chosen))
    return found
