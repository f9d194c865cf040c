"""Pairs: train, update, rank, predict, ask, explain and simulate on a project of votes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.project import Project
from accord.data.table_rows import text_columns
from accord.data.task import RowReader, Task
from accord.errors import InputError
from accord.evaluation.tables import mean_row
from accord.fitting.settings import Number, configured
from accord.pairs import PreferenceRanker
from accord.pairs.features import ArgumentFeatures
from accord.pairs.replay import replay_votes
from accord.typing import IntArray, Progress

__all__ = [
    "TASK",
    "ask",
    "compare",
    "explain",
    "people_votes",
    "predict",
    "predict_pairs",
    "rank",
    "simulate",
    "train",
    "update",
]

_STRATEGIES = ("random", "uncertainty", "bald")


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> PreferenceRanker:
    """Fit the ranker to a project's votes and scores, with features of its texts where it has texts."""
    votes, marks = people_votes(project), project.marks()
    if not votes.n_votes and not marks:
        raise InputError("training on pairs needs votes; this project has none. Import or collect some first.")
    progress("training", 0, 1)
    X, y = votes.xy()
    ranker = configured(PreferenceRanker, settings).fit(X, y, items=votes.items, scores=marks, **_routed(votes))
    progress("training", 1, 1)
    return ranker


def people_votes(project: Project) -> Comparisons:
    """The votes that the ranker learns from: people's; judges have biases that it does not know."""
    votes, judges = project.comparisons(), set(project.judges()["annotator_id"])
    if not judges or votes.annotator is None or votes.annotators is None:
        return votes
    is_judge = np.array([name in judges for name in votes.annotators] + [False])[votes.annotator]
    if is_judge.all():
        return votes
    return votes.subset(~is_judge)


def _routed(votes: Comparisons) -> dict[str, Any]:
    """What is known of each vote besides its answer, as the ranker takes it."""
    table = votes.to_table()
    names = {"annotator_id": "annotator", "weight": "sample_weight", "shown_left_id": "shown_left"}
    return {setting: table[column].to_numpy() for column, setting in names.items() if column in table}


def update(model: PreferenceRanker, project: Project, fresh: Project) -> PreferenceRanker | None:
    """The ranker with the votes of ``fresh`` added, which are those of ``project`` that it has not seen.

    ``None`` where it must be trained from nothing: the texts have changed, or votes say more than those before.
    """
    votes, new = people_votes(project), people_votes(fresh)
    if not np.array_equal(model.items_.ids, votes.items.ids) or fresh.marks():
        return None
    if not model.knows(new) or not model.knows(votes):
        return None
    if new.n_votes:
        X, y = new.xy()
        model.partial_fit(X, y, **_routed(new))
    return model


def rank(model: PreferenceRanker, project: Project) -> pd.DataFrame:
    """The ranking of each group: what :meth:`PreferenceRanker.rank` returns."""
    return model.rank(project.items())


def predict(model: PreferenceRanker, project: Project) -> pd.DataFrame:
    """Every pair that was voted on, once: ``left, right, label, probability, given, p.left, p.undecided, p.right``."""
    pairs = project.comparisons().xy()[0].drop_duplicates(ignore_index=True)
    return compare(model, project, pairs)


def compare(model: PreferenceRanker, project: Project, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a project's texts (``left, right``) with the columns of :func:`predict`, and ``p_order, std``."""
    items = project.items()
    # Where a model reads texts, names alone mean those that it has seen.
    means_seen = not _has_texts(items) and _has_texts(model.items_)
    return predict_pairs(model, pairs, None if means_seen else items)


def _has_texts(items: Items) -> bool:
    return items.texts is not None and any(items.texts)


def predict_pairs(model: PreferenceRanker, pairs: pd.DataFrame, items: Items | None) -> pd.DataFrame:
    """The same for pairs of the given items, or of those that the model was fitted to.

    ``label`` is the likeliest answer of one attentive voter, ``p_order`` the probability that left is better.
    """
    p = model.predict_proba(pairs, items=items)
    if p.shape[1] == 2:
        p = np.stack([p[:, 0], np.zeros(len(p)), p[:, 1]], axis=1)
    answers = np.array(["right", "undecided", "left"], dtype=object)
    likeliest = np.argmax(p, axis=1)
    return pairs.assign(
        label=answers[likeliest],
        probability=p[np.arange(len(p)), likeliest],
        given=False,
        **{f"p.{name}": p[:, column] for name, column in (("left", 2), ("undecided", 1), ("right", 0))},
        p_order=model.predict_order(pairs, items=items),
        std=model.predict_std(pairs, items=items),
    )


def ask(model: PreferenceRanker, project: Project, n: int, strategy: str = "bald") -> pd.DataFrame:
    """The ``n`` pairs most worth asking about: ``left, right, gain, p_left``."""
    known = set(model.items_.ids)
    if any(name not in known for name in project.items().ids):
        raise InputError("the model does not know all texts of this project. Train it again.")
    return model.ask(n, strategy=strategy)


def explain(model: PreferenceRanker, project: Project, target: str) -> pd.DataFrame:
    """Why a text scores as it does: ``reason, effect, kind``, strongest first in each kind of reason."""
    return model.explain(target, items=project.items())


def simulate(project: Project, settings: Mapping[str, Any], progress: Progress) -> pd.DataFrame:
    """Replay the votes: ``strategy, n_labels, metric, mean, low, high, n``, the accuracy on a fifth of the pairs.

    Settings: ``n_labels`` (100), ``batch`` (10) and ``seeds`` (3); the others are the ranker's.
    """
    own = {name: settings.get(name, default) for name, default in (("n_labels", 100), ("batch", 10), ("seeds", 3))}
    for name, value in own.items():
        if not (rule := Number(1, whole=True)).allows(value):
            raise InputError(f"the setting {name!r} of a simulation must be {rule.describe()}; got {value!r}.")
    rest = {name: value for name, value in settings.items() if name not in own}
    votes = project.comparisons()
    decided = votes.subset(votes.value != 0.5)
    if decided.n_votes < 20:
        raise InputError(f"a simulation needs at least 20 decided votes; this project has {decided.n_votes}.")
    base = configured(PreferenceRanker, {"length_scales": "base", "ties": "half", "reliability": "equal", **rest})
    items = votes.items
    if items.texts is not None and any(items.texts):
        items = ArgumentFeatures().fit(items.texts).items(items)
    curves: dict[tuple[str, int], list[float]] = {}
    for seed in range(own["seeds"]):
        for place, strategy in enumerate(_STRATEGIES):
            progress("replaying", seed * len(_STRATEGIES) + place, own["seeds"] * len(_STRATEGIES))
            for n, accuracy in _replay(base, decided, items, strategy, seed, own["n_labels"], own["batch"]):
                curves.setdefault((strategy, n), []).append(accuracy)
    rows = [mean_row("simulate", strategy, "accuracy", values) for (strategy, _), values in curves.items()]
    return pd.DataFrame(
        {
            "strategy": [strategy for strategy, _ in curves],
            "n_labels": [n for _, n in curves],
            "metric": "accuracy",
            "mean": [row.ours for row in rows],
            "low": [max(row.low, 0.0) if row.n > 1 else np.nan for row in rows],  # one split alone has no interval
            "high": [min(row.high, 1.0) if row.n > 1 else np.nan for row in rows],
            "n": [row.n for row in rows],
        }
    )


def _replay(
    base: PreferenceRanker, votes: Comparisons, items: Any, strategy: str, seed: int, n_labels: int, batch: int
) -> list[tuple[int, float]]:
    rng = np.random.default_rng(seed)
    X, y = votes.xy()
    order = rng.permutation(len(y))
    test, pool = order[: len(y) // 5], order[len(y) // 5 :]
    model = PreferenceRanker(**{**base.get_params(deep=False), "features": None})

    def learn(fitted: PreferenceRanker | None, asked: IntArray, new: IntArray) -> PreferenceRanker:
        if fitted is None:
            return model.fit(X.iloc[asked], y[asked], items=items)
        return fitted.partial_fit(X.iloc[new], y[new])

    def pick(fitted: PreferenceRanker, free: IntArray, n: int) -> IntArray:
        table = fitted.ask(n, strategy=strategy, candidates=X.iloc[free])
        rows = {pair: row for row, pair in zip(free, X.iloc[free].itertuples(index=False, name=None), strict=True)}
        return np.array([rows[pair] for pair in table[["left", "right"]].itertuples(index=False, name=None)])

    replayed = replay_votes(
        pool,
        pool[:batch],
        learn=learn,
        step=lambda n: batch if n < n_labels else 0,
        rng=rng,
        pick=None if strategy == "random" else pick,
    )
    return [(asked.size, float(np.mean(fitted.predict(X.iloc[test]) == y[test]))) for asked, fitted in replayed]


def _predict_rows(model: PreferenceRanker, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict_pairs(model, text_columns(table, ["left", "right"]), None)


TASK = Task(
    "pairs",
    train,
    predict,
    explain,
    RowReader(needed=lambda model: ("left", "right"), predict=_predict_rows),
    update=update,
    rank=rank,
    ask=ask,
    compare=compare,
    simulate=simulate,
)
