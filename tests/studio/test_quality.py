"""Overlap, disagreements and how owners settle them, gold questions."""

import random
import re
import uuid
from collections import Counter

import pytest

from accord.store import questions
from accord.store.scores import get_scores
from accord.workflows.collecting.refit import refit

LABELS = ["Good", "Bad"]


def new_id():
    return uuid.uuid4().hex


def ask(client, project):
    return client.post(f"/api/projects/{project}/questions/next").json()


def label(client, project, question, name, **more):
    body = {
        "request_id": new_id(), "kind": "label", "item": question["texts"][0]["key"], "label": name,
        "question_id": question.get("question_id"), **more,
    }  # fmt: skip
    answer = client.post(f"/api/projects/{project}/judgements", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def team(studio, n, kind="links", n_texts=6, **settings):
    owner = studio.person()
    project = studio.project(owner, kind, n=n_texts, labels=LABELS, **settings)
    judges = [studio.person() for _ in range(n)]
    for judge in judges:
        studio.join(project, judge, "judge")
    return project, studio.client(owner), [studio.client(judge) for judge in judges], judges


@pytest.mark.parametrize("is_fitted", [False, True])
def test_each_text_is_asked_of_as_many_people_as_wanted_and_of_no_more(studio, is_fitted):
    project, _, clients, _ = team(studio, 5, overlap=2)
    seen = Counter()
    for turn in range(12):
        for place, client in enumerate(clients):
            question = ask(client, project)
            if not question["done"]:
                seen[question["texts"][0]["item_id"], place] += 1
                label(client, project, question, LABELS[(turn + place) % 2])
        if is_fitted and turn in (0, 1):
            refit(studio.database, project, rng=random.Random(0))
    people = Counter(name for name, _ in seen)
    assert people == {f"t{i}": 2 for i in range(6)}
    assert all(ask(client, project)["done"] for client in clients)


def test_what_a_removed_person_was_asked_is_asked_of_others_at_once(studio):
    project, owner, clients, judges = team(studio, 2, n_texts=1)
    held = ask(clients[0], project)
    assert ask(clients[1], project)["done"] or ask(clients[1], project)["texts"] == held["texts"]
    assert owner.delete(f"/api/projects/{project}/members/{judges[0].id}").status_code == 204
    assert ask(clients[1], project)["texts"] == held["texts"]


def test_a_disagreement_is_listed_settled_with_a_reason_and_learnt(studio):
    project, owner, clients, _ = team(studio, 3)
    items = owner.get(f"/api/projects/{project}/items").json()["items"]
    said = {"t0": "GGG", "t1": "GGB", "t2": "GBB", "t3": "BBB", "t4": "GGG", "t5": "BBB"}
    for item in items:
        for client, letter in zip(clients, said[item["item_id"]], strict=True):
            label(client, project, {"texts": [item]}, "Good" if letter == "G" else "Bad")
    refit(studio.database, project, rng=random.Random(0))
    found = owner.get(f"/api/projects/{project}/quality").json()
    assert [(c["item_id"], c["answers"]) for c in found["conflicts"]] == [
        ("t1", {"Good": 2, "Bad": 1}), ("t2", {"Bad": 2, "Good": 1}),
    ]  # fmt: skip
    assert found["conflicts"][0]["harm"] == pytest.approx(1 - 2.5 / 4)
    alpha = found["agreement"][0]["measures"][0]
    # Krippendorff's α by hand: 18 values, 9 of each label; 4 of 36 ordered pairs within texts differ, over n_u - 1.
    assert alpha["value"] == pytest.approx(1 - (4 / 18) / (2 * 9 * 9 / (18 * 17)))
    assert alpha["low"] < alpha["value"] <= alpha["high"]
    assert found["overlap"] == {"3": 6}
    page = owner.get(f"/projects/{project}/quality").text
    assert "This is text 1." in page
    key = next(item["key"] for item in items if item["item_id"] == "t1")
    body = {"request_id": new_id(), "kind": "label", "item": key, "label": "Bad", "reason": "it complains"}
    for _ in range(2):  # sent twice, stored once
        assert owner.post(f"/api/projects/{project}/resolutions", json=body).status_code == 204
    assert clients[0].post(f"/api/projects/{project}/resolutions", json=body).status_code == 403
    refit(studio.database, project, rng=random.Random(0))
    row = owner.get(f"/api/projects/{project}/results/{key}").json()
    assert (row["label"], row["given"]) == ("Bad", True)
    after = owner.get(f"/api/projects/{project}/quality").json()
    assert after["overlap"] == {"3": 6}  # an owner's answer is none of the judges'
    exported = owner.get(f"/api/projects/{project}/answers?strategy=adjudication").json()
    assert [(entry["given"]["label"], entry["given"]["skip_reason"]) for entry in exported] == [("Bad", "it complains")]
    # The owner's own answer as a judge does not take the resolution away, and neither does an undo.
    label(owner, project, {"texts": [{"key": key}]}, "Good")
    owner.post(f"/api/projects/{project}/undo", json={"request_id": new_id()})
    assert len(owner.get(f"/api/projects/{project}/answers?strategy=adjudication").json()) == 1


def score(client, project, item, **scores):
    body = {"request_id": new_id(), "kind": "score", "item": item["key"], "scores": scores}
    assert client.post(f"/api/projects/{project}/judgements", json=body).status_code == 201


def settle(owner, project, **answer):
    sent = owner.post(f"/api/projects/{project}/resolutions", json={"request_id": new_id(), **answer})
    assert sent.status_code == 204, sent.text


@pytest.mark.parametrize("is_fitted", [False, True])
def test_two_aspects_of_one_text_are_settled_one_by_one(studio, is_fitted):
    project, owner, clients, _ = team(studio, 2, kind="aspects", n_texts=1, aspects=["food", "room", "price"])
    (item,) = owner.get(f"/api/projects/{project}/items").json()["items"]
    score(clients[0], project, item, food=1, room=1, price=1)
    score(clients[1], project, item, food=5, room=5, price=4)
    refit(studio.database, project, rng=random.Random(0))
    for aspect in ("food", "room"):
        settle(owner, project, kind="score", item=item["key"], scores={aspect: 3})
    if is_fitted:
        refit(studio.database, project, rng=random.Random(0))
    page = owner.get(f"/projects/{project}/quality").text
    assert re.findall(r'data-aspect="(\w+)"', page) == ["price"]
    settle(owner, project, kind="score", item=item["key"], scores={"price": 3})
    if is_fitted:
        refit(studio.database, project, rng=random.Random(0))
    assert "All that were found are settled." in owner.get(f"/projects/{project}/quality").text


def test_of_many_disagreements_the_next_follow_when_the_first_are_settled(studio):
    project, owner, clients, _ = team(studio, 2, n_texts=70)
    items = owner.get(f"/api/projects/{project}/items?limit=500").json()["items"]
    for item in items:
        for client, name in zip(clients, LABELS, strict=True):
            label(client, project, {"texts": [item]}, name)
    refit(studio.database, project, rng=random.Random(0))
    assert "The first 30 of 70 are listed" in owner.get(f"/projects/{project}/quality").text
    for left in (70, 40, 10):
        shown = re.findall(r'data-item="(\d+)"', owner.get(f"/projects/{project}/quality").text)
        assert len(shown) == min(left, 30)
        for key in shown:
            settle(owner, project, kind="label", item=int(key), label="Good")
    assert "All that were found are settled." in owner.get(f"/projects/{project}/quality").text


def test_settling_a_disagreement_is_no_answer_of_the_owner(studio):
    project, owner, clients, _ = team(studio, 2, quota=2)
    items = owner.get(f"/api/projects/{project}/items").json()["items"]
    for item in items[:2]:
        for client, name in zip(clients, LABELS, strict=True):
            label(client, project, {"texts": [item]}, name)
        settle(owner, project, kind="label", item=item["key"], label="Good")
    assert not ask(owner, project)["done"]  # the quota of the owner is untouched
    refit(studio.database, project, rng=random.Random(0))
    with studio.database.read() as connection:
        people = get_scores(connection, project).result["people"]
    assert [(row["n_answers"], row["n_shared"], row["agreement"]) for row in people] == [(2, 2, 0.0)] * 2


def test_reasons_to_skip_are_reported_to_the_owner(studio):
    project, owner, clients, _ = team(studio, 2)
    for client in clients:
        question = ask(client, project)
        body = {
            "request_id": new_id(),
            "kind": "skip",
            "item": question["texts"][0]["key"],
            "skip_reason": "not understood",
        }
        assert client.post(f"/api/projects/{project}/judgements", json=body).status_code == 201
    refit(studio.database, project, rng=random.Random(0))
    skips = owner.get(f"/api/projects/{project}/quality").json()["skips"]
    assert skips["reasons"] == {"not understood": 2}
    assert sum(n for _, n in skips["texts"]) == 2
    assert "not understood" in owner.get(f"/projects/{project}/quality").text


def test_gold_questions_are_mixed_in_told_and_counted(studio):
    project, owner, (one, two), judges = team(studio, 2, gold_share=1.0, gold_feedback=True)
    items = owner.get(f"/api/projects/{project}/items").json()["items"]
    for item in items[:2]:
        body = {"request_id": new_id(), "kind": "label", "item": item["key"], "label": "Good", "reason": "It says so."}
        assert owner.post(f"/api/projects/{project}/gold", json=body).status_code == 204
    assert one.get(f"/api/projects/{project}/gold").status_code == 403
    told = {}
    for place, (client, name) in enumerate(((one, "Good"), (two, "Bad"))):
        while not (question := ask(client, project))["done"]:
            stored = label(client, project, question, name)
            if stored["feedback"]:
                told.setdefault(place, []).append(stored["feedback"])
    gold = owner.get(f"/api/projects/{project}/answers?strategy=gold").json()
    assert len(gold) == sum(len(found) for found in told.values()) == 4
    assert all(found == {"right": True, "answer": "Good", "reason": "It says so."} for found in told[0])
    assert all(not found["right"] for found in told[1])
    refit(studio.database, project, rng=random.Random(0))
    shares = {row["name"]: row["share"] for row in owner.get(f"/api/projects/{project}/quality").json()["gold"]}
    assert shares == {judges[0].name: 1.0, judges[1].name: 0.0}
    listed = owner.get(f"/api/projects/{project}/gold").json()
    assert len(listed) == 2
    assert owner.delete(f"/api/projects/{project}/gold/{listed[0]['id']}").status_code == 204
    assert len(owner.get(f"/api/projects/{project}/gold").json()) == 1


def threads(studio, project, n=6):
    """More threads, of two comments each."""
    from accord.store import projects

    with studio.database.write() as c:
        rows = [
            {"item_id": f"{thread}-{i}" if i else thread, "text": f"Words {thread} {i}", "group_id": thread}
            for thread in (f"q{k}" for k in range(n))
            for i in range(3)
        ]
        projects.add_items(c, project, rows)


def shown(client, project, **query):
    """The keys of the comments on a page of threads, and of those that are not answered yet."""
    page = client.get(f"/projects/{project}/judge", params=query).text
    found = re.findall(r'class="comment [^>]*data-key="(\d+)" (data-given="[^"]*")?', page)
    return [int(key) for key, _ in found], [int(key) for key, given in found if not given]


def test_gold_answers_about_several_aspects_of_a_text_are_all_kept(studio):
    project, owner, (one,), _ = team(
        studio, 1, kind="aspects", n_texts=1, aspects=["food", "room"], gold_share=1.0, gold_feedback=True
    )
    (item,) = owner.get(f"/api/projects/{project}/items").json()["items"]
    known = (({"food": 5}, "It was excellent."), ({"room": 1}, "It was dark."), ({"room": 2}, ""))
    for scores, reason in known:
        body = {"request_id": new_id(), "kind": "score", "item": item["key"], "scores": scores, "reason": reason}
        assert owner.post(f"/api/projects/{project}/gold", json=body).status_code == 204
    (found,) = owner.get(f"/api/projects/{project}/gold").json()
    assert found["right"] == {"scores": {"food": 5, "room": 2}}
    assert found["reason"] == "It was excellent.; It was dark."
    asked = ask(one, project)
    body = {"kind": "score", "item": item["key"], "scores": {"food": 5, "room": 1}, "question_id": asked["question_id"]}
    stored = one.post(f"/api/projects/{project}/judgements", json={"request_id": new_id(), **body}).json()
    assert not stored["feedback"]["right"]
    assert stored["feedback"]["answer"] == "food: 5, room: 2"


def test_a_thread_is_labelled_by_as_many_people_as_wanted_and_people_start_apart(studio):
    project, owner, clients, _ = team(studio, 4, kind="threads", n_texts=0, overlap=2)
    threads(studio, project)
    assert len({tuple(shown(client, project)[0]) for client in clients}) > 1
    for _ in range(8):
        for client in clients:
            page, left = shown(client, project)
            if not page:
                continue
            half, rest = left[:1], left[1:]
            for key in half:
                label(client, project, {"texts": [{"key": key}]}, "Good")
            assert rest == [] or shown(client, project) == (page, rest)  # the one that is begun comes again
            for key in rest:
                body = {"request_id": new_id(), "kind": "skip", "item": key, "skip_reason": "no label fits"}
                assert client.post(f"/api/projects/{project}/judgements", json=body).status_code == 201
    refit(studio.database, project, rng=random.Random(0))
    found = owner.get(f"/api/projects/{project}/quality").json()
    assert found["overlap"] == {"2": 6}  # the other comment of each thread was not decided
    assert found["skips"]["reasons"] == {"no label fits": 12}
    assert all(shown(client, project)[0] == [] for client in clients)


def test_people_who_cannot_decide_about_one_text_are_not_asked_which_of_two(studio):
    project, owner, _, _ = team(studio, 0)
    page = owner.get(f"/projects/{project}/judge").text
    assert "No label fits" in page
    assert "Both bad" not in page


def test_nothing_is_said_of_quality_before_anything_was_computed_and_then_when_it_was(studio):
    project, owner, _, _ = team(studio, 0)
    before = owner.get(f"/projects/{project}/quality").text
    assert "has not looked at this project yet" in before
    assert "Nobody has skipped" not in before
    assert "None was found" not in before
    label(owner, project, ask(owner, project), "Good")
    refit(studio.database, project, rng=random.Random(0))
    assert "Nobody has skipped" in owner.get(f"/projects/{project}/quality").text
    assert "Computed just now from 1 judgement, with model 1." in owner.get(f"/projects/{project}/people").text


def test_the_next_thread_is_one_that_the_queue_asks_about(studio):
    project, _, (client,), _ = team(studio, 1, kind="threads", n_texts=0)
    threads(studio, project)
    keys = shown(client, project)[0]
    with studio.database.write() as c:
        row = {"other": None, "strategy": "informative", "propensity": 0.1, "model_version": 1}
        questions.refill(c, project, [{"item": keys[0] + 9, **row}])  # three texts a thread: the fourth
    assert shown(client, project)[0] == [key + 9 for key in keys]
    assert shown(client, project, after=0)[0] == keys  # the next one in order, when it is asked for
