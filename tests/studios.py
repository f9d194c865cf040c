"""A studio on a fresh database, and people in it."""

import itertools
from dataclasses import dataclass

import pytest
from fastapi.testclient import TestClient

from accord.store import people, projects
from accord.studio.app import create_app
from accord.studio.security import Passwords

_NUMBERS = itertools.count()


@dataclass
class Studio:
    """A running studio and ways to get people into it."""

    app: object
    database: object
    passwords: Passwords

    def client(self, person=None):
        """A browser without a cookie jar shared with others; signed in as ``person`` if given."""
        client = TestClient(self.app, base_url="http://localhost")
        if person is not None:
            with self.database.write() as connection:
                token = people.start_session(connection, person.id)
            client.headers["authorization"] = f"Bearer {token}"
        return client

    def person(self, *, password=None, may_create=True, **kwargs):
        stored = None if password is None else self.passwords.hash(password)
        with self.database.write() as connection:
            return people.create_person(
                connection, f"person {next(_NUMBERS)}", password_hash=stored, may_create=may_create, **kwargs
            )

    def project(self, owner, kind="pairs", n=6, **settings):
        with self.database.write() as connection:
            key = projects.create_project(
                connection, name=f"about {kind}", kind=kind, settings=settings, created_by=owner.id
            )
            projects.add_items(
                connection, key, [{"item_id": f"t{i}", "text": f"This is text {i}.", "group_id": "g"} for i in range(n)]
            )
        return key

    def join(self, project_id, person, role):
        with self.database.write() as connection:
            people.add_member(connection, project_id, person.id, role)


@pytest.fixture
def studio(database):
    passwords = Passwords(fast=True)
    app = create_app(database, passwords=passwords)
    yield Studio(app, database, passwords)
    app.state.studio.writer.close()
