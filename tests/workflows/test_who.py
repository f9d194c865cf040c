"""Whom to ask: reliable people, nobody twice, nobody beyond a quota, everybody now and then."""

from collections import Counter

import numpy as np
import pytest

from accord.cli.main import main
from accord.data.annotators import ANNOTATORS
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.ask import ask
from accord.workflows.who import Answerer, answerers, capacity, send, with_people

TODAY = "2026-03-01"


def person(name, reliability, **fields):
    return Answerer(name, **{"is_judge": False, "reliability": reliability, "n_shared": 50, "n_done": 0, "n_today": 0,
                             **fields})  # fmt: skip


def questions(n):
    return [(frozenset([f"t{i}"]), None) for i in range(n)]


def crowd(right=(("ann", 0.95), ("bob", 0.6), ("cyd", 0.9), ("bot", 0.95)), n=120):
    """Texts of two labels, each judged by everybody; who is right how often is known."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, n)
    rows = {name: [] for name in ("judgement_id", "kind", "item_id", "value", "annotator_id", "created_at")}
    for name, share in right:
        for text in range(n):
            said = truth[text] if rng.random() < share else 1 - truth[text]
            values = (f"{name}{text}", "label", f"t{text}", "ab"[said], name, "2026-02-01T10:00:00+00:00")
            for column, value in zip(rows, values, strict=True):
                rows[column].append(value)
    items = with_schema({"item_id": [f"t{i}" for i in range(2 * n)], "text": ["word " * 3] * (2 * n)}, ITEMS)
    who = with_schema({"annotator_id": ["bot"], "kind": ["judge"]}, ANNOTATORS)
    return Project("rationales", items, with_schema(rows, JUDGEMENTS), settings={}, annotator_table=who)


def test_reliability_is_learnt_and_drawn_towards_the_mean_of_all():
    found = {one.name: one for one in answerers(crowd(), today=TODAY)}
    assert found["ann"].reliability > found["cyd"].reliability - 0.05 > found["bob"].reliability
    assert found["bob"].reliability == pytest.approx(0.6, abs=0.1)
    assert found["bot"].is_judge
    assert found["ann"].n_done == found["ann"].n_shared == 120
    few = {one.name: one for one in answerers(crowd(n=2), names=["ann", "new"], today=TODAY)}
    assert 0.5 < few["new"].reliability < 0.9
    assert few["new"].n_shared == 0


def test_a_sure_answer_tells_all_and_one_at_chance_nothing():
    assert capacity([0.3, 0.5, 1.0]).tolist() == [0.0, 0.0, 1.0]
    assert capacity(0.25, 4) == pytest.approx(0.0)
    assert 0 < capacity(0.4, 4) < capacity(0.9, 4) < 1


def test_the_best_person_is_asked_nobody_twice_and_nobody_beyond_the_quota():
    rng = np.random.default_rng(0)
    best = person("ann", 0.95, done=frozenset([frozenset(["t0"])]), n_done=8)
    people = [best, person("bob", 0.8), person("dan", 0.6)]
    sent = send(questions(6), people, rng, quota=10, floor=0.0)
    assert sent[0].name == "bob"  # ann has answered it
    assert [one.name for one in sent].count("ann") == 2
    assert all(one.propensity == 1.0 for one in sent)
    nobody = send(questions(1), [best], rng, floor=0.0)[0]
    assert (nobody.name, nobody.propensity) == (None, None)


def test_whoever_has_answered_much_today_is_asked_less():
    rng = np.random.default_rng(0)
    sent = Counter(one.name for one in send(questions(60), [person("ann", 0.9), person("bob", 0.88)], rng, floor=0.0))
    assert 20 < sent["bob"] < 40
    busy = [person("ann", 0.9, n_today=200), person("bob", 0.88)]
    assert Counter(one.name for one in send(questions(20), busy, rng, floor=0.0))["bob"] > 15


def test_propensities_are_how_often_each_is_asked_and_nobody_is_left_out():
    people = [person("ann", 0.95), person("bob", 0.8), person("dan", 0.5)]
    rng = np.random.default_rng(1)
    drawn = Counter()
    told = {}
    for _ in range(6_000):
        one = send(questions(1), people, rng)[0]
        drawn[one.name] += 1
        told[one.name] = one.propensity
    assert sum(told.values()) == pytest.approx(1.0)
    for name, share in told.items():
        assert drawn[name] / 6_000 == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 6_000))
    assert set(drawn) == {"ann", "bob", "dan"}


def test_questions_that_were_only_sent_do_not_count_as_answers_of_today():
    sent = send(questions(2), [person("ann", 0.9, n_today=3)], np.random.default_rng(0), floor=0.0)
    first, second = (one.why.partition("; ")[2] for one in sent)
    assert (first, second) == ("answers today: 3", "answers today: 3; asked above: 1")


def test_people_are_better_where_they_know_the_group():
    people = [person("ann", 0.8, groups={"law": 0.95}), person("bob", 0.85)]
    sent = send([(frozenset(["a"]), "law"), (frozenset(["b"]), None)], people, np.random.default_rng(0), floor=0.0)
    assert [one.name for one in sent] == ["ann", "bob"]


def test_the_command_prints_whom_to_ask_and_why(capsys):
    assert main(["ask", "example:cafe-notes", "-n", "3", "--strategy", "random", "--who", "--json"]) == 0
    shown = capsys.readouterr().out
    assert '"who_propensity"' in shown
    assert "compared" in shown
    assert main(["ask", "example:cafe-threads", "-n", "3", "--strategy", "random", "--who"]) == 2
    assert "annotator is known" in capsys.readouterr().err


def test_questions_of_a_project_go_to_its_people_and_judges():
    project = crowd()
    table = ask(None, project, n=20, strategy="random", progress=lambda what, done, total: None)
    asked = with_people(table, project, today=TODAY)
    assert set(asked["who"]) <= {"ann", "bob", "cyd", "bot"}
    assert (asked["who"] != "bob").sum() >= 15
    assert asked["who_propensity"].between(0, 1).all()
    empty = Project("rationales", project.item_table)
    with pytest.raises(InputError, match="annotator is known"):
        with_people(table, empty)
