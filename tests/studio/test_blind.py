"""Judges are blind until an owner opens the results, and names are for owners."""

import uuid

import pytest

from accord.store import judgements, projects, scores
from accord.store.judgements import Judgement

KINDS = {
    "pairs": {},
    "threads": {"labels": ["Good", "Bad"]},
    "aspects": {"aspects": ["food", "value"], "n_ranks": 5},
    "links": {"labels": ["Good", "Bad"]},
    "rationales": {"labels": ["Good", "Bad"]},
}


def judged(studio, kind, **settings):
    """A project with an owner, two judges and a viewer; the second judge has answered and the model has spoken."""
    owner, judge, other, viewer = (studio.person(may_create=False) for _ in range(4))
    project = studio.project(owner, kind, **KINDS[kind], **settings)
    studio.join(project, judge, "judge")
    studio.join(project, other, "judge")
    studio.join(project, viewer, "viewer")
    with studio.database.write() as c:
        found, _ = projects.find_items(c, project)
        about = {"item": found[0].key, "other": found[1].key, "value": 1.0, "kind": "pair"}
        if kind != "pairs":
            about = {"item": found[0].key, "kind": "label", "label": "Good"}
        judgements.append(c, project, [Judgement(request_id=uuid.uuid4().hex, person_id=other.id, **about)])
    rows = [
        {"key": item.key, "item_id": item.item_id, "label": "SECRET", "probability": 0.9, "tier": 1, "score": 7.77,
         "low": 7.0, "high": 8.0, "p_best": 0.5, "n_votes": 1, "aspects": {}}
        for item in found
    ]  # fmt: skip
    scores.put_scores(
        studio.database, project, n_judgements=1, last_judgement=10**6, seconds=0.1, result={"summary": {}}, rows=rows
    )
    return project, found[0].key, owner, judge, other, viewer


def all_gets(studio, project, key):
    """Every address of a project that is read, the pages and the interface."""
    seen = set()
    for route in studio.app.routes:
        inner = route.effective_candidates() if hasattr(route, "effective_candidates") else [route]
        for one in inner:
            if "GET" in (getattr(one, "methods", None) or ()) and "{project_id}" in one.path:
                seen.add(one.path.replace("{project_id}", str(project)).replace("{key}", str(key)))
    return sorted(path for path in seen if "label-studio" not in path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_judge_sees_neither_results_nor_votes_of_others_nor_names_on_any_page(studio, kind):
    project, key, _, judge, other, _ = judged(studio, kind)
    client = studio.client(judge)
    paths = all_gets(studio, project, key)
    assert len(paths) >= 25
    assert f"/projects/{project}/quality" in paths
    for path in paths:
        answer = client.get(path, follow_redirects=False)
        for told in (other.name, "SECRET", "7.77", "won against", "labelled Good"):
            assert told not in answer.text, (path, told)
    for path in (f"/projects/{project}/results", f"/api/projects/{project}/results", f"/api/projects/{project}/export"):
        assert client.get(path).status_code == 403, path
    assert f"/projects/{project}/results" not in client.get("/").text
    assert f"/projects/{project}/results" not in client.get(f"/projects/{project}/judge").text


@pytest.mark.parametrize("kind", ["pairs", "links"])
def test_once_opened_a_judge_sees_results_and_votes_but_no_names(studio, kind):
    project, key, owner, judge, other, viewer = judged(studio, kind, open=True)
    for person in (judge, viewer):
        client = studio.client(person)
        assert client.get(f"/api/projects/{project}/results").json()["total"] == 6
        page = client.get(f"/projects/{project}/texts/{key}").text
        assert "somebody" in page
        assert other.name not in page
        assert client.get(f"/projects/{project}/results").status_code == 200
    assert other.name in studio.client(owner).get(f"/projects/{project}/texts/{key}").text


def test_how_a_question_was_chosen_is_told_to_owners_only(studio):
    project, _, owner, judge, _, _ = judged(studio, "pairs")
    ask = f"/api/projects/{project}/questions/next"
    assert studio.client(judge).post(ask).json()["strategy"] is None
    assert studio.client(owner).post(ask).json()["strategy"] == "random"


def test_a_judge_makes_no_project_and_an_owner_does(studio):
    _, _, owner, judge, _, _ = judged(studio, "pairs")
    files = {"file": ("texts.csv", "item_id,text\na,One.\nb,Two.\n")}
    for path in ("/api/projects", "/api/uploads/look"):
        refused = studio.client(judge).post(path, data={"name": "mine", "kind": "pairs"}, files=files)
        assert (refused.status_code, "owners make projects" in refused.json()["detail"]) == (403, True)
    assert studio.client(judge).get("/projects/new", follow_redirects=False).status_code == 303
    assert "/projects/new" not in studio.client(judge).get("/").text
    made = studio.client(owner).post("/api/projects", data={"name": "mine", "kind": "pairs"}, files=files)
    assert made.status_code == 201
