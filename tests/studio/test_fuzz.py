"""The interface under fire: whatever is sent, the answer is never a server error."""

import os

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error

from accord.store import people, projects
from accord.store.database import open_database
from accord.studio.app import create_app
from accord.studio.security import Passwords, RateLimit

EXAMPLES = int(os.environ.get("ACCORD_FUZZ", "8"))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('fuzz') / 'studio.db'}")
    app = create_app(database, passwords=Passwords(fast=True), hosts=("localhost", "testserver"))
    app.state.studio.logins = RateLimit(10**9, 1.0)
    app.state.studio.changes = RateLimit(10**9, 1.0)
    with database.write() as c:
        owner = people.create_person(c, "Owner", password_hash=None)
        for kind, chosen in [("pairs", {}), ("threads", {"labels": ["a", "b"]}), ("aspects", {"aspects": ["x"]})]:
            key = projects.create_project(c, name=kind, kind=kind, settings=chosen, created_by=owner.id)
            projects.add_items(c, key, [{"item_id": f"t{i}", "text": f"Text {i}", "group_id": "g"} for i in range(4)])
        token = people.start_session(c, owner.id)
    yield schemathesis.openapi.from_asgi("/api/openapi.json", app), token
    app.state.studio.writer.close()
    database.close()


def test_nothing_sent_makes_a_server_error(fuzzed):
    schema, token = fuzzed
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/api/sessions" and operation.method.upper() == "DELETE":
            continue  # would sign the fuzzer out

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        )
        @given(case=operation.as_strategy(), project=st.integers(1, 3))
        def send(case, project):
            nonlocal tried
            if "project_id" in (case.path_parameters or {}):
                case.path_parameters["project_id"] = project
            response = case.call(headers={"host": "localhost", "authorization": f"Bearer {token}"})
            case.validate_response(response, checks=[not_a_server_error])
            tried += 1

        send()
    assert tried >= 15 * EXAMPLES
