"""Files as people have them: each is read by the plain command or one --map, or refused with the cure."""

import csv
import json
import shlex
from collections import Counter
from pathlib import Path

import pytest

from accord.cli.main import main
from accord.data.project import Project
from accord.workflows.import_ import import_files

FOLDER = Path(__file__).parent / "people"
with (FOLDER / "expected.csv").open(encoding="utf-8", newline="") as file:
    CASES = list(csv.DictReader(file))
COUNTS = ("pair", "label", "score", "span")


def test_there_are_forty_files_and_each_is_expected():
    names = {name for case in CASES for name in case["files"].split()}
    there = {path.name for path in FOLDER.iterdir()} - {"expected.csv", "label_studio_pairwise.xml"}
    assert names == there
    assert len(names) >= 40


@pytest.mark.parametrize("case", CASES, ids=[f"{case['files']} {case['options']}".strip() for case in CASES])
def test_every_judgement_of_the_file_is_read_or_the_cure_is_said(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    options = shlex.split(case["options"])
    kind = [options.pop(0)] if options and not options[0].startswith("-") else []
    code = main(["import", *kind, *case["files"].split(), *options, "--out", str(tmp_path / "p")])
    said = capsys.readouterr()
    if case["refused"]:
        assert code == 2, said.out
        assert case["refused"] in said.err
        assert said.err.count("\n") == 1
        assert "/tmp" not in said.err
        assert not (tmp_path / "p").exists()
        return
    assert code == 0, said.err
    project = Project.load(tmp_path / "p")
    judged = project.frames()["judgements"]
    found = {name: int((judged["kind"] == name).sum()) for name in COUNTS}
    assert found == {name: int(case[name]) for name in COUNTS}, said.out
    assert project.kind == case["kind"]
    assert (project.counts["items"], project.counts["links"]) == (int(case["items"]), int(case["links"])), said.out
    assert judged["annotator_id"].nunique() == int(case["people"]), said.out


def read(name, tmp_path, capsys):
    """The project of a file, and what was said about it."""
    assert main(["import", str(FOLDER / name), "--out", str(tmp_path / "p")]) == 0
    return Project.load(tmp_path / "p"), capsys.readouterr().out


def test_every_row_of_a_merged_cell_has_its_value(tmp_path, capsys):
    project, said = read("reviews_merged_topics.xlsx", tmp_path, capsys)
    groups = project.frames()["items"]["group_id"]
    assert groups.value_counts().to_dict() == {f"Trip {i}": 3 for i in range(4)}
    assert "4 merged cells" in said


def test_answers_in_words_keep_their_order(tmp_path, capsys):
    project, said = read("likert_agree.csv", tmp_path, capsys)
    with (FOLDER / "likert_agree.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    levels = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]
    wanted = {(row["Respondent"], name): 1.0 + levels.index(row[name]) for row in rows for name in list(row)[2:]}
    judged = project.frames()["judgements"]
    found = dict(zip(zip(judged["annotator_id"], judged["aspect"], strict=True), judged["value"], strict=True))
    assert {key: float(value) for key, value in found.items()} == wanted
    assert "words of a scale" in " ".join(said.split())


def test_rows_that_are_left_out_are_counted(tmp_path, capsys):
    _, said = read("reviews_totals.csv", tmp_path, capsys)
    assert "rows that sum up the others (such as a total) are left out (2)" in said
    assert "between two ranks" not in said  # which only the average is
    (tmp_path / "p").rename(tmp_path / "first")
    _, said = read("reviews_empty_rows_at_end.csv", tmp_path, capsys)
    assert "rows without anything in them are left out (3)" in said


def test_a_text_that_begins_with_total_is_a_text(tmp_path, capsys):
    file = tmp_path / "notes.csv"
    file.write_text("id,review,stars\n1,Total,4\n2,A long and happy day,5\n3,Average,2\n4,Never again for me,\n")
    assert main(["import", str(file), "--out", str(tmp_path / "p")]) == 0
    assert Project.load(tmp_path / "p").counts["items"] == 4


def test_a_draw_between_winner_and_loser_is_half_a_vote_and_other_words_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    assert main(["import", "winners_and_draws.csv", "--out", str(tmp_path / "p")]) == 0
    assert Project.load(tmp_path / "p").comparisons().value.tolist() == [1.0, 0.5, 1.0]
    (tmp_path / "odd.csv").write_text("winner,loser,tie\na,b,maybe\n", encoding="utf-8")
    assert main(["import", str(tmp_path / "odd.csv"), "--out", str(tmp_path / "q")]) == 2
    assert "a tie must be yes or no" in capsys.readouterr().err


def frames_of(tmp_path, capsys, name, *options):
    """The tables of a file, and what was said about it."""
    assert main(["import", str(FOLDER / name), *options, "--out", str(tmp_path / "p")]) == 0
    return Project.load(tmp_path / "p").frames(), capsys.readouterr().out


def test_a_percentage_is_a_place_between_the_lowest_and_the_highest_rank(tmp_path, capsys):
    frames, said = frames_of(tmp_path, capsys, "percent_only.csv", "--map", "Zufriedenheit=score")
    with (FOLDER / "percent_only.csv").open(encoding="cp1252", newline="") as file:
        given = {row["Nr"]: float(row["Zufriedenheit"].split()[0]) for row in csv.DictReader(file, delimiter=";")}
    judged = frames["judgements"]
    assert len(set(given.values())) > 2
    assert dict(zip(judged["item_id"], judged["value"].astype(float), strict=True)) == pytest.approx(
        {name: 1 + share / 100 * 4 for name, share in given.items()}
    )
    assert "percentages are read as scores: 0 % is 1 and 100 % is 5" in said


def test_the_place_of_a_slider_is_a_place_between_the_lowest_and_the_highest_rank(tmp_path, capsys):
    options = ("--map", "food=score,service=score", "--scale", "0..100", "--ranks", "7")
    frames, said = frames_of(tmp_path, capsys, "sliders.csv", *options)
    with (FOLDER / "sliders.csv").open(encoding="utf-8", newline="") as file:
        given = {(row["id"], name): float(row[name]) for row in csv.DictReader(file) for name in ("food", "service")}
    judged = frames["judgements"]
    keys = zip(judged["item_id"], judged["aspect"], strict=True)
    assert {0.0, 50.0, 100.0} <= set(given.values())
    assert dict(zip(keys, judged["value"].astype(float), strict=True)) == pytest.approx(
        {key: 1 + place / 100 * 6 for key, place in given.items()}, abs=1e-4
    )
    assert "0 is read as rank 1, 100 as rank 7" in said
    assert (
        main(["import", str(FOLDER / "sliders.csv"), "--like", str(tmp_path / "p"), "--out", str(tmp_path / "q")]) == 0
    )
    assert Project.load(tmp_path / "q").frames()["judgements"]["value"].tolist() == judged["value"].tolist()


@pytest.mark.parametrize("scale", ["100..0", "0-100", "..", "a..b", "0..inf", "nan..1"])
def test_the_ends_of_a_slider_are_two_numbers(scale, tmp_path, capsys):
    arguments = ["import", "aspects", str(FOLDER / "sliders.csv"), "--scale", scale, "--out", str(tmp_path / "p")]
    assert main(arguments) == 2
    assert "two numbers, the lower one first, such as 0..100" in capsys.readouterr().err


def test_the_answers_of_a_form_are_votes_between_the_texts_in_its_questions(tmp_path, capsys):
    frames, said = frames_of(tmp_path, capsys, "google_forms_slogans.csv")
    with (FOLDER / "google_forms_slogans.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    won = Counter(cell for row in rows for name, cell in row.items() if name not in ("Timestamp", "Email Address"))
    judged = frames["judgements"]
    better = judged["item_id"].where(judged["value"].astype(float) == 1, judged["other_id"])
    texts = frames["items"].set_index("item_id")["text"]
    assert Counter(texts[better]) == won
    assert "compares the two texts in its name" in said


def test_the_best_of_a_ranking_wins_all_its_comparisons(tmp_path, capsys):
    frames, _ = frames_of(tmp_path, capsys, "rankings_wide.csv")
    with (FOLDER / "rankings_wide.csv").open(encoding="utf-8", newline="") as file:
        best = {row["voter"]: row["1st"] for row in csv.DictReader(file)}
    judged = frames["judgements"]
    for voter, text in best.items():
        own = judged[judged["annotator_id"] == voter]
        assert (own["item_id"] == text).sum() == 3
        assert (own["other_id"] == text).sum() == 0


def test_nested_answers_know_their_question(tmp_path, capsys):
    frames, _ = frames_of(tmp_path, capsys, "nested_comments.json")
    items = frames["items"].set_index("item_id")
    assert items.loc["p0", "text"].startswith("Where should I eat near place 0?\n\nPlease help")
    assert items.loc["k11", ["group_id", "reply_to"]].tolist() == ["p0", "k1"]


def test_how_much_better_is_said_to_be_lost(tmp_path, capsys):
    _, said = frames_of(tmp_path, capsys, "side_by_side_graded.csv")
    with (FOLDER / "side_by_side_graded.csv").open(encoding="utf-8", newline="") as file:
        graded = sum(row["better"] != "about the same" for row in csv.DictReader(file))
    assert f"lost: how much better a text is, is not kept: each answer is one vote ({graded})" in said


def test_html_is_said_and_taken_out_where_asked(tmp_path, capsys):
    frames, said = frames_of(tmp_path, capsys, "reviews_index_html.tsv")
    assert frames["items"]["text"].str.contains("<b>").all()
    assert "--map review=html removes them (12)" in said
    assert (
        main(["import", str(FOLDER / "reviews_index_html.tsv"), "--map", "review=html", "-o", str(tmp_path / "q")]) == 0
    )
    texts = Project.load(tmp_path / "q").frames()["items"]["text"]
    assert not texts.str.contains("[<>&]").any()
    assert texts.str.contains("soup").all()


def test_a_chat_has_authors_and_its_long_messages_whole(tmp_path, capsys):
    chat = tmp_path / "chat.txt"
    chat.write_text("3/5/24, 9:15 AM - Ann: Take the train,\nit is faster.\n3/5/24, 9:16 AM - Bo: No.\n")
    assert main(["import", str(chat), "--texts-only", "--out", str(tmp_path / "p")]) == 0
    items = Project.load(tmp_path / "p").frames()["items"]
    assert items["author_id"].tolist() == ["Ann", "Bo"]
    assert items["text"].tolist() == ["Take the train,\nit is faster.", "No."]


def test_what_is_not_read_of_a_workbook_and_of_labels_is_said(tmp_path, capsys):
    _, said = frames_of(tmp_path, capsys, "survey_with_notes_sheet.xlsx")
    assert "[README] is not read: it has neither texts nor judgements" in said
    assert main(["import", str(FOLDER / "labels_several.csv"), "--out", str(tmp_path / "q")]) == 0
    assert "'food;service' is one label of its own, not several" in capsys.readouterr().out
    assert main(["import", str(FOLDER / "names_twice_and_dates.csv"), "--out", str(tmp_path / "r")]) == 0
    assert "two columns of" in capsys.readouterr().out


def test_columns_of_label_studio_that_may_all_be_answers_are_said_to_be_lost(tmp_path, capsys):
    rows = [
        f"{i},1,x,{i},2.0,{'pos' if i % 2 else 'neg'},{'new' if i % 3 else 'old'},Text number {i}" for i in range(9)
    ]
    names = "annotation_id,annotator,created_at,id,lead_time,mood,tone,text"
    (tmp_path / "x.csv").write_text("\n".join([names, *rows]))
    assert main(["import", str(tmp_path / "x.csv"), "--out", str(tmp_path / "p")]) == 2
    assert "which of mood, tone are answers cannot be told" in capsys.readouterr().err


def votes_of(frames):
    """Votes as (better text, worse text) with their number; ties under both orders' sorted names."""
    judged = frames["judgements"]
    rows = zip(judged["item_id"], judged["other_id"], judged["value"].astype(float), strict=True)
    return Counter((a, b) if v == 1 else (b, a) if v == 0 else ("tie", *sorted((a, b))) for a, b, v in rows)


def table(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_column_an_answer_is_the_answer_that_is_1(tmp_path, capsys):
    frames, _ = frames_of(tmp_path, capsys, "lmsys_one_hot.csv")
    wanted = Counter()
    for row in table("lmsys_one_hot.csv"):
        a, b = row["model_a"], row["model_b"]
        won = row["winner_model_a"] == "1", row["winner_model_b"] == "1"
        wanted[(a, b) if won[0] else (b, a) if won[1] else ("tie", *sorted((a, b)))] += 1
    assert votes_of(frames) == wanted


def test_the_best_beats_all_and_all_beat_the_worst(tmp_path, capsys):
    frames, said = frames_of(tmp_path, capsys, "best_worst.csv")
    wanted = Counter()
    for row in table("best_worst.csv"):
        shown = [row[f"Item{i}"] for i in (1, 2, 3, 4)]
        best, worst = row["BestItem"], row["WorstItem"]
        wanted.update((best, one) for one in shown if one != best)
        wanted.update((one, worst) for one in shown if one not in (best, worst))
    assert votes_of(frames) == wanted
    assert "the best is better than all" in " ".join(said.split())


def test_a_signed_preference_is_for_the_first_below_0_and_scores_from_0_are_ranks_from_1(tmp_path, capsys):
    frames, _ = frames_of(tmp_path, capsys, "helpsteer_preference.jsonl")
    with (FOLDER / "helpsteer_preference.jsonl").open(encoding="utf-8") as file:
        signs = Counter(
            (-1 if r["preference_strength"] < 0 else int(r["preference_strength"] > 0)) for r in map(json.loads, file)
        )
    texts = frames["items"].set_index("item_id")["text"]
    first = [texts[name].startswith("One.") for name in frames["judgements"]["item_id"]]
    assert all(first)
    assert Counter(frames["judgements"]["value"].astype(float)) == {1.0: signs[-1], 0.0: signs[1], 0.5: signs[0]}
    (tmp_path / "p").rename(tmp_path / "first")
    frames, said = frames_of(tmp_path, capsys, "helpsteer.jsonl")
    with (FOLDER / "helpsteer.jsonl").open(encoding="utf-8") as file:
        given = Counter(r["helpfulness"] + 1 for r in map(json.loads, file))
    judged = frames["judgements"]
    assert Counter(judged[judged["aspect"] == "helpfulness"]["value"].astype(float)) == given
    assert "0, which is read as rank 1" in said


def test_parts_of_objects_are_columns(tmp_path, capsys):
    frames, _ = frames_of(tmp_path, capsys, "hotel_nested_ratings.jsonl")
    assert set(frames["judgements"]["aspect"]) == {"service", "cleanliness", "overall"}
    assert frames["items"]["author_id"].tolist()[:2] == ["p0", "p1"]
    (tmp_path / "p").rename(tmp_path / "first")
    frames, _ = frames_of(tmp_path, capsys, "telegram_result.json", "--texts-only")
    assert frames["items"]["text"].tolist()[0] == "See https://example.org about the soup, please."
    (tmp_path / "p").rename(tmp_path / "second")
    frames, _ = frames_of(tmp_path, capsys, "chat_log_feedback.jsonl")
    assert frames["items"]["text"].tolist()[0].splitlines()[1] == "user: How is the soup?"


def test_what_stands_above_the_names_and_beside_the_tables_is_said(tmp_path, capsys):
    _, said = frames_of(tmp_path, capsys, "preamble.csv")
    assert "stand in line 5; what is above them is not read" in " ".join(said.split())
    (tmp_path / "p").rename(tmp_path / "first")
    _, said = frames_of(tmp_path, capsys, "reviews_months.zip")
    assert "what is no table is not read: README.txt" in said


def test_stars_beside_a_slider_stay_stars(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text(
        "text,food,service,overall\nWarm soup and bread.,5,4,80\nCold soup again.,1,2,12\nA long wait.,4,1,55\n",
        encoding="utf-8",
    )
    unused = [look for look in import_files(["survey.csv"], None).looks if not look.use]
    assert [(look.column, look.why) for look in unused] == [
        ("overall", "it may be a slider: choose with --map, as score, and add --scale 0..100")
    ]
    options = ["--map", "overall=score", "--scale", "0..100"]
    assert main(["import", "survey.csv", *options, "--out", "p"]) == 0
    judged = Project.load("p").frames()["judgements"]
    found = judged.pivot(index="item_id", columns="aspect", values="value").astype(float)
    assert sorted(zip(found["food"], found["service"], strict=True)) == [(1.0, 2.0), (4.0, 1.0), (5.0, 4.0)]
    assert sorted(found["overall"].round(2)) == [1.48, 3.2, 4.2]
    assert "the slider is overall; food, service hold whole numbers from 1 to at most 5" in capsys.readouterr().out
    # Named, they are sliders too, all of whose places are low.
    options[1] = "overall=score,food=score,service=score"
    assert main(["import", "survey.csv", *options, "--out", "q"]) == 0
    named = Project.load("q").frames()["judgements"]
    assert named[named["aspect"] == "food"]["value"].astype(float).max() < 1.3


def test_the_cure_for_a_repeated_id_works_where_it_names_a_thread(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"r{i},Comment number {i} of all.,{'yes' if i % 2 else 'no'}" for i in range(9)]
    Path("notes.csv").write_text("\n".join(["uid,text,label", *rows, "r3,Another comment of r3.,no"]), encoding="utf-8")
    assert main(["import", "notes.csv", "--out", "p"]) == 2
    cure = shlex.split(capsys.readouterr().err.partition(" add ")[2].rstrip(".\n"))
    assert cure == ["--map", "uid=group"]
    assert main(["import", "notes.csv", *cure, "--out", "p"]) == 0
    assert Project.load("p").kind == "threads"


def test_texts_that_differ_in_spaces_at_their_ends_alone_are_one_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["text,label", "Good stuff here,pos", '"Good stuff here ",pos', "Bad things,neg", " Bad things,pos"]
    Path("notes.csv").write_text("\n".join(rows), encoding="utf-8")
    assert main(["import", "notes.csv", "--out", "p"]) == 0
    project = Project.load("p")
    assert (project.counts["items"], len(project.frames()["judgements"])) == (2, 4)
    assert "rows that repeat a text add their judgements to it (2)" in capsys.readouterr().out


def test_cells_that_say_that_nothing_is_there_are_missing_and_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stance = ["pro", "NA", "con", "n/a", "pro", "con", "n/a", "NA"]
    rows = [f'"{i}","{"NA" if i == 4 else f"Trams, comment {i} of all"}",{said}' for i, said in enumerate(stance)]
    Path("r.csv").write_text("\n".join(['"","text","stance"', *rows]), encoding="utf-8")
    assert main(["import", "r.csv", "--out", "p"]) == 0
    assert "cells of 'stance' that say NA are read as missing (2)" in capsys.readouterr().out
    project = Project.load("p")
    assert project.labels().tolist() == ["pro", None, "con", "n/a", "pro", "con", "n/a", None]
    assert project.items().texts[4] == "NA"  # somebody may have written so
    food = ["4", "N/A", "5", "-", "1", "NA"]
    rows = [f"Warm soup number {i},{said},{1 + i % 5}" for i, said in enumerate(food)]
    Path("stars.csv").write_text("\n".join(["text,food,service", *rows]), encoding="utf-8")
    assert main(["import", "stars.csv", "--out", "q"]) == 0
    assert "cells of 'food' that say -, N/A, NA are read as missing (3)" in capsys.readouterr().out
    judged = Project.load("q").frames()["judgements"]
    assert judged[judged["aspect"] == "food"]["value"].astype(float).tolist() == [4.0, 5.0, 1.0]
    # What Accord wrote comes back as it was, whatever the label.
    assert main(["export", "p", "--out", "tables"]) == 0
    table = Path("tables/judgements.csv").read_text(encoding="utf-8")
    Path("tables/judgements.csv").write_text(table.replace("n/a", "NA"), encoding="utf-8")
    assert main(["import", "rationales", "tables/judgements.csv", "tables/items.csv", "--out", "again"]) == 0
    assert Project.load("again").labels().tolist().count("NA") == 2
