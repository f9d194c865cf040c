"""A database of an earlier version is brought up to date when it is opened, and nothing in it is lost."""

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, text

from accord.store import judgements, people, projects
from accord.store.database import open_database

MIGRATIONS = "accord:store/migrations"
EARLIER = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")

PEOPLE = "INSERT INTO people (id, name, is_admin, created_at) VALUES (1, 'Ada', true, '2026-01-01 00:00:00')"
PROJECT = """INSERT INTO projects (id, name, word, question, guidelines, settings, created_by, created_at)
    VALUES (1, 'Tea or coffee', 'pairs', 'Which?', '', '{"highlight": true}', 1, '2026-01-01 00:00:00')"""
MEMBER = """INSERT INTO memberships (project_id, person_id, role, joined_at)
    VALUES (1, 1, 'owner', '2026-01-01 00:00:00')"""
ITEM = """INSERT INTO items (id, project_id, item_id, position, text, meta)
    VALUES (:key, 1, :name, :key, 'A text.', '{}')"""
VOTE = """INSERT INTO judgements (project_id, request_id, part, kind, item, other, value, person_id, created_at, status,
    source) VALUES (1, :request, 0, 'pair', 1, 2, 1.0, 1, '2026-01-01 00:00:00', 'done', 'studio')"""


def made_by(url, revision):
    """A database as that version left it, with a project, its owner, two texts and two votes."""
    engine = create_engine(url)
    project = PROJECT.replace("word", "kind") if revision >= "0004" else PROJECT
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        owner = "UPDATE people SET may_create = true" if revision >= "0006" else "SELECT 1"  # as that version did
        for statement in (PEOPLE, project, MEMBER, owner):
            connection.execute(text(statement.replace(":", "\\:")))
        for key in (1, 2):
            connection.execute(text(ITEM), {"key": key, "name": f"a{key}"})
        for request in ("vote-one", "vote-two"):
            connection.execute(text(VOTE), {"request": request})
    engine.dispose()


def test_every_version_is_tried():
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    versions = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    assert versions - set(EARLIER) == {"0009"}, "a new migration: let the test begin at the version before it, too"


@pytest.mark.parametrize("revision", EARLIER)
def test_an_old_database_is_brought_up_to_date(database_url, revision):
    made_by(database_url, revision)
    database = open_database(database_url)
    with database.read() as connection:
        (project,) = projects.all_projects(connection)
        assert (project.name, project.kind, project.settings) == ("Tea or coffee", "pairs", {"highlight": True})
        assert people.role_of(connection, project.id, 1) == "owner"
        assert people.get_person(connection, 1).may_create or revision >= "0006"  # from then on it is stored
        assert project.state == "active"
        assert projects.count_rows(connection, [project.id]) == {project.id: (2, 2)}
        assert [row["request_id"] for row in judgements.export_rows(connection, project.id)] == ["vote-one", "vote-two"]
    database.close()
