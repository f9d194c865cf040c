"""Annotations that Label Studio sends to the studio: stored once, replaced, removed, refused."""

import copy
import json
import random

import pytest
from fastapi.testclient import TestClient
from label_studio import NOTES, PAIRS, RATINGS, choice, connect, event, mark, standing
from sqlalchemy import select

from accord.store import projects
from accord.store.tables import judgements
from fuzzing import changed


@pytest.fixture
def notes(studio):
    """A project of labels and highlights, connected: its key, and what sends an event."""
    owner = studio.person()
    project = studio.project(owner, "rationales", labels=["praise", "complaint"])
    path = connect(studio, owner, project)
    client = studio.client()

    def send(body, status=201):
        answer = client.post(f"{path}/webhook", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    return project, send


def test_an_annotation_is_stored_once(studio, notes):
    project, send = notes
    body = event(result=[choice("praise"), mark(4, 8, "soup")])
    assert send(body) == {"status": "ok", "result": {"stored": 2, "undone": 0, "ignored": 0}}
    assert send(body)["result"] == {"stored": 0, "undone": 0, "ignored": 0}
    label, span = standing(studio, project)
    assert (label.kind, label.label, label.annotator_id, label.response_ms, label.source) == (
        "label", "praise", "1", 37130, "label-studio",
    )  # fmt: skip
    assert (span.kind, span.start, span.end, span.quote) == ("span", 4, 8, "soup")
    with studio.database.read() as connection:
        (item,) = projects.items_by_key(connection, project, [label.item]).values()
    assert (item.item_id, item.text) == ("19", "The soup was superb.")


def test_a_text_of_the_project_is_recognised_by_its_words_and_another_of_the_same_id_is_not(studio, notes):
    project, send = notes
    send(event(result=[choice("praise")], data={"text": "This is text 3."}))
    send(event(annotation=18, result=[choice("praise")], data={"text": "Something else.", "item_id": "t3"}))
    first, second = standing(studio, project)
    with studio.database.read() as connection:
        found = projects.items_by_key(connection, project, [first.item, second.item])
    assert found[first.item].item_id == "t3"
    assert found[second.item].text == "Something else."
    assert found[second.item].item_id.startswith("text-")


def test_an_update_replaces_and_a_deletion_removes(studio, notes):
    project, send = notes
    created = event(result=[choice("praise"), mark(4, 8, "soup")])
    send(created)
    changed = event("ANNOTATION_UPDATED", result=[choice("complaint")], at=1)
    assert send(changed)["result"] == {"stored": 1, "undone": 1, "ignored": 0}
    assert [row.label for row in standing(studio, project)] == ["complaint"]
    assert send(created)["result"]["stored"] == 0  # an old message that comes late
    back = event("ANNOTATION_UPDATED", result=[choice("praise")], at=2)
    send(back)
    send(changed)
    assert [row.label for row in standing(studio, project)] == ["praise"]
    emptied = event("ANNOTATION_UPDATED", result=[], at=3)
    assert send(emptied)["result"] == {"stored": 0, "undone": 1, "ignored": 0}
    assert standing(studio, project) == []
    send(event("ANNOTATION_UPDATED", result=[choice("praise")], at=4))
    gone = {"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 17}], "project": {"id": 2, "label_config": NOTES}}
    assert send(gone)["result"]["undone"] == 1
    assert send(gone)["result"]["undone"] == 0
    send(event("ANNOTATION_UPDATED", result=[choice("praise")], at=5))
    assert standing(studio, project) == []
    with studio.database.read() as connection:  # nothing is ever overwritten
        kinds = connection.execute(select(judgements.c.kind)).scalars().all()
    assert sorted(set(kinds)) == ["label", "span", "undo"]


def test_a_deletion_that_overtakes_the_creation_wins(studio, notes):
    project, send = notes
    send({"action": "ANNOTATION_DELETED", "annotation": {"id": 5}, "project": {"id": 2}})
    send(event(annotation=5, result=[choice("praise")]))
    assert standing(studio, project) == []


def test_an_update_that_overtakes_the_creation_wins(studio, notes):
    project, send = notes
    send(event("ANNOTATION_UPDATED", result=[choice("complaint")], at=3))
    send(event(result=[choice("praise")]))
    assert [row.label for row in standing(studio, project)] == ["complaint"]


def test_names_that_begin_alike_are_different_annotations(studio, notes):
    project, send = notes
    for annotation in (1, 11, "1-1", "a b"):
        send(event(annotation=annotation, result=[choice("praise")]))
    send({"action": "ANNOTATIONS_DELETED", "annotations": [{"id": 1}]})
    assert len(standing(studio, project)) == 3


def test_a_cancelled_annotation_is_a_skip(studio, notes):
    project, send = notes
    send(event(was_cancelled=True))
    (row,) = standing(studio, project)
    assert (row.kind, row.status, row.skip_reason) == ("skip", "skipped", "cancelled")


def test_many_annotations_come_at_once(studio, notes):
    project, send = notes
    one, two = event(annotation=1, result=[choice("praise")]), event(annotation=2, result=[choice("complaint")])
    body = {
        "action": "ANNOTATIONS_CREATED",
        "annotation": [{**one["annotation"], "task": 1}, {**two["annotation"], "task": 2}],
        "task": [{"id": 1, "data": {"text": "Good."}}, {"id": 2, "data": {"text": "Bad."}}],
        "project": one["project"],
    }
    assert send(body)["result"]["stored"] == 2
    broken = copy.deepcopy(body)
    broken["annotation"][1]["task"] = 3
    broken["annotation"][0]["id"], broken["annotation"][1]["id"] = 8, 9
    assert "task 3 is not in it" in send(broken, 422)["detail"]
    assert len(standing(studio, project)) == 2  # all or nothing


def test_other_events_are_left_alone(studio, notes):
    project, send = notes
    assert send({"action": "PROJECT_UPDATED", "project": {}}, 200) == {"status": "Unknown event", "result": {}}
    assert send({"action": "START_TRAINING", "project": {"id": 1}}) == {"status": "ok", "result": {}}
    assert standing(studio, project) == []


def test_answers_to_other_questions_are_ignored_and_counted(notes):
    _, send = notes
    config = NOTES.replace("</View>", '<Choices name="topic" toName="text"><Choice value="food"/></Choices></View>')
    other = {"from_name": "topic", "to_name": "text", "type": "choices", "value": {"choices": ["food"]}}
    assert send(event(result=[choice("praise"), other], config=config))["result"]["ignored"] == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda body: body.pop("task"), "task 19 is not in it"),
        (lambda body: body["project"].pop("label_config"), "has the label_config of its project"),
        (lambda body: body["annotation"].pop("id"), "the shape that Label Studio sends"),
        (lambda body: body["annotation"].update(result=[choice("tasty")]), "tasty"),
        (lambda body: body["annotation"].update(result=[mark(4, 8, "soap")]), "a span's quote must be its text; row 1"),
        (lambda body: body["annotation"].update(result=[mark(4, 800, None)]), "row 1 of tasks.json"),
        (lambda body: body["annotation"].update(updated_at="yesterday"), "a time is written as"),
        (lambda body: body["annotation"].update(updated_at="0001-01-01T00:00:00+14:00"), "a time is written as"),
        (lambda body: body["annotation"].update(lead_time=1e308), "a whole number of milliseconds"),
        (lambda body: body["annotation"].update(completed_by="x" * 600), "at most 500 characters"),
        (lambda body: body["task"]["data"].update(text="a\0b"), "no NUL character"),
        (lambda body: body["task"]["data"].clear(), "a question must be about a field of the data"),
    ],
)
def test_a_broken_event_stores_nothing_and_says_why(studio, notes, change, sentence):
    project, send = notes
    body = event(result=[choice("praise")])
    change(body)
    said = send(body, 422)["detail"]
    assert sentence in said
    assert "/tmp" not in said
    assert standing(studio, project) == []


def test_whatever_is_sent_no_server_error_comes_back(studio, notes):
    project, _ = notes
    owner = studio.person()
    studio.join(project, owner, "owner")
    path, rng = connect(studio, owner, project), random.Random(7)
    client = TestClient(studio.app, base_url="http://localhost", raise_server_exceptions=False)
    bodies = {"webhook": event(result=[choice("praise"), mark(4, 8, "soup")]), "setup": {"schema": NOTES}}
    for n in range(60):
        name = "setup" if n % 10 == 0 else "webhook"
        body = copy.deepcopy(bodies[name])
        for _ in range(rng.randint(1, 3)):
            body = changed(body, rng)
        answer = client.post(f"{path}/{name}", content=json.dumps(body), headers={"content-type": "application/json"})
        assert answer.status_code < 500, body
        assert "\n" not in str(answer.json().get("detail", ""))
    for depth in (300, 700, 900, 5000):
        deep = f'{{"action": "ANNOTATION_CREATED", "annotation": {{"id": 1, "result": [{"[" * depth}{"]" * depth}]}}}}'
        assert client.post(f"{path}/webhook", content=deep).status_code in (400, 422)
        body = json.dumps(event(result=[choice("praise")])).replace('"meta": {}', f'"meta": {"[" * depth}{"]" * depth}')
        body = body.replace('"The soup was superb."', f"{'[' * depth}{']' * depth}")
        assert client.post(f"{path}/webhook", content=body).status_code in (400, 422)


def test_votes_and_ratings_come_too(studio):
    owner = studio.person()
    pairs, aspects = studio.project(owner), studio.project(owner, "aspects", aspects=["food", "room"], n_ranks=5)
    client = studio.client()
    vote = {"id": "p", "from_name": "better", "to_name": "a", "type": "pairwise", "value": {"selected": "right"}}
    data = {"left": "This is text 1.", "right": "This is text 2."}
    answer = client.post(f"{connect(studio, owner, pairs)}/webhook", json=event(result=[vote], config=PAIRS, data=data))
    assert answer.json()["result"]["stored"] == 1
    (row,) = standing(studio, pairs)
    with studio.database.read() as connection:
        found = projects.items_by_key(connection, pairs, [row.item, row.other])
    assert (found[row.item].item_id, found[row.other].item_id, row.value) == ("t1", "t2", 0.0)
    assert row.shown_left == row.item
    rating = {"from_name": "food", "to_name": "text", "type": "rating", "value": {"rating": 4}}
    number = {"from_name": "room", "to_name": "text", "type": "number", "value": {"number": 2}}
    path = connect(studio, owner, aspects)
    client.post(f"{path}/webhook", json=event(result=[rating, number], config=RATINGS))
    assert [(row.aspect, row.value) for row in standing(studio, aspects)] == [("food", 4.0), ("room", 2.0)]
    rating["value"]["rating"] = 9
    assert client.post(f"{path}/webhook", json=event(annotation=3, result=[rating], config=RATINGS)).status_code == 422
