import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord import RationaleClassifier
from accord.rationales.annotator_choice import measured
from accord.rationales.features import read_tokens

FILL = ["the", "of", "a", "film", "plot", "scene", "actor", "and", "with", "in", "on", "was", "is", "it", "that", "one"]
CUES = {"good": ["superb", "moving", "clever", "warm"], "bad": ["dull", "awful", "clumsy", "weak"]}


def told_in_passing(n, seed, *, classes=("good", "bad")):
    """Texts with a cue of their class after "truly", which is highlighted, and two of any class after "called"."""
    rng = np.random.default_rng(seed)
    labels = np.array(classes)[np.arange(n) % len(classes)]
    texts, spans = [], []
    for label in labels:
        words = [str(word) for word in rng.choice(FILL, 12)]
        first, *others = rng.permutation([0, 3, 6, 9])[:3]
        words[first : first + 2] = ["truly", str(rng.choice(CUES[label]))]
        for place in others:
            words[place : place + 2] = ["called", str(rng.choice(CUES[str(rng.choice(classes))]))]
        start = len(" ".join(words[: first + 1])) + 1
        texts.append(" ".join(words))
        spans.append([(start, start + len(words[first + 1]))])
    return texts, labels, spans


def log_loss(fitted, texts, labels):
    p = fitted.predict_proba(texts)
    return -np.log(p[np.arange(len(labels)), np.searchsorted(fitted.classes_, labels)]).mean()


@pytest.mark.parametrize("max_ngram", [1, 2])
def test_scores_are_sums_over_words_by_their_largest_probability_of_being_highlighted(max_ngram):
    texts, labels, spans = told_in_passing(60, 1)
    fitted = RationaleClassifier(max_ngram=max_ngram).fit(texts, labels, rationales=spans)
    share, unit = fitted.reading_.share, fitted.reading_.unit
    assert share > 0
    for text in [*told_in_passing(3, 2)[0], "superb superb and truly superb", "nothing known", ""]:
        words = read_tokens([text]).strings[0]
        expected = []
        for row, label in enumerate(fitted.classes_):
            inside = fitted.predict_rationales([text], [label])[0].probabilities
            total, offset = fitted.log_prior_[row], 0
            for n, known in enumerate(fitted.columns_.words, 1):
                runs = [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
                for run in set(runs) & set(known):
                    p = max(inside[i : i + n].mean() for i, other in enumerate(runs) if other == run)
                    weight = fitted.class_weights_[row, offset + list(known).index(run)]
                    total += fitted.scale_ * weight * (1 - share + share * p / unit) + (n == 1) * fitted.drift_[row]
                offset += len(known)
            expected.append(total)
        assert_allclose(fitted.decision_function([text])[0], expected[1] - expected[0], atol=1e-10)
        if text:
            why = fitted.explain(text, label=fitted.classes_[1])
            assert_allclose(why["effect"].sum(), expected[1] - expected[0], atol=1e-10)


@pytest.mark.parametrize("classes", [("good", "bad"), ("bad", "fair", "good")])
def test_a_word_counts_where_it_would_be_highlighted(classes, monkeypatch):
    monkeypatch.setitem(CUES, "fair", ["average", "passable", "usual", "middling"])
    texts, labels, spans = told_in_passing(120, 3, classes=classes)
    new, truth, _ = told_in_passing(400, 4, classes=classes)
    by_marks, alike = (
        RationaleClassifier(reading=reading).fit(texts, labels, rationales=spans) for reading in ("highlights", "words")
    )
    assert by_marks.score(new, truth) > alike.score(new, truth) + 0.1
    assert log_loss(by_marks, new, truth) < log_loss(alike, new, truth) - 0.1


def test_reading_promises_nothing_where_classes_and_highlights_are_drawn_at_random():
    rng = np.random.default_rng(5)
    losses = []
    for _ in range(5):
        texts = [" ".join(rng.choice(FILL, 12)) for _ in range(60)]
        labels = rng.permutation(np.repeat(["good", "bad"], 30))
        fitted = RationaleClassifier().fit(
            texts, labels, rationales=[[(0, 6)] if rng.random() < 0.7 else [] for _ in texts]
        )
        new = [" ".join(rng.choice(FILL, 12)) for _ in range(300)]
        losses.append(log_loss(fitted, new, np.repeat(["good", "bad"], 150)))
    assert np.mean(losses) < np.log(2) + 0.02


def test_few_texts_that_are_all_right_cannot_show_that_scores_are_never_wrong():
    def scale(n, **settings):
        truth = np.arange(n) % 2
        scores = np.where(truth, 1.0, -1.0)[:, None] * [-0.5, 0.5]
        return measured(scores, np.ones(n), truth, np.log([0.5, 0.5]), 1, **settings).scale

    assert scale(20, doubtful=True) < 0.9 * scale(20)
    # Platt's targets: σ(s) = 11/12 for ten texts a class, but for the prior of log s
    assert scale(20, doubtful=True) < np.log(11) < scale(2000, doubtful=True)


@pytest.mark.parametrize(
    "settings", [{"reading": "words"}, {"lexicon": False}, {"C": 0.1, "theta_variance": 0.1}], ids=str
)
def test_all_words_count_alike_where_nothing_says_otherwise(settings):
    texts, labels, spans = told_in_passing(40, 6)
    assert RationaleClassifier(**settings).fit(texts, labels, rationales=spans).reading_.share == 0
    assert RationaleClassifier().fit(texts, labels).reading_.share == 0
