"""``accord predict`` on tables as people have them."""

import json

import pandas as pd
import pytest

from accord.cli.main import main
from accord.workflows.projects import open_project

QUICK = ("--set", "length_scales=base", "--set", "reliability=equal")
PAIRS = [("street-06", "street-17"), ("homework-05", "homework-09")]
TEXTS = ("Cars should leave the street, because people walk there.", "The lane behind the house has the traffic now.")


@pytest.fixture(scope="module")
def ranker(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "pairs.accord"
    assert main(["train", "pairs", "example:arguments", "--model", str(path), *QUICK]) == 0
    return path


def predicted(model, path, capsys):
    """The rows and the notes."""
    capsys.readouterr()
    code = main(["predict", str(model), str(path), "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    found = json.loads(said.out)
    return found["rows"], [*said.err.splitlines()]


def test_a_table_of_pairs_without_answers_is_predicted_as_parquet_is(ranker, tmp_path, capsys):
    frame = pd.DataFrame(PAIRS, columns=["left", "right"])
    frame.to_parquet(tmp_path / "pairs.parquet")
    assert main(["predict", str(ranker), str(tmp_path / "pairs.parquet"), str(tmp_path / "out.parquet")]) == 0
    expected = pd.read_parquet(tmp_path / "out.parquet")
    lines = ["\ufeffleft;right;note", "street-06;street-17;late", ";;", "homework-05;homework-09;"]
    (tmp_path / "pairs.csv").write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    rows, notes = predicted(ranker, tmp_path / "pairs.csv", capsys)
    assert [(row["left"], row["right"]) for row in rows] == PAIRS
    assert [row["p_order"] for row in rows] == pytest.approx(expected["p_order"].tolist())
    assert notes == [f"note: not used of {tmp_path / 'pairs.csv'}: 'note'."]


def test_pairs_of_new_texts_are_predicted_and_shown_by_their_texts(ranker, tmp_path, capsys):
    path, out = tmp_path / "pairs.csv", tmp_path / "out.csv"
    pd.DataFrame([TEXTS], columns=["left_text", "right_text"]).to_csv(path, index=False)
    (row,), _ = predicted(ranker, path, capsys)
    assert 0.0 < row["p_order"] < 1.0
    assert main(["predict", str(ranker), str(path), "--out", str(out)]) == 0
    assert pd.read_csv(out).loc[0, ["left_text", "right_text"]].tolist() == list(TEXTS)
    assert main(["predict", str(ranker), str(path)]) == 0
    shown = capsys.readouterr().out
    assert "text-" not in shown
    assert "Cars should leave" in shown


@pytest.mark.parametrize(
    ("row", "said"), [("street-06,nobody", "names 'nobody'"), ("street-06,", "every row needs a right id; row 1")]
)
def test_a_pair_that_cannot_be_predicted_is_one_sentence(row, said, ranker, tmp_path, capsys):
    (tmp_path / "pairs.csv").write_text(f"left,right\n{row}\n")
    capsys.readouterr()
    assert main(["predict", str(ranker), str(tmp_path / "pairs.csv")]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "votes.csv" not in error


def test_advice_names_the_command_that_has_the_option(ranker, tmp_path, capsys):
    threads = tmp_path / "threads.accord"
    assert main(["train", "threads", "example:cafe-threads", "--model", str(threads), "--set", "model=local"]) == 0
    for model, table in (
        (threads, "text,label\nGo to the market.,good\nNo idea.,bad\n"),
        (ranker, "first,x\na,b\n"),
        (ranker, "left,right\nstreet-06,\n"),
    ):
        (tmp_path / "table.csv").write_text(table)
        capsys.readouterr()
        assert main(["predict", str(model), str(tmp_path / "table.csv")]) == 2
        error = capsys.readouterr().err
        assert "--" in error
        assert error.count("--") == error.count("accord import --")


@pytest.mark.parametrize("name", ["replies_to", "Antwort auf", "parent_comment_id"])
def test_links_are_made_of_what_texts_reply_to(name, tmp_path):
    rows = ["a,Build the bridge.,for,", "b,I agree.,for,a", "c,It costs too much.,against,a", "d,It does not.,,c"]
    (tmp_path / "said.csv").write_text("\n".join([f"id,text,stance,{name}", *rows]) + "\n")
    links = open_project(tmp_path / "said.csv", kind="links").links()
    assert list(zip(links.source, links.target, strict=True)) == [("b", "a"), ("c", "a"), ("d", "c")]
