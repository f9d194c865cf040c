"""Seconds of questions: measured, given, or a default; and which question is asked by them."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from accord.cli.main import main
from accord.data.project import JUDGEMENTS, with_schema
from accord.errors import InputError
from accord.workflows.ask import ask, ask_texts, askable
from accord.workflows.ask_kinds import highlighted
from accord.workflows.costs import costs_of, parse_costs
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example


def quiet(what, done, total):
    pass


def timed(project, times, *, spans=False, **columns):
    """The project with one label of a text in each of these milliseconds, and a highlight with it if wanted."""
    ids = askable(project).ids[: len(times)]
    rows = {
        "judgement_id": [f"j{i}" for i in range(len(times))],
        "kind": ["label"] * len(times),
        "item_id": list(ids),
        "value": ["pos"] * len(times),
        "response_ms": list(times),
        "annotator_id": ["eve"] * len(times),
    }
    if spans:
        rows = {name: [*values, *values] for name, values in rows.items()}
        rows["judgement_id"] = [f"j{i}" for i in range(2 * len(times))]
        rows["kind"] = ["label"] * len(times) + ["span"] * len(times)
        rows["value"] = ["pos"] * len(times) + [None] * len(times)
    return replace(project, judgement_table=with_schema({**rows, **columns}, JUDGEMENTS))


def test_the_median_is_drawn_towards_the_default_and_pauses_do_not_count():
    notes = open_example("cafe-notes")
    cost = costs_of(timed(notes, [4_000] * 15 + [3_600_000] * 40 + [50] * 40))["label"]
    assert (cost.source, cost.n) == ("measured", 15)
    assert cost.seconds == pytest.approx(np.exp((15 * np.log(4.0) + 5 * np.log(15.0)) / 20))
    assert costs_of(notes)["label"].source == "default"
    both = costs_of(timed(notes, [9_000] * 10, spans=True))
    assert (both["highlight"].n, both["label"].source) == (10, "default")


def test_people_read_long_texts_longer_and_this_is_learnt():
    notes = open_example("cafe-notes")
    texts = askable(notes).texts[:100]
    cost = costs_of(timed(notes, [int(100 * len(text)) for text in texts]))["label"]
    assert 0.5 < cost.slope < 1.0
    short, long = cost.of([20, 2_000])
    assert long > 10 * short
    rng = np.random.default_rng(0)
    none = costs_of(timed(notes, rng.permutation([int(100 * len(text)) for text in texts]).tolist()))["label"]
    assert none.slope < 0.2
    assert costs_of(timed(notes, [4_000] * 20), {"label": 7.0})["label"].of([10, 1_000]).tolist() == [7.0, 7.0]


def test_costs_are_read_and_wrong_ones_are_refused():
    assert parse_costs("highlight=20s, label=500ms", "rationales") == {"highlight": 20.0, "label": 0.5}
    assert parse_costs("vote=2min", "pairs") == {"vote": 120.0}
    for text in ("label=0", "label=-3", "label", "label=5q", "label=2d", ""):
        with pytest.raises(InputError):
            parse_costs(text, "rationales")
    with pytest.raises(InputError, match="Did you mean 'label'"):
        parse_costs("lable=5", "threads")
    with pytest.raises(InputError, match="given twice"):
        parse_costs("label=5,label=6", "threads")


def partly_highlighted(keep=60, marked=30):
    project = open_example("cafe-notes")
    ids = list(askable(project).ids)
    kept, shown = set(ids[:keep]), set(ids[:marked])
    columns = (project.judgement_table.column(name).to_pylist() for name in ("item_id", "kind"))
    rows = [name in (shown if kind == "span" else kept) for name, kind in zip(*columns, strict=True)]
    return replace(project, judgement_table=project.judgement_table.filter(pa.array(rows)))


def test_a_cheap_highlight_is_asked_for_and_an_expensive_one_is_not():
    project = partly_highlighted()
    model = task_of("rationales").train(project, {"C": 1.0, "theta_variance": 1.0}, quiet)
    asked = {}
    for seconds in (1.0, 1_000.0):
        costs = costs_of(project, {"label": 10.0, "highlight": seconds})
        table = ask_texts(model, project, 12, "information", costs=costs, questions=("label", "highlight"))
        chosen = table[table["strategy"] == "information"]
        asked[seconds] = set(chosen["question"])
        assert table["seconds"].tolist() == [seconds if q == "highlight" else 10.0 for q in table["question"]]
        assert ((table["propensity"] > 0) & (table["propensity"] < 1)).all()
        assert chosen["why"].str.contains("by the second").all()
    assert asked == {1.0: {"highlight"}, 1_000.0: {"label"}}
    found = askable(project)
    only = ask_texts(model, project, 12, "information", questions=("highlight",))
    done = set(found.ids[highlighted(project)])
    assert set(only["question"]) == {"highlight"}
    assert not set(only["item_id"]) & done
    with pytest.raises(InputError, match="label or highlight; got 'score'"):
        ask(None, project, n=1, questions=["score"], progress=quiet)


def test_one_aspect_is_asked_for_where_that_tells_more_by_the_second(capsys):
    project = open_example("cafe-reviews")
    ids = set(askable(project).ids[:80])
    rows = [name in ids for name in project.judgement_table.column("item_id").to_pylist()]
    project = replace(project, judgement_table=project.judgement_table.filter(pa.array(rows)))
    one = ask(None, project, n=6, cost={"score": 2.0, "scores": 60.0}, progress=quiet)
    assert set(one["question"]) == {"score"}
    assert one["aspect"].notna().all()
    every = ask(None, project, n=6, cost={"score": 60.0, "scores": 60.0}, progress=quiet)
    assert set(every["question"]) == {"scores"}
    assert every["aspect"].isna().all()
    assert (every["gain"].to_numpy() >= one["gain"].to_numpy()).all()
    assert main(["ask", "example:cafe-reviews", "-n", "2", "--cost", "score=5s"]) == 0
    assert "as given" in capsys.readouterr().out
