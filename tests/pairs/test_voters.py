from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr

from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.vote_counts import count_votes
from accord.pairs.voters import Voters

TWO, THREE = np.array([0.0, 1.0]), np.array([0.0, 0.5, 1.0])


def some_voters(outcomes):
    """Seven votes on three pairs by three voters, one of them not known."""
    answer = np.array([1.0, 0.0, 1.0, 0.0, outcomes[-2], 1.0, 1.0])
    return Voters(
        pair=np.array([0, 0, 0, 1, 1, 2, 2]),
        answer=answer,
        voter=np.array([0, 1, 2, 0, 1, 2, -1]),
        weight=np.ones(7),
        error=np.array([0.05, 0.6, 0.3]),
        n_pairs=3,
        outcomes=outcomes,
        prior=(2.0, 6.0),
    )


def enumerated(voters, p):
    """Every joint state: the outcome of each pair, and for each vote whether it was random; summed by plain loops."""
    k, n_votes = voters.outcomes.size, voters.pair.size
    error = [0.25 if who < 0 else voters.error[who] for who in voters.voter]  # 2 / (2 + 6) if not known
    q, known, random, total = np.zeros((voters.n_pairs, k)), np.zeros((voters.n_pairs, k)), np.zeros(n_votes), 0.0
    for outcome in product(range(k), repeat=voters.n_pairs):
        for is_random in product((False, True), repeat=n_votes):
            joint = np.prod([p[pair, z] for pair, z in enumerate(outcome)])
            for vote in range(n_votes):
                right = voters.answer[vote] == voters.outcomes[outcome[voters.pair[vote]]]
                joint *= error[vote] / k if is_random[vote] else (1.0 - error[vote]) * right
            total += joint
            random += joint * np.array(is_random)
            for pair, z in enumerate(outcome):
                q[pair, z] += joint
                known[pair, z] += joint * (not np.array(is_random)[voters.pair == pair].all())
    return q / total, known / total, random / total


@pytest.mark.parametrize("outcomes", [TWO, THREE])
def test_outcomes_and_rates_are_those_of_the_enumerated_joint_distribution(outcomes):
    voters = some_voters(outcomes)
    p = np.random.default_rng(0).dirichlet(np.ones(outcomes.size), 3)
    q, known, random = enumerated(voters, p)
    assert_allclose(voters.expected_outcomes(p), (q, known), atol=1e-12)
    expected = [(2.0 + random[voters.voter == who].sum()) / (8.0 + (voters.voter == who).sum()) for who in range(3)]
    assert_allclose(voters.expected_errors(q), expected, atol=1e-12)


def test_a_pair_weighs_as_one_vote_at_most():
    many = replace(some_voters(TWO), pair=np.zeros(7, dtype=int), answer=np.ones(7), n_pairs=1)
    assert 0.99 < many.first_weights().sum() <= 1.0


def test_a_single_vote_weighs_as_much_as_it_is_likely_to_be_genuine():
    voters = replace(
        some_voters(TWO),
        pair=np.array([0]),
        answer=np.array([1.0]),
        voter=np.array([1]),
        weight=np.ones(1),
        n_pairs=1,
    )
    _, known = voters.expected_outcomes(np.array([[0.7, 0.3]]))
    assert_allclose(known, [[0.0, 0.4 * 0.3 / (0.4 * 0.3 + 0.6 / 2)]], atol=1e-12)


def test_a_vote_of_weight_two_is_two_votes():
    once = some_voters(TWO)
    rows = np.append(np.arange(7), 0)
    twice = replace(once, pair=once.pair[rows], answer=once.answer[rows], voter=once.voter[rows], weight=np.ones(8))
    heavy = replace(once, weight=np.array([2.0, 1, 1, 1, 1, 1, 1]))
    assert_allclose(heavy.messages(), twice.messages(), atol=1e-12)


def test_undecided_votes_say_nothing_about_a_winner_and_a_pair_without_others_is_split():
    voters = some_voters(TWO)
    p = np.array([[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    more = replace(
        voters,
        pair=np.append(voters.pair, [0, 3]),
        answer=np.append(voters.answer, [0.5, 0.5]),
        voter=np.append(voters.voter, [1, 1]),
        weight=np.ones(9),
        n_pairs=4,
    )
    (q, known), (before, known_before) = more.expected_outcomes(np.vstack([p, [0.2, 0.8]])), voters.expected_outcomes(p)
    assert_allclose(q[:3], before)
    assert_allclose(more.row_weights(known).reshape(4, 2), np.vstack([known_before, [0.5, 0.5]]))
    assert_allclose(more.expected_errors(q), voters.expected_errors(before))


def test_the_scores_speak_before_the_votes():
    voters = some_voters(TWO)
    mean, variance = np.repeat([1.0, -2.0, 0.5], 2), np.repeat([0.5, 1.0, 2.0], 2)
    p = ndtr(mean[::2] / np.sqrt(2.0 + variance[::2]))
    updated, weight = voters.update(Preference(), mean, variance)
    q, known = voters.expected_outcomes(np.stack([1.0 - p, p], axis=1))
    assert_allclose(weight.reshape(3, 2), known)
    assert_allclose(updated.error, voters.expected_errors(q))


def test_every_outcome_of_a_pair_has_a_row_of_its_own():
    left, right = np.array([0, 1, 0, 2]), np.array([1, 0, 1, 1])
    counts = count_votes(left, right, np.array([1.0, 1.0, 0.5, 0.0]), None, oriented=False)
    rows, pair = counts.every_outcome(THREE)
    assert rows.left.tolist() == [0, 0, 0, 1, 1, 1]
    assert rows.right.tolist() == [1, 1, 1, 2, 2, 2]
    assert rows.value.tolist() == [0.0, 0.5, 1.0] * 2
    assert rows.weight.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 1.0]
    assert pair.tolist() == [0, 0, 0, 1]
    assert rows.row.tolist() == [2, 0, 1, 5]
    assert (np.diff(rows.key) > 0).all()
    decided, _ = counts.every_outcome(TWO)
    assert decided.weight.tolist() == [1.0, 1.0, 0.0, 1.0]
    assert decided.row.tolist() == [1, 0, -1, 3]
