"""Judges in the studio: apart from people in every count, described with intervals, and unable to sign in."""

import random

import pytest

from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.store import people, scores
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import store_project
from accord.workflows.projects import open_example


def kept(studio, project, owner):
    key = store_project(studio.database, project, name="Answers", created_by=owner.id)
    studio.join(key, owner, "owner")
    refit(studio.database, key, rng=random.Random(0))
    with studio.database.read() as connection:
        return key, scores.get_scores(connection, key).result


def labelled():
    """Two people label twelve texts, two judges twenty-four; about the rest the judges differ now and then."""
    rng = random.Random(0)
    rows = []
    for i in range(24):
        truth = ("good", "bad")[i % 2]
        rows += [(f"t{i}", truth, who) for who in ("ada", "ben") if i < 12]
        rows += [(f"t{i}", truth if rng.random() < 0.85 else ("bad", "good")[i % 2], who) for who in ("m-1", "n-1")]
    item, value, who = zip(*rows, strict=True)
    texts = [f"{('Fine', 'Poor')[i % 2]} text number {i}." for i in range(24)]
    items = with_schema({"item_id": [f"t{i}" for i in range(24)], "text": texts, "group_id": ["g"] * 24}, ITEMS)
    table = {"kind": ["label"] * len(rows), "item_id": item, "value": value, "annotator_id": who}
    judges = annotator_table({"annotator_id": ["m-1", "n-1"], "kind": ["judge"] * 2, "family": ["m", "n"]})
    settings = {"labels": ["bad", "good"], "mix": {"judges": 0.9}}
    return Project("links", items, with_schema(table, JUDGEMENTS), settings=settings, annotator_table=judges)


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")  # few answers of few people
def test_judges_of_pairs_are_shown_with_their_biases_and_people_apart(studio):
    owner = studio.person()
    key, result = kept(studio, open_example("answers"), owner)
    assert {row["name"] for row in result["people"]} == {"ada", "bela", "chen", "dara", "emil"}
    assert (result["judges"]["n_people"], result["judges"]["n_judges"]) == (180, 900)
    assert any("prefers the longer text" in sentence for sentence in result["judges"]["slopes"])
    page = studio.client(owner).get(f"/projects/{key}/people").text
    assert "people and judges" in page
    assert "180 answers of people and 900 of judges" in page
    assert "north-large prefers the longer text" in page
    assert "Votes as most people" in page
    assert "How steady judges are" in page
    assert all(row["again_low"] <= row["same_again"] <= row["again_high"] for row in result["judges"]["steady"])


def test_judges_of_labels_are_measured_and_people_are_asked_where_they_differ(studio):
    owner = studio.person()
    key, result = kept(studio, labelled(), owner)
    (table,) = result["judges"]["tables"]
    assert [row["n_shared"] for row in table["judges"]] == [12, 12]
    assert all(row["low"] <= row["agreement"] <= row["high"] for row in table["judges"])
    assert {row["name"] for row in result["people"]} == {"ada", "ben"}
    assert result["quality"]["overlap"] == {"2": 12}  # judges are not counted
    page = studio.client(owner).get(f"/projects/{key}/people").text
    assert "labels: judges against people" in page
    with studio.database.read() as connection:
        from accord.store.tables import questions as table

        ways = [row.strategy for row in connection.execute(table.select().where(table.c.project_id == key))]
    assert ways.count("judges") >= 1


def test_a_judge_has_no_account_and_a_project_without_judges_says_nothing_of_them(studio):
    owner = studio.person()
    key, _ = kept(studio, labelled(), owner)
    sent = studio.client().post("/api/sessions", json={"name": "m-1", "password": "m-1-m-1-m-1"})
    assert sent.status_code == 401
    with studio.database.read() as connection:
        assert "m-1" not in {person.name for person, _ in people.members(connection, key)}
    plain, result = kept(studio, open_example("cafe-statements"), owner)
    assert result["judges"] is None
    assert "cannot sign in" not in studio.client(owner).get(f"/projects/{plain}/people").text
