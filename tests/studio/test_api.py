import uuid

import pytest
from sqlalchemy import select

from accord.store import people
from accord.store.tables import judgements

PASSWORD = "correct horse battery"


def new_id():
    return uuid.uuid4().hex


def vote(client, project, question, value=1.0, **more):
    left, right = question["texts"]
    body = {
        "request_id": new_id(), "kind": "pair", "item": left["key"], "other": right["key"], "value": value,
        "shown_left": left["key"], "question_id": question["question_id"], "response_ms": 900, **more,
    }  # fmt: skip
    return client.post(f"/api/projects/{project}/judgements", json=body)


def ask(client, project):
    answer = client.post(f"/api/projects/{project}/questions/next")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_judge_votes_until_every_pair_is_seen(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, n=4)
    studio.join(project, judge, "judge")
    client = studio.client(judge)
    seen = set()
    for _ in range(6):  # four texts make six pairs
        question = ask(client, project)
        seen.add(frozenset(text["key"] for text in question["texts"]))
        assert vote(client, project, question).status_code == 201
    assert len(seen) == 6
    assert ask(client, project)["done"]
    with studio.database.read() as connection:
        rows = connection.execute(select(judgements)).all()
    assert {row.strategy for row in rows} == {"random"}
    assert all(row.propensity == pytest.approx(1 / 6) for row in rows)
    assert all(row.shown_left in (row.item, row.other) for row in rows)


def test_a_resent_vote_is_acknowledged_and_stored_once(studio):
    owner = studio.person()
    project = studio.project(owner)
    client = studio.client(owner)
    question = ask(client, project)
    first = vote(client, project, question, request_id="the-same-request")
    again = vote(client, project, question, request_id="the-same-request")
    assert (first.json()["new_rows"], again.json()["new_rows"]) == (1, 0)
    assert again.status_code == 201


def test_undo_takes_the_newest_answer_back_and_the_pair_comes_again(studio):
    owner = studio.person()
    project = studio.project(owner, n=2)
    client = studio.client(owner)
    vote(client, project, ask(client, project))
    assert ask(client, project)["done"]
    assert client.post(f"/api/projects/{project}/undo", json={"request_id": new_id()}).json()["undone"]
    assert not ask(client, project)["done"]
    assert client.post(f"/api/projects/{project}/undo", json={"request_id": new_id()}).json()["undone"] is None


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"value": 0.7}, "a vote is 1"),
        ({"value": None}, "a vote is 1"),
        ({"other": None}, "two different texts"),
        ({"other": 10**9}, "not one of them"),
        ({"kind": "label"}, "a pairs project takes pair or skip"),
        ({"shown_left": 10**9}, "shown_left is one of"),
    ],
)
def test_a_wrong_vote_gets_one_sentence_and_stores_nothing(studio, change, sentence):
    owner = studio.person()
    project = studio.project(owner)
    client = studio.client(owner)
    answer = vote(client, project, ask(client, project), **change)
    assert answer.status_code == 422
    assert sentence in answer.json()["detail"]
    with studio.database.read() as connection:
        assert connection.execute(select(judgements)).all() == []


def test_labels_scores_and_highlights_are_checked_and_stored(studio):
    owner = studio.person()
    client = studio.client(owner)
    threads = studio.project(owner, "threads", labels=["Good", "Bad"])
    key = ask(client, threads)["texts"][0]["key"]
    send = lambda project, **body: client.post(  # noqa: E731
        f"/api/projects/{project}/judgements", json={"request_id": new_id(), "item": key, **body}
    )
    assert send(threads, kind="label", label="Good").status_code == 201
    assert "are Good, Bad" in send(threads, kind="label", label="Ugly").json()["detail"]

    aspects = studio.project(owner, "aspects", aspects=["food", "service"], n_ranks=5)
    key = ask(client, aspects)["texts"][0]["key"]
    assert send(aspects, kind="score", scores={"food": 4, "service": None}).json()["new_rows"] == 2
    assert "1 to 5" in send(aspects, kind="score", scores={"food": 6}).json()["detail"]
    assert "at least one aspect" in send(aspects, kind="score", scores={}).json()["detail"]

    rationales = studio.project(owner, "rationales", labels=["pro", "con"])
    key = ask(client, rationales)["texts"][0]["key"]
    good = send(rationales, kind="span", label="pro", spans=[{"item": key, "start": 0, "end": 4}])
    assert good.json()["new_rows"] == 2
    bad = send(rationales, kind="span", label="pro", spans=[{"item": key, "start": 3, "end": 400}])
    assert "inside its text" in bad.json()["detail"]
    with studio.database.read() as connection:
        quotes = connection.execute(select(judgements.c.quote).where(judgements.c.kind == "span")).scalars().all()
    assert quotes == ["This"]


def test_signing_in_and_out(studio):
    person = studio.person(password=PASSWORD)
    client = studio.client()
    assert client.get("/api/me").status_code == 401
    wrong = client.post("/api/sessions", json={"name": person.name, "password": "something else"})
    assert wrong.status_code == 401
    session = client.post("/api/sessions", json={"name": person.name, "password": PASSWORD}).json()
    assert client.get("/api/me").json()["name"] == person.name  # by cookie
    assert client.delete("/api/sessions").status_code == 403  # a cookie alone changes nothing
    assert client.delete("/api/sessions", headers={"x-csrf-token": session["csrf"]}).status_code == 204
    assert client.get("/api/me").status_code == 401


def test_many_tries_from_one_address_are_slowed_down(studio):
    client = studio.client()
    answers = [client.post("/api/sessions", json={"name": "x", "password": "y"}).status_code for _ in range(25)]
    assert answers[0] == 401
    assert answers[-1] == 429


def test_the_first_owner_comes_by_a_one_time_link_and_adopts_the_projects(studio):
    with studio.database.write() as connection:
        from accord.store import projects

        projects.create_project(connection, name="orphan", kind="pairs")
        token = people.create_invite(connection, project_id=None, role="owner", created_by=None)
    client = studio.client()
    joining = {"name": "First", "password": PASSWORD, "invite": token}
    assert client.post("/api/accounts", json={**joining, "password": "short"}).status_code == 422
    assert client.post("/api/accounts", json=joining).status_code == 201
    assert [p["role"] for p in client.get("/api/projects").json()] == ["owner"]
    assert client.post("/api/accounts", json={**joining, "name": "Second"}).status_code == 422


def routes_of(app):
    for path, operations in app.openapi()["paths"].items():
        for method in operations:
            if "{project_id}" in path:
                yield method, path


def test_nobody_reads_or_changes_a_project_of_others(studio):
    owner, stranger = studio.person(), studio.person()
    project = studio.project(owner)
    studio.project(stranger)
    client, nobody = studio.client(stranger), studio.client()
    bodies = {
        "judgements": {"request_id": new_id(), "kind": "skip", "item": 1},
        "undo": {"request_id": new_id()},
        "invites": {},
    }
    checked = 0
    for method, path in routes_of(studio.app):
        url = path.replace("{project_id}", str(project)).replace("{key}", "1").replace("{person_id}", str(owner.id))
        body = bodies.get(path.rsplit("/", 1)[-1], {})
        sent = {"json": body} if method in {"post", "patch"} else {}
        # Programs come with a token of their own; a person's session is nothing to them.
        refusal = 401 if path.startswith("/api/label-studio/") else 404
        assert client.request(method, url, **sent).status_code == refusal, (method, path)
        assert nobody.request(method, url, **sent).status_code == 401, (method, path)
        checked += 1
    assert checked >= 12


def test_a_judge_cannot_do_what_owners_do_and_a_viewer_cannot_judge(studio):
    owner, judge, viewer = studio.person(), studio.person(), studio.person()
    project = studio.project(owner)
    studio.join(project, judge, "judge")
    studio.join(project, viewer, "viewer")
    for path in ("members", "audit", "export"):
        assert studio.client(judge).get(f"/api/projects/{project}/{path}").status_code == 403
        assert studio.client(owner).get(f"/api/projects/{project}/{path}").status_code == 200
    assert studio.client(judge).post(f"/api/projects/{project}/invites", json={}).status_code == 403
    assert studio.client(viewer).post(f"/api/projects/{project}/questions/next").status_code == 403
    assert studio.client(viewer).get(f"/api/projects/{project}/items").json()["total"] == 6


def test_losing_a_session_or_a_role_works_at_once(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner)
    studio.join(project, judge, "judge")
    mine, theirs = studio.client(owner), studio.client(judge)
    ask = f"/api/projects/{project}/questions/next"
    assert theirs.post(ask).status_code == 200
    assert mine.delete(f"/api/projects/{project}/members/{judge.id}").status_code == 204
    assert theirs.post(ask).status_code == 404
    assert theirs.get(f"/projects/{project}/results").status_code == 404
    studio.join(project, judge, "viewer")
    assert theirs.get(f"/projects/{project}/results").status_code == 200
    assert theirs.post(ask).status_code == 403
    assert theirs.delete("/api/sessions").status_code == 204
    assert theirs.get(f"/projects/{project}/results", follow_redirects=False).status_code == 303
    assert theirs.post(ask).status_code == 401
    other = studio.client(judge)
    with studio.database.write() as c:
        people.set_password_hash(c, judge.id, studio.passwords.hash("another password"))
    assert other.get("/api/me").status_code == 401


def test_every_answer_carries_the_security_headers(studio):
    headers = studio.client().get("/health").headers
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_huge_request_is_refused_before_it_is_read(studio):
    owner = studio.person()
    client = studio.client(owner)
    answer = client.post("/api/sessions", content=b"x" * (3 * 2**20), headers={"content-type": "application/json"})
    assert answer.status_code == 413

    def chunks():
        for _ in range(4):
            yield b"x" * 2**20

    answer = client.post("/api/sessions", content=chunks(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
