import re

import pytest
from fastapi.testclient import TestClient

from accord.store import projects, scores
from accord.studio.app import create_app
from accord.studio.security import Passwords

NASTY = '<script>alert(1)</script><img src=x onerror=alert(1)> & "quotes"'


def pages_of(project):
    return [f"/projects/{project}/{page}" for page in ("judge", "results", "texts", "people", "export")]


@pytest.mark.parametrize(
    "kind, settings",
    [
        ("pairs", {}),
        ("threads", {"labels": ["Good", "Bad"]}),
        ("aspects", {"aspects": ["food", "value"], "n_ranks": 5}),
        ("links", {"labels": ["yes", "no"]}),
        ("rationales", {"labels": ["pro", "con"]}),
    ],
)
def test_every_page_of_every_word_is_shown_and_escapes_texts(studio, kind, settings):
    owner = studio.person()
    project = studio.project(owner, kind, **settings)
    with studio.database.write() as c:
        projects.add_items(c, project, [{"item_id": "nasty", "text": NASTY, "group_id": "g2"}])
        projects.change_project(c, project, name=NASTY, question=NASTY, guidelines=NASTY)
        (item,), _ = projects.find_items(c, project, search="onerror")
    client = studio.client(owner)
    for path in [*pages_of(project), f"/projects/{project}/texts/{item.key}", "/"]:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert not re.search(r"<script(?![^>]*src=)", answer.text), "a script stands inside the page"
        assert " style=" not in answer.text
        assert " onclick=" not in answer.text


def test_the_ranking_page_shows_tiers_intervals_and_what_is_missing(studio):
    owner = studio.person()
    project = studio.project(owner, n=3)
    with studio.database.write() as c:
        found, _ = projects.find_items(c, project)
        rows = [
            {"key": i.key, "item_id": i.item_id, "rank": n + 1, "tier": 1 + (n > 0), "score": 2.0 - n, "low": 1.5 - n,
             "high": 2.5 - n, "p_best": 0.5, "n_votes": 4}
            for n, i in enumerate(found)
        ]  # fmt: skip
    summary = {"settled": 0.4, "p_top": 0.6, "sure": 0.95, "top": 1, "missing_joins": 2, "least": -0.5, "most": 2.5}
    scores.put_scores(
        studio.database, project, n_judgements=7, last_judgement=0, seconds=0.1, result={"summary": summary}, rows=rows
    )
    page = studio.client(owner).get(f"/projects/{project}/results").text
    assert "The order of 40 % of all pairs" in page
    assert "The probability that the first text is the best is 60 %; 95 % is wanted." in page
    assert "2 more links are missing" in page
    assert page.count('class="interval"') == 3
    assert "times in 10" not in page
    assert 'data-version="1"' in page  # what live.js compares with the newest model
    assert "/static/js/live.js" in page
    scores.put_scores(
        studio.database, project, n_judgements=8, last_judgement=0, seconds=0.1, rows=rows,
        result={"summary": {**summary, "n_questions": 3}},
    )  # fmt: skip
    page = studio.client(owner).get(f"/projects/{project}/results").text
    assert "the first text is the best in all 3 questions at once is 60 %" in page


def test_the_people_page_shows_how_often_each_voter_answers_at_random(studio):
    owner = studio.person()
    project = studio.project(owner)
    someone = {"name": "Ann", "n_answers": 12, "n_shared": 0, "agreement": None, "low": None, "high": None,
               "n_sided": 0, "left_share": None, "left_low": None, "left_high": None, "median_ms": None,
               "fast_share": None}  # fmt: skip
    client = studio.client(owner)
    for voters, said in (([], False), ([{"annotator": "Ann", "error": 0.31, "low": 0.1, "high": 0.6}], True)):
        scores.put_scores(
            studio.database, project, n_judgements=12, last_judgement=0, seconds=0.1, rows=[],
            result={"summary": {"voters": voters}, "people": [someone]},
        )  # fmt: skip
        page = client.get(f"/projects/{project}/people").text
        assert ("Random answers" in page) is said
        assert ("31 % (10–60)" in page) is said


def test_visitors_without_an_account_are_sent_to_the_front_page(studio):
    project = studio.project(studio.person())
    answer = studio.client().get(f"/projects/{project}/results", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"


def test_a_demonstration_lets_guests_in_by_one_click_and_a_studio_does_not(studio):
    assert studio.client().post("/demo").status_code == 404
    studio.project(studio.person())
    with studio.database.write() as c:
        projects.create_project(c, name="an example", kind="pairs")
    app = create_app(studio.database, passwords=Passwords(fast=True), demo=True)
    guest = TestClient(app, base_url="http://localhost")
    assert "Try the demonstration" in guest.get("/").text
    assert guest.post("/demo").status_code == 200
    assert "an example" in guest.get("/").text
    assert "about pairs" not in guest.get("/").text
    app.state.studio.writer.close()


def test_nobody_sees_a_page_of_a_project_of_others(studio):
    owner, stranger = studio.person(), studio.person()
    project = studio.project(owner)
    client, nobody = studio.client(stranger), studio.client()
    paths = [*pages_of(project), f"/projects/{project}/texts/1"]
    for path in paths:
        assert client.get(path).status_code == 404, path
        assert nobody.get(path, follow_redirects=False).status_code == 303, path


def test_a_judge_does_not_see_the_owners_pages(studio):
    owner, judge = studio.person(), studio.person()
    project = studio.project(owner)
    studio.join(project, judge, "judge")
    client = studio.client(judge)
    assert [client.get(path).status_code for path in pages_of(project)] == [200, 403, 200, 403, 403]
