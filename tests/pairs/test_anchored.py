"""The sampler of people and judges: against the prior weighted by the votes, and both ways of drawing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

from accord.pairs import anchored
from accord.pairs.anchored import JudgedVotes, draw_anchored


def some_votes(n_items, n_votes, family, *, n_covariates=0, tie=0.2, seed=0):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n_votes)
    right = (left + 1 + rng.integers(0, n_items - 1, n_votes)) % n_items
    voter = rng.integers(0, 1 + len(family), n_votes)
    value = np.where(rng.random(n_votes) < tie, 0.5, (rng.random(n_votes) < ndtr(0.4 * (right - left))) * 1.0)
    person = np.where(voter == 0, rng.integers(0, 2, n_votes), -1)
    x = rng.standard_normal((n_votes, n_covariates))
    people = np.arange(n_covariates) == 0
    return JudgedVotes(left, right, value, voter, person, x, people, np.array(family, dtype=np.int64), n_items, 2)


def weighted_prior(votes, n=400_000, seed=1):
    """Moments of scores and shares: draws from the prior, each weighted by the probability of the votes."""
    rng = np.random.default_rng(seed)
    n_items = votes.n_items
    spread = np.exp(0.5 * 1.5 * rng.standard_normal(n))
    f = spread[:, None] * rng.standard_normal((n, n_items))
    deviation = np.abs(rng.standard_cauchy(n))
    kept = deviation < 30
    u = deviation[:, None] * rng.standard_normal((n, n_items))
    share = 1.0 + rng.standard_normal(n)
    slope_people = 2.0 * rng.standard_normal(n)
    slope_judge = 2.0 * rng.standard_normal(n) + np.abs(0.5 * rng.standard_normal(n)) * rng.standard_normal(n)
    log_p = np.where(kept, 0.0, -np.inf)
    for i in range(len(votes.left)):
        a, b = votes.left[i], votes.right[i]
        z = f[:, a] - f[:, b]
        x = votes.covariates[i, 0]
        z = z + slope_people * x if votes.voter[i] == 0 else share * z + u[:, a] - u[:, b] + slope_judge * x
        log_p += np.log(np.maximum(ndtr((2.0 * votes.value[i] - 1.0) * z / np.sqrt(2.0)), 1e-300))
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    assert 1.0 / np.sum(weight**2) > 2_000  # enough draws count
    apart = f - f.mean(axis=1, keepdims=True)
    return weight @ apart, np.sqrt(weight @ apart**2 - (weight @ apart) ** 2), weight @ share, weight @ slope_judge


@pytest.mark.parametrize("way", ["cholesky", "conjugate gradients"])
def test_the_sampler_agrees_with_the_weighted_prior(monkeypatch, way):
    if way != "cholesky":
        monkeypatch.setattr(anchored, "_MOST_DENSE", 0)
        monkeypatch.setattr(anchored, "_CG_TOLERANCE", 1e-8)
    votes = some_votes(3, 20, [0], n_covariates=1, tie=0.0)
    mean, std, share, slope = weighted_prior(votes)
    drawn = draw_anchored(
        votes, n_draws=3000 if way == "cholesky" else 2000, burn_in=300, learn_rates=False, rng=np.random.default_rng(0)
    )
    apart = drawn.scores - drawn.scores.mean(axis=1, keepdims=True)
    assert_allclose(apart.mean(axis=0), mean, atol=0.1)
    assert_allclose(apart.std(axis=0), std, rtol=0.12)
    assert drawn.shares.mean() == pytest.approx(share, abs=0.08)
    assert drawn.slopes[:, 1, 0].mean() == pytest.approx(slope, abs=0.12)


def test_both_ways_of_drawing_agree_with_ties_families_and_random_answers(monkeypatch):
    votes = some_votes(6, 400, [0, 0, 1], n_covariates=2)
    found = []
    for most in (10_000, 0):
        monkeypatch.setattr(anchored, "_MOST_DENSE", most)
        found.append(draw_anchored(votes, n_draws=800, burn_in=200, rng=np.random.default_rng(most)))
    one, other = found
    apart = [drawn.scores - drawn.scores.mean(axis=1, keepdims=True) for drawn in found]
    assert_allclose(apart[0].mean(axis=0), apart[1].mean(axis=0), atol=0.2)
    assert_allclose(one.slopes.mean(axis=0), other.slopes.mean(axis=0), atol=0.07)
    assert_allclose(one.margins.mean(axis=0), other.margins.mean(axis=0), atol=0.05)
    assert one.spreads.shape[1] == 1 + 5  # scores; all judges, one family of two, three judges alone


def test_blocks_of_deviations_are_all_judges_families_and_judges():
    assert anchored._blocks(np.array([0, 0, 1])).tolist() == [[1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert anchored._blocks(np.array([0])).tolist() == [[1]]
    assert anchored._blocks(np.array([0, 0])).tolist() == [[1, 1], [1, 0], [0, 1]]
    assert anchored._blocks(np.array([], dtype=np.int64)).shape == (0, 0)


def test_people_alone_are_drawn_too():
    votes = some_votes(4, 40, [], n_covariates=2)
    assert draw_anchored(votes, n_draws=20, burn_in=5, rng=np.random.default_rng(0)).scores.shape == (20, 4)
