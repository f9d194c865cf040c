"""The tables of [ZE08] on the movie reviews: learning curves, ablation, annotators' styles, highlights and asking.

Every row comes from the exported classes: RationaleClassifier (without rationales, it is the log-linear baseline),
MaskingSVMClassifier (without rationales, the linear SVM) and TokenClassifier. The rationales of the paper's annotators
A3 to A8 are not public, so its Table 3 is shown in form only, with a second annotation of fifty reviews. The paper
prints its learning curves as a picture, so from 200 reviews on it has no figure to compare; of its Table 1 (20 and 100
reviews, tested on F9) the column of A0 stands beside ours. All rows but ``default`` have the paper's settings.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accord.data.corpora import rationales as movie_rationales
from accord.evaluation.resume import FinishedParts
from accord.evaluation.significance import paired_permutation
from accord.evaluation.tables import Paper, Row, mean_row
from accord.rationales.estimator import RationaleClassifier
from accord.rationales.paper.annotators import (
    ASK_COUNTS,
    ask_curve,
    eraser_table,
    fit_most,
    likelihood_table,
    phi_table,
    style_table,
)
from accord.rationales.paper.curves import (
    DEFAULT_SIZES,
    METHODS,
    ROTATIONS,
    SIZES,
    TEST_FOLD,
    Corpus,
    accuracies,
    default_curve,
    prepare,
    rotation_curve,
    training_rows,
)
from accord.rationales.paper.predicted import HIGHLIGHT_SIZES, predicted_highlights, predicted_rows, short_texts
from accord.scale.processes import run_each
from accord.typing import BoolArray, FloatArray, Progress

__all__ = ["PAPER", "reproduce"]

_ABLATION_SIZES = (400, 1600)
# For the quick look, and for what is not a comparison of classifiers.
_FIXED: dict[str, Any] = {"C": 0.01, "theta_variance": 0.03}
_FIXED_SHORT: dict[str, Any] = {"C": 0.3, "theta_variance": 0.5}
# [ZE08] Table 1, annotator A0.
_TABLE_1 = {
    20: {"svm": 63.4, "masking_svm": 65.4, "log_linear": 63.0, "rationales": 65.8},
    100: {"svm": 72.0, "masking_svm": 75.0, "log_linear": 71.0, "rationales": 76.0},
}


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """All tables; a full run that is cut off goes on where it stopped when it is started again.

    Parameters
    ----------
    quick : bool
        One rotation, five sizes and fixed strengths instead of nine rotations, ten sizes and inner folds.
    progress : callable
    workers : int
        Processes.
    """
    reviews = movie_rationales.load()
    corpus = prepare(reviews)
    rotations, sizes = (ROTATIONS[:1], (20, 200, 400, 800, 1600)) if quick else (ROTATIONS, SIZES)
    ablated = list(_ABLATION_SIZES[:1] if quick else _ABLATION_SIZES)
    n = len(rotations) + 2
    progress("rationales: learning curves", 0, n)
    kept = FinishedParts() if quick else FinishedParts.of("rationales", corpus.texts, corpus.labels, corpus.spans)

    def one(rotation: int) -> dict[str, Any]:
        fixed = _FIXED if quick else None
        found: dict[str, Any] = kept.get(
            f"rotation {rotation}",
            lambda: _rotation(corpus, rotation, sizes, ablated, fixed),
        )
        return found

    results = []
    for result in run_each(one, ((rotation,) for rotation in rotations), n_jobs=workers):
        results.append(result)
        progress("rationales: learning curves", len(results), n)
    most = 400 if quick else 1600
    model = fit_most(corpus, _FIXED, size=most)
    rows = [*_curve_rows(corpus, rotations, sizes, results), *_ablation_rows(results, ablated)]
    rows += phi_table(corpus, _FIXED, size=200 if quick else 1000)
    rows += likelihood_table(corpus, _FIXED, rotations, size=200 if quick else 800)
    rows += style_table(corpus, reviews, model)
    progress("rationales: predicted highlights", n - 1, n)
    rows += eraser_table(corpus, reviews, model, size=most)
    rows += predicted_rows([result["highlights"] for result in results], [result["short"] for result in results])
    rows += [
        mean_row("ask", f"{name}@{count}", "accuracy", [result["ask"][name][count] for result in results])
        for name in ("ask", "random")
        for count in ASK_COUNTS
    ]
    kept.clear()
    progress("rationales: done", n, n)
    return rows


def _rotation(
    corpus: Corpus,
    rotation: int,
    sizes: Sequence[int],
    ablated: Sequence[int],
    fixed: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Everything that belongs to one rotation of the folds."""
    right = rotation_curve(corpus, rotation, sizes, fixed=fixed)
    highlighted = HIGHLIGHT_SIZES if fixed is None else HIGHLIGHT_SIZES[:1]  # the quick look takes the smallest
    # The quick look has given strengths, and the default chooses its own.
    default = {} if fixed is not None else default_curve(corpus, rotation, DEFAULT_SIZES)
    return {
        "right": {**right, "default": default},
        "ablation": {size: _ablation(corpus, rotation, size, right, fixed is None) for size in ablated},
        "highlights": predicted_highlights(
            corpus, rotation, {size: fixed or right["strengths"][size] for size in highlighted if size in sizes}
        ),
        "short": short_texts(corpus, rotation, fixed=None if fixed is None else _FIXED_SHORT),
        "ask": ask_curve(corpus, rotation, fixed or right["strengths"][400]),
    }


# Other readings of the model, with the strengths chosen for the default one.
_VARIANTS: dict[str, dict[str, Any]] = {
    "six": {"transitions": "plain"},
    "tied": {"emissions": "tied"},
    "free": {"emissions": "free"},
    "laziness": {"laziness": 1.0},
    "thresholds": {"relevance_thresholds": (0.1, 0.2)},
}


def _ablation(
    corpus: Corpus, rotation: int, size: int, right: dict[str, dict[int, Any]], choose: bool
) -> dict[str, tuple[float, float]]:
    """Accuracy on F9 and on held-out folds with fewer features, and with other readings of the model.

    The prior as printed needs strengths of its own, which are chosen like those of the default.
    """
    chosen = right["strengths"][size]
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, rotation, size))
    variants = dict(_VARIANTS) if size == _ABLATION_SIZES[0] else {"six": _VARIANTS["six"]}
    variants = {name: {**chosen, **settings} for name, settings in variants.items()}
    if size == _ABLATION_SIZES[0]:
        variants["printed_prior"] = {"printed_prior": True, **({} if choose else chosen)}
    found = {"words": right["rationales"][size], "log_linear": right["log_linear"][size]}
    for name, settings in variants.items():
        model = RationaleClassifier(**corpus.printed, **settings, lexicon=False).fit(texts, labels, rationales=spans)
        found[name] = model.predict(corpus.texts) == corpus.labels
    return {name: accuracies(corpus, rotation, size, value) for name, value in found.items()}


def _curve_rows(
    corpus: Corpus, rotations: Sequence[int], sizes: Sequence[int], results: list[dict[str, Any]]
) -> list[Row]:
    rows = []
    for place, table in enumerate(("f9", "heldout")):
        for size in sizes:
            per_text = {}
            with_default = size in results[0]["right"].get("default", {})
            for method in (*METHODS, "default") if with_default else METHODS:
                right = [result["right"][method][size] for result in results]
                values = [accuracies(corpus, r, size, x)[place] for r, x in zip(rotations, right, strict=True)]
                paper = _TABLE_1.get(size, {}).get(method) if table == "f9" else None
                rows.append(mean_row(table, f"{method}@{size}", "accuracy", values, paper=paper))
                per_text[method] = _mean_by_text(corpus, rotations, size, right, on_f9=table == "f9")
            for ours, peers in (("rationales", METHODS[:-1]), ("default", ("masking_svm", "rationales"))):
                for peer in peers if ours in per_text else ():
                    p = paired_permutation(per_text[ours], per_text[peer]).p_value
                    rows.append(mean_row(table, f"{ours}@{size}", f"p_over_{peer}", [p]))
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
