"""The first hour: from people's own files to a result, in at most three commands."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from accord.cli.main import main
from accord.data.project import Project
from accord.workflows.export import write_frame
from accord.workflows.projects import open_example
from accord.workflows.report import project_report

PEOPLE = Path(__file__).parents[1] / "data" / "people"


def test_from_a_spreadsheet_of_votes_to_a_ranking(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(PEOPLE / "votes_two_sheets.xlsx"), "--out", "votes"]) == 0
    assert main(["rank", "votes", "--method", "bradley_terry"]) == 0
    assert "t1: Lovely room" in capsys.readouterr().out


def test_votes_without_texts_are_ranked_and_it_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("votes.csv").write_text("left,right,winner\na,b,a\nb,c,b\na,c,a\n")
    assert main(["rank", "votes.csv", "--method", "bradley_terry"]) == 0
    assert "the votes come without texts" in capsys.readouterr().err


def test_what_is_not_read_of_a_raw_table_is_said_by_every_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["rank", str(PEOPLE / "slogan_votes.csv"), "--method", "bradley_terry"]) == 0
    said = capsys.readouterr()
    assert "note: not used of " in said.err
    assert "'Sicherheit'; 'accord import " in said.err
    assert "Your city, slowly" in said.out
    totals = str(PEOPLE / "reviews_totals.csv")
    assert main(["train", "aspects", totals, "--model", "m.accord", "--set", "model=prank"]) == 0
    assert "rows that sum up the others (such as a total) are left out (2)." in capsys.readouterr().err


def test_questions_to_ask_show_texts_where_ids_were_made(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    long = "Since 1931 we have got up at three in the morning so that none of you need to get up before seven."
    Path("votes.csv").write_text(
        f"voter,slogan_a,slogan_b,winner,when\nann,We knead you.,{long},A,2024-03-01 09:15\n"
        f"ben,{long},Just bread.,B,2024-03-01 09:20\nben,Just bread.,We knead you.,A,2024-03-02 10:00\n"
    )
    assert main(["import", "votes.csv", "--out", "slogans"]) == 0
    assert "NOT USED" not in capsys.readouterr().out
    assert main(["ask", "slogans", "--number", "3"]) == 0
    said = capsys.readouterr().out
    assert "Since 1931 we have got up" in said
    assert "text-" not in said
    assert main(["ask", "slogans", "--number", "3", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert any(row[side].startswith("text-") for row in rows for side in ("left", "right"))  # ids, as in the project
    Path("notes.csv").write_text("text,label\nWarm bread and tea.,\nCold soup again.,neg\nLovely room.,pos\n")
    assert main(["import", "rationales", "notes.csv", "--out", "notes"]) == 0
    assert main(["ask", "notes", "--strategy", "random"]) == 0
    said = capsys.readouterr().out
    assert "Warm bread" in said
    assert "text-" not in said.split("Ask next")[1]


def test_who_asked_is_read_by_the_names_that_forums_use(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("forum.csv").write_text(
        "thread,question,asked_by,comment,author,when,label\n"
        "T1,Why are my leaves yellow?,ivy,Water them less.,karl,2024-05-01 09:17,good\n"
        "T1,Why are my leaves yellow?,ivy,Thanks a lot!,ivy,2024-05-01 09:40,bad\n"
    )
    assert main(["import", "forum.csv", "--out", "forum"]) == 0
    assert Project.load("forum").threads().askers.tolist() == ["ivy"]


def test_comments_to_ask_about_are_shown_with_their_threads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("forum.csv").write_text(
        "thread,comment,author,label\nT1,Water them less.,karl,good\nT1,Following.,ivy,\nT2,Following.,ivy,\n"
    )
    assert main(["import", "forum.csv", "--out", "forum"]) == 0
    capsys.readouterr()
    assert main(["ask", "forum", "--strategy", "random"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "Following." in line]
    assert sorted("T1" if "T1" in row else "T2" if "T2" in row else "" for row in rows) == ["T1", "T2"]


def test_from_a_forum_to_the_best_comment_of_each_question(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["rank", "example:cafe-threads", "--set", "model=local", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = pd.DataFrame(found["rows"])
    threads = open_example("cafe-threads").threads()
    assert found["label"] == "good"
    assert table["rank"].tolist() == [rank for n in np.diff(threads.offsets) for rank in range(1, n + 1)]
    falls = table.groupby("group_id", sort=False)["probability"].agg(lambda p: (p.diff().dropna() <= 1e-12).all())
    assert falls.all()
    assert table["question"].notna().all()
    assert main(["rank", "example:cafe-threads", "--label", "superb", "--set", "model=local"]) == 2
    assert "one of bad, good, potential; got 'superb'" in capsys.readouterr().err
    assert main(["rank", "example:cafe-threads", "--anchor", "t1-1"]) == 2
    assert "are for pairs" in capsys.readouterr().err
    assert main(["rank", "example:cafe-reviews"]) == 2
    assert "aspects" in capsys.readouterr().err


def test_from_a_spreadsheet_of_reviews_to_predicted_aspects_with_an_evaluation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ratings = open_example("cafe-reviews").ratings()
    wide = pd.DataFrame({"id": ratings.items.ids, "review": ratings.items.texts})
    for column, aspect in enumerate(ratings.aspects[:2]):
        wide[aspect] = [int(rank) or None for rank in ratings.ranks[:, column]]
    judged = wide[wide[list(ratings.aspects[:2])].notna().all(axis=1)].head(60)
    write_frame(judged, "reviews.xlsx")
    write_frame(wide[["id", "review"]].tail(5), "new.xlsx")
    assert main(["evaluate", "aspects", "reviews.xlsx"]) == 0
    assert "120 scores" in capsys.readouterr().out
    assert main(["train", "aspects", "reviews.xlsx", "--model", "reviews.accord"]) == 0
    assert main(["predict", "reviews.accord", "new.xlsx", "--out", "predicted.csv"]) == 0
    predicted = pd.read_csv("predicted.csv")
    assert len(predicted) == 10
    assert set(predicted["aspect"]) == set(ratings.aspects[:2])
    assert not predicted["given"].any()


def test_the_report_names_the_file_and_counts_what_its_headings_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"text": "Warm soup and a friendly waiter.", "label": "pos", "evidence": ["Warm", "friendly"], "coder": "K1"},
        {"text": "Cold tea and a rude waiter.", "label": "neg", "evidence": ["Cold", "rude"], "coder": "K1"},
        {"text": "The bread was stale.", "label": "neg", "evidence": ["stale"], "coder": "K2"},
    ]
    Path("notes.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["import", "notes.jsonl", "--out", "notes"]) == 0
    assert Project.load("notes").source == "notes.jsonl"
    page = project_report(Project.load("notes"), title="notes")
    section = " ".join(page.partition("Highlighted texts")[2].partition("</section>")[0].split())
    assert re.findall(r">(K\d|\d+)<", section)[:4] == ["K1", "2", "K2", "1"]
