"""Say how good a model is on a project's own judgements: cross-validation by group, beside what people would pick.

Every method sees the same folds. What is left out is left out whole: a thread with its comments, a text with its
scores, a pair with all of its votes. Figures come with 95 % intervals from drawing the groups again.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import t as student_t

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.agreement import wilson
from accord.evaluation.simple import logistic_regression, majority, ridge_ranks, usual_ranks
from accord.fitting.folds import group_folds
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray, Progress
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of

__all__ = ["Evaluation", "evaluate"]

_RESAMPLES = 1000
_SHARES = (0.25, 0.5)  # of the training groups, for the learning curve
_LEAST_GROUPS = 5
ACCORD, ALONE = "Accord", "Accord, one by one"


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good each method is on what it has not seen."""

    kind: str
    n_judgements: int
    n_groups: int
    unit: str  # what a judgement is about
    group: str  # what is left out whole
    rows: pd.DataFrame  # method, metric, value, low, high, n
    gains: pd.DataFrame  # method, metric, value, low, high: how much better Accord is
    curve: pd.DataFrame  # n, metric, value, low, high
    calibration: pd.DataFrame  # low, high, n, predicted, right
    sentence: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Fold:
    """The judgements to learn from and those to be tested on, as rows of the cases."""

    train: IntArray
    test: IntArray


Probabilities = Callable[[Project, "_Cases", _Fold, Mapping[str, Any]], FloatArray]


@dataclass(frozen=True, eq=False)
class _Cases:
    """What is to be predicted, one row each, whatever the kind of judgement."""

    truth: IntArray  # code of the right answer
    answers: Sequence[Any]  # what the codes stand for
    group: ObjectArray  # what is left out whole
    ids: pd.DataFrame  # item_id, and aspect or left and right
    unit: str
    grouped: str
    ordered: bool = False  # answers are ranks


def evaluate(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    n_folds: int = 5,
    random_state: int = 0,
    progress: Progress = lambda what, done, total: None,
) -> Evaluation:
    """Cross-validate the project's model, the same without its joint part, and what people would pick instead.

    Parameters
    ----------
    project : Project
    settings : mapping, optional
        Settings of the model.
    n_folds : int
        Parts that are left out in turn.
    """
    if n_folds < 2:
        raise InputError(f"the number of folds must be at least 2; got {n_folds}.")
    project = people_only(project)  # a model is as good as it says what people say
    kind = _KINDS[project.kind]
    cases = kind.cases(project)
    n_groups = len(np.unique(cases.group))
    if n_groups < max(_LEAST_GROUPS, n_folds):
        raise InputError(
            f"an evaluation needs judgements of at least {max(_LEAST_GROUPS, n_folds)} {cases.grouped}; this project "
            f"has {n_groups}. Judge more, or use fewer folds."
        )
    folds = group_folds(cases.group, n_folds=n_folds, random_state=random_state, strata=cases.truth)
    parts = [_Fold(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    methods: dict[str, Probabilities] = {ACCORD: kind.model, ALONE: kind.alone, **kind.others}
    settings = dict(settings or {})
    notes: dict[str, None] = {}
    p: dict[str, FloatArray] = {}
    steps = len(methods) * n_folds + len(_SHARES) * n_folds
    step = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, method in methods.items():
            p[name] = np.full((len(cases.truth), len(cases.answers)), np.nan)
            for part in parts:
                progress(f"evaluating {name}", step, steps)
                p[name][part.test] = method(project, cases, part, settings if name == ACCORD else {})
                step += 1
        rng = np.random.default_rng(random_state)
        sizes = []
        for share in _SHARES:
            smaller = np.full_like(p[ACCORD], np.nan)
            n_seen = []
            for part in parts:
                progress("learning curve", step, steps)
                fewer = _some_groups(cases, part, share, rng)
                n_seen.append(len(fewer.train))
                smaller[part.test] = kind.model(project, cases, fewer, settings)
                step += 1
            sizes.append((round(float(np.mean(n_seen))), smaller))
        sizes.append((round(float(np.mean([len(part.train) for part in parts]))), p[ACCORD]))
    progress("evaluating", steps, steps)
    notes.update(dict.fromkeys(str(warning.message) for warning in caught))
    draws = _draws(cases.group, random_state)
    losses = {name: _losses(cases, found) for name, found in p.items()}
    rows, gains = _compared(losses, draws, n_groups)
    curve = pd.DataFrame(
        [
            (n, metric, *_interval(values, draws, n_groups, share=metric == "accuracy"))
            for n, found in sizes
            for metric, values in _losses(cases, found).items()
        ],
        columns=["n", "metric", "value", "low", "high"],
    )
    evaluation = Evaluation(
        project.kind,
        len(cases.truth),
        n_groups,
        cases.unit,
        cases.grouped,
        rows,
        gains,
        curve,
        _calibration(cases, p[ACCORD]),
        "",
        tuple(notes),
    )
    return replace(evaluation, sentence=_sentence(evaluation))


# -- figures ---------------------------------------------------------------------------------------------------------


def _losses(cases: _Cases, p: FloatArray) -> dict[str, FloatArray]:
    """What each case says of each metric; accuracies are higher where a method is better, the others lower."""
    rows = np.arange(len(p))
    best = p.argmax(axis=1)
    own = {"accuracy": (best == cases.truth).astype(float)}
    if cases.ordered:
        middle = (np.cumsum(p, axis=1) < 0.5).sum(axis=1).clip(max=p.shape[1] - 1)  # the median answer
        own["ranks off"] = np.abs(middle - cases.truth).astype(float)
    own["log loss"] = -np.log(np.maximum(p[rows, cases.truth], 1e-12))
    return own


def _draws(groups: ObjectArray, random_state: int) -> FloatArray:
    """How often each case is drawn when groups are drawn again, shape (n_resamples, n_cases)."""
    names, codes = np.unique(groups.astype(str), return_inverse=True)
    rng = np.random.default_rng(random_state)
    drawn = rng.multinomial(len(names), np.full(len(names), 1.0 / len(names)), size=_RESAMPLES)
    return np.asarray(drawn[:, codes], dtype=np.float64)


def _interval(
    values: FloatArray, draws: FloatArray, n_groups: int, *, share: bool = False
) -> tuple[float, float, float]:
    """The mean and its 95 % interval over groups.

    The spread is that of means over groups that are drawn again, and the width that of Student's t, because groups may
    be few. A share has Wilson's interval for as many independent cases as have this spread: where all cases are alike
    the spread is 0, and the groups count.
    """
    value = float(values.mean())
    means = draws @ values / np.maximum(draws.sum(axis=1), 1e-9)
    variance = float(means.var()) * n_groups / (n_groups - 1)
    if share:
        n = (
            float(n_groups)
            if value in (0.0, 1.0)
            else float(np.clip(value * (1.0 - value) / variance, 1.0, len(values)))
        )
        return value, *wilson(value, n)
    half = float(student_t.ppf(0.975, n_groups - 1)) * variance**0.5
    low = value - half
    return value, max(low, 0.0) if (values >= 0.0).all() else low, value + half


def _compared(
    losses: Mapping[str, Mapping[str, FloatArray]], draws: FloatArray, n_groups: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows, gains = [], []
    for name, own in losses.items():
        for metric, values in own.items():
            found = _interval(values, draws, n_groups, share=metric == "accuracy")
            rows.append((name, metric, *found, len(values)))
            if name != ACCORD:
                sign = 1.0 if metric == "accuracy" else -1.0
                gains.append((name, metric, *_interval(sign * (losses[ACCORD][metric] - values), draws, n_groups)))
    return (
        pd.DataFrame(rows, columns=["method", "metric", "value", "low", "high", "n"]),
        pd.DataFrame(gains, columns=["method", "metric", "value", "low", "high"]),
    )


def _calibration(cases: _Cases, p: FloatArray) -> pd.DataFrame:
    """How often the model is right by how sure it says it is."""
    sure, right = p.max(axis=1), p.argmax(axis=1) == cases.truth
    edges = np.linspace(1.0 / p.shape[1], 1.0, 6)
    bins = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, len(edges) - 2)
    rows = [
        (edges[b], edges[b + 1], int((bins == b).sum()), float(sure[bins == b].mean()), float(right[bins == b].mean()))
        for b in range(len(edges) - 1)
        if (bins == b).any()
    ]
    return pd.DataFrame(rows, columns=["low", "high", "n", "predicted", "right"])


def _sentence(evaluation: Evaluation) -> str:
    """The outcome in words that need no statistics."""
    metric = "ranks off" if (evaluation.rows["metric"] == "ranks off").any() else "accuracy"
    own = evaluation.rows.query("method == @ACCORD and metric == @metric").iloc[0]
    n = f"{evaluation.n_judgements:,} {evaluation.unit}"
    if metric == "accuracy":
        said = (
            f"With {n} Accord is right {100 * own['value']:.0f} times in 100 "
            f"(95 % interval {100 * own['low']:.0f} to {100 * own['high']:.0f})"
        )
    else:
        said = (
            f"With {n} Accord is off by {own['value']:.2f} ranks on average "
            f"(95 % interval {own['low']:.2f} to {own['high']:.2f})"
        )
    said += f"; {_adds(evaluation, metric)}; {_best_other(evaluation, metric)}."
    more = _forecast(evaluation, metric)
    return said if more is None else f"{said} {more}"


def _scaled(metric: str, value: float) -> str:
    return f"{100 * value:.1f} points" if metric == "accuracy" else f"{value:.2f} ranks"


def _adds(evaluation: Evaluation, metric: str) -> str:
    gain = evaluation.gains.query("method == @ALONE and metric == @metric").iloc[0]
    what = _KINDS[evaluation.kind].joint
    if gain["low"] == gain["high"] == 0.0:
        return f"{what} changes no answer"
    if gain["low"] > 0:
        return f"{what} adds {_scaled(metric, gain['value'])}"
    if gain["high"] < 0:
        return f"{what} takes away {_scaled(metric, -gain['value'])}, so that you should do without it"
    shown = " to ".join(_scaled(metric, gain[end]) for end in ("low", "high"))
    return f"whether {what} helps cannot be told yet (it adds {shown})"


def _best_other(evaluation: Evaluation, metric: str) -> str:
    rows = evaluation.rows[(evaluation.rows["metric"] == metric) & ~evaluation.rows["method"].isin([ACCORD, ALONE])]
    rows = rows.sort_values("value", ascending=metric != "accuracy")
    name = rows["method"].iloc[0]
    gain = evaluation.gains[(evaluation.gains["metric"] == metric) & (evaluation.gains["method"] == name)].iloc[0]
    if gain["low"] > 0:
        return f"{name}, the best of the others, is behind it by {_scaled(metric, gain['value'])}"
    if gain["high"] < 0:
        return f"{name} is better by {_scaled(metric, -gain['value'])}"
    return f"{name}, the best of the others, does about as well"


def _forecast(evaluation: Evaluation, metric: str) -> str | None:
    """What more judgements would add, from a power of n that is fitted to the errors of the learning curve."""
    curve = evaluation.curve[evaluation.curve["metric"] == metric].drop_duplicates("n")
    if len(curve) < 3:
        return None
    value, n = curve["value"].to_numpy(float), curve["n"].to_numpy(float)
    errors = np.maximum(1.0 - value if metric == "accuracy" else value, 0.5 / evaluation.n_judgements)
    x = np.column_stack([np.ones(len(curve)), np.log(n)])
    (_, slope), *_ = np.linalg.lstsq(x, np.log(errors), rcond=None)
    now = float(n.max())
    more = max(10, int(round(now, -1)))
    better = float(errors[n.argmax()]) * (1.0 - ((now + more) / now) ** min(slope, 0.0))
    least = 0.002 if metric == "accuracy" else 0.005
    if better < least:
        return f"About {more:,} more {evaluation.unit} would change little."
    return f"About {more:,} more {evaluation.unit} would bring about {_scaled(metric, float(better))}."


def _some_groups(cases: _Cases, part: _Fold, share: float, rng: np.random.Generator) -> _Fold:
    """Part of the groups to learn from, at least three and with two answers among them where there are two."""
    names = rng.permutation(np.unique(cases.group[part.train].astype(str)))
    size = max(3, round(share * len(names)))
    while True:
        kept = part.train[np.isin(cases.group[part.train].astype(str), names[:size])]
        if len(np.unique(cases.truth[kept])) > 1 or size >= len(names):
            return _Fold(kept, part.test)
        size += 1


# -- the kinds -------------------------------------------------------------------------------------------------------


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


def _label_cases(project: Project) -> _Cases:
    labels, items = project.labels(), project.items()
    rows = np.flatnonzero(~pd.isna(labels))
    if not len(rows):
        raise InputError("an evaluation needs labels; this project has none. Import or collect some first.")
    answers, truth = np.unique(labels[rows].astype(str), return_inverse=True)
    if len(answers) < 2:
        raise InputError(f"an evaluation needs two different labels; all are {answers[0]!r}.")
    names = items.ids[rows].astype(object)
    groups = None if items.groups is None or pd.isna(items.groups[rows]).any() else items.groups[rows]
    grouped = {"threads": "threads", "links": "groups"}.get(project.kind, "texts")
    one_graph = project.kind == "links" and groups is not None and len(np.unique(groups.astype(str))) < _LEAST_GROUPS
    if groups is None or project.kind == "rationales" or one_graph:
        groups, grouped = names, "texts"
    unit = "labelled comments" if project.kind == "threads" else "labelled texts"
    return _Cases(truth, list(answers), groups, pd.DataFrame({"item_id": names}), unit, grouped)


def _label_model(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
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
        settings = {"lexicon": False, **settings}  # it predicts highlights, which are not judged here
    else:
        test = train
    task = task_of(project.kind)
    found = task.predict(task.train(train, settings, _quiet), test).set_index("item_id")
    return _columns(found, cases.answers, cases.ids["item_id"].iloc[part.test])


def _inside(links: pa.Table, names: set[str]) -> pa.Table:
    ends = (links.column(name).to_pylist() for name in ("src_id", "dst_id"))
    return _kept(links, [a in names and b in names for a, b in zip(*ends, strict=True)])


def _label_regression(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    names = cases.ids["item_id"].to_numpy(object)
    train, test = _texts_of(project, names[part.train]), _texts_of(project, names[part.test])
    groups = cases.group[part.train].astype(str)
    return logistic_regression(train, cases.truth[part.train], groups, len(cases.answers), test)


def _label_majority(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    return majority(cases.truth[part.train], len(cases.answers), len(part.test))


def _threads_alone(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _label_model(project, cases, part, {"model": "local"})


def _links_alone(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _label_model(replace(project, link_table=project.link_table.slice(0, 0)), cases, part, {"implicit": 0})


def _rationales_alone(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    kinds = project.judgement_table.column("kind").to_pylist()
    labels = _kept(project.judgement_table, [kind == "label" for kind in kinds])
    return _label_model(replace(project, judgement_table=labels), cases, part, {})


def _score_cases(project: Project) -> _Cases:
    ratings = project.ratings()
    item, aspect = np.nonzero(ratings.ranks)
    names = ratings.items.ids[item].astype(object)
    ids = pd.DataFrame({"item_id": names, "aspect": np.asarray(ratings.aspects, dtype=object)[aspect]})
    truth = ratings.ranks[item, aspect].astype(np.int64) - 1
    return _Cases(truth, list(range(1, ratings.n_ranks + 1)), names, ids, "scores", "texts", ordered=True)


def _score_model(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
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


def _score_alone(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    return _score_model(project, cases, part, {"model": "ordinal"})


def _by_aspect(method: Callable[[list[str], IntArray, int, list[str]], FloatArray]) -> Probabilities:
    def run(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
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


def _pair_cases(project: Project) -> _Cases:
    votes = project.comparisons()
    decided = np.flatnonzero(votes.value != 0.5)
    if not len(decided):
        raise InputError("an evaluation needs decided votes; this project has none. Collect some first.")
    left, right = (votes.items.ids[side[decided]].astype(object) for side in (votes.left, votes.right))
    pair = np.array(["\0".join(sorted(map(str, ends))) for ends in zip(left, right, strict=True)], dtype=object)
    ids = pd.DataFrame({"left": left, "right": right})
    truth = (votes.value[decided] == 1.0).astype(np.int64)
    return _Cases(truth, ["right", "left"], pair, ids, "decided votes", "pairs of texts")


def _left_out(project: Project, cases: _Cases, part: _Fold) -> Project:
    """The project without any vote on the pairs to be tested."""
    kept, frame = set(cases.group[part.train]), project.frames()["judgements"]
    ends = zip(frame["item_id"].astype(str), frame["other_id"].astype(str), strict=True)
    pair = np.array(["\0".join(sorted(pair)) for pair in ends], dtype=object)
    rows: BoolArray = (frame["kind"] != "pair").to_numpy() | np.isin(pair, list(kept))
    return replace(project, judgement_table=_kept(project.judgement_table, rows))


def _pair_model(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    task = task_of("pairs")
    model = task.train(_left_out(project, cases, part), settings, _quiet)
    tests = cases.ids.iloc[part.test].reset_index(drop=True)
    return _columns(task.must(task.compare, "compare")(model, project, tests), cases.answers, tests.index)


def _pair_alone(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    column = project.item_table.schema.get_field_index("text")
    bare = project.item_table.set_column(column, "text", pa.nulls(project.item_table.num_rows, pa.string()))
    return _pair_model(replace(project, item_table=bare), cases, part, {})


def _pair_bradley_terry(project: Project, cases: _Cases, part: _Fold, settings: Mapping[str, Any]) -> FloatArray:
    votes = _left_out(project, cases, part).comparisons()
    ranker = BradleyTerryRanker().fit(*votes.xy(), items=votes.items, sample_weight=votes.weight)
    return np.asarray(ranker.predict_proba(cases.ids.iloc[part.test]))


@dataclass(frozen=True)
class _Kind:
    """How one kind of judgement is evaluated."""

    cases: Callable[[Project], _Cases]
    model: Probabilities
    alone: Probabilities
    joint: str  # what the joint part is called
    others: Mapping[str, Probabilities]


_LABELS: Mapping[str, Probabilities] = {"logistic regression": _label_regression, "majority": _label_majority}
_KINDS = {
    "pairs": _Kind(
        _pair_cases,
        _pair_model,
        _pair_alone,
        "reading the texts",
        {"Bradley–Terry": _pair_bradley_terry, "coin": _label_majority},
    ),
    "threads": _Kind(_label_cases, _label_model, _threads_alone, "deciding a thread as a whole", _LABELS),
    "links": _Kind(_label_cases, _label_model, _links_alone, "following the links", _LABELS),
    "rationales": _Kind(_label_cases, _label_model, _rationales_alone, "learning from highlights", _LABELS),
    "aspects": _Kind(
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
