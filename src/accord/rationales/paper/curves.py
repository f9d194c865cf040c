"""Learning curves on the movie reviews: four ways to learn and the default, with 20 to 1,600 training reviews."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.data.corpora.rationales import MovieRationales
from accord.data.rationales import whitespace_tokens
from accord.rationales.baselines import MaskingSVMClassifier
from accord.rationales.estimator import RationaleClassifier
from accord.typing import AnyArray, BoolArray, IntArray

__all__ = [
    "DEFAULT_SIZES",
    "METHODS",
    "ROTATIONS",
    "SIZES",
    "Corpus",
    "accuracies",
    "default_curve",
    "prepare",
    "rotation_curve",
    "training_rows",
]

METHODS = ("log_linear", "svm", "masking_svm", "rationales")
SIZES = (20, 100, 200, 400, 600, 800, 1000, 1200, 1400, 1600)
DEFAULT_SIZES = (100, 200, 400, 800, 1600)
ROTATIONS = tuple(range(9))
TEST_FOLD = 9
# Strengths are chosen afresh at these sizes; in between, those of the next smaller size serve.
_CHOICE_SIZES = (20, 100, 200, 400, 800, 1600)
_FOLD_SIZE = 200


class ReadOnce:
    """A tokeniser of texts whose tokens stand between spaces, which remembers what it has read."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[list[str], IntArray]] = {}

    def __call__(self, text: str) -> tuple[list[str], IntArray]:
        """The tokens of a text and their characters."""
        if text not in self._known:
            self._known[text] = whitespace_tokens(text)
        return self._known[text]


@dataclass(frozen=True, eq=False)
class Corpus:
    """The reviews, with annotator A0's highlights."""

    ids: AnyArray  # (n_reviews,)
    texts: list[str]
    spans: list[Any]  # of each review, spans in characters; None in fold 9
    labels: IntArray  # (n_reviews,) 0 or 1
    folds: IntArray  # (n_reviews,)
    words: Mapping[str, Any]  # settings that make every estimator read the paper's vocabulary

    @property
    def printed(self) -> dict[str, Any]:
        """The settings that make the classifier the paper's: its vocabulary, one prior for all weights, words alike."""
        return {**self.words, "word_prior": "flat", "reading": "words"}

    def rows(self, rows: IntArray) -> tuple[list[str], IntArray, list[Any]]:
        """Texts, classes and spans of some reviews."""
        return [self.texts[row] for row in rows], self.labels[rows], [self.spans[row] for row in rows]


def prepare(reviews: MovieRationales) -> Corpus:
    """The corpus over the paper's vocabulary."""
    frame, record = reviews.reviews, reviews.rationales("A0")
    texts = [" ".join(tokens) for tokens in frame["tokens"]]
    spans: list[Any] = [None] * len(texts)
    for item, _, found in record.annotations():
        spans[item] = [(start, end) for start, end, _ in found]
    codes = (frame["labels"].to_numpy() > 0).astype(np.int64)
    words = {"vocabulary": list(reviews.vocab), "tokeniser": ReadOnce()}
    return Corpus(frame["ids"].to_numpy(), texts, spans, codes, frame["folds"].to_numpy(), words)


def training_rows(folds: IntArray, rotation: int, size: int) -> IntArray:
    """The reviews of folds rotation + 1, rotation + 2, … (modulo nine), as in [ZE08] eq. 5.

    Less than a fold is spread evenly over the fold, in which one class follows the other.
    """
    chosen = [(rotation + 1 + step) % 9 for step in range(max(1, size // _FOLD_SIZE))]
    rows = np.flatnonzero(np.isin(folds, chosen))
    return rows if size >= len(rows) else rows[np.linspace(0, len(rows), size, endpoint=False).astype(int)]


def rotation_curve(
    corpus: Corpus, rotation: int, sizes: Sequence[int], *, fixed: Mapping[str, Any] | None = None
) -> dict[str, dict[int, Any]]:
    """One rotation of the folds: for every method and size, which reviews are classified rightly.

    Nothing is chosen with F9 or the folds held out in view: strengths come from inner folds of the training reviews.

    Parameters
    ----------
    corpus : Corpus
    rotation : int
    sizes : sequence of int
        Increasing.
    fixed : mapping, optional
        ``C`` and ``theta_variance`` to use instead of choosing, for a quick look.

    Returns
    -------
    results : dict
        Method → size → bool array (n_reviews,); and "strengths" → size → C and theta_variance with rationales.
    """
    out: dict[str, dict[int, Any]] = {name: {} for name in (*METHODS, "strengths")}
    chosen: dict[str, dict[str, Any]] = {name: {} for name in METHODS}
    if fixed is not None:
        chosen = {"log_linear": {**fixed, "C": 0.0}, "rationales": dict(fixed)}
        chosen |= {"svm": {"C": 1.0}, "masking_svm": {"C": 1.0, "mu": 0.1, "contrast_weight": 0.1}}
    for size in sizes:
        texts, labels, spans = corpus.rows(training_rows(corpus.folds, rotation, size))
        for name in METHODS:
            afresh = fixed is None and (size in _CHOICE_SIZES or not chosen[name])
            settings = {} if afresh else chosen[name]
            ours = name in ("log_linear", "rationales")
            own: dict[str, Any] = {**corpus.printed, "lexicon": False} if ours else {**corpus.words}
            model = (RationaleClassifier if ours else MaskingSVMClassifier)(random_state=rotation, **own, **settings)
            model.fit(texts, labels, rationales=spans if name in ("masking_svm", "rationales") else None)
            if afresh:
                names = ("C", "theta_variance") if ours else ("C", "mu", "contrast_weight")
                chosen[name] = {key: getattr(model, f"{key}_") for key in names}
            out[name][size] = model.predict(corpus.texts) == corpus.labels
        out["strengths"][size] = chosen["rationales"]
    return out


def default_curve(corpus: Corpus, rotation: int, sizes: Sequence[int]) -> dict[int, BoolArray]:
    """One rotation of the folds with ``RationaleClassifier()`` as it is: which reviews it classifies rightly.

    Nothing is set, the vocabulary included, and everything is chosen inside the training reviews of each size.
    """
    out = {}
    for size in sizes:
        texts, labels, spans = corpus.rows(training_rows(corpus.folds, rotation, size))
        model = RationaleClassifier().fit(texts, labels, rationales=spans)
        out[size] = model.predict(corpus.texts) == corpus.labels
    return out


def accuracies(corpus: Corpus, rotation: int, size: int, right: BoolArray) -> tuple[float, float]:
    """Per cent right on F9, and on the folds of F0–F8 outside training."""
    held_out = corpus.folds != TEST_FOLD
    held_out[training_rows(corpus.folds, rotation, size)] = False
    test: AnyArray = corpus.folds == TEST_FOLD
    return 100.0 * float(right[test].mean()), 100.0 * float(right[held_out].mean())
