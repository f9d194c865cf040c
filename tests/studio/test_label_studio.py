"""The studio as a machine-learning backend of Label Studio, with the requests that Label Studio sends."""

import base64
import json
import random

import pytest
from label_studio import (
    CHOICES,
    NOTES,
    ON_ONE_DATABASE,
    PAIRS,
    asking,
    connect,
    event,
    example,
    learn,
)

from accord.errors import InputError
from accord.store import projects
from accord.store.judgements import Judgement, append
from accord.studio.server import connect_label_studio
from accord.workflows.collecting.refit import refit
from accord.workflows.projects import open_example
from accord.workflows.train import train

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
    ("kind", "config", "wanted"),
    [
        ("pairs", NOTES, "a Pairwise question about two texts"),
        ("aspects", NOTES, "a Rating or Number called food or room"),
        ("rationales", CHOICES.format("x", "y"), "Choices of complaint, praise"),
        ("threads", PAIRS, "Choices of complaint, praise"),
    ],
)
def test_a_config_that_asks_something_else_is_refused(studio, kind, config, wanted):
    owner = studio.person()
    path = connect(studio, owner, studio.project(owner, kind, labels=["praise", "complaint"], aspects=["food", "room"]))
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
        assert [[v["start"], v["end"], v["text"]] for v in marks] == [list(span) for span in rows[0]["highlights"]]


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
        open_example("cafe-notes"), tmp_path / "m.accord", settings={}, progress=lambda what, done, total: None
    )
    path = connect_label_studio(studio.database, str(project), model=tmp_path / "m.accord")
    config = CHOICES.format(*saved.model.classes_[:2])
    with studio.database.write() as connection:
        projects.change_project(connection, project, settings={"labels": list(map(str, saved.model.classes_))})
    refit(studio.database, project, rng=random.Random(0))
    answer = studio.client().post(f"{path}/predict", json=asking([{"text": "The soup was superb."}], config)).json()
    assert answer["model_version"] == f"accord-file-{saved.fingerprint}"
    assert answer["results"][0]["result"]
    with pytest.raises(InputError, match="cannot serve a project of pairs"):
        connect_label_studio(studio.database, str(studio.project(owner)), model=tmp_path / "m.accord")
    with pytest.raises(InputError, match="0 are called 'nowhere'"):
        connect_label_studio(studio.database, "nowhere")
