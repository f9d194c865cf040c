"""Requests as an attacker makes them: from another site, under another name, with what no text has, without an end."""

import asyncio
import io
import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import func, select

from accord.store import people, projects
from accord.store.database import open_database
from accord.store.tables import items
from accord.studio.security import RateLimit

HEADERS = ("content-security-policy", "x-content-type-options", "referrer-policy", "x-frame-options")


def carries_headers(answer):
    return all(name in answer.headers for name in HEADERS)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "evil.example:8765", ""])
def test_a_name_that_is_not_the_studios_is_refused(studio, host):
    answer = studio.client(studio.person()).get("/api/me", headers={"host": host})
    assert answer.status_code == 421
    assert carries_headers(answer)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8765", "127.0.0.1:8765", "[::1]:8765", "192.168.0.7"])
def test_addresses_and_local_names_are_served(studio, host):
    assert studio.client(studio.person()).get("/api/me", headers={"host": host}).status_code == 200


FOREIGN = [{"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}]


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", ["/api/sessions", "/demo", "/api/accounts", "/api/projects/1/questions/next"])
def test_a_form_of_another_site_changes_nothing(studio, path, headers):
    answer = studio.client().post(path, headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.json()["detail"]
    assert carries_headers(answer)


def test_a_form_of_the_studio_itself_is_taken(studio):
    person = studio.person(password="a long password")
    answer = studio.client().post(
        "/api/sessions",
        json={"name": person.name, "password": "a long password"},
        headers={"origin": "http://localhost", "sec-fetch-site": "same-origin"},
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "body", [b'{"name": "\\ud800", "password": "xxxxxxxxxxxx"}', b'{"name": NaN, "password": "x"}']
)
def test_half_a_character_and_no_number_are_refused(studio, body):
    client = studio.client()
    answer = client.post("/api/sessions", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert carries_headers(answer)


def test_no_field_of_an_answer_breaks_on_half_a_character_or_nan(studio):
    owner = studio.person()
    project = studio.project(owner, "threads", labels=["a", "b"])
    client = studio.client(owner)
    key = client.post(f"/api/projects/{project}/questions/next").json()["texts"][0]["key"]
    good = {"request_id": "12345678", "kind": "label", "item": key, "label": "a"}
    for name in ("request_id", "kind", "label", "item", "value", "skip_reason", "question_id"):
        for value in ('"\\ud800"', "NaN", "Infinity", "1e999"):
            body = json.dumps({**good, name: "@@"}).replace('"@@"', value)
            path = f"/api/projects/{project}/judgements"
            answer = client.post(path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code in {201, 422}, (name, value, answer.text)
    for field in ("name", "question", "guidelines"):
        body = json.dumps({field: "half \ud800"})
        answer = client.patch(f"/api/projects/{project}", content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, (field, answer.text)


@pytest.mark.parametrize("name", ["漢" * 120 + ".csv", "é" * 255 + ".csv", "\U0001f600" * 100 + ".csv"])
def test_a_long_name_of_a_file_is_no_fault(studio, name):
    form = {"name": "Long", "kind": "pairs"}
    answer = studio.client(studio.person()).post(
        "/api/projects", data=form, files={"file": (name, b"item_id,text\na,One.\nb,Two.\n")}
    )
    assert answer.status_code == 201, answer.text


def test_answers_to_our_own_faults_carry_the_headers_too(studio, monkeypatch):
    client = studio.client(studio.person())
    client._transport.raise_server_exceptions = False
    monkeypatch.setattr(projects, "projects_of", lambda *_: 1 / 0)
    answer = client.get("/api/projects")
    assert answer.status_code == 500
    assert carries_headers(answer)
    assert "ZeroDivision" not in answer.text


def test_no_body_is_read_from_strangers(studio):
    for path in ("/api/projects", "/api/uploads/look", "/api/sessions", "/api/label-studio/1/guess/webhook"):
        asked = []

        async def receive(asked=asked):
            asked.append(1)
            return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

        sent = []

        async def send(message, sent=sent):
            sent.append(message)

        scope = {
            "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
            "root_path": "", "scheme": "http", "http_version": "1.1", "client": ("1.2.3.4", 5),
            "server": ("localhost", 80),
            "headers": [(b"host", b"localhost"), (b"content-type", b"multipart/form-data; boundary=x"),
                        (b"transfer-encoding", b"chunked")],
        }  # fmt: skip
        asyncio.run(studio.app(scope, receive, send))
        assert sent[0]["status"] == 401, path
        assert asked == [], path


def memory_of(pid):
    """The largest memory that a process and its children took, in megabytes."""
    import psutil

    total = 0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def bomb():
    """A small Parquet file of one long text, a thousand times over: 3.2 GB when it is unpacked."""
    ids = pa.array([f"t{i}" for i in range(3_200)])
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3_200, pa.int32()), pa.array(["a" * 10**6]))
    out = io.BytesIO()
    pq.write_table(pa.table({"item_id": ids, "text": text}), out, compression="zstd")
    return out.getvalue()


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A studio as people run it, and the key of somebody in it."""
    url = f"sqlite:///{tmp_path_factory.mktemp('running') / 'studio.db'}"
    database = open_database(url)
    with database.write() as c:
        person = people.create_person(c, "Somebody", password_hash=None)
        project = projects.create_project(c, name="Some", kind="pairs", created_by=person.id)
        projects.add_items(c, project, ({"item_id": f"t{i}", "text": f"Text {i}"} for i in range(20_000)))
        token = people.start_session(c, person.id)
    database.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "accord", "studio", "--database", url, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            httpx.get(f"http://127.0.0.1:{port}/health", timeout=10)
            break
        except httpx.HTTPError:
            time.sleep(0.2)
    yield port, token, process.pid, project
    process.terminate()
    process.wait(timeout=30)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_and_takes_little_memory(running):
    port, token, pid, _ = running
    packed = bomb()
    assert len(packed) < 100_000
    peak, stop = [0.0], threading.Event()

    def watch():
        while not stop.wait(0.05):
            peak[0] = max(peak[0], memory_of(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    answers = []

    def send():
        answers.append(
            httpx.post(
                f"http://127.0.0.1:{port}/api/projects", data={"name": "Bomb", "kind": "pairs"},
                files={"file": ("t.parquet", packed)}, headers={"authorization": f"Bearer {token}"}, timeout=300,
            )
        )  # fmt: skip

    senders = [threading.Thread(target=send) for _ in range(3)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    stop.set()
    watcher.join()
    assert [answer.status_code for answer in answers] == [422] * 3
    assert all("memory" in answer.json()["detail"] for answer in answers)
    assert peak[0] < 3_500  # the studio, its worker and one reader at a time, which may take 1.5 GB


def test_headers_without_an_end_are_cut_off(running):
    port = running[0]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        answer = b""
        try:
            for _ in range(1_000):
                line.sendall(b"X-Long: " + b"a" * 8_000 + b"\r\n")
            answer = line.recv(4_000)
        except OSError:
            pass
        else:
            assert b" 400 " in answer.split(b"\r\n")[0]


def test_sixty_searches_at_once_are_all_answered_and_nobody_else_waits(running):
    port, token, _, project = running
    headers = {"authorization": f"Bearer {token}"}

    async def crowd():
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=120) as client:
            path = f"/api/projects/{project}/items?search=19999"
            searches = [asyncio.create_task(client.get(path)) for _ in range(60)]
            await asyncio.sleep(0.05)
            asked = await client.post(f"/api/projects/{project}/questions/next")
            waiting = sum(not search.done() for search in searches)
            return asked, waiting, await asyncio.gather(*searches)

    asked, waiting, found = asyncio.run(crowd())
    assert asked.status_code == 200
    assert waiting > 0, "a question was answered while searches waited for their turn"
    assert {answer.status_code for answer in found} == {200}
    assert all(answer.json()["total"] == 1 for answer in found)


def test_a_table_of_very_many_columns_is_refused_at_once(studio):
    names = ["item_id", "text", *(f"c{i}" for i in range(40_000))]
    table = ",".join(names) + "\n" + ",".join("x" for _ in names) + "\n"
    answer = studio.client(studio.person()).post(
        "/api/uploads/look", data={"kind": "pairs"}, files={"file": ("wide.csv", table.encode())}
    )
    assert answer.status_code == 422
    assert "at most 2,000 columns" in answer.json()["detail"]


def test_sixty_people_who_sign_in_at_once_are_served_two_at_a_time(studio, monkeypatch):
    person = studio.person(password="a long password")
    studio.app.state.studio.logins = RateLimit(10**6, 1.0)
    at_once, most, lock = [0], [0], threading.Lock()
    real = studio.passwords.is_right

    def watched(stored, password):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        time.sleep(0.005)
        try:
            return real(stored, password)
        finally:
            with lock:
                at_once[0] -= 1

    monkeypatch.setattr(studio.passwords, "is_right", watched)

    async def crowd():
        transport = httpx.ASGITransport(app=studio.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            body = {"name": person.name, "password": "a long password"}
            return await asyncio.gather(*(client.post("/api/sessions", json=body) for _ in range(60)))

    answers = asyncio.run(crowd())
    assert {answer.status_code for answer in answers} == {200}
    assert most[0] == 2


def test_an_import_never_holds_the_database_for_long(studio):
    """A large import is many short transactions, and is seen whole or not at all."""
    lengths = []
    real = studio.database.write

    @contextmanager
    def counted():
        with real() as connection:
            yield connection
        lengths.append(1)

    studio.database.write = counted
    table = "item_id,text\n" + "\n".join(f"t{i},Text number {i}." for i in range(9_000))
    client = studio.client(studio.person())
    made = client.post(
        "/api/projects", data={"name": "Large", "kind": "pairs"}, files={"file": ("t.csv", table.encode())}
    )
    assert made.status_code == 201
    assert len(lengths) >= 6  # the project, five pieces of at most 2,000 texts, and the end
    assert client.get(f"/api/projects/{made.json()['id']}/items").json()["total"] == 9_000


def test_an_import_that_is_cut_off_leaves_nothing(studio, monkeypatch):
    client = studio.client(studio.person())
    client._transport.raise_server_exceptions = False
    monkeypatch.setattr(projects, "finish_import", lambda *_: 1 / 0)
    table = "item_id,text\n" + "\n".join(f"t{i},Text number {i}." for i in range(3_000))
    form = {"name": "Cut off", "kind": "pairs"}
    assert client.post("/api/projects", data=form, files={"file": ("t.csv", table.encode())}).status_code == 500
    with studio.database.read() as c:
        assert c.execute(select(func.count()).select_from(items)).scalar_one() == 0
        assert projects.all_projects(c) == []
