"""Files that come in and go out: any known format, all or nothing, and nothing that bites."""

import io
import json
import tempfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from accord.data.formats.registry import format_names
from accord.errors import InputError
from accord.store import judgements, people, projects
from accord.store.judgements import Judgement
from accord.studio.app import create_app
from accord.studio.security import Passwords
from accord.workflows.exchange import read_files, store_project
from accord.workflows.projects import EXAMPLES, open_example


def upload(client, data, filename="texts.csv", **form):
    fields = {"name": "Uploaded", "kind": "pairs", **form}
    return client.post("/api/projects", data=fields, files={"file": (filename, data)})


def test_a_project_is_made_from_a_file_or_not_at_all(studio):
    client = studio.client(studio.person())
    good = upload(client, b"item_id,text,group_id\na,First text,g\nb,Second text,g\n")
    assert good.status_code == 201, good.text
    assert client.get(f"/api/projects/{good.json()['id']}/items").json()["total"] == 2
    for data, name in [
        (b"", "texts.csv"),
        (b"item_id,text\na,x\na,y\n", "texts.csv"),
        (b"MZ\x90", "texts.exe"),
        (b"PAR1 no PAR1", "texts.parquet"),
        (b"item_id,text\na,x\n", "../../etc/passwd"),
        (b"PK\x03\x04 no zip", "texts.zip"),
        (b"[" * 100_000, "texts.json"),
    ]:
        answer = upload(client, data, name)
        assert answer.status_code == 422, (name, answer.text)
        assert isinstance(answer.json()["detail"], str)
        assert "accord-upload-" not in answer.json()["detail"]
    assert len(client.get("/api/projects").json()) == 1


def packed(files):
    """A zip file of names and contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def look(client, *files, **form):
    return client.post("/api/uploads/look", data=form, files=[("file", file) for file in files])


@pytest.mark.parametrize(
    ("name", "kind", "counts", "choice"),
    [
        ("google_forms_slogans.csv", "pairs", {"items": 5, "pair": 150, "people": 15}, {}),
        ("raters_wide.csv", "aspects", {"items": 12, "score": 36, "people": 3}, {"doc": "id"}),
        ("nested_comments.json", "threads", {"items": 120, "label": 108}, {"score": "ignore"}),
        ("survey_with_notes_sheet.xlsx", "aspects", {"items": 12, "score": 24}, {}),
    ],
)
def test_shapes_that_are_turned_into_rows_are_uploaded_as_they_are_imported(studio, name, kind, counts, choice):
    """Also when somebody chooses what another column is."""
    client = studio.client(studio.person())
    content = (Path(__file__).parents[1] / "data" / "people" / name).read_bytes()
    for chosen in ({}, choice):
        seen = look(client, (name, content), map=json.dumps(chosen)).json()
        assert seen["kind"] == kind
        assert {what: n for what, n in seen["counts"].items() if what != "links"} == counts
    made = upload(client, content, filename=name, kind=kind, map=json.dumps(choice))
    assert made.status_code == 201, made.text
    assert client.get(f"/api/projects/{made.json()['id']}/items").json()["total"] == counts["items"]


def test_a_look_at_files_says_what_they_are_and_why_and_stores_nothing(studio):
    client = studio.client(studio.person())
    lines = b'{"prompt": "p", "chosen": "yes", "rejected": "no"}\n' * 3
    seen = look(client, ("preferences.jsonl", lines)).json()
    assert (seen["kind"], seen["format"]) == ("pairs", "trl")
    assert "preferences.jsonl looks like" in seen["reasons"][0]
    assert seen["counts"]["pair"] == 3
    assert seen["dropped"] == {}
    texts = ("texts.csv", b"item_id,text\na,First\nb,Second\n")
    seen = look(client, texts, ("votes.csv", b"left,right,value\na,b,1\na,a,1\n"), kind="pairs").json()
    assert sum(seen["dropped"].values()) == 1
    assert "row 2 of votes.csv" in seen["examples"][0]
    assert client.get("/api/projects").json() == []
    assert look(studio.client(), texts).status_code == 401


POSTS = b"id,body,tone,genre\n" + b"".join(
    f"{i},Text number {i} is here,{'ab'[i % 2]},{'cd'[i // 2 % 2]}\n".encode() for i in range(8)
)


def test_a_look_shows_each_column_and_takes_it_as_a_person_says(studio):
    client = studio.client(studio.person())
    seen = look(client, ("posts.csv", POSTS)).json()
    columns = {column["column"]: column for column in seen["columns"]}
    assert [column["use"] for column in seen["columns"]][:2] == ["", ""]  # what is not used stands first
    assert columns["body"]["use"] == "text"
    assert columns["tone"]["samples"] == ["a", "b"]
    assert "label" in seen["uses"]
    assert "label" not in seen["counts"]
    seen = look(client, ("posts.csv", POSTS), map='{"tone": "label"}').json()
    assert seen["counts"]["label"] == 8
    assert {column["column"]: column["use"] for column in seen["columns"]}["tone"] == "label"
    for wrong in ('{"tone": "colour"}', '{"nothing": "label"}', "[1]", "{"):
        answer = look(client, ("posts.csv", POSTS), map=wrong)
        assert answer.status_code == 422, wrong
        assert isinstance(answer.json()["detail"], str)


def test_the_choice_of_columns_is_kept_and_used_for_the_next_file(studio):
    client = studio.client(studio.person())
    made = upload(client, POSTS, "posts.csv", kind="rationales", map='{"genre": "label"}')
    assert made.status_code == 201, made.text
    assert made.json()["settings"]["map"] == {"genre": "label"}
    seen = look(client, ("more.csv", POSTS)).json()
    assert seen["map"] == {"genre": "label"}
    assert seen["counts"]["label"] == 8
    assert seen["reasons"][0] == "the columns are taken as in the project Uploaded"
    other = studio.client(studio.person())
    assert look(other, ("more.csv", POSTS)).json()["map"] == {}


def test_texts_that_are_added_later_are_read_as_the_first_file_was(studio):
    client = studio.client(studio.person())
    words = "\n".join(f"{i},A long title of note number {i},Short" for i in range(4))
    made = upload(
        client, f"nr,headline,remark\n{words}".encode(), "a.csv", kind="pairs", map='{"headline": "text", "nr": "id"}'
    )
    assert made.status_code == 201, made.text
    more = "\n".join(f"{i},A long title of note number {i},Short" for i in range(3, 6))
    added = client.post(
        f"/api/projects/{made.json()['id']}/items",
        files={"file": ("b.csv", f"nr,headline,remark\n{more}".encode(), "text/csv")},
    )
    assert added.status_code == 201, added.text
    assert (added.json()["texts"], added.json()["known"]) == (2, 1)
    items = client.get(f"/api/projects/{made.json()['id']}/items").json()["items"]
    assert [item["item_id"] for item in items] == list("012345")
    assert items[5]["text"] == "A long title of note number 5"


def test_owners_see_how_good_the_model_is_on_their_own_judgements(studio):
    owner = studio.person()
    client = studio.client(owner)
    words = {"good": "lovely warm bread", "bad": "cold soup and rude waiters"}
    rows = [f"{i},The {words[label]} on day {i},{label}" for i, label in enumerate(["good", "bad"] * 8)]
    made = upload(client, "\n".join(["id,text,label", *rows]).encode(), "notes.csv", kind="links").json()
    page = f"/projects/{made['id']}/evaluate"
    assert "Evaluate now" in client.get(page).text
    answer = client.post(f"/api/projects/{made['id']}/evaluation")
    assert answer.status_code == 200, answer.text
    assert "16 labelled texts Accord is right" in answer.json()["sentence"]
    shown = answer.json()["html"]
    assert answer.json()["sentence"].split(";")[0] in shown
    assert shown.count("<svg") >= 8
    assert "<script" not in shown
    assert shown.count("data-png") == 1
    told = [f"right in {100 * row['right']:.0f} % of {row['n']}" for row in answer.json()["calibration"]]
    assert all(sentence in shown for sentence in told)
    assert sum(row["n"] for row in answer.json()["calibration"]) == 16
    again = client.get(page).text  # it is kept
    assert answer.json()["sentence"].split(";")[0] in again
    picture = client.get(f"/projects/{made['id']}/pictures/calibration.svg")
    assert picture.status_code == 200
    assert told[0] in picture.text
    assert studio.client(studio.person()).get(page).status_code == 404
    few = upload(client, b"id,text,label\n1,One text,a\n2,Another text,b\n", "few.csv", kind="links").json()
    refused = client.post(f"/api/projects/{few['id']}/evaluation")
    assert refused.status_code == 422
    assert "at least 5" in refused.json()["detail"]


def test_the_kind_can_be_changed_until_somebody_has_judged(studio):
    client = studio.client(studio.person())
    made = upload(client, b"item_id,text\na,First text\nb,Second text\n").json()
    place = f"/api/projects/{made['id']}"
    assert client.patch(place, json={"kind": "rationales"}).status_code == 422
    changed = client.patch(place, json={"kind": "rationales", "choices": "good, bad"})
    assert changed.status_code == 200, changed.text
    assert (changed.json()["kind"], changed.json()["settings"]["labels"]) == ("rationales", ["good", "bad"])
    assert "while nobody has judged" in client.get(f"/projects/{made['id']}/settings").text
    judged = upload(client, POSTS, "posts.csv", kind="rationales", map='{"genre": "label"}').json()
    answer = client.patch(f"/api/projects/{judged['id']}", json={"kind": "pairs"})
    assert answer.status_code == 422
    assert "before the first judgement" in answer.json()["detail"]
    assert "while nobody has judged" not in client.get(f"/projects/{judged['id']}/settings").text


def test_rows_that_break_a_rule_are_left_out_only_when_asked(studio):
    client = studio.client(studio.person())
    files = [
        ("file", ("texts.csv", b"item_id,text\na,First\nb,Second\n")),
        ("file", ("votes.csv", b"left,right,value\na,b,1\na,a,1\n")),
    ]
    form = {"name": "Two files", "kind": "pairs"}
    assert client.post("/api/projects", data=form, files=files).status_code == 422
    made = client.post("/api/projects", data={**form, "drop_bad": "true"}, files=files)
    assert made.status_code == 201, made.text


def test_a_project_comes_back_through_every_format_that_can_be_read(studio):
    owner = studio.person()
    client = studio.client(owner)
    original = store_project(studio.database, open_example("arguments"), name="arguments", created_by=owner.id)
    for form in ("csv", "tsv", "jsonl", "parquet", "label-studio", "argilla", "potato", "trl", "prodigy"):
        answer = client.get(f"/api/projects/{original}/export?format={form}")
        assert answer.status_code == 200, form
        named = {"format": form} if form in format_names() else {"kind": "pairs"}
        made = upload(client, answer.content, f"{form}.zip", **{"kind": "", **named})
        assert made.status_code == 201, (form, made.text)
        assert made.json()["kind"] == "pairs"
        found = client.get(f"/api/projects/{made.json()['id']}/items").json()
        assert found["total"] >= 30, form


def test_every_format_that_can_be_written_is_a_download(studio):
    owner = studio.person()
    client = studio.client(owner)
    page = client.get(f"/projects/{studio.project(owner)}/export").text
    written = set()
    for name in EXAMPLES:
        project = store_project(studio.database, open_example(name), name=name, created_by=owner.id)
        for form in format_names(writable=True):
            answer = client.get(f"/api/projects/{project}/export?format={form}")
            assert f"format={form}" in page
            if answer.status_code == 422:  # another tool's files may have no place for this kind of judgement
                assert "nothing of this project can be written" in answer.json()["detail"], (name, form)
                continue
            assert answer.status_code == 200, (name, form, answer.text)
            assert zipfile.ZipFile(io.BytesIO(answer.content)).testzip() is None
            written.add(form)
    assert written == set(format_names(writable=True))
    assert client.get(f"/api/projects/{project}/export?format=../../x").status_code == 422


def test_no_name_in_a_project_leads_out_of_an_export(studio):
    owner = studio.person()
    project = store_project(studio.database, open_example("arguments"), name="x", created_by=owner.id)
    with studio.database.write() as c:
        found, _ = projects.find_items(c, project)
        for place, name in enumerate(["../../../../../../../../tmp/accord-escaped", "/tmp/accord-escaped", ".."]):
            villain = people.create_person(c, name + f" {place}", password_hash=None)
            vote = Judgement(
                request_id=f"request{place}", kind="pair", item=found[0].key, other=found[1].key, value=1.0,
                person_id=villain.id,
            )  # fmt: skip
            judgements.append(c, project, [vote])
    client = studio.client(owner)
    for form in format_names(writable=True):
        answer = client.get(f"/api/projects/{project}/export?format={form}")
        assert answer.status_code == (422 if form == "potato" else 200), (form, answer.text)  # it has a folder a person
        if answer.status_code == 422:
            continue
        for name in zipfile.ZipFile(io.BytesIO(answer.content)).namelist():
            assert not name.startswith("/"), form
            assert ".." not in Path(name).parts, form
    assert not list(Path(tempfile.gettempdir()).glob("accord-escaped*"))


def test_archives_stay_in_their_folder_and_within_bounds(studio, monkeypatch):
    client = studio.client(studio.person())
    texts = "item_id,text\na,First\nb,Second\n"
    inside = upload(client, packed({"../../../tmp/accord-slipped.csv": texts}), "texts.zip")
    assert inside.status_code == 201, inside.text
    assert not (Path(tempfile.gettempdir()) / "accord-slipped.csv").exists()
    monkeypatch.setattr("accord.studio.uploads._MOST_UNPACKED", 10**6)
    bomb = upload(client, packed({"texts.csv": "item_id,text\n" + "a" * 10**7}), "texts.zip")
    assert bomb.status_code == 422
    assert "when unpacked" in bomb.json()["detail"]
    monkeypatch.setattr("accord.studio.uploads._MOST_FILES", 3)
    many = upload(client, packed({f"{i}.csv": texts for i in range(4)}), "texts.zip")
    assert many.status_code == 422
    halves = [("file", (f"{name}.zip", packed({f"{name}.csv": "a" * 600_000}))) for name in "ab"]
    both = client.post("/api/projects", data={"name": "Halves", "kind": "pairs"}, files=halves)
    assert "when unpacked" in both.json()["detail"]
    folder = [("file", (name, texts.encode())) for name in ("a", "a/b.csv")]
    assert client.post("/api/projects", data={"name": "Folder", "kind": "pairs"}, files=folder).status_code == 422
    twice = upload(client, packed({"a/t.csv": texts, "a\\t.csv": texts}), "texts.zip")
    assert twice.status_code == 422


def test_what_the_database_cannot_hold_is_refused_with_a_sentence(studio):
    client = studio.client(studio.person())
    for table in ("item_id,text\n" + "a" * 600 + ",x\nb,y\n", "item_id,text\na,x\x00y\nb,y\n"):
        answer = upload(client, table.encode())
        assert answer.status_code in {201, 422}, answer.text  # SQLite holds more than PostgreSQL


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


def test_an_upload_that_is_too_large_or_unpacks_too_large_is_refused(studio, monkeypatch, tmp_path):
    owner = studio.person()
    app = create_app(studio.database, passwords=Passwords(fast=True), most_upload=2**20)
    with studio.database.write() as c:
        token = people.start_session(c, owner.id)
    client = TestClient(app, base_url="http://localhost", headers={"authorization": f"Bearer {token}"})
    assert upload(client, b"x" * (2**20 + 1)).status_code == 413
    # A small file of very many equal rows: 5 MB when unpacked.
    table = pa.table({"item_id": [str(i) for i in range(5)], "text": ["a" * 10**6] * 5})
    bomb = tmp_path / "texts.parquet"
    pq.write_table(table, bomb, compression="zstd", use_dictionary=False)
    assert bomb.stat().st_size < 2**16
    monkeypatch.setattr("accord.workflows.exchange._MOST_UNPACKED", 10**6)
    with pytest.raises(InputError, match="when unpacked"):
        read_files([bomb], {}, kind="pairs")
    app.state.studio.writer.close()
