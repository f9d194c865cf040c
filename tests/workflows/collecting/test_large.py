"""A project of very many texts: the model sees those with votes and some others, whatever the number of texts."""

import random

import numpy as np
import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.pairs.stability import pieces
from accord.store import questions, scores
from accord.workflows.collecting import large
from accord.workflows.collecting.large import parts
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import store_project


def project_of(n, votes, groups=None):
    items = {"item_id": [f"t{i}" for i in range(n)], "text": [f"A text about {i % 7} things." for i in range(n)]}
    if groups is not None:
        items["group_id"] = [f"g{i // groups}" for i in range(n)]
    rows = {
        "judgement_id": [f"j{k}" for k in range(len(votes))], "kind": ["pair"] * len(votes),
        "item_id": [f"t{a}" for a, _ in votes], "other_id": [f"t{b}" for _, b in votes], "value": ["1"] * len(votes),
    }  # fmt: skip
    return Project("pairs", with_schema(items, ITEMS), with_schema(rows, JUDGEMENTS))


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(large, "_MOST_TEXTS", 100)
    monkeypatch.setattr(large, "_OTHERS", 20)
    monkeypatch.setattr(large, "_MOST_READ", 30)


def test_a_small_project_and_one_without_votes_are_seen_whole(small_limits):
    for project in (project_of(100, [(0, 1)]), project_of(300, [])):
        part = parts(project)
        assert part.seen is project
        assert part.ranked is project
        assert part.n_left_out == 0
        assert part.settings == {}


@pytest.mark.parametrize("groups", [None, 4])
def test_of_many_texts_those_with_votes_and_some_others_are_seen(small_limits, groups):
    votes = [(0, 2), (2, 3), (40, 41)]
    part = parts(project_of(300, votes, groups))
    assert set(part.ranked.items().ids) == {"t0", "t2", "t3", "t40", "t41"}
    assert part.n_left_out == 295
    seen = part.seen.items()
    assert seen.n_items == 25
    assert part.seen.comparisons().n_votes == part.ranked.comparisons().n_votes == 3
    if groups is not None:  # whole groups, those of texts with votes first
        assert {"t1", "t42", "t43"} <= set(seen.ids)
        counts = np.unique(seen.groups, return_counts=True)[1]
        assert (counts == 4).sum() >= counts.size - 1


def test_of_many_texts_with_votes_the_words_are_not_read(small_limits):
    assert parts(project_of(300, [(i, i + 1) for i in range(40)])).settings == {"features": None}


def test_a_refit_of_many_texts_ranks_those_with_votes_and_asks_about_all(small_limits, database):
    key = store_project(database, project_of(300, [(i, i + 1) for i in range(12)]), name="Many", created_by=None)
    done = refit(database, key, rng=random.Random(0))
    assert done.fitted.model.items_.n_items == 33
    with database.read() as c:
        found = scores.get_scores(c, key)
        assert questions.count_open(c, [key])[key] == 120
    assert found.n_rows == 13
    assert found.result["summary"]["left_out"] == 287
    assert found.result["summary"]["missing_joins"] == 0


@pytest.mark.parametrize("groups", [None, 3, 8])
def test_missing_joins_are_those_counted_group_by_group(groups):
    rng = np.random.default_rng(0)
    for _ in range(20):
        pairs = [rng.choice(24, size=2, replace=False).tolist() for _ in range(12)]
        votes = project_of(24, pairs, groups).comparisons()
        joined = {i: {i} for i in range(24)}
        for a, b in pairs:
            whole = joined[a] | joined[b]
            for i in whole:
                joined[i] = whole
        names = np.zeros(24) if groups is None else np.arange(24) // groups
        expected = sum(len({id(joined[i]) for i in np.flatnonzero(names == g)}) - 1 for g in np.unique(names))
        assert pieces(votes) == expected
