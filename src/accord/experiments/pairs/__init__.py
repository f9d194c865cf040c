"""The tables of [SG18] on arguments: classification, ranking, the noisy crowd, active learning."""

from collections import defaultdict

import numpy as np
from joblib import Parallel, delayed

from accord.data.corpora import convarg
from accord.data.corpora.convarg import ConvArg
from accord.evaluation.significance import wilcoxon
from accord.experiments.pairs.active import CHECKPOINTS, gram_of, simulate
from accord.experiments.pairs.crowd import majority
from accord.experiments.pairs.folds import Fold, classification, ranking, split
from accord.experiments.pairs.methods import BASELINES, Answers, answers, gppl, published, raw_hyperparameters
from accord.experiments.pairs.paper import PAPER
from accord.experiments.report import Row, mean_row
from accord.typing import FloatArray, Progress

__all__ = ["fold_results", "reproduce", "to_rows"]

# (table, row) → metric → value
Results = dict[tuple[str, str], dict[str, float]]

_CHEAP = ("longer", "logistic_diff")
_SLOW = ("bradley_terry", "pl_svr", "svm", "gpc")
_SEEDS = (0, 1, 2)
# Rows that take minutes a fold run on every fourth fold.
_EVERY = 4


def fold_results(corpus: ConvArg, name: str, *, slow: bool, quick: bool = False) -> Results:
    """All rows of one fold; ``slow`` adds the published kernels, SVM, GPC, other features, every worker's vote."""
    fold = split(corpus, name)
    strict, everything, crowd = (fold.train(votes) for votes in (corpus.strict, corpus.all, corpus.crowdsample))
    found: Results = {}

    def both(row: str, on_strict: Answers, on_all: Answers) -> None:
        found["strict", row] = classification(fold.test.value, on_strict[0])
        found["rank", row] = ranking(fold.gold, on_all[1])

    def all_six(row: str, given: Answers) -> None:
        found["crowd", row] = {**classification(fold.test.value, given[0]), **ranking(fold.gold, given[1])}

    theta = raw_hyperparameters(fold, learning_items=300 if quick else 600)
    both("gppl", answers(gppl(fold, strict, theta), fold), answers(gppl(fold, everything, theta), fold))
    all_six("gppl", answers(gppl(fold, crowd, theta, ties="margin"), fold))
    for row in _CHEAP:
        both(row, BASELINES[row](fold, strict), BASELINES[row](fold, everything))
        all_six(row, BASELINES[row](fold, crowd))
    found["rank", "pagerank"] = ranking(fold.gold, BASELINES["pagerank"](fold, everything)[1])
    if slow:
        found.update(_slow_results(fold, theta))
    return found


def _slow_results(fold: Fold, theta: FloatArray) -> Results:
    corpus, found = fold.corpus, Results()
    for row in _SLOW:
        p, score = BASELINES[row](fold, fold.train(corpus.strict))
        found["strict", row] = classification(fold.test.value, p)
        found["rank", row] = ranking(fold.gold, score)
    p, score = answers(gppl(fold, fold.train(corpus.crowdsample), theta), fold)
    found["crowd", "gppl_half"] = {**classification(fold.test.value, p), **ranking(fold.gold, score)}
    full = fold.train(corpus.crowd_full)
    for row, model in {
        "majority_vote": gppl(fold, majority(full), theta, ties="margin"),
        "mace": gppl(fold, fold.train(corpus.all), theta, ties="margin"),
        "gppl_full": gppl(fold, full, theta, ties="margin"),
        "gppl_reliability": gppl(fold, full, theta, ties="margin", reliability="em"),
    }.items():
        p, score = answers(model, fold)
        found["crowd", row] = {**classification(fold.test.value, p), **ranking(fold.gold, score)}
    for features in ("glove", "ling"):
        other = split(corpus, fold.name, features)
        own = raw_hyperparameters(other)
        p, _ = answers(gppl(other, other.train(corpus.strict), own), other)
        found["strict", f"gppl/{features}"] = classification(fold.test.value, p)
    other = split(corpus, fold.name, "ling+glove")
    for row, scales in (("gppl_median", "median"), ("gppl_mlii", "mlii")):
        model = published(scales, max_iter=4).fit(*other.train(corpus.strict).xy(), items=other.training_items)
        p, score = answers(model, other)
        found["strict", row] = classification(fold.test.value, p)
        found["rank", row] = ranking(fold.gold, score)
    return found


def active_results(corpus: ConvArg, name: str, *, quick: bool = False) -> dict[tuple[str, int], list[float]]:
    """Accuracy by strategy and number of votes, one value a seed."""
    fold = split(corpus, name)
    gram = gram_of(fold)
    found = defaultdict(list)
    for seed in _SEEDS[:1] if quick else _SEEDS:
        for strategy in ("random", "uncertainty", "bald"):
            reached = simulate(fold, gram, strategy=strategy, seed=seed, checkpoints=CHECKPOINTS[: 2 if quick else 4])
            for n, metrics in reached.items():
                found[strategy, n].append(metrics["accuracy"])
    return dict(found)


def to_rows(results: list[Results], active: list[dict[tuple[str, int], list[float]]]) -> list[Row]:
    """Means over folds with their intervals, the paper's figures beside them, and the tests between rows."""
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for key, metrics in result.items():
            for metric, value in metrics.items():
                values[key][metric].append(value)
    order = ("strict", "rank", "crowd")
    rows = [
        mean_row(table, row, metric, found, paper=PAPER.get((table, row), {}).get(metric))
        for table, row in sorted(values, key=lambda key: (order.index(key[0]), key[1]))
        for metric, found in values[table, row].items()
    ]
    names = {"bald": "gppl", "random": "random", "uncertainty": "uncertainty"}
    for strategy, n in sorted({key for result in active for key in result}, key=lambda key: (key[1], key[0])):
        seen = [value for result in active for value in result[strategy, n]]
        rows.append(mean_row("active", f"{names[strategy]}@{n}", "accuracy", seen))
    return rows + _tests(values, active)


def _tests(
    values: dict[tuple[str, str], dict[str, list[float]]], active: list[dict[tuple[str, int], list[float]]]
) -> list[Row]:
    """p values of Wilcoxon's signed-rank test over folds: our default against each row of the same folds."""
    rows = []
    for table, metric in (("strict", "cee"), ("strict", "accuracy"), ("rank", "spearman")):
        ours = values[table, "gppl"][metric]
        for (other_table, row), metrics in values.items():
            theirs = metrics.get(metric, [])
            if other_table == table and row != "gppl" and len(theirs) == len(ours) > 5:
                p = wilcoxon(np.array(ours), np.array(theirs)).p_value
                rows.append(Row("significance", f"gppl~{row}", f"{table}/{metric}", None, p, p, p, len(ours)))
    for n in CHECKPOINTS:
        ours = [v for result in active for v in result.get(("bald", n), [])]
        theirs = [v for result in active for v in result.get(("random", n), [])]
        if len(ours) > 5:
            p = wilcoxon(np.array(ours), np.array(theirs)).p_value
            rows.append(Row("significance", f"gppl~random@{n}", "active/accuracy", None, p, p, p, len(ours)))
    return rows


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """Tables 2 and 3, the crowd and Figure 7; ``quick`` takes three folds and the cheap rows."""
    corpus = convarg.load()
    names = [str(name) for name in np.unique(corpus.folds)]
    chosen = names[:: len(names) // 3][:3] if quick else names
    results: list[Results] = []
    jobs = (
        delayed(fold_results)(corpus, name, slow=not quick and place % _EVERY == 0, quick=quick)
        for place, name in enumerate(chosen)
    )
    for result in Parallel(n_jobs=workers, return_as="generator")(jobs):
        results.append(result)
        progress("folds", len(results), len(chosen))
    active = []
    asked = chosen[:1] if quick else chosen[::_EVERY]
    more = (delayed(active_results)(corpus, name, quick=quick) for name in asked)
    for reached in Parallel(n_jobs=workers, return_as="generator")(more):
        active.append(reached)
        progress("active learning", len(active), len(asked))
    return to_rows(results, active)
