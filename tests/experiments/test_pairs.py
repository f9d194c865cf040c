import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.data.corpora import convarg
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.estimators.pair_baselines import LongerTextRanker
from accord.experiments.pairs import to_rows
from accord.experiments.pairs.active import gram_of, simulate
from accord.experiments.pairs.crowd import majority
from accord.experiments.pairs.folds import classification, ranking, split
from accord.experiments.pairs.methods import answers


def test_majority_counts_votes_and_leaves_draws_undecided():
    items = Items(["a", "b", "c"])
    left, right = np.array([0, 0, 0, 1, 1]), np.array([1, 1, 1, 2, 2])
    votes = Comparisons(items, left, right, np.array([1.0, 1.0, 0.0, 1.0, 0.0]))
    assert majority(votes).value.tolist() == [1.0, 0.5]


def test_metrics_of_perfect_and_useless_answers():
    truth = np.array([1.0, 0.0, 1.0])
    assert classification(truth, truth)["accuracy"] == 1.0
    assert_allclose(classification(truth, np.full(3, 0.5))["cee"], np.log(2))
    assert ranking(np.arange(4.0), np.zeros(4))["spearman"] == 0.0


def test_rows_are_means_over_folds_with_the_papers_figure():
    folds = [{("strict", "gppl_median"): {"accuracy": 0.7}}, {("strict", "gppl_median"): {"accuracy": 0.9}}]
    (row,) = to_rows(folds, [])
    assert (row.paper, row.n) == (0.79, 2)
    assert_allclose(row.ours, 0.8)


@pytest.mark.corpora
def test_the_longer_text_wins_as_often_as_lengths_say(accord_data):
    corpus = convarg.load()
    length = np.array([len(text) for text in corpus.items.texts])
    for name in np.unique(corpus.folds)[:2]:
        fold = split(corpus, str(name), "glove")
        votes = fold.train(corpus.strict)
        assert not set(votes.items.ids) & set(fold.test_items.ids)
        p, score = answers(LongerTextRanker().fit(*votes.xy(), items=votes.items), fold)
        longer = length[fold.test.left] > length[fold.test.right]
        assert_allclose(p > 0.5, longer)
        assert ranking(fold.gold, score)["spearman"] > 0.3


@pytest.mark.corpora
def test_active_learning_beats_chance_after_fifty_votes(accord_data):
    corpus = convarg.load()
    fold = split(corpus, str(np.unique(corpus.folds)[0]), "glove")
    reached = simulate(fold, gram_of(fold), strategy="bald", seed=0, checkpoints=(50,))
    assert reached[50]["accuracy"] > 0.6


@pytest.mark.corpora
def test_reproduce_puts_folds_and_active_learning_together(accord_data, monkeypatch):
    import accord.experiments.pairs as experiment

    monkeypatch.setattr(
        experiment,
        "fold_results",
        lambda corpus, name, slow, quick: {("strict", "gppl"): {"cee": 0.4, "accuracy": 0.8}},
    )
    monkeypatch.setattr(experiment, "active_results", lambda corpus, name, quick: {("bald", 50): [0.7, 0.8]})
    seen = []
    rows = experiment.reproduce(quick=True, progress=lambda *report: seen.append(report))
    assert [(row.table, row.row, row.metric, row.n) for row in rows] == [
        ("strict", "gppl", "cee", 3),
        ("strict", "gppl", "accuracy", 3),
        ("active", "gppl@50", "accuracy", 2),
    ]
    assert seen[-1] == ("active learning", 1, 1)
