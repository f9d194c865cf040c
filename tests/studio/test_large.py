"""A project with 20,000 texts and 200,000 votes: the work of a page is bounded, and a question is found by an index."""

import itertools
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


N_PEOPLE = 500


def large_result():
    """What a refit leaves for the owners' pages where many people judge and disagree."""
    names = [f"Member {i} of a large team" for i in range(N_PEOPLE)]
    share = {"agreement": 0.7, "low": 0.6, "high": 0.8, "left_share": 0.5, "left_low": 0.4, "left_high": 0.6}
    rest = {"n_answers": 400, "n_shared": 200, "n_sided": 300, "median_ms": 2000.0, "fast_share": 0.0}
    pairs = [{"first": a, "second": b, "value": 0.4, "low": 0.3, "high": 0.5, "n": 9}
             for a, b in itertools.combinations(names[:12], 2)]  # fmt: skip
    conflict = {"aspect": None, "answers": {"first": 2, "second": 2}, "harm": 0.5}
    quality = {
        "skips": {"reasons": {"both bad": 100}, "texts": [[f"t{i}", 9] for i in range(20)]},
        "agreement": [{"what": "votes", "n": 9, "measures": [], "pairs": pairs}],
        "conflicts": [{"item_id": f"t{i}", "other_id": f"t{i + 1}", **conflict} for i in range(200)],
        "overlap": {"2": N_TEXTS},
        "days": [[f"2026-{month:02d}-{day:02d}", 1000] for month in range(1, 7) for day in range(1, 29)],
        "graph": {"nodes": [[f"t{i}", 0] for i in range(40)], "n_parts": 1,
                  "edges": [[a, b, 2] for a, b in itertools.combinations(range(40), 2)]},
        "pace": [{"name": name, "n": 400, "per_hour": 100.0, "last": "2026-06-28T10:00:00"} for name in names],
        "gold": [{"name": name, "share": 0.9, "low": 0.8, "high": 1.0, "n": 20} for name in names],
    }  # fmt: skip
    voters = [{"annotator": name, "error": 0.1, "low": 0.0, "high": 0.2} for name in names]
    return {
        "summary": {"voters": voters},
        "people": [{"name": name, **share, **rest} for name in names],
        "quality": quality,
    }


def fill(database):
    """Put a large project into a database; returns its key, the key of its first text and the session of its owner."""
    rng = np.random.default_rng(0)
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
        for i in range(N_PEOPLE):
            person = people.create_person(c, f"Member {i} of a large team", password_hash=None)
            people.add_member(c, project, person.id, "judge")
    scores.put_scores(
        database, project, n_judgements=N_VOTES, last_judgement=N_VOTES, seconds=1.0, result=large_result(), rows=rows
    )
    return project, first, token


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    from fastapi.testclient import TestClient

    from accord.studio.app import create_app
    from accord.studio.security import Passwords

    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('large') / 'studio.db'}")
    steps: list[int] = []  # one entry for every 1,000 instructions of SQLite: work that no busy machine can change
    database.engine.dispose()
    event.listen(database.engine, "connect", lambda link, _: link.set_progress_handler(lambda: steps.append(1), 1000))
    project, first, token = fill(database)
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
        "people?offset=450",
        "quality",
        "pictures",
        "mine",
        "answers",
        "settings",
        "evaluate",
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


def test_of_many_people_some_are_shown_at_a_time_and_found_by_name(large):
    client, project, _, _ = large
    page = client.get(f"/projects/{project}/people").text
    assert page.count('aria-label="Role of') == 50
    assert "1–50 of 501" in page
    found = client.get(f"/projects/{project}/people?search=member+499").text
    assert found.count('aria-label="Role of') == 1
    assert "Role of Member 499" in found


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
