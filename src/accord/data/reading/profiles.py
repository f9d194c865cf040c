"""What the columns of a table look like, by their first rows: numbers, few different values, long texts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from accord.data.reading.sources import Source

__all__ = [
    "NOTHING_WORDS",
    "NO_SCORE_WORDS",
    "Profile",
    "is_total",
    "percent_of",
    "plain_name",
    "profile_of",
    "profiles_of",
    "score_of",
]

_LOOKED_AT = 2_000  # rows
_FEW = 12  # different values that labels may have
_LONG_LABEL = 40  # characters
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\.?(?:[ T,].{0,30})?")
_PERCENT = re.compile(r"\A(\d+(?:[.,]\d+)?)\s?%")
# 4/5, 4 out of 5, 4 stars, 4 - good, 4 (good)
_SCORED = re.compile(
    r"\A(\d+(?:[.,]\d+)?)\s*(?:/\s*\d+|out of \d+|von \d+|stars?|sterne?|points?|[-–—:.)(]\s*\D.*)", re.IGNORECASE
)
# Answers in words, worst first; a column is such a scale if it has three of the words or more, the last or first too.
_SCALES = [
    [level.split("|") for level in scale.split(" < ")]
    for scale in (
        "strongly disagree|totally disagree|completely disagree < disagree < neither agree nor disagree|neutral|neither"
        "|undecided|no opinion < agree < strongly agree|totally agree|completely agree",
        "strongly disagree < disagree < somewhat disagree|slightly disagree < neither agree nor disagree|neutral"
        "|neither < somewhat agree|slightly agree < agree < strongly agree",
        "very dissatisfied < dissatisfied < neither satisfied nor dissatisfied|neutral|neither < satisfied"
        " < very satisfied",
        "very unlikely < unlikely < neither likely nor unlikely|neutral|neither < likely < very likely",
        "never < rarely|seldom < sometimes|occasionally < often|frequently < always",
        "very poor|terrible < poor < fair|average|acceptable|ok < good < very good|excellent",
        "very bad < bad < neutral|average|ok < good < very good",
        "stimme gar nicht zu|stimme überhaupt nicht zu < stimme nicht zu|stimme eher nicht zu < teils/teils"
        "|teils, teils|weder noch|neutral < stimme zu|stimme eher zu"
        " < stimme voll zu|stimme voll und ganz zu|stimme völlig zu",
    )
]
_UNSPACED = re.compile(  # signs of scripts without spaces between words
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uff01-\uff9f\U00020000-\U0003ffff]"
)
# What stands in a cell where nothing does: as R, pandas, databases and spreadsheets write it.
NOTHING_WORDS = frozenset(("NA", "<NA>", "#N/A", "#NA", "NaN", "nan", "-nan", "NULL", "null"))
# What people write where they give no score; as a label each of these may mean something.
NO_SCORE_WORDS = frozenset(("na", "N/A", "n/a", "n.a.", "k.A.", "k. A.", "None", "none", "-", "–", "—", ".", "?"))
_TOTAL = re.compile(
    r"(grand |sub)?totals?|sums?|averages?|avg\.?|means?|medians?|gesamt(summe|ergebnis)?|summe|durchschnitt|mittelwert"
    r"|mittel|moyenne|somme|total général|promedio|media|suma|totale|somma",
    re.IGNORECASE,
)


def is_total(cells: Sequence[str | None]) -> bool:
    """Whether a row sums up those above it: one cell says so, and others are empty.

    Examples
    --------
    >>> is_total(["Total:", None, "31"]), is_total(["7", "Total chaos, but fun.", "4"])
    (True, False)
    """
    said = any(cell is not None and _TOTAL.fullmatch(cell.strip().rstrip(":")) for cell in cells)
    return said and any(cell is None for cell in cells)


def _scale_of(values: Iterable[str]) -> dict[str, float]:
    """What answers in words are as scores, if all of them belong to one scale; else nothing.

    Examples
    --------
    >>> _scale_of(["Agree", "Neutral", "Strongly agree"])
    {'agree': 4.0, 'neutral': 3.0, 'strongly agree': 5.0}
    >>> _scale_of(["good", "bad"])
    {}
    """
    words = [" ".join(value.lower().split()) for value in values]
    for scale in _SCALES:
        ranks = {word: float(rank) for rank, level in enumerate(scale, start=1) for word in level}
        if len(set(words)) >= 3 and all(word in ranks for word in words):
            found = {word: ranks[word] for word in words}
            if {1.0, float(len(scale))} & set(found.values()):
                return found
    return {}


def score_of(cell: str, words: Mapping[str, float] | None = None) -> float | None:
    """The number that a cell stands for as a score; ``None`` if it stands for none.

    ``words`` are those of the scale of the cell's column.

    Examples
    --------
    >>> [score_of(cell) for cell in ("4", "4,5", "4 - good", "3/5", "★★★☆☆", "good")]
    [4.0, 4.5, 4.0, 3.0, 3.0, None]
    """
    cell = cell.strip()
    stars = cell.replace("☆", "")
    if stars and set(stars) <= {"★", "⭐", "\ufe0f", "*"}:
        return float(sum(sign in "★⭐*" for sign in stars))
    found = _NUMBER.fullmatch(cell) or _SCORED.fullmatch(cell)
    if found is None:
        return (words or {}).get(" ".join(cell.lower().split()))
    return float((found[1] if found.re is _SCORED else cell).replace(",", "."))


def percent_of(cell: str) -> float | None:
    """The share that a cell such as ``60 %`` says, from 0 to 1; ``None`` if it is none.

    Examples
    --------
    >>> percent_of("60 %"), percent_of("12,5%"), percent_of("60"), percent_of("250 %")
    (0.6, 0.125, None, None)
    """
    found = _PERCENT.fullmatch(cell.strip())
    share = None if found is None else float(found[1].replace(",", ".")) / 100.0
    return share if share is not None and share <= 1.0 else None


@dataclass(frozen=True)
class Profile:
    """What the first rows of a column hold."""

    n: int  # cells that are not empty
    n_rows: int
    values: frozenset[str]  # the different values, of short cells
    n_distinct: int
    length: float  # characters of a cell, on average
    words: float  # words of a cell, on average
    scores: tuple[float, ...]  # the different scores, if every cell is one, else none
    samples: tuple[str, ...]
    first: tuple[str | None, ...] = ()  # the cells themselves
    scale: Mapping[str, float] = field(default_factory=dict)  # of a scale whose answers are words
    is_percent: bool = False  # whether every cell is a percentage
    is_date: bool = False  # whether every cell is a date

    @property
    def is_text(self) -> bool:
        """Whether people would read it."""
        unspaced = self.length < 3.0 * self.words
        return (self.length >= 20 or unspaced) and self.words >= 3 and self.n_distinct > 1

    @property
    def is_score(self) -> bool:
        """Whether it holds whole numbers of a small scale that begins at 1."""
        whole = all(score == int(score) for score in self.scores)
        return 2 <= len(self.scores) <= 11 and whole and self.scores[0] >= 1 and self.scores[-1] <= 10

    @property
    def is_from_zero(self) -> bool:
        """Whether it holds whole numbers of a small scale that begins at 0."""
        whole = all(score == int(score) for score in self.scores)
        return 3 <= len(self.scores) <= 11 and whole and self.scores[0] == 0 and self.scores[-1] <= 10

    @property
    def is_half_score(self) -> bool:
        """Whether it holds a small scale with half steps, such as 3.5 stars."""
        halves = {2.0 * score % 2.0 for score in self.scores}
        return (
            1.0 in halves
            and halves <= {0.0, 1.0}
            and len(self.scores) <= 19
            and self.scores[0] >= 1
            and self.scores[-1] <= 10
        )

    @property
    def has_decimals(self) -> bool:
        """Whether its numbers are written with decimals, such as 4.0."""
        return any("." in value or "," in value for value in self.values)

    @property
    def is_unique(self) -> bool:
        """Whether each row has a value of its own."""
        return self.n == self.n_rows == self.n_distinct

    @property
    def is_label(self) -> bool:
        """Whether it holds a few different short values, each of them for several rows."""
        few = 2 <= self.n_distinct <= min(_FEW, self.n // 2)
        return few and self.length <= _LONG_LABEL and not self.scores and not (self.is_percent or self.is_date)

    @property
    def is_switch(self) -> bool:
        """Whether it holds 0 and 1 alone, which stand for no and yes."""
        return self.scores == (0.0, 1.0) and self.n >= 4


def profiles_of(source: Source) -> dict[str, Profile]:
    """A profile of each column."""
    cells: dict[str, list[str | None]] = {name: [] for name in source.columns}
    for block in source.blocks(source.columns):
        for name in source.columns:
            cells[name] += block.column(name).slice(0, _LOOKED_AT).to_pylist()
        if len(next(iter(cells.values()), [])) >= _LOOKED_AT:
            break
    rows = [row for row in zip(*cells.values(), strict=True) if any(cell is not None for cell in row)]
    kept = [row for row in rows[:_LOOKED_AT] if not is_total(row)]
    return {name: profile_of(row[place] for row in kept) for place, name in enumerate(cells)}


def _n_words(cell: str) -> int:
    """How many words a cell has; where none stand between words, two signs count as one.

    Examples
    --------
    >>> _n_words("A fine day."), _n_words("很好吃，下次还来。")
    (3, 5)
    """
    return max(len(cell.split()), (len(_UNSPACED.findall(cell)) + 1) // 2)


def profile_of(cells: Iterable[str | None]) -> Profile:
    """A profile of some cells."""
    column = [None if cell is not None and cell.strip() in NOTHING_WORDS else cell for cell in cells]
    given = [cell for cell in column if cell is not None and cell.strip()]
    distinct = dict.fromkeys(given)
    words = _scale_of(distinct) if len(distinct) <= _FEW else {}
    scored = [cell for cell in distinct if cell.strip() not in NO_SCORE_WORDS]
    scores = [score_of(cell, words) for cell in scored] if len(distinct) <= 50 * _FEW else [None]
    known = sorted({score for score in scores if score is not None}) if None not in scores else []
    n = max(len(given), 1)
    return Profile(
        sum(cell is not None for cell in column),
        len(column),
        frozenset(cell.strip() for cell in distinct if len(cell) <= _LONG_LABEL),
        len(distinct),
        sum(map(len, given)) / n,
        sum(map(_n_words, given)) / n,
        tuple(known),
        tuple(" ".join(cell.split())[:40] for cell in list(distinct)[:3]),
        tuple(column),
        words,
        len(distinct) > 1 and all(percent_of(cell) is not None for cell in distinct),
        bool(distinct) and all(_DATE.fullmatch(cell.strip()) for cell in distinct),
    )


def plain_name(name: str) -> str:
    """A column's name in small letters, without what tools put before it.

    Examples
    --------
    >>> [plain_name(name) for name in ("Parent Id", "ParentId", "Input.text", "Answer.winner")]
    ['parent_id', 'parent_id', 'text', 'winner']
    >>> plain_name("Lfd. Nr.")
    'lfd_nr'
    """
    name = re.sub(r"^(input|answer|assignment)[.:]", "", name.strip().removeprefix("\ufeff"), flags=re.IGNORECASE)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[\s./]+", "_", name.strip().rstrip(".").lower())
