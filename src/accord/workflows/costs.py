"""How many seconds a question takes: as people took them, or as somebody says."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from accord.data.project import Project
from accord.errors import InputError, did_you_mean
from accord.typing import FloatArray, IntArray

__all__ = ["QUESTIONS", "Cost", "costs_of", "parse_costs"]

# What can be asked in a project of each kind, what is asked by default first: a highlight is a label with the words
# behind it; a score is that of one aspect, scores those of all.
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "pairs": ("vote",),
    "threads": ("label",),
    "aspects": ("scores", "score"),
    "links": ("label",),
    "rationales": ("label", "highlight"),
}
_DEFAULTS = {"vote": 20.0, "label": 15.0, "score": 10.0, "scores": 30.0, "highlight": 30.0}
_WORDS = {
    "vote": "A vote",
    "label": "A label",
    "highlight": "A label with its highlights",
    "score": "The score of one aspect",
    "scores": "Scoring all aspects",
}
_BEFORE = 5.0  # answers that the default counts as
_PAUSE, _SLIP = 600.0, 0.3  # seconds above which somebody paused, and below which nobody has read anything
_LENGTH_BEFORE = 50.0  # answers that count against any effect of the length
_NEWEST = 20_000  # rows of judgements that are looked at
_ANSWER = ("annotator_id", "item_id", "other_id", "created_at")  # the same in all rows of one answer
_UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0}
_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(ms|s|min|m|)")


@dataclass(frozen=True)
class Cost:
    """The seconds of one question.

    Attributes
    ----------
    question : str
        vote, label, highlight, score or scores.
    seconds : float
        Of a text of usual length.
    source : str
        ``given``, ``measured`` or ``default``.
    n : int
        How many answers were timed.
    slope : float
        By which power the seconds grow with the length of what is read; 0 where nothing is known of it.
    usual : float
        The length, in characters, at which it takes ``seconds``.
    """

    question: str
    seconds: float
    source: str
    n: int = 0
    slope: float = 0.0
    usual: float = 1.0

    def of(self, lengths: Sequence[int] | IntArray) -> FloatArray:
        """Seconds of questions about texts of so many characters."""
        size = np.maximum(np.asarray(lengths, dtype=float), 1.0)
        return self.seconds * (size / self.usual) ** self.slope

    @property
    def sentence(self) -> str:
        """Where the seconds come from, in words."""
        told = {
            "given": "as given",
            "measured": f"the median of {self.n:,} answers, drawn towards a default of {_DEFAULTS[self.question]:g} s",
            "default": "a default: no answer was timed",
        }
        return f"{_WORDS[self.question]} takes about {self.seconds:.3g} s ({told[self.source]})."


def parse_costs(text: str, kind: str) -> dict[str, float]:
    """Seconds by question from ``highlight=20s,label=5s``."""
    found: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in QUESTIONS[kind]:
            raise InputError(
                f"a question of {kind} is {' or '.join(QUESTIONS[kind])}; got {name!r} in --cost."
                f"{did_you_mean(name, QUESTIONS[kind])}"
            )
        match = _TIME.fullmatch(value)
        seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
        if not 0.0 < seconds <= 86_400.0:
            raise InputError(
                f"a cost is a time above 0 and up to a day, as in {name}=20s; got {value!r}. "
                "Write s, ms or min behind it."
            )
        if name in found:
            raise InputError(f"each question has one cost; {name!r} is given twice in --cost. Drop one of them.")
        found[name] = seconds
    if not found:
        raise InputError(f"--cost names questions and their times, as in {QUESTIONS[kind][0]}=20s; got {text!r}.")
    return found


def costs_of(project: Project, given: Mapping[str, float] | None = None) -> dict[str, Cost]:
    """The cost of each question that can be asked in a project.

    Measured ones are the median of the answers' times, pauses left out, drawn towards a default that counts as five
    answers; people read long texts longer, and how much is learnt from their answers too.
    """
    timed = _timed(project)
    found = {}
    for question in QUESTIONS[project.kind]:
        own = timed[timed["question"] == question]
        base, n = _DEFAULTS[question], len(own)
        cost = Cost(question, base, "default")
        if n:
            middle = float(np.log(own["seconds"]).median())
            usual = float(np.exp(np.log(own["length"]).mean()))
            seconds = float(np.exp((n * middle + _BEFORE * np.log(base)) / (n + _BEFORE)))
            cost = Cost(question, seconds, "measured", n, _slope(own), usual)
        if given and question in given:
            cost = replace(cost, seconds=float(given[question]), source="given", slope=0.0)
        found[question] = cost
    return found


def _slope(own: pd.DataFrame) -> float:
    """By which power times grow with lengths, drawn towards 0; from 0 to 1."""
    x, y = np.log(own["length"].to_numpy(float)), np.log(own["seconds"].to_numpy(float))
    x = x - x.mean()
    if x @ x <= 1e-9:
        return 0.0
    y = np.clip(y - np.median(y), -1.5, 1.5)  # short pauses
    return float(np.clip(x @ y / (x @ x), 0.0, 1.0) * len(x) / (len(x) + _LENGTH_BEFORE))


def _timed(project: Project) -> pd.DataFrame:
    """``question, seconds, length`` of each answer whose time is known; the rows of one answer count once."""
    table = project.judgement_table
    timed = pc.and_(
        pc.is_valid(table.column("response_ms")),
        pc.fill_null(pc.equal(pc.cast(table.column("status"), pa.string()), "done"), True),
    )
    table = table.filter(timed).select([*_ANSWER, "kind", "response_ms"])
    frame = table.slice(max(0, table.num_rows - _NEWEST)).to_pandas()
    frame = frame[~frame["annotator_id"].isin(set(project.judges()["annotator_id"]))]  # programs do not read
    if frame.empty:
        return pd.DataFrame({"question": [], "seconds": [], "length": []})
    own = pd.DataFrame({name: frame[name].astype(object).fillna("").astype(str) for name in _ANSWER})
    own["seconds"] = frame["response_ms"].astype(float) / 1000.0
    own["n_spans"], own["n_scores"] = frame["kind"] == "span", frame["kind"] == "score"
    answers = own.groupby(list(_ANSWER), sort=False).agg({"seconds": "max", "n_spans": "sum", "n_scores": "sum"})
    answers = answers.reset_index()
    usual, other = QUESTIONS[project.kind][0], QUESTIONS[project.kind][-1]
    is_other = answers["n_spans"] > 0 if project.kind == "rationales" else answers["n_scores"] == 1
    answers["question"] = np.where(is_other, other, usual)
    wanted = pa.array(np.unique(answers[["item_id", "other_id"]].to_numpy()), pa.string())
    items = project.item_table.filter(pc.is_in(project.item_table.column("item_id"), wanted))
    sizes = dict(
        zip(items.column("item_id").to_pylist(), pc.utf8_length(items.column("text")).to_pylist(), strict=True)
    )
    both = answers["item_id"].map(sizes).fillna(0) + answers["other_id"].map(sizes).fillna(0)
    answers["length"] = np.maximum(both, 1.0)
    return answers[answers["seconds"].between(_SLIP, _PAUSE)]
