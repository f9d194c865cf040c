"""A backup that is taken while people answer restores to the same rows, in SQLite and in PostgreSQL."""

import threading
import uuid

import pytest
from sqlalchemy import select

from accord.errors import InputError
from accord.store import gold, judgements, people, projects
from accord.store.backup import back_up, restore
from accord.store.database import open_database
from accord.store.judgements import Judgement
from accord.store.tables import judgements as judgement_table
from accord.store.tables import metadata


def rows_of(database):
    with database.read() as c:
        return {table.name: sorted(map(repr, c.execute(select(table)).all())) for table in metadata.sorted_tables}


@pytest.fixture
def filled(database):
    with database.write() as c:
        owner = people.create_person(c, "Ada", password_hash="x")
        people.secret(c, "pages")
        people.start_session(c, owner.id)
        project = projects.create_project(c, name="Käse", kind="pairs", settings={"a": [1, None]}, created_by=owner.id)
        texts = [{"item_id": f"t{i}", "text": f"Text {i} ‏مرحبا 🧀", "meta": {"n": i}} for i in range(20)]
        projects.add_items(c, project, texts)
        keys = [item.key for item in projects.find_items(c, project)[0]]
        gold.add_gold(c, project, item=keys[0], other=keys[1], right={"value": 1.0}, reason="so", created_by=owner.id)
    return database, project, keys, owner


def vote(project, keys, place, owner):
    name = uuid.uuid4().hex
    return [Judgement(request_id=name, kind="pair", item=keys[place % 20], other=keys[(place + 1) % 20], value=1.0,
                      person_id=owner.id)]  # fmt: skip


def test_a_backup_taken_meanwhile_restores_to_the_same_rows(filled, tmp_path):
    database, project, keys, owner = filled
    stop, done = threading.Event(), []

    def answer():
        while not stop.is_set():
            with database.write() as c:
                judgements.append(c, project, vote(project, keys, len(done), owner))
            done.append(1)

    with database.write() as c:
        for place in range(50):
            judgements.append(c, project, vote(project, keys, place, owner))
    voter = threading.Thread(target=answer)
    voter.start()
    while len(done) < 3:
        pass
    before = len(done)
    counts = back_up(database, tmp_path / "studio.backup")
    after = len(done)
    stop.set()
    voter.join()
    assert 50 + before <= counts["judgements"] <= 50 + after + 1
    fresh = open_database(f"sqlite:///{tmp_path / 'other.db'}")
    assert restore(fresh, tmp_path / "studio.backup") == counts
    with fresh.write() as c:  # of the rows that came later there is none, and all before are there in order
        kept = c.execute(select(judgement_table.c.request_id).order_by(judgement_table.c.id)).scalars().all()
        judgements.append(c, project, vote(project, keys, 0, owner))  # and it goes on
    with database.read() as c:
        there = c.execute(select(judgement_table.c.request_id).order_by(judgement_table.c.id)).scalars().all()
    assert kept == there[: len(kept)]
    fresh.close()


def test_a_backup_at_rest_is_restored_row_by_row_and_only_into_an_empty_database(filled, tmp_path, database_url):
    database, *_ = filled
    back_up(database, tmp_path / "a.backup")
    fresh = open_database(f"sqlite:///{tmp_path / 'other.db'}")
    restore(fresh, tmp_path / "a.backup")
    if database.is_sqlite:
        assert rows_of(fresh) == rows_of(database)
    back_up(fresh, tmp_path / "b.backup")
    with pytest.raises(InputError, match="empty database"):
        restore(fresh, tmp_path / "a.backup")
    with pytest.raises(InputError, match="new file"):
        back_up(database, tmp_path / "a.backup")
    (tmp_path / "no.backup").write_text("something")
    with pytest.raises(InputError, match="not one"):
        restore(fresh, tmp_path / "no.backup")
    fresh.close()
