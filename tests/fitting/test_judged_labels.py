"""Labels of judges: tables are recovered, useless judges change nothing, and soft labels are calibrated."""

import numpy as np
from numpy.testing import assert_allclose

from accord.fitting.judged_labels import judged_labels


def problem(seed, *, n_items=600, n_labelled=150, skill=(0.8, 0.7, 0.75), copies=0, n_labels=3):
    """Truth, people's counts on the first texts, and labels of judges; ``copies`` repeat the first judge exactly."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_labels, n_items, p=[0.5, 0.3, 0.2])
    people = np.zeros((n_items, n_labels))
    people[np.arange(n_labelled), truth[:n_labelled]] = 1.0
    said = [np.where(rng.random(n_items) < chance, truth, rng.integers(0, n_labels, n_items)) for chance in skill]
    said += [said[0]] * copies
    item, judge = np.tile(np.arange(n_items), len(said)), np.repeat(np.arange(len(said)), n_items)
    return truth, people, item, judge, np.concatenate(said)


def loss(found, truth, rows):
    return float(-np.mean(np.log(found.soft[rows, truth[rows]])))


def test_tables_and_labels_are_recovered():
    truth, people, item, judge, label = problem(0, n_labelled=300)
    found = judged_labels(people, item, judge, label, np.arange(3))
    assert_allclose(found.confusion.sum(axis=2), 1.0)
    assert_allclose(found.confusion[0, 0, 0], 0.8 + 0.2 / 3, atol=0.08)
    right = np.stack([skill * np.eye(3) + (1.0 - skill) / 3 for skill in (0.8, 0.7, 0.75)])
    assert 0.75 < np.mean((found.low <= right) & (right <= found.high)) <= 1.0
    rest = np.arange(300, 600)
    assert np.mean(found.soft[rest].argmax(axis=1) == truth[rest]) > 0.9
    assert_allclose(found.soft[:300].argmax(axis=1), truth[:300])
    sure = found.soft[rest].max(axis=1)
    hits = found.soft[rest].argmax(axis=1) == truth[rest]
    assert abs(sure.mean() - hits.mean()) < 0.05  # as often right as they say


def test_useless_judges_change_nothing():
    for seed in range(5):
        truth, people, item, judge, label = problem(seed, skill=(0.0, 0.0))
        found = judged_labels(people, item, judge, label, np.arange(2))
        assert found.power == 0.0 or loss(found, truth, np.arange(150, 600)) < 1.05
        assert found.soft[150:].max() < 0.75


def test_copies_of_a_judge_are_not_more_evidence():
    truth, people, item, judge, label = problem(1, skill=(0.7,), copies=7)
    rest = np.arange(150, 600)
    apart = judged_labels(people, item, judge, label, np.arange(8))  # nobody said that they are one family
    assert apart.power <= 0.25
    family = judged_labels(people, item, judge, label, np.zeros(8, dtype=np.int64))
    alone = judged_labels(people, item[:600], judge[:600], label[:600], np.zeros(1, dtype=np.int64))
    assert_allclose(loss(family, truth, rest), loss(alone, truth, rest), atol=0.02)
    assert loss(apart, truth, rest) < loss(alone, truth, rest) + 0.05


def test_without_people_or_without_judges_there_is_only_the_prior():
    none = np.zeros(0, dtype=np.int64)
    found = judged_labels(np.eye(2), none, none, none, none)
    assert_allclose(found.soft, np.eye(2))
    _, people, item, judge, label = problem(2)
    found = judged_labels(np.zeros_like(people), item, judge, label, np.arange(3))
    assert found.power == 0.0
    assert_allclose(found.soft, found.prior[None].repeat(len(people), axis=0))
