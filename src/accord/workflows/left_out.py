"""What is left out and predicted in an evaluation, for each kind of judgement, by Accord and by what people would pick.

What is left out is left out whole: a thread with its comments, a text with its scores, a pair with all of its votes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.simple import logistic_regression, majority, ridge_ranks, usual_ranks
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray
from accord.workflows.kinds import task_of

__all__ = ["ACCORD", "ALONE", "LEAST_GROUPS", "METHODS", "Cases", "Fold"]

LEAST_GROUPS = 5
ACCORD, ALONE = "Accord", "Accord, one by one"


@dataclass(frozen=True, eq=False)
class Fold:
    """The judgements to learn from and those to be tested on, as rows of the cases."""

    train: IntArray
    test: IntArray


Probabilities = Callable[[Project, "Cases", Fold, Mapping[str, Any]], FloatArray]


@dataclass(frozen=True, eq=False)
class Cases:
    """What is to be predicted, one row each, whatever the kind of judgement."""

    truth: IntArray  # code of the right answer
    answers: Sequence[Any]  # what the codes stand for
    group: ObjectArray  # what is left out whole
    ids: pd.DataFrame  # item_id, and aspect or left and right
    unit: str
    grouped: str
    ordered: bool = False  # answers are ranks


def _quiet(what: str, done: int, total: int) -> None:
    return None


def _texts_of(project: Project, ids: ObjectArray) -> list[str]:
    items = project.items()
    texts = np.full(items.n_items, "", dtype=object) if items.texts is None else items.texts
    return [str(texts[place]) for place in items.positions(ids)]


def _kept(table: pa.Table, rows: Any) -> pa.Table:
    return table.filter(pa.array(np.asarray(rows, dtype=bool)))


def _columns(p: pd.DataFrame, answers: Sequence[Any], rows: Any) -> FloatArray:
    """Probabilities of the answers, in their order; those that the model does not know get next to nothing."""
    found = p.loc[rows]
    columns = [found[f"p.{answer}"].to_numpy(float) if f"p.{answer}" in found else None for answer in answers]
    filled = np.column_stack([np.full(len(found), 1e-3) if column is None else column for column in columns])
    filled = np.maximum(filled, 1e-9)
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


def _label_cases(project: Project) -> Cases:
    labels, items = project.labels(), project.items()
    rows = np.flatnonzero(~pd.isna(labels))
    if not len(rows):
        raise InputError("an evaluation needs labels; this project has none. Import or collect some first.")
    answers, truth = np.unique(labels[rows].astype(str), return_inverse=True)
    if len(answers) < 2:
        raise InputError(
            f"an evaluation needs two different labels; all {len(rows):,} are {str(answers[0])!r}. Label some texts "
            "that are not so."
        )
    names = items.ids[rows].astype(object)
    groups = None if items.groups is None or pd.isna(items.groups[rows]).any() else items.groups[rows]
    grouped = {"threads": "threads", "links": "groups"}.get(project.kind, "texts")
    one_graph = project.kind == "links" and groups is not None and len(np.unique(groups.astype(str))) < LEAST_GROUPS
    if groups is None or project.kind == "rationales" or one_graph:
        groups, grouped = names, "texts"
    unit = "labelled comments" if project.kind == "threads" else "labelled texts"
    return Cases(truth, list(answers), groups, pd.DataFrame({"item_id": names}), unit, grouped)


def _label_model(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    """Train on some labels and predict the others: whole groups by themselves, single texts with their neighbours."""
    hidden, tested = set(cases.ids["item_id"].iloc[part.test]), set(cases.group[part.test])
    seen = set(cases.ids["item_id"].iloc[part.train])
    judged = project.judgement_table.column("item_id").to_pylist()
    train = replace(project, judgement_table=_kept(project.judgement_table, [name in seen for name in judged]))
    whole = cases.grouped != "texts"
    frame = project.frames()["items"]
    if whole:
        in_test = frame["group_id"].isin(tested).to_numpy()
        if project.kind == "threads":
            train = replace(train, item_table=_kept(project.item_table, ~in_test))
        test = replace(
            project,
            item_table=_kept(project.item_table, in_test),
            judgement_table=project.judgement_table.slice(0, 0),
            link_table=_inside(project.link_table, set(frame["item_id"][in_test])),
        )
    elif project.kind == "rationales":
        shown = frame["item_id"].isin(hidden).to_numpy()
        test = replace(
            project, item_table=_kept(project.item_table, shown), judgement_table=project.judgement_table.slice(0, 0)
        )
    else:
        test = train
    task = task_of(project.kind)
    found = task.predict(task.train(train, settings, _quiet), test).set_index("item_id")
    return _columns(found, cases.answers, cases.ids["item_id"].iloc[part.test])


def _inside(links: pa.Table, names: set[str]) -> pa.Table:
    ends = (links.column(name).to_pylist() for name in ("src_id", "dst_id"))
    return _kept(links, [a in names and b in names for a, b in zip(*ends, strict=True)])


def _label_regression(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    names = cases.ids["item_id"].to_numpy(object)
    train, test = _texts_of(project, names[part.train]), _texts_of(project, names[part.test])
    groups = cases.group[part.train].astype(str)
    return logistic_regression(train, cases.truth[part.train], groups, len(cases.answers), test)


def _label_majority(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    return majority(cases.truth[part.train], len(cases.answers), len(part.test))


def _threads_alone(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _label_model(project, cases, part, {"model": "local"})


def _links_alone(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _label_model(replace(project, link_table=project.link_table.slice(0, 0)), cases, part, {"implicit": 0})


def _rationales_alone(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    kinds = project.judgement_table.column("kind").to_pylist()
    labels = _kept(project.judgement_table, [kind == "label" for kind in kinds])
    return _label_model(replace(project, judgement_table=labels), cases, part, {})


def _lacks_highlights(project: Project) -> str:
    return "" if "span" in project.judgement_table.column("kind").to_pylist() else "highlights"


def _score_cases(project: Project) -> Cases:
    ratings = project.ratings()
    item, aspect = np.nonzero(ratings.ranks)
    names = ratings.items.ids[item].astype(object)
    ids = pd.DataFrame({"item_id": names, "aspect": np.asarray(ratings.aspects, dtype=object)[aspect]})
    truth = ratings.ranks[item, aspect].astype(np.int64) - 1
    return Cases(truth, list(range(1, ratings.n_ranks + 1)), names, ids, "scores", "texts", ordered=True)


def _score_model(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    seen, hidden = (set(cases.ids["item_id"].iloc[rows]) for rows in (part.train, part.test))
    judged = project.judgement_table.column("item_id").to_pylist()
    names = project.frames()["items"]["item_id"]
    train = replace(
        project,
        item_table=_kept(project.item_table, names.isin(seen)),
        judgement_table=_kept(project.judgement_table, [name in seen for name in judged]),
    )
    test = replace(
        project,
        item_table=_kept(project.item_table, names.isin(hidden)),
        judgement_table=project.judgement_table.slice(0, 0),
    )
    task = task_of(project.kind)
    found = task.predict(task.train(train, settings, _quiet), test).set_index(["item_id", "aspect"])
    rows = pd.MultiIndex.from_frame(cases.ids.iloc[part.test])
    return _columns(found, cases.answers, rows)


def _score_alone(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _score_model(project, cases, part, {"model": "ordinal"})


def _by_aspect(method: Callable[[list[str], IntArray, int, list[str]], FloatArray]) -> Probabilities:
    def run(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
        p = np.zeros((len(part.test), len(cases.answers)))
        aspects = cases.ids["aspect"].to_numpy(object)
        names = cases.ids["item_id"].to_numpy(object)
        for aspect in np.unique(aspects[part.test].astype(str)):
            train = part.train[aspects[part.train] == aspect]
            rows = np.flatnonzero(aspects[part.test] == aspect)
            texts, tests = _texts_of(project, names[train]), _texts_of(project, names[part.test[rows]])
            ranks = cases.truth[train] + 1 if len(train) else cases.truth[part.train] + 1
            p[rows] = method(texts, ranks, len(cases.answers), tests)
        return p

    return run


def _pair_cases(project: Project) -> Cases:
    votes = project.comparisons()
    decided = np.flatnonzero(votes.value != 0.5)
    if not len(decided):
        raise InputError("an evaluation needs decided votes; this project has none. Collect some first.")
    left, right = (votes.items.ids[side[decided]].astype(object) for side in (votes.left, votes.right))
    pair = np.array(["\0".join(sorted(map(str, ends))) for ends in zip(left, right, strict=True)], dtype=object)
    ids = pd.DataFrame({"left": left, "right": right})
    truth = (votes.value[decided] == 1.0).astype(np.int64)
    return Cases(truth, ["right", "left"], pair, ids, "decided votes", "pairs of texts")


def _left_out(project: Project, cases: Cases, part: Fold) -> Project:
    """The project without any vote on the pairs to be tested."""
    kept, frame = set(cases.group[part.train]), project.frames()["judgements"]
    ends = zip(frame["item_id"].astype(str), frame["other_id"].astype(str), strict=True)
    pair = np.array(["\0".join(sorted(pair)) for pair in ends], dtype=object)
    rows: BoolArray = (frame["kind"] != "pair").to_numpy() | np.isin(pair, list(kept))
    return replace(project, judgement_table=_kept(project.judgement_table, rows))


def _pair_model(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    task = task_of("pairs")
    model = task.train(_left_out(project, cases, part), settings, _quiet)
    tests = cases.ids.iloc[part.test].reset_index(drop=True)
    return _columns(task.must(task.compare, "compare")(model, project, tests), cases.answers, tests.index)


def _pair_alone(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    column = project.item_table.schema.get_field_index("text")
    bare = project.item_table.set_column(column, "text", pa.nulls(project.item_table.num_rows, pa.string()))
    return _pair_model(replace(project, item_table=bare), cases, part, {})


def _pair_bradley_terry(project: Project, cases: Cases, part: Fold, settings: Mapping[str, Any]) -> FloatArray:
    votes = _left_out(project, cases, part).comparisons()
    ranker = BradleyTerryRanker().fit(*votes.xy(), items=votes.items, sample_weight=votes.weight)
    return np.asarray(ranker.predict_proba(cases.ids.iloc[part.test]))


@dataclass(frozen=True)
class Methods:
    """How one kind of judgement is evaluated."""

    cases: Callable[[Project], Cases]
    model: Probabilities
    alone: Probabilities
    joint: str  # what the joint part is called
    others: Mapping[str, Probabilities]
    # What the joint part learns from and the project has none of, in words; empty where there is some.
    lacks: Callable[[Project], str] = lambda project: ""

    def named(self) -> dict[str, Probabilities]:
        """All of them, Accord first."""
        return {ACCORD: self.model, ALONE: self.alone, **self.others}


_LABELS: Mapping[str, Probabilities] = {"logistic regression": _label_regression, "majority": _label_majority}
METHODS = {
    "pairs": Methods(
        _pair_cases,
        _pair_model,
        _pair_alone,
        "reading the texts",
        {"Bradley–Terry": _pair_bradley_terry, "coin": _label_majority},
    ),
    "threads": Methods(_label_cases, _label_model, _threads_alone, "deciding a thread as a whole", _LABELS),
    "links": Methods(_label_cases, _label_model, _links_alone, "following the links", _LABELS),
    "rationales": Methods(
        _label_cases,
        _label_model,
        _rationales_alone,
        "learning from highlights",
        _LABELS,
        _lacks_highlights,
    ),
    "aspects": Methods(
        _score_cases,
        _score_model,
        _score_alone,
        "deciding the aspects together",
        {
            "ridge regression": _by_aspect(ridge_ranks),
            "usual score": _by_aspect(lambda texts, ranks, n_ranks, tests: usual_ranks(ranks, n_ranks, len(tests))),
        },
    ),
}
