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
