"""``accord estimate`` on projects: shares, win rates and ranks, checked by hand."""

import json

import numpy as np
import pytest

from accord.cli.main import main
from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.estimate import estimate


def labelled(n=400, n_people=120):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    judge = truth ^ (rng.random(n) < 0.15)
    asked = rng.permutation(n)[:n_people]
    ids = np.array([f"t{i}" for i in range(n)])
    rows = {
        "kind": ["label"] * (n + n_people),
        "item_id": [*ids, *ids[asked]],
        "value": ["good" if yes else "bad" for yes in (*judge, *truth[asked])],
        "annotator_id": ["m"] * n + ["ada"] * n_people,
    }
    who = annotator_table({"annotator_id": ["m"], "kind": ["judge"]})
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    return Project("rationales", items, with_schema(rows, JUDGEMENTS), annotator_table=who), truth.mean()


def test_a_share_is_closer_than_from_people_alone():
    project, truth = labelled()
    figure = estimate(project, share="good")
    found = figure.estimate
    assert found.low <= truth <= found.high
    assert found.high - found.low < 0.9 * (found.people_high - found.people_low)
    assert "drawn at random" in figure.notes[0]


def all_pairs():
    """Every pair of five texts, answered once by the text that stands first in the alphabet but for one."""
    ids = list("abcde")
    rows = [(one, other, 1.0) for k, one in enumerate(ids) for other in ids[k + 1 :]]
    rows[0] = ("a", "b", 0.0)
    left, right, value = zip(*rows, strict=True)
    votes = {
        "kind": ["pair"] * 10, "item_id": left, "other_id": right, "value": [f"{v:g}" for v in value],
        "annotator_id": ["ada"] * 10, "propensity": [0.1] * 10,
    }  # fmt: skip
    return Project("pairs", with_schema({"item_id": ids, "text": ids}, ITEMS), with_schema(votes, JUDGEMENTS))


def test_wins_and_ranks_of_a_full_round_are_its_counts():
    project = all_pairs()
    assert estimate(project, wins="a").estimate.value == pytest.approx(0.75)
    assert estimate(project, wins="e").estimate.value == pytest.approx(0.0)
    # a loses to b alone: rank 2; b loses to nobody: rank 1; e loses to all: rank 5
    assert estimate(project, ranks=("a", "b")).estimate.value == pytest.approx(1.0)
    assert estimate(project, ranks=("e", "b")).estimate.value == pytest.approx(4.0)


def arena(n_votes=6, *, judged=True):
    """Every pair of five texts, asked several times; the judge says the opposite."""
    ids = list("abcde")
    pairs = [(one, other) for k, one in enumerate(ids) for other in ids[k + 1 :]]
    rows = [(one, other, float(k > 0), "ada") for one, other in pairs for k in range(n_votes)]
    rows += [(one, other, 0.0, "m") for one, other in pairs] * judged
    left, right, value, who = zip(*rows, strict=True)
    votes = {"kind": ["pair"] * len(rows), "item_id": left, "other_id": right, "annotator_id": who}
    votes["value"] = [f"{v:g}" for v in value]
    judges = annotator_table({"annotator_id": ["m"], "kind": ["judge"]})
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    return Project("pairs", items, with_schema(votes, JUDGEMENTS), annotator_table=judges)


def test_few_pairs_that_people_answered_often_need_no_judges():
    figure = estimate(arena(), wins="a")
    assert figure.estimate.value == pytest.approx(5 / 6)
    assert "from 24 answers of people to 4 of 4 questions" in figure.sentences[0]
    assert figure.sentences[1:] == ["People answered every one of these questions, so that judges add nothing."]
    assert len(estimate(arena(judged=False), ranks=("a", "e")).sentences) == 1


def test_judges_of_other_pairs_are_named():
    ids = list("abcdefghijklm")
    pairs = [(one, other) for k, one in enumerate(ids) for other in ids[k + 1 :]]
    rows = [(*pair, "1", "ada") for pair in pairs if pair[0] == "a"][:11]
    rows += [(*pair, "0", "m") for pair in pairs if pair[0] != "a"]
    left, right, value, who = zip(*rows, strict=True)
    votes = {"kind": ["pair"] * len(rows), "item_id": left, "other_id": right, "value": value, "annotator_id": who}
    judges = annotator_table({"annotator_id": ["m"], "kind": ["judge"]})
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    project = Project("pairs", items, with_schema(votes, JUDGEMENTS), annotator_table=judges)
    assert estimate(project, wins="a").sentences[-1].startswith("Judges answered none of these questions")


def test_the_order_of_the_two_texts_of_a_pair_does_not_matter():
    rng = np.random.default_rng(0)
    first, second = np.triu_indices(5, 1)
    rows, value, ids = rng.integers(0, 10, 40), rng.integers(0, 2, 40), np.array(list("abcde"))
    highs = []
    for names in (ids, ids[::-1]):  # the same votes on texts of other names, which turn every pair around
        votes = {"item_id": names[first[rows]], "other_id": names[second[rows]], "value": [f"{v}" for v in value]}
        votes |= {"kind": ["pair"] * 40, "annotator_id": ["ada"] * 40, "propensity": [0.1] * 40}
        project = Project("pairs", with_schema({"item_id": ids, "text": ids}, ITEMS), with_schema(votes, JUDGEMENTS))
        highs.append(estimate(project, ranks=(names[0], names[3])).estimate.high)
    assert highs[0] == pytest.approx(highs[1])


def test_the_command_prints_sentences_and_json(tmp_path, capsys):
    folder = str(labelled()[0].save(tmp_path / "p"))
    assert main(["estimate", folder, "--share", "good"]) == 0
    assert "share of 'good'" in capsys.readouterr().out
    assert main(["estimate", folder, "--share", "good", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_people"] == 120
    assert main(["estimate", folder]) == 2
    assert main(["estimate", folder, "--share", "odd"]) == 2


def test_one_figure_at_a_time():
    with pytest.raises(InputError, match="one figure"):
        estimate(all_pairs(), wins="a", ranks=("a", "b"))
    with pytest.raises(InputError, match="both are 'a'"):
        estimate(all_pairs(), ranks=("a", "a"))
