"""One fold over debates: every row of the tables is a classifier of :mod:`accord.links` with its settings.

Each is trained on the training debates and asked about the others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from accord.links.baselines import ConfidenceWeightedClassifier
from accord.links.content import Content
from accord.links.cut import CUTS
from accord.links.estimator import CollectiveClassifier
from accord.links.features.stance import window_words
from accord.links.features.words import LinkedTexts
from accord.links.iterative import IterativeClassifier
from accord.links.paper.conditions import TOKENS, Condition
from accord.links.training import TrainingTexts
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray, ObjectArray

__all__ = ["Outcome", "Outcomes", "Remembered", "beyond", "default_row", "paper_recipe", "recipe_rows"]

SET_TO, INC_BY = (0.6, 0.8, 1.0), (0.05, 0.15, 0.25)
KINDS = ("presence", "count", "window")


@dataclass(frozen=True, eq=False)
class Outcome:
    """How one method did on the test texts of one fold."""

    right: BoolArray  # (n_test,)
    log_loss: FloatArray | None = None  # (n_test,) of beliefs, where the method has any


Outcomes = dict[str, Outcome]

_fits: dict[tuple[Any, ...], Any] = {}


class Remembered(ClassifierMixin, BaseEstimator):
    """A classifier that is not trained twice on the same rows: rows of the tables share their support vector machines.

    Parameters
    ----------
    classifier : classifier
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> "Remembered":
        """Fit, or take what was fitted on the same rows in this fold."""
        rows = sp.csr_matrix(X)
        key = repr(self.classifier), rows.indices.tobytes() + rows.data.tobytes(), np.asarray(y).tobytes()
        if key not in _fits:
            _fits[key] = clone(self.classifier).fit(X, y)
        self.fitted_ = _fits[key]
        self.classes_ = self.fitted_.classes_
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the classifier."""
        return np.asarray(self.fitted_.decision_function(X))

    def predict(self, X: Any) -> Any:
        """Labels of the classifier."""
        return self.fitted_.predict(X)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the classifier."""
        return np.asarray(self.fitted_.coef_)

    @property
    def intercept_(self) -> FloatArray:
        """Bias of the classifier."""
        return np.asarray(self.fitted_.intercept_)


def recipe_rows(seed: int) -> Iterator[tuple[str, CollectiveClassifier]]:
    """The dual classifiers of Table 2 of [BBB11]: linear support vector machines, word presence, Platt's sigmoid."""
    unigrams = make_pipeline(CountVectorizer(binary=True, token_pattern=TOKENS), Normalizer())
    machine = Remembered(LinearSVC(loss="hinge", max_iter=20_000, random_state=0))
    settings: dict[str, Any] = {
        "content": machine,
        "link": machine,
        "link_vectoriser": unigrams,
        "implicit": 0,
        "agreement_strength": 0.0,
        "coupling": 1.0,
        "recalibrate": False,
        "random_state": seed,
    }
    for engine in ("mean_field", "lbp", "min_cut"):
        yield engine, CollectiveClassifier(inference=engine, **settings)
    for cut, betas in (("set_to", SET_TO), ("inc_by", INC_BY)):
        for beta in betas:
            yield f"{cut}_{beta:g}", CollectiveClassifier(inference=cut, beta=beta, **settings)
    confident = Remembered(ConfidenceWeightedClassifier())
    settings |= {"content": confident, "link": confident}
    yield "mean_field_confident", CollectiveClassifier(inference="mean_field", **settings)


def paper_recipe(condition: Condition, train: IntArray, test: IntArray, seed: int) -> Outcomes:
    """Every row of Tables 1 and 2 of [BBB11], and confidence-weighted learners in place of the machines."""
    _fits.clear()
    labels = condition.labels
    known, asked = (condition.rows(condition.presence, at) for at in (train, test))
    majority = max(sorted(set(labels[train])), key=lambda label: np.sum(labels[train] == label))
    outcomes = {"majority": Outcome(labels[test] == majority)}
    for name, model in recipe_rows(seed):
        model.fit(y=labels[train], **known)
        outcomes[name] = _beliefs(model, model.predict_proba(**asked), labels[test])
        if name in ("mean_field", "mean_field_confident"):
            content = name.replace("mean_field", "content")
            outcomes[content] = _beliefs(model, model.content_proba(**asked), labels[test])
    for kind in KINDS:
        for training in ("true", "left_out"):
            iterative = _iterative(kind, training, seed).fit(y=labels[train], **known)
            suffix = "" if training == "true" else "_left_out"
            outcomes[f"iterative_{kind}{suffix}"] = Outcome(iterative.predict(**asked) == labels[test])
            if training == "true":
                alone = _iterative(kind, training, seed, scale=1.0).fit(y=labels[train], **known)
                outcomes[f"local_{kind}"] = Outcome(alone.predict_locally(y=labels[test], **asked) == labels[test])
    return outcomes


def _iterative(kind: str, training: str, seed: int, scale: float | None = None) -> IterativeClassifier:
    machine = Remembered(LinearSVC(loss="hinge", max_iter=20_000, random_state=0))
    scale = 1.0 if kind != "window" else scale
    return IterativeClassifier(
        features=kind, training=training, scale=scale, content=machine, token_pattern=TOKENS, random_state=seed
    )


class SharedClassifier(CollectiveClassifier):
    """The exported classifier, which takes what another row of the tables has fitted on the same rows of this fold.

    Rows that read the same features share the content classifier and the link classifier; all else is their own.
    """

    def _contents(self, training: TrainingTexts, features: sp.csr_matrix, by_piece: IntArray | None) -> list[Content]:
        links = *_bytes(training.texts.pairs.ends), *_bytes(self._weights(training.texts))
        left_out = training.groups, training.order, training.folds if training.among else None, by_piece
        key = repr(self.content), self.neighbour_words, *links, *_matrix(features), *_bytes(training.codes, *left_out)
        return _once(key, lambda: super(SharedClassifier, self)._contents(training, features, by_piece))

    def _fit_link(self, texts: LinkedTexts, codes: IntArray, groups: AnyArray) -> FloatArray:
        key = repr(self.link), *_bytes(texts.pairs.ends, codes, np.asarray(groups, dtype=str), texts.order)

        def fit() -> tuple[Any, Any, FloatArray]:
            scores = super(SharedClassifier, self)._fit_link(texts, codes, groups)
            return self.link_, self.link_vectoriser_, scores

        self.link_, self.link_vectoriser_, scores = _once(key, fit)
        return np.array(scores)


def _once(key: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
    """What was computed for the key in this fold, or is now."""
    if key not in _fits:
        _fits[key] = compute()
    return _fits[key]


def _bytes(*arrays: AnyArray | None) -> tuple[bytes, ...]:
    told = (each.astype(str) if each is not None and each.dtype == object else each for each in arrays)
    return tuple(b"" if each is None else blake2b(each.tobytes(), digest_size=16).digest() for each in told)


def _matrix(features: sp.csr_matrix) -> tuple[bytes, ...]:
    return _bytes(features.data, features.indices, features.indptr)


def default_row(**settings: Any) -> CollectiveClassifier:
    """The default classifier, with the tokens of the corpus in its windows."""
    return CollectiveClassifier(link_vectoriser=window_words(token_pattern=TOKENS), **settings)


def beyond(condition: Condition, train: IntArray, test: IntArray, seed: int) -> Outcomes:
    """Better content, link evidence beyond the window's words, implicit links, joint training, and the default."""
    own: dict[str, Any] = {"neighbour_words": "own", "random_state": seed}
    rows: dict[str, tuple[sp.csr_matrix, dict[str, Any]]] = {
        "links_words": (condition.words, {"implicit": 0, **own}),
        "links_stance": (condition.stance, {"implicit": 0, **own}),
        "meta": (condition.stance, {"implicit": 0, "meta": True, **own}),
        "implicit": (condition.stance, own),
        "joint": (condition.stance, {"training": "joint", **own}),
        "joint_likelihood": (condition.stance, {"training": "joint", "objective": "likelihood", **own}),
        "best": (condition.stance, {"random_state": seed}),
    }
    _fits.clear()
    outcomes: Outcomes = {}
    truth = condition.labels[test]
    for name, (features, settings) in rows.items():
        model = SharedClassifier(link_vectoriser=window_words(token_pattern=TOKENS), **settings)
        model.fit(y=condition.labels[train], **condition.rows(features, train))
        asked = condition.rows(features, test)
        if name in ("links_words", "links_stance"):
            outcomes[name.replace("links", "content")] = _beliefs(model, model.content_proba(**asked), truth)
        outcomes[name] = _beliefs(model, model.predict_proba(**asked), truth)
    return outcomes


def _beliefs(model: CollectiveClassifier, beliefs: FloatArray, truth: ObjectArray) -> Outcome:
    codes = np.searchsorted(model.classes_, truth)
    told = beliefs[np.arange(len(codes)), codes]
    graded = model.inference not in CUTS
    return Outcome(beliefs.argmax(axis=1) == codes, -np.log(np.clip(told, 1e-12, 1.0)) if graded else None)
