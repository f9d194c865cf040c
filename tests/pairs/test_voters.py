from itertools import product

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import ndtr

from accord import PreferenceRanker
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.vote_counts import count_votes
from accord.pairs.voters import RATES, SHARES_PRIOR, Voters, majority, majority_answer, rate_intervals


def some_votes():
    left, right = np.array([0, 1, 0, 2, 0]), np.array([1, 0, 1, 1, 2])
    value, voter = np.array([1.0, 0.0, 0.0, 1.0, 1.0]), np.array([0, 1, 1, 0, -1])
    counts = count_votes(left, right, value, np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    return counts, Voters.of(voter, counts.row, counts.raw_weight, Voters.first_belief(2), counts.left.size)


def test_votes_are_counted_by_pair_answer_and_side():
    left, right, value = np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0]), np.array([1.0, 0.0, 1.0, 0.5])
    counts = count_votes(left, right, value, None)
    assert counts.weight.tolist() == [1.0, 3.0]
    sided = count_votes(left, right, value, None, np.array([1, 1, 1, 1]))
    assert sorted(zip(sided.value.tolist(), sided.side.tolist(), sided.weight.tolist(), strict=True)) == [
        (0.5, -1, 1.0),
        (1.0, -1, 1.0),
        (1.0, 1, 2.0),
    ]


def test_beliefs_are_those_of_bayes_rule_written_out():
    counts, voters = some_votes()
    votes = counts.votes(np.arange(3), voters.row_shares())
    likelihood = Preference(rates=RATES)
    mean, variance = np.array([0.7, 0.7, -0.4, 0.2])[: counts.left.size], np.full(counts.left.size, 0.5)
    found = voters.update(likelihood, mean, variance, votes)
    for who in range(2):
        weighed = []
        for k, rate in enumerate(RATES):
            p = voters.shares[k]
            for voter, row, weight in zip(voters.voter, voters.row, voters.weight, strict=True):
                if voter == who:
                    sign = 1.0 if counts.value[row] == 1.0 else -1.0
                    p *= ((1 - rate) * ndtr(sign * mean[row] / np.sqrt(2.5)) + rate / 2) ** weight
            weighed.append(p)
        assert_allclose(found.belief[who], np.array(weighed) / sum(weighed), atol=1e-12)
    assert_allclose(found.shares, (found.belief.sum(axis=0) + SHARES_PRIOR) / (2 + SHARES_PRIOR.sum()))


def test_a_row_is_believed_as_its_voters_are_and_an_unknown_voter_as_all_of_them():
    counts, voters = some_votes()
    belief = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0]])
    voters = Voters.of(voters.voter, voters.row, voters.weight, belief, counts.left.size)
    share = voters.row_shares()
    assert_allclose(share.sum(axis=1), 1.0)
    both = int(counts.row[0])  # pair 0, 1 with answer 1: voter 0 once and voter 1 once
    assert_allclose(share[both], [0.5, 0, 0, 0, 0.5])
    alone = int(counts.row[4])
    assert_allclose(share[alone], voters.shares)


def test_a_majority_is_what_counting_all_ballots_says():
    likelihood = Preference(margin=0.4, tie_chance=0.2)
    for n_voters, rate in ((2, 0.0), (3, 0.2), (4, 0.0)):
        p = likelihood.probability(np.array([0.8]), np.zeros(1), rate=rate)[0]
        counted = np.zeros(3)
        for said in product(range(3), repeat=n_voters):
            lead = sum((answer == 0) - (answer == 2) for answer in said)
            counted[0 if lead > 0 else 2 if lead < 0 else 1] += np.prod(p[list(said)])
        assert_allclose(
            majority_answer(likelihood, np.array([0.8]), np.zeros(1), n_voters, rate)[0], counted, atol=1e-9
        )


def test_a_majority_of_more_voters_is_surer():
    likelihood, mean, variance = Preference(), np.array([0.6]), np.array([0.3])
    p = [majority_answer(likelihood, mean, variance, k)[0, 0] for k in (1, 5, 25)]
    assert_allclose(p[0], likelihood.probability(mean, variance)[0, 0], atol=1e-6)
    assert p[0] < p[1] < p[2]


def test_majorities_count_both_orders_of_a_pair_and_weights():
    items = Items(["a", "b", "c"])
    votes = Comparisons(
        items,
        np.array([0, 1, 1, 2, 1]),
        np.array([1, 0, 0, 1, 2]),
        np.array([1.0, 0.0, 1.0, 1.0, 1.0]),
        weight=np.array([1.0, 1.0, 1.0, 1.0, 3.0]),
    )
    found = majority(votes)
    assert list(zip(found.left, found.right, found.value, strict=True)) == [(0, 1, 1.0), (1, 2, 1.0)]


def test_random_answers_do_not_shrink_the_scores_that_predict():
    # Learnt in turn, few votes with a third of random voters gave scores less than half as large as the joint draws.
    rng = np.random.default_rng(0)
    truth = rng.standard_normal(80)
    left = rng.integers(0, 80, 500)
    right, who = (left + rng.integers(1, 80, 500)) % 80, rng.integers(0, 15, 500)
    y = (truth[left] - truth[right] + np.sqrt(2.0) * rng.standard_normal(500) > 0).astype(float)
    y = np.where(who < 5, rng.integers(0, 2, 500), y)
    ids = np.array([f"t{k:02d}" for k in range(80)], dtype=object)
    ranker = PreferenceRanker().fit(np.stack([ids[left], ids[right]], axis=1), y, annotator=who.astype(str))
    drawn = ranker.rank().set_index("item_id")["score"].loc[list(ranker.items_.ids)].to_numpy()
    assert 0.75 < np.std(ranker.score_items()) / np.std(drawn) < 1.25


def test_voters_who_lean_to_one_side_are_found_and_do_not_shrink_the_scores():
    rng = np.random.default_rng(5)
    truth, n = 0.7 * rng.standard_normal(6), 1500
    left = rng.integers(0, 6, n)
    right, who, side = (left + rng.integers(1, 6, n)) % 6, rng.integers(0, 30, n), rng.choice([-1, 1], n)
    own = np.where(np.arange(30) < 15, 1.4, -0.8)
    y = (truth[left] - truth[right] + own[who] * side + np.sqrt(2.0) * rng.standard_normal(n) > 0).astype(float)
    ids = np.array([f"t{k}" for k in range(6)], dtype=object)
    names, X = np.array([f"v{k:02d}" for k in range(30)])[who], np.stack([ids[left], ids[right]], axis=1)
    shown = np.where(side == 1, ids[left], ids[right])
    ranker = PreferenceRanker().fit(X, y, annotator=names, shown_left=shown)
    people = ranker.annotators_.set_index("annotator").sort_index()
    assert np.corrcoef(people["left"], own)[0, 1] > 0.9
    assert people["error"].mean() < 0.1
    table = ranker.rank().set_index("item_id").loc[list(ids)]
    centred = truth - truth.mean()
    # One common bias makes the scores √(2 / (2 + 1.2)) as large as they are.
    assert 0.9 < np.std(table["score"]) / np.std(centred) < 1.1
    assert "left" not in PreferenceRanker().fit(X, y, annotator=names).annotators_


def test_intervals_of_rates_have_a_width_and_hold_the_expected_rate():
    rng = np.random.default_rng(0)
    belief = np.concatenate([np.eye(len(RATES)), rng.dirichlet(np.full(len(RATES), 0.3), 500)])
    low, high = rate_intervals(belief, 0.9)
    assert (high - low >= 0.05 - 1e-12).all()
    error = belief @ np.array(RATES)
    assert ((low <= error + 1e-12) & (error <= high + 1e-12)).all()
    assert_allclose(np.stack([low, high], axis=1)[:5], [[0, 0.05], [0.05, 0.2], [0.2, 0.45], [0.45, 0.8], [0.8, 1]])
    # Where the true rates are drawn from the cells as believed, at least nine tenths of them lie inside.
    edges = np.array([0.0, 0.05, 0.2, 0.45, 0.8, 1.0])
    cell = np.array([rng.choice(5, p=row / row.sum()) for row in np.repeat(belief[5:], 20, axis=0)])
    truth = edges[cell] + rng.random(len(cell)) * np.diff(edges)[cell]
    inside = (np.repeat(low[5:], 20) <= truth) & (truth <= np.repeat(high[5:], 20))
    assert inside.mean() > 0.9
