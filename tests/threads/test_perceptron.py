import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from accord.threads.perceptron import fit_perceptron


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
