import numpy as np
import pytest

from accord.errors import InputError
from accord.fitting.folds import group_folds


def test_folds_keep_groups_whole_and_do_not_depend_on_the_order_of_rows():
    groups = np.repeat(np.arange(11), 3)
    folds = group_folds(groups, n_folds=5)
    assert all(len(set(folds[groups == g])) == 1 for g in range(11))
    assert sorted(np.bincount(folds[::3])) == [2, 2, 2, 2, 3]
    order = np.random.default_rng(1).permutation(len(groups))
    np.testing.assert_array_equal(group_folds(groups[order], n_folds=5), folds[order])
    with pytest.raises(InputError, match="from 2 to the number of groups, 1; this is 5"):
        group_folds(np.zeros(4), n_folds=5)


def test_strata_are_spread_evenly_over_the_folds():
    groups = np.repeat(np.arange(30), 3)
    label = np.repeat(np.arange(30) % 3 == 0, 3).astype(int)
    folds = group_folds(groups, n_folds=5, strata=label)
    assert [int(label[folds == fold].sum()) for fold in range(5)] == [6] * 5
    assert all(len(set(folds[groups == group])) == 1 for group in range(30))
