"""Pictures say in words what they show, and show what was stored."""

import random
import re
import uuid
import xml.etree.ElementTree as ET

import pytest

from accord.store import judgements, projects
from accord.store.judgements import Judgement
from accord.studio.pages.pictures import progress
from accord.workflows.collecting.refit import refit


@pytest.fixture
def voted(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner, n=6)
    studio.join(project, judge, "judge")
    with studio.database.write() as c:
        keys = [item.key for item in projects.find_items(c, project)[0]]
        rows = [
            Judgement(request_id=uuid.uuid4().hex, kind="pair", item=keys[a], other=keys[b], value=1.0, person_id=who)
            for a, b in ((0, 1), (1, 2), (0, 2), (3, 4)) for who in (owner.id, judge.id)
        ]  # fmt: skip
        judgements.append(c, project, rows)
    refit(studio.database, project, rng=random.Random(0))
    return project, studio.client(owner), studio.client(judge), owner.name


def test_every_picture_is_well_formed_has_words_and_can_be_taken_away(voted):
    project, owner, judge, name = voted
    page = owner.get(f"/projects/{project}/pictures").text
    drawn = re.findall(r"/pictures/([a-z0-9-]+)\.svg", page)
    assert drawn == ["ranking", "progress", "graph", "agreement-0"]
    for which in drawn:
        answer = owner.get(f"/projects/{project}/pictures/{which}.svg")
        assert answer.headers["content-type"] == "image/svg+xml"
        root = ET.fromstring(answer.text)
        assert len(root.attrib["aria-label"]) > 20
        assert root.attrib["aria-label"] == root[0].text
    graph = owner.get(f"/projects/{project}/pictures/graph.svg").text
    assert "5 texts and the 4 pairs of them that were compared. They fall into 2 parts." in graph
    assert graph.count("<circle") == 5
    assert name in owner.get(f"/projects/{project}/pictures/agreement-0.svg").text
    assert judge.get(f"/projects/{project}/pictures").status_code == 403
    owner.patch(f"/api/projects/{project}", json={"open": True})
    opened = judge.get(f"/projects/{project}/pictures").text
    assert "agreement-0" not in opened
    assert name not in opened
    assert judge.get(f"/projects/{project}/pictures/agreement-0.svg").status_code == 404


def test_a_forecast_goes_on_at_the_pace_of_the_last_week():
    drawn = progress([["2026-01-01", 10], ["2026-01-02", 10]], 60)
    assert "20 answers from 2026-01-01 to 2026-01-02." in drawn
    assert "all 60 are there on 2026-01-06" in drawn  # ten a day, forty left
    assert "all" not in progress([["2026-01-01", 10]], 10)


def test_the_answers_that_are_wanted_of_threads_are_those_about_comments(studio):
    owner = studio.person()
    project = studio.project(owner, kind="threads", labels=["Good", "Bad"], overlap=2)
    with studio.database.write() as c:
        projects.add_items(c, project, [{"item_id": "g", "text": "Where is the key?", "group_id": "g"}])
        (first, *_), total = projects.find_items(c, project)
        assert total == 7
        answer = Judgement(request_id=uuid.uuid4().hex, kind="label", item=first.key, label="Good", person_id=owner.id)
        judgements.append(c, project, [answer])
    refit(studio.database, project, rng=random.Random(0))
    drawn = studio.client(owner).get(f"/projects/{project}/pictures/progress.svg").text
    assert "all 12 are there" in drawn  # six comments, each answered by two people
