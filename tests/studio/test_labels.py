"""Plain labels: one text, one label or several, with highlights where they are wanted."""

import json
import uuid

from accord.store import judgements as kept


def ask(client, project):
    return client.post(f"/api/projects/{project}/questions/next").json()


def send(client, project, key, **body):
    sent = {"request_id": uuid.uuid4().hex, "kind": "label", "item": key, **body}
    return client.post(f"/api/projects/{project}/judgements", json=sent)


def rows(studio, project):
    with studio.database.read() as c:
        return [(row.kind, row.label, row.quote) for row in c.execute(kept.effective(project))]


def made(client, **form):
    files = {"file": ("texts.csv", "item_id,text\na,Cats sleep.\nb,Dogs bark.\nc,Fish swim.\n")}
    answer = client.post("/api/projects", data={"name": "Pets", "kind": "labels", **form}, files=files)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_plain_labels_are_asked_stored_and_learnt(studio):
    client = studio.client(studio.person())
    project = made(client, labels="calm, loud")
    assert (project["kind"], project["settings"]["plain"], project["settings"]["labels"]) == (
        "rationales", True, ["calm", "loud"],
    )  # fmt: skip
    page = client.get(f"/projects/{project['id']}/judge").text
    assert "Which label fits this text?" in page
    assert "data-marks" not in page
    for label in ("calm", "loud", "calm"):
        key = ask(client, project["id"])["texts"][0]["key"]
        assert send(client, project["id"], key, label=label).status_code == 201
    assert rows(studio, project["id"]) == [("label", name, None) for name in ("calm", "loud", "calm")]
    refused = send(client, project["id"], key, labels=["calm", "loud"])
    assert "one label in this project; 2 were sent" in refused.json()["detail"]
    assert "takes label or skip" in send(client, project["id"], key, kind="span", label="calm").json()["detail"]


def test_several_labels_and_highlights_are_taken_where_they_are_allowed(studio):
    client = studio.client(studio.person())
    project = made(client, labels="calm, loud, wet", several="true")["id"]
    client.patch(f"/api/projects/{project}", json={"highlight": True})
    page = client.get(f"/projects/{project}/judge").text
    assert "data-several" in page
    assert "data-marks" in page
    key = ask(client, project)["texts"][0]["key"]
    spans = [{"item": key, "start": 0, "end": 4}]
    assert send(client, project, key, labels=["wet", "calm"], spans=spans).json()["new_rows"] == 3
    assert rows(studio, project) == [("label", "wet", None), ("label", "calm", None), ("span", None, "Cats")]
    assert "'dry' is not among" in send(client, project, key, labels=["wet", "dry"]).json()["detail"]


def test_choices_of_label_studio_arrive_as_plain_labels(studio):
    tasks = [
        {
            "id": n, "data": {"text": text},
            "annotations": [{"id": n, "completed_by": 1, "result": [
                {"from_name": "topic", "to_name": "text", "type": "choices", "value": {"choices": choices}}
            ]}],
        }
        for n, (text, choices) in enumerate([("Cats sleep.", ["calm"]), ("Dogs bark.", ["loud", "calm"])], start=1)
    ]  # fmt: skip
    config = '<View><Text name="text" value="$text"/><Choices name="topic" toName="text" choice="multiple">' \
        '<Choice value="calm"/><Choice value="loud"/></Choices></View>'  # fmt: skip
    client = studio.client(studio.person())
    files = {"file": ("tasks.json", json.dumps(tasks)), "config": ("config.xml", config)}
    answer = client.post("/api/projects", data={"name": "From Label Studio"}, files=files)
    assert answer.status_code == 201, answer.text
    project = answer.json()
    assert (project["kind"], project["settings"].get("plain"), project["settings"].get("several")) == (
        "rationales", True, True,
    )  # fmt: skip
    assert [row[1] for row in rows(studio, project["id"])] == ["calm", "loud", "calm"]
    page = client.get(f"/projects/{project['id']}/judge").text
    assert 'data-label="calm"' in page
    assert "data-several" in page
