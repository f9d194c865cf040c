"""Every estimator that can be saved, fitted on small data in each of its ways, and what it then predicts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import LinearSVC

import synthetic
from accord import (
    AnchoredRanker,
    AspectRanker,
    BradleyTerryRanker,
    CollectiveClassifier,
    IterativeClassifier,
    MaskingSVMClassifier,
    PersonalRanker,
    PreferenceRanker,
    RationaleClassifier,
    ThreadClassifier,
)
from accord.pairs.features import ArgumentFeatures
from accord.texts.vectors import WordVectors
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example

__all__ = ["CASES", "Case"]

VOTES = synthetic.votes(24, 200, n_features=3, n_voters=4, random_state=1)
THREADS = synthetic.threads(18, low=2, high=5, random_state=1)
RATINGS = synthetic.aspect_ratings(120, n_ranks=4, n_features=5, random_state=1)
LINKED = synthetic.linked_texts(4, 10, random_state=1)
MARKED = synthetic.texts_with_rationales(40, n_tokens=20, n_words=30, random_state=1)


@dataclass(frozen=True)
class Case:
    """A way to fit a model, and the arrays and tables that it predicts."""

    name: str
    kind: str
    fit: Callable[[], Any]
    predict: Callable[[Any], list[Any]]


def _pairs(features: str = "given", **settings: Any) -> Case:
    votes = VOTES.comparisons
    X = pd.DataFrame({"left": votes.items.ids[votes.left], "right": votes.items.ids[votes.right]})
    items = votes.items if features == "given" else type(votes.items)(votes.items.ids, texts=votes.items.texts)
    if features != "given":
        vectors = {"vectors": WordVectors(["baba", "babe"], np.eye(2))} if features == "vectors" else None
        made = "ext" if features == "vectors" else features
        settings["features"] = ArgumentFeatures(features=made, vectors=vectors)
    voter = votes.annotators[votes.annotator]
    shown = X["left"].to_numpy() if settings.get("position_bias") else None

    def fit() -> Any:
        return PreferenceRanker(max_iter=2, **settings).fit(
            X, votes.value, items=items, annotator=voter, shown_left=shown
        )

    def predict(model: Any) -> list[Any]:
        said = [model.predict_proba(X), model.rank(), model.hyperparameters_]
        if settings.get("inference") is None:
            first = None if shown is None else shown[:3]
            said.append(
                model.partial_fit(X[:3], votes.value[:3], annotator=voter[:3], shown_left=first).predict_proba(X)
            )
        return said

    return Case(_name("pairs", **{**settings, "features": features}), "pairs", fit, predict)


def _threads(table: bool = False, **settings: Any) -> Case:
    given = THREADS.threads
    X = pd.DataFrame(THREADS.features, columns=list("abcd")) if table else given
    more = {"groups": given.thread_ids[given.thread_of]} if table else {}

    def fit() -> Any:
        model = ThreadClassifier(n_folds=2 if settings.get("features") != "full" else 3, n_epochs=2, **settings)
        return model.fit(X, given.labels, **more) if table else model.fit(X)

    def predict(model: Any) -> list[Any]:
        return [model.predict_proba(X, **more), model.predict(X, **more)]

    return Case(_name("threads", table=table, **settings), "threads", fit, predict)


def _aspects(**settings: Any) -> Case:
    items, ranks = RATINGS.ratings.items, RATINGS.complete
    X = items.texts if "ngram_range" in settings else items.features

    def fit() -> Any:
        return AspectRanker(n_ranks=4, random_state=0, n_epochs=2, n_orders=1, **settings).fit(X, ranks)

    def predict(model: Any) -> list[Any]:
        return [model.predict(X), *([model.predict_proba(X)] if settings["model"].startswith("ordinal") else [])]

    return Case(_name("aspects", **settings), "aspects", fit, predict)


def _links(kind: type = CollectiveClassifier, **settings: Any) -> Case:
    X = pd.DataFrame({"item_id": LINKED.items.ids, "text": LINKED.items.texts})
    more = {"links": LINKED.links, "groups": LINKED.items.groups}

    def predict(model: Any) -> list[Any]:
        return [model.predict(X, **more), *([model.predict_proba(X, **more)] if kind is CollectiveClassifier else [])]

    def fit() -> Any:
        return kind(**settings).fit(X, LINKED.labels, **more)

    return Case(_name("links", estimator=kind.__name__, **settings), "links", fit, predict)


def _rationales(kind: type = RationaleClassifier, **settings: Any) -> Case:
    texts, labels = MARKED.items.texts, MARKED.labels
    spans = _spans()

    def fit() -> Any:
        return kind(min_count=1, **settings).fit(texts, labels, rationales=spans)

    def predict(model: Any) -> list[Any]:
        return [model.predict(texts), model.decision_function(texts)]

    return Case(_name("rationales", estimator=kind.__name__, **settings), "rationales", fit, predict)


def _spans() -> list[list[tuple[int, int]]]:
    """The highlights of each text."""
    table = MARKED.rationales.to_table()
    place = {name: row for row, name in enumerate(MARKED.items.ids)}
    spans: list[list[tuple[int, int]]] = [[] for _ in place]
    for name, start, end in zip(table["item_id"], table["start"], table["end"], strict=True):
        spans[place[name]].append((int(start), int(end)))
    return spans


def _example(name: str) -> Case:
    """What ``accord train`` saves, without settings."""
    project = open_example(name)
    task = task_of(project.kind)
    return Case(
        f"example {name}",
        project.kind,
        lambda: task.train(project, {}, lambda what, done, total: None),
        lambda model: [task.predict(model, project)],
    )


def _name(kind: str, **settings: Any) -> str:
    said = {name: value if isinstance(value, str | int) else type(value).__name__ for name, value in settings.items()}
    return " ".join([kind, *(f"{name}={value}" for name, value in said.items())])


CASES: tuple[Case, ...] = (
    _pairs(),
    _pairs("ext"),
    _pairs("ling"),
    _pairs("vectors"),
    _pairs(reliability="learned", ties="margin", position_bias=True),
    _pairs(inference="svi", n_inducing=8, n_epochs=1),
    _pairs(inference="laplace"),
    _pairs(kernel="matern_product", combine="product", ard=True),
    _pairs(n_inducing=6, random_state=np.random.default_rng(3)),
    Case(
        "pairs Bradley-Terry",
        "pairs",
        lambda: BradleyTerryRanker().fit([("tea", "coffee"), ("tea", "water"), ("coffee", "water")], [1, 1, 0]),
        lambda model: [model.rank()],
    ),
    Case(
        "pairs with judges",
        "pairs",
        lambda: AnchoredRanker(n_draws=20, burn_in=20).fit(
            [("tea", "water"), ("tea", "coffee"), ("coffee", "water")] * 4,
            [1, 1, 0] * 4,
            annotator=["ada"] * 6 + ["program"] * 6,
            judges={"annotator_id": ["program"], "family": ["m"]},
        ),
        lambda model: [model.rank(), model.judges_, model.slopes_],
    ),
    Case(
        "pairs by person",
        "pairs",
        lambda: PersonalRanker().fit(
            [("tea", "water"), ("tea", "coffee"), ("coffee", "water")] * 8,
            [1, 1, 1] * 4 + [1, 0, 1] * 4,
            annotator=["ada"] * 12 + ["ben"] * 12,
        ),
        lambda model: [model.rank("ada"), model.voters_, model.groups_, model.disagreements()],
    ),
    _threads(),
    *(_threads(model=name) for name in ("local", "local+cut", "local+ilp", "local+lbp", "joint", "chain")),
    _threads(model="local", learner="voted", table=True),
    _threads(learner="averaged", table=True),
    _threads(model="chain", order=2, table=True),
    _threads(edges="full", table=False),
    _threads(calibrate=True, table=True),
    _threads(features="full"),
    *(_aspects(model=name) for name in ("prank", "sim", "good_grief", "good_grief_decode", "ordinal", "ordinal_crf")),
    _aspects(model="good_grief", agreement="svm"),
    _aspects(model="ordinal_crf", training="joint"),
    _aspects(model="ordinal_crf", ngram_range=(1, 2)),
    _links(),
    *(_links(training=name) for name in ("joint",)),
    *(_links(inference=name) for name in ("lbp", "min_cut")),
    *(_links(content=model) for model in (LogisticRegression(), LinearSVC(), SGDClassifier(loss="log_loss"))),
    *(_links(content=model) for model in (RidgeClassifier(), MultinomialNB(), ComplementNB(), BernoulliNB())),
    _links(content=make_pipeline(MaxAbsScaler(), StandardScaler(with_mean=False), LogisticRegression())),
    _links(vectoriser=make_union(TfidfVectorizer(), make_pipeline(HashingVectorizer(n_features=64), Normalizer()))),
    _links(vectoriser=CountVectorizer(dtype=np.float32), link_vectoriser=CountVectorizer(binary=True)),
    _links(IterativeClassifier),
    _links(IterativeClassifier, features="count", local=LogisticRegression()),
    _rationales(),
    _rationales(max_ngram=2, transitions="plain"),
    _rationales(fit_intercept=True, C=0.1, theta_variance=0.1),
    _rationales(repeats=True, word_prior="flat", C=0.1, theta_variance=0.1),
    _rationales(MaskingSVMClassifier),
    *(_example(name) for name in ("arguments", "cafe-threads", "cafe-reviews", "cafe-statements", "cafe-notes")),
)  # fmt: skip
