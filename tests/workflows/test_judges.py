"""Projects with judges: ranked by people, stored, trained on people, and shown with the judges' biases."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from accord.cli.main import main
from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.pairs.task import people_votes
from accord.store.database import open_database
from accord.store.projects import get_project
from accord.workflows.collecting.judges import judge_summary
from accord.workflows.exchange import project_of, store_project
from accord.workflows.export import export
from accord.workflows.import_ import import_files
from accord.workflows.kinds import task_of
from accord.workflows.personal import personal
from accord.workflows.projects import open_project
from accord.workflows.rank import control, rank
from accord.workflows.report import ranking_report
from synthetic.judges import judged_votes


def quiet(what, done, total):
    pass


@pytest.fixture(scope="module")
def project():
    problem = judged_votes(10, 150, 600)
    table = problem.votes.to_table()
    items = {"item_id": problem.votes.items.ids, "text": [f"Text {i}." for i in range(10)], "meta.x": problem.covariate}
    votes = {
        "kind": ["pair"] * len(table),
        "item_id": table["left"],
        "other_id": table["right"],
        "value": [f"{value:g}" for value in table["value"]],
        "annotator_id": table["annotator_id"],
        "shown_left_id": table["shown_left_id"],
    }
    who = annotator_table(problem.judges.assign(kind="judge"))
    return Project("pairs", with_schema(items, ITEMS), with_schema(votes, JUDGEMENTS), annotator_table=who)


def test_a_project_with_judges_is_ranked_with_their_slopes(project):
    (ranking,) = rank(project, settings={"covariates": "position,meta.x"}, progress=quiet)
    assert ranking.learnt.judges["annotator"].tolist() == ["judge-1", "judge-2"]
    said = [sentence for sentence in ranking.learnt.sentences if sentence.startswith("judge-1 prefers")]
    assert "the text with more meta.x" in said[0]
    kinds = dict(zip(ranking.voters["annotator_id"], ranking.voters["kind"], strict=True))
    assert (kinds["judge-1"], kinds["person1"]) == ("judge", "person")
    page = ranking_report(project, [ranking])
    assert "judge-1 (judge)" in page
    assert said[0] in page


def test_pairs_on_which_judges_agree_by_their_bias_are_asked(project):
    found = judge_summary(project)
    voted = {frozenset(pair) for pair in people_votes(project).to_table()[["left", "right"]].itertuples(index=False)}
    assert found["doubtful"]
    assert not {frozenset(pair) for pair in found["doubtful"]} & voted
    assert all("doubtful" not in row for row in found["pairs"])


def test_the_controlled_ranking_says_whose_votes_it_counts(project):
    assert (
        "from 150 votes of people, with and without position and meta.x"
        in control(project, ["position", "meta.x"]).title
    )
    by_judges = replace(project, judgement_table=project.judgement_table.filter(
        pc.is_in(project.judgement_table["annotator_id"].cast("string"), pa.array(["judge-1", "judge-2"]))
    ))  # fmt: skip
    assert "from 600 votes of judges, with and without meta.x taken" in control(by_judges, ["meta.x"]).title


def test_the_command_says_the_slopes_and_the_controlled_ranking(project, tmp_path, capsys):
    folder = str(project.save(tmp_path / "project"))
    settings = ["--set", "covariates=position", "--set", "n_draws=600"]
    assert main(["rank", folder, *settings, "--control", "meta.x", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["annotator"] for row in found["slopes"]} == {"judges", "people", "judge-1", "judge-2"}
    assert found["judges"][0]["n_votes"] > 200
    assert found["coefficients"][0]["covariate"] == "meta.x"
    assert {row["plain_rank"] for row in found["controlled"]} == set(range(1, 11))


def test_style_control_is_of_peoples_votes(project):
    assert control(project, ["position"]).n_votes == 150
    with pytest.raises(InputError, match="no column"):
        control(project, ["meta.none"])


def test_training_learns_from_people_alone(project):
    model = task_of("pairs").train(project, {"features": None}, quiet)
    assert model._comparisons.n_votes == 150


def test_the_store_keeps_annotators(project, tmp_path):
    database = open_database(f"sqlite:///{tmp_path / 'studio.db'}")
    key = store_project(database, project, name="Judged", created_by=None)
    with database.read() as connection:
        back = project_of(connection, get_project(connection, key))
    assert back.annotator_table.equals(project.annotator_table)
    assert np.array_equal(np.sort(back.judges()["annotator_id"]), ["judge-1", "judge-2"])


def test_the_command_says_who_prefers_what(project, tmp_path, capsys):
    folder = str(project.save(tmp_path / "project"))
    assert main(["rank", folder, "--person", "person1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["annotator"] for row in found["voters"]} == {f"person{k}" for k in range(1, 7)}  # judges are not people
    assert len(found["ranking"]) == 10
    assert found["groups"][0]["share"] > 0
    assert main(["rank", folder, "--personal"]) == 0
    assert "voters" in capsys.readouterr().out
    assert main(["rank", folder, "--person", "nobody"]) == 2
    assert "no vote of 'nobody'" in capsys.readouterr().err
    assert main(["rank", folder, "--personal", "--method", "model"]) == 2


def test_names_of_annotators_in_another_case_are_taken_for_those_of_the_votes(tmp_path, capsys):
    (tmp_path / "votes.csv").write_text("left,right,winner,annotator_id\na,b,a,ada\na,b,b,m-1\na,b,b,bo\na,b,b,BO\n")
    (tmp_path / "who.csv").write_text("annotator_id,kind\nM-1,judge\nBo,judge\n")
    arguments = [str(tmp_path / "votes.csv"), "--annotators", str(tmp_path / "who.csv"), "--out", str(tmp_path / "p")]
    assert main(["import", *arguments]) == 0
    said = capsys.readouterr().out
    assert "'M-1' of the annotators is 'm-1' of the judgements" in said
    assert "gave no judgement are kept: Bo" in said  # it may be either of two
    assert set(open_project(tmp_path / "p").judges()["annotator_id"]) == {"m-1", "Bo"}


def test_judges_have_no_personal_preferences(project):
    voters = project.comparisons().annotators
    everybody = annotator_table({"annotator_id": list(voters), "kind": ["judge"] * len(voters)})
    with pytest.raises(InputError, match="all of these votes are of judges"):
        personal(replace(project, annotator_table=everybody), progress=quiet)


def test_judges_stay_judges_in_a_table_of_battles_and_do_not_decide_how_sure_it_is(tmp_path):
    (tmp_path / "votes.csv").write_text(
        "left,right,winner,annotator_id\na,b,a,ada\n" + "a,b,b,m-1\n" * 8 + "a,c,a,m-1\na,c,c,m-1\na,c,a,m-1\n"
    )
    (tmp_path / "annotators.csv").write_text("annotator_id,kind,family\nm-1,judge,m\n")
    import_files([tmp_path / "votes.csv", tmp_path / "annotators.csv"], tmp_path / "p")
    export(open_project(tmp_path / "p"), tmp_path / "out", form="arena")
    battles = [json.loads(line) for line in (tmp_path / "out" / "battles.jsonl").read_text().splitlines()]
    assert battles[0]["confidence"] == pytest.approx(2 / 3)  # one person of one
    assert battles[1]["confidence"] == pytest.approx(1 / 3)
    assert battles[-1]["confidence"] == pytest.approx(3 / 5)  # two of three judges, where no person voted
    import_files([tmp_path / "out" / "battles.jsonl"], tmp_path / "again")
    again = open_project(tmp_path / "again").judges()
    assert again[["annotator_id", "family"]].to_numpy().tolist() == [["m-1", "m"]]


def test_explaining_a_text_says_what_judges_like_of_it(tmp_path, capsys):
    model = tmp_path / "model.accord"
    assert main(["train", "pairs", "example:answers", "--model", str(model)]) == 0
    capsys.readouterr()
    assert main(["explain", str(model), "example:answers", "--item", "h01", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["annotator"] for row in found["judges"]} == {"north-large", "south-mini"}
    assert {"covariate", "effect", "low", "high"} <= set(found["judges"][0])


def test_annotators_who_are_called_as_language_models_are_doubted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["left,right,winner,voter", "a,b,a,Claude", "b,c,b,Claude", "a,c,a,gpt-4o-judge", "a,b,b,gpt-4o-judge"]
    Path("votes.csv").write_text("\n".join(rows), encoding="utf-8")
    assert main(["import", "votes.csv", "--out", "p"]) == 0
    said = capsys.readouterr().out
    assert "taken: 'gpt-4o-judge' counts as people do; if it is a program, say so with --annotators FILE" in said
    assert "'Claude'" not in said
    Path("who.csv").write_text("annotator_id,kind\ngpt-4o-judge,judge\n", encoding="utf-8")
    assert main(["import", "votes.csv", "--annotators", "who.csv", "--out", "q"]) == 0
    assert "counts as people do" not in capsys.readouterr().out
    assert Project.load("q").counts["annotators"] == 1
