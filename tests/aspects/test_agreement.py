import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from accord.aspects.agreement import (
    LEARNERS,
    agreement_labels,
    agreement_scores,
    contrastive_distance,
    evidence_names,
    fit_agreement,
)


def texts(seed=0, n=500, d=15, m=3):
    """Feature 0 says whether aspects agree; the others move the ranks."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) / np.sqrt(d)
    weights = np.random.default_rng(77).normal(size=(d, m)) * 2
    weights[0] = 0
    own = 1 + np.digitize(x @ weights, [-1.0, 0.0, 1.0])
    agree = x[:, 0] + 0.05 * rng.normal(size=n) > 0
    return sp.csr_array(x), np.where(agree[:, None], own[:, :1], own)


def test_labels_know_equal_different_and_open():
    ranks = np.array([[3, 3], [3, 4], [3, 0], [0, 0]])
    assert_array_equal(agreement_labels(ranks), [1, 0, -1, -1])
    assert_array_equal(agreement_labels(np.array([[1, 2, 0]])), [0])


def test_contrastive_distance_is_the_widest_pair_of_words():
    weights = np.array([[3.0, 0.0], [-4.0, 0.0], [0.0, 0.6], [0.0, -0.8]])
    x = sp.csr_array(np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]]))
    # Relative weights: 0.6, −0.8 of the first aspect and 0.6, −0.8 of the second.
    assert_allclose(contrastive_distance(x, weights), [1.4, 0.6, 1.4, 0.0, 0.0])


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_every_learner_finds_agreement_in_new_texts(learner):
    x, ranks = texts()
    fresh, truth = texts(seed=1)
    model = fit_agreement(x, ranks, n_ranks=4, learner=learner, rng=np.random.default_rng(0))
    assert roc_auc_score(agreement_labels(truth), agreement_scores(model, fresh)) > 0.8


def test_scores_of_training_texts_are_out_of_fold():
    """Labels that are noise cannot be told, not even of training texts."""
    rng = np.random.default_rng(2)
    x = sp.csr_array(rng.normal(size=(300, 200)))
    ranks = rng.integers(1, 3, size=(300, 2))
    scores = fit_agreement(x, ranks, n_ranks=2, penalty=0.01, rng=rng).held_out
    assert 0.35 < roc_auc_score(agreement_labels(ranks), scores) < 0.65


def test_missing_scores_and_one_sided_labels_are_taken():
    x, ranks = texts(n=100)
    ranks[::3, 0] = 0
    model = fit_agreement(x, ranks, n_ranks=4, contrast=False, rng=np.random.default_rng(0))
    assert np.isfinite(model.held_out).all()
    assert model.contrast is None
    same = np.repeat(ranks[:, 1:2], 3, axis=1)
    for learner in LEARNERS:
        model = fit_agreement(x, same, n_ranks=4, learner=learner, rng=np.random.default_rng(0))
        assert (model.held_out > 0).all()


def test_names_of_evidence_match_its_columns():
    x, ranks = texts(n=60)
    for contrast in (True, False):
        model = fit_agreement(x, ranks, n_ranks=4, contrast=contrast, rng=np.random.default_rng(0))
        assert len(evidence_names(["a", "b", "c"], contrast=contrast)) == len(model.second) - 1
