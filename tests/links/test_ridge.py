"""Ridge scores against training again without each group, and against scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from accord.errors import InputError
from accord.links.out_of_fold import fit_with_left_out_scores, label_scores
from accord.links.ridge import RidgeScorer, indicator_targets, ridge_dual


def _problem(n_labels=2, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    codes = (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int) if n_labels == 2 else rng.integers(0, n_labels, n)
    return X, codes, rng.integers(0, 5, n)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_left_out_scores_equal_training_without_each_group(n_labels):
    X, codes, groups = _problem(n_labels)
    fitted, left_out = fit_with_left_out_scores(RidgeScorer(strength=0.7), X, codes, groups)
    for group in range(5):
        inside = groups == group
        again = RidgeScorer(strength=0.7).fit(X[~inside], codes[~inside])
        assert_allclose(left_out[inside], again.decision_function(X[inside]), atol=1e-9)
    assert_allclose(label_scores(fitted, X), RidgeScorer(strength=0.7).fit(X, codes).decision_function(X))


@pytest.mark.parametrize("n_labels", [2, 3])
def test_left_out_scores_without_bias_are_those_of_the_weights_alone(n_labels):
    X, codes, groups = _problem(n_labels)
    targets = indicator_targets(codes, n_labels)
    _, left_out = ridge_dual(X @ X.T + 1.0, targets, groups, strength=0.7, with_bias=False)
    for group in range(5):
        inside = groups == group
        again = RidgeScorer(strength=0.7).fit(X[~inside], codes[~inside])
        assert_allclose(left_out[inside], X[inside] @ again.coef_.T, atol=1e-9)


@pytest.mark.parametrize("max_gram", [100, 0])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_matrix])
def test_primal_dual_sparse_and_dense_equal_scikit_learn(max_gram, wrap):
    X, codes, _ = _problem()
    model = RidgeScorer(strength=2.0, max_gram=max_gram).fit(wrap(X), codes)
    # scikit-learn, with the bias as one more penalised feature.
    other = Ridge(alpha=2.0, fit_intercept=False).fit(np.column_stack([X, np.ones(len(X))]), np.where(codes, 1.0, -1.0))
    assert_allclose(model.decision_function(wrap(X)), X @ other.coef_[:-1] + other.coef_[-1], atol=1e-4)


def test_other_classifiers_are_trained_again_without_each_fold():
    from sklearn.svm import LinearSVC

    X, codes, groups = _problem()
    _, left_out = fit_with_left_out_scores(LinearSVC(), X, codes, groups)
    for group in range(5):
        inside = groups == group
        again = LinearSVC().fit(X[~inside], codes[~inside])
        assert_allclose(left_out[inside], again.decision_function(X[inside]), atol=1e-6)


def test_probabilistic_classifiers_score_by_log_odds():
    from sklearn.linear_model import LogisticRegression

    class OnlyProbabilities:
        def __init__(self, model):
            self.predict_proba = model.predict_proba

    X, codes, _ = _problem()
    model = LogisticRegression().fit(X, codes)
    assert_allclose(label_scores(OnlyProbabilities(model), X), model.decision_function(X), atol=1e-8)


def test_one_label_is_refused():
    with pytest.raises(InputError, match="two labels"):
        RidgeScorer().fit(np.eye(3), [1, 1, 1])


def test_ridge_dual_of_a_singular_gram_needs_only_the_penalty():
    weights, left_out = ridge_dual(np.ones((3, 3)), np.ones((3, 1)), np.arange(3), strength=1.0)
    assert_allclose(weights.sum(), 3 / 4)
    assert_allclose(left_out, 2 / 3)  # two rows of ones predict 2/(2 + λ) for the third
