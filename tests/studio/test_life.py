"""The life of a project: settings, more texts, pause, archive, copy, delete."""

import io
import re
import uuid
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from accord.store import projects
from accord.store.tables import items, judgements, metadata


def new_id():
    return uuid.uuid4().hex


def patch(client, project, **changes):
    return client.patch(f"/api/projects/{project}", json=changes)


def label(client, project, key, name="Good", **more):
    body = {"request_id": new_id(), "kind": "label", "item": key, "label": name, **more}
    return client.post(f"/api/projects/{project}/judgements", json=body)


def ask(client, project):
    return client.post(f"/api/projects/{project}/questions/next").json()


@pytest.fixture
def linked(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, "links", labels=["Good", "Bad"])
    studio.join(project, judge, "judge")
    return project, studio.client(owner), studio.client(judge)


def test_labels_get_colours_keys_and_an_order_and_used_ones_stay(studio, linked):
    project, owner, judge = linked
    wanted = [{"name": "Bad", "colour": "red", "key": "b"}, {"name": "Good"}, {"name": "Ugly", "colour": "teal"}]
    settings = patch(owner, project, labels=wanted).json()["settings"]
    assert settings["labels"] == ["Bad", "Good", "Ugly"]
    page = judge.get(f"/projects/{project}/judge").text
    shown = [page.index(f'data-label="{name}"') for name in ("Bad", "Good", "Ugly")]
    assert shown == sorted(shown)
    assert 'class="colour-red" data-label="Bad" data-key="b"' in page
    assert 'data-label="Good" data-key="2"' in page
    assert label(judge, project, ask(judge, project)["texts"][0]["key"], "Bad").status_code == 201
    wrong = {
        "Bad would be gone": [{"name": "Good"}, {"name": "Ugly"}],
        "a key is one character": [{"name": "Bad", "key": "u"}, {"name": "Good"}],
        "2 to 30 labels": [{"name": "Bad"}],
        "a colour is one of": [{**row, "colour": "x"} for row in wanted],
    }
    for sentence, labels in wrong.items():
        assert sentence in patch(owner, project, labels=labels).json()["detail"]
    assert patch(judge, project, labels=wanted).status_code == 403


def test_aspects_get_names_of_scores(studio):
    owner = studio.person()
    project = studio.project(owner, "aspects", aspects=["food"], n_ranks=3)
    client = studio.client(owner)
    assert patch(client, project, aspects=["food", "noise"], scale=["low", "fair", "high"]).status_code == 200
    page = client.get(f"/projects/{project}/judge").text
    assert all(name in page for name in ("noise", "low", "fair", "high"))
    assert "3 scores and 2 names" in patch(client, project, scale=["low", "high"]).json()["detail"]
    key = ask(client, project)["texts"][0]["key"]
    body = {"request_id": new_id(), "kind": "score", "item": key, "scores": {"food": 3}}
    assert client.post(f"/api/projects/{project}/judgements", json=body).status_code == 201
    assert "at least 3" in patch(client, project, n_ranks=2, scale=[]).json()["detail"]


def test_a_paused_project_asks_nothing_and_keeps_what_was_asked_before(studio, linked):
    project, owner, judge = linked
    question = ask(judge, project)
    assert owner.post(f"/api/projects/{project}/state", json={"state": "paused"}).json()["state"] == "paused"
    again = ask(judge, project)
    assert (again["done"], "paused" in again["reason"]) == (True, True)
    held, other = question["texts"][0]["key"], question["texts"][0]["key"] + 1
    assert label(judge, project, held, question_id=question["question_id"]).status_code == 201
    refused = label(judge, project, other)
    assert (refused.status_code, "paused" in refused.json()["detail"]) == (403, True)  # the page keeps it
    owner.post(f"/api/projects/{project}/state", json={"state": "active"})
    assert label(judge, project, other).status_code == 201
    assert not ask(judge, project)["done"]
    question = ask(judge, project)
    owner.post(f"/api/projects/{project}/state", json={"state": "archived"})
    key = question["texts"][0]["key"]
    assert label(judge, project, key, question_id=question["question_id"]).status_code == 403
    assert "archived" in judge.get("/").text
    assert judge.post(f"/api/projects/{project}/state", json={"state": "active"}).status_code == 403


def test_a_quota_a_deadline_and_a_trial_end_the_asking(studio, linked):
    project, owner, judge = linked
    patch(owner, project, quota=2)
    for _ in range(2):
        question = ask(judge, project)
        label(judge, project, question["texts"][0]["key"], question_id=question["question_id"])
    assert "all 2 answers" in ask(judge, project)["reason"]
    assert not ask(owner, project)["done"]
    patch(owner, project, quota=None)
    assert not ask(judge, project)["done"]
    patch(owner, project, deadline=(datetime.now(UTC) - timedelta(minutes=1)).isoformat())
    assert "judging ended" in ask(judge, project)["reason"]
    patch(owner, project, deadline=(datetime.now(UTC) + timedelta(days=1)).isoformat())
    assert not ask(judge, project)["done"]
    assert "a deadline is written as" in patch(owner, project, deadline="soon").json()["detail"]
    patch(owner, project, who="owners")
    assert "only the owners" in ask(judge, project)["reason"]
    assert not ask(owner, project)["done"]


def upload(client, project, text, name="more.csv"):
    return client.post(f"/api/projects/{project}/items", files={"file": (name, text)})


def test_texts_are_added_later_once_and_another_text_under_an_id_is_refused(studio, linked):
    project, owner, judge = linked
    more = "item_id,text\nt0,This is text 0.\nnew,A new one.\n"
    added = upload(owner, project, more)
    assert added.json() == {"texts": 1, "known": 1, "links": 0, "judgements": 0}
    assert upload(owner, project, more).json()["texts"] == 0
    refused = upload(owner, project, "item_id,text\nnewer,Yes.\nt1,Something else.\n")
    assert (refused.status_code, "'t1' has another text" in refused.json()["detail"]) == (422, True)
    assert owner.get(f"/api/projects/{project}/items").json()["total"] == 7
    assert upload(judge, project, more).status_code == 403


def test_a_copy_has_the_texts_and_settings_and_no_answers(studio, linked):
    project, owner, judge = linked
    label(judge, project, ask(judge, project)["texts"][0]["key"])
    patch(owner, project, labels=[{"name": "Bad"}, {"name": "Good"}], question="Well?")
    made = owner.post(f"/api/projects/{project}/copy", json={"name": "Again"})
    assert made.status_code == 201
    copy = made.json()
    assert (copy["question"], copy["settings"]["labels"], copy["name"]) == ("Well?", ["Bad", "Good"], "Again")
    with studio.database.read() as c:
        assert projects.count_rows(c, [copy["id"]])[copy["id"]] == (6, 0)
    assert judge.get(f"/projects/{copy['id']}/judge").status_code == 404
    assert judge.post(f"/api/projects/{project}/copy", json={"name": "Mine"}).status_code == 403


def test_a_project_is_deleted_with_all_of_it_and_no_other(studio, linked):
    project, owner, judge = linked
    other = studio.project(studio.person(), "links", labels=["Good", "Bad"])
    label(judge, project, ask(judge, project)["texts"][0]["key"])
    words = re.sub("<[^>]*>", "", owner.get(f"/projects/{project}/settings").text)
    assert "6 texts, 1 row of answers" in words
    packed = owner.get(f"/api/projects/{project}/export?format=jsonl&everything=true").content
    assert zipfile.is_zipfile(io.BytesIO(packed))
    assert owner.request("DELETE", f"/api/projects/{project}", json={"name": "wrong"}).status_code == 409
    assert judge.request("DELETE", f"/api/projects/{project}", json={"name": "about links"}).status_code == 403
    assert owner.request("DELETE", f"/api/projects/{project}", json={"name": "about links"}).status_code == 204
    assert owner.get(f"/projects/{project}/judge").status_code == 404
    with studio.database.read() as c:
        for table in metadata.sorted_tables:
            if "project_id" in table.c:
                left = select(func.count()).select_from(table).where(table.c.project_id == project)
                assert c.execute(left).scalar_one() == 0, table.name
        assert c.execute(select(func.count()).select_from(items).where(items.c.project_id == other)).scalar_one() == 6
        assert c.execute(select(func.count()).select_from(judgements)).scalar_one() == 0


def test_the_audit_log_names_who_did_what_and_only_what_became_different(studio, linked):
    project, owner, _ = linked
    shown = {"name": "Renamed", "open": False, "overlap": 2, "quota": None}  # as a form sends it, with what stays
    assert patch(owner, project, **shown).status_code == 200
    assert patch(owner, project, **shown).status_code == 200  # nothing is different: nothing is noted
    lines = [line for line in owner.get(f"/api/projects/{project}/audit").json() if line["action"] == "project changed"]
    assert [line["detail"]["fields"] for line in lines] == [["name", "overlap"]]
    judge = next(row for row in owner.get(f"/api/projects/{project}/members").json() if row["role"] == "judge")
    person = owner.get("/api/me").json()["name"]
    owner.patch(f"/api/projects/{project}/members/{judge['id']}", json={"role": "viewer"})
    page = owner.get(f"/projects/{project}/people").text
    about = f'<td class="quiet secret">{judge["name"]}; role: viewer</td>'
    assert f'<td class="name">{person}</td><td>member changed</td>{about}' in page
