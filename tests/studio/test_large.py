"""A project with 20,000 texts and 200,000 votes: the work of a page is bounded, and a question is found by an index."""

import re

import numpy as np
import pytest
from sqlalchemy import event

from accord.store import judgements, people, projects, questions, scores
from accord.store.database import open_database
from accord.store.judgements import Judgement

N_TEXTS, N_VOTES = 20_000, 200_000
LONG = " It goes on and on" * 120
MOST_BYTES = 150_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    from fastapi.testclient import TestClient

    from accord.studio.app import create_app
    from accord.studio.security import Passwords

    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('large') / 'studio.db'}")
    rng = np.random.default_rng(0)
    steps: list[int] = []  # one entry for every 1,000 instructions of SQLite: work that no busy machine can change
    database.engine.dispose()
    event.listen(database.engine, "connect", lambda link, _: link.set_progress_handler(lambda: steps.append(1), 1000))
    with database.write() as c:
        owner = people.create_person(c, "Owner", password_hash=None)
        project = projects.create_project(c, name="Large", kind="pairs", created_by=owner.id)
        projects.add_items(
            c,
            project,
            (
                {
                    "item_id": f"t{i}",
                    "text": f"This is text number {i}." + LONG * (i < 300 or i >= N_TEXTS - 300),
                    "group_id": "g",
                }
                for i in range(N_TEXTS)
            ),
        )
        first = projects.find_items(c, project, limit=1)[0][0].key
        left = rng.integers(0, N_TEXTS, N_VOTES)
        right = (left + rng.integers(1, N_TEXTS, N_VOTES)) % N_TEXTS
        votes = [
            Judgement(request_id=f"v{n:08d}", kind="pair", item=first + int(a), other=first + int(b), value=1.0,
                      person_id=owner.id)
            for n, (a, b) in enumerate(zip(left, right, strict=True))
        ]  # fmt: skip
        judgements.append(c, project, votes)
        rows = [
            {"key": first + i, "item_id": f"t{i}", "rank": i + 1, "tier": 1 + i // 50, "score": -i / 1e4,
             "low": -i / 1e4 - 0.1, "high": -i / 1e4 + 0.1, "p_best": 1 / N_TEXTS, "n_votes": 20}
            for i in range(N_TEXTS)
        ]  # fmt: skip
        queue = [
            {
                "item": first + i,
                "other": first + i + 7,
                "strategy": "informative",
                "propensity": 0.1,
                "model_version": 1,
            }
            for i in range(100)
        ]
        questions.refill(c, project, queue)
        token = people.start_session(c, owner.id)
    scores.put_scores(
        database, project, n_judgements=N_VOTES, last_judgement=N_VOTES, seconds=1.0, result={"summary": {}}, rows=rows
    )
    app = create_app(database, passwords=Passwords(fast=True))
    client = TestClient(app, base_url="http://localhost")
    client.headers["authorization"] = f"Bearer {token}"
    yield client, project, first, steps
    app.state.studio.writer.close()
    database.close()


def test_no_page_of_a_large_project_keeps_the_database_busy(large):
    client, project, first, steps = large
    paths = [
        "judge",
        "results",
        "results?offset=10000",
        "texts",
        "texts?search=number+19999",
        f"texts/{first}",
        "people",
        "export",
    ]
    busy = {}
    for path in ["/", *(f"/projects/{project}/{p}" for p in paths)]:
        steps.clear()
        assert client.get(path).status_code == 200
        busy[path] = len(steps)
    assert {path: n for path, n in busy.items() if n > 10_000} == {}  # 4,000 are about a tenth of a second
    steps.clear()
    assert client.post(f"/api/projects/{project}/questions/next").status_code == 200
    assert len(steps) < 100, "a question to somebody with 200,000 votes is found by an index"


def test_pages_of_a_large_project_with_long_texts_are_small(large):
    client, project, first, _ = large
    paths = [
        "judge",
        "results",
        "pictures",
        "texts",
        f"texts/{first}",
        "mine",
        "answers",
        "people",
        "quality",
        "export",
    ]
    sizes = {}
    for path in ["/", *(f"/projects/{project}/{p}" for p in [*paths, "evaluate", "settings"])]:
        page = client.get(path)
        assert page.status_code == 200
        named = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
        scripts = {name for name in named if name.endswith(".js")} | {"/static/js/api.js"}  # which the others import
        parts = scripts | set(named)
        sizes[path] = len(page.content) + sum(len(client.get(name).content) for name in parts)
    assert {path: n for path, n in sizes.items() if n > MOST_BYTES} == {}
