"""Splits keep groups whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.errors import InputError
from accord.evaluation import splits

some_groups = st.lists(st.integers(0, 8), min_size=3, max_size=40).filter(lambda g: len(set(g)) >= 3)


def check(split, groups):
    train, test = split
    assert sorted([*train, *test]) == list(range(len(groups)))
    assert len(train)
    assert len(test)
    assert not set(np.array(groups)[train]) & set(np.array(groups)[test])


@given(some_groups, st.floats(0.05, 0.95))
def test_a_split_shares_no_group(groups, size):
    check(splits.by_group(groups, test_size=size), groups)


@given(some_groups)
def test_every_group_is_left_out_once(groups):
    tested = []
    for split in splits.leave_one_group_out(groups):
        check(split, groups)
        tested.append({groups[i] for i in split[1]})
    assert tested == [{g} for g in sorted(set(groups))]


@given(some_groups, st.integers(0, 5))
def test_repeated_folds_test_every_row_once_a_repeat(groups, seed):
    found = list(splits.repeated_group_folds(groups, n_folds=3, n_repeats=2, random_state=seed))
    assert len(found) == 6
    for split in found:
        check(split, groups)
    for half in (found[:3], found[3:]):
        assert sorted(np.concatenate([test for _, test in half])) == list(range(len(groups)))


def test_folds_have_as_many_groups_and_depend_on_the_seed_only():
    groups = np.repeat(np.arange(53), 3)
    folds = splits.group_folds(groups, n_folds=10)
    sizes = [len(set(groups[folds == f])) for f in range(10)]
    assert (min(sizes), max(sizes)) == (5, 6)
    np.testing.assert_array_equal(folds, splits.group_folds(groups, n_folds=10))
    assert (folds != splits.group_folds(groups, n_folds=10, random_state=1)).any()


def test_rotations_go_round():
    # [ZE08] eq. 5 with nine folds: each is trained on equally often, and rotation 7 of size 3 wraps to fold 0.
    folds = np.repeat(np.arange(9), 2)
    found = list(splits.rotating(folds, n_train=3))
    assert len(found) == 9
    assert set(folds[found[7][0]]) == {7, 8, 0}
    assert set(folds[found[0][0]]) == {0, 1, 2}
    assert (np.bincount(np.concatenate([train for train, _ in found])) == 3).all()
    assert all(len(rest) == 0 for _, rest in splits.rotating(folds, n_train=9))


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="two groups"):
        splits.by_group(["a", "a"])
    with pytest.raises(InputError, match="from 2 to the number of groups, 3"):
        splits.group_folds([1, 2, 3], n_folds=4)
    with pytest.raises(InputError, match="between 0 and 1"):
        splits.by_group([1, 2], test_size=1.5)
    with pytest.raises(InputError, match="from 1 to the number of folds"):
        list(splits.rotating([0, 1], n_train=3))
