"""The studio as a machine-learning backend of Label Studio, with the requests that Label Studio sends."""

import base64
import copy
import json
import random

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from accord.errors import InputError
from accord.store import projects
from accord.store.judgements import Judgement, append, effective
from accord.store.tables import judgements
from accord.studio.server import connect_label_studio
from accord.workflows.exchange import store_project
from accord.workflows.projects import open_example
from accord.workflows.refit import refit
from accord.workflows.train import train
from fuzzing import changed

# Tests that fit models run on one kind of database, because they take longer.
ON_ONE_DATABASE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

PAIRS = (
    '<View><Pairwise name="better" toName="a,b"/><Text name="a" value="$left"/><Text name="b" value="$right"/></View>'
)
CHOICES = (
    '<View><Text name="text" value="$text"/><Choices name="side" toName="text"><Choice value="{}"/><Choice value="{}"/>'
    '</Choices><Labels name="why" toName="text"><Label value="reason"/></Labels></View>'
)
NOTES = CHOICES.format("praise", "complaint")
RATINGS = (
    '<View><Text name="text" value="$text"/><Rating name="food" toName="text" maxRating="5"/>'
    '<Number name="room" toName="text"/></View>'
)


def connect(studio, owner, project):
    answer = studio.client(owner).post(f"/api/projects/{project}/label-studio")
    assert answer.status_code == 201, answer.text
    return answer.json()["path"]


def example(studio, owner, name):
    with studio.database.write() as connection:
        return store_project(connection, open_example(name), name=name, created_by=owner.id)


def learn(studio, project):
    assert refit(studio.database, project, rng=random.Random(0)).model_version >= 1


def asking(tasks, config):
    """A request for predictions as Label Studio makes it."""
    return {
        "tasks": [
            {"id": 100 + place, "data": data, "meta": {}, "project": 7, "annotations": [], "predictions": []}
            for place, data in enumerate(tasks)
        ],
        "model_version": "accord-1",
        "project": "7.1690000000",
        "label_config": config,
        "params": {"login": None, "password": None, "context": None},
    }


def event(action="ANNOTATION_CREATED", *, annotation=17, result=(), config=NOTES, data=None, at=0, **more):
    """An event as Label Studio sends it."""
    return {
        "action": action,
        "annotation": {
            "id": annotation,
            "result": list(result),
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2026-08-17T13:52:48.536303Z",
            "updated_at": f"2026-08-17T13:52:{50 + at}.536370Z",
            "lead_time": 37.13,
            "prediction": {},
            "result_count": 1,
            "task": 19,
            "completed_by": 1,
            **more,
        },
        "task": {"id": 19, "data": data or {"text": "The soup was superb."}, "meta": {}, "project": 2},
        "project": {"id": 2, "title": "New Project #2", "label_config": config},
    }


def choice(label):
    return {"id": "x1", "from_name": "side", "to_name": "text", "type": "choices", "value": {"choices": [label]}}


def mark(start, end, text):
    value = {"start": start, "end": end, "text": text, "labels": ["reason"]}
    return {"id": f"m{start}", "from_name": "why", "to_name": "text", "type": "labels", "value": value}


def standing(studio, project):
    with studio.database.read() as connection:
        return connection.execute(effective(project)).all()


# -- who gets in -------------------------------------------------------------------------------------------------


def test_only_the_secret_of_the_project_opens_it(studio):
    owner = studio.person()
    mine, other = studio.project(owner), studio.project(owner)
    path, elsewhere = connect(studio, owner, mine), connect(studio, owner, other)
    secret, base = path.rsplit("/", 1)[1], path.rsplit("/", 1)[0]
    client = studio.client()
    for method, name in (("GET", "health"), ("POST", "predict"), ("POST", "setup"), ("POST", "webhook")):
        bare = client.request(method, f"{base}/{name}", json={})
        assert bare.status_code == 401
        assert bare.headers["www-authenticate"].startswith("Basic")
        assert client.request(method, f"{base}/{'x' * 43}/{name}", json={}).status_code == 401
        assert client.request(method, f"{base}/{elsewhere.rsplit('/', 1)[1]}/{name}", json={}).status_code == 404
        assert client.request(method, f"/api/label-studio/999/{secret}/{name}", json={}).status_code == 404
    basic = base64.b64encode(f"accord:{secret}".encode()).decode()
    for headers in ({"authorization": f"Basic {basic}"}, {"authorization": f"Bearer {secret}"}):
        assert client.get(f"{base}/health", headers=headers).json() == {"status": "UP", "model_class": "accord.pairs"}
    assert client.get(path).json()["status"] == "UP"
    for wrong in ("Basic %%%", "Basic " + base64.b64encode(b"\xff\xfe").decode(), "Digest x", "Basic"):
        assert client.get(f"{base}/health", headers={"authorization": wrong}).status_code == 401


def test_a_session_does_not_open_the_backend_and_the_secret_opens_nothing_else(studio):
    owner = studio.person()
    project = studio.project(owner)
    path = connect(studio, owner, project)
    session = studio.client(owner)
    assert session.get(path.rsplit("/", 1)[0] + "/health").status_code == 401
    client = studio.client()
    client.headers["authorization"] = f"Bearer {path.rsplit('/', 1)[1]}"
    assert client.get("/api/me").status_code == 401
    assert client.get(f"/api/projects/{project}/items").status_code == 401


def test_only_owners_connect_and_a_new_address_ends_the_old_one(studio):
    owner, judge, stranger = studio.person(), studio.person(), studio.person()
    project = studio.project(owner)
    studio.join(project, judge, "judge")
    for person, status in ((judge, 403), (stranger, 404)):
        assert studio.client(person).post(f"/api/projects/{project}/label-studio").status_code == status
        assert studio.client(person).delete(f"/api/projects/{project}/label-studio").status_code == status
    assert studio.client().post(f"/api/projects/{project}/label-studio").status_code == 401
    assert (
        f'data-api="/api/projects/{project}/label-studio"'
        in studio.client(owner).get(f"/projects/{project}/people").text
    )
    first, second = connect(studio, owner, project), connect(studio, owner, project)
    client = studio.client()
    assert client.get(f"{first}/health").status_code == 401
    assert client.get(f"{second}/health").status_code == 200
    assert studio.client(owner).delete(f"/api/projects/{project}/label-studio").status_code == 204
    assert client.get(f"{second}/health").status_code == 401
    assert studio.client(owner).delete(f"/api/projects/{project}/label-studio").status_code == 404


def test_guessing_is_slowed_down(studio):
    owner = studio.person()
    project = studio.project(owner)
    client = studio.client()
    answers = {client.get(f"/api/label-studio/{project}/guess{n}/health").status_code for n in range(30)}
    assert answers == {401, 429}


# -- suggestions -------------------------------------------------------------------------------------------------


def test_before_there_is_a_model_nothing_is_suggested(studio):
    owner = studio.person()
    path = connect(studio, owner, studio.project(owner))
    client = studio.client()
    body = asking([{"left": "This is text 1.", "right": "This is text 2."}], PAIRS)
    assert client.post(f"{path}/predict", json=body).json() == {"results": [], "model_version": "accord-0"}
    setup = {
        "project": "7.1690000000",
        "schema": PAIRS,
        "hostname": "http://x",
        "access_token": "y",
        "extra_params": "",
    }
    assert client.post(f"{path}/setup", json=setup).json() == {"model_version": "accord-0"}


@pytest.mark.parametrize(
    ("word", "config", "wanted"),
    [
        ("pairs", NOTES, "a Pairwise question about two texts"),
        ("aspects", NOTES, "a Rating or Number called food or room"),
        ("rationales", CHOICES.format("x", "y"), "Choices of complaint, praise"),
        ("threads", PAIRS, "Choices of complaint, praise"),
    ],
)
def test_a_config_that_asks_something_else_is_refused(studio, word, config, wanted):
    owner = studio.person()
    path = connect(studio, owner, studio.project(owner, word, labels=["praise", "complaint"], aspects=["food", "room"]))
    client = studio.client()
    for name, body in (
        ("setup", {"project": "7.1", "schema": config}),
        ("predict", asking([{"text": "x"}], config)),
        ("webhook", event(config=config)),
    ):
        answer = client.post(f"{path}/{name}", json=body)
        assert answer.status_code == 422
        assert wanted in answer.json()["detail"]


@pytest.mark.parametrize(
    "config", ["", "<View", "<View/>", '<!DOCTYPE x [<!ENTITY a "a">]><View>&a;</View>', "<a>" * 90_000]
)
def test_a_config_that_is_none_is_refused_in_a_sentence(studio, config):
    owner = studio.person()
    path = connect(studio, owner, studio.project(owner))
    answer = studio.client().post(f"{path}/setup", json={"project": "1", "schema": config})
    assert answer.status_code == 422
    assert "\n" not in answer.json()["detail"]


@ON_ONE_DATABASE
def test_pairs_are_suggested_as_the_ranking_has_them(studio):
    owner = studio.person()
    project = studio.project(owner)
    path = connect(studio, owner, project)
    with studio.database.write() as connection:
        keys = {name: item.key for name, item in projects.items_by_id(connection, project, ["t0", "t1", "t5"]).items()}
        rows = [
            Judgement(f"request-{a}-{b}", "pair", item=keys[a], other=keys[b], value=1.0)
            for a, b in (("t0", "t1"), ("t1", "t5"), ("t0", "t5"))
        ]
        append(connection, project, rows)
    learn(studio, project)
    best, worst, texts = "t0", "t5", {name: f"This is text {name[1]}." for name in keys}
    task = {"left": texts[best], "right": texts[worst], "left_id": best, "right_id": worst}
    turned = {"left": texts[worst], "right": texts[best], "left_id": worst, "right_id": best}
    new = {"left": "Trams are quiet and need less room.", "right": "No."}
    nameless = {"left": texts[best], "right": texts[worst]}
    misnamed = {"left": "Trams are quiet and need less room.", "right": "No.", "left_id": worst}
    tasks = [task, turned, nameless, new]
    answer = studio.client().post(f"{path}/predict", json=asking(tasks, PAIRS))
    assert answer.status_code == 200, answer.text
    (other,) = studio.client().post(f"{path}/predict", json=asking([misnamed], PAIRS)).json()["results"]
    results = [*answer.json()["results"], other]
    assert [entry["model_version"] for entry in results] == ["accord-1"] * 5
    shown = [entry["result"][0] for entry in results]
    assert all(entry["type"] == "pairwise" and entry["from_name"] == "better" for entry in shown)
    assert [entry["value"]["selected"] for entry in shown[:2]] == ["left", "right"]
    assert results[0]["score"] == pytest.approx(results[1]["score"]) == pytest.approx(results[2]["score"])
    assert results[3]["score"] == pytest.approx(results[4]["score"])
    assert 0.5 < results[0]["score"] <= 1.0


@ON_ONE_DATABASE
@pytest.mark.parametrize("name", ["cafe-threads", "cafe-statements", "cafe-notes"])
def test_labels_are_suggested_for_known_and_new_texts(studio, name):
    owner = studio.person()
    project = example(studio, owner, name)
    path = connect(studio, owner, project)
    learn(studio, project)
    rows = studio.client(owner).get(f"/api/projects/{project}/results").json()["rows"]
    with studio.database.read() as connection:
        stored = projects.get_project(connection, project)
        items = projects.items_by_key(connection, project, [rows[0]["key"]])
    config = CHOICES.format(*stored.settings["labels"][:2])
    text = items[rows[0]["key"]].text
    tasks = [{"text": text, "item_id": rows[0]["item_id"]}, {"text": text}, {"text": "Nobody has said this before."}]
    answer = studio.client().post(f"{path}/predict", json=asking(tasks, config))
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert len(results) == 3
    offered = set(stored.settings["labels"][:2])
    for entry in results[:2]:
        assert entry["score"] == pytest.approx(rows[0]["probability"])
        (chosen,) = [part for part in entry["result"] if part["type"] == "choices"]
        assert chosen["value"]["choices"] == [rows[0]["label"]]
    for entry in results:
        for part in entry["result"]:
            if part["type"] == "choices":
                assert set(part["value"]["choices"]) <= offered
            else:
                assert part["value"]["text"]
                assert part["value"]["labels"] == ["reason"]
    if name == "cafe-notes":
        marks = [part["value"] for part in results[0]["result"] if part["type"] == "labels"]
        assert all(text[value["start"] : value["end"]] == value["text"] for value in marks)
        assert {f"{value['start']}:{value['end']}" for value in marks} == set(rows[0].get("highlights", "").split())


@ON_ONE_DATABASE
def test_aspects_are_suggested_as_ratings_and_numbers(studio):
    owner = studio.person()
    project = example(studio, owner, "cafe-reviews")
    path = connect(studio, owner, project)
    learn(studio, project)
    with studio.database.read() as connection:
        aspects = projects.get_project(connection, project).settings["aspects"]
    config = (
        f'<View><Text name="t" value="$body"/><Rating name="{aspects[0]}" toName="t"/>'
        f'<Number name="{aspects[1]}" toName="t"/><Rating name="other" toName="t"/></View>'
    )
    answer = studio.client().post(f"{path}/predict", json=asking([{"body": "Cold coffee, kind people."}], config))
    assert answer.status_code == 200, answer.text
    first, second = answer.json()["results"][0]["result"]
    assert (first["from_name"], first["type"], second["type"]) == (aspects[0], "rating", "number")
    assert 1 <= first["value"]["rating"] <= 5
    assert 1 <= second["value"]["number"] <= 5


@ON_ONE_DATABASE
def test_a_task_without_a_text_gets_no_answer_and_does_not_spoil_the_others(studio):
    owner = studio.person()
    project = example(studio, owner, "cafe-notes")
    path = connect(studio, owner, project)
    learn(studio, project)
    with studio.database.read() as connection:
        config = CHOICES.format(*projects.get_project(connection, project).settings["labels"][:2])
    client = studio.client()
    answer = client.post(f"{path}/predict", json=asking([{"x": 1}, {"text": "Good bread."}, {"text": 5}], config))
    assert [bool(entry["result"]) for entry in answer.json()["results"]] == [False, True, False]
    for bad in ({"tasks": [{}]}, {"tasks": [{"data": []}]}, {"tasks": [{"id": 1, "data": {"text": "\ud800"}}]}):
        body = {**asking([], config), **bad}
        raw = client.post(f"{path}/predict", content=json.dumps(body))
        assert raw.status_code == 422


@ON_ONE_DATABASE
def test_a_model_file_serves_in_place_of_the_projects_own(studio, tmp_path):
    owner = studio.person()
    project = studio.project(owner, "rationales", labels=["praise", "complaint"])
    saved = train(
        open_example("cafe-notes"), tmp_path / "m.skops", settings={}, progress=lambda what, done, total: None
    )
    path = connect_label_studio(studio.database, str(project), model=tmp_path / "m.skops")
    config = CHOICES.format(*saved.model.classes_[:2])
    with studio.database.write() as connection:
        projects.change_project(connection, project, settings={"labels": list(map(str, saved.model.classes_))})
    refit(studio.database, project, rng=random.Random(0))
    answer = studio.client().post(f"{path}/predict", json=asking([{"text": "The soup was superb."}], config)).json()
    assert answer["model_version"] == f"accord-file-{saved.fingerprint}"
    assert answer["results"][0]["result"]
    with pytest.raises(InputError, match="cannot serve a project of pairs"):
        connect_label_studio(studio.database, str(studio.project(owner)), model=tmp_path / "m.skops")
    with pytest.raises(InputError, match="0 are called 'nowhere'"):
        connect_label_studio(studio.database, "nowhere")


# -- annotations -------------------------------------------------------------------------------------------------


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
    client = TestClient(studio.app, raise_server_exceptions=False)
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
