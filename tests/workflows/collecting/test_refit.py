import random

import numpy as np
import pytest

from accord.store import judgements, people, projects, questions, scores
from accord.store.judgements import Judgement
from accord.workflows.collecting.refit import refit
from accord.workflows.exchange import project_of, store_project
from accord.workflows.projects import EXAMPLES, open_example


@pytest.fixture
def sqlite(tmp_path):
    from accord.store.database import open_database

    database = open_database(f"sqlite:///{tmp_path / 'studio.db'}")
    yield database
    database.close()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_survives_the_store(sqlite, name):
    example = open_example(name)
    key = store_project(sqlite, example, name=name, created_by=None)
    with sqlite.write() as c:
        back = project_of(c, projects.get_project(c, key))
    for table in ("items", "links"):
        ours, theirs = example.frames()[table], back.frames()[table]
        assert plain(ours) == plain(theirs[ours.columns]), table
    kept = ["kind", "item_id", "other_id", "aspect", "value", "start", "end", "quote", "annotator_id"]
    assert plain(example.frames()["judgements"][kept]) == plain(back.frames()["judgements"][kept])


def plain(frame):
    """Rows with numbers as numbers, however they are written, and one sign for what is missing."""
    return [[as_number(value) for value in row] for row in frame.astype(object).where(frame.notna(), None).to_numpy()]


def as_number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", ["arguments", "cafe-threads", "cafe-reviews", "cafe-notes", "cafe-statements"])
def test_a_refit_stores_results_and_fills_the_queue(sqlite, name):
    key = store_project(sqlite, open_example(name), name=name, created_by=None)
    with sqlite.write() as c:
        judge = people.create_person(c, "Judge", password_hash=None)
    done = refit(sqlite, key, rng=random.Random(0))
    assert done.n_questions > 10
    with sqlite.write() as c:
        found, rows = scores.get_scores(c, key), scores.result_rows(c, key)
        (question,) = questions.lease(c, key, judge.id)
    assert "waiting" not in found.result["summary"]
    assert len(rows) > 10
    assert found.n_rows >= len(rows)
    assert all(row["key"] is not None for row in rows)
    assert question.model_version == found.model_version == 1
    if name == "arguments":
        assert {"rank", "tier", "score", "low", "high", "p_best", "n_votes"} <= set(rows[0])
        assert found.result["people"][0]["n_answers"] == 25


def test_before_there_is_anything_to_learn_the_page_says_so_and_asking_goes_on(sqlite):
    with sqlite.write() as c:
        key = projects.create_project(c, name="empty", kind="threads", settings={"labels": ["a", "b"]})
        projects.add_items(c, key, [{"item_id": f"t{i}", "text": f"Text {i}", "group_id": "g"} for i in range(5)])
    done = refit(sqlite, key, rng=random.Random(0))
    assert done.n_questions == 5
    with sqlite.read() as c:
        assert scores.get_scores(c, key).result["summary"]["waiting"]


def test_new_votes_change_the_ranking(sqlite):
    key = store_project(sqlite, open_example("arguments"), name="arguments", created_by=None)
    with sqlite.write() as c:
        judges = [people.create_person(c, f"Judge {n}", password_hash=None) for n in range(6)]
    refit(sqlite, key, rng=random.Random(0))
    with sqlite.read() as c:
        before = scores.result_rows(c, key)
    same = [row for row in before if row["group"] == before[-1]["group"]]
    last, others = same[-1], same[:12]
    with sqlite.write() as c:
        votes = [
            # Several people: one alone who contradicts all others would be taken for random.
            Judgement(request_id=f"vote-{judge.id}-{i:04d}", kind="pair", item=last["key"], other=row["key"],
                      value=1.0, person_id=judge.id)
            for judge in judges for i, row in enumerate(others)
        ]  # fmt: skip
        judgements.append(c, key, votes)
    refit(sqlite, key, rng=random.Random(0))
    with sqlite.read() as c:
        after = {row["key"]: row["rank"] for row in scores.result_rows(c, key)}
    assert after[last["key"]] < last["rank"]


def vote_on(c, project, rng, n, *, person):
    """Append ``n`` random votes."""
    texts, _ = projects.find_items(c, project, limit=None)
    for _ in range(n):
        one = rng.choice(texts)
        other = rng.choice([text for text in texts if text.group_id == one.group_id and text.key != one.key])
        vote = Judgement(
            request_id=f"{rng.getrandbits(64):016x}", kind="pair", item=one.key, other=other.key,
            value=rng.choice([0.0, 1.0]), person_id=person.id,
        )  # fmt: skip
        judgements.append(c, project, [vote])


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
def test_a_refit_starts_from_the_last_one_and_says_nearly_the_same(sqlite):
    rng = random.Random(0)
    key = store_project(sqlite, open_example("arguments"), name="arguments", created_by=None)
    with sqlite.write() as c:
        judge = people.create_person(c, "Judge", password_hash=None)
    first = refit(sqlite, key, rng=rng)
    with sqlite.write() as c:
        vote_on(c, key, rng, 40, person=judge)
        counts = judgements.votes_per_item(c, key)
    warm = refit(sqlite, key, rng=rng, last=first.fitted)
    assert (first.is_warm, warm.is_warm) == (False, True)
    with sqlite.read() as c:
        ours = {row["key"]: row for row in scores.result_rows(c, key)}
    assert {name: row["n_votes"] for name, row in ours.items()} == counts
    cold = refit(sqlite, key, rng=rng)
    assert not cold.is_warm
    with sqlite.read() as c:
        theirs = {row["key"]: row for row in scores.result_rows(c, key)}
    names = list(ours)
    together = np.corrcoef([ours[k]["score"] for k in names], [theirs[k]["score"] for k in names])
    assert together[0, 1] > 0.97


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
def test_an_undo_or_many_new_votes_train_from_nothing(sqlite):
    rng = random.Random(0)
    key = store_project(sqlite, open_example("arguments"), name="arguments", created_by=None)
    with sqlite.write() as c:
        judge = people.create_person(c, "Judge", password_hash=None)
        vote_on(c, key, rng, 1, person=judge)
    first = refit(sqlite, key, rng=rng)
    with sqlite.write() as c:
        (mine,) = judgements.last_of(c, key, judge.id)
        judgements.undo(c, key, judge.id, request_id="take-it-back", undoes=mine.request_id)
    undone = refit(sqlite, key, rng=rng, last=first.fitted)
    assert not undone.is_warm
    with sqlite.write() as c:
        vote_on(c, key, rng, 200, person=judge)
    assert not refit(sqlite, key, rng=rng, last=undone.fitted).is_warm


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
def test_the_queue_grows_with_the_answers(sqlite):
    rng = random.Random(0)
    key = store_project(sqlite, open_example("arguments"), name="arguments", created_by=None)
    with sqlite.write() as c:
        judge = people.create_person(c, "Judge", password_hash=None)
    busy = refit(sqlite, key, rng=rng)  # the example's 300 votes are all new
    with sqlite.write() as c:
        vote_on(c, key, rng, 1, person=judge)
    quiet = refit(sqlite, key, rng=rng, last=busy.fitted)
    assert busy.n_questions > quiet.n_questions == 120
