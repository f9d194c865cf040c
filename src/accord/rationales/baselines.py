"""What the model of the annotator is compared with: the masking SVM, and a classifier of single tokens.

The log-linear baseline is :class:`~accord.RationaleClassifier` without rationales, the linear SVM
:class:`MaskingSVMClassifier` without them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from accord.data.labels import coded_labels
from accord.data.rationales import inside_tags
from accord.errors import InputError
from accord.fitting.settings import Choice, Many, Number, Object, Rule, Seed, check_settings
from accord.rationales.annotator_choice import inner_folds
from accord.rationales.features import TOKENISERS, Tokens, Vocabulary, read_tokens
from accord.rationales.highlights import MatchedSpans, best_threshold, given_classes, match_spans
from accord.texts.rows import as_texts, row_ids
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["MASKING_GRID", "MaskingSVMClassifier", "TokenClassifier", "contrasts", "unit_rows"]

# Costs of a text inside the margin, among which "auto" chooses.
_COSTS = (1.0, 3.0)
# μ and the weight of contrast examples beside that of texts, among which "auto" chooses.
MASKING_GRID = ((0.03, 0.03), (0.1, 0.03), (0.1, 0.1), (0.1, 0.3), (0.3, 0.1), (0.3, 0.3))


def unit_rows(presence: Any) -> Any:
    """Rows of length one; an empty row stays empty."""
    length = np.sqrt(np.asarray(presence.multiply(presence).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1.0 / np.where(length > 0, length, 1.0)) @ presence)


def contrasts(tokens: Tokens, vocabulary: Vocabulary, matched: list[MatchedSpans]) -> tuple[Any, IntArray]:
    """What a text loses when one of its rationales is masked: x − v, in units of the whole text's length.

    Masking takes the words of the rationale out of the text wherever they stand, because presence is all that counts.

    Returns
    -------
    lost : sparse matrix of shape (n_rationales, n_words)
    text : int array of shape (n_rationales,)
    """
    lost, rows = [], []
    for row, _, _, marks in matched:
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
    C : float or "auto"
        Cost of a text inside the margin. "auto" chooses inside the training texts, without rationales.
    mu : float or "auto"
        Margin between a text and its masked twin. "auto" chooses inside the training texts.
    contrast_weight : float or "auto"
        Cost of a masked twin beside that of a text.
    vocabulary : sequence of str, optional
    min_count : int
    tokeniser : {"words", "whitespace"} or callable
    n_inner_folds : int
    random_state : int

    Attributes
    ----------
    classes_ : array of shape (2,)
    coef_ : array of shape (1, n_words)
    C_, mu_, contrast_weight_ : float

    Examples
    --------
    >>> from accord import MaskingSVMClassifier
    >>> model = MaskingSVMClassifier(mu=0.1, contrast_weight=0.1, min_count=1)
    >>> model = model.fit(["good film", "bad film"], ["+", "-"], rationales=[[(0, 4)], [(0, 3)]])
    >>> model.predict(["a good one", "a bad one"]).tolist()
    ['+', '-']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "C": Number(0, above=True, words=("auto",)),
        "mu": Number(0, above=True, words=("auto",)),
        "contrast_weight": Number(0, words=("auto",)),
        "vocabulary": Many(Object("a word", (str,), none=False), none=True),
        "min_count": Number(1, whole=True),
        "tokeniser": Choice(tuple(TOKENISERS), kinds=(Callable,)),  # type: ignore[arg-type]
        "n_inner_folds": Number(2, whole=True),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        C: float | str = "auto",
        mu: float | str = "auto",
        contrast_weight: float | str = "auto",
        vocabulary: Any = None,
        min_count: int = 1,
        tokeniser: Any = "words",
        n_inner_folds: int = 5,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.mu = mu
        self.contrast_weight = contrast_weight
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.tokeniser = tokeniser
        self.n_inner_folds = n_inner_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, rationales: Any = None) -> "MaskingSVMClassifier":
        """Learn from two classes of texts and the spans highlighted in some; see :class:`RationaleClassifier`.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
            Labels of two classes.
        rationales : sequence of shape (n_texts,), or Rationales, optional
            Highlighted spans, as :meth:`RationaleClassifier.fit` takes them.
        """
        check_settings(self)
        texts, labels = as_texts(X), given_classes(y)
        if len(texts) != len(labels):
            raise InputError(f"every text needs a class; there are {len(texts)} texts and {len(labels)} classes.")
        self.classes_, codes = coded_labels(labels)
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
        matched = [
            one for one in match_spans(texts, labels, rationales, ids=row_ids(X)) if one.label == labels[one.row]
        ]
        lost, text = contrasts(tokens, vocabulary, matched)
        none = lost[:0], text[:0]
        costs = [(cost, 1.0, 0.0) for cost in (_COSTS if self.C == "auto" else (float(self.C),))]
        self.C_ = self._best(design, signs, *none, costs)[0]
        pairs = [
            (
                self.C_,
                mu if self.mu == "auto" else float(self.mu),
                weight if self.contrast_weight == "auto" else float(self.contrast_weight),
            )
            for mu, weight in (MASKING_GRID if len(text) else MASKING_GRID[:1])
        ]
        _, self.mu_, self.contrast_weight_ = self._best(design, signs, lost, text, list(dict.fromkeys(pairs)))
        weights = fit_masking(design, signs, lost, text, C=self.C_, mu=self.mu_, weight=self.contrast_weight_)
        self.coef_ = weights[None]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score of the second class, shape (n_texts,).

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        """
        check_is_fitted(self)
        presence = Vocabulary(self.vocabulary_).presence(self._read(X).strings)
        return np.asarray(unit_rows(presence) @ self.coef_[0])

    def predict(self, X: Any) -> Any:
        """The class of each text, shape (n_texts,).

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        """
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _read(self, texts: Sequence[str]) -> Tokens:
        return read_tokens(texts, tokeniser=self.tokeniser, transitions="plain")

    def _best(
        self, design: Any, signs: IntArray, lost: Any, text: IntArray, grid: list[tuple[float, float, float]]
    ) -> tuple[float, float, float]:
        """The (C, μ, weight) that classifies most texts left out rightly; the first of equals."""
        if len(grid) == 1:
            return grid[0]
        if np.bincount((signs + 1) // 2).min() < self.n_inner_folds:
            return grid[len(grid) // 2]
        folds = inner_folds(signs, self.n_inner_folds, np.random.default_rng(self.random_state))[0]
        right = np.zeros(len(grid))
        for fold in np.unique(folds[folds >= 0]):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            place = np.full(len(signs), -1)
            place[train] = np.arange(len(train))
            kept = place[text] >= 0
            for candidate, (C, mu, weight) in enumerate(grid):
                contrast = lost[kept], place[text[kept]]
                weights = fit_masking(design[train], signs[train], *contrast, C=C, mu=mu, weight=weight)
                right[candidate] += np.sum((design[test] @ weights > 0) == (signs[test] > 0))
        return grid[int(np.argmax(right))]


class TokenClassifier(BaseEstimator):
    """Logistic regression of single tokens: highlighted or not, by the word, its neighbours and the text's class.

    What predicted highlights are compared with. It learns which words are highlighted, not why.

    Parameters
    ----------
    C : sequence of float
        Strengths of logistic regression, among which tokens of texts left out decide.
    min_count : int
    tokeniser : {"words", "whitespace"} or callable
    n_folds : int
    random_state : int

    Examples
    --------
    >>> texts, labels = ["good film", "bad film"] * 3, ["+", "-"] * 3
    >>> model = TokenClassifier(n_folds=3).fit(texts, labels, [[(0, 4)], [(0, 3)]] * 3)
    >>> [bool(p[0] > p[1]) for p in model.predict_proba(["good plot", "bad plot"], ["+", "-"])]
    [True, True]
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "C": Many(Number(0, above=True)),
        "min_count": Number(1, whole=True),
        "tokeniser": Choice(tuple(TOKENISERS), kinds=(Callable,)),  # type: ignore[arg-type]
        "n_folds": Number(2, whole=True),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        C: Sequence[float] = (0.03, 0.3, 3.0),
        min_count: int = 2,
        tokeniser: Any = "words",
        n_folds: int = 3,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.min_count = min_count
        self.tokeniser = tokeniser
        self.n_folds = n_folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, rationales: Any) -> "TokenClassifier":
        """Learn from texts, classes and spans; ``threshold_`` is the one with the best F1 on tokens left out."""
        check_settings(self)
        texts, labels = as_texts(X), given_classes(y)
        self.classes_, codes = coded_labels(labels)
        tokens = read_tokens(texts, tokeniser=self.tokeniser, transitions="plain")
        self.vocabulary_ = Vocabulary.count(tokens.strings, min_count=self.min_count).words
        tags = {one.row: inside_tags(one.spans, tokens.of(one.row)) for one in match_spans(texts, labels, rationales)}
        rows = np.array(sorted(tags), dtype=np.int64)
        of_text = [self._columns(tokens, row, int(codes[row])) for row in rows]
        inside = [tags[row] for row in rows]
        folds = np.random.default_rng(self.random_state).permutation(np.arange(len(rows)) % self.n_folds)
        losses, left_out = [], []
        for C in self.C:
            found = [np.zeros(0)] * len(rows)
            for fold in range(self.n_folds):
                train = np.flatnonzero(folds != fold)
                model = self._regression(C, [of_text[i] for i in train], [inside[i] for i in train])
                for i in np.flatnonzero(folds == fold):
                    found[i] = model.predict_proba(of_text[i])[:, 1]
            p, truth = np.concatenate(found), np.concatenate(inside)
            losses.append(-np.log(np.where(truth, p, 1.0 - p)).mean())
            left_out.append(best_threshold(p, truth))
        best = int(np.argmin(losses))
        self.threshold_ = left_out[best]
        self.model_ = self._regression(list(self.C)[best], of_text, inside)
        return self

    def predict_proba(self, X: Any, y: Any) -> list[FloatArray]:
        """Probability of each token of each text to be highlighted as a reason for its class."""
        check_is_fitted(self)
        tokens = read_tokens(as_texts(X), tokeniser=self.tokeniser, transitions="plain")
        codes = np.searchsorted(self.classes_, np.asarray(y))
        return [
            self.model_.predict_proba(self._columns(tokens, row, int(code)))[:, 1] if strings else np.zeros(0)
            for row, (strings, code) in enumerate(zip(tokens.strings, codes, strict=True))
        ]

    def _columns(self, tokens: Tokens, row: int, code: int) -> Any:
        """One row a token: the word, the word and class, the words before and after with the class."""
        vocabulary = Vocabulary(self.vocabulary_)
        words = vocabulary.codes(tokens.strings[row]).astype(np.int64)
        n, none = len(words), vocabulary.n_words
        before, after = np.append(none, words[:-1])[:n], np.append(words[1:], none)[:n]
        block = none + 1
        columns = np.stack(
            [words, *((1 + 3 * code + k) * block + w for k, w in enumerate((words, before, after)))], axis=1
        )
        shape = (n, (1 + 3 * len(self.classes_)) * block)
        return sp.csr_matrix((np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 4)), shape=shape)

    def _regression(self, C: float, rows: list[Any], inside: list[Any]) -> LogisticRegression:
        return LogisticRegression(C=C, max_iter=200, tol=1e-3).fit(
            sp.vstack(rows, format="csr"), np.concatenate(inside)
        )
