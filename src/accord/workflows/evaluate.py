"""Say how good a model is on somebody's own judgements: cross-validation, against what people would pick instead."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import LINKS, Project
from accord.errors import ConvergenceWarning, InputError
from accord.fitting.folds import group_folds
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.typing import AnyArray, FloatArray, Progress
from accord.workflows.kinds import task_of

__all__ = ["Evaluation", "evaluate"]

_FOLDS = 5
_CURVE = (0.25, 0.5)  # shares of the training judgements
_BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MOST_FEATURES = 50_000
# The model without its joint part: what it is called, and what the project or the settings lose.
_ALONE: dict[str, tuple[str, Callable[[Project], Project], Mapping[str, Any]]] = {
    "threads": ("each comment by itself", lambda project: project, {"model": "local"}),
    "links": ("without links", lambda project: replace(project, link_table=LINKS.empty_table()), {}),
    "aspects": ("each aspect by itself", lambda project: project, {"model": "ordinal"}),
    "rationales": ("without highlights", lambda project: _without(project, "span"), {}),
}
_NOUNS = {
    "pairs": ("votes", "texts"),
    "threads": ("labelled comments", "the other comments of a thread"),
    "aspects": ("scores", "the other aspects of a text"),
    "links": ("labelled texts", "links"),
    "rationales": ("labelled texts", "highlights"),
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good models are on judgements that they have not seen.

    Attributes
    ----------
    kind : str
    n_judgements, n_groups : int
        Judgements that were predicted, and the groups (threads, debates, pairs, texts) that are never split.
    groups : str
        What a group is.
    table : DataFrame
        ``model, right, low, high, log_loss, difference, diff_low, diff_high``: the share of judgements predicted right
        with its 95 % interval over groups, the mean surprise where a model has probabilities, and what Accord's default
        is better by. Aspects add ``distance``, the mean distance of ranks.
    calibration : DataFrame
        ``probability, right, n``: of Accord's default, what it said and how often it was so.
    curve : DataFrame
        ``n_judgements, right``: of Accord's default, trained on fewer judgements.
    sentence : str
    """

    kind: str
    n_judgements: int
    n_groups: int
    groups: str
    table: pd.DataFrame
    calibration: pd.DataFrame
    curve: pd.DataFrame
    sentence: str
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class _Judged:
    """The judgements that are predicted: rows of a table, the answer of each, and the group that is never split."""

    rows: pd.DataFrame  # item_id and aspect, or left and right
    truth: AnyArray
    group: AnyArray
    groups: str


def evaluate(project: Project, *, progress: Progress, settings: Mapping[str, Any] | None = None) -> Evaluation:
    """Cross-validate the default model of a project's kind on its judgements.

    Every judgement is predicted once, by models that saw no judgement of its group: threads and debates where the texts
    have groups, else texts; pairs of texts for votes, so that the texts are known and the pair is not.
    """
    judged = _judged(project)
    n_groups = len(np.unique(judged.group))
    if n_groups < 2 * _FOLDS or len(np.unique(judged.truth)) < 2:
        raise InputError(
            f"an evaluation needs judgements of at least {2 * _FOLDS} {judged.groups} and two different answers; there "
            f"are {n_groups} and {len(np.unique(judged.truth))}. Collect more first."
        )
    folds = group_folds(judged.group, n_folds=_FOLDS, random_state=0)
    ways = _ways(project.kind, settings or {})
    n_steps = _FOLDS * len(ways) + _FOLDS * len(_CURVE)
    step = 0
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in ways}
    shares: dict[float, list[FloatArray]] = {share: [] for share in _CURVE}
    rng = np.random.default_rng(0)
    for fold in range(_FOLDS):
        tested = np.flatnonzero(folds == fold)
        hidden = _hidden(project, judged, tested)
        for name, way in ways.items():
            progress("evaluating", step, n_steps)
            found[name].append(_quiet(way, hidden, judged, tested))
            step += 1
        for share in _CURVE:
            progress("evaluating", step, n_steps)
            names = np.unique(judged.group[folds != fold])
            kept = rng.permutation(names)[: max(int(share * len(names)), 2)]
            fewer = _hidden(project, judged, np.flatnonzero(~np.isin(judged.group, kept) | (folds == fold)))
            with suppress(InputError):  # too few judgements to train on, or of one answer only: no point of the curve
                shares[share].append(_right(_quiet(ways["Accord"], fewer, judged, tested), judged.truth[tested]))
            step += 1
    progress("evaluating", n_steps, n_steps)
    order = np.concatenate([np.flatnonzero(folds == fold) for fold in range(_FOLDS)])
    predicted = {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}
    truth, group = judged.truth[order], judged.group[order]
    table = _table(predicted, truth, group)
    n_train = len(truth) * (_FOLDS - 1) / _FOLDS
    curve = pd.DataFrame(
        {
            "n_judgements": [round(share * n_train) for share in (*_CURVE, 1.0)],
            "right": [
                *(float(np.concatenate(shares[share]).mean()) if shares[share] else np.nan for share in _CURVE),
                table["right"].iloc[0],
            ],
        }
    ).dropna(ignore_index=True)
    calibration = _calibration(predicted["Accord"], truth)
    sentence = _sentence(project.kind, len(truth), table, curve)
    return Evaluation(
        project.kind, len(truth), len(np.unique(group)), judged.groups, table, calibration, curve, sentence
    )


# -- what is predicted -------------------------------------------------------------------------------------------


def _judged(project: Project) -> _Judged:
    items = project.items()
    if project.kind == "pairs":
        votes = project.comparisons()
        decided = np.flatnonzero(votes.value != 0.5)
        rows, values = votes.xy()
        rows, truth = rows.iloc[decided].reset_index(drop=True), (values[decided] > 0.5).astype(int)
        sides = np.sort(rows[["left", "right"]].to_numpy(str), axis=1)
        return _Judged(rows, truth, pd.factorize(pd.Series(map(tuple, sides)))[0], "pairs of texts")
    if project.kind == "aspects":
        ratings = project.ratings()
        text, aspect = np.nonzero(ratings.ranks)
        rows = pd.DataFrame({"item_id": items.ids[text], "aspect": ratings.aspects[aspect]})
        return _Judged(rows, ratings.ranks[text, aspect].astype(int), *_groups(items, text))
    labels = project.labels()
    text = np.flatnonzero([label is not None for label in labels])
    if not len(text):
        raise InputError(f"an evaluation of {project.kind} needs labels; this project has none.")
    rows = pd.DataFrame({"item_id": items.ids[text]})
    return _Judged(rows, labels[text].astype(str), *_groups(items, text))


def _groups(items: Any, text: AnyArray) -> tuple[AnyArray, str]:
    """The group of each row that is never split: that of its text if there are enough of them, else the text."""
    if items.groups is not None:
        codes = pd.factorize(items.groups[text], use_na_sentinel=False)[0]
        if len(np.unique(codes)) >= 2 * _FOLDS:
            return codes, "groups"
    return np.asarray(text), "texts"


def _hidden(project: Project, judged: _Judged, rows: AnyArray) -> Project:
    """The project without the judgements of some rows."""
    table = project.judgement_table
    frame = table.select(["kind", "item_id", "other_id", "aspect"]).to_pandas()
    if project.kind == "pairs":
        gone = {tuple(sorted(pair)) for pair in judged.rows.iloc[rows][["left", "right"]].to_numpy(str).tolist()}
        pairs = zip(frame["item_id"].astype(str), frame["other_id"].astype(str), strict=True)
        out = np.array([tuple(sorted(pair)) in gone for pair in pairs], dtype=bool)
    else:
        out = frame["item_id"].isin(set(judged.rows["item_id"].iloc[rows])).to_numpy(bool)
    return replace(project, judgement_table=table.filter(pa.array(~out)))


def _without(project: Project, kind: str) -> Project:
    table = project.judgement_table
    other = (table.column("kind").to_pandas().astype(object) != kind).to_numpy(bool)
    return replace(project, judgement_table=table.filter(pa.array(other)))


# -- models ------------------------------------------------------------------------------------------------------

Way = Callable[[Project, _Judged, AnyArray], pd.DataFrame]


def _ways(kind: str, settings: Mapping[str, Any]) -> dict[str, Way]:
    """Accord's default, the same without its joint part, and what people would pick instead."""
    ways: dict[str, Way] = {"Accord": lambda project, judged, rows: _accord(project, judged, rows, settings)}
    if kind in _ALONE:
        name, lose, other = _ALONE[kind]
        ways[name] = lambda project, judged, rows: _accord(lose(project), judged, rows, {**settings, **other})
    if kind == "pairs":
        return {**ways, "Bradley–Terry": _bradley_terry, "always the same side": _majority}
    peer = "ridge regression" if kind == "aspects" else "logistic regression"
    return {**ways, peer: _of_words, "most frequent answer": _majority}


def _quiet(way: Way, project: Project, judged: _Judged, rows: AnyArray) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        return way(project, judged, rows)


def _accord(project: Project, judged: _Judged, rows: AnyArray, settings: Mapping[str, Any]) -> pd.DataFrame:
    """``answer`` and ``p``, the probability of the answer; ``p_truth`` that of the truth, where it is known."""
    task = task_of(project.kind)
    model = task.train(project, dict(settings), lambda what, done, total: None)
    wanted = judged.rows.iloc[rows].reset_index(drop=True)
    if project.kind == "pairs":
        said = task.must(task.compare, "compare")(model, project, wanted)
        p_left = said["p_left"].to_numpy() / np.maximum(1.0 - said["p_undecided"].to_numpy(), 1e-9)
        return _of_side(np.clip(p_left, 1e-6, 1 - 1e-6), judged.truth[rows])
    said = task.predict(model, project)
    keys = list(wanted.columns)
    table = wanted.merge(said, on=keys, how="left", validate="many_to_one")
    answer = table["rank"] if project.kind == "aspects" else table["label"].astype(str)
    truth = judged.truth[rows]
    p_truth = np.full(len(table), np.nan)
    for label in np.unique(truth):
        column = next((name for name in (f"p.{label}", f"p_{label}") if name in table), None)
        if column is not None:
            p_truth[truth == label] = table.loc[truth == label, column]
    p_truth = np.where(np.isnan(p_truth) & (answer.to_numpy() == truth), table["probability"], p_truth)
    return pd.DataFrame({"answer": answer, "p": table["probability"], "p_truth": p_truth})


def _of_side(p_left: FloatArray, truth: AnyArray) -> pd.DataFrame:
    answer = (p_left > 0.5).astype(int)
    return pd.DataFrame(
        {
            "answer": answer,
            "p": np.where(answer == 1, p_left, 1 - p_left),
            "p_truth": np.where(truth == 1, p_left, 1 - p_left),
        }
    )


def _bradley_terry(project: Project, judged: _Judged, rows: AnyArray) -> pd.DataFrame:
    votes = project.comparisons()
    model = BradleyTerryRanker().fit(*votes.xy(), items=votes.items)
    p = model.predict_proba(judged.rows.iloc[rows])
    return _of_side(np.clip(p[:, -1] / (p[:, 0] + p[:, -1]), 1e-6, 1 - 1e-6), judged.truth[rows])


def _of_words(project: Project, judged: _Judged, rows: AnyArray) -> pd.DataFrame:
    """Words and pairs of words, weighted, under the linear model that people would take first."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.model_selection import GridSearchCV

    items = project.items()
    if items.texts is None:
        raise InputError("an evaluation needs texts; this project has ids only.")
    words = TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), max_features=_MOST_FEATURES, token_pattern=r"(?u)\w+"
    )
    x = words.fit_transform(items.texts)
    place = items.positions(judged.rows["item_id"].iloc[rows].to_numpy(object))
    truth = judged.truth[rows]
    if project.kind == "aspects":
        ratings = project.ratings()
        out = np.zeros(len(rows))
        for column, aspect in enumerate(ratings.aspects):
            known = np.flatnonzero(ratings.ranks[:, column])
            here = (judged.rows["aspect"].iloc[rows] == aspect).to_numpy()
            if len(known) and here.any():
                model = RidgeCV(alphas=np.logspace(-2, 3, 11)).fit(x[known], ratings.ranks[known, column])
                out[here] = model.predict(x[place[here]])
        ranks = np.clip(np.floor(out + 0.5), 1, ratings.n_ranks).astype(int)
        return pd.DataFrame({"answer": ranks, "p": np.nan, "p_truth": np.nan})
    labels = project.labels()
    known = np.flatnonzero([label is not None for label in labels])
    y = labels[known].astype(str)
    least = int(min(np.unique(y, return_counts=True)[1]))
    classifier: Any = LogisticRegression(C=10.0, max_iter=2000)
    if least > 1:
        grid = {"C": np.logspace(-1, 3, 5)}
        classifier = GridSearchCV(LogisticRegression(max_iter=2000), grid, cv=min(3, least), scoring="neg_log_loss")
    p = classifier.fit(x[known], y).predict_proba(x[place])
    index = {label: column for column, label in enumerate(classifier.classes_)}
    p_truth = [p[row, index[label]] if label in index else np.nan for row, label in enumerate(truth)]
    return pd.DataFrame({"answer": classifier.classes_[p.argmax(axis=1)], "p": p.max(axis=1), "p_truth": p_truth})


def _majority(project: Project, judged: _Judged, rows: AnyArray) -> pd.DataFrame:
    """The most frequent answer of the training judgements (of the aspect), with its share."""
    rest = np.setdiff1d(np.arange(len(judged.truth)), rows)
    aspects = judged.rows["aspect"].to_numpy() if "aspect" in judged.rows else np.zeros(len(judged.truth))
    answers, p, p_truth = [], [], []
    for row in rows:
        same = rest[aspects[rest] == aspects[row]]
        values, counts = np.unique(judged.truth[same if len(same) else rest], return_counts=True)
        best = counts.argmax()
        answers.append(values[best])
        p.append(counts[best] / counts.sum())
        p_truth.append(counts[values == judged.truth[row]].sum() / counts.sum())
    return pd.DataFrame({"answer": answers, "p": p, "p_truth": p_truth})


# -- figures -----------------------------------------------------------------------------------------------------


def _right(predicted: pd.DataFrame, truth: AnyArray) -> FloatArray:
    return (predicted["answer"].to_numpy() == truth).astype(float)


def _table(predicted: Mapping[str, pd.DataFrame], truth: AnyArray, group: AnyArray) -> pd.DataFrame:
    ours = _right(predicted["Accord"], truth)
    rows = []
    for name, said in predicted.items():
        right = _right(said, truth)
        share, low, high = _mean_over_groups(right, group)
        p = said["p_truth"].to_numpy(float)
        row = {"model": name, "right": share, "low": low, "high": high}
        row["log_loss"] = float(-np.log(np.maximum(p, 1e-6)).mean()) if np.isfinite(p).all() else np.nan
        difference = _mean_over_groups(ours - right, group)
        row |= dict(zip(("difference", "diff_low", "diff_high"), difference, strict=True))
        if np.issubdtype(truth.dtype, np.integer) and len(np.unique(truth)) > 2:
            row["distance"] = float(np.abs(said["answer"].to_numpy() - truth).mean())
        rows.append(row)
    return pd.DataFrame(rows)


def _mean_over_groups(values: FloatArray, group: AnyArray) -> tuple[float, float, float]:
    """A mean with its 95 % interval, where values of one group hang together (a ratio of sums over groups)."""
    codes = pd.factorize(group)[0]
    sums, sizes = np.bincount(codes, weights=values), np.bincount(codes)
    mean = float(values.mean())
    residual = sums - mean * sizes
    n = len(sizes)
    error = float(np.sqrt(n / max(n - 1, 1) * (residual**2).sum()) / sizes.sum())
    return mean, mean - 1.96 * error, mean + 1.96 * error


def _calibration(said: pd.DataFrame, truth: AnyArray) -> pd.DataFrame:
    right, p = _right(said, truth), said["p"].to_numpy(float)
    bins = np.clip(np.digitize(p, _BINS[1:-1]), 0, len(_BINS) - 2)
    rows = [(p[bins == b].mean(), right[bins == b].mean(), (bins == b).sum()) for b in np.unique(bins[np.isfinite(p)])]
    return pd.DataFrame(rows, columns=["probability", "right", "n"])


def _sentence(kind: str, n: int, table: pd.DataFrame, curve: pd.DataFrame) -> str:
    noun, part = _NOUNS[kind]
    ours = table.iloc[0]
    half = 100 * (ours["high"] - ours["low"]) / 2
    said = f"With {n:,} {noun} Accord is right {100 * ours['right']:.0f} times in 100 (±{half:.0f})"
    if kind in _ALONE:
        alone = table.iloc[1]
        sure = alone["diff_low"] > 0 or alone["diff_high"] < 0
        points = 100 * alone["difference"]
        said += f"; {part} {'add' if points >= 0 else 'take away'} {_points(abs(points))}"
        said += "" if sure else ", which may be chance"
    peer = table.iloc[-2]
    said += f"; {peer['model']} is right {100 * peer['right']:.0f} times"
    # Errors fall as a power of the number of judgements; a power above 1 is the noise of a small sample.
    if len(curve) < 2:
        return said + "."
    before, now = (max(1.0 - float(right), 1e-6) for right in curve["right"].iloc[-2:])
    gain = 100 * now * (1.0 - 2.0 ** -np.clip(np.log2(before / now), 0.0, 1.0))
    more = f"twice as many {noun} would add about {_points(gain)}" if gain >= 0.5 else f"more {noun} would add little"
    said += f"; {more}"
    return said + "."


def _points(figure: float) -> str:
    return f"{figure:.0f} point{'' if round(figure) == 1 else 's'}"
