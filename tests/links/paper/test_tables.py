"""The tables of the floor debates, on the corpus."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from accord.data.corpora import convote
from accord.evaluation.splits import repeated_group_folds


@pytest.mark.corpora
def test_official_minimum_cuts_to_the_second_decimal(accord_data):
    from accord.links.paper.official import official_rows

    rows = official_rows(convote.load(accord_data))
    published = [row for row in rows if row.paper is not None]
    assert len(published) == 14
    for row in published:
        assert round(row.ours, 2) == row.paper, row


@pytest.mark.corpora
@pytest.mark.slow
def test_rows_of_a_fold_are_the_exported_classifiers(accord_data):
    from accord import CollectiveClassifier, IterativeClassifier
    from accord.links.features.stance import window_words
    from accord.links.paper.conditions import paper_data
    from accord.links.paper.folds import beyond, paper_recipe

    condition = paper_data(convote.load(accord_data))
    # The check figures of the corpus: instances, linked pairs, share of pairs that agree, connected instances.
    same = condition.labels[condition.pairs.ends[:, 0]] == condition.labels[condition.pairs.ends[:, 1]]
    assert (len(condition.labels), condition.pairs.n_pairs) == (1699, 1549)
    assert round(100 * float(same.mean()), 1) == 79.0
    assert int(condition.pairs.connected.sum()) == 1171
    train, test = next(iter(repeated_group_folds(condition.debates, n_folds=10, n_repeats=1)))
    outcomes = paper_recipe(condition, train, test, 0) | beyond(condition, train, test, 0)
    accuracy = {name: float(np.mean(outcome.right)) for name, outcome in outcomes.items()}
    assert accuracy["mean_field"] > accuracy["majority"]
    assert accuracy["local_window"] > accuracy["content"]

    def told(features, at):
        return {"ids": condition.ids[at], "groups": condition.debates[at], "links": condition.links, "X": features[at]}

    truth, rows = condition.labels[test], np.arange(len(test))
    # The default, the paper's mean field and an iterative row, by the exported classes alone, with rows shuffled.
    mixed = np.random.default_rng(0).permutation(train)
    default = CollectiveClassifier(link_vectoriser=window_words(token_pattern=r"\S+"))
    default.fit(y=condition.labels[mixed], **told(condition.stance, mixed))
    p = default.predict_proba(**told(condition.stance, test))
    np.testing.assert_allclose(-np.log(p[rows, (truth == "Y").astype(int)]), outcomes["best"].log_loss, atol=1e-6)
    machine = LinearSVC(loss="hinge", max_iter=20_000, random_state=0)
    paper = CollectiveClassifier(
        inference="mean_field", content=machine, link=machine, implicit=0, agreement_strength=0.0, coupling=1.0,
        recalibrate=False,
        link_vectoriser=make_pipeline(CountVectorizer(binary=True, token_pattern=r"\S+"), Normalizer()),
    )  # fmt: skip
    paper.fit(y=condition.labels[train], **told(condition.presence, train))
    p = paper.predict_proba(**told(condition.presence, test))
    found = -np.log(np.clip(p[rows, (truth == "Y").astype(int)], 1e-12, 1.0))
    np.testing.assert_allclose(found, outcomes["mean_field"].log_loss, atol=1e-9)
    count = IterativeClassifier(features="count", training="true", scale=1.0, content=machine, token_pattern=r"\S+")
    count.fit(y=condition.labels[train], **told(condition.presence, train))
    right = count.predict(**told(condition.presence, test)) == truth
    np.testing.assert_array_equal(right, outcomes["iterative_count"].right)


def test_tables_average_the_folds_that_have_such_texts():
    from accord.links.paper.folds import Outcome
    from accord.links.paper.tables import _accuracies, _table

    every = np.ones(2, dtype=bool)
    folds = [
        ({"all": every, "isolated": np.array([True, False])}, {"best": Outcome(np.array([True, False]))}),
        ({"all": every, "isolated": ~every}, {"best": Outcome(np.array([True, True]))}),
    ]
    assert _accuracies(folds, "best", "all").tolist() == [50.0, 100.0]
    assert _accuracies(folds, "best", "isolated").tolist() == [100.0]
    assert [(row.metric, row.ours, row.n) for row in _table("collective", folds)] == [
        ("all", 75.0, 2),
        ("isolated", 100.0, 1),
        ("deviation", pytest.approx(35.355, abs=1e-3), 2),
    ]


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(tmp_path):
    from types import SimpleNamespace

    from accord.evaluation.resume import FinishedParts
    from accord.links.paper.folds import Outcome
    from accord.links.paper.tables import _run

    debates = np.repeat([f"d{k}" for k in range(10)], 2)
    condition = SimpleNamespace(
        debates=debates, speakers=np.arange(20).astype(str), pairs=SimpleNamespace(connected=np.ones(20, dtype=bool))
    )
    begun = []

    def part(condition, train, test, seed):
        begun.append(seed)
        if begun.count(2) == 1 and seed == 2:
            raise KeyboardInterrupt
        return {"best": Outcome(test % 3 == 0, np.full(len(test), 0.1 * seed)), "cut": Outcome(test % 2 == 0)}

    def run(kept):
        return _run(condition, (part,), 4, "debates", lambda *_: None, 1, kept)

    kept = FinishedParts(tmp_path / "links")
    with pytest.raises(KeyboardInterrupt):
        run(kept)
    found = run(kept)
    assert begun == [0, 1, 2, 2, 3]
    plain = run(FinishedParts())
    for (_, ours), (_, theirs) in zip(found, plain, strict=True):
        for name in ("best", "cut"):
            np.testing.assert_array_equal(ours[name].right, theirs[name].right)
        np.testing.assert_array_equal(ours["best"].log_loss, theirs["best"].log_loss)
        assert ours["cut"].log_loss is None
