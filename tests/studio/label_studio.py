"""Requests as Label Studio sends them, for its tests."""

import random

import pytest

from accord.store.judgements import effective
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import store_project
from accord.workflows.projects import open_example

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
    return store_project(studio.database, open_example(name), name=name, created_by=owner.id)


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
