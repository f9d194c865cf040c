"""What the model says of annotators: their styles, the highlights it predicts, and which text to show them next."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accord.data.corpora.rationales import MovieRationales
from accord.data.rationales import token_spans
from accord.engines.numerics import sigmoid
from accord.evaluation.metrics import iou_f1, token_f1
from accord.evaluation.tables import Row, mean_row
from accord.rationales import marked_texts
from accord.rationales.annotator import (
    MarkedTexts,
    Strengths,
    best_tags,
    best_threshold,
    highlight_loss,
    inside_probabilities,
    worth_of_highlights,
)
from accord.rationales.annotator_choice import inner_folds
from accord.rationales.annotator_fit import AnnotatorFit, fit_joint, fit_phi
from accord.rationales.paper.curves import TEST_FOLD, Corpus, accuracies, fit_rows, training_rows
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["ASK_COUNTS", "ask_curve", "eraser_table", "style_table"]

# Training on F0–F7 leaves fold 8, which both annotators marked in part, and fold 9 unseen.
_ROTATION, _SIZE = 8, 1600
ASK_COUNTS = (50, 100, 150, 200)
_ASK_POOL = 400


def fit_most(corpus: Corpus, strengths: Strengths, *, size: int = _SIZE) -> AnnotatorFit:
    """A model that has seen nothing of folds 8 and 9."""
    return fit_rows(corpus.marked, training_rows(corpus.folds, _ROTATION, size), strengths)


def highlights_of(
    corpus: Corpus, rows: IntArray, tags: Sequence[BoolArray], *, transitions: str = "words"
) -> MarkedTexts:
    """Some reviews with the highlights of one annotator."""
    annotations = [(int(row), 0, marks) for row, marks in zip(rows, tags, strict=True)]
    return marked_texts(
        corpus.tokens,
        corpus.vocabulary,
        corpus.marked.design,
        corpus.labels,
        annotations,
        n_classes=2,
        n_annotators=1,
        transitions=transitions,
    ).subset(rows)


def _tags(n_tokens: int, spans: Any) -> BoolArray:
    tags = np.zeros(n_tokens, dtype=bool)
    for start, end in spans:
        tags[start:end] = True
    return tags


def tags_of(reviews: MovieRationales, rows: IntArray, annotator: str) -> list[BoolArray]:
    """Which tokens an annotator highlighted in some reviews."""
    frame = reviews.reviews.iloc[rows]
    spans = frame["spans"] if annotator == "A0" else [reviews.eraser[name] for name in frame["ids"]]
    return [_tags(len(tokens), marks) for tokens, marks in zip(frame["tokens"], spans, strict=True)]


def style_table(corpus: Corpus, reviews: MovieRationales, fit: AnnotatorFit) -> list[Row]:
    """Cross-entropy per tag of each annotator's highlights under each annotator's φ, on the reviews that both marked.

    Word weights are those of ``fit``, which saw none of these reviews; φ is fitted to four fifths of them and tested on
    the rest. The trivial model knows neither words nor weights: transitions only, of the annotator whose tags it
    predicts.
    """
    ids, shared = reviews.reviews["ids"], corpus.folds != TEST_FOLD
    rows = np.flatnonzero(shared & ids.isin(list(reviews.eraser)).to_numpy())
    tags = {name: tags_of(reviews, rows, name) for name in ("A0", "ERASER")}
    sets = {name: highlights_of(corpus, rows, marks) for name, marks in tags.items()}
    plain = {name: highlights_of(corpus, rows, marks, transitions="plain") for name, marks in tags.items()}
    folds = inner_folds(corpus.labels[rows], 5, np.random.default_rng(0))
    strengths, nothing = Strengths(1.0, 1.0), np.zeros_like(fit.theta)
    values: dict[str, list[float]] = {}
    for fold in range(5):
        train, test = folds != fold, folds == fold
        phis = {name: fit_phi(texts.subset(train), fit.theta, strengths).phi for name, texts in sets.items()}
        for target, texts in sets.items():
            for name, phi in phis.items():
                found = _cross_entropy(texts.subset(test), fit.theta, phi)
                values.setdefault(f"{target}/{name}", []).append(found)
            trivial = fit_phi(plain[target].subset(train), nothing, strengths).phi
            found = _cross_entropy(plain[target].subset(test), nothing, trivial)
            values.setdefault(f"{target}/trivial", []).append(found)
    return [mean_row("style", name, "cross_entropy", found) for name, found in values.items()]


def _cross_entropy(texts: MarkedTexts, theta: FloatArray, phi: FloatArray) -> float:
    """Nats per tag."""
    weights = np.concatenate([-theta, theta])
    return highlight_loss(texts, weights, phi)[0] / len(texts.words)


def eraser_table(corpus: Corpus, reviews: MovieRationales, fit: AnnotatorFit) -> list[Row]:
    """The ERASER measures of predicted highlights: fold 8 against A0, fold 9 against the ERASER annotators.

    Three ways to mark a review, given the class the model predicts: the most likely tags; tokens above a probability,
    the one with the best F1 on the training reviews' tokens; and, without φ, the tokens with the largest weights, as
    many as A0 marks.
    """
    training = training_rows(corpus.folds, _ROTATION, _SIZE)
    seen = highlights_of(corpus, training, tags_of(reviews, training, "A0"))
    level = best_threshold(inside_probabilities(seen, fit.class_weights(2), fit.phi, 0), seen.tags)
    share = float(seen.tags.mean())
    rows = []
    for annotator, fold in (("A0", 8), ("ERASER", TEST_FOLD)):
        where = np.flatnonzero(corpus.folds == fold)
        real = tags_of(reviews, where, annotator)
        for name, predicted in _predictions(corpus, where, fit, level, share).items():
            rows += _measures(corpus, where, fit, f"{annotator}/{name}", real, predicted)
    return rows


def _by_text(texts: MarkedTexts, values: Any) -> list[Any]:
    return np.split(values, texts.offsets[1:-1])


def _predictions(
    corpus: Corpus, rows: IntArray, fit: AnnotatorFit, level: float, share: float
) -> dict[str, list[BoolArray]]:
    nothing = [np.zeros(len(corpus.tokens.strings[row]), dtype=bool) for row in rows]
    texts = highlights_of(corpus, rows, nothing)
    guess = (texts.design @ fit.theta[0] > 0).astype(np.int64)
    texts = replace(texts, labels=guess)
    weights = fit.class_weights(2)
    by_token = np.append(weights[1], 0.0)[texts.words] * np.repeat(2 * guess - 1, np.diff(texts.offsets))
    return {
        "viterbi": _by_text(texts, best_tags(texts, weights, fit.phi, 0)),
        "threshold": _by_text(texts, inside_probabilities(texts, weights, fit.phi, 0) >= level),
        "weights": [w >= np.quantile(w, 1.0 - share) for w in _by_text(texts, by_token)],
    }


def _measures(
    corpus: Corpus, rows: IntArray, fit: AnnotatorFit, name: str, real: list[BoolArray], predicted: list[BoolArray]
) -> list[Row]:
    strings = [corpus.tokens.strings[row] for row in rows]
    whole = corpus.marked.design[rows] @ fit.theta[0]
    sign = np.where(whole > 0, 1.0, -1.0)

    def p(documents: list[list[str]]) -> FloatArray:
        return sigmoid(2.0 * sign * (corpus.vocabulary.presence(documents) @ fit.theta[0]))

    full = sigmoid(2.0 * sign * whole)
    rest = p(
        [[w for w, t in zip(words, tags, strict=True) if not t] for words, tags in zip(strings, predicted, strict=True)]
    )
    only = p(
        [[w for w, t in zip(words, tags, strict=True) if t] for words, tags in zip(strings, predicted, strict=True)]
    )
    spans = [token_spans(tags) for tags in predicted]
    per_text: dict[str, Any] = {
        "token_f1": [100 * token_f1([a], [b]).f1 for a, b in zip(real, predicted, strict=True)],
        "iou_f1": [100 * iou_f1([token_spans(a)], [b]).f1 for a, b in zip(real, spans, strict=True)],
        "comprehensiveness": 100 * (full - rest),
        "sufficiency": 100 * (full - only),
    }
    return [mean_row("eraser", name, metric, values) for metric, values in per_text.items()]


def ask_curve(corpus: Corpus, rotation: int, strengths: Strengths) -> dict[str, dict[int, float]]:
    """Held-out accuracy with N highlighted reviews of 400 labelled ones, asked for or drawn at random.

    Both ways begin with the same 50 reviews.
    """
    rows = training_rows(corpus.folds, rotation, _ASK_POOL)
    pool = corpus.marked.subset(rows)
    rng = np.random.default_rng(rotation)
    order = rng.permutation(len(rows))
    out: dict[str, dict[int, float]] = {"ask": {}, "random": {}}
    for name, found in out.items():
        marked = np.zeros(len(rows), dtype=bool)
        fit: AnnotatorFit | None = None
        for count in ASK_COUNTS:
            wanted = count - int(marked.sum())
            if name == "random" or fit is None:
                marked[order[~marked[order]][:wanted]] = True
            else:
                n_seen = np.asarray(pool.design[marked].sum(axis=0)).ravel()
                worth = worth_of_highlights(pool, fit.class_weights(2), fit.phi, n_seen)
                marked[np.argsort(np.where(marked, np.inf, -worth), kind="stable")[:wanted]] = True
            small, columns = pool.subset(np.arange(len(rows)), marked=marked).compact()
            fit = fit_joint(small, strengths).expanded(columns, pool.n_features)
            right = (corpus.marked.design @ fit.theta[0] > 0) == corpus.labels
            found[count] = accuracies(corpus, rotation, _ASK_POOL, right)[1]
    return out
