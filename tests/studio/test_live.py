"""What changes by itself, people and their roles, invites to copy and to photograph."""

import random
import subprocess
import sys
import uuid

from accord.workflows.collecting.refit import refit


def label(client, project):
    question = client.post(f"/api/projects/{project}/questions/next").json()
    body = {"request_id": uuid.uuid4().hex, "kind": "label", "item": question["texts"][0]["key"], "label": "Good"}
    assert client.post(f"/api/projects/{project}/judgements", json=body).status_code == 201


def test_live_counts_change_with_each_answer_and_nothing_is_sent_again(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, "links", labels=["Good", "Bad"])
    studio.join(project, judge, "judge")
    mine, theirs = studio.client(owner), studio.client(judge)
    path = f"/api/projects/{project}/live"
    first = mine.get(path)
    assert (first.json()["n_new"], first.json()["n_mine"], first.json()["fitting"]) == (0, 0, False)
    assert mine.get(path, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    for n in (1, 2, 3):
        label(theirs, project)
        changed = mine.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (changed.status_code, changed.json()["n_new"], changed.json()["fitting"]) == (200, n, True)
        assert theirs.get(path).json()["n_mine"] == n
    refit(studio.database, project, rng=random.Random(0))
    after = mine.get(path).json()
    assert (after["n_new"], after["model_version"], after["n_judgements"], after["fitting"]) == (0, 1, 3, False)
    assert after["queue"] > 0
    blind = theirs.get(path).json()
    assert all(blind[name] is None for name in ("model_version", "n_judgements", "n_new", "problem", "queue"))


def test_roles_are_raised_and_lowered_and_an_owner_stays(studio):
    owner, judge = studio.person(), studio.person(may_create=False)
    project = studio.project(owner)
    studio.join(project, judge, "judge")
    mine, theirs = studio.client(owner), studio.client(judge)
    path = f"/api/projects/{project}/members"
    assert theirs.patch(f"{path}/{judge.id}", json={"role": "owner"}).status_code == 403
    assert mine.patch(f"{path}/{judge.id}", json={"role": "viewer"}).json()["role"] == "viewer"
    assert theirs.post(f"/api/projects/{project}/questions/next").status_code == 403
    assert "only one" in mine.patch(f"{path}/{owner.id}", json={"role": "judge"}).json()["detail"]
    assert theirs.get("/projects/new", follow_redirects=False).status_code == 303
    assert mine.patch(f"{path}/{judge.id}", json={"may_create": True}).status_code == 200
    assert theirs.get("/projects/new").status_code == 200
    assert mine.patch(f"{path}/{judge.id}", json={"role": "owner"}).json()["role"] == "owner"
    link = theirs.post(f"/api/projects/{project}/invites", json={"role": "judge"}).json()
    assert link["qr"].startswith("data:image/svg+xml")
    assert mine.patch(f"{path}/{judge.id}", json={"role": "judge"}).status_code == 200
    assert studio.client().get(link["path"]).text.count("does not work") == 1  # what a lowered owner made ends
    assert mine.patch(f"{path}/{10**6}", json={"role": "judge"}).status_code == 404


def test_progress_and_pace_are_shown_to_owners(studio):
    owner = studio.person()
    project = studio.project(owner, "links", labels=["Good", "Bad"], quota=5)
    client = studio.client(owner)
    for _ in range(3):
        label(client, project)
    refit(studio.database, project, rng=random.Random(0))
    page = client.get(f"/projects/{project}/people").text
    assert "3 of 5" in page


def test_the_worker_imports_no_models_so_that_the_first_refit_starts_soon():
    heavy = "pandas", "scipy", "sklearn", "pyarrow", "accord.workflows.collecting.refit"
    found = f"import sys, accord.studio.worker; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", found], check=True, capture_output=True).stdout.strip() == b"[]"
