"""Collect: what people answer, checked against what was asked, and appended to the store."""

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from accord.data.project import LEARNT
from accord.errors import InputError
from accord.store import gold, projects, questions
from accord.store import judgements as kept
from accord.store.database import Connection
from accord.store.judgements import Judgement
from accord.store.projects import StoredItem, StoredProject
from accord.store.questions import Question
from accord.store.scores import get_scores
from accord.workflows.collecting.settings import ClosedError, closed_because

__all__ = [
    "ANSWERS",
    "SKIP_REASONS",
    "Answer",
    "NextQuestion",
    "Reopened",
    "given_by",
    "next_question",
    "record",
    "reopen",
    "rows_of",
    "skip_reasons",
    "take_back",
    "why_closed",
]

# What may be answered in a project of each kind; an answer of a label and its spans is named after the spans.
ANSWERS: Mapping[str, tuple[str, ...]] = {kind: (rows[-1], "skip") for kind, rows in LEARNT.items()}
# Why a question could not be decided; what is said of two texts makes no sense of one.
_OF_TWO, _OF_LABELS = ("both bad", "too similar"), ("no label fits", "several labels fit")
_REASONS = {"pairs": _OF_TWO, "aspects": ("nothing to score",)}
_ALWAYS = ("not understood", "other")
SKIP_REASONS = (*_OF_TWO, *_OF_LABELS, "nothing to score", *_ALWAYS)

_MAX_SPANS = 200
_AT_ONCE = 32  # questions that are drawn together while the queue is empty
_SMALL_GROUP = 5_000  # texts that are all read to draw two
_MOST_LISTED = 2_000_000  # pairs that are listed to find one that is not seen
_Drawn = list[dict[str, Any]]  # rows of the queue of questions


@dataclass(frozen=True)
class Answer:
    """What a person answered to one question.

    ``item``, ``other`` and ``shown_left`` are keys of stored texts; ``request_id`` is chosen by the sender and makes
    sending twice harmless.
    """

    request_id: str
    kind: str
    item: int
    other: int | None = None
    value: float | None = None
    label: str | None = None
    labels: Sequence[str] = ()  # where several are taken, the main one first; ``label`` alone otherwise
    scores: Mapping[str, int | None] = field(default_factory=dict)
    spans: Sequence[tuple[int, int, int]] = ()  # (item key, start, end), characters
    shown_left: int | None = None
    response_ms: int | None = None
    skip_reason: str | None = None
    question_id: int | None = None
    replaces: str | None = None  # the request of an earlier answer of the same person, which this one corrects


@dataclass(frozen=True)
class NextQuestion:
    """A question with its texts, in the order in which this person sees them: the first is shown on the left."""

    question_id: int | None
    strategy: str
    propensity: float | None
    model_version: int | None
    texts: tuple[StoredItem, ...]
    asks: str | None = None  # "label" where highlights are not asked for


@dataclass(frozen=True)
class Reopened:
    """An answer that was taken back or is to be changed: its question again, and what was answered."""

    request_id: str
    question: NextQuestion
    given: Mapping[str, Any]


def skip_reasons(kind: str) -> tuple[str, ...]:
    """The reasons from which a person chooses who cannot decide a question of a kind of project."""
    return (*_REASONS.get(kind, _OF_LABELS), *_ALWAYS)


def given_by(rows: Sequence[Any]) -> dict[str, Any]:
    """What the rows of an answer say, as it was sent."""
    first = rows[0]
    given: dict[str, Any] = {"kind": first.kind, "skip_reason": first.skip_reason}
    if first.kind == "pair":
        given |= {"item": first.item, "value": first.value}
    labels = [row.label for row in rows if row.kind == "label"]
    if labels:
        given |= {"label": labels[0], "labels": labels}
    scores = {row.aspect: None if row.value is None else int(row.value) for row in rows if row.kind == "score"}
    if scores:
        given["scores"] = scores
    spans = [(row.item, row.start, row.end, row.quote) for row in rows if row.kind == "span" and row.start is not None]
    given["spans"] = [dict(zip(("item", "start", "end", "quote"), span, strict=True)) for span in spans]
    return given


def why_closed(connection: Connection, project: StoredProject, person_id: int, role: str) -> str | None:
    """Why a person is asked nothing now; ``None`` where questions are asked."""
    n_done = kept.count_of(connection, project.id, person_id) if project.settings.get("quota") else 0
    return closed_because(project, role=role, n_done=n_done)


def record(
    connection: Connection, project: StoredProject, person_id: int, answer: Answer, *, role: str = "judge"
) -> int:
    """Check an answer and append it; returns the number of new rows (0 where it was sent before).

    While the project takes no answers, one to a question that the person was asked before is still taken; others are
    refused by :class:`~accord.workflows.collecting.settings.ClosedError`.
    """
    if not 8 <= len(answer.request_id) <= 64:
        raise InputError(f"a request_id has 8 to 64 characters; this one has {len(answer.request_id)}. Send a UUID.")
    about = {answer.item} if answer.other is None else {answer.item, answer.other}
    said = rows_of(connection, project, answer)
    base: dict[str, Any] = {
        "request_id": answer.request_id,
        "person_id": person_id,
        "response_ms": None if answer.response_ms is None else max(0, min(answer.response_ms, 86_400_000)),
    }
    rows = [Judgement(**{**base, "part": part, **row}) for part, row in enumerate(said)]
    if kept.is_stored(connection, project.id, rows):
        return 0
    before = answer.replaces
    if before is None and answer.other is None:  # one person says one thing about one text
        before = kept.standing_of(connection, project.id, person_id, answer.item)
    if before is not None:
        _check_same_texts(connection, project, before, about)
        undo_id = "re:" + hashlib.sha256(answer.request_id.encode()).hexdigest()[:32]
        kept.undo(connection, project.id, person_id, request_id=undo_id, undoes=before)
    asked = None
    if answer.question_id is not None:
        asked = questions.close(connection, project.id, answer.question_id, person_id, about)
    if asked is None or project.state == "archived":
        reason = why_closed(connection, project, person_id, role)
        if reason is not None:
            raise ClosedError(reason)
    if asked is not None:
        rows = [
            replace(
                row,
                strategy=asked.strategy,
                propensity=asked.propensity,
                model_version=asked.model_version,
                person_propensity=asked.person_propensity if asked.meant_for == person_id else None,
            )
            for row in rows
        ]
    new = kept.append(connection, project.id, rows)
    if asked is not None and asked.strategy not in ("gold", "repeat", "again"):
        _ask_others(connection, project, asked)
    return new


def _ask_others(connection: Connection, project: StoredProject, asked: Question) -> None:
    """Put a question back that fewer people have answered than are wanted; it is the next one of somebody else."""
    overlap = int(project.settings.get("overlap") or 1)
    if overlap > 1 and kept.n_people(connection, project.id, asked.item, asked.other) < overlap:  # it left the queue
        left_out = ("id", "meant_for", "person_propensity")  # the next one is anybody else
        row = {name: value for name, value in vars(asked).items() if name not in left_out}
        questions.append(connection, project.id, [{**row, "strategy": "overlap"}], first=True)


def rows_of(connection: Connection, project: StoredProject, answer: Answer) -> list[dict[str, Any]]:
    """What an answer says, checked, as rows of judgement; one that breaks a rule is refused."""
    allowed = ("label", "skip") if project.settings.get("plain") else ANSWERS[project.kind]
    if project.kind == "rationales" and project.settings.get("by_cost") and "label" not in allowed:
        allowed = ("label", *allowed)  # highlights are asked for where they are worth their time
    if answer.kind not in allowed:
        raise InputError(
            f"a {project.kind} project takes {' or '.join(allowed)}; {answer.kind!r} was sent. Reload the page."
        )
    about = {answer.item} if answer.other is None else {answer.item, answer.other}
    if answer.shown_left is not None and answer.shown_left not in about:
        raise InputError(f"shown_left is one of the texts of the answer; {answer.shown_left} is not.")
    wanted = about | {span[0] for span in answer.spans}
    texts = projects.items_by_key(connection, project.id, wanted)
    if len(texts) != len(wanted):
        raise InputError(
            f"an answer is about texts of its project; text {min(wanted - set(texts))} is not one of them."
        )
    return _ROWS[answer.kind](project, texts, answer)


def _check_same_texts(connection: Connection, project: StoredProject, request_id: str, about: Set[int]) -> None:
    rows = kept.stored_rows(connection, project.id, request_id)
    if not rows or {rows[0].item, rows[0].other} - {None} != about:
        raise InputError("an answer corrects one about the same texts; the earlier one is about others, or not known.")


def take_back(
    connection: Connection, project: StoredProject, person_id: int, *, request_id: str
) -> Reopened | str | None:
    """Undo the person's newest answer; its question comes back with what was answered. ``None`` where there is none.

    A wish that is sent again is answered as before and undoes nothing else. An answer whose texts are gone is undone
    too; then only its request is returned.
    """
    before = kept.stored_rows(connection, project.id, request_id)
    if before:
        if (before[0].kind, before[0].person_id) != ("undo", person_id):
            raise InputError(f"a request_id names one answer; {request_id!r} is taken. Send a new request_id.")
        return _reopened(connection, project, person_id, str(before[0].undoes))
    newest = kept.last_of(connection, project.id, person_id)
    if not newest:
        return None
    undone = str(newest[0].request_id)
    kept.undo(connection, project.id, person_id, request_id=request_id, undoes=undone)
    return _reopened(connection, project, person_id, undone)


def _reopened(connection: Connection, project: StoredProject, person_id: int, request_id: str) -> Reopened | str:
    rows = kept.stored_rows(connection, project.id, request_id)
    first = rows[0]
    if first.item is None:
        return request_id
    row = {
        "item": first.item,
        "other": first.other,
        "strategy": first.strategy or "again",
        "propensity": first.propensity,
        "model_version": first.model_version or 0,
        "asks": _asked_alone(rows),
    }
    held = questions.held(connection, project.id, person_id, first.item, first.other)
    key = questions.hold(connection, project.id, person_id, row, first=True) if held is None else held
    return Reopened(request_id, _shown(connection, project, person_id, Question(key, **row)), given_by(rows))


def _asked_alone(rows: Sequence[Any]) -> str | None:
    """What an answer was asked for alone: a label, where nothing is said of highlights."""
    return "label" if {row.kind for row in rows} == {"label"} else None


def reopen(connection: Connection, project: StoredProject, person_id: int, request_id: str) -> Reopened:
    """An own answer to be changed: it stands until a new one that ``replaces`` it is sent."""
    rows = kept.stored_rows(connection, project.id, request_id)
    if not rows or rows[0].person_id != person_id or rows[0].item is None or rows[0].kind == "undo":
        raise InputError("people change their own answers; this one is not yours, or is not known.")
    asked = Question(0, rows[0].item, rows[0].other, "again", None, 0, _asked_alone(rows))
    question = replace(_shown(connection, project, person_id, asked), question_id=None)
    return Reopened(request_id, question, given_by(rows))


def _pair_rows(project: StoredProject, texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    if answer.other is None or answer.other == answer.item:
        raise InputError("a vote compares two different texts; one was sent. Send item and other.")
    if answer.value not in (0.0, 0.5, 1.0):
        raise InputError(
            f"a vote is 1 (item), 0 (other) or 0.5 (equal); {answer.value!r} was sent. Choose one of the three."
        )
    vote: dict[str, Any] = {
        "kind": "pair",
        "item": answer.item,
        "other": answer.other,
        "value": answer.value,
        "shown_left": answer.shown_left,
    }
    return [vote, *_span_rows(texts, answer)]


def _label_rows(project: StoredProject, texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    given = [{"kind": "label", "item": answer.item, "label": label} for label in _checked_labels(project, answer)]
    return [*given, *_span_rows(texts, answer)]


def _score_rows(project: StoredProject, texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    aspects = list(project.settings.get("aspects", []))
    n_ranks = int(project.settings.get("n_ranks", 5))
    if not answer.scores:
        raise InputError("an answer scores at least one aspect; none was sent. Score one, or skip the text.")
    rows: list[dict[str, Any]] = []
    for aspect, rank in answer.scores.items():
        if aspect not in aspects:
            raise InputError(f"the aspects of this project are {', '.join(aspects)}; {aspect!r} is not among them.")
        if rank is not None and not 1 <= rank <= n_ranks:
            raise InputError(
                f"a score is a whole number from 1 to {n_ranks}; {aspect!r} got {rank}. Choose one of them."
            )
        rows.append(
            {
                "kind": "score",
                "item": answer.item,
                "aspect": aspect,
                "value": rank,
                "status": "done" if rank is not None else "not mentioned",
            }
        )
    return rows


def _rationale_rows(project: StoredProject, texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    given = [{"kind": "label", "item": answer.item, "label": label} for label in _checked_labels(project, answer)]
    # A text that was read and in which nothing was marked differs from a text that nobody has read.
    return [*given, *(_span_rows(texts, answer) or [{"kind": "span", "item": answer.item}])]


def _skip_rows(project: StoredProject, texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    if answer.skip_reason is not None and answer.skip_reason not in SKIP_REASONS:
        raise InputError(f"a reason to skip is one of {', '.join(SKIP_REASONS)}; {answer.skip_reason!r} is not.")
    return [
        {
            "kind": "skip",
            "item": answer.item,
            "other": answer.other,
            "shown_left": answer.shown_left,
            "status": "skipped",
            "skip_reason": answer.skip_reason,
        }
    ]


def _span_rows(texts: Mapping[int, StoredItem], answer: Answer) -> list[dict[str, Any]]:
    if len(answer.spans) > _MAX_SPANS:
        raise InputError(f"an answer has at most {_MAX_SPANS} highlights; {len(answer.spans)} were sent. Remove some.")
    rows: list[dict[str, Any]] = []
    for key, start, end in answer.spans:
        text = texts[key].text
        if key not in (answer.item, answer.other):
            raise InputError(f"a highlight lies in a text of its answer; text {key} is another one.")
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"a highlight lies inside its text, 0 <= start < end <= {len(text)}; [{start}, {end}) was sent. "
                "Mark it again."
            )
        rows.append({"kind": "span", "item": key, "start": start, "end": end, "quote": text[start:end]})
    return rows


def _checked_labels(project: StoredProject, answer: Answer) -> list[str]:
    labels = list(project.settings.get("labels", []))
    given: list[str | None] = [*dict.fromkeys(answer.labels)] or [answer.label]
    for label in given:
        if label is None or label not in labels:
            raise InputError(f"the labels of this project are {', '.join(labels)}; {label!r} is not among them.")
    if len(given) > 1 and not project.settings.get("several"):
        raise InputError(f"a text has one label in this project; {len(given)} were sent. Choose one of them.")
    return [str(label) for label in given]


_ROWS = {
    "pair": _pair_rows,
    "label": _label_rows,
    "score": _score_rows,
    "span": _rationale_rows,
    "skip": _skip_rows,
}


def next_question(
    connection: Connection, project: StoredProject, person_id: int, *, rng: random.Random
) -> NextQuestion | None:
    """The next question for a person: from the queue, or, while the queue is empty, drawn by coverage.

    Returns ``None`` where the person has answered everything there is to ask, or where the project's setting ``stop``
    (``{"top": 3, "sure": 0.95}``) is reached: the best three are settled, and more votes are not needed.
    """
    if project.settings.get("stop") and _is_settled(connection, project.id):
        return None
    asked = _gold_question(connection, project, person_id, rng)
    if asked is not None:
        return _shown(connection, project, person_id, asked)
    overlap = int(project.settings.get("overlap") or 0)
    shared_out = bool(project.settings.get("by_reliability"))
    while leased := questions.lease(connection, project.id, person_id, is_shared_out=shared_out):
        if not overlap or kept.n_people(connection, project.id, leased[0].item, leased[0].other) < overlap:
            return _shown(connection, project, person_id, leased[0])
        # Enough people have answered it meanwhile.
        texts = [key for key in (leased[0].item, leased[0].other) if key is not None]
        questions.close(connection, project.id, leased[0].id, person_id, texts)
    draw = _draw_pairs if project.kind == "pairs" else _least_judged
    drawn = draw(connection, project, person_id, rng)
    if overlap and drawn:
        held = questions.asked_about(connection, project.id)
        drawn = [row for row in drawn if frozenset({row["item"], row["other"]} - {None}) not in held]
    if not drawn:
        return None
    question_id = questions.hold(connection, project.id, person_id, drawn[0])
    questions.append(connection, project.id, drawn[1:])
    return _shown(connection, project, person_id, Question(question_id, **drawn[0]))


def _gold_question(
    connection: Connection, project: StoredProject, person_id: int, rng: random.Random
) -> Question | None:
    """Now and then a question whose answer is known, unless the person holds a question already."""
    share = float(project.settings.get("gold_share") or 0.0)
    if rng.random() >= share or questions.holds_any(connection, project.id, person_id):
        return None
    found = gold.unasked(connection, project.id, person_id)
    if found is None:
        return None
    row: dict[str, Any] = {
        "item": found.item,
        "other": found.other,
        "strategy": "gold",
        "propensity": None,
        "model_version": 0,
    }
    return Question(questions.hold(connection, project.id, person_id, row, first=True), **row)


def _is_settled(connection: Connection, project_id: int) -> bool:
    found = get_scores(connection, project_id)
    return found is not None and bool(found.result.get("summary", {}).get("reached"))


def _shown(connection: Connection, project: StoredProject, person_id: int, question: Question) -> NextQuestion:
    keys = [question.item] if question.other is None else [question.item, question.other]
    texts = projects.items_by_key(connection, project.id, keys)
    order = keys if question.other is None else _sides(keys, person_id)
    return NextQuestion(
        question.id,
        question.strategy,
        question.propensity,
        question.model_version,
        tuple(texts[k] for k in order),
        question.asks if project.settings.get("by_cost") else None,
    )


def _sides(keys: Sequence[int], person_id: int) -> list[int]:
    """The text shown left and the other: random by person and pair, the same whenever the pair is shown again."""
    low, high = sorted(keys)
    return [low, high] if random.Random(f"{person_id}/{low}/{high}").random() < 0.5 else [high, low]


def _draw_pairs(connection: Connection, project: StoredProject, person_id: int, rng: random.Random) -> _Drawn:
    """Uniformly random pairs, each inside one group, the first of them one that the person has not seen.

    The others are kept for the next people who ask, so that one search serves many.
    """
    groups = projects.groups_of(connection, project.id)
    n_texts = sum(size for _, size in groups)
    groups = [(name, size) for name, size in groups if size > 1]
    weights = [size * (size - 1) // 2 for _, size in groups]
    n_pairs = sum(weights)
    seen = kept.pairs_of(connection, project.id, person_id)
    if len(seen) >= n_pairs:
        return []
    wanted = Counter(rng.choices(range(len(groups)), weights, k=_AT_ONCE))
    pairs: list[list[int]] = []
    for place, n in wanted.items():
        pairs += _random_pairs(connection, project.id, *groups[place], n_texts, n, rng)
    rng.shuffle(pairs)
    new = next((place for place, pair in enumerate(pairs) if frozenset(pair) not in seen), None)
    if new is None and n_pairs > _MOST_LISTED:  # whoever has seen nearly all of so many has answered enough
        return []
    if new is None:  # nearly everything is seen: look through the rest
        rest = (projects.keys_of_group(connection, project.id, name) for name, _ in groups)
        pairs = [list(rng.choice([p for pool in rest for p in combinations(pool, 2) if frozenset(p) not in seen]))]
        new = 0
    first = pairs.pop(new)
    different = {frozenset(pair): pair for pair in pairs if frozenset(pair) != frozenset(first)}
    return [_asked(pair, "random", 1.0 / n_pairs) for pair in (first, *different.values())]


def _random_pairs(
    connection: Connection, project_id: int, group: str | None, size: int, n_texts: int, n: int, rng: random.Random
) -> list[list[int]]:
    """Pairs of different texts of a group, uniformly at random; the texts of a large group are not all read."""
    if size <= _SMALL_GROUP:
        pool = projects.keys_of_group(connection, project_id, group)
        return [rng.sample(pool, 2) for _ in range(n)]
    pairs: list[list[int]] = []
    while len(pairs) < n:  # places of the whole project, of which those in the group are kept
        places = [rng.randrange(n_texts) for _ in range(500)]
        found = projects.keys_of_places(connection, project_id, places)
        keys = [key for key, where in found if where == group]
        rng.shuffle(keys)
        pairs += [list(pair) for pair in zip(keys[::2], keys[1::2], strict=False)]
    return pairs[:n]


def _asked(keys: Sequence[int], strategy: str, propensity: float | None) -> dict[str, Any]:
    """A question as a row of the queue, chosen without a model."""
    return {
        "item": keys[0],
        "other": keys[1] if len(keys) == 2 else None,
        "strategy": strategy,
        "propensity": propensity,
        "model_version": 0,
    }


def _least_judged(connection: Connection, project: StoredProject, person_id: int, rng: random.Random) -> _Drawn:
    """The texts with the fewest judgements that the person has not judged."""
    overlap = project.settings.get("overlap")
    keys = questions.least_judged(connection, project.id, person_id, limit=_AT_ONCE, overlap=overlap)
    return [_asked([key], "coverage", None) for key in keys]
