"""Collective classification of texts that cite, answer or mention each other: content, links, and one inference."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

from accord.data.links import Links
from accord.errors import InputError
from accord.fitting.workers import WithWorkers, is_number, is_whole
from accord.links.choice import fit_averaged, fit_chosen
from accord.links.cut import CUTS, fit_cut
from accord.links.dual import Evidence, calibrated, fit_dual, fit_temperature
from accord.links.features.stance import open_vocabulary, stance_text, window_words
from accord.links.features.words import (
    LinkedTexts,
    has_words,
    kind_features,
    meta_features,
    nearest_pairs,
    pair_similarity,
    pair_texts,
    unit_rows,
)
from accord.links.joint import OBJECTIVES, fit_joint
from accord.links.linked import (
    LinkedClassifier,
    check_classifier,
    check_vectoriser,
    read_words,
)
from accord.links.linked_graph import ENGINES
from accord.links.out_of_fold import fit_with_left_out_scores, label_scores
from accord.links.ridge import RidgeScorer
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["CollectiveClassifier"]

# What one link of an implicit kind may count beside a citation; chosen on the training texts.
IMPLICIT_SCALES = (0.0, 0.15, 0.3)
BETAS = {"set_to": 0.8, "inc_by": 0.15}


class CollectiveClassifier(WithWorkers, LinkedClassifier):
    """Labels of linked texts from their words, their neighbours', and the words around the links ([BBB11]).

    A content classifier says which label a text has, a link classifier whether two linked texts have the same one, for
    links of agreement and of disagreement alike; inference settles all texts of a connected piece together. Everything
    after the two classifiers is fitted on scores of texts left out of training with their whole group.

    Parameters
    ----------
    inference : {"mean_field", "lbp", "exact", "min_cut", "set_to", "inc_by"}
        The last three hold two labels only and give labels without graded beliefs.
    training : {"average", "dual", "joint", "auto"}
        Classifiers and links fitted apart ("dual"), a pairwise CRF over both ("joint"), the mean log beliefs of "dual"
        and "joint" by likelihood ("average"), or of these two whichever labels more training texts rightly that were
        left out with their group ("auto"; "dual" where every text is its own group).
    objective : {"marginals", "likelihood"}
        What joint training optimises.
    vectoriser : transformer, optional
        Texts to features; weighted words, word pairs and stance n-grams by default. Not used when X holds features.
    content : classifier, optional
        Features to labels; any with ``decision_function`` or ``predict_proba``. Ridge regression by default.
    link_vectoriser : transformer, optional
        Texts of links to features; words and word pairs by default.
    link : classifier, optional
        Features of links to "same" (1) or "different" (0). Ridge regression by default.
    meta : bool
        Weigh number, kinds and direction of links and similarity beside the score of the link classifier.
    implicit : int
        A text without a link is tied to this many most similar texts of its group, and they to it; 0 for none.
    alpha, theta : float or "auto"
        Parameters of the cut; "auto" chooses them on the training texts.
    beta : float, optional
        Parameter of "set_to" (0.8 by default) and "inc_by" (0.15).
    recalibrate : bool
        Take back the over-confidence of beliefs that went round loops.
    n_folds : int
        Folds, of whole groups, for classifiers without a rule for left-out scores.
    n_jobs : int, optional
        Processes for those folds and for the losses of joint training; as in scikit-learn, None means one. What is
        learnt is the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int
        Seed of those folds.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
    model_ : AveragedModel, DualModel or CutModel
        What was fitted after the classifiers.
    content_, link_ : classifier
        ``link_`` is ``None`` where links have no words or all join the same kind of pair.

    Examples
    --------
    >>> from accord import Links, CollectiveClassifier
    >>> texts = ["I support the bill.", "I agree with Ann.", "I oppose it.", "Cal is right."] * 6
    >>> speeches = {"item_id": [f"s{i}" for i in range(24)], "text": texts}
    >>> links = Links(speeches["item_id"][1::2], speeches["item_id"][::2], contexts=["agree", "right"] * 6)
    >>> model = CollectiveClassifier().fit(speeches, ["yes", "yes", "no", "no"] * 6, links=links)
    >>> model.predict({"item_id": ["x", "y"], "text": ["I support the bill.", "I oppose it."]}).tolist()
    ['yes', 'no']
    """

    def __init__(
        self,
        *,
        inference: str = "mean_field",
        training: str = "average",
        objective: str = "marginals",
        vectoriser: Any = None,
        content: Any = None,
        link_vectoriser: Any = None,
        link: Any = None,
        meta: bool = False,
        implicit: int = 5,
        alpha: float | str = "auto",
        theta: float | str = "auto",
        beta: float | None = None,
        recalibrate: bool = True,
        n_folds: int = 5,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: int = 0,
    ) -> None:
        self.inference = inference
        self.training = training
        self.objective = objective
        self.vectoriser = vectoriser
        self.content = content
        self.link_vectoriser = link_vectoriser
        self.link = link
        self.meta = meta
        self.implicit = implicit
        self.alpha = alpha
        self.theta = theta
        self.beta = beta
        self.recalibrate = recalibrate
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.client = client
        self.random_state = random_state

    def _fit_texts(self, texts: LinkedTexts, codes: IntArray) -> None:
        if len(self.classes_) > 2 and self.inference in CUTS:
            raise InputError(f"a cut holds two labels; there are {len(self.classes_)}. Use 'mean_field' or 'lbp'.")
        groups = texts.groups if len(np.unique(texts.groups)) > 1 else np.arange(texts.n_texts)
        self.vectoriser_, self.comparer_ = None, None
        if texts.is_text:
            self.comparer_ = open_vocabulary().fit(texts.content)
            vectoriser = clone(stance_text() if self.vectoriser is None else self.vectoriser)
            self.vectoriser_ = read_words(vectoriser.fit, texts.content, what="texts")
        features = self._features(texts)
        self.content_, scores = self._left_out(self.content, features, codes, groups)
        self.kinds_ = [] if texts.kinds is None else sorted({str(kind) for kind in texts.kinds})
        same = (codes[texts.pairs.ends[:, 0]] == codes[texts.pairs.ends[:, 1]]).astype(np.int64)
        link_scores = self._fit_link(texts, same, groups)
        if self.inference in CUTS:
            self._fit_cut(scores, codes, texts, link_scores)
        else:
            self._fit_beliefs(scores, codes, groups, self._evidence(texts, features, link_scores))
        self.n_features_in_ = features.shape[1]

    def predict_proba(
        self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None, known: Any = None
    ) -> FloatArray:
        """Beliefs, shape (n_texts, n_labels); arguments as in :meth:`predict`."""
        texts = self._read(X, links=links, groups=groups, ids=ids)
        return self._beliefs(texts, self._known(known, texts))[0]

    def explain(
        self,
        text: str,
        X: Any,
        *,
        links: Links | None = None,
        groups: Any = None,
        ids: Any = None,
        known: Any = None,
        n_words: int = 10,
    ) -> pd.DataFrame:
        """Why a text has its label: words and links that speak for it (positive effect) or against it.

        Effects are log odds for the predicted label: of a word, its part of the content score; of a link, what the
        neighbour's beliefs add through it (before recalibration).

        Parameters
        ----------
        text : str
            The id of a row of X.
        n_words : int
            Most words shown.

        Returns
        -------
        DataFrame
            ``kind`` (content, word, link, similar), ``reason``, ``effect``, strongest first.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        if self.inference in CUTS:
            raise InputError(f"inference={self.inference!r} gives labels without reasons. Use 'mean_field' or 'lbp'.")
        row = texts.position(str(text))
        beliefs, features, scores, evidence = self._beliefs(texts, self._known(known, texts))
        label = int(beliefs[row].argmax())
        log_p = self.model_.content(scores[[row]])[0]
        reasons = [("content", f"all words: {self.classes_[label]}", _odds(log_p, label))]
        reasons += self._words(features[[row]], label, n_words)
        kinds = ("link", "similar")
        for kind, part, gains in zip(kinds, evidence, self.model_.gains(evidence), strict=False):
            for pair in np.flatnonzero((part.ends == row).any(axis=1)):
                other = int(part.ends[pair].sum() - row)
                told = self.classes_[int(beliefs[other].argmax())]
                effect = float(gains[pair]) * _lead(beliefs[other], label)
                side = "agrees with" if gains[pair] > 0 else "differs from"
                reasons.append((kind, f"{side} {texts.ids[other]} ({told}, {beliefs[other].max():.2f})", effect))
        frame = pd.DataFrame(reasons, columns=["kind", "reason", "effect"])
        order = frame["effect"].abs().sort_values(ascending=False, kind="stable").index
        return frame.loc[order].reset_index(drop=True)

    # -- parts of fit and predict --------------------------------------------------------------------------------

    def _check_settings(self) -> None:
        for name, value, choices in (
            ("inference", self.inference, [*ENGINES, *CUTS]),
            ("training", self.training, ["average", "dual", "joint", "auto"]),
            ("objective", self.objective, list(OBJECTIVES)),
        ):
            if value not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
        for name, size in (("alpha", self.alpha), ("theta", self.theta)):
            if size != "auto" and not is_number(size, 0.0):
                raise InputError(f"{name} must be a number of 0 or more, or 'auto'; got {size!r}.")
        if self.beta is not None and not is_number(self.beta, 0.0, 1.0):
            raise InputError(f"beta must be a number from 0 to 1, or None for the default; got {self.beta!r}.")
        for name, number, least in (("implicit", self.implicit, 0), ("n_folds", self.n_folds, 2)):
            if not is_whole(number, least):
                raise InputError(f"{name} must be a whole number of {least} or more; got {number!r}.")
        check_vectoriser("vectoriser", self.vectoriser)
        check_vectoriser("link_vectoriser", self.link_vectoriser)
        check_classifier("content", self.content)
        check_classifier("link", self.link)
        if self.training == "joint" and self.inference in CUTS:
            raise InputError(f"joint training needs graded beliefs; inference={self.inference!r} has none.")

    def _left_out(self, given: Any, X: Any, codes: IntArray, groups: AnyArray) -> tuple[Any, FloatArray]:
        classifier = RidgeScorer() if given is None else given
        return fit_with_left_out_scores(
            classifier, X, codes, groups, n_folds=self.n_folds, seed=self.random_state, workers=self._workers
        )

    def _fit_link(self, texts: LinkedTexts, same: IntArray, groups: AnyArray) -> FloatArray:
        """Left-out scores of the pairs; 0 where there are no words or nothing to tell apart."""
        self.link_, self.link_vectoriser_ = None, None
        if texts.contexts is None or not has_words(texts.contexts) or len(np.unique(same)) < 2:
            return np.zeros(len(same))
        vectoriser = window_words() if self.link_vectoriser is None else self.link_vectoriser
        self.link_vectoriser_ = clone(vectoriser)
        told = pair_texts(texts.contexts, texts.pairs)
        words = read_words(self.link_vectoriser_.fit_transform, told, what="contexts of links")
        where = np.asarray(groups)[texts.pairs.ends[:, 0]]
        if len(np.unique(where)) < 2:
            where = np.arange(len(same))
        self.link_, scores = self._left_out(self.link, words, same, where)
        return scores

    def _link_scores(self, texts: LinkedTexts) -> FloatArray:
        if self.link_ is None or texts.contexts is None or not texts.pairs.n_pairs:
            return np.zeros(texts.pairs.n_pairs)
        vectoriser: Any = self.link_vectoriser_
        words = vectoriser.transform(pair_texts(texts.contexts, texts.pairs))
        return label_scores(self.link_, words)

    def _evidence(self, texts: LinkedTexts, features: sp.csr_matrix, link_scores: FloatArray) -> list[Evidence]:
        """One record for links, one for implicit links if there are to be any."""
        unit = features if self.comparer_ is None else self.comparer_.transform(texts.content)
        unit = unit_rows(unit)
        told = link_scores[:, None]
        if self.meta:
            told = np.column_stack([told, meta_features(texts.pairs, pair_similarity(unit, texts.pairs.ends))])
            if self.kinds_:
                unknown = np.full(len(texts.pairs.pair_of_link), "", dtype=object)
                kinds = unknown if texts.kinds is None else texts.kinds
                told = np.column_stack([told, kind_features(kinds, texts.pairs, self.kinds_)])
        evidence = [Evidence(texts.pairs.ends, told)]
        if self.implicit:
            near = nearest_pairs(unit, texts.groups, k=self.implicit, lonely=~texts.pairs.connected)
            evidence.append(Evidence(near, pair_similarity(unit, near)[:, None]))
        return evidence

    def _fit_beliefs(self, scores: FloatArray, codes: IntArray, groups: AnyArray, evidence: list[Evidence]) -> None:
        if self.training == "joint":
            self.model_: Any = fit_joint(
                scores,
                codes,
                evidence,
                n_labels=len(self.classes_),
                objective=self.objective,
                engine=self.inference,
                workers=self._workers,
            )
            return
        settings: dict[str, Any] = {
            "n_labels": len(self.classes_),
            "engine": self.inference,
            "scales": [(1.0,), IMPLICIT_SCALES][: len(evidence)],
            "recalibrate": self.recalibrate,
        }
        if self.training == "auto" and len(np.unique(groups)) < len(groups):
            self.model_ = fit_chosen(scores, codes, evidence, groups, seed=self.random_state, **settings)
        elif self.training == "average":
            self.model_ = fit_averaged(scores, codes, evidence, workers=self._workers, **settings)
        else:
            self.model_ = fit_dual(scores, codes, evidence, **settings)

    def _fit_cut(self, scores: FloatArray, codes: IntArray, texts: LinkedTexts, link_scores: FloatArray) -> None:
        chosen = {
            f"{name}s": (value,)
            for name, value in (("alpha", self.alpha), ("theta", self.theta))
            if not isinstance(value, str)
        }
        beta = BETAS.get(self.inference, 0.0) if self.beta is None else self.beta
        ends = texts.pairs.ends
        self.model_ = fit_cut(scores, codes, texts.groups, ends, link_scores, cut=self.inference, beta=beta, **chosen)
        labels = self.model_.labels(scores, texts.groups, ends, link_scores)
        self.temperature_ = fit_temperature(np.eye(2)[labels], codes)[0] if self.recalibrate else 1.0

    def _labels(self, texts: LinkedTexts, known: IntArray | None) -> IntArray:
        return np.asarray(self._beliefs(texts, known)[0].argmax(axis=1))

    def _beliefs(
        self, texts: LinkedTexts, given: IntArray | None
    ) -> tuple[FloatArray, sp.csr_matrix, FloatArray, list[Evidence]]:
        features = self._features(texts)
        scores, link_scores = label_scores(self.content_, features), self._link_scores(texts)
        if self.inference in CUTS:
            labels = self.model_.labels(scores, texts.groups, texts.pairs.ends, link_scores, known=given)
            beliefs, evidence = calibrated(np.eye(2)[labels], self.temperature_), []
        else:
            evidence = self._evidence(texts, features, link_scores)
            beliefs = self.model_.beliefs(scores, evidence, known=given)
        if given is not None:
            beliefs[given >= 0] = np.eye(len(self.classes_))[given[given >= 0]]
        return beliefs, features, scores, evidence

    def _words(self, features: sp.csr_matrix, label: int, n_words: int) -> list[tuple[str, str, float]]:
        weights = getattr(self.content_, "coef_", None)
        if weights is None or self.vectoriser_ is None:
            return []
        weights = np.atleast_2d(np.asarray(weights)) * self.model_.sigmoids[0][:, None]
        direction = (weights[0] if label else -weights[0]) if len(weights) == 1 else weights[label]
        entry = features.tocoo()
        effects = entry.data * direction[entry.col]
        names = self.vectoriser_.get_feature_names_out()
        top = np.argsort(-np.abs(effects), kind="stable")[:n_words]
        return [("word", str(names[entry.col[i]]).split("__")[-1], float(effects[i])) for i in top]


def _odds(log_p: FloatArray, label: int) -> float:
    return float(log_p[label] - np.logaddexp.reduce(np.delete(log_p, label)))


def _lead(belief: FloatArray, label: int) -> float:
    """How far a belief in one label stands above the mean of the others."""
    return float(belief[label] - np.delete(belief, label).mean())
