"""Undo brings the question back; people see and change their own answers; nothing stored is ever changed."""

import uuid

import pytest
from sqlalchemy import select

from accord.store import judgements as kept
from accord.store.tables import judgements
from accord.studio.api.judge import Given
from accord.studio.pages.answers import said

KINDS = {
    "pairs": ({}, lambda q: {"kind": "pair", "item": q[0]["key"], "other": q[1]["key"], "value": 1.0}),
    "links": ({"labels": ["Good", "Bad"]}, lambda q: {"kind": "label", "item": q[0]["key"], "label": "Bad"}),
    "aspects": (
        {"aspects": ["food", "noise"], "n_ranks": 5},
        lambda q: {"kind": "score", "item": q[0]["key"], "scores": {"food": 2, "noise": None}},
    ),
    "rationales": (
        {"labels": ["Good", "Bad"]},
        lambda q: {
            "kind": "span", "item": q[0]["key"], "label": "Good",
            "spans": [{"item": q[0]["key"], "start": 0, "end": 4}],
        },
    ),
}  # fmt: skip


def new_id():
    return uuid.uuid4().hex


def ask(client, project):
    return client.post(f"/api/projects/{project}/questions/next").json()


def send(client, project, question, body, **more):
    sent = {"request_id": new_id(), "question_id": question["question_id"], **body, **more}
    answer = client.post(f"/api/projects/{project}/judgements", json=sent)
    assert answer.status_code == 201, answer.text
    return sent["request_id"]


def undo(client, project, request_id=None):
    answer = client.post(f"/api/projects/{project}/undo", json={"request_id": request_id or new_id()})
    assert answer.status_code == 200, answer.text
    return answer.json()


def standing(studio, project):
    with studio.database.read() as c:
        return list(c.execute(kept.effective(project)))


@pytest.mark.parametrize("kind", KINDS)
def test_undo_brings_the_question_back_with_the_answer(studio, kind):
    settings, body = KINDS[kind]
    owner = studio.person()
    project = studio.project(owner, kind, **settings)
    client = studio.client(owner)
    for _ in range(3):
        first = ask(client, project)
        sent = body(first["texts"])
        request = send(client, project, first, sent)
        waiting = ask(client, project)  # the next one is on the screen already
        wish = new_id()
        back = undo(client, project, wish)
        assert back["undone"] == request
        assert [t["key"] for t in back["question"]["texts"]] == [t["key"] for t in first["texts"]]
        given = back["given"]
        for name in ("value", "label", "scores"):
            if name in sent:
                assert given[name] == sent[name], name
        assert [{k: s[k] for k in ("item", "start", "end")} for s in given["spans"]] == sent.get("spans", [])
        assert undo(client, project, wish)["undone"] == request  # sent again: nothing else is undone
        again = ask(client, project)  # after a reload it is still the undone one
        assert [t["key"] for t in again["texts"]] == [t["key"] for t in first["texts"]]
        send(client, project, again, sent)
        following = ask(client, project)
        assert {t["key"] for t in following["texts"]} == {t["key"] for t in waiting["texts"]}
    assert len({row.request_id for row in standing(studio, project)}) == 3


def test_an_answer_is_changed_and_the_old_one_stays_stored(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, "links", labels=["Good", "Bad"])
    studio.join(project, judge, "judge")
    client = studio.client(judge)
    requests = []
    for _ in range(3):
        question = ask(client, project)
        requests.append(send(client, project, question, KINDS["links"][1](question["texts"])))
    listed = client.get(f"/api/projects/{project}/answers").json()
    assert [row["request_id"] for row in listed] == requests[::-1]
    assert {row["person"] for row in listed} == {None}
    shown = client.get(f"/api/projects/{project}/answers/{requests[0]}").json()
    assert shown["given"]["label"] == "Bad"
    body = {"kind": "label", "item": shown["question"]["texts"][0]["key"], "label": "Good", "replaces": requests[0]}
    changed = send(client, project, {"question_id": None}, body)
    assert send(client, project, {"question_id": None}, body, request_id=changed) == changed  # sent twice
    now = client.get(f"/api/projects/{project}/answers").json()
    assert {row["request_id"] for row in now} == {changed, *requests[1:]}
    everything = client.get(f"/api/projects/{project}/answers?undone=true").json()
    assert [row["request_id"] for row in everything if row["undone"]] == [requests[0]]
    with studio.database.read() as c:
        rows = c.execute(select(judgements.c.kind, judgements.c.label).order_by(judgements.c.id)).all()
    assert [tuple(row) for row in rows] == [("label", "Bad")] * 3 + [("undo", None), ("label", "Good")]
    refused = studio.client(owner).get(f"/api/projects/{project}/answers/{requests[1]}")
    assert (refused.status_code, "change their own" in refused.json()["detail"]) == (422, True)
    theirs = studio.client(owner).get(f"/api/projects/{project}/answers?person={judge.id}").json()
    assert [row["person"] for row in theirs] == [judge.name] * 3
    other = {**body, "item": shown["question"]["texts"][0]["key"] + 1, "replaces": requests[1], "request_id": new_id()}
    assert client.post(f"/api/projects/{project}/judgements", json=other).status_code in (201, 422)


def test_a_second_label_of_the_same_person_takes_the_place_of_the_first(studio):
    owner = studio.person()
    project = studio.project(owner, "threads", labels=["Good", "Bad"])
    client = studio.client(owner)
    key = ask(client, project)["texts"][0]["key"]
    for name in ("Good", "Bad", "Good"):
        send(client, project, {"question_id": None}, {"kind": "label", "item": key, "label": name})
    assert [row.label for row in standing(studio, project)] == ["Good"]


def test_the_list_of_projects_counts_answers_and_not_their_rows_or_undos(studio):
    owner = studio.person()
    project = studio.project(owner, "aspects", aspects=["food", "service"], n_ranks=5)
    client = studio.client(owner)
    for n in (1, 2, 3):
        question = ask(client, project)
        body = {"kind": "score", "item": question["texts"][0]["key"], "scores": {"food": 2, "service": None}}
        first = send(client, project, question, body)
        assert f"{n} answer{'' if n == 1 else 's'} ·" in client.get("/").text
        live = client.get(f"/api/projects/{project}/live").json()
        assert (live["n_mine"], live["n_new"]) == (n, n)
    for replaced in (first, first):  # from two pages: the second one takes back what is gone already
        again = {**body, "scores": {"food": 5, "service": 5}, "replaces": replaced}
        send(client, project, {"question_id": None}, again)
    assert "4 answers ·" in client.get("/").text  # as many as stand
    assert len({row.request_id for row in standing(studio, project)}) == 4


def test_answers_are_filtered_by_person_and_time_and_judges_see_their_own(studio):
    owner, one, two = (studio.person() for _ in range(3))
    project = studio.project(owner)
    for judge in (one, two):
        studio.join(project, judge, "judge")
        client = studio.client(judge)
        for _ in range(2):
            question = ask(client, project)
            send(client, project, question, KINDS["pairs"][1](question["texts"]))
    path = f"/api/projects/{project}/answers"
    client = studio.client(owner)
    assert len(client.get(path).json()) == 4
    assert {row["person"] for row in client.get(f"{path}?person={two.id}").json()} == {two.name}
    assert client.get(f"{path}?since=2100-01-01T00:00:00").json() == []
    assert len(client.get(f"{path}?until=2100-01-01T00:00:00&strategy=random").json()) == 4
    assert client.get(f"{path}?strategy=repeat").json() == []
    assert len(client.get(f"{path}?before={client.get(path).json()[1]['id']}").json()) == 2
    assert len(studio.client(one).get(f"{path}?person={two.id}").json()) == 2
    assert {row["strategy"] for row in studio.client(one).get(path).json()} == {None}


@pytest.mark.parametrize("n, end", [(2, "“word 1”"), (3, "“word 2”"), (5, "“word 2” and 2 more")])
def test_highlights_that_are_not_listed_are_counted(n, end):
    given = Given(kind="span", labels=["good"], spans=[{"quote": f"word {k}"} for k in range(n)])
    assert said(given, [1]).endswith(end)
