from types import SimpleNamespace

import numpy as np
import pytest

from accord.rationales.annotator import Strengths
from accord.rationales.paper.curves import METHODS, accuracies, prepare, rotation_curve, training_rows
from accord.rationales.paper.tables import _ablation_rows, _curve_rows


@pytest.fixture(scope="module")
def corpus(accord_data):
    from accord.data.corpora import rationales

    return prepare(rationales.load(accord_data))


def test_rotations_take_the_next_folds_and_never_the_test_fold():
    folds = np.repeat(np.arange(10), 3)
    assert set(folds[training_rows(folds, 7, 600)]) == {8, 0, 1}
    assert set(folds[training_rows(folds, 8, 1600)]) == set(range(8))


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


def test_the_share_of_the_gain_is_that_of_the_means():
    table = {"six": (89.0, 84.0), "words": (90.0, 85.0), "log_linear": (80.0, 80.0)}
    rows = {(row.row, row.metric): row.ours for row in _ablation_rows([{"ablation": {400: table}}] * 2, [400])}
    assert rows["six@400", "share_of_gain"] == pytest.approx(0.8)
    assert rows["six@400", "share_of_gain_f9"] == pytest.approx(0.9)


@pytest.mark.corpora
def test_highlights_help_on_a_few_reviews(corpus):
    # Two hundred reviews, fixed strengths: the margin on two thousand others is about six points.
    right = rotation_curve(corpus, 0, [200], fixed=Strengths(0.01, 0.1))
    assert set(METHODS) <= set(right)
    held_out = {method: accuracies(corpus, 0, 200, right[method][200])[1] for method in METHODS}
    assert held_out["rationales"] > held_out["log_linear"] + 3
    assert held_out["rationales"] > held_out["masking_svm"]


@pytest.mark.corpora
def test_the_corpus_has_the_papers_counts(corpus):
    # [ZE08]: 17,744 types; the data set's own counts of rationales in F0-F8.
    assert corpus.vocabulary.n_words == 17744
    assert len(corpus.marked.chain_text) == 1800
    assert corpus.marked.tags.sum() == 111744
    assert corpus.plain.transition_features.shape[1] == 4  # O-O, O-I, I-I, I-O
