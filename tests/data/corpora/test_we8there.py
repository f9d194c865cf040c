"""we8there. The expected figures are those of the README beside the files."""

import numpy as np
import pytest
import scipy.sparse as sp

from accord.data.corpora import we8there

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def ratings(accord_data):
    return we8there.load(accord_data)


def test_reviews_and_counts_are_as_published(ratings, accord_data):
    counts = ratings.items.features
    assert sp.issparse(counts)
    assert counts.format == "csr"
    assert counts.shape == (6166, 2640) == (ratings.n_items, len(we8there.terms(accord_data)))
    assert (counts.nnz, counts.sum()) == (66459, 69592)


def test_zero_means_missing(ratings):
    complete = (ratings.ranks > 0).all(axis=1)
    assert ((~complete).sum(), complete.sum()) == (49, 6117)
    assert ratings.to_table()["value"].min() == 1


def test_rank_sets_are_as_published(ratings):
    ranks = ratings.ranks[(ratings.ranks > 0).all(axis=1)]
    sets, sizes = np.unique(ranks, axis=0, return_counts=True)
    assert len(sets) == 695
    assert np.array_equal(sets[np.argmax(sizes)], [5, 5, 5, 5, 5])
    assert sizes.max() / len(ranks) == pytest.approx(0.297, abs=5e-4)
    assert (ranks == ranks[:, :1]).all(axis=1).mean() == pytest.approx(0.370, abs=5e-4)
    # Loss of always saying 5, by aspect in the order of the aspects.
    np.testing.assert_allclose((5 - ranks).mean(axis=0), [0.903, 1.093, 1.088, 1.029, 1.051], atol=6e-4)


def test_rows_are_sorted_by_overall_rank(ratings):
    overall = ratings.ranks[:, list(ratings.aspects).index("overall")]
    assert (np.diff(overall[overall > 0]) <= 0).all()
