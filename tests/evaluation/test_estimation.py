"""Figures from few people and many judges: exact cases, and intervals that hold as often as they say."""

import numpy as np
import pytest

from accord.errors import InputError
from accord.evaluation.estimation import estimate_covered, estimate_mean


def adaptive_answers(rng, p, judged, n):
    """Answers to questions that are drawn by what is known so far, and the probabilities of the draws."""
    unit, pi, answer, known = np.empty(n, dtype=int), np.empty(n), np.empty(n), judged.astype(float)
    for t in range(n):
        if t % 25 == 0:
            wanted = 0.3 + np.abs(known - known.mean())
            mix = 0.5 / p.size + 0.5 * wanted / wanted.sum()
        unit[t] = rng.choice(p.size, p=mix)
        pi[t], answer[t] = mix[unit[t]], rng.random() < p[unit[t]]
        known[unit[t]] = 0.5 * (known[unit[t]] + answer[t])
    return unit, answer, pi


def test_intervals_of_a_share_hold_with_biased_judges_and_adaptive_asking():
    held, width = [], []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        latent = rng.standard_normal(400)
        p = 1.0 / (1.0 + np.exp(-3.0 * (latent - 0.5)))
        judged = (latent > -0.2) * 1.0  # judges say yes far more often
        found = estimate_mean(judged, *adaptive_answers(rng, p, judged, 200), bounds=(0.0, 1.0))
        held.append(found.low <= p.mean() <= found.high)
        width.append((found.high - found.low) / (found.people_high - found.people_low))
    assert 0.91 <= np.mean(held) <= 1.0
    assert np.mean(width) < 0.97


@pytest.mark.parametrize("is_even", [False, True])
def test_units_that_are_never_asked_twice_count_as_known_once_they_are_answered(is_even):
    held, errors, plain = [], [], []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        latent = rng.standard_normal(200)
        truth = (latent + 0.5 * rng.standard_normal(200) > 0.3) * 1.0
        wanted = np.ones(200) if is_even else 0.2 + (latent > 0.5)  # what says yes is asked about first
        unit, pi = np.empty(90, dtype=int), np.empty(90)
        for t in range(90):
            left = wanted / wanted.sum()
            unit[t] = rng.choice(200, p=left)
            pi[t], wanted[unit[t]] = left[unit[t]], 0.0
        judged = (latent > 0.0) * 1.0
        given = (judged, unit, truth[unit], None if is_even else pi)
        found = estimate_mean(*given, anew=False, bounds=(0.0, 1.0))
        held.append(found.low <= truth.mean() <= found.high)
        errors.append(found.value - truth.mean())
        plain.append(estimate_mean(*given, bounds=(0.0, 1.0)).value - truth.mean())
    assert 0.92 <= np.mean(held) <= 1.0
    assert abs(np.mean(errors)) < 0.006
    assert is_even or abs(np.mean(plain)) > 0.05  # draws that are taken as from all units


def test_people_alone_are_the_usual_interval():
    rng = np.random.default_rng(0)
    answer = rng.standard_normal(50)
    found = estimate_mean(np.full(1000, np.nan), rng.integers(0, 1000, 50), answer)
    assert found.value == pytest.approx(answer.mean())
    assert found.power == 0.0
    half = 2.0096 * answer.std(ddof=1) / np.sqrt(50)  # Student's t with 49 degrees of freedom
    assert found.people_high - found.people == pytest.approx(half, rel=0.02)


def test_every_unit_asked_once_gives_the_sum_itself():
    answer = np.random.default_rng(0).random(30)
    load = np.linspace(-1.0, 1.0, 30)
    found = estimate_mean(np.zeros(30), np.arange(30), answer, np.full(30, 1 / 30), load=load)
    assert found.value == pytest.approx(load @ answer)


def test_intervals_of_units_that_were_all_answered_hold_for_certain_and_for_open_votes():
    rng = np.random.default_rng(0)
    for spread in (0.5, 4.0):
        held = []
        for _ in range(400):
            p = 1.0 / (1.0 + np.exp(-spread * rng.standard_normal(12)))
            unit = np.append(np.arange(12), rng.integers(0, 12, 28))
            load = np.repeat([-1.0, 1.0], 6)
            found = estimate_covered(unit, (rng.random(40) < p[unit]) * 1.0, load)
            held.append(found.low <= load @ p <= found.high)
        assert 0.93 <= np.mean(held) <= 1.0


def test_useless_judges_do_not_shorten_the_interval():
    ratio = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = estimate_mean(rng.standard_normal(2000), rng.integers(0, 2000, 60), rng.standard_normal(60))
        ratio.append((found.high - found.low) / (found.people_high - found.people_low))
    assert np.mean(ratio) >= 0.99


def test_too_few_answers_and_wrong_propensities_are_refused():
    with pytest.raises(InputError, match="at least 10 answers of people; there are 3"):
        estimate_mean(np.zeros(9), np.arange(3), np.zeros(3))
    with pytest.raises(InputError, match="that of answer 1 is 0"):
        estimate_mean(np.zeros(20), np.arange(12), np.zeros(12), np.zeros(12))
