"""Each tool's files, in the shape that the tool writes, become the right records."""

import json
from pathlib import Path

import pytest

from accord.data.formats.registry import detect, format_names
from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.export import export_as
from accord.workflows.import_ import import_files, project_of_files

SAMPLES = Path(__file__).parent / "samples"
# The files of one import, its config, and the format that they look like.
CASES = {
    "label_studio/pairs.json": "label-studio",
    "label_studio/reviews.csv": "label-studio",
    "label_studio/reviews_min.json": "label-studio",
    "argilla/records.json": "argilla",
    "argilla/flat.jsonl": "argilla",
    "prodigy/reviews.jsonl": "prodigy",
    "prodigy/compare.jsonl": "prodigy",
    "potato/annotation_output": "potato",
    "potato/annotation_output/ada/user_state.json": "potato",
    "spacy/spans.jsonl": "spacy",
    "spacy/train_data.json": "spacy",
    "brat": "brat",
    "conll/streets.conll": "conll",
    "webanno/streets.tsv": "webanno",
    "doccano/labels.jsonl": "doccano",
    "doccano/relations.jsonl": "doccano",
    "convokit": "convokit",
    "convokit/utterances.jsonl": "convokit",
    "all_our_ideas/votes.csv": "all-our-ideas",
    "all_our_ideas/nonvotes.csv": "all-our-ideas",
    "all_our_ideas/ideas.csv": "all-our-ideas",
    "polis/votes.csv": "polis",
    "polis/comments.csv": "polis",
    "crowdkit/comparisons.csv": "crowd-kit",
    "crowdkit/labels.csv": "crowd-kit",
    "arena/battles.jsonl": "arena",
    "trl/preferences.jsonl": "trl",
    "forums/Posts.xml": "stack-exchange",
    "forums/topic.json": "discourse",
    "forums/listing.json": "reddit",
    "judge_logs/inspect.json": "inspect",
    "judge_logs/promptfoo.json": "promptfoo",
    "judge_logs/deepeval.json": "deepeval",
    "judge_logs/samples_library_2026-10-02.jsonl": "lm-eval",
    "eraser": "eraser",
    "eraser/train.jsonl": "eraser",
}


def read(*names, config=None, **settings):
    return project_of_files([SAMPLES / name for name in names], config=config and SAMPLES / config, **settings)


def judged(project, kind, *columns):
    frame = project.frames()["judgements"]
    rows = frame[frame["kind"] == kind]
    return [tuple(None if cell is None or cell != cell else cell for cell in row) for row in rows[list(columns)].values]


def texts(project):
    return dict(project.frames()["items"][["item_id", "text"]].values)


@pytest.mark.parametrize("name", CASES)
def test_files_are_known_by_their_looks(name):
    form, reason = detect([SAMPLES / name])
    assert form.name == CASES[name]
    assert reason.endswith("use --format to say otherwise")


def test_every_format_that_is_read_has_a_sample():
    assert set(CASES.values()) | {"huggingface"} == set(format_names())


def test_plain_tables_look_like_no_tool():
    assert detect([SAMPLES / "tables/items.csv", SAMPLES / "tables/votes.csv"]) is None


# -- Label Studio ------------------------------------------------------------------------------------------------


def test_label_studio_pairs_take_their_sides_from_the_config():
    project = read("label_studio/pairs.json", config="label_studio/pairs.xml")
    words = texts(project)
    rows = judged(
        project, "pair", "item_id", "other_id", "value", "annotator_id", "status", "response_ms", "judgement_id"
    )
    assert [(words[a], words[b], *rest) for a, b, *rest in rows] == [
        ("Trams are quiet.", "Buses are cheap.", "1", "1", None, 4250, "101:r1"),
        ("Trams are quiet.", "Buses are cheap.", "0", "bo@example.org", None, 3500, "102:r2"),
        ("Buses are cheap.", "Bikes keep you fit.", None, "1", "skipped", 9000, "103"),
    ]
    assert project.comparisons().n_votes == 2
    assert len(words) == 3


def test_label_studio_pairs_need_the_config():
    with pytest.raises(InputError, match=r"needs the label config.*row 1 of .*--config"):
        read("label_studio/pairs.json")


def test_label_studio_spans_in_either_unit_are_code_points():
    project = read("label_studio/reviews.json", config="label_studio/reviews.xml")
    # "superb" was given in code points, "soup" in UTF-16 code units; the emoji before them tells the two apart.
    assert judged(project, "span", "start", "end", "quote") == [(15, 21, "superb"), (6, 10, "soup")]
    (text,) = texts(project).values()
    assert text == "😀 The soup was superb.\r\n\tWe stayed."
    assert judged(project, "score", "aspect", "value") == [("food", "5")]
    assert judged(project, "label", "aspect", "value", "annotator_id") == [("sentiment", "pos", "3")]


def test_label_studio_exports_say_the_same_in_all_three_shapes():
    names = ("kind", "item_id", "value", "aspect", "start", "end", "quote", "annotator_id", "response_ms")
    flat = read("label_studio/reviews_min.json", config="label_studio/reviews.xml").frames()["judgements"]
    table = read("label_studio/reviews.csv", config="label_studio/reviews.xml").frames()["judgements"]
    assert flat[list(names)].equals(table[list(names)])
    assert sorted(flat["kind"]) == ["label", "score", "span"]


def test_label_studio_dialogues_become_threads_of_turns():
    project = read("label_studio/dialogue.json", config="label_studio/dialogue.xml")
    items = project.frames()["items"]
    assert items[["item_id", "group_id", "author_id", "reply_to"]].values.tolist() == [
        ["5.0", "5", "Ann", None],
        ["5.1", "5", "Bo", "5.0"],
    ]
    assert judged(project, "span", "item_id", "start", "end", "quote") == [("5.1", 5, 15, "until nine")]


def test_label_studio_rankings_become_comparisons():
    project = read("label_studio/ranking.json", config="label_studio/ranking.xml")
    assert judged(project, "pair", "item_id", "other_id", "value") == [
        ("y", "x", "1"),
        ("y", "z", "1"),
        ("x", "z", "1"),
    ]


# -- Argilla -----------------------------------------------------------------------------------------------------


def test_argilla_records():
    project = read("argilla/records.json")
    assert judged(project, "label", "item_id", "value", "aspect", "annotator_id") == [
        ("r1", "pos", "mood", "u1"),
        ("r1", "neg", "mood", "u2"),
    ]
    assert judged(project, "score", "value", "aspect") == [("4", "food")]
    assert judged(project, "span", "start", "end", "quote", "value") == [(13, 19, "superb", "reason")]
    assert texts(project)["r2"] == "We waited an hour."


def test_argilla_flat_records_keep_what_was_discarded():
    project = read("argilla/flat.jsonl")
    assert judged(project, "label", "value", "annotator_id", "status") == [
        ("pos", "u1", None),
        ("neg", "u2", "skipped"),
    ]
    assert project.labels().tolist() == ["pos"]


def test_argilla_settings_tell_fields_from_metadata(tmp_path):
    flat = tmp_path / "flat.jsonl"
    flat.write_text(
        '{"id": "r", "town": "Ulm", "text": "Superb soup.", "why.responses": [[{"start": 0, "end": 6, "label": "x"}]], '
        '"why.responses.users": ["u"], "why.responses.status": ["submitted"]}\n'
    )
    with pytest.raises(InputError, match="spans need the settings"):
        read(flat)
    config = tmp_path / "settings.json"
    config.write_text(
        '{"fields": [{"name": "text"}], "questions": [{"name": "why", "settings": {"type": "span", "field": "text"}}]}'
    )
    project = read(flat, config=config)
    assert judged(project, "span", "item_id", "quote", "value", "annotator_id") == [("r", "Superb", "x", "u")]
    assert project.frames()["items"]["meta.town"].tolist() == ["Ulm"]


def test_argilla_rankings_have_ties():
    project = read("argilla/ranking.json")
    words = texts(project)
    assert [(words[a], words[b], v) for a, b, v in judged(project, "pair", "item_id", "other_id", "value")] == [
        ("Kind.", "Short.", "1"),
        ("Kind.", "Long.", "1"),
        ("Short.", "Long.", "0.5"),
    ]


# -- Prodigy, Potato, doccano ------------------------------------------------------------------------------------


def test_prodigy_answers():
    project = read("prodigy/reviews.jsonl")
    assert judged(project, "label", "item_id", "value", "annotator_id", "status", "skip_reason") == [
        ("100", "pos", "cafe-ada", None, None),
        ("101", "neg", "cafe-bo", "rejected", None),
        ("101", "neg", "cafe-cy", "skipped", "ignore"),
    ]
    assert judged(project, "span", "item_id", "start", "end", "quote") == [("100", 13, 19, "superb")]
    assert project.labels().tolist() == ["pos", None]


def test_prodigy_comparisons_undo_the_order_in_which_they_were_shown():
    project = read("prodigy/compare.jsonl")
    words = texts(project)
    rows = judged(project, "pair", "item_id", "other_id", "value", "status", "shown_left_id")
    assert [(words[a], words[b], v, s, words.get(left)) for a, b, v, s, left in rows] == [
        ("Yes.", "Yes, until nine.", "0", None, "Yes, until nine."),
        ("Yes.", "No idea.", "1", None, None),
        ("No idea.", "Yes, until nine.", None, "skipped", None),
    ]


def test_potato_states_in_both_shapes():
    project = read("potato/annotation_output", "potato/data.jsonl")
    words = texts(project)
    assert judged(project, "label", "value", "aspect", "annotator_id") == [
        ("pos", "mood", "ada"),
        ("neg", "mood", "bo"),
    ]
    assert judged(project, "score", "value", "aspect") == [("5", "food")]
    assert judged(project, "span", "start", "end", "quote") == [(13, 19, "superb"), (4, 8, "soup")]
    votes = [
        (words[a], words[b], v, who)
        for a, b, v, who in judged(project, "pair", "item_id", "other_id", "value", "annotator_id")
    ]
    assert ("Trams are quiet.", "Buses are cheap.", "0.5", "ada") in votes
    assert ("Trams are quiet.", "Buses are cheap.", "1", "bo") in votes
    best_worst = {(a, b) for a, b, v, _ in votes if "Trams" not in a}
    assert best_worst == {
        ("Kind.", "Short."), ("Kind.", "Long."), ("Kind.", "Rude."), ("Short.", "Rude."), ("Long.", "Rude."),
    }  # fmt: skip


def test_potato_flat_exports(tmp_path):
    path = tmp_path / "annotations.csv"
    path.write_text("instance_id,user_id,mood:::pos,mood:::neg,food:::slider\ni1,ada,true,,4\ni1,bo,,true,\n")
    project = read(path, "potato/data.jsonl")
    assert judged(project, "label", "value", "annotator_id") == [("pos", "ada"), ("neg", "bo")]
    assert judged(project, "score", "value", "aspect") == [("4", "food")]


def test_spans_and_categories_as_spacy_writes_them():
    project = read("spacy/spans.jsonl")
    assert judged(project, "span", "quote", "value") == [("quiet", "GOOD"), ("quick", "GOOD"), ("slow", "BAD")]
    assert judged(project, "label", "value") == [("pos",), ("neg",)]
    assert project.frames()["items"]["meta.source"].tolist() == ["survey", None]
    older = read("spacy/train_data.json")
    assert judged(older, "span", "quote", "value") == [("quiet", "GOOD"), ("slow", "BAD")]
    assert judged(older, "label", "value") == [("neg",)]


def test_brat_conll_and_webanno_mark_the_same_words():
    brat, lost = read("brat"), import_files([SAMPLES / "brat"], None).lost
    assert judged(brat, "span", "quote", "value") == [
        *(("quiet", "Good"), ("quick", "Good"), ("slow", "Bad")),
        *(("cheap", "Mixed"), ("slow", "Mixed")),  # one interrupted span
    ]
    assert lost["relations, events and attributes of spans are not kept"] == 2
    assert lost["notes of annotators are not kept"] == 1
    conll = read("conll/streets.conll")
    assert judged(conll, "span", "quote", "value") == [
        *(("Trams", "GOOD"), ("quiet and quick", "GOOD"), ("slow", "BAD")),
    ]
    assert list(texts(conll).values()) == ["Trams are quiet and quick .", "Buses are slow ."]
    webanno = read("webanno/streets.tsv")
    assert judged(webanno, "span", "quote", "value") == [
        *(("quiet and quick", "good"), ("quick", "fast"), ("slow", "bad")),
    ]
    assert list(texts(webanno).values()) == ["Trams are quiet and quick . Buses are slow ."]


def test_doccano_labels_spans_and_entities():
    assert judged(read("doccano/labels.jsonl"), "label", "item_id", "value") == [
        ("1", "pos"),
        ("2", "neg"),
        ("2", "service"),
    ]
    spans = [(4, 8, "soup", "dish"), (13, 19, "superb", "praise")]
    assert judged(read("doccano/spans.jsonl"), "span", "start", "end", "quote", "value") == spans
    assert judged(read("doccano/relations.jsonl"), "span", "start", "end", "quote", "value") == spans
    assert import_files([SAMPLES / "doccano/relations.jsonl"], None).lost[
        "relations between spans of one text are not kept"
    ]


# -- corpora, votes, arenas --------------------------------------------------------------------------------------


def test_convokit_corpora_become_threads():
    project = read("convokit")
    threads = project.threads()
    assert threads.questions.tolist() == ["Where is good bread?"]
    assert threads.texts.tolist() == ["Try the mill.", "No idea."]
    assert threads.labels.tolist() == ["good", "bad"]
    items = project.frames()["items"]
    assert items["reply_to"].tolist() == [None, "q1", "c1"]
    assert items["meta.likes"].tolist() == ["3", "5", None]


def test_convokit_times_are_written_as_numbers(tmp_path):
    project = read("convokit")
    export_as(project, tmp_path / "corpus", form="convokit")
    lines = (tmp_path / "corpus" / "utterances.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["timestamp"] for line in lines] == [1767225600, 1767225660, 1767225700]


def test_all_our_ideas_votes_and_non_votes():
    project = read("all_our_ideas/votes.csv", "all_our_ideas/nonvotes.csv", "all_our_ideas/ideas.csv")
    rows = judged(
        project,
        "pair",
        "judgement_id",
        "item_id",
        "other_id",
        "value",
        "annotator_id",
        "status",
        "skip_reason",
        "response_ms",
    )
    assert rows == [
        ("1", "71", "72", "1", "501", None, None, 2846),
        ("2", "71", "73", "0", "501", None, None, None),
        ("3", "72", "73", "1", "502", "invalid", None, 1500),
        ("8", "71", "72", None, "502", "skipped", "I can't decide", 6200),
        (None, "73", "72", None, "503", "skipped", "bounce", None),
    ]
    assert texts(project)["74"] == "More shade"
    assert project.comparisons().n_votes == 2


def test_all_our_ideas_votes_alone_bring_their_texts():
    assert texts(read("all_our_ideas/votes.csv")) == {
        "71": "More trams, please",
        "72": "More buses",
        "73": "More bikes",
    }


def test_all_our_ideas_winners_must_have_been_shown(tmp_path):
    header, first, *_ = (SAMPLES / "all_our_ideas/votes.csv").read_text().splitlines()
    bad = tmp_path / "votes.csv"
    bad.write_text(f"{header}\n{first}\n{first.replace(',41,71,72,', ',41,71,99,')}\n")
    with pytest.raises(InputError, match=r"left and right choice; row 2 of .*votes\.csv has winner '71'"):
        read(bad)


@pytest.mark.parametrize("turn", [1, -1])
def test_polis_votes_take_their_sign_from_the_totals(tmp_path, turn):
    lines = (SAMPLES / "polis/votes.csv").read_text().splitlines()
    turned = [lines[0], *(f"{line.rpartition(',')[0]},{turn * int(line.rpartition(',')[2])}" for line in lines[1:])]
    path = tmp_path / "votes.csv"
    path.write_text("\n".join(turned) + "\n")
    project = read(path, "polis/comments.csv")
    assert judged(project, "label", "item_id", "value", "annotator_id", "status") == [
        ("0", "agree", "10", None),
        ("0", "agree", "11", None),
        ("0", None, "12", "skipped"),
        ("1", "disagree", "10", None),
        ("1", "agree", "12", None),
    ]


def test_crowd_kit_labels_name_the_winner():
    votes = judged(read("crowdkit/comparisons.csv"), "pair", "item_id", "other_id", "value", "annotator_id")
    assert votes == [("a", "b", "1", "w1"), ("a", "b", "0", "w2"), ("b", "c", "1", "w1")]
    assert judged(read("crowdkit/labels.csv"), "label", "item_id", "value") == [("t1", "cat"), ("t1", "dog")]


def test_a_table_of_models_beside_their_battles_is_read_and_other_columns_are_said(tmp_path):
    (tmp_path / "battles.csv").write_text("model_a,model_b,winner,judge,length_a\nm,n,model_a,ada,7\n")
    (tmp_path / "models.csv").write_text("model,description,family,size\nm,First.,x,7\nn,Second.,y,8\n")
    imported = import_files([tmp_path / "battles.csv", tmp_path / "models.csv"], tmp_path / "project")
    assert list(imported.lost) == ["columns of battles.csv that differ from battle to battle are not kept: length_a"]
    items = Project.load(tmp_path / "project").frames()["items"]
    assert items[["item_id", "text", "meta.family", "meta.size"]].astype(str).to_numpy().tolist() == [
        ["m", "First.", "x", "7"], ["n", "Second.", "y", "8"],
    ]  # fmt: skip


def test_arena_ties_are_halves_and_keep_that_both_were_bad():
    rows = judged(read("arena/battles.jsonl"), "pair", "item_id", "other_id", "value", "skip_reason", "annotator_id")
    assert rows == [
        ("oak", "elm", "1", None, "u1"),
        ("elm", "ash", "0.5", None, "u1"),
        ("ash", "oak", "0.5", "both_bad", "u2"),
    ]


def test_trl_preferences_as_texts_and_as_messages():
    project = read("trl/preferences.jsonl")
    words = texts(project)
    votes = [(words[a], words[b], v) for a, b, v in judged(project, "pair", "item_id", "other_id", "value")]
    assert votes == [("Yes, until nine.", "No idea.", "1"), ("Yes, until nine.", "Maybe.", "1")]
    items = project.frames()["items"]
    assert set(items["meta.prompt"]) == {"Is it open?"}
    assert items["group_id"].nunique() == 1


def test_eraser_tokens_become_characters():
    project = read("eraser")
    assert judged(project, "span", "item_id", "quote") == [
        ("m1.txt", "superb"),
        ("m1.txt", "we stayed two hours"),
        ("m2.txt", None),
    ]
    assert project.labels().tolist() == ["POS", "NEG"]
    assert project.rationales().annotated.tolist() == [True, True]


def test_own_rankings_become_comparisons(tmp_path):
    path = tmp_path / "judgements.csv"
    path.write_text("kind,judgement_id,item_id,value,annotator_id\nrank,r,b,2,x\nrank,r,a,1,x\nrank,r,c,2,x\n")
    project = project_of_files([path], kind="pairs")
    assert judged(project, "pair", "item_id", "other_id", "value", "annotator_id", "judgement_id") == [
        ("a", "b", "1", "x", "r/1"),
        ("a", "c", "1", "x", "r/2"),
        ("b", "c", "0.5", "x", "r/3"),
    ]


def test_a_dry_run_counts_what_was_judged_again(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("worker,left,right,label\nw,a,b,a\nw,b,a,a\nw,b,c,b\nw,c,b,c\nv,a,b,b\n")
    assert import_files([path], None).conflicts == {"repeated": 1, "contradicted": 1}


def test_verdicts_of_judges_are_labels_and_their_graders_are_judges():
    project = read("judge_logs/inspect.json")
    assert project.kind == "threads"
    words = texts(project)
    found = {
        (words[item], who): value for item, who, value in judged(project, "label", "item_id", "annotator_id", "value")
    }
    assert found == {
        ("At nine.", "model_graded_qa"): "correct",
        ("Yes, of course.", "model_graded_qa"): "incorrect",
        ("Yes, of course.", "style/short"): "correct",
    }
    items = project.frames()["items"]
    assert items["meta.score.style/tone"].dropna().astype(float).tolist() == [0.5]  # no verdict, and not lost
    assert set(items["author_id"].dropna()) == {"north/small"}
    judges = project.judges().set_index("annotator_id")
    assert judges["family"].to_dict() == {"model_graded_qa": "south/large", "style/short": "south/large"}
    assert project.threads().questions.tolist() == ["When does the library open?", "May I bring a dog?"]


def test_logs_of_several_tools_meet_in_the_same_answers():
    inspect, promptfoo, deepeval, samples = (
        read(f"judge_logs/{name}")
        for name in ("inspect.json", "promptfoo.json", "deepeval.json", "samples_library_2026-10-02.jsonl")
    )
    (nine,) = {item for item, text in texts(inspect).items() if text == "At nine."}
    for project in (promptfoo, deepeval, samples):
        assert texts(project)[nine] == "At nine."
    assert judged(promptfoo, "label", "annotator_id", "value") == [
        ("llm-rubric", "correct"), ("friendly", "incorrect"), ("promptfoo", "incorrect"),
    ]  # fmt: skip
    assert set(promptfoo.judges()["annotator_id"]) == {"llm-rubric", "friendly", "promptfoo"}
    assert [row[1] for row in judged(deepeval, "label", "annotator_id", "value")] == ["correct", "correct", "incorrect"]
    assert set(deepeval.judges()["model"]) == {"south-large"}
    assert judged(samples, "label", "annotator_id", "value") == [("llm_judge", "correct"), ("llm_judge", "incorrect")]
    seen = import_files([SAMPLES / "judge_logs/promptfoo.json"], None)
    assert any("without an answer" in what for what in seen.lost)
    assert seen.counts["judges"] == 3


def test_a_table_of_annotators_adds_to_the_judges_of_a_log(tmp_path):
    who = tmp_path / "who.csv"
    who.write_text("annotator_id,kind,family\nllm-rubric,judge,south\nada,person,\n", encoding="utf-8")
    project = project_of_files([SAMPLES / "judge_logs/promptfoo.json"], annotators=who)
    judges = project.judges().set_index("annotator_id")["family"]
    assert judges.to_dict() == {"llm-rubric": "south", "friendly": "friendly", "promptfoo": "promptfoo"}


def test_preferences_are_written_with_how_sure_the_votes_are(tmp_path):
    rows = [("a", "b", "1", "ada"), ("a", "b", "1", "ben"), ("b", "a", "1", "cem"), ("a", "c", "1", "ada")]
    table = tmp_path / "votes.csv"
    lines = ["left,right,winner,annotator_id", *(f"{a},{b},{a},{who}" for a, b, _, who in rows)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    project = project_of_files([table], kind="pairs")
    export_as(project, tmp_path / "trl", form="trl")
    written = [json.loads(line) for line in (tmp_path / "trl/preferences.jsonl").read_text().splitlines()]
    assert [round(row["confidence"], 2) for row in written] == [0.6, 0.6, 0.4, 0.67]  # (n for it + 1) of (n + 2)
    assert [round(row["margin"], 2) for row in written] == [0.41, 0.41, -0.41, 0.69]
    export_as(project, tmp_path / "arena", form="arena")
    battles = [json.loads(line) for line in (tmp_path / "arena/battles.jsonl").read_text().splitlines()]
    assert [round(row["confidence"], 2) for row in battles] == [0.6, 0.6, 0.4, 0.67]
    margins = tmp_path / "margins.jsonl"
    margins.write_text('{"prompt": "Why?", "chosen": "Because.", "rejected": "No.", "margin": 2.5}\n', encoding="utf-8")
    assert any("(margin) is not kept" in what for what in import_files([margins], None).lost)


def test_a_file_that_is_none_of_the_tool_is_named_as_not_read(tmp_path):
    table = tmp_path / "more.csv"
    table.write_text("id,text,food,service\n1,Warm soup.,5,4\n2,Cold soup.,1,2\n", encoding="utf-8")
    imported = import_files([SAMPLES / "label_studio/reviews_min.json", table], None)
    lost = [what for what in imported.lost if what.startswith("files of which nothing was read")]
    assert len(lost) == 1
    assert lost[0].endswith(f": {table}")
    for names in (
        ("all_our_ideas/ideas.csv", "all_our_ideas/votes.csv", "all_our_ideas/nonvotes.csv"),
        ("polis/comments.csv", "polis/votes.csv"),
        ("potato/annotation_output", "potato/data.jsonl"),
        ("convokit",),
        ("eraser",),
        ("brat",),
    ):
        imported = import_files([SAMPLES / name for name in names], None)
        assert not any(what.startswith("files of which") for what in imported.lost), names


def test_votes_called_as_in_a_tool_are_read_beside_a_table_of_texts(tmp_path):
    votes, items = tmp_path / "votes.csv", tmp_path / "texts.csv"
    votes.write_text("worker,left,right,label\nann,t1,t2,t1\nbob,t2,t3,t3\nann,t1,t3,t3\n", encoding="utf-8")
    items.write_text(
        "id,text\nt1,Tea is the best of all.\nt2,Coffee wakes me up.\nt3,Water is free.\n", encoding="utf-8"
    )
    for files in ([votes, items], [items, votes]):
        project = project_of_files(files)
        assert judged(project, "pair", "item_id", "other_id", "value", "annotator_id") == [
            ("t1", "t2", "1", "ann"),
            ("t2", "t3", "0", "bob"),
            ("t1", "t3", "0", "ann"),
        ]
        assert texts(project)["t3"] == "Water is free."
