import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select

from accord.errors import InputError
from accord.store import judgements, people, projects, questions, scores
from accord.store.database import open_database
from accord.store.judgements import Judgement
from accord.store.tables import judgements as judgement_table
from accord.store.tables import metadata
from accord.store.tables import results as result_table
from accord.store.writer import Writer


@pytest.fixture
def project(database):
    with database.write() as c:
        owner = people.create_person(c, "Ada", password_hash=None)
        key = projects.create_project(c, name="Tea or coffee", kind="pairs", created_by=owner.id)
        projects.add_items(c, key, [{"item_id": f"a{i}", "text": f"text {i}"} for i in range(4)])
        found, _ = projects.find_items(c, key)
    return owner, key, [item.key for item in found]


def vote(request_id, item, other, value, person_id):
    return Judgement(request_id=request_id, kind="pair", item=item, other=other, value=value, person_id=person_id)


def test_migrations_make_exactly_the_declared_tables(database):
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_opening_twice_upgrades_once(database, database_url):
    again = open_database(database_url)
    again.close()


def test_a_judgement_sent_twice_is_stored_once(database, project):
    owner, key, item = project
    for _ in range(2):
        with database.write() as c:
            judgements.append(c, key, [vote("r1", item[0], item[1], 1.0, owner.id)])
    with database.read() as c:
        assert len(c.execute(judgements.effective(key)).all()) == 1


def test_undo_is_a_new_row_and_the_answer_no_longer_counts(database, project):
    owner, key, item = project
    with database.write() as c:
        judgements.append(c, key, [vote("r1", item[0], item[1], 1.0, owner.id)])
        judgements.undo(c, key, owner.id, request_id="r2", undoes="r1")
    with database.read() as c:
        assert c.execute(judgements.effective(key)).all() == []
        assert projects.count_rows(c, [key])[key] == (4, 2)
        assert judgements.votes_per_item(c, key) == {}
        assert len(list(judgements.export_rows(c, key, standing=False))) == 2


def test_nobody_undoes_another_persons_answer(database, project):
    owner, key, item = project
    with database.write() as c:
        other = people.create_person(c, "Bob", password_hash=None)
        judgements.append(c, key, [vote("r1", item[0], item[1], 1.0, owner.id)])
        with pytest.raises(InputError, match="their own answers"):
            judgements.undo(c, key, other.id, request_id="r2", undoes="r1")


def test_exported_rows_carry_the_ids_people_gave(database, project):
    owner, key, item = project
    with database.write() as c:
        judgements.append(c, key, [vote("r1", item[0], item[2], 0.5, owner.id)])
    with database.read() as c:
        (row,) = judgements.export_rows(c, key)
    assert (row["item_id"], row["other_id"], row["value"], row["annotator_id"]) == ("a0", "a2", 0.5, "Ada")


def test_two_people_do_not_get_the_same_question_and_a_lease_runs_out(database, project):
    owner, key, item = project
    rows = [
        {"item": item[0], "other": item[1], "strategy": "bald", "propensity": 0.5, "model_version": 1},
        {"item": item[2], "other": item[3], "strategy": "random", "propensity": 0.1, "model_version": 1},
    ]
    with database.write() as c:
        other = people.create_person(c, "Bob", password_hash=None)
        questions.refill(c, key, rows)
        (first,) = questions.lease(c, key, owner.id)
        (again,) = questions.lease(c, key, owner.id)
        (second,) = questions.lease(c, key, other.id)
    assert first == again
    assert (first.item, second.item) == (item[0], item[2])
    with database.write() as c:
        questions.lease(c, key, owner.id, life=timedelta(seconds=-1))
        taken = questions.lease(c, key, other.id, limit=2)
        assert {q.id for q in taken} == {first.id, second.id}
        with pytest.raises(InputError, match="texts of its question"):
            questions.close(c, key, first.id, other.id, {item[0], item[2]})
        assert questions.close(c, key, first.id, owner.id, {item[0], item[1]}) is None  # somebody else holds it
        assert questions.close(c, key, first.id, other.id, {item[1], item[0]}) == first
        assert questions.close(c, key, first.id, other.id, {item[0], item[1]}) is None


def test_a_question_already_answered_is_passed_over_in_either_order(database, project):
    owner, key, item = project
    with database.write() as c:
        judgements.append(c, key, [vote("r1", item[1], item[0], 1.0, owner.id)])
        row = {"item": item[0], "other": item[1], "strategy": "bald", "propensity": 0.5, "model_version": 1}
        questions.refill(c, key, [row])
        assert questions.lease(c, key, owner.id) == []


def test_sessions_and_invites_work_until_used_up(database, project):
    owner, key, _ = project
    with database.write() as c:
        token = people.start_session(c, owner.id)
        assert people.person_of_session(c, token) == people.get_person(c, owner.id)
        assert people.person_of_session(c, "guess") is None
        people.end_session(c, token)
        assert people.person_of_session(c, token) is None
        guest = people.create_person(c, "Guest", password_hash=None)
        invite = people.create_invite(c, project_id=key, role="judge", created_by=owner.id)
        people.accept_invite(c, invite, guest.id)
        assert people.role_of(c, key, guest.id) == "judge"
        with pytest.raises(InputError, match="Ask for a new one"):
            people.accept_invite(c, invite, guest.id)
        with pytest.raises(InputError, match="needs an owner"):
            people.remove_member(c, key, owner.id)


def test_a_taken_name_is_refused(database):
    with database.write() as c:
        people.create_person(c, "Ada", password_hash=None)
    with pytest.raises(InputError, match="is taken"), database.write() as c:
        people.create_person(c, "Ada", password_hash=None)


def test_search_treats_percent_signs_as_text(database, project):
    _, key, _ = project
    with database.write() as c:
        projects.add_items(c, key, [{"item_id": "p", "text": "100% sure"}])
        found, total = projects.find_items(c, key, search="0%")
    assert total == 1
    assert found[0].item_id == "p"


def test_scores_count_versions(database, project):
    _, key, _ = project
    said = {"n_judgements": 0, "last_judgement": 0, "seconds": 0.1}
    for expected in (1, 2):
        rows = [{"key": i, "rank": expected + i} for i in range(5_000)]
        assert scores.put_scores(database, key, result={"a": 1}, rows=rows, **said) == expected
    with database.read() as c:
        assert scores.get_scores(c, key).result == {"a": 1, "n_rows": 5_000}
        assert scores.seen(c) == {key: 0}
        assert scores.result_rows(c, key, offset=4_998, limit=100) == rows[-2:]
        assert scores.results_of(c, key, [7, 9_000]) == {7: rows[7]}
        assert c.execute(select(func.count()).select_from(result_table)).scalar_one() == 5_000


def test_a_failed_fit_is_tried_again_ever_later_and_forgotten_after_a_good_one(database, project):
    _, key, _ = project
    with database.write() as c:
        pauses = [scores.failed(c, key, "it broke.") for _ in range(12)]
        assert [f.n_failures for f in pauses] == list(range(1, 13))
        waits = [(f.retry_at - f.failed_at).total_seconds() for f in pauses]
        assert waits[:2] == pytest.approx([30.0, 60.0], abs=1.0)
        assert waits[-1] == pytest.approx(3600.0, abs=1.0)
        assert scores.failures_of(c)[key].sentence == "it broke."
    scores.put_scores(database, key, n_judgements=0, last_judgement=0, seconds=0.1, result={})
    with database.read() as c:
        assert scores.get_failure(c, key) is None


def test_concurrent_writes_are_all_kept_and_a_bad_one_fails_alone(database, project):
    owner, key, item = project
    writer = Writer(database)

    def send(i):
        if i == 17:
            return writer.write(lambda c: judgements.undo(c, key, owner.id, request_id="u", undoes="nothing"))
        return writer.write(lambda c: judgements.append(c, key, [vote(f"r{i}", item[0], item[1], 1.0, owner.id)]))

    with ThreadPoolExecutor(16) as pool:
        answers = [pool.submit(send, i) for i in range(100)]
    errors = [a.exception() for a in answers if a.exception() is not None]
    writer.close()
    assert len(errors) == 1
    assert isinstance(errors[0], InputError)
    with database.read() as c:
        assert c.execute(select(func.count()).select_from(judgement_table)).scalar_one() == 99


def test_a_write_that_nobody_waits_for_any_more_is_left_out(database, project):
    owner, key, item = project
    writer, hold, started = Writer(database), threading.Event(), threading.Event()

    def slow(connection):
        started.set()
        hold.wait(10)

    first = writer.submit(slow)
    started.wait(10)
    given_up = writer.submit(lambda c: judgements.append(c, key, [vote("given-up", item[0], item[1], 1.0, owner.id)]))
    kept = writer.submit(lambda c: judgements.append(c, key, [vote("kept", item[0], item[1], 1.0, owner.id)]))
    assert given_up.cancel()
    hold.set()
    first.result(10)
    assert kept.result(10) == 1
    writer.close()
    with database.read() as c:
        assert [row["request_id"] for row in judgements.export_rows(c, key)] == ["kept"]


@pytest.mark.parametrize("url, sentence", [("nonsense", "named by a URL"), ("mysql://x/y", "SQLite or PostgreSQL")])
def test_a_bad_database_url_is_refused_in_one_sentence(url, sentence):
    with pytest.raises(InputError, match=sentence):
        open_database(url)


def test_an_unreachable_database_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        open_database(f"sqlite:///{tmp_path}/no/such/folder/studio.db")
