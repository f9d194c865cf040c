"""Is one system better than another, or was it luck? All tests are two-sided."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = [
    "Significance",
    "approximate_randomisation",
    "corrected_t_test",
    "paired_permutation",
    "paired_t_test",
    "sign_test",
    "wilcoxon",
]


class Significance(NamedTuple):
    """The test's statistic, and how likely one at least as far from no difference is if there is none."""

    statistic: float
    p_value: float


def approximate_randomisation(
    metric: Callable[[AnyArray, AnyArray], float],
    truth: AnyArray,
    first: AnyArray,
    second: AnyArray,
    *,
    groups: AnyArray | None = None,
    n_rounds: int = 10_000,
    random_state: int = 0,
) -> Significance:
    """Difference of any metric between two systems, against swapping their outputs at random [N89].

    Parameters
    ----------
    metric : function of (truth, predicted)
    truth, first, second : array of shape (n,) or (n, k)
        The truth and what the two systems predict.
    groups : array of shape (n,), optional
        Outputs of one group (thread) are swapped together.
    n_rounds, random_state : int

    Returns
    -------
    Significance
        The statistic is metric(first) − metric(second). p = (1 + rounds at least as extreme) / (1 + rounds).
    """
    truth, first, second = np.asarray(truth), np.asarray(first), np.asarray(second)
    if not len(truth) == len(first) == len(second):
        raise InputError(f"truth and outputs need one row each; they have {len(truth)}, {len(first)}, {len(second)}.")
    unit = np.arange(len(truth)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    observed = metric(truth, first) - metric(truth, second)
    rng = np.random.default_rng(random_state)
    n_units, extreme = int(unit.max()) + 1, 0
    for _ in range(n_rounds):
        swap = rng.integers(0, 2, n_units).astype(bool)[unit]
        swap = swap.reshape(-1, *[1] * (first.ndim - 1))
        difference = metric(truth, np.where(swap, second, first)) - metric(truth, np.where(swap, first, second))
        # Rounding must not make a difference that is equal look smaller.
        extreme += abs(difference) >= abs(observed) * (1.0 - 1e-12)
    return Significance(float(observed), (1 + extreme) / (1 + n_rounds))


def paired_permutation(
    first: AnyArray, second: AnyArray, *, n_rounds: int = 10_000, random_state: int = 0
) -> Significance:
    """Mean paired difference, against flipping the sign of each at random [F35].

    Exact where there are no more than ``n_rounds`` ways to flip, else sampled.
    """
    differences = _differences(first, second)

    def mean(x: FloatArray, axis: int) -> FloatArray:
        return np.asarray(np.mean(x, axis=axis))

    result = stats.permutation_test(
        (differences,),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_rounds,
        batch=1000,
        rng=np.random.default_rng(random_state),
    )
    return Significance(float(result.statistic), float(result.pvalue))


def wilcoxon(first: AnyArray, second: AnyArray) -> Significance:
    """Wilcoxon's signed-rank test; pairs without a difference are left out."""
    differences = _differences(first, second)
    if not differences.any():
        return Significance(0.0, 1.0)
    result = stats.wilcoxon(differences)
    return Significance(float(result.statistic), float(result.pvalue))


def sign_test(first: AnyArray, second: AnyArray) -> Significance:
    """Fisher's sign test: how often the first is above the second, of the pairs that differ."""
    differences = _differences(first, second)
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    if above + below == 0:
        return Significance(0.0, 1.0)
    return Significance(float(above), float(stats.binomtest(above, above + below).pvalue))


def paired_t_test(first: AnyArray, second: AnyArray, *, degrees_of_freedom: float | None = None) -> Significance:
    """Student's t of paired differences.

    With repeated cross-validation the differences are not independent: ``degrees_of_freedom`` fewer than n − 1 allow
    for that, as 10 for 10 × 10 folds [B03].
    """
    differences = _differences(first, second)
    n = len(differences)
    return _t(differences, variance_factor=1.0 / n, degrees_of_freedom=degrees_of_freedom or n - 1)


def corrected_t_test(first: AnyArray, second: AnyArray, *, test_share: float) -> Significance:
    """The corrected resampled t-test for repeated splits or cross-validation [NB03].

    Training sets overlap, so the variance 1/n of the mean becomes 1/n + n_test/n_train, with n − 1 degrees of freedom
    [BF04].

    Parameters
    ----------
    first, second : array of shape (n,)
        The two systems' figures on each of the n test sets.
    test_share : float
        n_test / n_train: 1/9 for ten folds.
    """
    differences = _differences(first, second)
    if not test_share > 0.0:
        raise InputError(f"test_share is the test set's size over the training set's, above 0; this is {test_share}.")
    n = len(differences)
    return _t(differences, variance_factor=1.0 / n + test_share, degrees_of_freedom=n - 1)


def _t(differences: FloatArray, *, variance_factor: float, degrees_of_freedom: float) -> Significance:
    if len(differences) < 2:
        raise InputError("a t-test needs two pairs or more; there is one. Use more folds.")
    mean, variance = differences.mean(), differences.var(ddof=1)
    if variance == 0.0:
        return Significance(0.0, 1.0) if mean == 0.0 else Significance(float(np.sign(mean) * np.inf), 0.0)
    t = mean / np.sqrt(variance_factor * variance)
    return Significance(float(t), float(2.0 * stats.t.sf(abs(t), degrees_of_freedom)))


def _differences(first: AnyArray, second: AnyArray) -> FloatArray:
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise InputError(f"a paired test needs two figures a pair; the shapes are {first.shape} and {second.shape}.")
    differences = first - second
    if not np.isfinite(differences).all():
        raise InputError("a paired test needs finite figures; one is missing or infinite. Drop that pair.")
    return np.asarray(differences)
