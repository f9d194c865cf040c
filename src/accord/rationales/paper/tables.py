"""The tables of [ZE08] on the movie reviews: learning curves, ablation, annotators' styles, highlights and asking.

The rationales of the paper's annotators A3 to A8 are not public, so its Table 3 is shown in form only, with a second
annotation of fifty reviews. The paper prints its learning curves as a picture, so it has no figure to compare.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accord.data.corpora import rationales as movie_rationales
from accord.evaluation.significance import paired_permutation
from accord.evaluation.tables import Paper, Row, mean_row
from accord.rationales.annotator import Strengths
from accord.rationales.annotator_fit import AnnotatorFit
from accord.rationales.paper.annotators import ASK_COUNTS, ask_curve, eraser_table, fit_most, style_table
from accord.rationales.paper.curves import (
    METHODS,
    ROTATIONS,
    SIZES,
    TEST_FOLD,
    Corpus,
    accuracies,
    fit_rows,
    prepare,
    rotation_curve,
    training_rows,
)
from accord.scale.processes import run_each
from accord.typing import BoolArray, FloatArray, IntArray, Progress

__all__ = ["PAPER", "reproduce"]

_ABLATION_SIZES = (400, 1600)
# For the quick look, and for what is not a comparison of classifiers.
_FIXED = Strengths(0.01, 0.03)


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """All tables.

    Parameters
    ----------
    quick : bool
        Three rotations, two sizes and fixed strengths instead of nine rotations, eight sizes and inner folds.
    progress : callable
    workers : int
        Processes.
    """
    reviews = movie_rationales.load()
    corpus = prepare(reviews)
    rotations, sizes = (ROTATIONS[::3], SIZES[:2]) if quick else (ROTATIONS, SIZES)
    ablated = [size for size in _ABLATION_SIZES if size in sizes]
    n = len(rotations) + 2
    progress("rationales: learning curves", 0, n)
    work = ((corpus, rotation, sizes, ablated, _FIXED if quick else None) for rotation in rotations)
    results = []
    for result in run_each(_rotation, work, n_jobs=workers):
        results.append(result)
        progress("rationales: learning curves", len(results), n)
    fit = fit_most(corpus, _FIXED, size=400 if quick else 1600)
    rows = [*_curve_rows(corpus, rotations, sizes, results), *_ablation_rows(results, ablated)]
    rows += style_table(corpus, reviews, fit)
    progress("rationales: predicted highlights", n - 1, n)
    rows += eraser_table(corpus, reviews, fit)
    rows += [
        mean_row("ask", f"{name}@{count}", "accuracy", [result["ask"][name][count] for result in results])
        for name in ("ask", "random")
        for count in ASK_COUNTS
    ]
    progress("rationales: done", n, n)
    return rows


def _rotation(
    corpus: Corpus, rotation: int, sizes: Sequence[int], ablated: Sequence[int], fixed: Strengths | None
) -> dict[str, Any]:
    """Everything that belongs to one rotation of the folds."""
    right = rotation_curve(corpus, rotation, sizes, fixed=fixed)
    return {
        "right": right,
        "ablation": {size: _ablation(corpus, rotation, size, right) for size in ablated},
        "ask": ask_curve(corpus, rotation, fixed or right["strengths"][400]),
    }


def _ablation(
    corpus: Corpus, rotation: int, size: int, right: dict[str, dict[int, Any]]
) -> dict[str, tuple[float, float]]:
    """Accuracy on F9 and on held-out folds with fewer features, and with other readings of the model."""
    rows, strengths = training_rows(corpus.folds, rotation, size), right["strengths"][size]
    variants = {"six": fit_rows(corpus.plain, rows, strengths)}
    if size == _ABLATION_SIZES[0]:
        variants |= _other_readings(corpus, rows, strengths)
    found = {name: _right(corpus, fit.theta) for name, fit in variants.items()}
    found |= {"words": right["rationales"][size], "log_linear": right["log_linear"][size]}
    return {name: accuracies(corpus, rotation, size, value) for name, value in found.items()}


def _other_readings(corpus: Corpus, rows: IntArray, strengths: Strengths) -> dict[str, AnnotatorFit]:
    """Other rules for the emission weights, and the prior on φ as the paper prints it."""
    return {
        "tied": fit_rows(corpus.marked, rows, strengths, emissions="tied"),
        "free": fit_rows(corpus.marked, rows, strengths, emissions="free"),
        "printed_prior": fit_rows(corpus.marked, rows, replace(strengths, printed_prior=True)),
    }


def _right(corpus: Corpus, theta: FloatArray) -> BoolArray:
    return np.asarray((corpus.marked.design @ theta[0] > 0) == corpus.labels)


def _curve_rows(
    corpus: Corpus, rotations: Sequence[int], sizes: Sequence[int], results: list[dict[str, Any]]
) -> list[Row]:
    rows = []
    for place, table in enumerate(("f9", "heldout")):
        for size in sizes:
            per_text = {}
            for method in METHODS:
                right = [result["right"][method][size] for result in results]
                values = [accuracies(corpus, r, size, x)[place] for r, x in zip(rotations, right, strict=True)]
                rows.append(mean_row(table, f"{method}@{size}", "accuracy", values))
                per_text[method] = _mean_by_text(corpus, rotations, size, right, on_f9=table == "f9")
            for peer in ("log_linear", "svm", "masking_svm"):
                p = paired_permutation(per_text["rationales"], per_text[peer]).p_value
                rows.append(mean_row(table, f"rationales@{size}", f"p_over_{peer}", [p]))
    return rows


def _mean_by_text(
    corpus: Corpus, rotations: Sequence[int], size: int, right: list[BoolArray], *, on_f9: bool
) -> FloatArray:
    """How often each review outside training is classified rightly, over the rotations that leave it out."""
    outside = np.ones((len(rotations), len(corpus.labels)), dtype=bool)
    for row, rotation in enumerate(rotations):
        outside[row, training_rows(corpus.folds, rotation, size)] = False
    counted = outside & ((corpus.folds == TEST_FOLD) == on_f9)
    some = counted.any(axis=0)
    return np.asarray((np.stack(right) & counted).sum(axis=0)[some] / counted.sum(axis=0)[some])


def _ablation_rows(results: list[dict[str, Any]], sizes: Sequence[int]) -> list[Row]:
    rows = []
    for size in sizes:
        table = {name: np.array([r["ablation"][size][name] for r in results]) for name in results[0]["ablation"][size]}
        for name, values in table.items():
            rows.append(mean_row("ablation", f"{name}@{size}", "accuracy", values[:, 1]))
            rows.append(mean_row("ablation", f"{name}@{size}", "accuracy_f9", values[:, 0]))
        gain = table["words"].mean(axis=0) - table["log_linear"].mean(axis=0)
        share = (table["six"].mean(axis=0) - table["log_linear"].mean(axis=0)) / gain
        rows.append(mean_row("ablation", f"six@{size}", "share_of_gain", [share[1]]))
        rows.append(mean_row("ablation", f"six@{size}", "share_of_gain_f9", [share[0]]))
    return rows


PAPER = Paper(reproduce)
