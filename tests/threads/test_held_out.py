"""What is learnt from threads held out: where nothing pulls, no engine is run, and the losses are the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.engines.graphs import Graphs
from accord.engines.numerics import log_normalise
from accord.fitting.graph_crf import GraphCRF
from accord.threads import held_out


def some_threads(n_labels, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.array([1, 2, 3, 6, 9])
    layout = Graphs.complete(np.zeros((sizes.sum(), n_labels)), sizes)
    share = 1.0 / np.maximum(np.diff(layout.node_offsets)[layout.edge_graph] - 1.0, 1.0)
    scores = rng.normal(size=(sizes.sum(), n_labels))
    labels = rng.integers(-1, n_labels, sizes.sum())
    given = np.where(rng.random(sizes.sum()) < 0.5, labels, -1)
    crf = GraphCRF(layout, held_out._node_features(scores), share[:, None])
    alone = np.zeros(2 + held_out._n_offsets(scores))
    alone[0] = 1.0
    return held_out._Part(crf, labels, given), alone


@pytest.mark.parametrize("n_labels", [2, 3])
def test_nodes_apart_have_the_marginals_of_an_exact_engine_without_pulls(n_labels):
    part, alone = some_threads(n_labels)
    graphs = part.crf.scores(held_out._tie(part.crf) @ alone)
    found, exact = held_out._apart(graphs), held_out.infer(graphs)
    assert_allclose(found.node_marginals, exact.node_marginals, atol=1e-12)
    # The engine may give the mean over the edges of a thread, which is all that one shared pull needs.
    sums = [np.bincount(graphs.edge_graph, weights=one.edge_marginals) for one in (found, exact)]
    assert_allclose(*sums, atol=1e-12)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("pull", [-4.0, 0.0, 0.3, 5.0])
def test_the_loss_beside_given_labels_is_that_of_an_exact_engine(n_labels, pull):
    part, alone = some_threads(n_labels)
    graphs = part.crf.scores(held_out._tie(part.crf) @ alone).with_known(part.given)
    p = held_out.infer(held_out.with_given_pull(graphs, pull * part.crf.edge_features[:, 0])).node_marginals
    rest = (part.given < 0) & (part.labels >= 0)
    assert rest.any()
    assert_allclose(part.given_loss(alone)(pull), -np.log(p[rest, part.labels[rest]]).sum(), rtol=1e-10)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_a_fit_without_pulls_is_the_same_and_runs_no_engine(n_labels, monkeypatch):
    part, alone = some_threads(n_labels)
    with monkeypatch.context() as patched:
        patched.setattr(held_out, "_apart", held_out.infer)
        slow = held_out._fit_pull(part, alone, pulls=False)
        loss = part.loss(slow)

    def engine(graphs):
        raise AssertionError("an engine was run where nothing pulls")

    monkeypatch.setattr(held_out, "infer", engine)
    fast = held_out._fit_pull(part, alone, pulls=False)
    assert fast[-1] == 0.0
    assert_allclose(fast, slow, atol=1e-7)
    assert_allclose(part.loss(fast), loss, rtol=1e-8)
    assert -10.0 < held_out._fit_given(part, alone) < 10.0


@pytest.mark.parametrize("size", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_nodes_of_all_threads_keep_their_size_however_much_those_held_out_know(n_labels, size):
    rng = np.random.default_rng(3)
    thread = np.repeat(np.arange(40), 4)
    labels = np.where(rng.random(160) < 0.7, rng.integers(0, n_labels, 40)[thread], rng.integers(0, n_labels, 160))
    layout = Graphs.complete(np.zeros((160, n_labels)), np.full(40, 4))
    scores = log_normalise(size * (rng.normal(size=(160, n_labels)) + np.eye(n_labels)[labels]), axis=1)
    held = held_out.HeldOut(scores, thread % 5, 1.0, {})
    found = held_out.fit_coupling(held, layout, np.full(layout.n_edges, 1.0 / 3.0), labels)
    assert found.pull > 0.5
    assert 0.6 < found.slope < 1.4
