"""The tables of the floor debates, on the corpus."""

import numpy as np
import pytest

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
def test_one_fold_of_the_papers_recipe(accord_data):
    from accord.links.paper.conditions import paper_data
    from accord.links.paper.folds import beyond, paper_recipe

    condition = paper_data(convote.load(accord_data))
    # The check figures of the corpus: instances, linked pairs, share of pairs that agree, connected instances.
    assert (len(condition.codes), condition.pairs.n_pairs) == (1699, 1549)
    assert round(100 * float(condition.same.mean()), 1) == 79.0
    assert int(condition.pairs.connected.sum()) == 1171
    train, test = next(iter(repeated_group_folds(condition.debates, n_folds=10, n_repeats=1)))
    outcomes = paper_recipe(condition, train, test, 0) | beyond(condition, train, test, 0)
    assert all(len(outcome.right) == len(test) for outcome in outcomes.values())
    accuracy = {name: float(np.mean(outcome.right)) for name, outcome in outcomes.items()}
    assert accuracy["mean_field"] > accuracy["majority"]
    assert accuracy["local_window"] > accuracy["content"]
    assert accuracy["chosen"] > accuracy["majority"]


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
    ]
