"""The accuracy on the rest, by simulated projects whose questions were chosen by what the model knew."""

import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from accord.errors import InputError
from accord.evaluation.rest import Rest, forecast_gain, rest_accuracy
from accord.workflows.collecting.mix import TextMix

N_TEXTS, N_ANSWERS, STEP = 400, 100, 20


def simulated(seed):
    """A project whose truth is not linear, asked by uncertainty with a random floor; the estimate and the truth."""
    rng, draws = np.random.default_rng(seed), random.Random(seed)
    x = rng.normal(size=(N_TEXTS, 8))
    score = x[:, 0] + 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    y = (score + rng.normal(size=N_TEXTS) > 0.3).astype(int)
    asked, is_random = rng.permutation(N_TEXTS)[:STEP].tolist(), [True] * STEP
    while len(asked) < N_ANSWERS:
        left = np.setdiff1d(np.arange(N_TEXTS), asked)
        p = LogisticRegression().fit(x[asked], y[asked]).predict_proba(x[left])[:, 1]
        order = left[np.argsort(np.abs(p - 0.5))].tolist()
        mix = TextMix(
            left.tolist(),
            [0] * len(left),
            [""] * len(left),
            {"informative": order},
            {"informative": 0.8, "random": 0.2},
        )
        for _ in range(STEP):
            way, key, _ = mix.draw(draws)
            asked.append(key)
            is_random.append(way == "random")
    asked = np.array(asked)
    right, sure = np.empty(len(asked)), np.empty(len(asked))
    fold = rng.permutation(len(asked)) % 5
    for k in range(5):
        p = LogisticRegression().fit(x[asked[fold != k]], y[asked[fold != k]]).predict_proba(x[asked[fold == k]])
        right[fold == k], sure[fold == k] = p.argmax(axis=1) == y[asked[fold == k]], p.max(axis=1)
    rest = np.setdiff1d(np.arange(N_TEXTS), asked)
    p = LogisticRegression().fit(x[asked], y[asked]).predict_proba(x[rest])
    return (
        rest_accuracy(np.array(is_random), right, sure, p.max(axis=1)),
        float(np.mean(p.argmax(axis=1) == y[rest])),
        right.mean(),
    )


def test_intervals_hold_the_accuracy_of_the_rest():
    found = [simulated(seed) for seed in range(100)]
    inside = np.mean([rest.low <= truth <= rest.high for rest, truth, _ in found])
    errors = np.array([rest.value - truth for rest, truth, _ in found])
    asked = np.array([plain - truth for _, truth, plain in found])
    assert 0.89 <= inside <= 0.99  # of 300 such projects it is written in docs/asking.md
    assert abs(errors.mean()) < 0.03
    assert abs(asked.mean()) > 2 * abs(errors.mean())  # what was asked is harder than the rest


def test_random_questions_alone_give_the_mean_and_a_calibrated_model_a_shorter_interval():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.5, 1.0, 400)
    right = (rng.random(400) < sure).astype(float)
    every = np.ones(400, dtype=bool)
    even = rest_accuracy(every, right, np.full(400, right.mean()), np.full(4000, right.mean()))
    assert even.value == pytest.approx(right.mean(), abs=0.01)
    own = rest_accuracy(every, right, sure, rng.uniform(0.5, 1.0, 4000))
    assert own.high - own.low < even.high - even.low
    assert "4,000 texts" in own.sentence


def test_intervals_of_a_model_that_is_seldom_wrong_do_not_lie_too_high():
    rng = np.random.default_rng(0)
    every, sure = np.ones(25, dtype=bool), np.full(25, 0.9)
    found = [rest_accuracy(every, rng.random(25) < 0.9, sure, np.full(2_000, 0.9)) for _ in range(2_000)]
    assert 0.93 <= np.mean([rest.low <= 0.9 <= rest.high for rest in found]) <= 0.98
    assert np.mean([rest.low > 0.9 for rest in found]) <= 0.025  # 8 % with the deviation of the answers themselves


def test_too_few_random_questions_or_no_rest_are_said():
    with pytest.raises(InputError, match="at least 10 answers to random questions; there are 3"):
        rest_accuracy(np.arange(20) < 3, np.ones(20), np.ones(20), np.ones(5))
    with pytest.raises(InputError, match="all are judged"):
        rest_accuracy(np.ones(20, dtype=bool), np.ones(20), np.ones(20), np.ones(0))


def now(accuracy):
    return Rest(accuracy, accuracy - 0.04, accuracy + 0.04, accuracy, 100, 1_000)


def wrong(errors, n, seed=0):
    """Answers that models of three sizes get wrong, with errors that are nested: who knows more is wrong less."""
    return (np.random.default_rng(seed).random(n)[:, None] < np.asarray(errors)).astype(float)


def test_more_answers_add_what_a_power_law_with_a_floor_says():
    sizes = np.array([80.0, 160.0, 320.0])
    law = lambda n: 0.1 + 2.0 * n**-0.7  # noqa: E731
    inside, value = [], []
    for seed in range(20):
        found = forecast_gain(sizes, wrong(law(sizes), 400, seed), now(1.0 - law(400.0)), 400, 400)
        truth = law(400.0) - law(800.0)
        inside.append(found.low <= truth <= found.high)
        value.append(found.value)
    assert np.mean(value) == pytest.approx(truth, abs=0.006)
    assert np.mean(inside) >= 0.9
    assert "400 more answers" in found.sentence


def test_a_flat_curve_says_that_more_answers_change_little_and_few_answers_that_nothing_can_be_told():
    flat = forecast_gain([200, 400, 800], wrong([0.2, 0.2, 0.2], 1_000), now(0.8), 1_000, 500)
    assert "would change little" in flat.sentence
    falls = forecast_gain([200, 400, 800], wrong([0.3, 0.25, 0.2], 1_000), now(0.8), 1_000, 500)
    assert "would add about" in falls.sentence
    assert 0 < falls.low < falls.value < falls.high
    few = np.random.default_rng(3).random((24, 3)) < [0.45, 0.4, 0.4]
    assert "cannot be told yet" in forecast_gain([5, 10, 20], few.astype(float), now(0.6), 24, 20).sentence
    assert Rest(0.8, 0.7, 0.9, 0.8, 50, 70, forecast=falls).sentence.endswith(falls.sentence)
