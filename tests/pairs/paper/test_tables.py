from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord import PreferenceRanker
from accord.data.corpora import convarg
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.evaluation.tables import Row
from accord.pairs.baselines import LongerTextRanker
from accord.pairs.paper.active import cold_setting, prepare_setting, simulate
from accord.pairs.paper.ard import length_scale_ratios
from accord.pairs.paper.folds import classification, errors, ranking, some_folds, split
from accord.pairs.paper.methods import answers, gppl
from accord.pairs.paper.pictures import draw_active_learning, draw_scaling, draw_toy_graphs
from accord.pairs.paper.results import to_rows
from accord.pairs.paper.toy import simulate_graph
from accord.pairs.voters import majority

_ACTIVE = ("gppl", "random", "transfer", "uncertainty")
_CURVES = ("items", "items_svi", "points", "features")
_MEASURED = ("seconds", "accuracy")


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


def test_errors_tell_sure_answers_from_unsure_ones_and_long_winners_from_short_ones():
    texts = ["aaaa", "aa", "a"]
    items = Items(["x", "y", "z"], texts=texts)
    # x beats y (the longer), z beats x (the shorter), y beats z (the longer)
    votes = Comparisons(items, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 0.0, 1.0]))
    fold = SimpleNamespace(test=votes, corpus=SimpleNamespace(items=items))
    found = errors(fold, np.array([0.5 + 0.5 - 1e-9, 0.5 + 1e-9, 0.75]))
    assert_allclose(found["accuracy_longer"], 1.0)
    assert_allclose(found["accuracy_shorter"], 0.0)
    assert_allclose(found["entropy_wrong"], 1.0)
    assert_allclose(found["entropy_right"], 0.5 * (0.75 * np.log2(4 / 3) + 0.25 * 2), atol=1e-6)
    assert "entropy_wrong" not in errors(fold, np.array([0.9, 0.1, 0.9]))


def test_rows_are_means_over_folds_with_the_papers_figure():
    folds = {"a": {("strict", "gppl_median"): {"accuracy": 0.7}}, "b": {("strict", "gppl_median"): {"accuracy": 0.9}}}
    (row,) = to_rows(folds)
    assert (row.paper, row.n) == (0.79, 2)
    assert_allclose(row.ours, 0.8)


def test_rows_are_tested_on_the_folds_that_both_have():
    folds = {
        f"fold{k}": {("strict", "gppl"): {"cee": 0.4 + 0.01 * k}, ("strict", "longer"): {"cee": 0.5 + 0.02 * k}}
        for k in range(8)
    }
    del folds["fold0"]["strict", "longer"]
    (test,) = [row for row in to_rows(folds) if row.table == "significance"]
    assert (test.row, test.metric, test.n) == ("gppl~longer", "strict/cee", 7)
    # Seven differences of one sign: 2 / 2⁷.
    assert_allclose(test.ours, 2 / 128)


def test_length_scales_are_reported_by_group():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 5))
    items = Items([f"i{k:02d}" for k in range(30)], features=x, feature_groups={"a": slice(0, 2), "b": slice(2, 5)})
    left, right = rng.integers(0, 15, 200), rng.integers(15, 30, 200)
    votes = Comparisons(items, left, right, (x[left, 0] > x[right, 0]).astype(float))
    model = PreferenceRanker(kernel="matern_product", combine="product", ard=True, item_effects=False, max_iter=3)
    ratio = length_scale_ratios(model.fit(*votes.xy(), items=items))
    assert {name: part.size for name, part in ratio.items()} == {"a": 2, "b": 3}
    assert ratio["a"][0] == min(ratio["a"].min(), ratio["b"].min())


def test_curves_are_drawn_from_rows(tmp_path):
    rows = [Row("active", f"{name}@{n}", "accuracy", None, 0.7, 0.6, 0.8, 4) for name in _ACTIVE for n in (50, 100)]
    rows += [Row("scaling", f"{name}@{n}", m, None, 1, 1, 1, 1) for name in _CURVES for n in (1, 2) for m in _MEASURED]
    for draw in (draw_active_learning, draw_scaling):
        assert draw(rows, tmp_path / "picture.svg").read_text().lstrip().startswith("<?xml")


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
def test_some_folds_are_a_corpus_of_their_own(accord_data):
    corpus = convarg.load()
    names = np.unique(corpus.folds.astype(str))[[3, 20]]
    few = some_folds(corpus, names)
    whole, part = split(corpus, names[1], "glove"), split(few, names[1], "glove")
    assert part.test_items.ids.tolist() == whole.test_items.ids.tolist()
    assert_allclose(part.gold, whole.gold)
    assert part.test.xy()[0].equals(whole.test.xy()[0])
    inside = corpus.folds[corpus.crowd_full.left] == names[0]
    assert part.train(few.crowd_full).n_votes == inside.sum()


@pytest.mark.corpora
def test_a_fold_of_the_experiment_is_the_exported_class(accord_data):
    corpus = convarg.load()
    names = np.unique(corpus.folds)
    fold = split(corpus, str(names[0]), "glove")
    votes = fold.train(corpus.crowdsample)
    few = votes.subset(np.isin(votes.groups.astype(str), np.unique(votes.groups.astype(str))[:3]))
    theta = PreferenceRanker(ties="half", ard=False, max_iter=2, tol=1.0).learn_hyperparameters(
        *few.xy(), items=few.items
    )
    p, score = answers(gppl(fold, few, theta, ties="margin"), fold)
    # What a user writes, with the features as a table of their own and the votes in another order.
    order = np.random.default_rng(0).permutation(few.n_votes)
    X, y = few.xy()
    own = PreferenceRanker(hyperparameters=theta, ties="margin", ard=False)
    own.fit(X.iloc[order], y[order], items=few.items, annotator=few.annotators[few.annotator][order])
    pairs = fold.test.xy()[0]
    three = own.predict_proba(pairs, items=fold.items)
    assert_allclose(three[:, 2] / (three[:, 0] + three[:, 2]), p, atol=1e-9)
    assert_allclose(own.score_items(fold.test_items), score, atol=1e-9)


@pytest.mark.corpora
def test_active_learning_beats_chance_after_fifty_votes(accord_data):
    corpus = convarg.load()
    setting = prepare_setting(split(corpus, str(np.unique(corpus.folds)[0]), "glove"))
    for strategy in ("random", "bald", "transfer"):
        assert simulate(setting, strategy=strategy, seed=0, checkpoints=(50,))[50]["accuracy"] > 0.6
    cold = cold_setting(setting.fold)
    assert len(cold.pool.left) > len(setting.pool.left)
    assert simulate(cold, strategy="bald", seed=0, checkpoints=(50,))[50]["accuracy"] > 0.55


@pytest.mark.corpora
def test_small_graphs_come_out_as_in_the_paper(accord_data, tmp_path):
    corpus = convarg.load()
    plain = simulate_graph(corpus, "no cycle", n_repeats=3)
    assert plain.scores[0] > plain.scores[1]
    assert plain.scores[3] > plain.scores[4]
    cycle = simulate_graph(corpus, "single cycle", n_repeats=3)
    assert np.ptp(cycle.scores[:3]) < 0.5 * np.ptp(plain.scores[:3])
    assert_allclose(plain.probabilities + plain.probabilities.T, 1.0)
    assert draw_toy_graphs(tmp_path / "toy.svg", n_repeats=1).stat().st_size > 1000


@pytest.mark.corpora
def test_reproduce_puts_the_parts_together_and_goes_on_where_it_stopped(accord_data, monkeypatch, tmp_path):
    import accord.pairs.paper.tables as experiment
    from accord.pairs.paper.parts import Part

    monkeypatch.setenv("ACCORD_CACHE", str(tmp_path))
    made = []

    def rows(fold, learnt):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(fold.name)
        return {("strict", "gppl"): {"cee": 0.4, "accuracy": 0.8}}

    monkeypatch.setattr(experiment, "PARTS", {"first": Part(16, rows), "second": Part(32, rows)})
    monkeypatch.setattr(experiment, "split", lambda corpus, name, features: split(corpus, name, "glove"))
    seen = []
    with pytest.raises(KeyboardInterrupt):
        experiment.reproduce(quick=False, progress=lambda *report: None)
    made.pop()  # room for the one that is missing
    found = experiment.reproduce(quick=False, progress=lambda *report: seen.append(report))
    assert [(row.table, row.row, row.metric, row.n) for row in found] == [
        ("strict", "gppl", "cee", 2),
        ("strict", "gppl", "accuracy", 2),
    ]
    assert len(made) == 2
    assert seen == [("first", 1, 2), ("first", 2, 2), ("second", 1, 1)]
    assert not list(tmp_path.rglob("*.json"))
