import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from accord.fitting.content_order import group_codes, group_keys, label_keys, mixed, row_keys


def rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, size=(n, 4)).astype(float), rng.integers(0, 12, n), rng.integers(-1, 3, n)


def test_groups_keep_their_numbers_whatever_their_order_and_names_and_those_of_labels():
    X, group, label = rows()
    keys = row_keys(X)
    found = group_codes(group, mixed(keys, label_keys(label, keys)))
    assert_array_equal(np.unique(found), np.arange(len(np.unique(group))))
    rng = np.random.default_rng(1)
    order = rng.permutation(len(X))
    named, called = rng.permutation(12).astype(str)[group], np.array([2, 0, 1, -1])[label]
    keys = row_keys(X[order])
    again = group_codes(named[order], mixed(keys, label_keys(called[order], keys)))
    assert_array_equal(again, found[order])


def test_equal_rows_have_equal_keys_sparse_or_dense_and_in_spite_of_rounding():
    X = rows()[0]
    keys, distinct = row_keys(X), np.unique(X, axis=0, return_inverse=True)[1].ravel()
    assert_array_equal(keys[:, None] == keys, distinct[:, None] == distinct)
    assert_array_equal(row_keys(sp.csr_matrix(X)), keys)
    assert_array_equal(row_keys(X * (1.0 + 1e-14)), keys)
    assert_array_equal(row_keys(X * [1.0, 1e3, 1e-3, 7.0] + [0.0, 1.0, -9.0, 50.0]), keys)


def test_a_row_without_a_label_has_no_key_of_one():
    keys = row_keys(np.arange(4.0)[:, None])
    found = label_keys(np.array([-1, 0, 1, -1]), keys)
    assert_array_equal(found == 0, [True, False, False, True])


def test_a_key_does_not_cancel_out_with_its_own_hash():
    keys = row_keys(np.arange(50.0)[:, None])
    own = group_keys(np.arange(50), keys)
    assert len(np.unique(mixed(keys, np.zeros(50, dtype=np.uint64), own))) == 50
