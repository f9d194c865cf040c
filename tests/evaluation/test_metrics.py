"""Metrics, against examples worked by hand or published."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, log_loss

from accord.errors import InputError
from accord.evaluation import metrics


def test_accuracy_is_the_share_of_hits():
    assert metrics.accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"]) == 0.75


def test_auc_of_the_documented_example():
    # scikit-learn's documentation of roc_auc_score: 0.75.
    assert metrics.auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == pytest.approx(0.75)
    with pytest.raises(InputError, match="two classes"):
        metrics.auc([1, 1], [0.1, 0.2])


def test_cross_entropy_of_votes_and_classes():
    # By hand: −(log ¾ + log ½ + ½ log ¼ + ½ log ¾) / 3.
    expected = -(np.log(0.75) + np.log(0.5) + 0.5 * np.log(0.25) + 0.5 * np.log(0.75)) / 3
    assert metrics.cross_entropy([1, 0, 0.5], [0.75, 0.5, 0.25]) == pytest.approx(expected)
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    assert metrics.cross_entropy([0, 2], p) == pytest.approx(log_loss([0, 2], p, labels=[0, 1, 2]))
    assert np.isfinite(metrics.cross_entropy([1], [0.0]))
    with pytest.raises(InputError, match=r"lies in \[0, 1\]"):
        metrics.cross_entropy([2], [0.5])


def test_calibration_error_by_hand():
    # Bins [.2, .3): mean .25, truth ½ → gap .25 × 2 rows; [.9, 1]: mean .95, truth 1 → .05 × 2 rows; over 4 rows.
    assert metrics.expected_calibration_error([0, 1, 1, 1], [0.25, 0.25, 0.95, 0.95]) == pytest.approx(0.15)
    # With classes: both are sure at .8, one is right: |½ − .8|.
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    assert metrics.expected_calibration_error([0, 2], p) == pytest.approx(0.3)
    assert metrics.expected_calibration_error([1, 0], [1.0, 0.0]) == 0.0


def test_correlations_of_published_examples():
    # Spearman's ρ of the IQ and television example, −29/165; Wikipedia, "Spearman's rank correlation coefficient".
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    hours = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    assert metrics.spearman(iq, hours) == pytest.approx(-29 / 165)
    # By hand: of the six pairs of 1 2 3 4 and 1 3 2 4 five are in order and one is not: 4/6.
    assert metrics.kendall([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(2 / 3)
    # By hand, of numbers with mean 0: Σxy = 1 and Σx² = Σy² = 2.
    assert metrics.pearson([-1, 0, 1], [-1, 1, 0]) == pytest.approx(0.5)
    with pytest.raises(InputError, match="two values that differ"):
        metrics.pearson([1, 1, 1], [1, 2, 3])


def test_ranking_loss_leaves_missing_ranks_out():
    assert metrics.ranking_loss([[5, 0], [1, 3]], [[4, 1], [1, 5]]) == pytest.approx((1 + 0 + 2) / 3)
    with pytest.raises(InputError, match="all are missing"):
        metrics.ranking_loss([[0]], [[1]])


def test_quadratic_kappa_by_hand():
    # Truth 1 2 3, predicted 1 3 3: Σ(i−j)² observed 1/3; expected over margins (⅓,⅓,⅓) × (⅓,0,⅔):
    # mean (i−j)² = (1·(0+1+4) + 2·(4+1+0)) / 9 = 15/9; κ = 1 − (1/3)/(15/9) = 0.8.
    assert metrics.quadratic_kappa([1, 2, 3], [1, 3, 3]) == pytest.approx(0.8)


def test_precision_recall_f1_by_hand():
    got = metrics.precision_recall_f1(list("GGGBB"), list("GGBGB"), positive="G")
    assert got == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert metrics.precision_recall_f1([0, 0], [0, 0]) == (0.0, 0.0, 0.0)
    assert metrics.precision_recall_f1([1, 1, 1, 0], [1, 0, 0, 0]) == pytest.approx((1.0, 1 / 3, 0.5))


def test_average_precision_by_hand():
    # Relevant at ranks 1, 3 and 4: (1/1 + 2/3 + 3/4) / 3.
    expected = (1 + 2 / 3 + 3 / 4) / 3
    assert metrics.average_precision([1, 0, 1, 1], [4, 3, 2, 1]) == pytest.approx(expected)
    assert metrics.average_precision([1, 0, 1, 1], [4, 3, 2, 1], cutoff=3) == pytest.approx((1 + 2 / 3) / 2)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10**6)), min_size=1, max_size=20, unique_by=lambda x: x[1]))
def test_average_precision_is_scikit_learns(rows):
    relevant, scores = map(list, zip(*rows, strict=True))
    if any(relevant):
        assert metrics.average_precision(relevant, scores) == pytest.approx(average_precision_score(relevant, scores))


def test_means_over_threads_by_hand():
    groups = np.array([1, 1, 2, 2, 3])
    relevant, scores = np.array([0, 1, 1, 0, 0]), np.array([2, 1, 2, 1, 1])
    assert metrics.mean_average_precision(groups, relevant, scores) == pytest.approx((1 / 2 + 1) / 2)
    assert metrics.mean_average_precision(groups, relevant, scores, without="zero") == pytest.approx((1 / 2 + 1) / 3)
    assert metrics.mean_reciprocal_rank(groups, relevant, scores) == pytest.approx((1 / 2 + 1) / 2)
    assert metrics.mean_reciprocal_rank(groups, relevant, scores, without="zero") == pytest.approx(0.5)
    mixed = np.array([3, 0, 1, 4, 2])
    shuffled = metrics.mean_average_precision(groups[mixed], relevant[mixed], scores[mixed])
    assert shuffled == pytest.approx(0.75)
    with pytest.raises(InputError, match="relevant item"):
        metrics.mean_reciprocal_rank([1], [0], [1.0])


def test_token_f1_by_hand():
    truth = [np.array([1, 1, 0, 0]), np.array([0, 1])]
    guess = [np.array([1, 0, 1, 0]), np.array([0, 1])]
    assert metrics.token_f1(truth, guess) == pytest.approx((0.75, 0.75, 0.75))
    assert metrics.token_f1(truth, guess, average="micro") == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert metrics.token_f1([np.zeros(2)], [np.zeros(2)]).f1 == 1.0


def test_iou_f1_by_hand():
    # [0, 4) and [1, 4) share 3 of 4 tokens; [10, 12) and [11, 15) share 1 of 5.
    truth, guess = [np.array([[0, 4], [10, 12]])], [np.array([[1, 4], [11, 15]])]
    assert metrics.iou_f1(truth, guess) == pytest.approx((0.5, 0.5, 0.5))
    assert metrics.iou_f1(truth, guess, threshold=0.2).f1 == 1.0
    assert metrics.iou_f1(truth, [np.empty((0, 2))]).f1 == 0.0
    # Two predictions on one true span: both are right, and the span is found once.
    assert metrics.iou_f1([np.array([[0, 4]])], [np.array([[0, 3], [1, 4], [8, 9]])]) == pytest.approx((2 / 3, 1, 0.8))


def test_rows_must_match():
    with pytest.raises(InputError, match="2 and 1"):
        metrics.accuracy([1, 2], [1])
    with pytest.raises(InputError, match="there is none"):
        metrics.accuracy([], [])


def test_kappa_measures_distances_in_ranks_even_where_a_rank_does_not_occur():
    truth, predicted = np.array([1, 1, 5, 5, 2, 1]), np.array([1, 2, 5, 1, 2, 5])
    # By its definition: 1 − mean squared distance / that of all pairs of a truth and a prediction.
    chance = ((truth[:, None] - predicted[None, :]) ** 2).mean()
    assert metrics.quadratic_kappa(truth, predicted) == pytest.approx(1.0 - ((truth - predicted) ** 2).mean() / chance)
    assert metrics.quadratic_kappa([2, 2, 0], [2, 2, 1]) == 1.0
    with pytest.raises(InputError, match="known rank"):
        metrics.quadratic_kappa([0, 0], [1, 2])


@pytest.mark.parametrize("metric", [metrics.accuracy, metrics.ranking_loss, metrics.precision_recall_f1])
def test_a_column_is_not_compared_with_a_row(metric):
    with pytest.raises(InputError, match="same shape"):
        metric(np.array([1, 2, 1]), np.array([[1], [2], [1]]))


@pytest.mark.parametrize("metric", [metrics.cross_entropy, metrics.expected_calibration_error])
def test_what_is_no_probability_or_no_class_is_refused(metric):
    for wrong in ([1.7, 0.2], [-0.3, 0.2], [np.nan, 0.2]):
        with pytest.raises(InputError, match=r"\[0, 1\]"):
            metric([1, 0], wrong)
    for truth in ([-1, 0], [0, 2], [0.5, 0]):
        with pytest.raises(InputError, match=r"0\.\.1"):
            metric(truth, np.full((2, 2), 0.5))
