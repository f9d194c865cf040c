"""The first hour: from people's own files to a result, in at most three commands."""

from pathlib import Path

import pandas as pd

from accord.cli.main import main
from accord.workflows.export import write_frame
from accord.workflows.projects import open_example

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
