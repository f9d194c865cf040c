"""The studio's queue where questions are meant for people, and where highlights are asked for by their cost."""

import random

import numpy as np
import pytest

from accord.errors import InputError
from accord.store import judgements, people, projects, questions
from accord.workflows.collecting.collect import Answer, next_question, record, reopen
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import store_project
from accord.workflows.looked_at import part_of
from accord.workflows.projects import open_example

pytestmark = pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")


@pytest.fixture
def sqlite(tmp_path):
    from accord.store.database import open_database

    database = open_database(f"sqlite:///{tmp_path / 'studio.db'}")
    yield database
    database.close()


def project_with(database, settings, *, n=40):
    """A project of labels whose careful judge agrees with a colleague and whose careless one does not."""
    with database.write() as c:
        key = projects.create_project(c, name="notes", kind="links", settings={"labels": ["a", "b"], **settings})
        texts = [{"item_id": f"t{i}", "text": f"word{i % 7} text {i}", "group_id": None} for i in range(3 * n)]
        projects.add_items(c, key, texts)
        names = ["Careful", "Careless", "Colleague", "New"]
        found = {name: people.create_person(c, name, password_hash=None).id for name in names}
        for one in found.values():
            people.add_member(c, key, one, "judge")
        stored, (items, _) = projects.get_project(c, key), projects.find_items(c, key, limit=n)
        rng = random.Random(0)
        for item in items:
            right = rng.choice("ab")
            said = {"Careful": right, "Colleague": right, "Careless": rng.choice("ab")}
            for name, label in said.items():
                record(c, stored, found[name], Answer(f"{name}-{item.key:06d}", "label", item.key, label=label))
    return key, found


def meant_for(database, key):
    with database.read() as c:
        return c.execute(questions.questions.select().where(questions.questions.c.project_id == key)).all()


def test_questions_are_meant_for_those_who_answer_best_and_everybody_gets_some(sqlite):
    key, who = project_with(sqlite, {"by_reliability": True})
    refit(sqlite, key, rng=random.Random(0))
    rows = meant_for(sqlite, key)
    by = {name: sum(row.meant_for == one for row in rows) for name, one in who.items()}
    assert min(by["Careful"], by["Colleague"]) > by["Careless"]
    assert all(row.meant_for is None or 0 < row.person_propensity <= 1 for row in rows)
    with sqlite.write() as c:
        stored = projects.get_project(c, key)
        asked = next_question(c, stored, who["Careful"], rng=random.Random(0))
        own = {row.id for row in rows if row.meant_for == who["Careful"]}
        assert asked.question_id in own
        for n in range(len(rows) + 5):  # nobody runs out of questions while there are any
            asked = next_question(c, stored, who["Careless"], rng=random.Random(n))
            if asked is None:
                break
            sent = Answer(f"more-{n:06d}", "label", asked.texts[0].key, label="a", question_id=asked.question_id)
            record(c, stored, who["Careless"], sent)
        given = judgements.history(c, key, judgements.Wanted(person_id=who["Careless"]), limit=500)
    stored_p = [rows[0].person_propensity for rows in given]
    assert sum(p is not None for p in stored_p) == by["Careless"]
    assert len(given) > 40 + by["Careless"] + by["Careful"] // 2


def test_without_the_setting_questions_are_for_anybody(sqlite):
    key, _ = project_with(sqlite, {})
    refit(sqlite, key, rng=random.Random(0))
    assert all(row.meant_for is None and row.asks is None for row in meant_for(sqlite, key))


def test_highlights_are_asked_for_by_their_cost_and_labels_alone_are_taken_then(sqlite):
    example = open_example("cafe-notes")
    ids = example.item_table.column("item_id").to_pylist()
    example = part_of(example, np.array(ids[:30] + ids[-30:], dtype=object))
    key = store_project(sqlite, example, name="notes", created_by=None)
    with sqlite.write() as c:
        judge = people.create_person(c, "Judge", password_hash=None)
        stored = projects.get_project(c, key)
        label = stored.settings["labels"][0]
        text = projects.find_items(c, key, limit=1)[0][0].key
        with pytest.raises(InputError, match="takes span or skip"):
            record(c, stored, judge.id, Answer("label-alone", "label", text, label=label))
        projects.change_project(c, key, settings={**stored.settings, "by_cost": True})
    refit(sqlite, key, rng=random.Random(0))
    asks = {row.asks for row in meant_for(sqlite, key)}
    assert asks <= {None, "label"}
    assert "label" in asks
    with sqlite.write() as c:
        stored = projects.get_project(c, key)
        for n in range(40):
            asked = next_question(c, stored, judge.id, rng=random.Random(n))
            kind = "label" if asked.asks == "label" else "span"
            sent = Answer(f"answer-{n:04d}", kind, asked.texts[0].key, label=label, question_id=asked.question_id)
            assert record(c, stored, judge.id, sent) == (1 if kind == "label" else 2)
            again = reopen(c, stored, judge.id, sent.request_id)
            assert again.question.asks == asked.asks
