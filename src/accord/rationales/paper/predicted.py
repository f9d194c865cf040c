"""Predicted highlights and short texts: what the defaults give beside what people would pick instead."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accord.data.rationales import inside_tags, token_spans
from accord.evaluation.metrics import token_f1
from accord.evaluation.tables import Row, mean_row
from accord.rationales.baselines import TokenClassifier
from accord.rationales.estimator import RationaleClassifier
from accord.rationales.paper.curves import TEST_FOLD, Corpus, training_rows
from accord.typing import BoolArray, IntArray

__all__ = ["HIGHLIGHT_SIZES", "predicted_highlights", "predicted_rows", "short_texts"]

HIGHLIGHT_SIZES = (200, 400)
# Short texts are pieces of so many tokens that hold a highlight, one a review.
WIDTH, N_SHORT, _SHORT_SIZE = 26, 400, 600
_N_TEST = 200
_PREDICTED, _SHORT = "highlights", "short"


def _held_out(corpus: Corpus, rotation: int, size: int, n: int) -> IntArray:
    """Reviews with A0's highlights outside training, spread over the folds."""
    rows = np.setdiff1d(np.flatnonzero(corpus.folds != TEST_FOLD), training_rows(corpus.folds, rotation, size))
    return rows[np.linspace(0, len(rows), min(n, len(rows)), endpoint=False).astype(int)]


def _measured(
    model: RationaleClassifier, train: tuple[list[str], Any, list[Any]], test: tuple[list[str], Any, list[Any]]
) -> dict[str, float]:
    """Token F1 over all tokens, as reasons for the class that the model predicts: ours, single tokens, every token."""
    texts, _, spans = test
    found = model.predict_rationales(texts)
    real = [inside_tags(np.array(marks).reshape(-1, 2), one.tokens) for marks, one in zip(spans, found, strict=True)]
    tagger = TokenClassifier(tokeniser=model.tokeniser).fit(*train)
    single = tagger.predict_proba(texts, [one.label for one in found])
    ways: dict[str, list[BoolArray]] = {
        "rationales": [one.probabilities >= model.threshold_ for one in found],
        "token_classifier": [p >= tagger.threshold_ for p in single],
        "everything": [np.ones(len(tags), dtype=bool) for tags in real],
    }
    own = np.concatenate([one.probabilities for one in found])
    tags = np.concatenate(real)
    return {name: 100 * token_f1(real, marked).f1 for name, marked in ways.items()} | {
        "auc/rationales": _auc(own, tags),
        "auc/token_classifier": _auc(np.concatenate(single), tags),
    }


def _auc(scores: Any, tags: BoolArray) -> float:
    """The share of pairs of a highlighted token and another in which the highlighted one has the larger score."""
    order = np.sort(scores[~tags])
    below = np.searchsorted(order, scores[tags], side="left") + np.searchsorted(order, scores[tags], side="right")
    return float(below.mean() / 2 / len(order))


def predicted_highlights(
    corpus: Corpus, rotation: int, strengths: Mapping[int, Mapping[str, Any]]
) -> dict[int, dict[str, float]]:
    """Token F1 against A0 in reviews outside training, by training size, with the strengths of the learning curve."""
    out = {}
    for size, settings in strengths.items():
        train = corpus.rows(training_rows(corpus.folds, rotation, size))
        model = RationaleClassifier(**corpus.printed, random_state=rotation, **settings)
        model.fit(train[0], train[1], rationales=train[2])
        out[size] = _measured(model, train, corpus.rows(_held_out(corpus, rotation, size, _N_TEST)))
    return out


def _piece(text: str, spans: Any, rng: np.random.Generator) -> tuple[str, list[tuple[int, int]]] | None:
    """A piece of a text that holds a highlight, with its spans in characters; None where there is none."""
    words = text.split(" ")
    ends = np.cumsum([len(word) + 1 for word in words])
    where = np.stack([ends - [len(word) + 1 for word in words], ends - 1], axis=1)
    tags = inside_tags(np.array(spans).reshape(-1, 2), where)
    starts = [k for k in range(0, len(words) - WIDTH + 1, WIDTH) if tags[k : k + WIDTH].any()]
    if not starts:
        return None
    k = int(rng.choice(starts))
    runs = token_spans(tags[k : k + WIDTH]) + k
    first = where[k, 0]
    return " ".join(words[k : k + WIDTH]), [(int(where[a, 0] - first), int(where[b - 1, 1] - first)) for a, b in runs]


def short_texts(
    corpus: Corpus, rotation: int, *, fixed: Mapping[str, Any] | None = None, n: int = N_SHORT
) -> dict[str, float]:
    """Accuracy with and without highlights, and predicted highlights, by the defaults on short pieces of reviews."""
    rng = np.random.default_rng(rotation)

    def pieces(rows: IntArray) -> tuple[list[str], Any, list[Any]]:
        found = [(row, piece) for row in rows if (piece := _piece(corpus.texts[row], corpus.spans[row], rng))]
        kept = [found[i] for i in np.linspace(0, len(found), min(n, len(found)), endpoint=False).astype(int)]
        return [one for _, (one, _) in kept], corpus.labels[[row for row, _ in kept]], [two for _, (_, two) in kept]

    train = pieces(training_rows(corpus.folds, rotation, _SHORT_SIZE))
    test = pieces(_held_out(corpus, rotation, _SHORT_SIZE, 2 * n))
    settings = dict(fixed or {})
    alone = RationaleClassifier(**corpus.words, random_state=rotation, **settings).fit(train[0], train[1])
    model = RationaleClassifier(**corpus.words, random_state=rotation, **settings)
    model.fit(train[0], train[1], rationales=train[2])
    right = {name: 100 * float(one.score(test[0], test[1])) for name, one in (("alone", alone), ("marked", model))}
    return {
        "accuracy/log_linear": right["alone"],
        "accuracy/rationales": right["marked"],
        "gain/rationales": right["marked"] - right["alone"],
        **_measured(model, train, test),
    }


def predicted_rows(
    highlights: Sequence[Mapping[int, Mapping[str, float]]], short: Sequence[Mapping[str, float]]
) -> list[Row]:
    """The tables over the rotations; "above" is by how much ours is above a row, rotation by rotation."""
    rows = []
    tables = [
        (_PREDICTED, f"@{size}", [one[size] for one in highlights]) for size in (highlights[0] if highlights else ())
    ]
    for table, at, found in [*tables, *([(_SHORT, "", list(short))] if short else [])]:
        for name in found[0]:
            metric, _, method = name.rpartition("/")
            values = [one[name] for one in found]
            rows.append(mean_row(table, f"{method}{at}", metric or "token_f1", values))
            if not metric and method != "rationales":
                above = [one["rationales"] - one[name] for one in found]
                rows.append(mean_row(table, f"{method}{at}", "ours_above", above))
    return rows
