"""Kinds of question: what one or two readings tell is Gaussian mutual information, and time decides between kinds."""

import numpy as np
import pytest
import scipy.sparse as sp

from accord.fitting.asking_kinds import Options, marked_words, pick_options, stressed, word_rates


def unit(rng, n, columns=8):
    x = rng.random((n, columns)) * (rng.random((n, columns)) < 0.6)
    x[:, 0] += 0.1
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def problem(seconds=(1.0, 1.0)):
    """Three texts, each with a label (one reading) or a highlight (two)."""
    rng = np.random.default_rng(0)
    readings, precision = unit(rng, 6), rng.uniform(0.1, 0.3, 6)
    options = Options(
        sp.csr_array(readings), precision, np.array([0, 1, 2, 0, 1, 2]), np.array([-1, -1, -1, 3, 4, 5]),
        np.array([0, 1, 2, 0, 1, 2]), np.repeat(np.array(seconds), 3),
    )  # fmt: skip
    given, targets = unit(rng, 4), unit(rng, 5)
    return options, sp.csr_array(given), np.full(4, 0.2), sp.csr_array(targets), np.full(5, 0.25), np.arange(3, 8)


def told(options, given, given_precision, targets, target_precision, chosen):
    """Σ over targets of I(reading of the target; readings of the questions | what was given), by determinants."""
    rows = [r for c in chosen for r in (options.first[c], options.second[c]) if r >= 0]
    words = [given.toarray(), options.readings.toarray()[rows]]
    noise = [1 / given_precision, 1 / options.precision[rows]]
    total = 0.0
    for target, precision in zip(targets.toarray(), target_precision, strict=True):
        every = np.vstack([*words, target])
        cov = 4.0 * every @ every.T + np.diag(np.concatenate([*noise, [1 / precision]]))
        g, t = len(given_precision), len(cov) - 1
        old, new = list(range(g)), list(range(g, t))
        subsets = ([*old, *new], [*old, t], old, [*old, *new, t])
        parts = [np.linalg.slogdet(cov[np.ix_(rows, rows)])[1] for rows in subsets]
        total += 0.5 * (parts[0] + parts[1] - parts[2] - parts[3])
    return total


def test_gains_are_mutual_information_given_what_was_answered_and_chosen_before():
    options, *rest, text = problem()
    chosen, gains, rivals = pick_options(options, *rest, text, 3)
    assert chosen.tolist() != sorted(chosen.tolist()) or len(chosen) == 3
    assert gains[0] == pytest.approx(told(options, *rest, chosen[:1]), rel=1e-9)
    both = told(options, *rest, chosen[:2])
    assert gains[1] == pytest.approx(both - gains[0], rel=1e-9)
    assert all(told(options, *rest, [one]) <= gains[0] + 1e-12 for one in range(6))
    assert rivals[0] == pytest.approx(told(options, *rest, [(chosen[0] + 3) % 6]), rel=1e-9)
    assert len(set(options.text[chosen])) == 3


def test_time_decides_between_a_label_and_a_highlight():
    options, *rest = problem(seconds=(1.0, 1.0))
    assert (pick_options(options, *rest, 3)[0] >= 3).all()  # two readings tell more than one of them
    options, *rest = problem(seconds=(1.0, 50.0))
    assert (pick_options(options, *rest, 3)[0] < 3).all()
    only = np.arange(6) >= 3
    assert (pick_options(options, *rest, 3, allowed=only)[0] >= 3).all()


def test_what_an_answer_tells_about_its_own_text_does_not_count():
    options, given, precision, targets, target_precision, _ = problem()
    own = pick_options(options, given, precision, targets, target_precision, np.zeros(5, dtype=int), 3)
    assert 0 not in options.text[own[0][:2]]
    assert own[1][-1] == 0.0


def test_words_that_are_marked_where_they_occur_are_stressed_and_expected():
    words = sp.csr_array(np.array([[1.0, 1, 0], [1, 1, 0], [1, 0, 1]]))
    marked = sp.csr_array(np.array([[1.0, 0, 0], [1, 0, 0], [0, 0, 0]]))
    rates = word_rates(words, marked)
    usual = 2 / 6
    assert rates == pytest.approx([(2 + 2 * usual) / 5, 2 * usual / 4, 2 * usual / 3])
    heavy = stressed(words, rates).toarray()
    assert heavy[0, 0] > heavy[0, 1]
    assert np.linalg.norm(heavy, axis=1) == pytest.approx(1.0)
    assert np.linalg.norm(marked_words(sp.csr_array((2, 3)), rates).toarray(), axis=1) == pytest.approx(0.0)
    assert word_rates(sp.csr_array((0, 3)), sp.csr_array((0, 3))) == pytest.approx(0.0)
