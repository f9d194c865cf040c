import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import normalize

from accord.links.features.similar import nearest_pairs, pair_similarity


@pytest.mark.parametrize("block", [1, 3, 100])
def test_nearest_pairs_equal_sorting_all_cosines_within_each_group(block):
    rng = np.random.default_rng(3)
    vectors = normalize(rng.random((20, 30)) * (rng.random((20, 30)) < 0.2))
    groups = np.array(["a", "b"])[rng.integers(0, 2, 20)]
    cosine = vectors @ vectors.T
    expected = set()
    for i in range(20):
        others = [j for j in range(20) if j != i and groups[j] == groups[i] and cosine[i, j] > 0]
        expected |= {(min(i, j), max(i, j)) for j in sorted(others, key=lambda j: (-cosine[i, j], j))[:2]}
    found = nearest_pairs(vectors, groups, k=2, block=block)
    assert [tuple(pair) for pair in found] == sorted(expected)
    assert_allclose(pair_similarity(vectors, found, block=4), cosine[found[:, 0], found[:, 1]], atol=1e-12)


def test_texts_that_share_nothing_get_no_implicit_link():
    assert nearest_pairs(sp.eye(4, format="csr"), np.zeros(4), k=3).shape == (0, 2)


def test_implicit_links_can_be_kept_to_lonely_texts():
    vectors, groups = normalize(np.ones((4, 2))), np.zeros(4)
    lonely = np.array([False, False, False, True])
    pairs = nearest_pairs(vectors, groups, k=3, lonely=lonely)
    assert pairs.tolist() == [[0, 3], [1, 3], [2, 3]]


def _bags(n, rng):
    """Texts of 12 words, whose frequencies fall as those of a language do."""
    p = 1.0 / np.arange(1, 4 * n + 1)
    words = rng.choice(4 * n, size=(n, 12), p=p / p.sum())
    counts = sp.csr_matrix((np.ones(12 * n), (np.repeat(np.arange(n), 12), words.ravel())), shape=(n, 4 * n))
    weight = np.log(n / np.maximum(np.asarray((counts > 0).sum(axis=0)).ravel(), 1)) + 0.01
    return sp.csr_matrix(normalize(counts @ sp.diags(weight)))


def test_large_groups_are_searched_through_the_heaviest_texts_of_a_feature():
    vectors = _bags(600, np.random.default_rng(0))
    groups = np.zeros(600)
    exact = nearest_pairs(vectors, groups, k=3)
    found = nearest_pairs(vectors, groups, k=3, most=60)
    both = set(map(tuple, exact)) & set(map(tuple, found))
    assert len(both) > 0.95 * len(exact)
    order = np.random.default_rng(1).permutation(600)
    shuffled = nearest_pairs(vectors[order], groups, k=3, most=60, order=np.argsort(order))
    back = np.sort(order[shuffled], axis=1)
    assert_array_equal(back[np.lexsort(back.T[::-1])], found)


def test_comparisons_grow_with_the_texts_and_not_with_their_square(monkeypatch):
    counted = []
    product = sp.csr_matrix.__matmul__

    def counting(self, other):
        found = product(self, other)
        counted.append(found.nnz if sp.issparse(found) else 0)
        return found

    sizes = []
    for n in (1000, 4000):
        vectors = _bags(n, np.random.default_rng(0))
        with monkeypatch.context() as patched:
            patched.setattr(sp.csr_matrix, "__matmul__", counting)
            counted.clear()
            nearest_pairs(vectors, np.zeros(n), k=3, most=50)
        sizes.append(sum(counted))
    assert 0 < sizes[1] < 6 * sizes[0]
