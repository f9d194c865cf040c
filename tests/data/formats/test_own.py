"""Imports: what each kind of table becomes, and what every kind of bad input is answered with."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from accord.cli.main import main
from accord.data.formats.own import Rules
from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.export import export
from accord.workflows.import_ import import_files, project_of_tables

ITEMS = "item_id,text,group_id\na,First text,g\nb,Second text,g\nc,Third text,g\n"


@pytest.fixture
def file(tmp_path):
    """Write a file and give its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(tmp_path, capsys, *arguments):
    """Run an import that must fail with one sentence, exit code 2 and nothing written; gives the sentence."""
    before = sorted(os.listdir(tmp_path))
    assert main(["import", *map(str, arguments), "--out", str(tmp_path / "project")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == before
    return captured.err


# -- what is read ------------------------------------------------------------------------------------------------


def test_votes_and_items_become_a_project(file, tmp_path):
    votes = file("votes.csv", "left,right,label,worker\na,b,left,x\nb,c,TIE,y\nc,a,0,\na,c,1,x\n")
    imported = import_files([votes, file("items.csv", ITEMS)], kind="pairs", out=tmp_path / "p")
    assert imported.counts == {"items": 3, "pair": 4, "links": 0, "people": 2}
    assert imported.renamed == {"left": "item_id", "right": "other_id", "label": "value", "worker": "annotator_id"}
    project = Project.load(tmp_path / "p")
    table = project.comparisons().to_table()
    assert table["left"].tolist() == ["a", "b", "c", "a"]
    assert table["value"].tolist() == [1.0, 0.5, 0.0, 1.0]
    assert table["annotator_id"].fillna("–").tolist() == ["x", "y", "–", "x"]
    assert project.items().texts.tolist() == ["First text", "Second text", "Third text"]


def test_votes_alone_bring_their_items(file):
    project = project_of_tables("pairs", [file("votes.tsv", "item_a\titem_b\twinner\nb\ta\ta\nc\tb\tc\n")])
    assert project.items().ids.tolist() == ["a", "b", "c"]
    assert project.comparisons().value.tolist() == [0.0, 1.0]


def test_the_same_votes_in_every_format_are_the_same_project(file, tmp_path):
    frame = pd.DataFrame({"left": ["1", "2"], "right": ["2", "3"], "value": [1.0, 0.5], "annotator_id": ["x", None]})
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_csv(tmp_path / "v.tsv", index=False, sep="\t")
    frame.to_json(tmp_path / "v.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "v.parquet")
    prints = {
        project_of_tables("pairs", [tmp_path / f"v.{form}"]).fingerprint for form in ("csv", "tsv", "jsonl", "parquet")
    }
    assert len(prints) == 1


def test_comments_carry_their_question_and_label(file):
    table = (
        "comment_id,text,thread,question,asker,category,label,author\n"
        'c1,"Try the\nbakery",t1,"Where, please?",ann,food,good,bob\nc2,No idea,t1,"Where, please?",ann,food,bad,\n'
        "c3,Yes,t2,Really?,eve,,,ann\n"
    )
    threads = project_of_tables("threads", [file("t.csv", table)]).threads()
    assert threads.thread_ids.tolist() == ["t1", "t2"]
    assert threads.questions.tolist() == ["Where, please?", "Really?"]
    assert threads.askers.tolist() == ["ann", "eve"]
    assert threads.labels.tolist() == ["good", "bad", None]
    assert threads.texts.tolist() == ["Try the\nbakery", "No idea", "Yes"]


def test_scores_long_and_wide_are_the_same_ratings(file):
    items = "item_id,text\na,A\nb,B\n"
    long = file("s.csv", "item_id,aspect,score\na,food,5\na,room,1\nb,food,3\n")
    wide = file("w.csv", "item_id,text,score.food,score.room\na,A,5,1\nb,B,3,\n")
    one = project_of_tables("aspects", [long, file("i.csv", items)]).ratings()
    two = project_of_tables("aspects", [wide]).ratings()
    assert one.aspects.tolist() == two.aspects.tolist() == ["food", "room"]
    assert one.ranks.tolist() == two.ranks.tolist() == [[5, 1], [3, 0]]


def test_weights_of_votes_and_scores_beside_them_are_read_and_come_back(file, tmp_path):
    votes = file("v.csv", "left,right,value,weight\na,b,1,0.25\nb,c,0.5,\nc,a,0,3\n")
    scores = file("s.csv", "item_id,score\na,7.5\nb,-2\na,8.5\n")
    project = project_of_tables("pairs", [votes, scores])
    assert project.comparisons().weight.tolist() == [0.25, 1.0, 3.0]
    assert project.marks() == {"a": 8.0, "b": -2.0}
    imported = import_files([votes, scores], tmp_path / "p", kind="pairs")
    assert imported.n_judgements == 6
    again = Project.load(tmp_path / "p")
    assert again.fingerprint == project.fingerprint
    assert again.comparisons().weight.tolist() == [0.25, 1.0, 3.0]


@pytest.mark.parametrize("weight", ["-1", "inf", "much"])
def test_a_weight_that_is_none_is_refused(file, tmp_path, capsys, weight):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", f"left,right,value,weight\na,b,1,1\nb,c,1,{weight}\n"))
    assert "weight of a vote must be a number of at least 0" in said
    assert weight in said


def test_a_score_beside_votes_must_be_finite(file, tmp_path, capsys):
    votes = file("v.csv", "left,right,value\na,b,1\n")
    said = refused(tmp_path, capsys, "pairs", votes, file("s.csv", "item_id,score\na,nan\n"))
    assert "finite number" in said


def test_links_come_with_labels_and_context(file):
    items = file("i.csv", "item_id,text,stance\na,A,for\nb,B,\n")
    links = file("l.csv", 'from,to,weight,context\na,b,2.5,"I agree with B, mostly"\n')
    project = project_of_tables("links", [links, items])
    assert project.labels().tolist() == ["for", None]
    found = project.links()
    assert (found.source.tolist(), found.target.tolist(), found.weights.tolist()) == (["a"], ["b"], [2.5])
    assert found.contexts.tolist() == ["I agree with B, mostly"]


def test_spans_are_characters_of_the_text(file):
    items = file("i.csv", "item_id,text,label\na,Süß und gut,pos\nb,Nothing,neg\n")
    spans = file("s.csv", "item_id,start,end,quote,annotator\na,0,3,Süß,x\na,8,11,gut,x\nb,,,,x\n")
    rationales = project_of_tables("rationales", [items, spans]).rationales()
    assert rationales.to_table()["quote"].tolist() == ["Süß", "gut"]
    assert rationales.annotated.tolist() == [True, True]


def test_other_columns_of_items_are_kept_and_of_votes_reported(file, tmp_path):
    items = file("i.csv", "item_id,text,length\na,A,1\nb,B,2\n")
    imported = import_files(
        [items, file("v.csv", "left,right,value,mood\na,b,1,fine\n")], kind="pairs", out=tmp_path / "p"
    )
    assert imported.unread == ("mood",)
    assert Project.load(tmp_path / "p").items().meta["meta.length"].tolist() == ["1", "2"]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_what_is_exported_imports_equal(file, tmp_path, form):
    items = file("i.csv", 'item_id,text,label,year\na,"A, or a",pos,1\nb,B,neg,2\n')
    spans = file("s.csv", "item_id,start,end,annotator_id\na,0,1,x\nb,,,x\n")
    project = project_of_tables("rationales", [items, spans])
    export(project, tmp_path / form, form=form)
    again = project_of_tables("rationales", sorted((tmp_path / form).iterdir()))
    assert again.fingerprint == project.fingerprint


def test_blocks_join_without_a_seam(file, monkeypatch):
    monkeypatch.setattr("accord.data.reading.sources._BLOCK_BYTES", 4096)
    rng = np.random.default_rng(0)
    left = rng.integers(40, size=3000)
    right = (left + 1 + rng.integers(39, size=3000)) % 40
    rows = "".join(f"i{a},i{b},{v}\n" for a, b, v in zip(left, right, rng.integers(2, size=3000), strict=True))
    votes = project_of_tables("pairs", [file("v.csv", "left,right,value\n" + rows)]).comparisons()
    assert votes.n_votes == 3000
    assert votes.to_table()["left"].tolist() == [f"i{a}" for a in left]


# -- what is refused ---------------------------------------------------------------------------------------------


def test_an_empty_file(file, tmp_path, capsys):
    assert "is empty" in refused(tmp_path, capsys, "pairs", file("v.csv", ""))
    assert "no rows" in refused(tmp_path, capsys, "pairs", file("w.csv", "left,right,value\n"))


def test_wrong_columns(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,wright,value\na,b,1\n"))
    assert "left, wright, value" in said
    assert "two columns that are compared and one that says which is better" in said
    assert "Did you mean 'right' by 'wright'?" in said


def test_unknown_ids(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("i.csv", ITEMS), file("v.csv", "left,right,value\na,b,1\na,zz,1\n"))
    assert "row 2" in said
    assert "unknown id 'zz'" in said


def test_a_self_comparison(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\na,b,1\nb,b,1\n"))
    assert "two different items; row 2" in said


def test_a_missing_id(file, tmp_path, capsys):
    assert "needs a right id; row 1" in refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\na,,1\n"))


def test_a_vote_that_is_none(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\na,b,1\nb,c,maybe\n"))
    assert "row 2" in said
    assert "'maybe'" in said


def test_a_label_that_may_mean_either_side(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,label\n2,1,1\n"))
    assert "a vote must be clear" in said


def test_bytes_that_are_not_utf8(file, tmp_path, capsys):
    votes = file("v.csv", b"left,right,value\na,b,1\ncaf\xe9,b,1\n")
    assert project_of_tables("pairs", [votes]).items().ids.tolist() == ["a", "b", "caf\xe9"]
    russian = file("r.csv", "left,right,value\nда,нет,1\n".encode("cp1251"))
    assert "--encoding cp1251" in refused(tmp_path, capsys, "pairs", russian)
    said = refused(tmp_path, capsys, "pairs", file("v.jsonl", b'{"left":"a","right":"caf\xe9","value":1}\n'))
    assert "UTF-8; line 1" in said


@pytest.mark.parametrize("span", ["a,5,99", "a,-1,3", "a,4,4", "a,x,3", "a,1,", "a,1.5,3"])
def test_a_span_outside_its_text(file, tmp_path, capsys, span):
    said = refused(tmp_path, capsys, "rationales", file("i.csv", ITEMS), file("s.csv", f"item_id,start,end\n{span}\n"))
    assert "inside its text" in said
    assert "'a', which has 10 characters" in said


def test_a_quote_that_does_not_match(file, tmp_path, capsys):
    spans = file("s.csv", "item_id,start,end,quote\na,0,5,First\nb,0,5,Secon!\n")
    said = refused(tmp_path, capsys, "rationales", file("i.csv", ITEMS), spans)
    assert "row 2" in said
    assert "'Secon!' where the text of 'b' has 'Secon'" in said


def test_duplicate_ids(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "threads", file("i.csv", ITEMS + "a,Again,g\n"))
    assert "unique; row 4" in said


@pytest.mark.parametrize("score", ["6", "0", "5.5", "good", ""])
def test_a_score_outside_the_scale(file, tmp_path, capsys, score):
    scores = file("s.csv", f"item_id,aspect,value\na,food,{score}\n")
    assert "1..5; row 1" in refused(tmp_path, capsys, "aspects", file("i.csv", ITEMS), scores)


def test_a_label_outside_the_scale(file, tmp_path, capsys):
    table = file("t.csv", "item_id,text,group_id,label\na,A,g,good\nb,B,g,meh\n")
    said = refused(tmp_path, capsys, "threads", table, "--labels", "good,bad")
    assert "one of good, bad; row 2" in said
    assert "'meh'" in said


def test_a_cell_of_five_megabytes(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("i.csv", "item_id,text\na," + "x" * 5_000_000 + "\n"))
    assert "at most 1,000,000 characters; row 1" in said
    said = refused(tmp_path, capsys, "pairs", file("j.csv", 'item_id,text\na,"' + "x" * 20_000_000 + "\n"))
    assert "a quotation mark that opens a cell must be closed" in said


def test_rows_with_too_few_cells(file, tmp_path, capsys):
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\na,b,1\na,b\n"))
    assert "row 2" in said
    assert "expected 3 columns, got 2" in said


def test_broken_json_and_parquet(file, tmp_path, capsys):
    assert "row 2" in refused(
        tmp_path, capsys, "pairs", file("v.jsonl", '{"left":"a","right":"b","value":1}\n{"left":\n')
    )
    assert "JSON object; row 1" in refused(tmp_path, capsys, "pairs", file("w.jsonl", "[1]\n"))
    assert "not readable as Parquet" in refused(tmp_path, capsys, "pairs", file("v.parquet", "PAR1"))


def test_a_parquet_file_that_is_broken_inside(tmp_path, capsys):
    path = tmp_path / "v.parquet"
    pq.write_table(pa.table({"left": ["a"] * 50, "right": ["b"] * 50, "label": [1] * 50}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    assert "not readable as Parquet" in refused(tmp_path, capsys, "pairs", path)


def test_other_files(file, tmp_path, capsys):
    assert "not readable as a spreadsheet" in refused(tmp_path, capsys, "pairs", file("v.xlsx", "x"))
    assert "must end in" in refused(tmp_path, capsys, "pairs", file("v.docx", "x"))
    assert "no file" in refused(tmp_path, capsys, "pairs", tmp_path / "nowhere.csv")
    assert "has left, left (2), value" in refused(tmp_path, capsys, "pairs", file("v.csv", "left,left,value\na,b,1\n"))
    assert "one of pairs" in refused(tmp_path, capsys, "letters", file("w.csv", "left,right,value\na,b,1\n"))


def test_links_to_nowhere_to_oneself_and_with_bad_weight(file, tmp_path, capsys):
    items = file("i.csv", ITEMS)
    for row, said in (("a,zz,1", "unknown id 'zz'"), ("a,a,1", "two different texts"), ("a,b,-1", "weight")):
        links = file("l.csv", f"src_id,dst_id,weight\n{row}\n")
        assert said in refused(tmp_path, capsys, "links", items, links)


def test_an_existing_project_is_not_touched(file, tmp_path, capsys):
    (tmp_path / "project").mkdir()
    assert "there already" in refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\na,b,1\n"))


def test_one_bad_row_in_the_middle_imports_nothing_and_is_named(file, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("accord.data.reading.sources._BLOCK_BYTES", 4096)
    rows = ["a,b,1"] * 5000
    rows[2500] = "a,a,1"
    said = refused(tmp_path, capsys, "pairs", file("v.csv", "left,right,value\n" + "\n".join(rows) + "\n"))
    assert "a vote compares two different items; row 2,501 of" in said
    assert "Drop the row." in said


# -- looking and dropping ----------------------------------------------------------------------------------------


def test_a_dry_run_counts_names_the_bad_rows_and_writes_nothing(file, tmp_path, capsys):
    votes = file("v.csv", "left,right,value\na,b,1\nb,b,1\na,c,7\nc,b,0\n")
    assert main(["import", "pairs", str(votes), "--dry-run"]) == 2
    captured = capsys.readouterr()
    assert "row 2 of" in captured.out
    assert "row 3 of" in captured.out
    assert "2 rows break a rule" in captured.err
    assert main(["import", "pairs", str(votes), "--dry-run", "--drop-bad", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["counts"]["pair"] == 2
    assert sum(result["dropped"].values()) == 2
    assert os.listdir(tmp_path) == ["v.csv"]


def test_bad_rows_are_dropped_on_request(file, tmp_path):
    votes = file("v.csv", "left,right,value\na,b,1\nb,b,1\na,c,7\nc,b,0\n")
    import_files([votes], kind="pairs", out=tmp_path / "p", drop_bad=True)
    assert Project.load(tmp_path / "p").comparisons().value.tolist() == [1.0, 0.0]


def test_rules_are_kept_with_the_project(file, tmp_path):
    scores = file("w.csv", "item_id,text,score.food\na,A,7\n")
    import_files([scores], kind="aspects", out=tmp_path / "p", rules=Rules(n_ranks=10))
    assert Project.load(tmp_path / "p").ratings().n_ranks == 10


def test_no_files_are_refused():
    with pytest.raises(InputError, match="at least one file"):
        import_files([], kind="pairs", out=None)


# -- what must not pass in silence -------------------------------------------------------------------------------

VOTES = "left,right,label\na,b,1\n"


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("long.csv", "left,right,label\n" + "a" * 5_000_000 + ",b,1\n", ("at most 1,000,000", "5,000,000")),
        ("case.csv", "Left,left,right,label\nx,a,b,1\n", ("'Left'", "'left'")),
        ("quote.csv", 'left,right,label,annotator\na,b,1,"u\na,b,1,v\n', ("quotation mark", "'u\\na,b,1,v")),
        ("bare.csv", "left,right,label", ("column names", "no rows")),
        ("ms.csv", "left,right,label,response_ms\na,b,1,900\na,b,1,fast\n", ("row 2", "'fast'", "milliseconds")),
        ("half.csv", "left,right,label,response_ms\na,b,1,12.7\n", ("row 1", "'12.7'", "whole number")),
        ("odds.csv", "left,right,label,propensity\na,b,1,1.5\n", ("row 1", "'1.5'", "from 0 to 1")),
        ("late.jsonl", '{"left":"a","right":"b","label":1}\n' * 1000
         + '{"left":"a","right":"b","label":1,"annotator":"x"}\n', ("row 1,001", "'annotator'")),
    ],
)  # fmt: skip
def test_what_would_be_lost_or_misread_is_refused(file, tmp_path, capsys, name, content, says):
    sentence = refused(tmp_path, capsys, "pairs", file(name, content))
    assert all(part in sentence for part in says), sentence


def test_a_parquet_column_that_is_not_text_is_refused(tmp_path, capsys):
    pq.write_table(pa.table({"left": [b"\xff"], "right": ["b"], "label": [1]}), tmp_path / "v.parquet")
    assert "'left'" in refused(tmp_path, capsys, "pairs", tmp_path / "v.parquet")


def test_lists_and_records_in_parquet_are_read_as_those_of_json_lines_are(tmp_path):
    about = [{"n": 1, "in": {"m": 2}}, None]
    texts = pa.table({"id": ["a", "b"], "text": ["one", "two"], "tags": [["x", "y"], []], "about": about})
    pq.write_table(texts, tmp_path / "t.parquet")
    assert main(["import", "pairs", str(tmp_path / "t.parquet"), "--texts-only", "--out", str(tmp_path / "p")]) == 0
    items = Project.load(tmp_path / "p").frames()["items"]
    assert items["meta.tags"].tolist() == ["x; y", None]
    assert items["meta.about.n"].tolist() == ["1", None]
    assert items["meta.about.in.m"].tolist() == ["2", None]


def test_nan_is_a_missing_id(tmp_path, capsys):
    pq.write_table(pa.table({"left": [1.0, np.nan], "right": ["2", "3"], "label": [1, 0]}), tmp_path / "v.parquet")
    assert "row 2" in refused(tmp_path, capsys, "pairs", tmp_path / "v.parquet")


def test_a_folder_is_not_a_table(tmp_path, capsys):
    (tmp_path / "v.csv").mkdir()
    assert "is a folder" in refused(tmp_path, capsys, "pairs", tmp_path / "v.csv")


@pytest.mark.parametrize("second", ["c2,Yes,t1,When?\n", "t1,Yes,t1,Where?\n"])
def test_a_thread_has_one_question(file, tmp_path, capsys, second):
    table = file("t.csv", f"id,text,thread,question\nc1,No,t1,Where?\n{second}")
    assert "one question" in refused(tmp_path, capsys, "threads", table)


@pytest.mark.parametrize("name", ["V.CSV", "v.csv", "v.jsonl"])
def test_a_byte_order_mark_and_capitals_in_a_name_do_no_harm(file, name):
    content = VOTES if name.lower() == "v.csv" else '{"left":"a","right":"b","label":1}\n'
    project = project_of_tables("pairs", [file(name, b"\xef\xbb\xbf" + content.encode())])
    assert project.items().ids.tolist() == ["a", "b"]


def test_a_last_cell_with_lines_of_its_own_is_read(file):
    items = file("items.csv", 'item_id,text\na,x\nb,"one\n""two"""\n')
    assert project_of_tables("pairs", [items]).items().texts[1] == 'one\n"two"'


def test_a_dropped_text_takes_its_votes_with_it(file, tmp_path):
    items = file("items.csv", "id,text\na," + "x" * 1_000_001 + "\nb,short\nc,short too\n")
    votes = file("votes.csv", "left,right,label\na,b,1\nb,c,0\n")
    imported = import_files([items, votes], kind="pairs", out=tmp_path / "p", drop_bad=True)
    assert sum(imported.dropped.values()) == 2
    assert Project.load(tmp_path / "p").comparisons().n_votes == 1


def test_a_dropped_row_of_scores_leaves_none_of_them(file, tmp_path):
    table = file("r.csv", "id,text,score.food,score.room\nr1,hi,3,9\nr2,ho,2,2\n")
    imported = import_files([table], kind="aspects", out=tmp_path / "p", drop_bad=True)
    assert imported.counts == {"items": 1, "score": 2, "links": 0, "people": 0}


def test_an_unknown_id_that_was_dropped_is_gone(file, tmp_path):
    votes = file("votes.csv", "left,right,label,worker\na,b,1,x\nzzz,b,0,y\n")
    imported = import_files([file("items.csv", ITEMS), votes], kind="pairs", out=tmp_path / "p", drop_bad=True)
    assert imported.counts["people"] == 1
    kept = Project.load(tmp_path / "p").comparisons()
    assert kept.n_votes == 1
    assert kept.annotators.tolist() == ["x"]


def test_votes_that_were_dropped_bring_no_items(file, tmp_path):
    votes = file("votes.csv", "left,right,label\na,b,1\nx,y,7\nz,z,1\n")
    import_files([votes], kind="pairs", out=tmp_path / "p", drop_bad=True)
    assert Project.load(tmp_path / "p").items().ids.tolist() == ["a", "b"]


def test_an_import_that_drops_everything_is_refused(file, tmp_path, capsys):
    votes = file("votes.csv", "left,right,label\nx,y,7\nz,z,1\n")
    assert "all 2 break one" in refused(tmp_path, capsys, "pairs", votes, "--drop-bad")


def test_a_link_without_a_weight_weighs_one(file):
    items = file("items.csv", "id,text\na,x\nb,y\nc,z\n")
    links = file("links.csv", "from,to,weight\na,b,2.5\nb,c,\n")
    assert project_of_tables("links", [items, links]).links().weights.tolist() == [2.5, 1.0]


def test_a_table_that_does_not_tell_is_answered_with_a_map_of_its_likeliest_columns(file, tmp_path, capsys):
    rows = "".join(f"{place},2024-03-0{place},词{place}很好,{'好坏'[place % 2]}\n" for place in range(1, 7))
    said = refused(tmp_path, capsys, file("v.csv", f"编码,日子,文,判断\n{rows}"))
    assert "--map '文=text,判断=label'" in said


@pytest.mark.parametrize("weight", ["nan", "NA", "NULL"])
def test_numbers_that_are_missing_in_words_are_missing(file, weight):
    votes = file("v.csv", f"left,right,value,weight,response_ms\na,b,1,2,900\nb,c,0,{weight},{weight}\n")
    read = project_of_tables("pairs", [votes]).comparisons()
    assert read.weight.tolist() == [2.0, 1.0]
    links = file("l.csv", f"source,target,weight\na,b,2\nb,c,{weight}\n")
    assert import_files([file("i.csv", ITEMS), links], None, kind="links").dropped == {}
