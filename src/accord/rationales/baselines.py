"""The masking SVM of Zaidan, Eisner and Piatko (2007): a comparison for the model of the annotator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from accord.data.rationales import inside_tags
from accord.errors import InputError
from accord.rationales.features import Tokens, Vocabulary, read_tokens
from accord.rationales.highlights import given_classes, given_spans
from accord.texts.rows import as_texts, row_ids
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["MASKING_GRID", "MaskingSVMClassifier", "choose_masking", "contrasts", "fit_masking", "unit_rows"]

# μ and the weight of contrast examples beside that of texts, among which "auto" chooses.
MASKING_GRID = ((0.03, 0.03), (0.1, 0.03), (0.1, 0.1), (0.1, 0.3), (0.3, 0.1), (0.3, 0.3))


def unit_rows(presence: Any) -> Any:
    """Rows of length one; an empty row stays empty."""
    length = np.sqrt(np.asarray(presence.multiply(presence).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1.0 / np.where(length > 0, length, 1.0)) @ presence)


def contrasts(tokens: Tokens, vocabulary: Vocabulary, spans: list[tuple[int, str, IntArray]]) -> tuple[Any, IntArray]:
    """What a text loses when one of its rationales is masked: x − v, in units of the whole text's length.

    Masking takes the words of the rationale out of the text wherever they stand, because presence is all that counts.

    Returns
    -------
    lost : sparse matrix of shape (n_rationales, n_words)
    text : int array of shape (n_rationales,)
    """
    lost, rows = [], []
    for row, _, marks in spans:
        codes = vocabulary.codes(tokens.strings[row])
        known = np.unique(codes[codes < vocabulary.n_words])
        for mark in marks:
            words = np.unique(codes[inside_tags(mark[None], tokens.of(row))])
            words = words[words < vocabulary.n_words]
            if len(words):
                lost.append((words, 1.0 / np.sqrt(len(known))))
                rows.append(row)
    ends = np.cumsum([0, *(len(words) for words, _ in lost)])
    columns = np.concatenate([np.zeros(0, dtype=np.int64), *(words for words, _ in lost)])
    values = np.repeat([value for _, value in lost], np.diff(ends)) if lost else np.zeros(0)
    return sp.csr_matrix((values, columns, ends), shape=(len(lost), vocabulary.n_words)), np.array(rows, dtype=np.int64)


def fit_masking(
    design: Any, codes: AnyArray, lost: Any, text: IntArray, *, C: float, mu: float, weight: float
) -> FloatArray:
    """Weights w with y w·x ≥ 1 − ξ and y w·(x − v) ≥ μ(1 − ξ′); slacks ξ cost C, slacks ξ′ cost C · weight.

    Parameters
    ----------
    design : sparse matrix of shape (n_texts, n_words)
        Rows of length one.
    codes : array of shape (n_texts,)
        −1 or 1.
    lost, text
        As from :func:`contrasts`.
    C, mu, weight : float

    Returns
    -------
    weights : array of shape (n_words,)
    """
    examples = sp.vstack([design, lost / mu], format="csr") if len(text) else design
    targets = np.concatenate([codes, codes[text]])
    costs = np.concatenate([np.ones(design.shape[0]), np.full(len(text), weight)])
    svm = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=20000, random_state=0)
    return np.asarray(svm.fit(examples, targets, sample_weight=costs).coef_[0])


class MaskingSVMClassifier(ClassifierMixin, BaseEstimator):
    """Linear SVM that must be less sure of a text once one of its rationales is masked.

    For each rationale it asks that the text score higher than the text without the rationale's words, by a margin μ
    (Zaidan, Eisner and Piatko, NAACL 2007). Without rationales it is a linear SVM on words of unit-length texts.

    Parameters
    ----------
    C : float
        Cost of a text inside the margin.
    mu : float or "auto"
        Margin between a text and its masked twin. "auto" chooses inside the training texts.
    contrast_weight : float or "auto"
        Cost of a masked twin beside that of a text.
    vocabulary : sequence of str, optional
    min_count : int
    tokeniser : {"words", "whitespace"} or callable
    lowercase : bool
    n_inner_folds : int
    random_state : int

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_words)
    mu_, contrast_weight_ : float

    Examples
    --------
    >>> from accord import MaskingSVMClassifier
    >>> texts = ["good film", "bad film", "good plot", "bad plot"] * 3
    >>> spans = [[(0, 4)], [(0, 3)], [(0, 4)], None] * 3
    >>> model = MaskingSVMClassifier(min_count=1, n_inner_folds=2)
    >>> model = model.fit(texts, ["+", "-", "+", "-"] * 3, rationales=spans)
    >>> model.predict(["a good one", "a bad one"]).tolist()
    ['+', '-']
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        mu: float | str = "auto",
        contrast_weight: float | str = "auto",
        vocabulary: Any = None,
        min_count: int = 4,
        tokeniser: Any = "words",
        lowercase: bool = True,
        n_inner_folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.mu = mu
        self.contrast_weight = contrast_weight
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.tokeniser = tokeniser
        self.lowercase = lowercase
        self.n_inner_folds = n_inner_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, rationales: Any = None) -> "MaskingSVMClassifier":
        """Learn from two classes of texts and the spans highlighted in some; see :class:`RationaleClassifier`."""
        texts, labels = as_texts(X), given_classes(y)
        if len(texts) != len(labels):
            raise InputError(f"every text needs a class; there are {len(texts)} texts and {len(labels)} classes.")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"the masking SVM tells two classes apart; there are {len(self.classes_)}. Use RationaleClassifier."
            )
        signs = 2 * codes - 1
        tokens = self._read(texts)
        words = Vocabulary.count(tokens.strings, min_count=self.min_count).words
        self.vocabulary_ = words if self.vocabulary is None else np.array(list(self.vocabulary), dtype=object)
        vocabulary = Vocabulary(self.vocabulary_)
        design = unit_rows(vocabulary.presence(tokens.strings))
        lost, text = contrasts(tokens, vocabulary, given_spans(texts, labels, rationales, ids=row_ids(X)))
        self.mu_, self.contrast_weight_ = self._choose(design, signs, lost, text)
        weights = fit_masking(design, signs, lost, text, C=self.C, mu=self.mu_, weight=self.contrast_weight_)
        self.coef_ = weights[None]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score of the second class, shape (n_texts,)."""
        check_is_fitted(self)
        presence = Vocabulary(self.vocabulary_).presence(self._read(X).strings)
        return np.asarray(unit_rows(presence) @ self.coef_[0])

    def predict(self, X: Any) -> Any:
        """The class of each text, shape (n_texts,)."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _read(self, texts: Sequence[str]) -> Tokens:
        return read_tokens(texts, tokeniser=self.tokeniser, lowercase=self.lowercase, transitions="plain")

    def _choose(self, design: Any, signs: IntArray, lost: Any, text: IntArray) -> tuple[float, float]:
        pairs = [
            (
                mu if self.mu == "auto" else float(self.mu),
                weight if self.contrast_weight == "auto" else float(self.contrast_weight),
            )
            for mu, weight in MASKING_GRID
        ]
        grid = list(dict.fromkeys(pairs))
        if self.mu != "auto" and self.contrast_weight != "auto":
            return float(self.mu), float(self.contrast_weight)
        if not len(text):
            return grid[0]
        if np.bincount((signs + 1) // 2).min() < self.n_inner_folds:
            raise InputError(
                f"choosing mu and contrast_weight needs {self.n_inner_folds} texts of every class. "
                "Give both as numbers."
            )
        split = StratifiedKFold(self.n_inner_folds, shuffle=True, random_state=self.random_state)
        folds = np.empty(len(signs), dtype=np.int64)
        for fold, (_, test) in enumerate(split.split(np.zeros(len(signs)), signs)):
            folds[test] = fold
        return choose_masking(design, signs, lost, text, grid, folds=folds, C=self.C)


def choose_masking(
    design: Any,
    signs: IntArray,
    lost: Any,
    text: IntArray,
    grid: Any,
    *,
    folds: IntArray,
    C: float,
) -> tuple[float, float]:
    """The pair (μ, weight) that classifies most texts left out rightly; the first of equals."""
    right = np.zeros(len(grid))
    for fold in np.unique(folds[folds >= 0]):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        place = np.full(len(signs), -1)
        place[train] = np.arange(len(train))
        kept = place[text] >= 0
        for candidate, (mu, weight) in enumerate(grid):
            weights = fit_masking(design[train], signs[train], lost[kept], place[text[kept]], C=C, mu=mu, weight=weight)
            right[candidate] += np.sum((design[test] @ weights > 0) == (signs[test] > 0))
    mu, weight = grid[int(np.argmax(right))]
    return float(mu), float(weight)
