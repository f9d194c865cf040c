"""Wide tables as long ones: a column a person, an aspect, a comparison, or a place in a ranking."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accord.data.reading.names import IDENTITY, NO_JUDGEMENT, NO_SCORE, PERSON
from accord.data.reading.profiles import Profile, plain_name, profiles_of
from accord.data.reading.rankings import LONGEST_RANKING, comparisons_of
from accord.data.reading.sources import Source
from accord.data.reading.votes import answer_of

__all__ = ["Reshaped", "reshaped"]

_PEOPLE = re.compile(
    r"(annotator|annotation|ann|rater|coder|judge|worker|evaluator|expert|labell?er|codierer|reviewer|person|juror)"
    r"[ _-]{0,2}[^\W_]{1,30}",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:(?:rank|place|choice|platz|rang|wahl|preference|position)[ _]?(?P<after>\d{1,2})"
    r"|(?P<before>\d{1,2})(?:st|nd|rd|th|\.)?(?:[ _](?:rank|place|choice|platz|rang|wahl|preference))"
    r"|(?P<alone>\d{1,2})(?:st|nd|rd|th|\.))",
    re.IGNORECASE,
)
_BEST = re.compile(r"(best|most|top)([ _]?(item|text|option|choice|id|answer))?", re.IGNORECASE)
_WORST = re.compile(r"(worst|least|bottom)([ _]?(item|text|option|choice|id|answer))?", re.IGNORECASE)
_NUMBERED_ITEM = re.compile(
    r"(?P<stem>(item|text|option|choice|answer|statement|word|term)[ _]?)(?P<place>\d{1,2}|[A-Ha-h])", re.IGNORECASE
)
_WON = re.compile(r"(?:winner|win|won|preferred|chosen)_(?:is_)?(?:model_|response_|answer_|text_)?(a|b|1|2|tie|draw)")
_BETWEEN = re.compile(r"(?<=\s)(?:or|vs\.?|versus|oder|ou)\s|/", re.IGNORECASE)
_MOST_LABELS = 12
_MOST_RANKED = 200

Cells = dict[str, str | None]
Row = Callable[[Cells], Iterator[list[str | None]]]


@dataclass(frozen=True)
class Reshaped:
    """How a wide table becomes a long one: the new columns, the rows of each row, and how that is said."""

    columns: tuple[str, ...]
    rows: Row
    note: str

    def write(self, source: Source, out: Path) -> None:
        """Write the long table."""
        with out.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(self.columns)
            for block in source.blocks(source.columns):
                for cells in block.to_pylist():
                    if any(cell is not None for cell in cells.values()):
                        table.writerows([cell or "" for cell in row] for row in self.rows(cells))


def reshaped(source: Source, kind: str | None) -> Reshaped | None:
    """How a table is read that has a column a person, a comparison or a place in a ranking; ``None`` if it has none."""
    profiles = profiles_of(source)
    if kind in (None, "pairs"):
        found = (
            _comparisons(source.columns, profiles)
            or _rankings(source.columns, profiles)
            or _best_and_worst(source.columns, profiles)
            or _one_hot(source.columns, profiles)
        )
        if found is not None:
            return found
    if kind in (None, "aspects"):
        found = _aspects(source.columns, profiles)
        if found is not None:
            return found
    return _people(source.columns, profiles) if kind != "pairs" else None


def _listed(names: Sequence[str]) -> str:
    """Some names for a sentence: all if they are few."""
    shown = names if len(names) <= 4 else [*names[:2], "…", names[-1]]
    return ", ".join(" ".join(name.split()) for name in shown)


# -- a column a person -------------------------------------------------------------------------------------------


def _people(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """Labels or scores of one text by several people, each with a column of their own."""
    named: dict[str, list[str]] = {}
    for name in columns:
        found = _PEOPLE.fullmatch(name.strip())
        if found and profiles[name].n and not NO_JUDGEMENT.search(plain_name(name)):
            named.setdefault(found[1].lower(), []).append(name)
    people = max(named.values(), key=len, default=[])
    rest = [name for name in columns if name not in people]
    known = {plain_name(name) for name in rest}
    if len(people) < 2 or known & {"label", "score", "annotator", *IDENTITY["label"]}:
        return None
    about = known & {"item_id", "text", *IDENTITY["item_id"], *IDENTITY["text"]}
    if not about and not any(profiles[name].is_text for name in rest):
        return None
    scored = all(profiles[name].scores for name in people)
    said = {value for name in people for value in profiles[name].values}
    short = all(profiles[name].length <= 40 for name in people)
    shared = sum(len(profiles[name].values) for name in people) > len(said)
    if not (short and shared and 2 <= len(said) <= _MOST_LABELS):
        return None

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        given = [name for name in people if cells[name] is not None]
        for name in given:
            yield [*(cells[one] for one in rest), cells[name], name]
        if not given:
            yield [*(cells[one] for one in rest), None, None]

    what = "score" if scored else "label"
    note = f"the columns {_listed(people)} hold the {what}s of {len(people)} people; say otherwise with --map"
    return Reshaped((*rest, what, "annotator"), rows, note)


# -- a column an aspect ------------------------------------------------------------------------------------------


def _aspects(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """Scores by several people of texts that stand in another table: an id, who scored, and a column an aspect."""
    known = {plain_name(name): name for name in columns}
    about = [known[name] for name in ("item_id", *IDENTITY["item_id"]) if name in known]
    who = [known[name] for name in ("annotator_id", *PERSON["annotator_id"]) if name in known]
    told = {"text", "label", "aspect", "score", "value", "other_id", *IDENTITY["text"], *IDENTITY["label"]}
    if not about or not who or known.keys() & told or any(profiles[name].is_text for name in columns):
        return None
    scored = [
        name
        for plain, name in known.items()
        if name not in (about[0], who[0])
        and profiles[name].is_score
        and not (NO_JUDGEMENT.search(plain) or NO_SCORE.search(plain))
    ]
    if not scored:
        return None
    rest = [name for name in columns if name not in scored]

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        for name in scored:
            if cells[name] is not None:
                yield [*(cells[one] for one in rest), name, cells[name]]

    one = len(scored) == 1
    note = f"the column{'' if one else 's'} {_listed(scored)} hold{'s' if one else ''} scores, each of one aspect"
    return Reshaped((*rest, "aspect", "score"), rows, f"{note}; say otherwise with --map")


# -- a column a comparison ---------------------------------------------------------------------------------------


def _sides(name: str, profile: Profile) -> tuple[str, str] | None:
    """The two texts that a column compares: its name has both, and every answer is one of them or undecided."""
    said = {value for value in profile.values if answer_of(value) != "0.5"}
    if not 1 <= len(said) <= 2 or profile.n == 0:
        return None
    if len(said) == 2:
        first, second = sorted(said, key=lambda value: name.lower().find(value.lower()))
        places = [name.lower().find(value.lower()) for value in (first, second)]
        apart = places[0] >= 0 and places[1] >= places[0] + len(first)
        if apart:
            return first, second
    asked = name.strip().rstrip("?] ").rpartition("[")[2].rpartition(": ")[2]
    parts = [part.strip(" \t\n?\"'“”„") for part in _BETWEEN.split(asked)]
    if len(parts) != 2 or not all(parts) or parts[0].lower() == parts[1].lower():
        return None
    if not all(value.lower() in (parts[0].lower(), parts[1].lower()) for value in said):
        return None
    return parts[0], parts[1]


def _comparisons(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """The answers of a form that asks in each column which of two texts is better."""
    sides = {name: found for name in columns if (found := _sides(name, profiles[name])) is not None}
    if len(sides) < 2:
        return None
    rest = [name for name in columns if name not in sides]

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        for name, (left, right) in sides.items():
            answer = cells[name]
            if answer is not None and answer.strip():
                said = answer.strip().lower()
                value = "1" if said == left.lower() else "0" if said == right.lower() else answer_of(said) or answer
                yield [left, right, value, *(cells[one] for one in rest)]

    note = f"each of the columns {_listed(list(sides))} compares the two texts in its name; say otherwise with --map"
    return Reshaped(("left", "right", "value", *rest), rows, note)


# -- a column a place --------------------------------------------------------------------------------------------


def _rankings(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """Rankings of several texts, with a column for the best, one for the second, and so on."""
    found = {name: _PLACE.fullmatch(name.strip()) for name in columns}
    places = {name: int(next(filter(None, place.groups()))) for name, place in found.items() if place is not None}
    order = sorted(places, key=lambda name: places[name])
    if len(order) < 2 or sorted(places.values()) != list(range(1, len(order) + 1)) or len(order) > LONGEST_RANKING:
        return None
    said = {cell.strip() for name in order for cell in profiles[name].first if cell}
    shared = sum(profiles[name].n_distinct for name in order) > len(said)
    if any(profiles[name].scores for name in order) or not shared or not 2 <= len(said) <= _MOST_RANKED:
        return None
    rest = [name for name in columns if name not in order]

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        ranked = dict.fromkeys(cell.strip() for name in order if (cell := cells[name]) is not None and cell.strip())
        for better, worse, value in comparisons_of([[text] for text in ranked]):
            yield [better, worse, value, *(cells[one] for one in rest)]

    note = (
        f"the columns {_listed(order)} rank texts, the best first; a ranking is read as the comparisons it implies; "
        "say otherwise with --map"
    )
    return Reshaped(("left", "right", "value", *rest), rows, note)


# -- best and worst ----------------------------------------------------------------------------------------------


def _best_and_worst(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """Answers of best-worst scaling: the items of each question, which is the best, and which the worst."""
    best, worst = ([name for name in columns if pattern.fullmatch(name.strip())] for pattern in (_BEST, _WORST))
    found = {name: _NUMBERED_ITEM.fullmatch(name.strip()) for name in columns}
    items = [name for name, numbered in found.items() if numbered is not None and profiles[name].n]
    if len(best) != 1 or len(worst) != 1 or not 3 <= len(items) <= LONGEST_RANKING:
        return None
    rest = [name for name in columns if name not in (*items, *best, *worst)]
    places = {(numbered["place"]).lower(): name for name, numbered in found.items() if numbered is not None}

    def chosen(cells: Cells, name: str) -> str | None:
        """The item that an answer names: by its words, by its column, or by its number."""
        said = (cells[name] or "").strip()
        shown = [(cells[item] or "").strip() for item in items]
        by_name = {item.strip().lower(): item for item in items} | places
        column = by_name.get(said.lower())
        return said if said in shown else (cells[column] or "").strip() if column is not None else None

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        shown = list(
            dict.fromkeys(cell.strip() for item in items if (cell := cells[item]) is not None and cell.strip())
        )
        first, last = chosen(cells, best[0]), chosen(cells, worst[0])
        kept = [cells[one] for one in rest]
        if not first or not last or first == last:  # half an answer, which is refused with its row
            yield [first or last, None, "1", *kept]
            return
        pairs = [(first, other) for other in shown if other != first]
        pairs += [(other, last) for other in shown if other not in (first, last)]
        for better, other in pairs:
            yield [better, other, "1", *kept]

    for cells in ({name: profiles[name].first[row] for name in columns} for row in range(len(profiles[best[0]].first))):
        if cells[best[0]] is not None and chosen(cells, best[0]) is None:
            return None
    note = (
        f"{best[0]} and {worst[0]} choose among {_listed(items)}; each answer is read as the comparisons it implies: "
        "the best is better than all, and all are better than the worst"
    )
    return Reshaped(("left", "right", "value", *rest), rows, note)


# -- a column an answer ------------------------------------------------------------------------------------------


def _one_hot(columns: Sequence[str], profiles: Mapping[str, Profile]) -> Reshaped | None:
    """Votes with a column for each answer, 1 where it was given: winner_model_a, winner_model_b, winner_tie."""
    answers = {found[1]: name for name in columns if (found := _WON.fullmatch(plain_name(name)))}
    sides = next((two for two in (("a", "b"), ("1", "2")) if set(two) <= answers.keys()), None)
    if sides is None or not all(set(profiles[name].values) <= _GIVEN.keys() for name in answers.values()):
        return None
    codes = {answers[sides[0]]: "1", answers[sides[1]]: "0"}
    codes |= {answers[tie]: "0.5" for tie in ("tie", "draw") if tie in answers}
    rest = [name for name in columns if name not in codes]

    def rows(cells: Cells) -> Iterator[list[str | None]]:
        given = [code for name, code in codes.items() if _GIVEN.get((cells[name] or "").strip(), False)]
        yield [given[0] if len(given) == 1 else None, *(cells[one] for one in rest)]

    note = f"the columns {_listed(list(codes))} say which answer was given; say otherwise with --map"
    return Reshaped(("winner", *rest), rows, note)


_GIVEN = {"1": True, "1.0": True, "true": True, "True": True, "0": False, "0.0": False, "false": False, "False": False}
