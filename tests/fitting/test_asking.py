from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import norm

from accord.fitting import asking
from accord.fitting.asking import (
    Asking,
    agreement_information,
    label_margin,
    label_precision,
    least_certain,
    pick_texts,
    put_right,
)

NO_PAIRS = (np.empty((0, 2), dtype=np.int64), np.empty(0))


@settings(max_examples=60, deadline=None)
@given(a=st.floats(0.05, 0.95), b=st.floats(0.05, 0.95), part=st.floats(0.02, 0.98))
def test_agreement_tells_no_more_than_the_two_labels_do(a, b, part):
    both = max(0.0, a + b - 1.0) + part * (min(a, b) - max(0.0, a + b - 1.0))
    joint = np.array([[1.0 - a - b + both, b - both], [a - both, both]])
    apart = np.outer([1.0 - a, a], [1.0 - b, b])
    shown = joint > 0
    exact = float((joint[shown] * np.log(joint[shown] / apart[shown])).sum())
    p = np.array([[1.0 - a, a], [1.0 - b, b]])
    found = agreement_information(p, np.array([[0, 1]]), np.array([np.trace(joint)]))[0]
    assert -1e-12 <= found <= exact + 1e-9
    even = np.full((2, 2), 0.5)
    equal = np.array([0.8])
    symmetric = 0.8 * np.log(1.6) + 0.2 * np.log(0.4)
    assert_allclose(agreement_information(even, np.array([[0, 1]]), equal), [symmetric], rtol=1e-12)


def unit_words(rng, n, d=30, per_text=6):
    words = np.zeros((n, d))
    for row in words:
        row[rng.choice(d, per_text, replace=False)] = rng.random(per_text) + 0.1
    return words / np.linalg.norm(words, axis=1, keepdims=True)


def information(words, precision, given, chosen, candidate):
    """Sum over unanswered texts of the mutual information of two noisy readings, by inverting one matrix."""
    prior = 4.0 * words @ words.T
    read = np.concatenate([np.flatnonzero(given), chosen]).astype(int)
    noise = np.where(given, 1.0 / 0.2, 1.0 / precision)
    inner = np.linalg.inv(prior[np.ix_(read, read)] + np.diag(noise[read]))
    posterior = prior - prior[:, read] @ inner @ prior[read]
    total = 0.0
    for other in np.flatnonzero(~given):
        if other != candidate:
            pair = posterior[np.ix_([candidate, other], [candidate, other])] + np.diag(noise[[candidate, other]])
            total += 0.5 * np.log(pair[0, 0] * pair[1, 1] / np.linalg.det(pair))
    return total


def test_the_gain_is_the_information_about_the_others_and_takes_those_before_as_answered():
    rng = np.random.default_rng(0)
    words, precision = unit_words(rng, 14), rng.uniform(0.05, 0.25, 14)
    given_ = np.arange(14) < 4
    rows, gains = pick_texts(Asking(sp.csr_array(words), precision, given_, *NO_PAIRS), 4, rng)
    chosen = []
    for row, gain in zip(rows, gains, strict=True):
        free = [i for i in range(14) if not given_[i] and i not in chosen]
        told = {i: information(words, precision, given_, np.array(chosen, dtype=int), i) for i in free}
        assert row == max(told, key=told.get)
        assert_allclose(gain, told[row], rtol=1e-6)
        chosen.append(row)


def test_labels_that_a_reading_puts_right_are_those_that_simulated_readings_put_right():
    rng = np.random.default_rng(5)
    for mean, share in ((0.0, 0.3), (0.4, 0.7), (1.2, 0.5), (2.0, 0.05)):
        odds = mean + rng.normal(size=400_000)
        noise = np.sqrt(1.0 / share - 1.0)  # a reading of unit variance explains this share
        after = mean + share * (odds - mean + noise * rng.normal(size=odds.size))
        fall = np.mean((odds > 0) != (mean >= 0)) - np.mean((odds > 0) != (after > 0))
        assert_allclose(put_right(np.array([mean]), np.array([share]))[0], fall, atol=0.004)


def put_right_by_readings(words, precision, margin, given, chosen, candidate):
    """Sum over unanswered texts of the fall of the probability of a wrong label, by integrating over the reading."""
    prior = 10.0 * words @ words.T
    read = np.concatenate([np.flatnonzero(given), chosen]).astype(int)
    noise = np.where(given, 1.0 / 0.2, 1.0 / precision)
    inner = np.linalg.inv(prior[np.ix_(read, read)] + np.diag(noise[read]))
    posterior = prior - prior[:, read] @ inner @ prior[read]
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    total = 0.0
    for other in np.flatnonzero(~given):
        if other == candidate:
            continue
        shift = posterior[candidate, other] / np.sqrt(posterior[candidate, candidate] + noise[candidate])
        left = np.sqrt(posterior[other, other] - shift**2)
        after = norm.cdf(-np.abs(margin[other] + shift * nodes) / left) @ weights / weights.sum()
        total += norm.cdf(-margin[other] / np.sqrt(posterior[other, other])) - after
    return total


def test_with_margins_the_gain_is_the_labels_put_right_and_takes_those_before_as_answered():
    rng = np.random.default_rng(4)
    words, precision, margin = unit_words(rng, 14), rng.uniform(0.05, 0.25, 14), rng.uniform(0.0, 3.0, 14)
    given_ = np.arange(14) < 4
    asking_ = Asking(sp.csr_array(words), precision, given_, *NO_PAIRS, margin=margin)
    rows, gains = pick_texts(asking_, 4, rng)
    chosen = []
    for row, gain in zip(rows, gains, strict=True):
        told = {
            i: put_right_by_readings(words, precision, margin, given_, np.array(chosen, dtype=int), i)
            for i in range(14)
            if not given_[i] and i not in chosen
        }
        assert_allclose(gain, max(told.values()), rtol=0.02, atol=1e-3)
        assert_allclose(gain, told[row], rtol=0.02, atol=1e-3)
        chosen.append(row)


def test_with_margins_a_text_that_pulls_doubtful_ones_is_asked_before_one_that_pulls_certain_ones():
    ends, shared = np.array([[0, 1], [0, 2], [3, 4], [3, 5]]), np.full(4, 0.2)
    margin = np.array([0.5, 0.1, 0.1, 0.5, 6.0, 6.0])
    allowed = np.isin(np.arange(6), [0, 3])
    ask = Asking(sp.csr_array(np.eye(6)), np.full(6, 0.2), np.zeros(6, dtype=bool), ends, shared, allowed)
    rows, gains = pick_texts(replace(ask, margin=margin), 2, np.random.default_rng(0))
    assert rows.tolist() == [0, 3]
    assert gains[0] > 10.0 * gains[1]
    same = pick_texts(ask, 2, np.random.default_rng(0))[1]
    assert_allclose(same[0], same[1])


def test_of_texts_that_tell_nothing_the_least_certain_is_asked_about_first():
    precision = np.array([0.02, 0.2, 0.1])
    ask = Asking(sp.csr_array(np.eye(3)), precision, np.zeros(3, dtype=bool), *NO_PAIRS, margin=np.full(3, 4.0))
    rows, gains = pick_texts(ask, 3, np.random.default_rng(0))
    assert rows.tolist() == [1, 2, 0]
    assert_allclose(gains, 0.0, atol=1e-9)


def test_the_margin_is_that_of_the_two_likeliest_labels():
    p = np.array([[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]])
    assert_allclose(label_margin(p)[:2], [0.0, np.log(2.0)], atol=1e-12)
    assert np.isfinite(label_margin(p)).all()


def test_more_texts_are_weighed_where_labels_are_counted():
    sure = np.arange(500.0)
    assert len(least_certain(sure, 20)) == 60
    assert len(least_certain(sure, 20, wide=True)) == 150
    assert least_certain(sure, 1, wide=True).tolist() == list(range(499, 349, -1))


def test_what_pulls_many_is_asked_first_and_its_neighbours_last():
    words = sp.csr_array(np.eye(8))
    ends = np.array([[0, 1], [0, 2], [0, 3], [4, 5]])
    shared = np.array([0.2, 0.1, 0.1, 0.3])
    ask = Asking(words, np.full(8, 0.25), np.zeros(8, dtype=bool), ends, shared)
    rows, gains = pick_texts(ask, 8, np.random.default_rng(0))
    assert rows[0] == 0
    assert rows[1] in (4, 5)
    assert set(rows[:4]) >= {0, 6, 7}
    assert sorted(rows) == list(range(8))
    assert_allclose(gains[0], 0.4)
    only = Asking(words, ask.precision, ask.given, ends, shared, np.arange(8) > 5)
    assert set(pick_texts(only, 8, np.random.default_rng(0))[0]) == {6, 7}


def test_among_many_texts_some_are_looked_at_and_all_asked_for_are_found(monkeypatch):
    for name, size in (("_TARGETS", 5), ("_LABELLED", 4), ("_CANDIDATES", 20), ("_FINALISTS", 9), ("_IN_TURN", 3)):
        monkeypatch.setattr(asking, name, size)
    rng = np.random.default_rng(1)
    words, given_ = sp.csr_array(unit_words(rng, 100)), np.arange(100) < 10
    rows, gains = pick_texts(Asking(words, np.full(100, 0.2), given_, *NO_PAIRS), 8, rng)
    assert len(set(rows.tolist())) == 8
    assert not given_[rows].any()
    assert np.isfinite(gains).all()


def test_texts_that_stand_for_more_are_told_about_as_often():
    rng = np.random.default_rng(2)
    words, given_ = sp.csr_array(unit_words(rng, 12)), np.arange(12) < 3
    one, ten = (
        pick_texts(Asking(words, np.full(12, 0.2), given_, *NO_PAIRS, stands_for=n), 4, np.random.default_rng(0))
        for n in (1.0, 10.0)
    )
    assert one[0].tolist() == ten[0].tolist()
    assert_allclose(ten[1], 10.0 * one[1], rtol=1e-12)


def test_labels_that_are_certain_tell_nothing():
    assert_allclose(label_precision(np.array([[0.5, 0.5], [1.0, 0.0], [0.9, 0.1]])), [0.25, 0.0, 0.09])


@pytest.mark.parametrize("n_given", [0, 5])
def test_texts_without_words_can_be_asked_about(n_given):
    given_ = np.arange(5) < n_given - 1
    ask = Asking(sp.csr_array((5, 3)), np.full(5, 0.25), given_, *NO_PAIRS)
    assert len(pick_texts(ask, 9, np.random.default_rng(0))[0]) == 5 - given_.sum()
