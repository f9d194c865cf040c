"""The text pages of all kinds say why: the reasons come from the model that predicts, for any text, when asked."""

import random
import re

import pytest

from accord.store.scores import kept_model, results_of
from accord.studio.pages import results as pages
from accord.workflows.collecting import reasons
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import store_project
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_project

EXAMPLES = {
    "pairs": "arguments",
    "threads": "cafe-threads",
    "aspects": "cafe-reviews",
    "links": "cafe-statements",
    "rationales": "cafe-notes",
}


@pytest.fixture
def told(studio, monkeypatch):
    def make(kind):
        monkeypatch.setattr(reasons, "_MOST", 1)
        monkeypatch.setattr(reasons, "_SECONDS", 0.0)
        owner = studio.person()
        project = open_project(f"example:{EXAMPLES[kind]}", kind=kind)
        key = store_project(studio.database, project, name=f"about {kind}", created_by=owner.id)
        done = refit(studio.database, key, rng=random.Random(0))
        return key, studio.client(owner), done.fitted.model, project

    return make


@pytest.mark.parametrize("kind", EXAMPLES)
def test_any_text_is_explained_when_asked(studio, told, kind):
    key, client, model, project = told(kind)
    rows = client.get(f"/api/projects/{key}/results?limit=500").json()["rows"]
    assert sum("reasons" in row for row in rows) == 1  # the others wait until somebody asks
    row = next(row for row in reversed(rows) if "reasons" not in row)
    page = f"/projects/{key}/texts/{row['key']}"
    assert "Ask the model why" in client.get(page).text
    answer = client.post(f"/api/projects/{key}/results/{row['key']}/reasons")
    assert answer.status_code == 200, answer.text
    wanted = task_of(kind).explain(model, project, row["item_id"])
    told_of = answer.json()["reasons"]
    for what in wanted["kind"].unique():  # of each kind the strongest: votes are not hidden behind words
        strongest = list(wanted["reason"][wanted["kind"] == what])
        found = [reason for reason, _, of in told_of if of == what]
        assert found == strongest[: len(found)]
        assert len(found) >= min(3, len(strongest))
    assert answer.json()["reasons_for"] == wanted.attrs["label"]
    shown = client.get(page).text
    assert "Ask the model why" not in shown
    assert "<h2>Why</h2>" in shown
    assert shown.count("strength") >= len([effect for _, effect, _ in answer.json()["reasons"] if effect])
    with studio.database.read() as connection:
        assert results_of(connection, key, [row["key"]])[row["key"]]["reasons"] == answer.json()["reasons"]


def test_a_label_that_a_person_gave_is_never_called_the_models(told):
    key, client, _, _ = told("links")
    rows = client.get(f"/api/projects/{key}/results?limit=500").json()["rows"]
    given = next(row for row in rows if row["given"])
    client.post(f"/api/projects/{key}/results/{given['key']}/reasons")
    page = client.get(f"/projects/{key}/texts/{given['key']}").text
    assert "What people say" in page
    assert "What the model says" not in page
    assert f"People said {given['label']}. By itself the model leans to" in page
    assert "how sure" not in page
    assert "100 %" not in re.sub(r"<svg.*?</svg>", "", page)
    other = next(row for row in rows if not row["given"])
    assert "What the model says" in client.get(f"/projects/{key}/texts/{other['key']}").text


def test_a_model_that_is_too_large_is_not_kept_and_that_is_said(studio, told, monkeypatch):
    monkeypatch.setattr(reasons, "_LARGEST", 10)
    key, client, _, _ = told("links")
    with studio.database.read() as connection:
        assert kept_model(connection, key) is None
    row = client.get(f"/api/projects/{key}/results?limit=500").json()["rows"][-1]
    answer = client.post(f"/api/projects/{key}/results/{row['key']}/reasons")
    assert answer.status_code == 422
    assert "small enough to be kept" in answer.json()["detail"]
    assert client.post(f"/api/projects/{key}/results/999999/reasons").status_code == 404


def test_blind_judges_are_told_no_reasons(studio, told):
    key, client, _, _ = told("links")
    judge = studio.person()
    studio.join(key, judge, "judge")
    row = client.get(f"/api/projects/{key}/results").json()["rows"][0]
    assert studio.client(judge).post(f"/api/projects/{key}/results/{row['key']}/reasons").status_code == 403


def test_facts_and_reasons_of_a_ranked_text_are_in_plain_words():
    row = {"key": 1, "rank": 2, "rank_low": 1, "rank_high": 4, "score": 0.5, "low": 0.1, "high": 0.9, "wins": 87.4,
           "std": 0.2, "p_best": 0.25, "n_votes": 6}  # fmt: skip
    assert dict(pages._facts(row)) == {
        "rank": "2 (between 1 and 4 with 90 %)", "score": "0.50 (between 0.10 and 0.90 with 90 %)",
        "wins": "87 in 100", "chance of being best": "25 %", "votes": "6",
    }  # fmt: skip
    found = [["length:linear", 0.5, "term"], ["words:matern", -0.7, "term"], ["length:matern", 0.3, "term"],
             ["log_words", 0.2, "feature"], ["t_4", 0.1, "item"]]  # fmt: skip
    assert [[reason, round(effect, 6)] for reason, effect, _ in pages._merged(found)] == [
        ["its length", 0.8], ["its words", -0.7], ["log words", 0.2], ["t_4", 0.1],
    ]  # fmt: skip
