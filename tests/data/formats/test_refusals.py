"""Broken files of every tool: one sentence with row, rule and cure, and never a traceback."""

import contextlib
import json
from pathlib import Path

import pytest

from accord.cli.main import main
from accord.data.formats.label_studio.config import read_config
from accord.data.formats.registry import format_names, format_of
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.export import export_as
from accord.workflows.import_ import import_files
from accord.workflows.projects import open_example
from fuzzing import FORMATS, SECONDS, fuzz

SAMPLES = Path(__file__).parent / "samples"


@pytest.mark.parametrize("form", FORMATS)
def test_broken_files_are_read_or_refused_in_a_sentence(form):
    outcome = fuzz(form, seconds=SECONDS, seed=0)
    assert not outcome.crashes, outcome.crashes[0]
    assert outcome.tries


def test_a_table_without_columns_is_refused(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("{}\n{}\n")
    for kind in (None, "threads", "pairs"):
        with pytest.raises(InputError, match="a table must have columns"):
            import_files([path], None, kind=kind)


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_a_mark_of_utf8_before_other_bytes_is_refused_with_the_line(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbfid,text,label\n1,caf\xe9 closed,a\n2,bad,b\n")
    with pytest.raises(InputError, match="a table must be UTF-8; line 2 of"):
        import_files([path], None)


def test_xml_in_an_encoding_that_there_is_not_is_refused(tmp_path):
    path = tmp_path / "Posts.xml"
    path.write_text('<?xml version="1.0" encoding="utf-81"?><posts><row Id="1" PostTypeId="1" Body="x"/></posts>')
    with pytest.raises(InputError, match="unknown encoding"):
        import_files([path], None)


def test_every_format_that_is_read_is_fuzzed():
    assert sorted(FORMATS) == sorted(["tables", *(name for name in format_names() if format_of(name).read)])


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><View>&b;</View>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><View/>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><View>&a;</View>',
    ],
)
def test_xml_bombs_are_refused(tmp_path, content):
    path = tmp_path / "config.xml"
    path.write_text(content)
    with pytest.raises(InputError, match="may not define entities"):
        read_config(path)


@pytest.mark.parametrize("content", ["", "<View", "<View/>", "x" * (2 << 20), "<a>" * 100_000])
def test_configs_that_are_none_are_refused(tmp_path, content):
    path = tmp_path / "config.xml"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_config(path)
    assert "\n" not in str(error.value)


def test_a_span_whose_quote_is_not_its_text_is_named(tmp_path, capsys):
    tasks = json.loads((SAMPLES / "label_studio/reviews.json").read_text(encoding="utf-8"))
    tasks[0]["annotations"][0]["result"][2]["value"]["text"] = "bland"
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    config = str(SAMPLES / "label_studio/reviews.xml")
    assert main(["import", str(path), "--config", config, "--out", str(tmp_path / "p")]) == 2
    said = capsys.readouterr().err
    assert "a span's quote must be its text; row 1 of" in said
    assert "'bland' where the text of '1' has 'superb'" in said
    assert not (tmp_path / "p").exists()


def test_a_text_that_is_dropped_takes_its_judgement_with_it(tmp_path):
    path = tmp_path / "labels.jsonl"
    rows = [{"id": 1, "text": "one", "label": ["a"]}, {"id": 1, "text": "two", "label": ["b"]}]
    path.write_text("\n".join(map(json.dumps, rows)))
    imported = import_files([path], tmp_path / "p", form="doccano", drop_bad=True)
    assert imported.dropped == {"an id stands for one text": 1}
    assert Project.load(tmp_path / "p").labels().tolist() == ["a"]


def test_a_word_that_learns_from_nothing_that_was_read_is_said():
    imported = import_files([SAMPLES / "prodigy/reviews.jsonl"], None, kind="pairs")
    assert "a project of pairs learns from pair; all that was read is label, span" in imported.assumed


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", "x\0y", "n" * 300])
def test_no_name_in_a_project_leads_out_of_the_folder_of_an_export(tmp_path, name):
    row = {"kind": "label", "item_id": "a", "value": "x", "aspect": name, "annotator_id": name}
    project = Project(
        "threads",
        with_schema({"item_id": ["a"], "text": ["A."], "group_id": ["g"]}, ITEMS),
        with_schema({key: [value] for key, value in row.items()}, JUDGEMENTS),
    )
    (tmp_path / "deep").mkdir()
    for form in format_names(writable=True):
        with contextlib.suppress(InputError):
            export_as(project, tmp_path / "deep" / form, form=form)
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    assert {path.name for path in (tmp_path / "deep").iterdir()} <= set(format_names(writable=True))


@pytest.mark.parametrize("form", ["parquet", "argilla"])
def test_an_export_never_goes_into_a_project(tmp_path, capsys, form):
    folder = open_example("cafe-notes").save(tmp_path / "project")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["export", str(folder), "--format", form, "--out", str(folder)]) == 2
    assert "Choose another folder" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_export_that_would_hold_nothing_is_refused(tmp_path, capsys):
    assert main(["export", "example:cafe-notes", "--format", "trl", "--out", str(tmp_path / "o")]) == 2
    assert "nothing of this project can be written as trl" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("seconds", [1e308, 1e300, -5, 1e17])
def test_a_time_that_is_none_is_refused_with_its_row(tmp_path, seconds):
    tasks = json.loads((SAMPLES / "label_studio/reviews.json").read_text(encoding="utf-8"))
    tasks[0]["annotations"][0]["lead_time"] = seconds
    path = tmp_path / "x.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    with pytest.raises(InputError, match="response_ms must be a whole number of milliseconds; row 1 of") as error:
        import_files([path], tmp_path / "p", config=SAMPLES / "label_studio/reviews.xml")
    assert len(str(error.value)) < 600


def test_an_unknown_format_and_a_silent_table_are_refused(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    assert main(["import", str(path), "--format", "letters", "--dry-run"]) == 2
    assert "there is no format 'letters'; there are tables, label-studio" in capsys.readouterr().err
    assert main(["import", str(path), "--dry-run"]) == 2
    assert "accord import --map a=text,b=label" in capsys.readouterr().err
    assert main(["export", "example:arguments", "--format", "letters", "--out", str(tmp_path / "o")]) == 2
    assert "the format must be one of csv" in capsys.readouterr().err


def test_column_names_over_several_lines_make_one_sentence(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('"task,worker,label\nt1,w1,cat\nt1",w2,dog\n')
    with pytest.raises(InputError, match="has task,worker,label t1,w1,cat t1, w2, dog"):
        import_files([path], None, form="crowd-kit")
