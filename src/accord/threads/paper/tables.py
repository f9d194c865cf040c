"""The tables of [JMN16]: every row as a choice, on three feature sets, and what only a joint model can do.

Choices are made by cross-validation over the threads of train plus dev.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from accord.data.corpora import cqa
from accord.data.threads import Threads
from accord.evaluation.metrics import accuracy
from accord.evaluation.significance import approximate_randomisation
from accord.evaluation.splits import group_folds
from accord.evaluation.tables import Paper, Row
from accord.texts.cache import default_cache_dir
from accord.threads import ThreadClassifier
from accord.threads.estimator import DECODERS
from accord.threads.features.edges import ThreadEdges
from accord.threads.features.table import ThreadFeatures
from accord.threads.models import APART
from accord.threads.paper.picture import draw_thread
from accord.threads.paper.scores import (
    Outcome,
    joined_outcomes,
    macro_row,
    mean_outcome,
    mrr_row,
    ratio_row,
    score_rows,
)
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray, Progress

__all__ = ["PAPER", "ROWS", "reproduce"]

# Figures of [JMN16], Tables 1 to 3: P, R, F1, accuracy.
PRINTED: dict[str, tuple[float, float, float, float]] = {
    "majority": (50.5, 100.0, 67.1, 50.5),
    "icc_me": (75.1, 85.8, 80.1, 78.5),
    "icc_perc": (76.6, 82.4, 79.4, 78.4),
    "li_me_gc": (77.4, 83.6, 80.4, 79.4),
    "li_me_ilp": (77.0, 83.5, 80.2, 79.1),  # Table 2, of an earlier paper
    "li_me_lbp": (76.4, 84.6, 80.3, 79.1),
    "joint_me_lbp": (76.1, 84.4, 80.0, 78.7),
    "joint_perc_lbp": (77.1, 74.5, 75.8, 76.0),
    "fccrf": (77.3, 86.2, 81.5, 80.5),
    "fccrf_sgd": (77.3, 86.2, 81.5, 80.5),  # the paper's own optimiser
    "fccrf_bias": (77.2, 86.0, 81.4, 80.1),
    "fccrf_4c": (78.8, 79.7, 79.3, 79.0),
    "lccrf_1": (76.1, 83.2, 79.4, 78.3),
    "lccrf_2": (76.8, 82.1, 79.3, 78.4),
}

# Each row of the paper as settings of ThreadClassifier.
_NODES = {"node_penalty": 18.0, "edge_penalty": 1800.0}
_JOINT = {"coupling": "joint", **_NODES}
_PAIRS = {"edges": "ising", **_JOINT}
_APART = {"edges": "ising", "node_penalty": 18.0, "edge_penalty": 13_000.0}  # the edges' loss is a sum over pairs
ROWS: dict[str, dict[str, Any]] = {
    "icc_me": {"model": "local", **_NODES},
    "icc_perc": {"model": "local", "learner": "voted", "n_epochs": 2},
    "li_me_gc": {"model": "local+cut", **_APART},
    "li_me_ilp": {"model": "local+ilp", **_APART},
    "li_me_lbp": {"model": "local+lbp", **_APART},
    "joint_me_lbp": {"model": "joint", "learner": "sgd", "n_epochs": 3, **_PAIRS},
    "joint_perc_lbp": {"model": "joint", "learner": "averaged", "n_epochs": 3, **_PAIRS},
    "fccrf": _PAIRS,
    "fccrf_sgd": {"learner": "sgd", "n_epochs": 3, **_PAIRS},
    "fccrf_bias": {"edges": "bias", **_JOINT},
    "fccrf_4c": {**_PAIRS, "edges": "full"},
    "lccrf_1": {"model": "chain", **_PAIRS, "edges": "full", "edge_scale": "none"},
    "lccrf_2": {"model": "chain", "order": 2, **_JOINT, "edge_scale": "none"},
}

# What cross-validation chooses between.
GRIDS: dict[str, list[dict[str, Any]]] = {
    "fccrf_bias": [{**ROWS["fccrf_bias"], "edge_scale": scale} for scale in ("none", "length")],
}
EDGES = [*GRIDS["fccrf_bias"], ROWS["fccrf"]]
WINNER_2016 = {"map": 79.19}  # the best system of SemEval 2016 task 3, subtask A
CRFS = ("fccrf", "fccrf_bias", "fccrf_4c", "lccrf_1", "lccrf_2")  # trained on the likelihood of whole threads
JOINT = (*CRFS, "li_me_lbp", "li_me_gc")
SHIPPED = "default"  # the classifier as it comes, from texts
MEAN = "joint_mean"  # the mean probability of all CRFS
GIVEN = (0, 1, 2, 3)
_DRAWN = 8  # comments of the thread that is drawn
N_DRAWS = 5
_LENGTHS = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 10**6))


@dataclass(frozen=True, eq=False)
class Features:
    """Node and edge features of some threads, with their labels."""

    X: pd.DataFrame
    edges: ThreadEdges | None
    y: ObjectArray
    thread: IntArray

    @property
    def truth(self) -> IntArray:
        return np.asarray(self.y == "Good").astype(np.int64)

    def rows(self, mask: AnyArray) -> "Features":
        """Some of the comments; the edge record is shared."""
        return replace(self, X=self.X[mask], y=self.y[mask], thread=self.thread[mask])


def binary(threads: Threads) -> Threads:
    """Good against all the rest."""
    assert threads.labels is not None  # all parts of the corpus are labelled
    return replace(threads, labels=np.where(threads.labels == "Good", "Good", "Bad").astype(object))


def three_labels(threads: Threads) -> Threads:
    """Good, Potential, and Bad for all the rest, as SemEval 2015 scored them."""
    assert threads.labels is not None  # see binary
    kept = np.isin(threads.labels, ["Good", "Potential"])
    return replace(threads, labels=np.where(kept, threads.labels, "Bad").astype(object))


def _own_labels(threads: Threads) -> Threads:
    return threads


def joined(parts: Sequence[Threads]) -> Threads:
    """Several parts as one record."""

    def column(name: str) -> ObjectArray:
        return np.concatenate([getattr(part, name) for part in parts])

    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    names = ("thread_ids", "comment_ids", "texts", "questions", "askers", "categories", "authors", "labels")
    return Threads(offsets=np.concatenate([[0], np.cumsum(sizes)]), **{name: column(name) for name in names})


def made(name: str, train: Threads, test: Threads, vectors: Any, *, folds: int) -> tuple[Features, Features]:
    """Features of training and test threads; nothing of the test threads enters the fit."""
    transformer = ThreadFeatures(features=name, n_folds=folds, cache_dir=default_cache_dir())
    given = vectors if name == "full" else None
    X = transformer.fit_transform(train, vectors=given)
    sets = []
    for threads, table in ((train, X), (test, transformer.transform(test, vectors=given))):
        assert threads.labels is not None  # see binary
        sets.append(Features(table, transformer.edges(threads, vectors=given), threads.labels, threads.thread_of))
    return sets[0], sets[1]


def fitted(settings: Mapping[str, Any], data: Features) -> ThreadClassifier:
    """A model trained on some comments."""
    return ThreadClassifier(**settings).fit(data.X, data.y, groups=data.thread, edges=data.edges)


def decoded(model: ThreadClassifier, how: str) -> ThreadClassifier:
    """A model whose node and edge classifiers were trained apart, with its labels by another of these models."""
    return copy(model).set_params(model=how)


def outcome(model: ThreadClassifier, data: Features, known: AnyArray | None = None) -> Outcome:
    """What a model says of comments."""
    given: dict[str, Any] = {"groups": data.thread, "edges": data.edges, "known": known}
    p = model.predict_proba(data.X, **given)[:, model.classes_.tolist().index("Good")]
    said = np.asarray(model.predict(data.X, **given) == "Good") if model.model in DECODERS else p > 0.5
    return Outcome(data.thread, data.truth, said.astype(np.int64), p)


def overlaps(threads: Threads, held: Threads) -> AnyArray:
    """Threads whose question also stands in ``held``: equal in its first 120 letters and digits."""

    def keys(part: Threads) -> list[str]:
        assert part.questions is not None  # the corpus has all questions
        return [re.sub(r"[^a-z0-9]", "", str(text).lower())[:120] for text in part.questions]

    seen = set(keys(held))
    return np.array([key in seen for key in keys(threads)])


class Experiment:
    """One run: the corpus, how much of it, and what is reported on the way."""

    def __init__(self, *, quick: bool, progress: Progress) -> None:
        self.quick = quick
        self.progress = progress
        self.n_folds = 3 if quick else 5
        self.n_rounds = 1000 if quick else 10_000
        train = joined([cqa.load("2015/train"), cqa.load("2015/dev")])
        self.finer = self.some(train)  # six labels
        self.train = binary(self.finer)
        self.test = binary(cqa.load("2015/test"))
        self.vectors = cqa.vectors()
        self.fold = group_folds(np.arange(self.train.n_threads), n_folds=self.n_folds, random_state=0)
        self.steps = 0
        self._made: dict[str, tuple[Features, Features]] = {}

    def some(self, threads: Threads) -> Threads:
        """All threads, or 250 drawn ones in a quick run."""
        if not self.quick:
            return threads
        return threads.subset(np.sort(np.random.default_rng(0).permutation(threads.n_threads)[:250]))

    def whole(self, name: str) -> tuple[Features, Features]:
        """Features of all training threads and of the test threads, made once."""
        if name not in self._made:
            self.note(f"{name}: features")
            self._made[name] = made(name, self.train, self.test, self.vectors, folds=self.n_folds)
        return self._made[name]

    def note(self, what: str) -> None:
        self.steps += 1
        self.progress(what, self.steps, max(self.steps, 20))

    def settings(self, base: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a row, with fewer passes in a quick run."""
        return {**base, "n_epochs": 1} if self.quick and "n_epochs" in base else dict(base)

    def validation_sets(self, name: str) -> list[tuple[Features, Features]]:
        """Features of each fold's training and held-out threads, made once.

        Only the stacked ones use labels. Those of a held-out comment come from classifiers that have not seen its
        thread; those of the training comments come from classifiers that have seen some of the held-out threads.
        """
        whole, _ = self.whole(name)
        fold = self.fold[whole.thread]
        return [(whole.rows(fold != k), whole.rows(fold == k)) for k in range(self.n_folds)]

    def choose(self, name: str) -> tuple[dict[str, dict[str, Any]], str, list[Row]]:
        """Settings of the joint rows, the joint row with the most hits in cross-validation, and all gains there."""
        sets = self.validation_sets(name)
        unit, base = _pooled([outcome(fitted(ROWS["icc_me"], train), held) for train, held in sets])
        chosen = {row: self.settings(ROWS[row]) for row in ROWS}
        held_out: dict[str, list[Outcome]] = {}
        models: list[ThreadClassifier] = []
        for row in JOINT:
            scores = []
            for settings in GRIDS.get(row, [ROWS[row]]):
                self.note(f"{name}: cross-validation of {row}")
                # The graph cut decodes what belief propagation was trained for.
                models = (
                    [decoded(model, "local+cut") for model in models]
                    if row == "li_me_gc"
                    else [fitted(settings, train) for train, _ in sets]
                )
                found = [outcome(model, held) for model, (_, held) in zip(models, sets, strict=True)]
                scores.append((_pooled(found)[1].mean(), settings, found))
            _, best, held_out[row] = max(scores, key=lambda entry: entry[0])
            chosen[row] = dict(best)
        held_out[MEAN] = [mean_outcome(parts) for parts in zip(*(held_out[row] for row in CRFS), strict=True)]
        rows = [ratio_row(name, "icc_me", "cv_accuracy", unit, base)]
        hits = {row: _pooled(found)[1] for row, found in held_out.items()}
        for row, right in hits.items():
            rows.append(ratio_row(name, row, "cv_accuracy", unit, right))
            rows.append(ratio_row(name, row, "cv_gain", unit, right - base))
        return chosen, max(hits, key=lambda row: hits[row].mean()), rows

    def table(self, name: str) -> tuple[list[Row], dict[str, Outcome]]:
        """All rows of Tables 1 and 3 for one feature set.

        ``chosen`` is the joint row that cross-validation chose, with calibrated probabilities.
        """
        chosen, winner, rows = self.choose(name)
        self.note(f"{name}: {winner} is chosen")
        train, test = self.whole(name)
        majority = Outcome(test.thread, test.truth, np.ones(len(test.y), dtype=np.int64), np.full(len(test.y), 0.5))
        outcomes = {"majority": majority}
        models: dict[str, ThreadClassifier] = {}
        for row, settings in chosen.items():
            self.note(f"{name}: {row}")
            # Models whose parts are trained apart differ only in how they label.
            apart = next((model for model in models.values() if model.model in APART), None)
            how = settings.get("model")
            models[row] = decoded(apart, how) if apart is not None and how in APART else fitted(settings, train)
            outcomes[row] = outcome(models[row], test)
        rows += pair_rows(name, models["li_me_lbp"], test)
        outcomes[MEAN] = mean_outcome([outcomes[row] for row in CRFS])
        outcomes["chosen"] = (
            outcomes[MEAN] if winner == MEAN else outcome(fitted({**chosen[winner], "calibrate": True}, train), test)
        )
        for row, found in outcomes.items():
            figures = dict(zip(("p", "r", "f1", "accuracy"), PRINTED.get(row, ()), strict=False))
            rows += score_rows(name, row, found, paper=figures)
        local = outcomes["icc_me"]
        for row in (*JOINT, MEAN, "chosen"):
            other = outcomes[row]
            rows.append(ratio_row(name, row, "gain", local.thread, other.right - local.right))
            rows.append(self.p_value(name, row, local, other))
        return rows, outcomes

    def shipped(self) -> list[Row]:
        """The classifier as it comes, trained on texts, and on the other comments where k labels of a thread are given.

        ``alone`` judges every comment by itself.
        """
        table = self.test.to_table().drop(columns="label")
        assert self.test.labels is not None  # see binary
        test = Features(table, None, self.test.labels, self.test.thread_of)
        rows = []
        for row, model in ((SHIPPED, "fccrf"), ("alone", "local")):
            self.note(f"shipped: {row}")
            fit = ThreadClassifier(model=model, cache_dir=str(default_cache_dir())).fit(self.train)
            rows += score_rows("shipped", row, outcome(fit, test))
            for k, found in enumerate(outcomes_given(fit, test)):
                rows.append(ratio_row("shipped", f"{row}@{k}", "accuracy", *_pooled([found])))
        return rows

    def more_labels(self) -> list[Row]:
        """The classifier as it comes with the three labels of the task of 2015, and with all six.

        ``majority`` gives every comment the label that most have.
        """
        raw = cqa.load("2015/test")
        rows = []
        for k, labels_of in ((3, three_labels), (6, _own_labels)):
            self.note(f"labels: {k}")
            train, truth = labels_of(self.finer), np.asarray(labels_of(raw).labels)
            test = raw.to_table().drop(columns="label")
            said = ThreadClassifier(cache_dir=str(default_cache_dir())).fit(train).predict(test)
            most = pd.Series(train.labels).mode()[0]
            for row, own in (("default", said), ("majority", np.full(len(said), most))):
                rows.append(ratio_row("labels", f"{row}@{k}", "accuracy", raw.thread_of, (own == truth).astype(float)))
                rows.append(macro_row("labels", f"{row}@{k}", raw.thread_of, truth, own))
        return rows

    def p_value(self, table: str, row: str, local: Outcome, other: Outcome) -> Row:
        """Approximate randomisation of the accuracy: over comments as in [JMN16], over threads where labels are given.

        Comments are drawn more than once there, so that only whole threads can be swapped.
        """
        groups = local.thread if table == "given" else None
        found = approximate_randomisation(
            accuracy, local.truth, other.predicted, local.predicted, groups=groups, n_rounds=self.n_rounds
        )
        return Row(table, row, "p_value", None, found.p_value, found.p_value, found.p_value, 1)

    def given(self, name: str) -> list[Row]:
        """Accuracy on the other comments of a thread when k labels are given, in cross-validation and on test.

        The edges are those with the most hits at k = 2 in cross-validation. Rows of the ``paper`` features have no
        further name, as in the tables.
        """
        rows = []
        validation = self.validation_sets(name)
        self.note(f"given: {name}, choice of the edges")
        folds = [[outcomes_given(fitted(settings, train), held) for train, held in validation] for settings in EDGES]
        at_two = [np.mean(np.concatenate([fold[2].right for fold in found])) for found in folds]
        best = int(np.argmax(at_two))
        local = [outcomes_given(fitted(ROWS["icc_me"], train), held) for train, held in validation]
        train, test = self.whole(name)
        test_joint = outcomes_given(fitted(EDGES[best], train), test)
        test_local = outcomes_given(fitted(ROWS["icc_me"], train), test)
        for k in GIVEN:
            for row, cv, found in (("icc_me", local, test_local), ("fccrf", folds[best], test_joint)):
                label = f"{row}@{k}" if name == "paper" else f"{row}/{name}@{k}"
                unit, right = _pooled([fold[k] for fold in cv])
                rows.append(ratio_row("given", label, "accuracy", *_pooled([found[k]])))
                rows.append(ratio_row("given", label, "cv_accuracy", unit, right))
                if row == "fccrf":
                    base = _pooled([fold[k] for fold in local])[1]
                    rows.append(ratio_row("given", label, "cv_gain", unit, right - base))
                    where, there = _pooled([found[k]])
                    rows.append(ratio_row("given", label, "gain", where, there - test_local[k].right))
                    rows.append(self.p_value("given", label, test_local[k], found[k]))
        return rows

    def year_2016(self) -> list[Row]:
        """Ranking on the threads of 2016, trained on both years without the questions that are tested.

        As in the task's own scorer, a thread without a good answer counts as 0.
        """
        test = binary(cqa.load("2016/test"))
        late = binary(self.some(cqa.load("2016/train")))
        early = self.train if self.quick else binary(cqa.load("2015/train"))
        train = joined([part.subset(~overlaps(part, test)) for part in (early, late)])
        known, new = made("full", train, test, None, folds=self.n_folds)
        rows = []
        for row, settings in (("icc_me", ROWS["icc_me"]), ("fccrf", GRIDS["fccrf_bias"][1])):
            self.note(f"2016: {row}")
            found = outcome(fitted(settings, known), new)
            scores = score_rows("2016", row, found, all_threads=True, paper=WINNER_2016)
            rows += [score for score in scores if score.metric in ("map", "accuracy", "f1")]
            rows.append(mrr_row("2016", row, found, all_threads=True))
        return rows


def outcomes_given(model: ThreadClassifier, data: Features) -> list[Outcome]:
    """For k = 0 … 3: k comments of each thread have their labels given; scored on the same other comments for all k.

    Only threads of four comments or more count. Which comments are given is drawn several times, the same for every
    model; the hits of all draws are put together.
    """
    size = pd.Series(data.thread).groupby(data.thread).transform("size").to_numpy()
    parts: list[list[Outcome]] = [[] for _ in GIVEN]
    for draw in range(N_DRAWS):
        order = np.random.default_rng(draw).permutation(len(data.y))
        turn = np.empty(len(order), dtype=np.int64)
        turn[order] = pd.Series(data.thread[order]).groupby(data.thread[order]).cumcount().to_numpy()
        counted = (size > max(GIVEN)) & (turn >= max(GIVEN))
        for k in GIVEN:
            known = data.y.copy()
            known[turn >= k] = None
            parts[k].append(outcome(model, data, known if k else None).rows(counted))
    return [joined_outcomes(draws) for draws in parts]


def _pooled(folds: Sequence[Outcome]) -> tuple[IntArray, FloatArray]:
    """Threads (numbered from 0 over all folds) and hits of several folds."""
    unit = np.concatenate([found.thread + 100_000 * k for k, found in enumerate(folds)])
    return np.unique(unit, return_inverse=True)[1], np.concatenate([found.right for found in folds])


def pair_rows(table: str, model: ThreadClassifier, data: Features) -> list[Row]:
    """How often the edge classifier by itself tells whether two comments of a thread have equal labels."""
    posed = model._pose(data.X, data.thread, edges=data.edges)
    graphs, truth = posed.graphs, data.truth[posed.rows.order]
    same = truth[graphs.edges[:, 0]] == truth[graphs.edges[:, 1]]
    right = ((graphs.edge_scores > 0) == same).astype(np.float64)
    return [ratio_row(table, "pairs", "accuracy", graphs.edge_graph.astype(np.int64), right)]


def length_rows(outcomes: Mapping[str, Outcome]) -> list[Row]:
    """Accuracy by the length of the thread."""
    rows = []
    for row in ("icc_me", "li_me_lbp", "fccrf", "fccrf_bias"):
        found = outcomes[row]
        size = np.bincount(found.thread)[found.thread]
        for low, high in _LENGTHS:
            inside = (size >= low) & (size <= high)
            name = f"{row}@{low}" if low == high else f"{row}@{low}-{high}" if high < 10**6 else f"{row}@{low}+"
            thread = np.unique(found.thread[inside], return_inverse=True)[1]
            rows.append(ratio_row("length", name, "accuracy", thread, found.right[inside]))
    return rows


def error_rows(outcomes: Mapping[str, Outcome]) -> list[Row]:
    """Section 5.2: how often local, inference and joint model are right and disagree, in threads of two or more."""
    pairs = {"local_inference": ("icc_me", "li_me_gc", 6.0), "local_joint": ("icc_me", "fccrf", 9.9)}
    pairs["inference_joint"] = ("li_me_gc", "fccrf", 8.8)
    rows = []
    for name, row, figure in (("local", "icc_me", 78.7), ("inference", "li_me_gc", 79.1), ("joint", "fccrf", 80.4)):
        found = outcomes[row]
        inside = np.bincount(found.thread)[found.thread] >= 2
        thread = np.unique(found.thread[inside], return_inverse=True)[1]
        rows.append(ratio_row("errors", name, "accuracy", thread, found.right[inside], paper=figure))
    for name, (first, second, paper) in pairs.items():
        a, b = outcomes[first], outcomes[second]
        inside = np.bincount(a.thread)[a.thread] >= 2
        thread = np.unique(a.thread[inside], return_inverse=True)[1]
        differ = (a.predicted != b.predicted)[inside].astype(np.float64)
        rows.append(ratio_row("errors", name, "disagreement", thread, differ, paper=paper))
    return rows


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """The tables ``text``, ``paper``, ``full``, ``given``, ``shipped``, ``labels``, ``2016``, ``length``, ``errors``.

    Everything runs in this process; ``workers`` is not looked at.
    ``quick`` trains on 250 threads of a year and gives labels to the nodes of ``text`` and ``paper`` only.
    """
    run = Experiment(quick=quick, progress=progress)
    return [row for part in PARTS for row in PARTS[part](run)]


def _paper_tables(run: Experiment) -> list[Row]:
    rows, outcomes = run.table("paper")
    return rows + length_rows(outcomes) + error_rows(outcomes)


PARTS: dict[str, Callable[[Experiment], list[Row]]] = {
    "text": lambda run: run.table("text")[0],
    "paper": _paper_tables,
    "full": lambda run: run.table("full")[0],
    "given": lambda run: [
        row for name in ("text", "paper", "full")[: 2 if run.quick else 3] for row in run.given(name)
    ],
    "shipped": Experiment.shipped,
    "labels": Experiment.more_labels,
    "2016": Experiment.year_2016,
}


def draw_figures(rows: Sequence[Row], folder: str | Path) -> list[Path]:
    """One test thread of eight comments, with the evidence of each comment and the pulls between them."""
    train, test = binary(cqa.load("2015/train")).subset(np.arange(300)), binary(cqa.load("2015/test"))
    one = test.subset(np.flatnonzero(np.diff(test.offsets) == _DRAWN)[:1])
    model = ThreadClassifier(features="text", **ROWS["fccrf"]).fit(train)
    reasons, p = model.explain(one, label="Good"), model.predict_proba(one)[:, model.classes_.tolist().index("Good")]
    return [draw_thread(reasons, p, Path(folder) / "threads.svg", title=str(one.thread_ids[0]))]


PAPER = Paper(reproduce, draw_figures=draw_figures)
