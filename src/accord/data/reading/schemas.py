"""The tables that people bring, the columns of each, and the other names under which a column is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from accord.data.project import ITEMS, JUDGEMENTS, LINKS
from accord.data.reading.sources import Source
from accord.errors import InputError

__all__ = ["ROLES", "Matched", "Role", "match"]

_JUDGED = tuple(JUDGEMENTS.names)
_ITEM = tuple(ITEMS.names)
_PERSON = {
    "annotator_id": ("annotator", "worker", "worker_id", "voter", "voter_id", "user", "user_id", "judge", "rater")
}
_IDENTITY = {
    "item_id": ("id", "text_id", "comment_id", "review_id", "document_id", "task", "item"),
    "text": ("body", "comment", "argument", "review", "content"),
    "group_id": ("group", "thread_id", "thread", "topic", "topic_id", "question_id", "debate", "debate_id"),
    "author_id": ("author", "speaker", "speaker_id"),
    "reply_to": ("reply-to", "parent", "parent_id"),
    "timestamp": ("date", "time"),
    "label": ("class", "stance", "category_label", "gold", "y"),
}
_SIDES = {
    "item_id": ("left", "left_id", "a", "id_a", "item_a", "model_a", "first"),
    "other_id": ("right", "right_id", "b", "id_b", "item_b", "model_b", "second"),
    "value": ("label", "winner", "vote", "choice", "preference", "y"),
}


@dataclass(frozen=True)
class Role:
    """A kind of table: the columns it needs, those it may have, and their other names."""

    name: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keeps_rest: bool = False  # other columns become meta.*, instead of being left out
    prefix: str = ""  # columns of a wide table start with it


_EXTRA = tuple(
    name for name in _JUDGED if name not in ("kind", "item_id", "other_id", "value", "aspect", "start", "end")
)
VOTES = Role("votes", ("item_id", "other_id", "value"), _EXTRA, {**_SIDES, **_PERSON})
SCORES = Role(
    "scores",
    ("item_id", "aspect", "value"),
    _EXTRA,
    {
        "item_id": _IDENTITY["item_id"],
        "value": ("score", "rank", "rating", "label"),
        "aspect": ("dimension",),
        **_PERSON,
    },
)
SPANS = Role(
    "spans",
    ("item_id", "start", "end"),
    ("value", *_EXTRA),
    {
        "item_id": _IDENTITY["item_id"],
        "start": ("start_offset", "begin"),
        "end": ("end_offset", "stop"),
        "quote": ("text",),
        "value": ("label",),
        **_PERSON,
    },
)
LABELS = Role(
    "labels",
    ("item_id", "value"),
    _EXTRA,
    {"item_id": _IDENTITY["item_id"], "value": ("label", *_IDENTITY["label"]), **_PERSON},
)
LINKED = Role(
    "links",
    ("src_id", "dst_id"),
    tuple(name for name in LINKS.names if name not in ("src_id", "dst_id")),
    {"src_id": ("source", "from", "from_id", "source_id"), "dst_id": ("target", "to", "to_id", "target_id")},
)
JUDGED = Role("judgements", ("kind", "item_id"), tuple(name for name in _JUDGED if name not in ("kind", "item_id")))
TEXTS = Role(
    "items",
    ("item_id", "text"),
    (*_ITEM[2:], "label", "question", "asker_id", "category", "annotator_id"),
    {**_IDENTITY, **_PERSON, "asker_id": ("asker",)},
    keeps_rest=True,
    prefix="score.",
)
COMMENTS = Role("items", ("item_id", "text", "group_id"), TEXTS.optional, TEXTS.synonyms, keeps_rest=True)

# The tables of each kind, the most particular first.
ROLES: dict[str, tuple[Role, ...]] = {
    "pairs": (JUDGED, VOTES, TEXTS),
    "threads": (JUDGED, COMMENTS, LABELS),
    "aspects": (JUDGED, SCORES, TEXTS),
    "links": (JUDGED, LINKED, TEXTS, LABELS),
    "rationales": (JUDGED, SPANS, TEXTS, LABELS),
}


@dataclass(frozen=True)
class Matched:
    """A file and the role it plays."""

    source: Source
    role: Role
    columns: Mapping[str, str]  # our name → the file's name
    rest: tuple[str, ...]  # the file's columns that no name of ours stands for

    @property
    def renamed(self) -> dict[str, str]:
        """Columns that are read under another name: the file's name → ours."""
        return {theirs: ours for ours, theirs in self.columns.items() if theirs != ours}


def match(source: Source, kind: str) -> Matched:
    """Find the role of a file among the tables of a kind, by its columns."""
    known: dict[str, str] = {}
    for name in source.columns:
        other = known.setdefault(_plain(name), name)
        if other != name:
            raise InputError(
                f"columns must differ by more than capitals and spaces; {source.path} has {other!r} and {name!r}. "
                "Rename one of them."
            )
    for role in ROLES[kind]:
        columns, taken = {}, set()
        for ours in (*role.required, *role.optional):
            for candidate in (ours, *role.synonyms.get(ours, ())):
                theirs = known.get(candidate)
                if theirs is not None and theirs not in taken:
                    columns[ours] = theirs
                    taken.add(theirs)
                    break
        if all(name in columns for name in role.required):
            return Matched(source, role, columns, tuple(name for name in source.columns if name not in taken))
    tables = "; or ".join(f"{role.name}: {', '.join(role.required)}" for role in ROLES[kind])
    raise InputError(
        f"a table of {kind} must have the columns of one of its kinds ({tables}); {source.path} has "
        f"{source.named}. Rename its columns."
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_")
