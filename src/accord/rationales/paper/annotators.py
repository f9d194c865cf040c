"""What the model says of annotators: their habits, the highlights it predicts, and which text to show them next."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from accord.data.corpora.rationales import MovieRationales
from accord.data.rationales import inside_tags, token_spans
from accord.evaluation.metrics import iou_f1, token_f1
from accord.evaluation.tables import Row, mean_row
from accord.rationales.baselines import TokenClassifier
from accord.rationales.estimator import RationaleClassifier
from accord.rationales.paper.curves import TEST_FOLD, Corpus, accuracies, training_rows
from accord.typing import BoolArray, IntArray

__all__ = ["ASK_COUNTS", "ask_curve", "eraser_table", "likelihood_table", "phi_table", "style_table"]

# Training on F0–F7 leaves fold 8, which both annotators marked in part, and fold 9 unseen.
_ROTATION = 8
ASK_COUNTS = (50, 100, 150, 200)
_ASK_POOL = 400
# [ZE08] section 8.2: φ fitted to F4–F8.
_PHI_ROTATION, _PHI_SIZE = 3, 1000
_PAPER_PHI = {"rel": 14.68, "antirel": 15.30, "I(.)-O": 3.55}


def fit_most(corpus: Corpus, fixed: Mapping[str, Any], *, size: int) -> RationaleClassifier:
    """A model that has seen nothing of folds 8 and 9."""
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, _ROTATION, size))
    return RationaleClassifier(**corpus.printed, **fixed).fit(texts, labels, rationales=spans)


def phi_table(corpus: Corpus, fixed: Mapping[str, Any], *, size: int = _PHI_SIZE) -> list[Row]:
    """The habits of A0, feature by feature."""
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, _PHI_ROTATION, size))
    model = RationaleClassifier(**corpus.printed, **fixed, lexicon=False).fit(texts, labels, rationales=spans)
    return [
        mean_row("phi", name, "weight", [value], paper=_PAPER_PHI.get(name))
        for name, value in zip(model.phi_names_, model.phi_, strict=True)
    ]


def _spans_of(reviews: MovieRationales, corpus: Corpus, rows: IntArray, annotator: str) -> list[Any]:
    """The spans of an annotator in some reviews, in characters."""
    found = {
        item: spans for item, _, spans in reviews.rationales("A0" if annotator == "A0" else "ERASER").annotations()
    }
    return [[(start, end) for start, end, _ in found[row]] for row in rows]


def _shared(reviews: MovieRationales, corpus: Corpus) -> IntArray:
    """The reviews outside the test fold that both annotators marked."""
    return np.flatnonzero((corpus.folds != TEST_FOLD) & np.isin(corpus.ids, list(reviews.eraser)))


def style_table(corpus: Corpus, reviews: MovieRationales, model: RationaleClassifier) -> list[Row]:
    """Cross-entropy per tag of each annotator's highlights under each annotator's φ, on the reviews that both marked.

    Word weights are those of ``model``, which saw none of these reviews; φ is fitted to four fifths of them and tested
    on the rest. The trivial model knows neither words nor weights: transitions only, of the annotator whose tags it
    predicts.
    """
    rows = _shared(reviews, corpus)
    spans = {name: _spans_of(reviews, corpus, rows, name) for name in ("A0", "ERASER")}
    texts, labels, _ = corpus.rows(rows)
    folds = np.empty(len(rows), dtype=np.int64)
    for code in (0, 1):
        folds[labels == code] = np.random.default_rng(code).permutation(np.arange(int((labels == code).sum())) % 5)
    trivial = RationaleClassifier(**corpus.printed, C=0.0, theta_variance=1e-9, transitions="plain", lexicon=False)
    values: dict[str, list[float]] = {}
    for fold in range(5):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

        def part(where: IntArray, name: str) -> tuple[list[str], Any, list[Any]]:
            return [texts[i] for i in where], labels[where], [spans[name][i] for i in where]

        for target in spans:
            for name in spans:
                found = model.with_habits_of(*part(train, name)).highlight_log_loss(*part(test, target))
                values.setdefault(f"{target}/{name}", []).append(found)
            x, y, marks = part(train, target)
            found = trivial.fit(x, y, rationales=marks).highlight_log_loss(*part(test, target))
            values.setdefault(f"{target}/trivial", []).append(found)
    return [mean_row("style", name, "cross_entropy", found) for name, found in values.items()]


def likelihood_table(corpus: Corpus, fixed: Mapping[str, Any], rotations: Sequence[int], *, size: int) -> list[Row]:
    """Cross-entropy per tag of A0's highlights in reviews outside training, by the features of φ."""
    variants: dict[str, dict[str, Any]] = {
        "trivial": {"C": 0.0, "theta_variance": 1e-9, "transitions": "plain"},
        "six": {"transitions": "plain"},
        "words": {},
        "words_laziness": {"laziness": 1.0},
        "words_thresholds": {"relevance_thresholds": (0.1, 0.2)},
    }
    values: dict[str, list[float]] = {name: [] for name in variants}
    for rotation in rotations:
        rows = training_rows(corpus.folds, rotation, size)
        held_out = np.setdiff1d(np.flatnonzero(corpus.folds != TEST_FOLD), rows)[:200]
        texts, labels, spans = corpus.rows(rows)
        for name, settings in variants.items():
            model = RationaleClassifier(**corpus.printed, **{**fixed, **settings}, lexicon=False)
            model.fit(texts, labels, rationales=spans)
            values[name].append(model.highlight_log_loss(*corpus.rows(held_out)))
    return [mean_row("likelihood", name, "cross_entropy", found) for name, found in values.items()]


def eraser_table(corpus: Corpus, reviews: MovieRationales, model: RationaleClassifier, *, size: int) -> list[Row]:
    """The ERASER measures of predicted highlights: fold 8 against A0, fold 9 against the ERASER annotators.

    Ways to mark a review, given the class the model predicts: tokens above the model's threshold; the most likely tags;
    the tokens with the largest weights for the class, as many as A0 marks; a classifier of single tokens; every token.
    """
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, _ROTATION, size))
    tagger = TokenClassifier(tokeniser=corpus.words["tokeniser"]).fit(texts, labels, spans)
    marked = sum(end - start for marks in spans for start, end in marks)
    share = marked / sum(map(len, texts))
    rows = []
    for annotator, fold in (("A0", 8), ("ERASER", TEST_FOLD)):
        where = np.flatnonzero(corpus.folds == fold)
        predicted = _predictions(corpus, where, model, tagger, share)
        read = [corpus.words["tokeniser"](corpus.texts[row])[1] for row in where]
        real = [
            inside_tags(np.array(marks).reshape(-1, 2), tokens)
            for marks, tokens in zip(_spans_of(reviews, corpus, where, annotator), read, strict=True)
        ]
        for name, tags in predicted.items():
            rows += _measures(corpus, where, model, f"{annotator}/{name}", real, tags)
    return rows


def _predictions(
    corpus: Corpus, rows: IntArray, model: RationaleClassifier, tagger: TokenClassifier, share: float
) -> dict[str, list[BoolArray]]:
    texts = [corpus.texts[row] for row in rows]
    found = model.predict_rationales(texts)
    labels = [one.label for one in found]
    place = {word: column for column, word in enumerate(model.columns_.words[0])}
    weights = np.append(model.class_weights_[1, : model.columns_.n_words], 0.0)
    by_token = [
        (1 if label == 1 else -1) * weights[[place.get(word, -1) for word in text.split(" ")]]
        for text, label in zip(texts, labels, strict=True)
    ]
    return {
        "threshold": [one.probabilities >= model.threshold_ for one in found],
        "viterbi": [inside_tags(one.best_spans, one.tokens) for one in found],
        "weights": [own >= np.quantile(own, 1.0 - share) for own in by_token],
        "token_classifier": [p >= tagger.threshold_ for p in tagger.predict_proba(texts, labels)],
        "everything": [np.ones(len(one.tokens), dtype=bool) for one in found],
    }


def _measures(
    corpus: Corpus,
    rows: IntArray,
    model: RationaleClassifier,
    name: str,
    real: list[BoolArray],
    predicted: list[BoolArray],
) -> list[Row]:
    words = [corpus.texts[row].split(" ") for row in rows]
    full = model.predict_proba([corpus.texts[row] for row in rows])
    best = full.argmax(axis=1)

    def drop(*, keep: bool) -> Any:
        left = [
            " ".join(w for w, t in zip(own, tags, strict=True) if bool(t) == keep)
            for own, tags in zip(words, predicted, strict=True)
        ]
        each = np.arange(len(best))
        return 100 * (full[each, best] - model.predict_proba(left)[each, best])

    spans = [token_spans(tags) for tags in predicted]
    per_text: dict[str, Any] = {
        "token_f1": [100 * token_f1([a], [b]).f1 for a, b in zip(real, predicted, strict=True)],
        "iou_f1": [100 * iou_f1([token_spans(a)], [b]).f1 for a, b in zip(real, spans, strict=True)],
        "comprehensiveness": drop(keep=False),
        "sufficiency": drop(keep=True),
    }
    return [mean_row("eraser", name, metric, values) for metric, values in per_text.items()]


def ask_curve(corpus: Corpus, rotation: int, fixed: Mapping[str, Any]) -> dict[str, dict[int, float]]:
    """Held-out accuracy with N highlighted reviews of 400 labelled ones, asked for or drawn at random.

    Both ways begin with the same 50 reviews.
    """
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, rotation, _ASK_POOL))
    order = np.random.default_rng(rotation).permutation(len(texts))
    out: dict[str, dict[int, float]] = {"ask": {}, "random": {}}
    for name, found in out.items():
        marked: set[int] = set()
        model: RationaleClassifier | None = None
        for count in ASK_COUNTS:
            if name == "random" or model is None:
                fresh = [int(row) for row in order if int(row) not in marked][: count - len(marked)]
            else:
                fresh = model.ask(count - len(marked))["row"].tolist()
            marked |= set(fresh)
            some = [marks if row in marked else None for row, marks in enumerate(spans)]
            model = RationaleClassifier(**corpus.printed, **fixed, lexicon=False).fit(texts, labels, rationales=some)
            right = model.predict(corpus.texts) == corpus.labels
            found[count] = accuracies(corpus, rotation, _ASK_POOL, right)[1]
    return out
