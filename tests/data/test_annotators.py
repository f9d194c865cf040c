"""Who judged: the table of people and judges, from files to projects and back."""

import pandas as pd
import pytest

from accord.data.annotators import annotator_table, read_annotators
from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.export import export
from accord.workflows.import_ import import_files

VOTES = "left,right,value,annotator_id\na,b,1,ada\nb,c,0,m-1\na,c,0.5,m-2\n"
WHO = "annotator_id,kind,family,model,cost\nada,person,,,0.5\nm-1,Judge,m,model-1,0.001\nm-2,judge,,,\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "who.csv").write_text(WHO)
    (tmp_path / "texts.csv").write_text("item_id,text\na,One.\nb,Two.\nc,Three.\n")
    return tmp_path


def test_annotators_are_read_saved_and_loaded(files):
    imported = import_files([files / "votes.csv"], files / "project", annotators=files / "who.csv")
    assert imported.counts["judges"] == 2
    project = Project.load(files / "project")
    judges = project.judges()
    assert judges["annotator_id"].tolist() == ["m-1", "m-2"]
    assert judges["family"].tolist() == ["m", "m-2"]  # without a family a judge is one by itself
    assert judges["cost"].tolist()[0] == 0.001
    again = Project.load(project.save(files / "again"))
    assert again.annotator_table.equals(project.annotator_table)
    assert again.fingerprint == project.fingerprint


def test_an_export_and_its_import_keep_the_annotators(files):
    import_files([files / "texts.csv", files / "votes.csv"], files / "project", annotators=files / "who.csv")
    project = Project.load(files / "project")
    written = export(project, files / "out", form="csv")
    assert written["annotators.csv"] == 3
    import_files([files / "out" / name for name in written], files / "back", kind="pairs")
    back = Project.load(files / "back")
    assert back.annotator_table.equals(project.annotator_table)
    assert back.counts["judgements"] == 3


def test_a_table_put_into_the_folder_is_used(files):
    import_files([files / "votes.csv"], files / "project")
    without = Project.load(files / "project")
    assert without.judges().empty
    assert "annotators" not in without.counts
    (files / "project" / "annotators.csv").write_text(WHO)
    assert len(Project.load(files / "project").judges()) == 2
    assert Project.load(files / "project").fingerprint != without.fingerprint


def test_annotators_without_a_judgement_are_said(files):
    (files / "who.csv").write_text(WHO + "m-9,judge,,,\n")
    imported = import_files([files / "votes.csv"], files / "project", annotators=files / "who.csv")
    assert any("m-9" in taken for taken in imported.assumed)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"annotator_id": ["a"], "kind": ["robot"]}, "person or judge; row 1"),
        ({"annotator_id": ["a", "a"], "kind": ["judge", "judge"]}, "'a' twice"),
        ({"annotator_id": ["a", None], "kind": ["judge", "judge"]}, "needs an id; row 2"),
        ({"annotator_id": ["a"]}, "needs a column 'kind'"),
        ({"annotator_id": ["a"], "kind": ["judge"], "cost": ["cheap"]}, "a number of at least 0; row 1"),
        ({"annotator_id": ["a"], "kind": ["judge"], "cost": [-1]}, "a number of at least 0; row 1"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(table, sentence):
    with pytest.raises(InputError, match=sentence):
        annotator_table(pd.DataFrame(table))


def test_other_names_of_columns_are_known(tmp_path):
    (tmp_path / "judges.jsonl").write_text('{"judge": "m-1", "type": "judge", "model_name": "x"}\n')
    assert read_annotators(tmp_path / "judges.jsonl").to_pylist()[0]["model"] == "x"


def test_scores_of_several_people_are_read_beside_the_table_of_texts(tmp_path):
    (tmp_path / "scores.csv").write_text("item_id,food,service,annotator\na,4,3,m-1\na,2,2,ada\nb,5,,m-1\n")
    (tmp_path / "texts.csv").write_text(
        "item_id,text\na,The soup was cold and late.\nb,We liked all of it very much.\n"
    )
    (tmp_path / "annotators.csv").write_text("annotator_id,kind\nm-1,judge\n")
    imported = import_files([tmp_path / name for name in ("scores.csv", "texts.csv", "annotators.csv")], tmp_path / "p")
    assert imported.kind == "aspects"
    assert (imported.counts["people"], imported.counts["judges"]) == (1, 1)
    rows = Project.load(tmp_path / "p").answered()[["item_id", "aspect", "value", "annotator_id"]].astype(str)
    assert rows.to_numpy().tolist() == [
        ["a", "food", "4", "m-1"], ["a", "service", "3", "m-1"], ["a", "food", "2", "ada"],
        ["a", "service", "2", "ada"], ["b", "food", "5", "m-1"],
    ]  # fmt: skip
