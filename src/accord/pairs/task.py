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
from accord.typing import ObjectArray, Progress

__all__ = ["TASK", "ask", "compare", "explain", "predict", "predict_pairs", "rank", "simulate", "train", "update"]

_STRATEGIES = ("random", "uncertainty", "bald")


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> PreferenceRanker:
    """Fit the ranker to a project's votes, with features of its texts where it has texts.

    Undecided votes fall into a learned margin, and voters' reliability is learnt where each of several voters is known,
    unless the settings say otherwise.
    """
    votes = project.comparisons()
    if not votes.n_votes:
        raise InputError("training on pairs needs votes; this project has none. Import or collect some first.")
    progress("training", 0, 1)
    ranker = _ranker(votes, settings)
    X, y = votes.xy()
    ranker.fit(X, y, items=votes.items, annotator=_voters(ranker, votes))
    progress("training", 1, 1)
    return ranker


def update(model: PreferenceRanker, project: Project, fresh: Project) -> PreferenceRanker | None:
    """The ranker with the votes of ``fresh`` added, which are those of ``project`` that it has not seen.

    ``None`` where it must be trained from nothing: the texts or what is to be learnt about the voters have changed.
    """
    votes, new = project.comparisons(), fresh.comparisons()
    wanted = _ranker(votes, {})
    same = all(getattr(model, name) == getattr(wanted, name) for name in ("ties", "reliability")) and np.array_equal(
        model.items_.ids, votes.items.ids
    )
    if not same:
        return None
    if new.n_votes:
        X, y = new.xy()
        model.partial_fit(X, y, annotator=_voters(model, new))
    return model


def _voters(ranker: PreferenceRanker, votes: Comparisons) -> ObjectArray | None:
    """Who gave each vote, where the ranker learns about voters and all of them are known."""
    if ranker.reliability is None or votes.annotator is None or votes.annotators is None:
        return None
    return votes.annotators[votes.annotator]


def _ranker(votes: Comparisons, settings: Mapping[str, Any]) -> PreferenceRanker:
    chosen: dict[str, Any] = {"ties": "margin" if np.any(votes.value == 0.5) else "half"}
    if votes.annotator is not None and votes.annotators is not None:
        enough = len(votes.annotators) > 1 and votes.n_votes >= 5 * len(votes.annotators)
        chosen["reliability"] = "em" if enough and (votes.annotator >= 0).all() else None
    if votes.items.texts is not None and any(votes.items.texts):
        chosen["features"] = ArgumentFeatures()
    return configured(PreferenceRanker, {**chosen, **settings})


def rank(model: PreferenceRanker, project: Project) -> pd.DataFrame:
    """``rank, tier, item_id, score, low, high, p_best, n_votes``, best first."""
    table = model.rank(project.items())
    return table[["rank", "tier", "item_id", "score", "low", "high", "p_best", "n_votes"]]


def predict(model: PreferenceRanker, project: Project) -> pd.DataFrame:
    """Every pair that was voted on, once: ``left, right, p_left, p_undecided, std``."""
    return compare(model, project, project.comparisons().xy()[0].drop_duplicates(ignore_index=True))


def compare(model: PreferenceRanker, project: Project, pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs of a project's texts (``left, right``) with ``p_left, p_undecided, std``."""
    return predict_pairs(model, pairs, project.items())


def predict_pairs(model: PreferenceRanker, pairs: pd.DataFrame, items: Items | None) -> pd.DataFrame:
    """The same for pairs of the given items, or of those that the model was fitted to."""
    p = model.predict_proba(pairs, items=items)
    undecided = p[:, 1] if p.shape[1] == 3 else np.zeros(len(p))
    return pairs.assign(p_left=p[:, -1], p_undecided=undecided, std=model.predict_std(pairs, items=items))


def ask(model: PreferenceRanker, project: Project, n: int) -> pd.DataFrame:
    """The ``n`` pairs most worth asking about: ``left, right, gain, p_left``."""
    known = set(model.items_.ids)
    if any(name not in known for name in project.items().ids):
        raise InputError("the model does not know all texts of this project. Train it again.")
    return model.ask(n)


def explain(model: PreferenceRanker, project: Project, target: str) -> pd.DataFrame:
    """Why a text scores as it does: ``reason, effect``, strongest first in each kind of reason."""
    table = model.explain(target, items=project.items())
    return pd.DataFrame({"reason": table["kind"] + " " + table["name"], "effect": table["share"]})


def simulate(project: Project, settings: Mapping[str, Any], progress: Progress) -> pd.DataFrame:
    """Replay the votes: ``strategy, n_labels, metric, mean, low, high``, the accuracy on a fifth of the pairs.

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
    base = _ranker(decided, {"length_scales": "base", "ties": "half", "reliability": None, **rest})
    items = votes.items
    if base.features is not None and items.texts is not None:
        items = base.features.fit(items.texts).items(items)
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
            "low": [row.low for row in rows],
            "high": [row.high for row in rows],
        }
    )


def _replay(
    base: PreferenceRanker, votes: Comparisons, items: Any, strategy: str, seed: int, n_labels: int, batch: int
) -> list[tuple[int, float]]:
    rng = np.random.default_rng(seed)
    X, y = votes.xy()
    order = rng.permutation(len(y))
    test, pool = order[: len(y) // 5], order[len(y) // 5 :]
    asked = pool[:batch]
    model = PreferenceRanker(**{**base.get_params(deep=False), "features": None})
    model.fit(X.iloc[asked], y[asked], items=items)
    reached = []
    while True:
        reached.append((asked.size, float(np.mean(model.predict(X.iloc[test]) == y[test]))))
        free = np.setdiff1d(pool, asked)
        if asked.size >= n_labels or not free.size:
            return reached
        if strategy == "random":
            new = rng.permutation(free)[:batch]
        else:
            table = model.ask(batch, strategy=strategy, candidates=X.iloc[free])
            rows = {pair: row for row, pair in zip(free, X.iloc[free].itertuples(index=False, name=None), strict=True)}
            new = np.array([rows[pair] for pair in table[["left", "right"]].itertuples(index=False, name=None)])
        model.partial_fit(X.iloc[new], y[new])
        asked = np.concatenate([asked, new])


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
