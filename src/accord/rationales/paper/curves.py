"""Learning curves on the movie reviews: four ways to learn, with 200 to 1,600 training reviews."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.data.corpora.rationales import MovieRationales
from accord.rationales import marked_texts
from accord.rationales.annotator import MarkedTexts, Strengths
from accord.rationales.annotator_choice import HIGHLIGHT_GRID, PLAIN_GRID, choose_strengths, inner_folds
from accord.rationales.annotator_fit import AnnotatorFit, fit_joint
from accord.rationales.baselines import MASKING_GRID, choose_masking, contrasts, fit_masking, unit_rows
from accord.rationales.features import Tokens, Vocabulary, read_tokens
from accord.rationales.highlights import annotations_of, given_spans
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["METHODS", "ROTATIONS", "SIZES", "Corpus", "accuracies", "prepare", "rotation_curve", "training_rows"]

METHODS = ("log_linear", "svm", "masking_svm", "rationales")
SIZES = (200, 400, 600, 800, 1000, 1200, 1400, 1600)
ROTATIONS = tuple(range(9))
TEST_FOLD = 9
# Strengths are chosen afresh at these sizes; in between, those of the next smaller size serve.
_CHOICE_SIZES = (200, 400, 800, 1600)
_FOLD_SIZE = 200
# One text in five is left out at a time, until about so many have been left out, but twice at least.
_N_INNER, _LEFT_OUT = 5, 320
_SVM_GRID = (1.0, 3.0)


@dataclass(frozen=True, eq=False)
class Corpus:
    """The reviews as arrays, with annotator A0's highlights."""

    folds: IntArray  # (n_reviews,)
    labels: IntArray  # (n_reviews,) 0 or 1
    tokens: Tokens
    vocabulary: Vocabulary
    marked: MarkedTexts  # transitions that see words
    plain: MarkedTexts  # the four transitions alone
    unit: Any  # (n_reviews, n_words) rows of length one
    lost: Any  # (n_rationales, n_words) what masking takes away
    lost_text: IntArray  # (n_rationales,)


def prepare(reviews: MovieRationales) -> Corpus:
    """The corpus over the paper's vocabulary."""
    frame, record = reviews.reviews, reviews.rationales("A0")
    texts = [" ".join(tokens) for tokens in frame["tokens"]]
    codes = (frame["labels"].to_numpy() > 0).astype(np.int64)
    tokens = read_tokens(texts, tokeniser="whitespace")
    vocabulary = Vocabulary(np.array(reviews.vocab, dtype=object))
    spans = given_spans(texts, codes, record)
    presence = vocabulary.presence(tokens.strings)
    annotations, _ = annotations_of(tokens, [(row, "", marks) for row, _, marks in spans])
    marked, plain = (
        marked_texts(
            tokens, vocabulary, presence, codes, annotations, n_classes=2, n_annotators=1, transitions=transitions
        )
        for transitions in ("words", "plain")
    )
    lost, lost_text = contrasts(tokens, vocabulary, spans)
    folds = frame["folds"].to_numpy()
    return Corpus(folds, codes, tokens, vocabulary, marked, plain, unit_rows(presence), lost, lost_text)


def training_rows(folds: IntArray, rotation: int, size: int) -> IntArray:
    """The reviews of folds rotation + 1, rotation + 2, … (modulo nine), as in [ZE08] eq. 5."""
    chosen = [(rotation + 1 + step) % 9 for step in range(size // _FOLD_SIZE)]
    return np.flatnonzero(np.isin(folds, chosen))


def _folds_within(labels: IntArray, rotation: int) -> IntArray:
    folds = inner_folds(labels, _N_INNER, np.random.default_rng(rotation))
    n_used = int(np.clip(_N_INNER * _LEFT_OUT / len(labels), 2, _N_INNER))
    return np.where(folds < n_used, folds, -1)


def fit_rows(texts: MarkedTexts, rows: IntArray, strengths: Strengths, **settings: Any) -> AnnotatorFit:
    """A fit on some of the texts, with weights for all columns."""
    small, columns = texts.subset(rows).compact()
    return fit_joint(small, strengths, **settings).expanded(columns, texts.n_features)


def rotation_curve(
    corpus: Corpus, rotation: int, sizes: Sequence[int], *, fixed: Strengths | None = None
) -> dict[str, dict[int, Any]]:
    """One rotation of the folds: for every method and size, which reviews outside training are classified rightly.

    Nothing is chosen with F9 or the folds held out in view: strengths come from inner folds of the training reviews.

    Parameters
    ----------
    corpus : Corpus
    rotation : int
    sizes : sequence of int
        Increasing.
    fixed : Strengths, optional
        Use these instead of choosing, for a quick look.

    Returns
    -------
    results : dict
        Method → size → bool array (n_reviews,); and "strengths" → size → the Strengths used.
    """
    out: dict[str, dict[int, Any]] = {name: {} for name in (*METHODS, "strengths")}
    chosen: dict[str, Any] = {}
    for size in sizes:
        rows = training_rows(corpus.folds, rotation, size)
        if fixed is not None:
            chosen = {"log_linear": Strengths(0.0, 0.03), "svm": 1.0, "masking_svm": (0.1, 0.1), "rationales": fixed}
        elif size in _CHOICE_SIZES or not chosen:
            chosen = _choose(corpus, rows, rotation)
        truth = corpus.labels
        for name in ("log_linear", "rationales"):
            theta = fit_rows(corpus.marked, rows, chosen[name]).theta[0]
            out[name][size] = (corpus.marked.design @ theta > 0) == truth
        for name in ("svm", "masking_svm"):
            weights = _svm(corpus, rows, chosen["svm"], chosen[name] if name == "masking_svm" else None)
            out[name][size] = (corpus.unit @ weights > 0) == truth
        out["strengths"][size] = chosen["rationales"]
    return out


def _choose(corpus: Corpus, rows: IntArray, rotation: int) -> dict[str, Any]:
    texts = corpus.marked.subset(rows)
    unmarked = texts.subset(np.arange(texts.n_texts), marked=np.zeros(texts.n_texts, dtype=bool))
    folds = _folds_within(texts.labels, rotation)
    plain, grid = ([Strengths(*pair) for pair in pairs] for pairs in (PLAIN_GRID, HIGHLIGHT_GRID))
    unit, signs, lost, text = _svm_arrays(corpus, rows)
    costs = [_left_out(unit, signs, folds, C) for C in _SVM_GRID]
    cost = _SVM_GRID[int(np.argmax(costs))]
    return {
        "log_linear": choose_strengths(unmarked, plain, folds=folds).strengths,
        "rationales": choose_strengths(texts, grid, folds=folds).strengths,
        "svm": cost,
        "masking_svm": choose_masking(unit, signs, lost, text, MASKING_GRID, folds=folds, C=cost),
    }


def _left_out(unit: Any, signs: IntArray, folds: IntArray, C: float) -> int:
    """Texts left out that a linear SVM classifies rightly."""
    right, none = 0, np.zeros(0, dtype=np.int64)
    for fold in np.unique(folds[folds >= 0]):
        train, test = folds != fold, folds == fold
        weights = fit_masking(unit[train], signs[train], unit[:0], none, C=C, mu=1.0, weight=0.0)
        right += int(np.sum((unit[test] @ weights > 0) == (signs[test] > 0)))
    return right


def _svm_arrays(corpus: Corpus, rows: IntArray) -> tuple[Any, IntArray, Any, IntArray]:
    place = np.full(len(corpus.labels), -1)
    place[rows] = np.arange(len(rows))
    kept = place[corpus.lost_text] >= 0
    return corpus.unit[rows], 2 * corpus.labels[rows] - 1, corpus.lost[kept], place[corpus.lost_text[kept]]


def _svm(corpus: Corpus, rows: IntArray, C: float, masking: tuple[float, float] | None) -> FloatArray:
    unit, signs, lost, text = _svm_arrays(corpus, rows)
    if masking is None:
        return fit_masking(unit, signs, lost[:0], text[:0], C=C, mu=1.0, weight=0.0)
    return fit_masking(unit, signs, lost, text, C=C, mu=masking[0], weight=masking[1])


def accuracies(corpus: Corpus, rotation: int, size: int, right: BoolArray) -> tuple[float, float]:
    """Per cent right on F9, and on the folds of F0–F8 outside training."""
    held_out = corpus.folds != TEST_FOLD
    held_out[training_rows(corpus.folds, rotation, size)] = False
    test: AnyArray = corpus.folds == TEST_FOLD
    return 100.0 * float(right[test].mean()), 100.0 * float(right[held_out].mean())
