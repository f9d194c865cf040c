"""Say how good a model is on a project's own judgements: cross-validation by group, beside what people would pick.

Every method sees the same folds. What is left out is left out whole: a thread with its comments, a text with its
scores, a pair with all of its votes. Figures come with 95 % intervals from drawing the groups again.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from accord.data.project import Project
from accord.errors import InputError
from accord.evaluation.agreement import wilson
from accord.fitting.folds import group_folds
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray, ObjectArray, Progress
from accord.workflows.judged import people_only
from accord.workflows.left_out import ACCORD, ALONE, LEAST_GROUPS, METHODS, Cases, Fold

__all__ = ["ACCORD", "ALONE", "Evaluation", "case_losses", "evaluate"]

_RESAMPLES = 1000
_SHARES = (0.25, 0.5)  # of the training groups, for the learning curve


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
    lacks: str = ""  # what the joint part learns from and the project has none of


def evaluate(
    project: Project,
    *,
    settings: Mapping[str, Any] | None = None,
    n_folds: int = 5,
    random_state: int = 0,
    workers: Workers | None = None,
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
    workers : Workers, optional
        Where the fits are made; the figures do not depend on it.
    """
    if n_folds < 2:
        raise InputError(f"the number of folds must be at least 2; got {n_folds}.")
    project = people_only(project)  # a model is as good as it says what people say
    kind = METHODS[project.kind]
    cases = kind.cases(project)
    n_groups = len(np.unique(cases.group))
    if n_groups < max(LEAST_GROUPS, n_folds):
        fewer = "" if n_groups < LEAST_GROUPS else f", or use at most {n_groups} folds"
        decided = " with a winner" if project.kind == "pairs" else ""  # ties are not told apart
        raise InputError(
            f"an evaluation needs judgements of at least {max(LEAST_GROUPS, n_folds)} {cases.grouped}{decided}; this "
            f"project has {n_groups}. Judge more{fewer}."
        )
    folds = group_folds(cases.group, n_folds=n_folds, random_state=random_state, strata=cases.truth)
    parts = [Fold(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
    rng = np.random.default_rng(random_state)
    # Runs that are called by a share have that part of the groups, for the learning curve.
    runs: dict[str | float, list[Fold]] = dict.fromkeys(kind.named(), parts)
    runs |= {share: [_some_groups(cases, part, share, rng) for part in parts] for share in _SHARES}
    tasks = [(name if isinstance(name, str) else ACCORD, part) for name, own in runs.items() for part in own]
    p = {name: np.full((len(cases.truth), len(cases.answers)), np.nan) for name in runs}
    notes: dict[str, None] = {}
    common = (project, cases, dict(settings or {}))
    with (workers or Workers()).open(tasks, common=common, keep=False, progress=progress) as opened:
        progress("evaluating", 0, len(tasks))
        found = opened.map(_predicted, what="evaluating")
    for (name, part), (values, said) in zip(((n, part) for n, own in runs.items() for part in own), found, strict=True):
        p[name][part.test] = values
        notes.update(dict.fromkeys(said))
    sizes = [(round(float(np.mean([len(part.train) for part in runs[n]]))), p[n]) for n in (*_SHARES, ACCORD)]
    draws = _draws(cases.group, random_state)
    losses = {name: case_losses(cases.truth, p[name], ordered=cases.ordered) for name in kind.named()}
    rows, gains = _compared(losses, draws, n_groups)
    curve = pd.DataFrame(
        [
            (n, metric, *_interval(values, draws, n_groups, share=metric == "accuracy"))
            for n, found in sizes
            for metric, values in case_losses(cases.truth, found, ordered=cases.ordered).items()
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
        kind.lacks(project),
    )
    return replace(evaluation, sentence=_sentence(evaluation))


def _predicted(
    task: tuple[str, Fold], shared: tuple[tuple[Project, Cases, dict[str, Any]], None], rng: np.random.Generator
) -> tuple[FloatArray, list[str]]:
    """The probabilities that a method gives to the answers left out, and what it warned of."""
    (name, part), ((project, cases, settings), _) = task, shared
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        p = METHODS[project.kind].named()[name](project, cases, part, settings if name == ACCORD else {})
    return p, [str(warning.message) for warning in caught]


# -- figures ---------------------------------------------------------------------------------------------------------


def case_losses(truth: IntArray, p: FloatArray, *, ordered: bool) -> dict[str, FloatArray]:
    """What each case says of each metric; accuracies are higher where a method is better, the others lower.

    Parameters
    ----------
    truth : array of shape (n_cases,)
        Codes of the right answers.
    p : array of shape (n_cases, n_answers)
        Probabilities of the answers.
    ordered : bool
        Answers are ranks, so that an answer can be near.
    """
    said = _said(p, ordered=ordered)
    own = {"accuracy": (said == truth).astype(float)}
    if ordered:
        own["ranks off"] = np.abs(said - truth).astype(float)
    own["log loss"] = -np.log(np.maximum(p[np.arange(len(p)), truth], 1e-12))
    return own


def _said(p: FloatArray, *, ordered: bool) -> IntArray:
    """The answer that a prediction gives: the likeliest, of ranks the median, as in a table of predictions."""
    if not ordered:
        return p.argmax(axis=1)
    return np.asarray((np.cumsum(p, axis=1)[:, :-1] < 0.5).sum(axis=1))


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


def _calibration(cases: Cases, p: FloatArray) -> pd.DataFrame:
    """How often the model is right by how sure it says it is."""
    said = _said(p, ordered=cases.ordered)
    sure, right = p[np.arange(len(p)), said], said == cases.truth
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
    what = METHODS[evaluation.kind].joint
    if evaluation.lacks:
        return f"there are no {evaluation.lacks} that it could learn from"
    if gain["low"] == gain["high"] == 0.0:
        return f"{what} changes no answer"
    if gain["low"] > 0:
        return f"{what} adds {_scaled(metric, gain['value'])}"
    if gain["high"] < 0:
        return f"{what} takes away {_scaled(metric, -gain['value'])}, so that you should do without it"
    shown = " and ".join(_scaled(metric, gain[end]) for end in ("low", "high"))
    return f"whether {what} helps cannot be told yet (it adds between {shown})"


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
    errors_seen = 1.0 - value if metric == "accuracy" else value
    errors = np.maximum(errors_seen, 0.5 / evaluation.n_judgements)
    x = np.column_stack([np.ones(len(curve)), np.log(n)])
    (_, slope), *_ = np.linalg.lstsq(x, np.log(errors), rcond=None)
    now = float(n.max())
    more = max(10, int(round(now, -1)))
    # An error that is 0 in all folds leaves nothing to be gained.
    left = errors[n.argmax()] if errors_seen[n.argmax()] > 0.0 else 0.0
    better = float(left) * (1.0 - ((now + more) / now) ** min(slope, 0.0))
    least = 0.002 if metric == "accuracy" else 0.005
    if better < least:
        return f"About {more:,} more {evaluation.unit} would change little."
    return f"About {more:,} more {evaluation.unit} would bring about {_scaled(metric, float(better))}."


def _some_groups(cases: Cases, part: Fold, share: float, rng: np.random.Generator) -> Fold:
    """Part of the groups to learn from, at least three and with two answers among them where there are two."""
    names = rng.permutation(np.unique(cases.group[part.train].astype(str)))
    size = max(3, round(share * len(names)))
    while True:
        kept = part.train[np.isin(cases.group[part.train].astype(str), names[:size])]
        if len(np.unique(cases.truth[kept])) > 1 or size >= len(names):
            return Fold(kept, part.test)
        size += 1
