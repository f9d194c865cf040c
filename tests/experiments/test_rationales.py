import numpy as np
import pytest

from accord.experiments.rationale_curves import METHODS, accuracies, prepare, rotation_curve, training_rows
from accord.learning.annotator_model import Strengths


@pytest.fixture(scope="module")
def corpus(accord_data):
    from accord.data.corpora import rationales

    return prepare(rationales.load(accord_data))


def test_rotations_take_the_next_folds_and_never_the_test_fold():
    folds = np.repeat(np.arange(10), 3)
    assert set(folds[training_rows(folds, 7, 600)]) == {8, 0, 1}
    assert set(folds[training_rows(folds, 8, 1600)]) == set(range(8))


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
    assert corpus.plain.transition_features.shape == (4, 4)
