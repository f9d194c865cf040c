"""Minimum-cut preferences against the formulas of [BBB11] section 3.1 and 3.2 worked by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.errors import InputError
from accord.links.cut import content_preferences, inc_by, link_capacities, set_to


def test_content_preferences_are_scaled_by_the_deviation_of_each_group():
    d = np.array([-1.0, 1.0, 0.0, -10.0, 10.0, 0.0])
    groups = np.array(["a", "a", "a", "b", "b", "b"])
    sigma = np.std([-1.0, 1.0, 0.0])
    expected = [0.5 * (1 - 1 / (2 * sigma)), 0.5 * (1 + 1 / (2 * sigma)), 0.5]
    assert_allclose(content_preferences(d, groups), expected * 2)


def test_outliers_are_cut_off_at_two_deviations():
    d = np.array([0.0] * 20 + [5.0])
    assert content_preferences(d, np.zeros(21))[-1] == 1.0


def test_a_group_without_spread_goes_by_the_sign():
    assert content_preferences(np.array([0.3, -0.2, 0.0]), np.arange(3)).tolist() == [1.0, 0.0, 0.5]


def test_link_capacities_follow_the_formula():
    d = np.array([-1.0, 0.1, 0.5, 20.0])
    sigma = d.std()
    expected = [0.0, 0.0, 3.0 * 0.5 / (4 * sigma), 3.0 * min(20.0 / (4 * sigma), 1.0)]
    assert_allclose(link_capacities(d, np.zeros(4), alpha=3.0, theta=0.2), expected)
    assert link_capacities(np.zeros(0), np.zeros(0), alpha=1.0, theta=0.0).shape == (0,)


def test_set_to_raises_the_strongest_preference_and_its_opposite():
    phi = np.array([0.7, 0.6, 0.45])
    # 0 prefers y most (.7), so 1 goes to n; then 1's n (.8) is the strongest, so 2 goes to y.
    assert_allclose(set_to(phi, np.array([[0, 1], [1, 2]]), beta=0.8), [0.8, 0.2, 0.8])
    assert_allclose(phi, [0.7, 0.6, 0.45])


def test_inc_by_adds_and_stops_at_one():
    # 1 prefers n most (.9): it gets 1.0, and 0 is pushed to y by .15.
    assert_allclose(inc_by(np.array([0.4, 0.1]), np.array([[0, 1]]), beta=0.15), [0.55, 0.0])


@pytest.mark.parametrize("beta", [0.5, 1.2])
def test_set_to_refuses_a_beta_that_cannot_force(beta):
    with pytest.raises(InputError, match="SetTo"):
        set_to(np.array([0.5]), np.empty((0, 2), dtype=int), beta=beta)
