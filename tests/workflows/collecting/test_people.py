import pytest

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.evaluation.agreement import wilson
from accord.workflows.collecting.people import annotators


def project(rows):
    ids = sorted({row[1] for row in rows} | {row[2] for row in rows})
    columns = {
        "kind": ["pair"] * len(rows),
        "annotator_id": [row[0] for row in rows],
        "item_id": [row[1] for row in rows],
        "other_id": [row[2] for row in rows],
        "value": [row[3] for row in rows],
        "shown_left_id": [row[4] for row in rows],
        "response_ms": [row[5] for row in rows],
    }
    return Project("pairs", with_schema({"item_id": ids, "text": ids}, ITEMS), with_schema(columns, JUDGEMENTS))


def test_agreement_left_share_and_time_of_each_person():
    rows = [
        ("ann", "a", "b", "1", "a", 2000),
        ("bob", "b", "a", "0", "b", 3000),  # the same vote, told the other way round
        ("cid", "a", "b", "0", "a", 100),
        ("ann", "a", "c", "1", "c", 4000),  # nobody else saw this pair
    ]
    found = {person.name: person for person in annotators(project(rows))}
    assert found["ann"].n_answers == 2
    assert found["ann"].n_shared == 1
    # Of the two others on (a, b), bob agrees with ann and cid does not: a tie, counted as one half.
    assert found["ann"].agreement == 0.5
    assert found["cid"].agreement == 0.0
    # ann chose a, shown left, then a, shown right.
    assert found["ann"].left_share == 0.5
    assert found["bob"].left_share == 0.0
    assert found["cid"].fast_share == 1.0
    assert found["ann"].median_ms == 3000


def test_an_answer_about_many_aspects_has_one_time():
    columns = {
        "kind": ["score"] * 6,
        "annotator_id": ["ann"] * 6,
        "item_id": ["a", "b", "c", "c", "c", "c"],
        "aspect": ["food", "food", "food", "room", "price", "staff"],
        "value": ["3"] * 6,
        "created_at": ["2026-01-01T10:00:00", "2026-01-01T10:01:00", *["2026-01-01T10:02:00"] * 4],
        "response_ms": [2000, 3000, *[600] * 4],
    }
    texts = with_schema({"item_id": ["a", "b", "c"], "text": ["a", "b", "c"]}, ITEMS)
    (ann,) = annotators(Project("aspects", texts, with_schema(columns, JUDGEMENTS)))
    assert ann.n_answers == 3
    assert ann.median_ms == 2000
    assert ann.fast_share == pytest.approx(1 / 3)


def test_nothing_is_said_where_nothing_can_be_said():
    (only,) = annotators(project([("ann", "a", "b", "0.5", None, None)]))
    assert (only.agreement, only.left_share, only.median_ms) == (None, None, None)


def test_wilson_interval_matches_a_published_example():
    # Newcombe 1998, Statistics in Medicine 17, table I: 81 of 263 gives .2553 to .3662.
    low, high = wilson(81 / 263, 263)
    assert low == pytest.approx(0.2553, abs=5e-5)
    assert high == pytest.approx(0.3662, abs=5e-5)
