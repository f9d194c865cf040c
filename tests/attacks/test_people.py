"""Who was removed does not come back, and guests own nothing."""

import pytest
from fastapi.testclient import TestClient

from accord.store import people, projects
from accord.studio.app import create_app
from accord.studio.security import Passwords

PASSWORD = "a long password"


@pytest.fixture
def place(studio):
    owner, second = studio.person(password=PASSWORD), studio.person(password=PASSWORD)
    project = studio.project(owner)
    studio.join(project, second, "owner")
    return studio, project, owner, second


def invite(client, project, role="judge", uses=5):
    return client.post(f"/api/projects/{project}/invites", json={"role": role, "uses": uses}).json()["token"]


def join(studio, token, name):
    return studio.client().post("/api/accounts", json={"name": name, "password": PASSWORD, "invite": token})


def test_invites_are_listed_and_can_be_taken_back(place):
    studio, project, owner, _ = place
    client = studio.client(owner)
    token = invite(client, project, "viewer", 3)
    (listed,) = client.get(f"/api/projects/{project}/invites").json()
    assert (listed["role"], listed["uses_left"], listed["created_by"]) == ("viewer", 3, owner.id)
    assert token not in str(listed)
    assert "Links that work" in client.get(f"/projects/{project}/people").text
    assert client.delete(f"/api/projects/{project}/invites/{listed['key']}").status_code == 204
    assert client.delete(f"/api/projects/{project}/invites/{listed['key']}").status_code == 404
    assert client.get(f"/api/projects/{project}/invites").json() == []
    assert join(studio, token, "late").status_code == 422


def test_a_link_of_another_project_cannot_be_taken_back(place):
    studio, project, owner, _ = place
    stranger = studio.person()
    elsewhere = studio.project(stranger)
    invite(studio.client(owner), project)
    (listed,) = studio.client(owner).get(f"/api/projects/{project}/invites").json()
    assert studio.client(stranger).delete(f"/api/projects/{elsewhere}/invites/{listed['key']}").status_code == 404


def test_removing_a_person_ends_their_links_and_their_label_studio_address(place):
    studio, project, owner, second = place
    theirs = invite(studio.client(second), project, "owner", 100)
    mine = invite(studio.client(owner), project)
    address = studio.client(second).post(f"/api/projects/{project}/label-studio").json()["path"]
    assert studio.client().get(f"{address}/health").status_code == 200
    assert studio.client(owner).delete(f"/api/projects/{project}/members/{second.id}").status_code == 204
    assert join(studio, theirs, "back again").status_code == 422
    assert studio.client().get(f"{address}/health").status_code == 401
    assert join(studio, mine, "a new judge").status_code == 201


def test_who_was_removed_does_not_come_back_by_the_link_they_came_by(place):
    studio, project, owner, _ = place
    token = invite(studio.client(owner), project, "judge", 10)
    assert join(studio, token, "villain").status_code == 201
    with studio.database.read() as c:
        villain = next(person for person, _ in people.members(c, project) if person.name == "villain")
    studio.client(owner).delete(f"/api/projects/{project}/members/{villain.id}")
    assert studio.client(villain).post("/api/invites/accept", json={"invite": token}).status_code == 422
    assert join(studio, token, "villain again").status_code == 422


def test_an_account_accepts_an_invite_to_another_project(place):
    studio, project, owner, _ = place
    newcomer = studio.person(password=PASSWORD)
    token = invite(studio.client(owner), project, "judge", 1)
    assert "Join as" in studio.client(newcomer).get(f"/join/{token}").text
    assert studio.client(newcomer).post("/api/invites/accept", json={"invite": token}).json() == {"id": project}
    assert studio.client(newcomer).get(f"/api/projects/{project}").json()["role"] == "judge"
    assert studio.client().post("/api/invites/accept", json={"invite": token}).status_code == 401


def test_a_password_is_changed_and_every_other_session_ends(place):
    studio, _, owner, _ = place
    here, elsewhere = studio.client(owner), studio.client(owner)
    wrong = here.post("/api/password", json={"old": "not the password", "password": "another password"})
    assert wrong.status_code == 401
    assert here.post("/api/password", json={"old": PASSWORD, "password": "short"}).status_code == 422
    assert here.post("/api/password", json={"old": PASSWORD, "password": "another password"}).status_code == 200
    assert elsewhere.get("/api/me").status_code == 401
    sign_in = studio.client().post("/api/sessions", json={"name": owner.name, "password": "another password"})
    assert sign_in.status_code == 200


def test_an_owners_link_sets_a_new_password_once(place):
    studio, project, owner, _ = place
    judge = studio.person(password=PASSWORD)
    studio.join(project, judge, "judge")
    token = studio.client(owner).post(f"/api/projects/{project}/members/{judge.id}/reset").json()["token"]
    assert judge.name in studio.client().get(f"/reset/{token}").text
    assert "does not work" in studio.client().get(f"/join/{token}").text
    short = studio.client().post("/api/password/reset", json={"invite": token, "password": "short"})
    assert short.status_code == 422
    body = {"invite": token, "password": "a new password"}
    assert studio.client().post("/api/password/reset", json=body).json()["person"] == judge.name
    assert studio.client().post("/api/password/reset", json=body).status_code == 422
    assert join(studio, token, "not an invite").status_code == 422


def test_an_owner_does_not_become_somebody_who_is_elsewhere_too(place):
    studio, project, owner, _ = place
    admin = studio.person(password=PASSWORD, is_admin=True)
    busy = studio.person(password=PASSWORD)
    studio.join(project, admin, "judge")
    studio.join(project, busy, "judge")
    studio.join(studio.project(studio.person()), busy, "owner")
    for person in (admin, busy):
        answer = studio.client(owner).post(f"/api/projects/{project}/members/{person.id}/reset")
        assert answer.status_code == 422
        assert "only in the owner's projects" in answer.json()["detail"]


@pytest.fixture
def demo(studio):
    with studio.database.write() as c:
        example = projects.create_project(c, name="example", kind="pairs")
        projects.add_items(c, example, [{"item_id": f"t{i}", "text": f"Text {i}"} for i in range(4)])
    owner = studio.person()
    private = studio.project(owner)
    app = create_app(studio.database, passwords=Passwords(fast=True), demo=True)
    guest = TestClient(app, base_url="http://localhost")
    guest.headers["x-csrf-token"] = guest.post("/demo").json()["csrf"]
    yield studio, guest, example, private, owner
    app.state.studio.writer.close()


def test_guests_judge_the_examples_and_nothing_else(demo):
    studio, guest, example, private, owner = demo
    assert {p["id"]: p["role"] for p in guest.get("/api/projects").json()} == {example: "judge"}
    assert guest.post(f"/api/projects/{example}/questions/next").json()["done"] is False
    for path in ("members", "invites", "audit", "export"):
        assert guest.get(f"/api/projects/{example}/{path}").status_code == 403
    assert guest.get(f"/api/projects/{private}").status_code == 404
    assert guest.patch(f"/api/projects/{example}", json={"name": "mine"}).status_code == 403
    table = {"file": ("t.csv", b"item_id,text\na,One.\nb,Two.\n")}
    assert guest.post("/api/projects", data={"name": "mine", "kind": "pairs"}, files=table).status_code == 403
    assert guest.post("/api/uploads/look", data={"kind": "pairs"}, files=table).status_code == 403
    token = invite(studio.client(owner), private, "owner")
    assert guest.post("/api/invites/accept", json={"invite": token}).status_code == 403


def test_guests_are_gone_when_the_demonstration_is_over(demo):
    studio, guest, *_ = demo
    after = studio.client()
    after.cookies = guest.cookies
    assert after.get("/api/me").status_code == 401
