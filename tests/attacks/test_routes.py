"""Every route by every identity: nobody learns of a project of others or changes it, and nothing ends in a fault."""

import pytest
from sqlalchemy import func, select

from accord.store import judgements, people, projects
from accord.store.judgements import Judgement
from accord.store.tables import metadata
from accord.studio.security import RateLimit

SECRETS = ("a secret name", "a secret text", "a secret question", "secret-item", "Secret Owner", "secret guideline")
BODIES = ({}, {"request_id": "a-request-of-mine", "kind": "skip", "item": 1}, {"name": "Mine now"}, [1], "text", None)


def routes_of(app):
    """Every (method, path) that the application answers, pages among them."""
    found = []
    for route in app.routes:
        inner = route.effective_candidates() if hasattr(route, "effective_candidates") else [route]
        found += [(method, one.path) for one in inner for method in getattr(one, "methods", None) or ()]
    return sorted(set(found))


@pytest.fixture
def place(studio):
    """A project that is full of secrets, and one client for each identity."""
    for limit in ("logins", "changes"):
        setattr(studio.app.state.studio, limit, RateLimit(10**9, 1.0))
    owner, judge, viewer, stranger, removed = (studio.person() for _ in range(5))
    with studio.database.write() as c:
        keeper = people.create_person(c, "Secret Owner", password_hash=None)
        key = projects.create_project(
            c, name="a secret name", kind="pairs", created_by=keeper.id, question="a secret question",
            guidelines="secret guideline",
        )  # fmt: skip
        projects.add_items(c, key, [{"item_id": f"secret-item-{i}", "text": f"a secret text {i}"} for i in range(4)])
        first, second = (item.key for item in projects.find_items(c, key)[0][:2])
        judgements.append(c, key, [Judgement("a-vote", "pair", first, second, value=1.0, person_id=keeper.id)])
    for person, role in ((owner, "owner"), (judge, "judge"), (viewer, "viewer"), (removed, "judge")):
        studio.join(key, person, role)
    studio.project(stranger)
    assert studio.client(owner).delete(f"/api/projects/{key}/members/{removed.id}").status_code == 204
    who = {"owner": owner, "judge": judge, "viewer": viewer, "stranger": stranger, "removed": removed}
    clients = {name: studio.client(person) for name, person in who.items()}
    clients["nobody"] = studio.client()
    return studio, key, first, keeper, clients


def counts(database):
    """How many rows each table has, without those that a visit itself makes."""
    with database.read() as c:
        return {
            table.name: c.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.tables.values()
            if table.name not in ("sessions", "audit")
        }


def addressed(path, key, item, person):
    values = {"project_id": key, "key": item, "person_id": person, "token": "not-a-token", "path": "js/judge.js"}
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", str(value)).replace(f"{{{name}:path}}", str(value))
    return path


@pytest.mark.parametrize("who", ["nobody", "stranger", "removed"])
def test_people_from_outside_learn_nothing_and_change_nothing(place, who):
    studio, key, item, keeper, clients = place
    before, tried = counts(studio.database), 0
    for method, path in routes_of(studio.app):
        if "{project_id}" not in path:
            continue
        url = addressed(path, key, item, keeper.id)
        for body in BODIES if method in ("POST", "PATCH", "PUT", "DELETE") else (None,):
            answer = clients[who].request(method, url, json=body, follow_redirects=False)
            assert answer.status_code in (303, 401, 404), (who, method, path, answer.status_code)
            assert [secret for secret in SECRETS if secret in answer.text] == [], (who, method, path)
            tried += 1
    assert tried > 60
    assert counts(studio.database) == before


@pytest.mark.parametrize("who", ["owner", "judge", "viewer", "stranger", "removed", "nobody"])
def test_no_route_ends_in_a_fault_whoever_asks(place, who):
    studio, key, item, keeper, clients = place
    tried = 0
    for method, path in routes_of(studio.app):
        if (method, path) == ("DELETE", "/api/sessions"):
            continue  # signs out
        for numbers in ((key, item, keeper.id), (key, 10**12, 10**12), (2**31, 0, 0), ("x", "x", "-1")):
            url = addressed(path, *numbers)
            for body in BODIES if method in ("POST", "PATCH", "PUT", "DELETE") else (None,):
                answer = clients[who].request(method, url, json=body, follow_redirects=False)
                assert answer.status_code < 500, (who, method, url, body, answer.text)
                tried += 1
    assert tried > 400


@pytest.mark.parametrize("who", ["judge", "viewer"])
def test_what_owners_see_stays_with_owners(place, who):
    studio, key, _, keeper, clients = place
    assert clients["owner"].post(f"/api/projects/{key}/invites", json={"role": "owner"}).status_code == 201
    with studio.database.write() as c:
        people.set_password_hash(c, keeper.id, "the-hash-of-a-password")
    for path in ("members", "audit", "export", "invites"):
        assert clients[who].get(f"/api/projects/{key}/{path}").status_code == 403
        assert clients["owner"].get(f"/api/projects/{key}/{path}").status_code == 200
    for method, path in routes_of(studio.app):
        if method == "GET":
            answer = clients[who].get(addressed(path, key, 1, keeper.id), follow_redirects=False)
            assert "the-hash-of-a-password" not in answer.text
            assert "/join/" not in answer.text, path
