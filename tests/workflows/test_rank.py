"""Rankings of projects, and the page that shows them."""

import json
import re
import runpy
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from accord.cli.main import main
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.errors import InputError
from accord.workflows.projects import EXAMPLES, open_example, open_project
from accord.workflows.rank import Learnt, rank, stability_sentences
from accord.workflows.report import project_report, ranking_report
from synthetic.tastes import taste_votes

MAKE_VOTES = str(Path(__file__).parents[2] / "examples" / "make_votes.py")


def quiet(what, done, total):
    pass


def project_of(votes, groups=None, texts=None):
    ids = sorted({name for pair in votes for name in pair[:2]})
    items = {"item_id": ids, "text": texts or ids}
    if groups is not None:
        items["group_id"] = [groups[name] for name in ids]
    left, right, value = zip(*votes, strict=True)
    judgements = {"kind": ["pair"] * len(votes), "item_id": left, "other_id": right, "value": value}
    return Project("pairs", with_schema(items, ITEMS), with_schema(judgements, JUDGEMENTS))


def test_the_example_is_ranked_close_to_the_strengths_its_votes_were_made_from():
    script = runpy.run_path(MAKE_VOTES)
    rankings = rank(open_example("arguments"), method="bradley_terry", progress=quiet)
    for ranking, strengths in zip(rankings, script["STRENGTHS"].values(), strict=True):
        table = ranking.table.sort_values("item_id")
        assert spearmanr(table["score"], strengths).statistic > 0.6
        assert ranking.n_votes == 150
        assert ranking.notes == ()
        assert (table["low"] <= table["score"]).all()


def test_the_votes_of_the_example_are_what_the_kept_script_makes():
    script = runpy.run_path(MAKE_VOTES)
    items = open_example("arguments").items()
    ids = {topic: [name for name in items.ids if name.startswith(topic)] for topic in script["STRENGTHS"]}
    drawn = script["draw_votes"](ids, np.random.default_rng(20))
    kept = open_example("arguments").comparisons().to_table()
    assert [vote["left"] for vote in drawn] == kept["left"].tolist()
    assert [float(vote["value"]) for vote in drawn] == kept["value"].tolist()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_opens_as_its_word(name):
    project = open_example(name)
    assert project.kind == EXAMPLES[name][0]
    records = {
        "pairs": project.comparisons,
        "threads": project.threads,
        "aspects": project.ratings,
        "links": project.links,
        "rationales": project.rationales,
    }
    assert records[project.kind]() is not None
    assert open_project(f"example:{name}", kind=project.kind).fingerprint == project.fingerprint


def test_every_citation_of_the_example_quotes_its_statement():
    project = open_example("cafe-statements")
    items, links = project.items(), project.links()
    texts = dict(zip(items.ids, items.texts, strict=True))
    assert all(context in texts[source] for source, context in zip(links.source, links.contexts, strict=True))


def test_each_group_is_ranked_by_itself():
    groups = {"a": "x", "b": "x", "c": "y", "d": "y"}
    rankings = rank(project_of([("a", "b", "1"), ("d", "c", "1")], groups), method="bradley_terry", progress=quiet)
    assert [ranking.group for ranking in rankings] == ["x", "y"]
    assert [ranking.table["item_id"].tolist() for ranking in rankings] == [["a", "b"], ["d", "c"]]
    assert all(ranking.notes == () for ranking in rankings)


def test_votes_across_groups_make_one_ranking():
    groups = {"a": "x", "b": "x", "c": "y"}
    (ranking,) = rank(project_of([("a", "b", "1"), ("b", "c", "1")], groups), method="bradley_terry", progress=quiet)
    assert ranking.group is None
    assert ranking.table["item_id"].tolist() == ["a", "b", "c"]


def test_parts_without_votes_between_them_are_noted():
    project = project_of([("a", "b", "1"), ("c", "d", "1")])
    (ranking,) = rank(project, method="bradley_terry", progress=quiet)
    assert "2 separate parts" in ranking.notes[0]


def test_the_model_notes_parts_without_votes_between_them_once_and_only_where_there_are_any():
    (apart,) = rank(project_of([("a", "b", "1"), ("c", "d", "1")]), progress=quiet)
    assert sum("2 separate parts" in note for note in apart.notes) == 1
    (joined,) = rank(project_of([("a", "b", "1"), ("b", "c", "1"), ("c", "d", "1")]), progress=quiet)
    assert not any("separate parts" in note for note in joined.notes)
    # A question has its own votes: that none crosses to the other question is as it should be.
    grouped = rank(
        project_of([("a", "b", "1"), ("c", "d", "1")], {"a": "x", "b": "x", "c": "y", "d": "y"}), progress=quiet
    )
    assert not any("separate parts" in note for each in grouped for note in each.notes)


def test_a_text_that_nobody_voted_on_is_noted_where_a_model_ranks_it():
    votes = {"kind": ["pair"] * 2, "item_id": ["a", "b"], "other_id": ["b", "c"], "value": ["1", "1"]}
    items = {"item_id": list("abcd"), "text": ["a long text", "some text", "text", "a new text"]}
    project = Project("pairs", with_schema(items, ITEMS), with_schema(votes, JUDGEMENTS))
    (found,) = rank(project, progress=quiet)
    assert found.table.set_index("item_id").loc["d", "n_votes"] == 0
    assert [note for note in found.notes if "no votes" in note] == [
        "1 text has no votes: its place is predicted from words, by the votes on the other texts"
    ]
    (known,) = rank(project_of([("a", "b", "1"), ("b", "c", "1")]), progress=quiet)
    assert not any("no votes" in note for note in known.notes)


def test_only_rankings_of_several_questions_speak_of_one_question():
    state = {"settled": 0.5}
    assert "of one question" not in stability_sentences(state, 1)[0]
    assert "of one question" in stability_sentences(state, 2)[0]


def test_sentences_claim_neither_certainty_nor_what_rounding_made():
    def said(**state):
        return " ".join(stability_sentences({"votes_left": 10.0, **state}, 1))

    assert "The order of no two texts is settled" in said(settled=0.0)
    assert "The order of all pairs of texts is settled" in said(settled=1.0)
    assert "The order of >99 % of all pairs" in said(settled=0.999)
    assert "is >99 %; 95 % is wanted. That is reached" in said(settled=0.5, p_top=1.0, sure=0.95, reached=True)
    assert "is 94.8 %; 95 % is wanted. More votes" in said(settled=0.5, p_top=0.9489, sure=0.95, reached=False)
    assert "is 99.1 %; 99.5 % is wanted. More votes" in said(settled=0.5, p_top=0.9912, sure=0.995, reached=False)
    assert "is <1 %; 95 % is wanted" in said(settled=0.5, p_top=0.0, sure=0.95, reached=False)


def test_voters_who_seem_to_answer_at_random_are_named():
    def people(errors):
        return pd.DataFrame(
            {
                "annotator": [f"p{k}" for k in range(len(errors))],
                "n_votes": 20,
                "error": errors,
                "low": 0.1,
                "high": 1.0,
            }
        )

    assert Learnt().careless == []
    assert Learnt(people([0.0, 0.4])).careless == ["No voter seems to answer at random more often than not."]
    (one,) = Learnt(people([0.0, 0.9])).careless
    assert one.startswith("One voter seems to answer at random more often than not, and counts less: p1 (90 % of 20 ")
    assert "90 % interval 10 % to >99 %" in one
    (many,) = Learnt(people([0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 0.2])).careless
    assert many.startswith("6 voters seem")
    assert many.index("p5 (>99 %") < many.index("p4 (95 %")
    assert many.endswith(", and 1 more.")


def test_what_cannot_be_ranked_is_refused():
    with pytest.raises(InputError, match="only projects of pairs and threads"):
        rank(open_example("cafe-notes"), progress=quiet)
    with pytest.raises(InputError, match="needs votes"):
        rank(Project("pairs", with_schema({"item_id": ["a"]}, ITEMS)), progress=quiet)
    with pytest.raises(InputError, match="one of auto, model, bradley_terry"):
        rank(open_example("arguments"), method="dice", progress=quiet)
    with pytest.raises(InputError, match="no setting 'beta'"):
        rank(open_example("arguments"), method="bradley_terry", settings={"beta": 1}, progress=quiet)


class _Page(HTMLParser):
    """Checks that every tag is closed and collects the tags and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "link", "br", "img", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(html):
    page = _Page()
    page.feed(html)
    assert page.open == []
    return page


def test_the_report_is_whole_without_script_or_outside_resource():
    project = open_example("arguments")
    html = ranking_report(project, rank(project, method="bradley_terry", progress=quiet), title="Arguments")
    page = parsed(html)
    assert "script" not in page.tags
    assert not {"src", "href", "onload", "onclick"} & {name for name, _ in page.attributes}
    assert not re.search(r"https?://|url\(|@import", html)
    assert html.count('class="row"') == 40
    assert "Close it on Saturdays first." in html


def test_texts_are_never_markup():
    project = project_of([("a", "b", "1")], texts=["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'])
    html = ranking_report(project, rank(project, method="bradley_terry", progress=quiet), title="<b>")
    assert not {"script", "img"} & set(parsed(html).tags)
    assert "&lt;script&gt;" in html
    assert "<title>&lt;b&gt;" in html


def test_a_report_shows_texts_from_right_to_left_and_counts_one_vote_as_one():
    project = project_of([("a", "b", "1")], texts=["שלום עולם", "مرحبا بالعالم"])
    html = ranking_report(project, rank(project, method="bradley_terry", progress=quiet), title="Words")
    assert '<div class="text" dir="auto">שלום עולם</div>' in html
    assert ">1 vote<" in html
    assert not re.search(r"\b1 votes", html)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "arguments"])
def test_projects_of_every_kind_have_a_report(name):
    html = project_report(open_example(name), title=name)
    assert parsed(html).tags.count("h2") >= 1


def test_the_command_ranks_prints_and_writes(tmp_path, capsys):
    page = tmp_path / "out" / "report.html"
    assert main(["rank", "--example", "arguments", "--method", "bradley_terry", "--report", str(page)]) == 0
    out = capsys.readouterr().out
    assert "90 % interval" in out
    assert out.count("street-") == 20
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_speaks_json(capsys):
    assert main(["rank", "--example", "arguments", "--method", "bradley_terry", "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [len(group["rows"]) for group in groups] == [20, 20]
    expected = {"rank", "tier", "item_id", "score", "low", "high", "p_best", "n_votes", "text"}
    assert expected <= set(groups[0]["rows"][0])


def test_a_raw_table_of_votes_is_ranked(tmp_path, capsys):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\ntea,coffee,tea\ntea,water,tea\ncoffee,water,coffee\n")
    assert main(["rank", str(votes), "--method", "bradley_terry", "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert [row["item_id"] for row in group["rows"]] == ["tea", "coffee", "water"]


@pytest.mark.parametrize(
    "arguments", [["rank"], ["rank", "x", "--example", "arguments"], ["rank", "example:cafe-notes"]]
)
def test_rank_needs_one_project_of_pairs(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_report_and_export_commands_work_on_every_example(tmp_path, capsys):
    for name in EXAMPLES:
        assert main(["report", f"example:{name}", "--out", str(tmp_path / f"{name}.html"), "--json"]) == 0
        assert main(["export", f"example:{name}", "--out", str(tmp_path / name), "--format", "jsonl", "--json"]) == 0
        assert (tmp_path / name / "items.jsonl").is_file()
    capsys.readouterr()


def test_many_voters_who_contradict_the_others_are_noted():
    for size, is_noted in ((3.0, True), (0.0, False)):
        votes = taste_votes(n_items=20, n_voters=20, size=size).votes
        table, ids = votes.to_table(), votes.items.ids
        columns = {"item_id": table["left"], "other_id": table["right"], "value": table["value"].map("{:g}".format)}
        columns |= {"annotator_id": table["annotator_id"], "kind": ["pair"] * len(table)}
        project = Project("pairs", with_schema({"item_id": ids, "text": ids}, ITEMS), with_schema(columns, JUDGEMENTS))
        (ranking,) = rank(project, progress=quiet)
        assert any("--personal" in note for note in ranking.notes) == is_noted
