"""The kinds of tables that people bring: which columns each has, under which names, and how people call them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from accord.data.project import ITEMS, JUDGEMENTS, LINKS
from accord.data.reading.names import IDENTITY, PERSON, SIDES, WON_LOST

__all__ = [
    "ANY",
    "GRID",
    "JUDGED",
    "LABELLED",
    "LABELS",
    "LINKED",
    "MARKS",
    "NEEDS",
    "QUOTES",
    "ROLES",
    "SCORES",
    "SPANS",
    "TEXTS",
    "USES",
    "VOTES",
    "WINS",
    "Role",
]

_JUDGED = tuple(JUDGEMENTS.names)
_ITEM = tuple(ITEMS.names)


@dataclass(frozen=True)
class Role:
    """A kind of table: the columns it needs, those it may have, their other names, and how people call them."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keeps_rest: bool = False  # other columns become meta.*, instead of being left out
    uses: Mapping[str, str] = field(default_factory=dict)  # what people write in --map → our column


_EXTRA = tuple(
    name
    for name in _JUDGED
    if name not in ("kind", "item_id", "other_id", "value", "aspect", "start", "end", "quote", "weight")
)
_WHO = {"person": "annotator_id"}
VOTES = Role(
    "votes",
    ("item_id", "other_id", "value"),
    (*_EXTRA, "weight"),
    {**SIDES, **PERSON, "weight": ("vote_weight", "sample_weight")},
    uses={"left": "item_id", "right": "other_id", "winner": "value", "weight": "weight", **_WHO},
)
# Votes whose first text is the better one, unless a column says that the two are equal.
WINS = Role(
    "votes",
    ("item_id", "other_id"),
    (*_EXTRA, "weight", "tie"),
    {**WON_LOST, **PERSON, "weight": VOTES.synonyms["weight"]},
    uses={"winner": "item_id", "loser": "other_id", "tie": "tie", "weight": "weight", **_WHO},
)
MARKS = Role(
    "marks",
    ("item_id", "value"),
    _EXTRA,
    {"item_id": IDENTITY["item_id"], "value": ("score", "rating", "stars", "points", "mark"), **PERSON},
    uses={"id": "item_id", "score": "value", **_WHO},
)
SCORES = Role(
    "scores",
    ("item_id", "aspect", "value"),
    (*_EXTRA, "text"),
    {
        "item_id": IDENTITY["item_id"],
        "value": ("score", "rank", "rating", "label", "stars"),
        "aspect": ("dimension", "criterion", "attribute"),
        "text": IDENTITY["text"],
        **PERSON,
    },
    uses={"id": "item_id", "text": "text", "aspect": "aspect", "score": "value", **_WHO},
)
SPANS = Role(
    "spans",
    ("item_id", "start", "end"),
    ("quote", "value", *_EXTRA),
    {
        "item_id": IDENTITY["item_id"],
        "start": ("start_offset", "begin"),
        "end": ("end_offset", "stop"),
        "quote": ("text", *IDENTITY["quote"]),
        "value": ("label",),
        **PERSON,
    },
    uses={"id": "item_id", "start": "start", "end": "end", "quote": "quote", "label": "value", **_WHO},
)
QUOTES = Role(
    "quotes",
    ("item_id", "quote"),
    ("value", *_EXTRA),
    {**SPANS.synonyms, "quote": IDENTITY["quote"]},
    uses={"id": "item_id", "quote": "quote", "label": "value", **_WHO},
)
LABELS = Role(
    "labels",
    ("item_id", "value"),
    _EXTRA,
    {"item_id": IDENTITY["item_id"], "value": ("label", *IDENTITY["label"]), **PERSON},
    uses={"id": "item_id", "label": "value", **_WHO},
)
LINKED = Role(
    "links",
    ("src_id", "dst_id"),
    tuple(name for name in LINKS.names if name not in ("src_id", "dst_id")),
    {"src_id": ("source", "from", "from_id", "source_id"), "dst_id": ("target", "to", "to_id", "target_id")},
    uses={"source": "src_id", "target": "dst_id", "context": "context"},
)
JUDGED = Role("judgements", ("kind", "item_id"), tuple(name for name in _JUDGED if name not in ("kind", "item_id")))
TEXTS = Role(
    "items",
    ("text",),
    ("item_id", *_ITEM[2:], "label", "quote", "question", "asker_id", "category", "annotator_id"),
    {**IDENTITY, **PERSON},
    keeps_rest=True,
    uses={
        "id": "item_id",
        "text": "text",
        "html": "text",
        "group": "group_id",
        "author": "author_id",
        "reply": "reply_to",
        "time": "timestamp",
        "label": "label",
        "question": "question",
        "asker": "asker_id",
        "quote": "quote",
        **_WHO,
    },
)
GRID = Role("answers", (), _EXTRA, PERSON, uses={"person": "annotator_id", "time": "created_at"})

# What people write behind a column in --map.
USES = {
    **{name: "" for role in (TEXTS, VOTES, WINS, SCORES, SPANS, LINKED) for name in role.uses},
    "score": "",
    "keep": "",
    "ignore": "",
}
# The tables of each kind, the most particular first.
ROLES: dict[str, tuple[Role, ...]] = {
    "pairs": (JUDGED, VOTES, WINS, TEXTS, MARKS),
    "threads": (JUDGED, TEXTS, GRID, LABELS),
    "aspects": (JUDGED, SCORES, TEXTS, GRID),
    "links": (JUDGED, LINKED, TEXTS, LABELS),
    "rationales": (JUDGED, SPANS, TEXTS, QUOTES, GRID, LABELS),
}
# What a table of each kind has to hold, in words, and what its first columns might be.
_VOTED = "two columns that are compared and one that says which is better"
NEEDS: dict[str | None, tuple[str, tuple[str, ...]]] = {
    None: (f"a column of texts, or {_VOTED}", ("text", "label")),
    "pairs": (f"{_VOTED}, or a column of texts", ("left", "right", "winner")),
    "threads": ("a column of texts and one that names their thread", ("text", "group", "label")),
    "aspects": ("a column of texts and columns of scores", ("text", "score")),
    "links": ("a column of texts, or two columns of ids, source and target", ("text", "label")),
    "rationales": ("a column of texts and one of labels", ("text", "label")),
}
ANY = (JUDGED, VOTES, WINS, SPANS, LINKED, SCORES, TEXTS, QUOTES, GRID, LABELS)
LABELLED = ("threads", "links", "rationales")
