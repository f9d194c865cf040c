import io
import re
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from accord.store import judgements, people, projects, scores
from accord.store.judgements import Judgement
from accord.studio.app import create_app
from accord.studio.security import Passwords

NASTY = '<script>alert(1)</script><img src=x onerror=alert(1)> & "quotes"'


def pages_of(project):
    return [f"/projects/{project}/{page}" for page in ("judge", "results", "texts", "people", "export")]


@pytest.mark.parametrize(
    "word, settings",
    [
        ("pairs", {}),
        ("threads", {"labels": ["Good", "Bad"]}),
        ("aspects", {"aspects": ["food", "value"], "n_ranks": 5}),
        ("links", {"labels": ["yes", "no"]}),
        ("rationales", {"labels": ["pro", "con"]}),
    ],
)
def test_every_page_of_every_word_is_shown_and_escapes_texts(studio, word, settings):
    owner = studio.person()
    project = studio.project(owner, word, **settings)
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
        summary = {"settled": 0.4, "is_stable": False, "votes_left": 120, "missing_joins": 2}
        scores.put_scores(
            c, project, n_judgements=7, last_judgement=0, seconds=0.1, result={"rows": rows, "summary": summary}
        )
    page = studio.client(owner).get(f"/projects/{project}/results").text
    assert "About 120 more votes should do" in page
    assert "2 more links are missing" in page
    assert page.count('class="interval"') == 3
    assert "would beat the next about 8 times in 10" in page or "about 7 times in 10" in page


def test_visitors_without_an_account_are_sent_to_the_front_page(studio):
    project = studio.project(studio.person())
    answer = studio.client().get(f"/projects/{project}/results", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"


def test_a_demonstration_lets_guests_in_by_one_click_and_a_studio_does_not(studio):
    assert studio.client().post("/demo").status_code == 404
    studio.project(studio.person())
    app = create_app(studio.database, passwords=Passwords(fast=True), demo=True)
    guest = TestClient(app)
    assert "Try the demonstration" in guest.get("/").text
    assert guest.post("/demo").status_code == 200
    assert "about pairs" in guest.get("/").text
    app.state.studio.writer.close()


def upload(client, data, filename="texts.csv", **form):
    fields = {"name": "Uploaded", "word": "pairs", **form}
    return client.post("/api/projects", data=fields, files={"file": (filename, data)})


def test_a_project_is_made_from_a_file_or_not_at_all(studio):
    client = studio.client(studio.person())
    good = upload(client, b"item_id,text,group_id\na,First text,g\nb,Second text,g\n")
    assert good.status_code == 201, good.text
    assert client.get(f"/api/projects/{good.json()['id']}/items").json()["total"] == 2
    for data, name in [
        (b"", "texts.csv"),
        (b"item_id,text\na,x\na,y\n", "texts.csv"),
        (b"colour\nred\n", "texts.csv"),
        (b"item_id,text\na,\xff\xfe\n", "texts.csv"),
        (b"MZ\x90", "texts.exe"),
        (b"PAR1 no PAR1", "texts.parquet"),
        (b"item_id,text\na,x\n", "../../etc/passwd"),
    ]:
        answer = upload(client, data, name)
        assert answer.status_code == 422, (name, answer.text)
        assert isinstance(answer.json()["detail"], str)
    assert len(client.get("/api/projects").json()) == 1


def test_exports_hold_the_ids_and_run_no_formulas(studio):
    owner = studio.person()
    project = studio.project(owner, n=2)
    with studio.database.write() as c:
        projects.add_items(c, project, [{"item_id": "f", "text": '=HYPERLINK("x")'}])
        found, _ = projects.find_items(c, project)
        vote = Judgement(
            request_id="request1", kind="pair", item=found[0].key, other=found[1].key, value=0.0, person_id=owner.id
        )
        judgements.append(c, project, [vote])
    client = studio.client(owner)
    for form in ("csv", "tsv", "jsonl", "parquet"):
        answer = client.get(f"/api/projects/{project}/export?format={form}")
        assert answer.headers["content-type"] == "application/zip"
        archive = zipfile.ZipFile(io.BytesIO(answer.content))
        assert archive.namelist() == [f"items.{form}", f"judgements.{form}"]
    text = zipfile.ZipFile(io.BytesIO(client.get(f"/api/projects/{project}/export").content)).read("items.csv").decode()
    assert "'=HYPERLINK" in text


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
    assert [client.get(path).status_code for path in pages_of(project)] == [200, 200, 200, 403, 403]


def test_an_upload_that_is_too_large_or_unpacks_too_large_is_refused(studio, monkeypatch):
    owner = studio.person()
    app = create_app(studio.database, passwords=Passwords(fast=True), most_upload=2**20)
    with studio.database.write() as c:
        token = people.start_session(c, owner.id)
    client = TestClient(app, headers={"authorization": f"Bearer {token}"})
    assert upload(client, b"x" * (2**20 + 1)).status_code == 413
    # A small file of very many equal rows: 5 MB when unpacked.
    table = pa.table({"item_id": [str(i) for i in range(5)], "text": ["a" * 10**6] * 5})
    bomb = io.BytesIO()
    pq.write_table(table, bomb, compression="zstd", use_dictionary=False)
    assert len(bomb.getvalue()) < 2**16
    monkeypatch.setattr("accord.workflows.exchange._MOST_UNPACKED", 10**6)
    answer = upload(client, bomb.getvalue(), "texts.parquet")
    assert answer.status_code == 422
    assert "when unpacked" in answer.json()["detail"]
    app.state.studio.writer.close()
