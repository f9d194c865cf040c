"""Personal preferences: tastes are found where there are any, and cost nothing where there are none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from accord import PersonalRanker
from accord.data.documents import Items
from accord.errors import InputError
from accord.pairs.process.personal import moments
from accord.pairs.taste_groups import find_groups
from synthetic.tastes import taste_votes


def fitted(problem, **settings):
    votes = problem.votes
    return PersonalRanker(**settings).fit(*votes.xy(), items=votes.items, annotator=votes.annotators[votes.annotator])


def losses(ranker, problem, n=1500):
    """Cross-entropy with the true probabilities of fresh votes: of the consensus, of the person, and the lowest."""
    voter, left, right = problem.pairs(n, np.random.default_rng(99))
    ids, names = problem.votes.items.ids, problem.votes.annotators
    pairs, truth = np.stack([ids[left], ids[right]], axis=1), problem.probability(voter, left, right)
    found = [
        ranker.consensus_.predict_proba(pairs)[:, -1],
        ranker.predict_proba(pairs, annotator=names[voter])[:, -1],
        truth,
    ]
    found = [np.clip(p, 1e-9, 1.0 - 1e-9) for p in found]
    return [float(-np.mean(truth * np.log(p) + (1.0 - truth) * np.log(1.0 - p))) for p in found]


@pytest.mark.parametrize("features", [True, False])
def test_two_tastes_are_found_with_their_people(features):
    problem = taste_votes(features=features)
    ranker = fitted(problem)
    consensus, personal, lowest = losses(ranker, problem)
    assert personal - lowest < 0.5 * (consensus - lowest)
    assert ranker.n_tastes_ >= 1
    voters = ranker.voters_.set_index("annotator").loc[problem.votes.annotators]
    assert len(ranker.groups_) == 2
    same = (voters["group"].to_numpy() == 1) == (problem.side > 0)
    assert max(same.mean(), 1.0 - same.mean()) > 0.9
    table = ranker.disagreements(5)
    place = {name: k for k, name in enumerate(problem.votes.items.ids)}
    for row in table.itertuples():
        gap = problem.taste[place[row.left]] - problem.taste[place[row.right]]
        assert abs(gap) > np.std(problem.taste)
    assert (np.abs(table["p.1"] - table["p.2"]) > 0.2).all()


def test_where_all_are_alike_nothing_is_lost():
    for seed in range(3):
        problem = taste_votes(size=0.0, features=bool(seed % 2), random_state=seed)
        ranker = fitted(problem)
        consensus, personal, _ = losses(ranker, problem)
        assert personal < consensus + 0.003
        assert len(ranker.groups_) == 1


def test_one_persons_ranking_and_strangers():
    problem = taste_votes(n_items=9, n_voters=8, per_voter=120)
    ranker = fitted(problem)
    names = problem.votes.annotators
    truth = problem.common + problem.side[0] * problem.taste
    table = ranker.rank(names[0]).set_index("item_id").loc[problem.votes.items.ids]
    assert np.corrcoef(table["score"], truth)[0, 1] > 0.9
    assert ((table["low"] < table["score"]) & (table["score"] < table["high"])).all()
    one, two = problem.votes.items.ids[:2]
    pairs = [(one, two), (two, one)]
    known, stranger = (ranker.predict_proba(pairs, annotator=who) for who in (names[0], "nobody"))
    assert_allclose(known[0], known[1][::-1], atol=1e-9)
    assert_allclose(stranger, ranker.predict_proba(pairs), atol=1e-12)
    assert set(ranker.predict(pairs)) <= set(ranker.classes_)


def test_moments_are_those_of_drawn_products():
    rng = np.random.default_rng(0)
    amounts, mean, variance = rng.normal(size=(1, 3)), rng.normal(size=(1, 3)), rng.random((1, 3))
    root = rng.normal(size=(3, 3))
    drawn = rng.multivariate_normal(amounts[0], root @ root.T, 400_000)
    z = np.sum(drawn * (mean + np.sqrt(variance) * rng.standard_normal((400_000, 3))), axis=1)
    found = moments(amounts, (root @ root.T)[None], mean, variance)
    assert_allclose([found[0][0], found[1][0]], [z.mean(), z.var()], rtol=0.02, atol=0.02)


def test_groups_of_voters_of_whom_little_is_known_are_not_made_up():
    rng = np.random.default_rng(1)
    truth = np.repeat([[2.0, 0.0], [-2.0, 0.0]], 30, axis=0)
    for noise, n_groups in ((0.1, 2), (400.0, 1)):
        # A posterior under N(0, 4) of one observation with this noise
        precision = 1.0 / noise + 0.25
        amounts = (truth + np.sqrt(noise) * rng.standard_normal(truth.shape)) / noise / precision
        covariance = np.tile(np.eye(2) / precision, (60, 1, 1))
        found = find_groups(amounts, covariance, np.full(2, 4.0), most=4, rng=rng)
        assert len(found.share) == n_groups


def test_a_ranker_keeps_the_promises_of_estimators():
    problem = taste_votes(n_items=8, n_voters=4, per_voter=20)
    ranker = fitted(problem, n_tastes=2)
    assert clone(ranker).get_params() == ranker.get_params()
    pairs = [("text1", "text2")]
    again = fitted(problem, n_tastes=2)
    assert_allclose(again.predict_proba(pairs, annotator="person1"), ranker.predict_proba(pairs, annotator="person1"))
    order = np.random.default_rng(0).permutation(problem.votes.n_votes)
    votes = problem.votes.subset(order)
    shuffled = PersonalRanker(n_tastes=2).fit(
        *votes.xy(), items=votes.items, annotator=votes.annotators[votes.annotator]
    )
    assert_allclose(
        shuffled.predict_proba(pairs, annotator="person1"), ranker.predict_proba(pairs, annotator="person1"), atol=0.02
    )


def test_bad_input_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="who gave each vote"):
        PersonalRanker().fit([("a", "b"), ("b", "c")], [1, 1], annotator=["ada", None])
    ranker = fitted(taste_votes(n_items=6, n_voters=4, per_voter=20), n_tastes=1)
    with pytest.raises(InputError, match="not fitted to votes of 'nobody'"):
        ranker.rank("nobody")
    with pytest.raises(InputError, match="one entry a pair"):
        ranker.predict_proba([("text1", "text2")], annotator=["person1", "person2"])
    many = Items([f"t{k}" for k in range(1600)])
    pairs = [(f"t{k}", f"t{k + 1}") for k in range(1599)]
    with pytest.raises(InputError, match="need features or texts"):
        PersonalRanker().fit(pairs, [1] * 1599, items=many, annotator=["ada", "ben", "cem"] * 533)


def test_voters_who_lean_to_one_side_are_persons_too():
    rng = np.random.default_rng(3)
    problem = taste_votes(n_items=10, n_voters=6, per_voter=80)
    votes = problem.votes
    X, y = votes.xy()
    shown = np.where(rng.random(len(y)) < 0.5, X["left"], X["right"])
    names = votes.annotators[votes.annotator]
    ranker = PersonalRanker().fit(X, y, items=votes.items, annotator=names, shown_left=shown)
    assert ranker.consensus_._learns_bias
    assert ranker.predict_proba(X[:5], annotator=names[:5], attentive=False).shape[0] == 5
    assert ranker.voters_["error"].between(0, 1).all()


@pytest.mark.parametrize("seed", range(3))
def test_people_of_the_opposite_taste_are_not_taken_for_random_voters(seed):
    problem = taste_votes(n_items=20, n_voters=20, size=3.0, random_state=seed)
    ranker = fitted(problem)
    consensus, personal, lowest = losses(ranker, problem)
    assert personal - lowest < 0.2 * (consensus - lowest)
    voters = ranker.voters_.set_index("annotator").loc[problem.votes.annotators]
    assert (voters["error"] < 0.1).all()
    assert len(ranker.groups_) == 2
    same = (voters["group"].to_numpy() == 1) == (problem.side > 0)
    assert max(same.mean(), 1.0 - same.mean()) == 1.0


def test_voters_who_answer_at_random_have_no_taste_of_their_own():
    problem = taste_votes(n_items=20, n_voters=20, size=0.0, random_state=1)
    votes, rng = problem.votes, np.random.default_rng(5)
    random = votes.annotator >= 14
    y = np.where(random, rng.integers(0, 2, votes.n_votes), votes.value)
    ranker = PersonalRanker().fit(votes.xy()[0], y, items=votes.items, annotator=votes.annotators[votes.annotator])
    voters = ranker.voters_.set_index("annotator").loc[votes.annotators]
    heard = (voters["strength"] * (1.0 - voters["error"])).to_numpy()  # how much of the consensus is in the votes
    assert heard[:14].min() > heard[14:].max()
    assert len(ranker.groups_) == 1
