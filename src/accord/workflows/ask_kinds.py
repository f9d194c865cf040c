"""Which kind of question to ask about a text: a label or a highlight, one aspect or all of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.data.project import Project
from accord.data.task import Task
from accord.fitting.asking import least_certain
from accord.fitting.asking_kinds import Options, marked_words, pick_options, stressed, word_rates
from accord.texts.similar import weighted_words
from accord.typing import BoolArray, IntArray, ObjectArray
from accord.workflows.costs import Cost
from accord.workflows.looked_at import looked_at, part_of

__all__ = ["Asked", "choose_aspects", "highlighted", "label_or_highlight"]

_GIVEN, _TARGETS, _AGAIN = 300, 300, 100  # texts that are answered, to be known, and labelled without highlights
_PRECISION = 0.2  # of a label that was given, as in accord.fitting.asking
_MARKED = 2.0  # how much surer highlighted words are of their class than a text is of its own


class Asked(NamedTuple):
    """A question that is worth asking: the text, the kind of question, what it tells and how long it takes.

    ``rival`` is what the other question about the text would tell by the second, not a number where there is none.
    """

    item_id: str
    question: str
    gain: float
    seconds: float
    rival: float

    @property
    def why(self) -> str:
        """Why this question, in words."""
        if np.isnan(self.rival):
            return "its answer tells most about the others by the second"
        other = "highlight" if self.question == "label" else "label"
        times = self.gain / self.seconds / max(self.rival, 1e-12)
        return f"tells most about the others by the second, {min(times, 99.0):.2g} times what a {other} would"


def highlighted(project: Project) -> BoolArray:
    """Which texts somebody has highlighted, or read without marking anything, in the order of the project's texts."""
    return np.asarray(project.rationales().annotated, dtype=bool)


def label_or_highlight(
    task: Task,
    model: Any,
    project: Project,
    ids: ObjectArray,
    texts: ObjectArray,
    given: BoolArray,
    open_: BoolArray,
    n: int,
    costs: Mapping[str, Cost],
    questions: Sequence[str] = ("label", "highlight"),
    *,
    seed: int = 0,
) -> list[Asked]:
    """Labels and highlights to ask for, what tells most about other texts by the second first.

    Parameters
    ----------
    task, model, project
        Of rationales.
    ids, texts : arrays of shape (n_texts,)
    given, open_ : bool arrays of shape (n_texts,)
        Which texts have a label, and which may be asked about; of those that have one, highlights are asked for.
    n : int
    costs : mapping of question to Cost
    questions : sequence of str
        Which of the two may be asked.
    seed : int
    """
    rng = np.random.default_rng(seed)
    marked = highlighted(project)
    new = np.flatnonzero(open_ & ~given)
    if new.size:
        lengths = [len(text) for text in texts]
        rows = looked_at(project, ids, lengths, ids, open_ & ~given, rng, least=3 * n)
        new = new if rows is None else np.intersect1d(rows, new)
    again = _some(np.flatnonzero(open_ & given & ~marked), _AGAIN, rng)
    looked = np.concatenate([new, again])
    part = part_of(project, ids[looked])
    assert task.beliefs is not None
    beliefs = task.beliefs(model, part)
    place = {name: row for row, name in enumerate(beliefs.ids)}
    order = np.array([place[name] for name in ids[looked]], dtype=np.int64)
    uncertainty, precision = beliefs.uncertainty[order], beliefs.precision[order]
    asked = np.concatenate([least_certain(uncertainty[: new.size], n + 2), new.size + np.arange(again.size)])
    known = _some(np.flatnonzero(given), _GIVEN, rng)
    shown = known[marked[known]]
    targets = _some(np.arange(new.size), _TARGETS, rng) if new.size else np.arange(again.size)
    quotes = _quotes(project, texts, shown)
    words = weighted_words([*texts[looked], *texts[known], *quotes]).astype(np.float64)
    parts = np.cumsum([looked.size, known.size])
    here, there, inside = (sp.csr_array(words[rows]) for rows in np.split(np.arange(words.shape[0]), parts))
    rates = word_rates(sp.csr_array(there[marked[known]]), inside)
    readings = sp.vstack([stressed(sp.csr_array(here[asked]), rates), marked_words(sp.csr_array(here[asked]), rates)])
    k, is_new = len(asked), asked < new.size
    first = np.concatenate([np.flatnonzero(is_new), np.where(is_new, np.arange(k), k + np.arange(k))])
    second = np.concatenate([np.full(is_new.sum(), -1), np.where(is_new, k + np.arange(k), -1)])
    text = np.concatenate([looked[asked][is_new], looked[asked]])
    question = np.array(["label"] * int(is_new.sum()) + ["highlight"] * k, dtype=object)
    sizes = np.array([len(one) for one in texts[text]])
    seconds = np.where(question == "label", costs["label"].of(sizes), costs["highlight"].of(sizes))
    own = precision[asked]
    options = Options(sp.csr_array(readings), np.concatenate([own, _MARKED * own]), first, second, text, seconds)
    chosen, gains, rivals = pick_options(
        options,
        sp.csr_array(sp.vstack([stressed(there, rates), stressed(inside, rates)])),
        np.concatenate([np.full(known.size, _PRECISION), np.full(shown.size, _MARKED * _PRECISION)]),
        stressed(sp.csr_array(here[targets]), rates),
        precision[targets],
        looked[targets],
        n + 2,
        allowed=np.isin(question, list(questions)),
        stands_for=max((~given).sum(), 1) / max(targets.size, 1),
    )
    return [
        Asked(str(ids[text[one]]), str(question[one]), float(gain), float(seconds[one]), float(rival))
        for one, gain, rival in zip(chosen, gains, rivals, strict=True)
    ]


def _some(rows: IntArray, most: int, rng: np.random.Generator) -> IntArray:
    return rows if rows.size <= most else np.sort(rng.choice(rows, most, replace=False))


def _quotes(project: Project, texts: ObjectArray, rows: IntArray) -> list[str]:
    """The highlighted words of some texts."""
    record = project.rationales()
    wanted: dict[int, list[str]] = {int(row): [] for row in rows}
    for item, start, end in zip(record.item.tolist(), record.start.tolist(), record.end.tolist(), strict=True):
        if item in wanted:
            wanted[item].append(str(texts[item])[start:end])
    return [" ".join(wanted[int(row)]) for row in rows]


def choose_aspects(
    task: Task, model: Any, project: Project, item_ids: list[str], costs: Mapping[str, Cost]
) -> pd.DataFrame:
    """``item_id, aspect, question, gain, seconds``: whether to ask for one aspect of each text or for all of them.

    What all tell is the entropy of the ranks that are not given, in nats; what one tells about itself and the others
    is :func:`accord.data.task.Task.parts`. The more by the second is asked; ``aspect`` is empty where it is all.
    """
    part = part_of(project, np.array(item_ids, dtype=object))
    assert task.parts is not None
    assert task.beliefs is not None
    table = task.parts(model, part, item_ids)
    beliefs = task.beliefs(model, part)
    total = pd.Series(beliefs.uncertainty, index=beliefs.ids).reindex(item_ids).to_numpy()
    items = part.items()
    sizes = [len(str(items.texts[row])) for row in items.positions(item_ids)] if items.texts is not None else [1]
    one, all_ = costs["score"].of(sizes), costs["scores"].of(sizes)
    single = table["gain"].to_numpy() / one > total / all_
    return table.assign(
        aspect=table["aspect"].where(single, None),
        question=np.where(single, "score", "scores"),
        gain=np.where(single, table["gain"], total),
        seconds=np.where(single, one, all_),
    )
