"""What people answer is stored once, as they meant it, about the texts they were shown."""

import uuid

import pytest
from sqlalchemy import select

from accord.store import judgements, projects
from accord.store.tables import judgements as table
from accord.studio.app import create_app
from accord.studio.security import Passwords


@pytest.fixture
def asked(studio):
    """A judge with a question about two texts."""
    owner = studio.person()
    project = studio.project(owner)
    client = studio.client(owner)
    question = client.post(f"/api/projects/{project}/questions/next").json()
    left, right = (text["key"] for text in question["texts"])

    def send(**body):
        body = {"request_id": uuid.uuid4().hex, "kind": "pair", "item": left, "other": right, "value": 1.0, **body}
        return client.post(f"/api/projects/{project}/judgements", json=body)

    return studio, project, client, question, send


def rows(studio, project):
    with studio.database.read() as c:
        return c.execute(select(table).where(table.c.project_id == project).order_by(table.c.id)).all()


def test_the_token_of_an_open_page_is_good_after_a_restart(studio):
    person = studio.person(password="a long password")
    client = studio.client()
    token = client.post("/api/sessions", json={"name": person.name, "password": "a long password"}).json()["csrf"]
    again = studio.client()
    again.app = create_app(studio.database, passwords=Passwords(fast=True))  # the server is started anew
    again.cookies = client.cookies
    page = again.get("/").text
    assert f'content="{token}"' in page
    assert again.get("/api/sessions/current").json()["csrf"] == token


def test_an_answer_about_other_texts_than_its_question_is_refused(asked):
    studio, project, _, question, send = asked
    with studio.database.read() as c:
        others = [item.key for item in projects.find_items(c, project)[0]]
    asked_about = {text["key"] for text in question["texts"]}
    item, other = [key for key in others if key not in asked_about][:2]
    answer = send(item=item, other=other, question_id=question["question_id"])
    assert answer.status_code == 422
    assert "texts of its question" in answer.json()["detail"]
    assert rows(studio, project) == []
    assert send(question_id=question["question_id"]).status_code == 201
    assert rows(studio, project)[0].strategy == "random"


def test_how_a_question_was_chosen_is_kept_only_for_whom_it_was_asked(asked):
    studio, project, _, question, _ = asked
    other = studio.person()
    studio.join(project, other, "judge")
    item, second = (text["key"] for text in question["texts"])
    body = {"request_id": uuid.uuid4().hex, "kind": "pair", "item": item, "other": second, "value": 0.0}
    sent = {**body, "question_id": question["question_id"]}
    assert studio.client(other).post(f"/api/projects/{project}/judgements", json=sent).status_code == 201
    (row,) = rows(studio, project)
    assert (row.person_id, row.strategy, row.propensity) == (other.id, None, None)


def test_an_answer_to_a_question_that_is_gone_is_kept(asked):
    *_, send = asked
    assert send(question_id=10**9).json()["new_rows"] == 1


SPAN = {"start": 0, "end": 2}


@pytest.mark.parametrize("change", [{"value": 0.0}, {"kind": "skip"}, {"spans": [SPAN]}])
def test_a_reused_request_id_with_another_answer_is_refused(asked, change):
    studio, project, _, question, send = asked
    if "spans" in change:
        change = {"spans": [{**SPAN, "item": question["texts"][0]["key"]}]}
    assert send(request_id="the-same-name").json()["new_rows"] == 1
    assert send(request_id="the-same-name").json()["new_rows"] == 0  # sent again: acknowledged as before
    refused = send(request_id="the-same-name", **change)
    assert refused.status_code == 422
    assert "stored with another one" in refused.json()["detail"]
    assert len(rows(studio, project)) == 1


def test_somebody_elses_request_id_does_not_swallow_an_answer(asked):
    studio, project, _, question, send = asked
    other = studio.person()
    studio.join(project, other, "judge")
    assert send(request_id="the-same-name").status_code == 201
    item, second = (text["key"] for text in question["texts"])
    body = {"request_id": "the-same-name", "kind": "pair", "item": item, "other": second, "value": 1.0}
    assert studio.client(other).post(f"/api/projects/{project}/judgements", json=body).status_code == 422


def test_an_undo_that_is_sent_again_undoes_nothing_else(asked):
    studio, project, client, _, send = asked
    for name in ("first-answer", "second-answer", "third-answer"):
        assert send(request_id=name).status_code == 201
    for _ in range(3):
        undone = client.post(f"/api/projects/{project}/undo", json={"request_id": "the-undo-wish"})
        assert undone.json()["undone"] == "third-answer"
    with studio.database.read() as c:
        kept = [row["request_id"] for row in judgements.export_rows(c, project)]
    assert kept == ["first-answer", "second-answer"]
    taken = client.post(f"/api/projects/{project}/undo", json={"request_id": "first-answer"})
    assert taken.status_code == 422


@pytest.mark.parametrize("kind", ["pair", "skip"])
def test_a_skip_and_a_vote_name_only_texts_of_their_own(asked, kind):
    studio, project, _, _, send = asked
    stranger = studio.person()
    hidden = studio.project(stranger)
    with studio.database.read() as c:
        foreign = projects.find_items(c, hidden)[0][0].key
    for shown_left in (foreign, 10**12):
        answer = send(kind=kind, shown_left=shown_left, skip_reason="other" if kind == "skip" else None)
        assert answer.status_code == 422
    assert rows(studio, project) == []
