"""A studio in which much has happened: six projects that several people have judged, with conflicts, gold and skips."""

import random
from pathlib import Path

from places import Place, free_port

from accord.store import people, projects
from accord.store.database import open_database
from accord.workflows.collecting.adjudicate import make_gold, resolve
from accord.workflows.collecting.collect import Answer, record

NAMES = ["Amina Yusuf", "Bo Li", "Chiara De Santis-Villanova", "Dov", "Ева Петрова"]
THINGS = ["mug", "lamp", "blanket", "rucksack", "kettle", "notebook"]
STUFFS = ["oak", "wool", "steel", "recycled paper", "clay"]
CLAIMS = ["It lasts for years and can be repaired.", "You will love it!!!"]
PLATES = {5: "The bread was warm and the soup wonderful.", 3: "The food was fine.", 1: "The fish was cold and bland."}
WAITERS = {5: "A kind waiter remembered us.", 3: "The service was as usual.", 1: "We waited an hour and nobody came."}
BILLS = {5: "All of it for very little money.", 3: "The price is fair.", 1: "For that much too expensive."}
COMMENTS = [
    ("Hold the reset button for ten seconds, then set the clock again.", "helps"),
    ("I have the same problem.", "chat"),
    ("Thanks, that was it!", "chat"),
    ("Update the firmware first: version 2.1 lost the clock after a power cut.", "helps"),
    ("Why does nobody read the manual?", "off"),
]
NEAR_EAST = [
    ("كانت الخدمة ممتازة والطعام لذيذ جدا", "good"),
    ("انتظرنا ساعة كاملة وكان الحساء باردا", "bad"),
    ("המלצר היה אדיב והלחם היה חם וטרי", "good"),
    ("חיכינו שעה והמרק היה קר (SMS: 15:30)", "bad"),
    ("مكان جميل وهادئ وأسعار معقولة", "good"),
    ("המנה הייתה יקרה מדי וקטנה", "bad"),
]
LETTERS = [
    ("Please send the invoice again, the file was empty.", ["bill"]),
    ("My parcel came broken and the bill is wrong, too.", ["bill", "parcel"]),
    ("Where is my parcel? It was to come on Monday.", ["parcel"]),
    ("Thank you, everything went well.", ["praise"]),
]
SPEECHES = [
    ("I rise in support of this bill; schools need it.", "yea"),
    ("My friend is mistaken: this bill costs too much.", "nay"),
    ("I yield to the gentlewoman, whose support I share.", "yea"),
    ("We oppose the bill, and we will vote against it.", "nay"),
]


def _products():
    return [
        {"item_id": f"p{n:02d}", "text": f"A {thing} made of {stuff}. {claim}", "group_id": "Which text sells better?"}
        for n, (thing, stuff, claim) in enumerate((t, s, c) for t in THINGS for s in STUFFS for c in CLAIMS)
    ]


def _reviews():
    return [
        {"item_id": f"r{n:02d}", "text": f"{PLATES[a]} {WAITERS[b]} {BILLS[c]}"}
        for n, (a, b, c) in enumerate((a, b, c) for a in PLATES for b in WAITERS for c in BILLS)
    ]


def _forum():
    rows = []
    for n in range(8):
        name = f"My clock {n} forgets the time after a power cut. What can I do?"
        rows.append({"item_id": f"q{n}", "text": name, "group_id": f"q{n}", "author_id": "asker"})
        for i, (text, _) in enumerate(COMMENTS):
            before = f"q{n}" if i in (0, 3) else f"q{n}-{i - 1}"
            rows.append({"item_id": f"q{n}-{i}", "text": text, "group_id": f"q{n}", "reply_to": before,
                         "author_id": f"user {i}"})  # fmt: skip
    return rows


def _numbered(rows, n):
    return [{"item_id": f"{place:02d}", "text": rows[place % len(rows)][0] + f" [{place}]"} for place in range(n)]


SCALE = ["awful", "poor", "fair", "good", "excellent"]
# By name of the page: the project's name, its kind, its settings, its texts.
PROJECTS = {
    "pairs": (
        "Product descriptions",
        "pairs",
        {"highlight": True, "gold_share": 0.1, "gold_feedback": True},
        _products,
    ),
    "aspects": (
        "Reviews",
        "aspects",
        {"aspects": ["food", "service", "price"], "n_ranks": 5, "scale": SCALE, "overlap": 2},
        _reviews,
    ),
    "threads": (
        "A forum of people who repair clocks and other things at home",
        "threads",
        {"labels": ["helps", "chat", "off"]},
        _forum,
    ),
    "rationales": (
        "مراجعات · ביקורות",
        "rationales",
        {"labels": ["good", "bad"]},
        lambda: _numbered(NEAR_EAST, 24),
    ),
    "labels": (
        "Letters",
        "rationales",
        {"labels": ["bill", "parcel", "praise"], "plain": True, "several": True, "highlight": True},
        lambda: _numbered(LETTERS, 24),
    ),
    "links": ("Debate", "links", {"labels": ["yea", "nay"]}, lambda: _numbered(SPEECHES, 24)),
}


class FullPlace(Place):
    """The studio with these projects and the answers of five people; the owner of all is the first."""

    def prepare(self):
        """Make the projects, and let people answer; one in eight answers is another than most give."""
        self.url = f"sqlite:///{Path(self.folder) / 'full.db'}"
        database, rng = open_database(self.url), random.Random(0)
        with database.write() as c:
            everybody = [people.create_person(c, name, password_hash=None) for name in NAMES]
            for kind, (name, stored_kind, settings, rows) in PROJECTS.items():
                key = self.keys[kind] = projects.create_project(
                    c, name=name, kind=stored_kind, settings=settings, created_by=everybody[0].id,
                    guidelines="Read all of it, then choose.\n\nThere is no wrong answer.",
                )  # fmt: skip
                projects.add_items(c, key, rows())
                if kind == "links":
                    links = [{"src_id": f"{n:02d}", "dst_id": f"{n - 2:02d}", "kind": "agrees"} for n in range(2, 24)]
                    projects.add_links(c, key, links)
                for person in everybody[1:]:
                    people.add_member(c, key, person.id, "judge")
                self._answer(c, kind, projects.get_project(c, key), everybody, rng)
        database.close()
        self.port = free_port()

    def _answer(self, c, kind, project, everybody, rng):
        texts = projects.find_items(c, project.id, limit=500)[0]
        for who, person in enumerate(everybody[1:]):
            for n in range(60 if kind == "pairs" else len(texts)):
                if kind != "pairs" and ((n + who) % 3 == 0 or n % 5 == 4):  # every fifth text is left for the model
                    continue
                answer = _said(kind, texts, n, rng, f"{kind}-{who}-{n:04d}")
                if answer is not None:
                    record(c, project, person.id, answer)
        first = _said(kind, texts, 1, random.Random(1), "right-answer")
        if first is not None and first.kind != "skip":
            make_gold(c, project, everybody[0].id, first, reason="the guidelines name this case")
        if kind == "labels":
            resolve(c, project, everybody[0].id, _said(kind, texts, 2, random.Random(2), "settled-0001"),
                    reason="both are asked for", as_gold=False)  # fmt: skip


def _said(kind, texts, n, rng, request):
    """What somebody says about the n-th text, or ``None`` where there is nothing to say."""
    odd = rng.random() < 1 / 8
    common = {"request_id": request, "response_ms": rng.randrange(1500, 9000)}
    if kind == "pairs":
        a, b = rng.sample(texts, 2)
        if odd and rng.random() < 0.5:
            reason = rng.choice(["both bad", "too similar", "not understood"])
            return Answer(kind="skip", item=a.key, other=b.key, skip_reason=reason, **common)
        better = ("lasts" in a.text) - ("lasts" in b.text)
        value = 0.5 if not better else float((better > 0) != odd)
        return Answer(kind="pair", item=a.key, other=b.key, value=value, shown_left=a.key, **common)
    item = texts[n]
    if kind == "aspects":
        true = {name: next(score for score, words in about.items() if words in item.text)
                for name, about in {"food": PLATES, "service": WAITERS, "price": BILLS}.items()}  # fmt: skip
        return Answer(kind="score", item=item.key, scores={**true, **({"price": None} if odd else {})}, **common)
    if kind == "threads" and item.item_id == item.group_id:
        return None
    sources = {"threads": COMMENTS, "rationales": NEAR_EAST, "labels": LETTERS, "links": SPEECHES}[kind]
    said = next(label for words, label in sources if item.text.startswith(words))
    every = PROJECTS[kind][2]["labels"]
    if kind == "labels":
        return Answer(kind="label", item=item.key, labels=[every[2]] if odd else said, **common)
    label = every[(every.index(said) + 1) % len(every)] if odd else said
    if kind == "rationales":
        end = item.text.index(" ", 4)
        return Answer(kind="span", item=item.key, label=label, spans=[(item.key, 0, end)], **common)
    return Answer(kind="label", item=item.key, label=label, **common)
