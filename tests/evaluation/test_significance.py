"""Tests of significance, against published examples."""

import numpy as np
import pytest

from accord.errors import InputError
from accord.evaluation import significance
from accord.evaluation.metrics import accuracy

# Darwin's maize: crossed minus self-fertilised heights of 15 pairs, in eighths of an inch (Fisher 1935, ch. 3).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])
NONE = np.zeros(15)


def test_permutation_of_darwins_maize():
    # Fisher 1935, section 21: 863 of the 2¹⁵ sign changes reach the observed sum, so 1,726 two-sided.
    statistic, p = significance.paired_permutation(DARWIN, NONE, n_rounds=2**15)
    assert statistic == pytest.approx(DARWIN.mean())
    assert p == pytest.approx(1726 / 2**15)
    sampled = significance.paired_permutation(DARWIN, NONE, n_rounds=4000, random_state=1)
    assert sampled.p_value == pytest.approx(1726 / 2**15, abs=0.015)


def test_t_of_darwins_maize():
    # Fisher 1935, section 17: t = 2.148 with 14 degrees of freedom, just beyond the 5 per cent point 2.145.
    statistic, p = significance.paired_t_test(DARWIN, NONE)
    assert statistic == pytest.approx(2.148, abs=5e-4)
    assert p == pytest.approx(0.0497, abs=5e-5)
    assert significance.paired_t_test(DARWIN, NONE, degrees_of_freedom=7).p_value > p


def test_wilcoxon_of_darwins_maize():
    # SciPy's documentation of wilcoxon, the same data: statistic 24, p = 0.041259765625.
    assert significance.wilcoxon(DARWIN, NONE) == pytest.approx((24.0, 0.041259765625))
    assert significance.wilcoxon(NONE, NONE).p_value == 1.0


def test_sign_test_of_darwins_maize():
    # By hand: 13 of 15 above; 2 (1 + 15 + 105) / 2¹⁵.
    assert significance.sign_test(DARWIN, NONE) == pytest.approx((13.0, 242 / 2**15))
    assert significance.sign_test([1, 2, 3], [1, 2, 3]).p_value == 1.0
    assert significance.sign_test([1, 2, 5], [1, 2, 3]) == (1.0, 1.0)


def test_corrected_t_by_hand():
    # Differences 1, 2, 3: mean 2, variance 1; t = 2 / √(1/3 + 1/9) = 3, where the plain t is 2√3.
    corrected = significance.corrected_t_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], test_share=1 / 9)
    assert corrected.statistic == pytest.approx(3.0)
    assert significance.paired_t_test([1.0, 2.0, 3.0], [0.0, 0.0, 0.0]).statistic == pytest.approx(2 * np.sqrt(3))
    # Student's t with two degrees of freedom has P(|t| > 3) = 1 − 3/√(2 + 9).
    assert corrected.p_value == pytest.approx(1 - 3 / np.sqrt(11))


def test_randomisation_agrees_with_the_exact_test():
    # Swapping outputs that are right or wrong flips the sign of each difference: the exact p is the sign test's.
    truth = np.ones(12, dtype=int)
    first = np.array([1] * 11 + [0])
    second = np.array([0] * 8 + [1] * 4)
    exact = significance.sign_test(first, second).p_value  # 8 + 1 pairs differ
    got = significance.approximate_randomisation(accuracy, truth, first, second, n_rounds=4000, random_state=3)
    assert got.statistic == pytest.approx(7 / 12)
    assert got.p_value == pytest.approx(exact, abs=0.01)


def test_randomisation_swaps_whole_groups():
    # Two groups: the difference keeps its size in every round, whichever way the groups are swapped together.
    truth, first, second = np.ones(6), np.ones(6), np.zeros(6)
    together = significance.approximate_randomisation(accuracy, truth, first, second, groups=["a"] * 6, n_rounds=200)
    assert together.p_value == 1.0
    apart = significance.approximate_randomisation(accuracy, truth, first, second, n_rounds=4000)
    assert apart.p_value == pytest.approx(2 / 64, abs=0.01)  # only all or no swaps reach it


def test_no_difference_is_not_significant():
    rng = np.random.default_rng(0)
    below = [
        significance.paired_permutation(*rng.normal(size=(2, 20)), n_rounds=500).p_value < 0.05 for _ in range(200)
    ]
    assert 0.01 < np.mean(below) < 0.12  # about 5 % of 200


@pytest.mark.parametrize("test", [significance.wilcoxon, significance.sign_test, significance.paired_t_test])
def test_pairs_must_match(test):
    with pytest.raises(InputError, match="two figures a pair"):
        test([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="finite"):
        test([1.0, np.nan], [1.0, 2.0])


def test_a_test_share_of_zero_is_refused():
    with pytest.raises(InputError, match="test_share"):
        significance.corrected_t_test([1.0, 2.0], [0.0, 0.0], test_share=0.0)
