from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

from accord.engines.chain import chain
from accord.threads.second_order_chain import SecondOrderChain

SIZES = np.array([4, 1, 2, 3])


def model(n_labels, edges):
    rng = np.random.default_rng(0)
    n, n_edges = SIZES.sum(), (SIZES - 1).sum()
    crf = SecondOrderChain(rng.normal(size=(n, 2)), rng.normal(size=(n_edges, 2)), SIZES, n_labels, edges)
    return crf, rng.normal(size=crf.n_weights), rng.integers(0, n_labels, n)


def enumerated(crf, weights, known):
    """Log partition and node marginals from all labellings of each chain, written from the definition."""
    nodes, edges, triples = crf.split(weights)
    k, log_z, marginals, node, edge = crf.n_labels, 0.0, [], 0, 0
    for n in crf.sizes:
        scores, labellings = [], list(product(range(k), repeat=n))
        for y in labellings:
            total = 0.0
            for t in range(n):
                own = crf.node_features[node + t] @ nodes.T
                total += (own[0] if y[t] else 0.0) if k == 2 else own[y[t]]
                if known is not None and known[node + t] >= 0 and known[node + t] != y[t]:
                    total = -np.inf
                if t >= 1:
                    lag = crf.edge_features[edge + t - 1] @ edges.T
                    total += lag[0] * (y[t] == y[t - 1]) if crf.edges == "ising" else lag.reshape(k, k)[y[t - 1], y[t]]
                if t >= 2:
                    total += triples[y[t - 2], y[t - 1], y[t]]
            scores.append(total)
        p = np.exp(np.array(scores) - logsumexp(scores))
        for t in range(n):
            marginals.append([sum(p[m] for m, y in enumerate(labellings) if y[t] == label) for label in range(k)])
        log_z += logsumexp(scores)
        node, edge = node + n, edge + n - 1
    return log_z, np.array(marginals)


@pytest.mark.parametrize("edges", ["ising", "full"])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("clamp", [False, True])
def test_marginals_equal_enumeration(n_labels, edges, clamp):
    crf, weights, labels = model(n_labels, edges)
    known = np.where(np.arange(len(labels)) % 3 == 0, labels, -1) if clamp else None
    found = chain(crf.scores(weights, known))
    log_z, marginals = enumerated(crf, weights, known)
    assert_allclose(crf.node_marginals(found), marginals, atol=1e-9)
    assert_allclose(found.log_partition.sum(), log_z, atol=1e-9)


@pytest.mark.parametrize("edges", ["ising", "full"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_loss_equals_enumeration_and_its_gradient_differences(n_labels, edges):
    crf, weights, labels = model(n_labels, edges)
    labels[2] = -1
    loss = crf.loss(labels)
    expected = enumerated(crf, weights, None)[0] - enumerated(crf, weights, labels)[0]
    value, gradient = loss(weights)
    assert_allclose(value, expected / (labels >= 0).sum(), atol=1e-9)
    assert_allclose(gradient, approx_fprime(weights, lambda w: loss(w)[0], 1e-6), atol=1e-5)
