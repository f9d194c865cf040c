"""Annotations of Label Studio have names that no judge can take."""

import hashlib

import pytest
from label_studio import choice, connect, event, standing

from accord.store.connections import ForeignAnswer
from accord.workflows.collecting.receive import changes_of


@pytest.fixture
def notes(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, "rationales", labels=["praise", "complaint"])
    studio.join(project, judge, "judge")
    path = connect(studio, owner, project)

    def annotate(body):
        return studio.client().post(f"{path}/webhook", json=body).json()["result"]

    return studio, project, studio.client(judge), annotate


def old_name(answer: ForeignAnswer) -> list[str]:
    """The names that an annotation had when judges could send them too, and its deletion."""
    name = f"ls-{answer.name[3:]}"
    return [f"{name}-{answer.moment}-{answer.digest}", f"{name}-deleted", f"{name}-{'f' * 14}-{'0' * 16}"]


def test_a_judge_cannot_make_an_annotation_vanish_or_freeze(notes):
    studio, project, judge, annotate = notes
    body = event(result=[choice("praise")])
    stored = studio.client(studio.person())  # somebody without a role gets nowhere at all
    assert stored.post(f"/api/projects/{project}/judgements", json={}).status_code in {404, 422}
    with studio.database.read() as c:
        from accord.store.projects import get_project

        (change,) = changes_of(get_project(c, project), body)
    text = judge.post(f"/api/projects/{project}/questions/next").json()["texts"][0]["key"]
    for name in old_name(change.answer):
        answer = {"request_id": name, "kind": "span", "item": text, "label": "complaint"}
        assert judge.post(f"/api/projects/{project}/judgements", json=answer).status_code == 201
    assert annotate(body) == {"stored": 1, "undone": 0, "ignored": 0}
    changed = event("ANNOTATION_UPDATED", result=[choice("complaint")], at=1)
    assert annotate(changed) == {"stored": 1, "undone": 1, "ignored": 0}
    labels = [row.label for row in standing(studio, project) if row.person_id is None]
    assert labels == ["complaint"]


def test_a_judge_cannot_send_the_name_of_an_annotation(notes):
    _, project, judge, _ = notes
    text = judge.post(f"/api/projects/{project}/questions/next").json()["texts"][0]["key"]
    name = f"ls:17-{'0' * 14}-{hashlib.sha256(b'').hexdigest()[:16]}"
    answer = {"request_id": name, "kind": "span", "item": text, "label": "praise"}
    assert judge.post(f"/api/projects/{project}/judgements", json=answer).status_code == 422
