"""Iterative classification: one local classifier of words and neighbours' labels, asked again and again."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from accord.data.links import Links
from accord.engines.convergence import warn_unconverged
from accord.engines.iterated import iterate_labels
from accord.errors import InputError
from accord.fitting.settings import Choice, Number, Object, Rule
from accord.links.features.neighbours import NEIGHBOUR_FEATURES, Neighbours
from accord.links.features.stance import word_options
from accord.links.features.words import LinkedTexts, has_words, pair_texts
from accord.links.linked import CLASSIFIER, LinkedClassifier, read_words
from accord.links.local import choose_scale, fit_local, joined_features, local_labeller
from accord.links.out_of_fold import fit_with_left_out_scores
from accord.typing import AnyArray, IntArray

__all__ = ["IterativeClassifier"]

TRAINING = ("left_out", "true")
SCALES = (1.0, 2.0, 4.0)


class IterativeClassifier(LinkedClassifier):
    """Labels of linked texts by a classifier that sees words and the current labels of neighbours ([BBB11] 3.4).

    A content classifier gives the first labels. Then, in a new random order each round, every linked text is labelled
    again given the labels of its neighbours, until nothing changes; a text without a link keeps its first label.

    Parameters
    ----------
    features : {"window", "count", "presence"}
        What is told of neighbours: the words around the links paired with the neighbour's label, how many neighbours
        have each label, or whether any has.
    content : classifier, optional
        First labels, from words alone; a linear support vector machine by default.
    local : classifier, optional
        Labels from words and neighbours; the same by default.
    training : {"left_out", "true"}
        Labels of neighbours in training: the true ones and, with the same weight, those of a content classifier that
        did not see their group, which are wrong about as often as the labels met in prediction; or the true ones
        alone, as in the paper.
    scale : float, optional
        What neighbour features are multiplied by before they and the words are scaled to length 1 together. By default
        1, 2 or 4, whichever labels most training texts rightly that were left out with their group.
    max_iter : int
        Most rounds.
    token_pattern : str, optional
        What counts as a word; words of any script by default.
    random_state : int
        Seed of the orders, which depend on the ids of the texts and not on the order of rows.

    Examples
    --------
    >>> from accord import Links, IterativeClassifier
    >>> texts = ["I support the bill.", "I agree with Ann.", "I oppose it.", "Cal is right."] * 6
    >>> speeches = {"item_id": [f"s{i}" for i in range(24)], "text": texts}
    >>> links = Links(speeches["item_id"][1::2], speeches["item_id"][::2], contexts=["agree", "right"] * 6)
    >>> model = IterativeClassifier().fit(speeches, ["yes", "yes", "no", "no"] * 6, links=links)
    >>> new = {"item_id": ["x", "y"], "text": ["I support the bill.", "I oppose it."]}
    >>> model.predict(new, links=Links(["x"], ["y"], contexts=["wrong"])).tolist()
    ['yes', 'no']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "features": Choice(tuple(NEIGHBOUR_FEATURES)),
        "content": CLASSIFIER,
        "local": CLASSIFIER,
        "training": Choice(TRAINING),
        "scale": Number(0, above=True, none=True),
        "max_iter": Number(1, whole=True),
        "token_pattern": Object("a regular expression", (str,)),
        "random_state": Number(0, whole=True),
    }

    def __init__(
        self,
        *,
        features: str = "window",
        content: Any = None,
        local: Any = None,
        training: str = "left_out",
        scale: float | None = None,
        max_iter: int = 30,
        token_pattern: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.features = features
        self.content = content
        self.local = local
        self.training = training
        self.scale = scale
        self.max_iter = max_iter
        self.token_pattern = token_pattern
        self.random_state = random_state

    def _fit_texts(self, texts: LinkedTexts, codes: IntArray) -> None:
        self.vectoriser_ = None
        if texts.is_text:
            self.vectoriser_ = read_words(self._vectoriser().fit, texts.content, what="texts")
        self.window_vectoriser_ = None
        if self.features == "window":
            if texts.contexts is None or not has_words(texts.contexts):
                raise InputError("window features need words around the links; there are none. Use features='count'.")
            self.window_vectoriser_ = read_words(self._vectoriser().fit, texts.contexts, what="contexts of links")
        words = self._features(texts)
        neighbours = self._neighbours(texts)
        machine = LinearSVC(loss="hinge", max_iter=20_000, random_state=self.random_state)
        self.content_, scores = fit_with_left_out_scores(
            machine if self.content is None else self.content,
            normalize(words),
            codes,
            texts.groups,
            seed=self.random_state,
        )
        left_out = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.int64)
        # A text that nothing could be trained without has scores of zero, which say nothing.
        silent = ~scores.any(axis=1) if scores.ndim == 2 else scores == 0.0
        left_out = np.where(silent, codes, left_out)
        seen = [codes, left_out] if self.training == "left_out" else [codes]
        local = machine if self.local is None else self.local
        self.scale_ = (
            self.scale
            if self.scale is not None
            else choose_scale(
                local,
                words,
                neighbours,
                seen,
                codes,
                texts.groups,
                start=left_out,
                free=texts.pairs.connected,
                scales=SCALES,
                order=texts.order,
                max_iter=self.max_iter,
                seed=self.random_state,
            )
        )
        self.local_ = fit_local(local, words, [neighbours.matrix(each) for each in seen], codes, scale=self.scale_)
        self.n_features_in_ = words.shape[1]

    def _labels(self, texts: LinkedTexts, known: IntArray | None) -> IntArray:
        words, neighbours = self._features(texts), self._neighbours(texts)
        start = np.asarray(self.content_.predict(normalize(words)), dtype=np.int64)
        free = texts.pairs.connected
        if known is not None:
            start = np.where(known < 0, start, known)
            free = free & (known < 0)
        labeller = local_labeller(
            self.local_, words, neighbours.row, n_neighbour_features=neighbours.n_features, scale=self.scale_
        )
        rng, order = np.random.default_rng(self.random_state), texts.order
        labels, convergence = iterate_labels(labeller, start, free=free, max_iter=self.max_iter, rng=rng, order=order)
        # The residual is the number of labels that the last round changed.
        warn_unconverged("IterativeClassifier", convergence, cure="Raise max_iter.", stacklevel=4)
        return labels

    def predict_locally(
        self, X: Any, y: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None
    ) -> AnyArray:
        """Labels by the local classifier where the labels ``y`` of all neighbours are known, shape (n_texts,).

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        y : array of shape (n_texts,)
            Labels of all texts; each text is judged by those of its neighbours.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        given = self._known(y, texts)
        around = self._neighbours(texts).matrix(np.full(texts.n_texts, -1) if given is None else given)
        joined = joined_features(self._features(texts), around, scale=self.scale_)
        return np.asarray(self.classes_[np.asarray(self.local_.predict(joined), dtype=np.int64)])

    def _features(self, texts: LinkedTexts) -> sp.csr_matrix:
        """Presence of words, which is scaled together with what neighbours say; given features as they are."""
        return sp.csr_matrix(self.vectoriser_.transform(texts.content) if texts.is_text else texts.content)

    def _vectoriser(self) -> CountVectorizer:
        return CountVectorizer(binary=True, dtype=np.float64, **word_options(1, self.token_pattern))

    def _neighbours(self, texts: LinkedTexts) -> Neighbours:
        words = None
        if self.window_vectoriser_ is not None:
            words = sp.csr_matrix((texts.pairs.n_pairs, len(self.window_vectoriser_.vocabulary_)))
            if texts.contexts is not None and len(texts.contexts):
                words = self.window_vectoriser_.transform(pair_texts(texts.contexts, texts.pairs))
        return Neighbours(self.features, texts.pairs, n_labels=len(self.classes_), words=words)
