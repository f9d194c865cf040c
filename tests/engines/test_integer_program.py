import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose

from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.integer_program import integer_program
from strategies import graph_batches


@given(graph_batches(labels=(2,), known=True))
def test_the_labelling_is_as_good_as_the_best_of_all(graphs):
    found = integer_program(graphs)
    if graphs.known is not None:
        assert (found[graphs.known >= 0] == graphs.known[graphs.known >= 0]).all()
    assert_allclose(graphs.score(found), graphs.score(exact(graphs).map_labels), atol=1e-8)


def test_edges_that_a_cut_cannot_decide_are_decided():
    # Complete graphs whose edges prefer different labels: a cut decides nothing.
    rng = np.random.default_rng(0)
    graphs = Graphs.complete(0.1 * rng.normal(size=(36, 2)), np.full(4, 9))
    graphs = graphs.with_scores(graphs.node_scores, -1.0 - rng.random(graphs.n_edges))
    assert_allclose(graphs.score(integer_program(graphs)), graphs.score(exact(graphs).map_labels), atol=1e-8)
