from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord import MaskingSVMClassifier, RationaleClassifier
from accord.rationales.paper.annotators import _shared
from accord.rationales.paper.curves import METHODS, accuracies, prepare, rotation_curve, training_rows
from accord.rationales.paper.predicted import _auc, _piece, predicted_rows
from accord.rationales.paper.tables import _ablation_rows, _curve_rows


@pytest.fixture(scope="module")
def reviews(accord_data):
    from accord.data.corpora import rationales

    return rationales.load(accord_data)


@pytest.fixture(scope="module")
def corpus(reviews):
    return prepare(reviews)


def test_rotations_take_the_next_folds_and_never_the_test_fold():
    folds = np.repeat(np.arange(10), 200)
    assert set(folds[training_rows(folds, 7, 600)]) == {8, 0, 1}
    assert set(folds[training_rows(folds, 8, 1600)]) == set(range(8))
    few = training_rows(folds, 0, 20)
    assert set(folds[few]) == {1}
    assert ((few - 200) < 100).sum() == 10  # as many of the class that comes first


def test_rows_average_rotations_and_test_texts_in_pairs():
    corpus = SimpleNamespace(folds=np.repeat(np.arange(10), 4), labels=np.tile([0, 1], 20))
    better = np.arange(40) % 4 > 0  # three of four right, everywhere
    worse = np.arange(40) % 2 > 0  # two of four, a subset of those
    results = [{"right": {m: {200: better if m == "rationales" else worse} for m in METHODS}} for _ in range(9)]
    rows = {(row.table, row.row, row.metric): row for row in _curve_rows(corpus, range(9), [200], results)}
    assert rows["heldout", "rationales@200", "accuracy"].ours == 75.0
    assert rows["f9", "svm@200", "accuracy"].ours == 50.0
    assert rows["heldout", "rationales@200", "accuracy"].n == 9
    # Nine of 36 held-out texts differ, all one way: p = 2 · 2⁻⁹.
    assert rows["heldout", "rationales@200", "p_over_log_linear"].ours == pytest.approx(2**-8, abs=2e-3)
    # One of four texts of F9 differs: nothing can be said.
    assert rows["f9", "rationales@200", "p_over_log_linear"].ours == 1.0


def test_the_default_has_a_row_where_it_was_fitted_and_nowhere_else():
    corpus = SimpleNamespace(folds=np.repeat(np.arange(10), 4), labels=np.tile([0, 1], 20))
    worse, better = np.arange(40) % 2 > 0, np.arange(40) % 4 > 0
    right = {method: dict.fromkeys((20, 200), worse) for method in METHODS} | {"default": {200: better}}
    rows = {(row.table, row.row, row.metric): row for row in _curve_rows(corpus, [0], [20, 200], [{"right": right}])}
    assert rows["heldout", "default@200", "accuracy"].ours == 75.0
    assert rows["f9", "default@200", "accuracy"].paper is None
    assert rows["heldout", "default@200", "p_over_rationales"].ours < 0.05
    assert not [row for _, row, _ in rows if row == "default@20"]


def test_the_share_of_the_gain_is_that_of_the_means():
    table = {"six": (89.0, 84.0), "words": (90.0, 85.0), "log_linear": (80.0, 80.0)}
    rows = {(row.row, row.metric): row.ours for row in _ablation_rows([{"ablation": {400: table}}] * 2, [400])}
    assert rows["six@400", "share_of_gain"] == pytest.approx(0.8)
    assert rows["six@400", "share_of_gain_f9"] == pytest.approx(0.9)


@pytest.mark.corpora
def test_the_rows_are_those_of_the_exported_classes_and_highlights_help(corpus, reviews):
    # Two hundred reviews, fixed strengths: the margin on the other reviews is about six points.
    fixed = {"C": 0.01, "theta_variance": 0.03}
    right = rotation_curve(corpus, 0, [200], fixed=fixed)
    held_out = {method: accuracies(corpus, 0, 200, right[method][200])[1] for method in METHODS}
    assert held_out["rationales"] > held_out["log_linear"] + 3
    assert held_out["rationales"] > held_out["masking_svm"]
    # The same fold as a user would fit it, from texts and spans.
    rows = training_rows(corpus.folds, 0, 200)
    record = reviews.rationales("A0")
    texts = list(record.items.texts)
    labels = reviews.reviews["labels"].to_numpy() > 0
    words = {"vocabulary": reviews.vocab, "tokeniser": "whitespace"}
    own = RationaleClassifier(**words, **fixed, word_prior="flat", lexicon=False)  # one prior for all words, as printed
    own.fit([texts[i] for i in rows], labels[rows], rationales=record.subset(rows))
    assert_allclose(own.predict(texts) == labels, right["rationales"][200], atol=1e-9)
    svm = MaskingSVMClassifier(**words, C=1.0, mu=0.1, contrast_weight=0.1)
    svm.fit([texts[i] for i in rows], labels[rows], rationales=record.subset(rows))
    assert_allclose(svm.predict(texts) == labels, right["masking_svm"][200], atol=1e-9)


@pytest.mark.corpora
def test_neither_order_nor_names_matter_on_real_reviews(corpus):
    texts, labels, spans = corpus.rows(training_rows(corpus.folds, 2, 40))
    who = np.array(["ann", "bob"])[np.arange(40) % 2]
    settings = {"tokeniser": corpus.words["tokeniser"], "n_inner_folds": 2}
    one = RationaleClassifier(**settings).fit(texts, labels, rationales=spans, annotator=who)
    order = np.random.default_rng(0).permutation(len(texts))
    two = RationaleClassifier(**settings)
    some, marks = [texts[i] for i in order], [spans[i] for i in order]
    two.fit(
        some, np.where(labels[order], "a", "b"), rationales=marks, annotator=np.where(who == "ann", "z", "y")[order]
    )
    assert one.choice_ is not None
    new = corpus.texts[:50]
    assert_allclose(two.predict_proba(new)[:, ::-1], one.predict_proba(new), atol=1e-6)
    marked = [model.predict_rationales(new[:5])[4].probabilities for model in (one, two)]
    assert_allclose(marked[1], marked[0], atol=1e-6)


def test_short_pieces_keep_their_highlights():
    words = [f"w{i}" for i in range(60)]
    start = len(" ".join(words[:27])) + 1
    text, spans = _piece(" ".join(words), [(start, start + len("w27 w28"))], np.random.default_rng(0))
    assert text == " ".join(words[26:52])
    assert [text[a:b] for a, b in spans] == ["w27 w28"]
    assert _piece("w0 w1", [(0, 2)], np.random.default_rng(0)) is None


def test_predicted_highlights_stand_beside_the_simple_ways():
    found = [{"rationales": 40.0, "token_classifier": 30.0, "everything": 10.0, "auc/rationales": 0.8}] * 3
    rows = {(r.table, r.row, r.metric): r.ours for r in predicted_rows([{200: one} for one in found], found)}
    assert rows["highlights", "token_classifier@200", "ours_above"] == 10.0
    assert rows["highlights", "everything@200", "token_f1"] == 10.0
    assert rows["short", "rationales", "auc"] == pytest.approx(0.8)
    assert _auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True])) == pytest.approx(0.875)


@pytest.mark.corpora
def test_the_corpus_has_the_papers_counts(corpus, reviews):
    # [ZE08]: 17,744 types; the data set's own counts of rationales in F0-F8.
    assert len(corpus.words["vocabulary"]) == 17744
    assert sum(marks is not None for marks in corpus.spans) == 1800
    assert sum(len(marks) for marks in corpus.spans if marks is not None) == 15397
    assert len(_shared(reviews, corpus)) == 50
