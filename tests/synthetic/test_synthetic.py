"""Synthetic judgements follow the truth that they are returned with."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import synthetic
from accord.data import Comparisons
from accord.data.rationales import inside_tags, whitespace_tokens
from accord.errors import InputError
from synthetic.rationales import sample_tags
from synthetic.threads import sample_ising
from synthetic.words import made_up_words

GENERATORS = {
    "votes": (synthetic.votes, lambda made: made.comparisons.to_table()),
    "threads": (synthetic.threads, lambda made: made.threads.to_table()),
    "aspects": (synthetic.aspect_ratings, lambda made: made.ratings.to_table()),
    "links": (synthetic.linked_texts, lambda made: made.links.to_table()),
    "rationales": (synthetic.texts_with_rationales, lambda made: made.rationales.to_table()),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_seed_decides_everything(name):
    make, table = GENERATORS[name]
    once, again, other = (table(make(random_state=seed)) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(once, again)
    assert not once.equals(other)


def test_words_differ():
    words = made_up_words(6000)
    assert len(set(words)) == 6000


def near(frequency, chance, n):
    """Within four standard errors."""
    return abs(frequency - chance) <= 4.0 * np.sqrt(max(chance * (1 - chance), 1 / n) / n)


def test_reliable_votes_follow_the_scores():
    made = synthetic.votes(30, 20_000, spread=1.0, random_share=0.25)
    votes = made.comparisons
    p = made.win_probability(votes.left, votes.right)
    sure = made.reliable[votes.annotator]
    for low in (0.1, 0.3, 0.5, 0.7, 0.9):
        rows = sure & (np.abs(p - low) < 0.05)
        assert near(votes.value[rows].mean(), p[rows].mean(), rows.sum())
    assert made.reliable.sum() == 15
    assert near(votes.value[~sure].mean(), 0.5, (~sure).sum())
    rows = ~sure & (p > 0.8)
    assert near(votes.value[rows].mean(), 0.5, rows.sum())


def test_ties_and_position_bias_are_as_stated():
    made = synthetic.votes(40, 20_000, tie_width=0.5, position_bias=0.3)
    votes = made.comparisons
    gap = (made.scores[votes.left] - made.scores[votes.right] + 0.3) / np.sqrt(2.0)
    width = 0.5 / np.sqrt(2.0)
    tied = ndtr(width - gap) - ndtr(-width - gap)
    assert near((votes.value == 0.5).mean(), tied.mean(), votes.n_votes)
    assert near((votes.value == 1.0).mean(), ndtr(gap - width).mean(), votes.n_votes)


def test_votes_stay_inside_groups_and_irrelevant_features_do_nothing():
    made = synthetic.votes(60, 500, n_groups=5, n_features=6, n_relevant=2, function="linear")
    votes = made.comparisons
    assert (votes.items.groups[votes.left] == votes.items.groups[votes.right]).all()
    assert len(set(votes.items.groups)) == 5
    features = np.column_stack([votes.items.features, np.ones(60)])
    weights, *_ = np.linalg.lstsq(features, made.scores, rcond=None)
    np.testing.assert_allclose(weights[2:6], 0.0, atol=1e-9)
    with pytest.raises(InputError, match="do not fill"):
        synthetic.votes(3, 10, n_groups=2)


@pytest.mark.parametrize("coupling", [-1.0, 0.0, 1.5])
def test_threads_are_exact_draws(coupling):
    field = np.array([0.4, -0.8, 0.1, 0.6])
    states = np.array(list(product((-1, 1), repeat=4)))
    pairs = (states.sum(axis=1) ** 2 - 4) / 2
    weights = np.exp(states @ field + coupling / 3 * pairs)
    rng, n = np.random.default_rng(0), 4000
    draws = np.array([sample_ising(rng, field, coupling) for _ in range(n)])
    for state, chance in zip(states, weights / weights.sum(), strict=True):
        assert near((draws == state).all(axis=1).mean(), chance, n)


def test_threads_of_one_comment_and_of_many_work():
    made = synthetic.threads(3, low=1, high=1)
    assert made.threads.n_comments == 3
    long = synthetic.threads(1, low=300, high=300, coupling=2.0)
    assert set(long.threads.labels) <= {"Good", "Bad"}
    np.testing.assert_allclose(long.field, long.features @ long.weights)
    with pytest.raises(InputError, match="low"):
        synthetic.threads(low=0)


def test_ranks_agree_where_they_are_said_to():
    made = synthetic.aspect_ratings(4000, n_aspects=4, missing=0.1)
    equal = (made.complete == made.complete[:, :1]).all(axis=1)
    assert equal[made.agrees].all()
    assert equal[~made.agrees].mean() < 0.1
    assert near(made.agrees.mean(), 0.5, 4000)
    shares = np.bincount(made.complete[made.agrees, 0], minlength=6)[1:] / made.agrees.sum()
    np.testing.assert_allclose(shares, 0.2, atol=0.06)  # the chance of agreeing leans on the features
    left_out = made.ratings.ranks == 0
    assert near(left_out.mean(), 0.1, left_out.size)
    assert (made.ratings.ranks[~left_out] == made.complete[~left_out]).all()


def test_links_join_the_labels_that_they_say():
    made = synthetic.linked_texts(20, 30, same_share=0.8)
    label = dict(zip(made.items.ids, made.labels, strict=True))
    group = dict(zip(made.items.ids, made.items.groups, strict=True))
    ends = list(zip(made.links.source, made.links.target, strict=True))
    np.testing.assert_array_equal([label[s] == label[t] for s, t in ends], made.same)
    assert all(group[s] == group[t] for s, t in ends)
    assert near(made.same.mean(), 0.8, len(ends))


def test_texts_lean_to_their_label():
    made = synthetic.linked_texts(20, 30, content_signal=0.4, n_words=30)
    second = set(made_up_words(60)[30:])
    lean = np.array([np.mean([word in second for word in text.split()]) for text in made.items.texts])
    assert near(lean[made.labels == "Y"].mean(), 0.7, 30 * (made.labels == "Y").sum())
    assert near(lean[made.labels == "N"].mean(), 0.3, 30 * (made.labels == "N").sum())


def test_tags_are_exact_draws():
    inside = np.array([0.5, -1.0, 2.0, 0.2])
    transition = np.array([[0.1, -1.0], [-0.4, 0.7]])
    states = np.array(list(product((0, 1), repeat=4)))
    padded = np.pad(states, ((0, 0), (1, 1)))
    weights = np.exp(states @ inside + transition[padded[:, :-1], padded[:, 1:]].sum(axis=1))
    n = 8000
    draws = sample_tags(np.random.default_rng(0), np.tile(inside, (n, 1)), transition)
    for state, chance in zip(states, weights / weights.sum(), strict=True):
        assert near((draws == state).all(axis=1).mean(), chance, n)


def test_highlights_are_the_tags():
    made = synthetic.texts_with_rationales(50)
    assert 0.02 < made.tags.mean() < 0.3
    for place, spans in enumerate(made.rationales.per_item()):
        tokens, places = whitespace_tokens(made.items.texts[place])
        assert tokens == [made.words[t] for t in made.tokens[place]]
        np.testing.assert_array_equal(inside_tags(spans, places), made.tags[place])
    assert made.rationales.annotated.all()


def test_words_say_the_class_and_highlights_mark_those_words():
    made = synthetic.texts_with_rationales(400)
    evidence = made.theta[made.tokens].sum(axis=1)
    assert np.mean(np.sign(evidence) == made.labels) > 0.75
    pull = made.labels[:, None] * made.theta[made.tokens]
    assert pull[made.tags].mean() > 3 * abs(pull[~made.tags].mean())
    with pytest.raises(InputError, match="even"):
        synthetic.texts_with_rationales(n_words=3)


def test_a_file_of_votes_is_the_same_whatever_the_memory(tmp_path):
    path = synthetic.votes_csv(tmp_path / "a.csv", 2500, n_items=50, n_voters=9, block=1000)
    frame = pd.read_csv(path)
    assert list(frame.columns) == ["left", "right", "value", "annotator_id"]
    votes = Comparisons.from_table(frame)
    assert votes.n_votes == 2500
    assert set(votes.value) == {0.0, 0.5, 1.0}
    again = synthetic.votes_csv(tmp_path / "b.csv", 2500, n_items=50, n_voters=9, block=1000)
    assert path.read_bytes() == again.read_bytes()


def test_a_bad_row_is_where_it_was_put(tmp_path):
    path = synthetic.votes_csv(tmp_path / "bad.csv", 2500, n_items=50, bad_row=1700, block=1000)
    with pytest.raises(InputError, match="row 1700 compares"):
        Comparisons.from_table(pd.read_csv(path))
