import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from accord.threads.local import (
    fit_log_linear_lbfgs,
    fit_log_linear_sgd,
    fit_perceptron,
    log_linear_loss,
    log_linear_scores,
    n_vectors,
)


def problem(n_labels, n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=(n, 3)), np.ones(n)])
    truth = rng.normal(size=(n_labels, 4))
    labels = (x @ truth.T + rng.gumbel(size=(n, n_labels))).argmax(axis=1)
    return x, labels


@pytest.mark.parametrize("n_labels", [2, 3])
def test_gradient_equals_differences(n_labels):
    x, labels = problem(n_labels)
    share = np.random.default_rng(1).dirichlet(np.ones(len(labels)))
    w = np.random.default_rng(2).normal(size=n_vectors(n_labels) * 4)
    value, gradient = log_linear_loss(w, x, labels, n_labels, row_weights=share)
    log_p = log_linear_scores(w.reshape(-1, 4), x)
    assert_allclose(value, -(share * log_p[np.arange(len(labels)), labels]).sum())
    numeric = approx_fprime(w, lambda v: log_linear_loss(v, x, labels, n_labels, row_weights=share)[0], 1e-7)
    assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_scores_are_log_probabilities(n_labels):
    x, _ = problem(n_labels)
    w = np.random.default_rng(2).normal(size=(n_vectors(n_labels), 4))
    assert_allclose(np.exp(log_linear_scores(w, x)).sum(axis=1), 1.0)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_lbfgs_finds_the_optimum_of_scikit_learn(n_labels):
    x, labels = problem(n_labels)
    penalty = np.array([0.05, 0.05, 0.05, 0.0])
    found = fit_log_linear_lbfgs(x, labels, n_labels, penalty=penalty, tol=1e-8)
    other = LogisticRegression(C=1 / (0.05 * len(labels)), tol=1e-10, max_iter=1000).fit(x[:, :3], labels)
    expected = other.predict_proba(x[:, :3])
    assert_allclose(np.exp(log_linear_scores(found.weights.reshape(-1, 4), x)), expected, atol=1e-4)


def test_sgd_comes_close_to_lbfgs_and_repeats_itself():
    x, labels = problem(2, n=400)
    batches = np.array_split(np.arange(400), 100)

    def run():
        return fit_log_linear_sgd(
            x, labels, 2, penalty=0.01, batches=batches, n_epochs=40, step_size=0.5, rng=np.random.default_rng(0)
        )

    best = fit_log_linear_lbfgs(x, labels, 2, penalty=0.01)
    assert run().value < best.value + 5e-3
    assert_allclose(run().weights, run().weights, rtol=0)


def plain_run(x, labels, n_labels, n_epochs, rng):
    order = np.concatenate([rng.permutation(len(labels)) for _ in range(n_epochs)])
    weights, versions, survivals = np.zeros((n_labels, x.shape[1])), [np.zeros((n_labels, x.shape[1]))], [0]
    for i in order:
        guess = int((weights @ x[i]).argmax())
        if guess != labels[i]:
            weights = weights.copy()
            weights[labels[i]] += x[i]
            weights[guess] -= x[i]
            versions.append(weights)
            survivals.append(0)
        survivals[-1] += 1
    return np.array(versions), np.array(survivals)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_path_equals_the_plain_algorithm(n_labels):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    labels = (x @ rng.normal(size=(n_labels, 4)).T + rng.gumbel(size=(60, n_labels))).argmax(axis=1)
    path = fit_perceptron(x, labels, n_labels, n_epochs=3, rng=np.random.default_rng(5))
    versions, survivals = plain_run(x, labels, n_labels, 3, np.random.default_rng(5))
    assert_allclose(path.versions, versions, atol=1e-12)
    assert_array_equal(path.survivals, survivals)
    assert_allclose(path.averaged(), np.average(versions, axis=0, weights=survivals), atol=1e-12)
    winners = np.einsum("vkd,nd->nvk", versions, x).argmax(axis=2)
    votes = [[(row == k) @ survivals for k in range(n_labels)] for row in winners]
    assert_allclose(path.votes(x), np.array(votes) / survivals.sum(), atol=1e-12)


def test_separable_rows_are_learned():
    x = np.array([[1.0, 0.2], [0.9, -0.3], [-1.0, 0.1], [-0.8, -0.2]])
    path = fit_perceptron(x, np.array([1, 1, 0, 0]), 2, n_epochs=20, rng=np.random.default_rng(0))
    assert_array_equal(path.votes(x).argmax(axis=1), [1, 1, 0, 0])
