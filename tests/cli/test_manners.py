"""Manners of the command line: help by aims, completion, suggestions, predictions as people want them, notes."""

import json
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from python_calamine import CalamineWorkbook

from accord.cli.frame import print_table
from accord.cli.main import _AIMS, COMMANDS, main
from accord.data.project import Project
from accord.store import projects
from accord.store.database import open_database
from accord.studio.server import add_project
from accord.workflows.projects import open_example


def test_every_command_has_one_aim():
    assert sorted(name for names in _AIMS.values() for name in names) == sorted(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_and_its_options(shell, capsys):
    assert main(["completion", shell]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in COMMANDS)
    assert "texts-only" in said


def test_completion_of_bash_completes(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out + "\nCOMP_WORDS=(accord import --tex); COMP_CWORD=2; _accord; echo $COMPREPLY"
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout == "--texts-only\n"


@pytest.mark.parametrize(
    ("command", "cure"),
    [
        ("import rationale notes.csv --out p", "Did you mean 'rationales'?"),
        ("import notes.cvs --out p", "there is no file notes.cvs. Did you mean 'notes.csv'?"),
        ("import there/notes.csv --out p", "There is no folder there either."),
        ("import notes.csv --map txet=text --out p", "Did you mean 'text'?"),
        ("import notes.csv --map text=txt --out p", "Did you mean 'text'?"),
        ("import photo.png --out p", ".xlsx"),
        ("import notes.csv --out /proc/p", "Choose another place."),
        ("import pairs notes.csv --map text=aspect --out p", "Leave it out of --map."),
        ("import numbers.csv --out p", "such as: accord import --map a=text,b=label."),
        ("rank example:argument", "Did you mean 'arguments'?"),
        ("rank example:cafe-reviews", "Train a model of it with 'accord train aspects'."),
        ("train aspect example:cafe-reviews --model m", "Did you mean 'aspects'?"),
        ("train pairs example:cafe-reviews --model m", "Name the kind aspects, or another project."),
        ("train aspects example:cafe-reviews --model m --set modle=prank", "Did you mean 'model'?"),
        ("train aspects example:cafe-reviews --model m --set model=prnk", "Did you mean 'prank'?"),
        ("train aspects example:cafe-reviews --model m --set model", "Write, for example, random_state=1."),
        ("ask example:arguments --strategy balld", "Did you mean 'bald'?"),
        ("export example:arguments --out p --format label-studo", "Did you mean 'label-studio'?"),
        ("evaluate aspects example:cafe-notes", "Name the kind rationales, or another project."),
        ("import links battles.csv --out p", "Leave out the kind, which is then found"),
        ("import pairs notes.csv --out p", "all that was read is label. Leave out the kind"),
        ("import letter.docx --out p", "Save its text as .txt"),
        ("import model.accord --out p", "give it to accord predict"),
        ("agree note.csv", "there is no project or file note.csv. Did you mean 'notes.csv'?"),
        ("report example:arguments --out p", "must end in .html"),
        ("evaluate aspects example:cafe-reviews --report p.csv", "must end in .html"),
        ("train aspects example:cafe-reviews --model notes.csv/m", "Choose another place."),
    ],
)
def test_a_mistake_is_answered_with_its_cure(command, cure, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.csv").write_text("text,label\nThe soup was warm.,good\nThe soup was cold.,bad\n")
    (tmp_path / "numbers.csv").write_text("a,b\n1,2\n3,4\n")
    (tmp_path / "battles.csv").write_text("model_a,model_b,winner\nx,y,model_a\ny,z,tie\n")
    for name in ("photo.png", "letter.docx", "model.accord"):
        (tmp_path / name).write_bytes(b"\x89PNG")
    assert main(command.split()) == 2
    said = capsys.readouterr()
    assert cure in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "p").exists()


def test_a_misspelt_command_and_format_are_suggested(tmp_path, capsys):
    assert main(["imprt"]) == 2
    assert "Did you mean 'accord import'?" in capsys.readouterr().err
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["import", str(tmp_path / "x.csv"), "--format", "doccanoo", "--dry-run"]) == 2
    assert "Did you mean 'doccano'?" in capsys.readouterr().err


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("m") / "notes.accord"
    assert main(["train", "rationales", "example:cafe-notes", "--model", str(path)]) == 0
    return path


def test_predictions_are_written_as_a_spreadsheet_and_a_page(model, tmp_path, capsys):
    assert main(["predict", str(model), "example:cafe-notes", "--out", str(tmp_path / "p.xlsx")]) == 0
    rows = CalamineWorkbook.from_path(str(tmp_path / "p.xlsx")).get_sheet_by_name("Accord").to_python()
    assert rows[0][:2] == ["item_id", "label"]
    assert len(rows) == 1 + open_example("cafe-notes").counts["items"]
    assert main(["predict", str(model), "example:cafe-notes", "--out", str(tmp_path / "p.html")]) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<mark>" in page
    assert "<script" not in page


def test_words_that_look_like_html_stay_words(model, tmp_path):
    (tmp_path / "new.csv").write_text("id,text\nx,<script>alert(1)</script> was cold\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(tmp_path / "p.html")]) == 0
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "&lt;" in page
    assert "<script" not in page


def test_a_model_of_links_on_texts_without_links_says_so(tmp_path, capsys):
    assert main(["train", "links", "example:cafe-statements", "--model", str(tmp_path / "m")]) == 0
    (tmp_path / "new.csv").write_text("id,text\nx,I am for it.\ny,I am against it.\n")
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "new.csv"), "--json"]) == 0
    said = capsys.readouterr()
    assert "no links between these texts" in said.err
    assert len(json.loads(said.out)["notes"]) == said.err.count("note: ")


def test_texts_and_a_question_make_a_project(tmp_path, capsys):
    (tmp_path / "slogans.txt").write_text("Drink more water.\nSleep a bit longer.\nWalk to work.\n")
    url = f"sqlite:///{tmp_path / 'studio.db'}"
    assert add_project(url, [tmp_path / "slogans.txt"], question="Which is clearer?") == "slogans"
    database = open_database(url)
    with database.read() as connection:
        (stored,) = projects.all_projects(connection)
        items, _ = projects.find_items(connection, stored.id, limit=None)
    database.close()
    assert (stored.kind, stored.question, len(items)) == ("pairs", "Which is clearer?", 3)
    assert main(["studio", str(tmp_path / "slogans.txt")]) == 2
    assert "belong together" in capsys.readouterr().err


def test_a_mapping_is_kept_and_used_again(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(
        "id,text,tone,genre\n" + "".join(f"{i},Text number {i} here,{'ab'[i % 2]},{'cd'[i % 2]}\n" for i in range(8))
    )
    assert main(["import", str(tmp_path / "a.csv"), "--map", "tone=label", "--out", str(tmp_path / "p")]) == 0
    assert Project.load(tmp_path / "p").settings["map"] == {"tone": "label"}
    assert main(["import", str(tmp_path / "a.csv"), "--like", str(tmp_path / "p"), "--out", str(tmp_path / "q")]) == 0
    assert Project.load(tmp_path / "q").labels().tolist() == ["a", "b"] * 4


def test_the_first_line_says_that_no_judgement_was_read_and_what_is_unused(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,text,colour\n1,One text here,red\n2,Another one here,blue\n")
    assert main(["import", "rationales", str(tmp_path / "a.csv"), "--texts-only", "--out", str(tmp_path / "p")]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("NO JUDGEMENT WAS READ: 2 texts")
    assert second.startswith("NOT USED: 'colour'. Say what it is with --map")


def test_the_list_of_commands_fits_eighty_columns(capsys):
    assert main(["--help"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_no_question_among_which_to_choose_is_refused(capsys):
    assert main(["ask", "example:cafe-notes", "--questions", " , "]) == 2
    assert "--questions names what may be asked" in capsys.readouterr().err


def test_the_aspect_beside_a_question_about_all_is_explained(tmp_path, capsys):
    rows = [
        f"r{i},Room {'good' if i % 2 else 'bad'} and food number {i},{1 + 3 * (i % 2)},{1 + i % 5}" for i in range(20)
    ]
    rows += [f"n{i},Room and food of guest {i},," for i in range(3)]
    (tmp_path / "a.csv").write_text("\n".join(["item_id,text,room,food", *rows]) + "\n")
    assert main(["ask", "aspects", str(tmp_path / "a.csv"), "-n", "2"]) == 0
    assert "'scores' asks for all of them" in capsys.readouterr().out


def test_wide_tables_fit_eighty_columns(capsys, monkeypatch):
    monkeypatch.setattr("accord.cli.frame.page_width", lambda: 80)
    frame = pd.DataFrame({"item_id": ["x"], "label": ["good"], **{f"p.label number {i}": [0.1] for i in range(9)}})
    print_table(frame)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "Not shown: the columns p.label number 0" in " ".join(said.split())
    print_table(frame.iloc[:, :3])
    assert "Not shown" not in capsys.readouterr().out


def test_a_shortened_text_stays_on_one_line_beside_long_highlights(capsys):
    long = [[0, 22, "Waited three weeks here"], [24, 50, "Support never answered me"]]
    frame = pd.DataFrame({"label": ["unhappy"], "highlights": [long], "text": ["end of the first line " * 20]})
    print_table(frame)
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [bool(cells[3].strip()) for cells in rows] == [True, False]
    assert rows[0][3].strip().endswith("…")
    assert " ".join(" ".join(cells[2] for cells in rows).split()).endswith("· Support never answered me")


def test_predictions_are_printed_with_their_texts_and_without_what_people_gave(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("accord.cli.frame.page_width", lambda: 80)
    capsys.readouterr()
    assert main(["predict", str(model), "example:cafe-notes"]) == 0
    said = capsys.readouterr().out
    notes = open_example("cafe-notes")
    given = sum(label is not None for label in notes.labels())
    assert f"Not shown: {given:,} that people judged" in said
    assert max(map(len, said.splitlines())) <= 80
    (tmp_path / "new.csv").write_text("text\nThe soup was cold and nobody cared.\nA lovely place with warm bread.\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    said = capsys.readouterr().out
    assert "The soup was" in said
    assert "text-" not in said  # made ids say nothing to people
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv")]) == 0
    written = pd.read_csv(tmp_path / "out.csv")  # nor can anybody find their row by them
    assert list(written.columns[:2]) == ["item_id", "text"]
    assert set(written["text"]) == {"The soup was cold and nobody cared.", "A lovely place with warm bread."}
    new = str(tmp_path / "new.csv")
    assert main(["predict", str(model), new, "--out", str(tmp_path / "out.html")]) == 0
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<th>text</th>" in page
    assert "<td>text-" not in page
    assert "<th>item_id</th>" not in page
    assert main(["explain", str(model), new, "--item", "the soup was  cold…"]) == 0
    assert "Why the soup was cold" in capsys.readouterr().out
    made = written["item_id"][written["text"].str.startswith("The soup")].iloc[0]
    assert main(["explain", str(model), new, "--item", "The soup", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["item"] == made
    assert main(["explain", str(model), new, "--item", "The salad"]) == 2
    assert "no item 'The salad' and no text that begins so" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "two.csv").write_text("text\nThe soup was cold.\nThe soup was hot.\n")
    assert main(["explain", str(model), str(tmp_path / "two.csv"), "--item", "The soup"]) == 2
    assert "is that of 2: text-" in " ".join(capsys.readouterr().err.split())
    assert main(["predict", str(model), "example:cafe-notes", "--out", str(tmp_path / "out.csv")]) == 0
    assert "text" not in pd.read_csv(tmp_path / "out.csv")


@pytest.mark.parametrize("kind", ["links", "rationales", "threads"])
def test_labels_that_are_all_the_same_are_refused_with_what_to_do(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"t{i},t{i // 3},Comment number {i} about bread.,{'spam' if i % 2 else ''}" for i in range(12)]
    Path("one.csv").write_text("\n".join(["id,thread,text,label", *rows]), encoding="utf-8")
    said = "needs two different labels; all 6 are 'spam'. Label some texts that are not so."
    for command in (["train", kind, "one.csv", "--model", "one.accord"], ["evaluate", kind, "one.csv"]):
        assert main(command) == 2
        assert said in capsys.readouterr().err
    assert main(["ask", kind, "one.csv"]) == 0  # from which the missing labels may come


def test_an_explanation_says_where_people_said_something_else(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"t{i},{'Warm bread and tea' if i % 2 else 'Cold soup again'}.,{'pos' if i % 2 else 'neg'}" for i in range(20)
    ]
    rows[3] = rows[3].replace("pos", "neg")
    Path("notes.csv").write_text("\n".join(["id,text,label", *rows]), encoding="utf-8")
    assert main(["train", "links", "notes.csv", "--model", "m.accord"]) == 0
    for item, differs in (("t3", True), ("t5", False)):
        capsys.readouterr()
        assert main(["explain", "m.accord", "notes.csv", "--item", item]) == 0
        said = capsys.readouterr().out
        assert f"Why {item} is judged 'pos'" in said
        assert ("People say 'neg', which stays" in said) == differs
    assert main(["explain", "m.accord", "notes.csv", "--item", "t3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["given"] == "neg"
