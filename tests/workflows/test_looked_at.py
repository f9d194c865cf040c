"""What asking looks at in large projects: a part drawn at random, with all that pulls the texts of it."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from accord.data.project import ITEMS, LINKS, with_schema
from accord.workflows import ask, looked_at
from accord.workflows.ask import ask_texts, askable
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example


def chosen(project, seed=0, **limits):
    found = askable(project)
    lengths = [len(text) for text in found.texts]
    open_ = ~found.given
    rng = np.random.default_rng(seed)
    return found, looked_at.looked_at(project, found.ids, lengths, found.groups, open_, rng, **limits)


@pytest.fixture
def small_limits(monkeypatch):
    for name, size in (("_MOST", 30), ("_FEWEST", 5), ("_AROUND", 6)):
        monkeypatch.setattr(looked_at, name, size)


def unjudged(name):
    project = open_example(name)
    return replace(project, judgement_table=project.judgement_table.slice(0, 0))


def test_of_a_small_project_everything_is_looked_at():
    for name in ("cafe-notes", "cafe-threads", "cafe-statements"):
        assert chosen(unjudged(name))[1] is None


@pytest.mark.usefixtures("small_limits")
def test_threads_are_looked_at_whole_with_their_questions():
    project = unjudged("cafe-threads")
    found, rows = chosen(project)
    assert 30 <= rows.size < 60
    threads = set(found.groups[rows])
    assert set(np.flatnonzero(np.isin(found.groups, list(threads)))) == set(rows)
    part = looked_at.part_of(project, found.ids[rows])
    assert part.threads().n_comments == rows.size
    assert set(part.item_table.column("item_id").to_pylist()) >= threads & set(
        project.item_table.column("item_id").to_pylist()
    )


@pytest.mark.usefixtures("small_limits")
def test_of_linked_texts_those_around_some_are_looked_at():
    n = 400
    ids = [f"t{i}" for i in range(n)]
    ring = with_schema({"src_id": ids, "dst_id": [*ids[1:], ids[0]]}, LINKS)
    items = with_schema({"item_id": ids, "text": ["x"] * n}, ITEMS)
    project = replace(unjudged("cafe-statements"), item_table=items, link_table=ring)
    found, rows = chosen(project)
    part = looked_at.part_of(project, found.ids[rows])
    assert 30 <= rows.size <= 36
    assert part.counts["links"] >= rows.size - rows.size // 6 - 1  # pieces of six in a row, rarely cut by another one
    ends = {*part.links().source, *part.links().target}
    assert ends <= set(found.ids[rows])


@pytest.mark.usefixtures("small_limits")
def test_every_open_text_may_be_looked_at_and_enough_are():
    project = unjudged("cafe-notes")
    seen = set()
    for seed in range(60):
        found, rows = chosen(project, seed)
        assert rows.size == 30
        seen |= set(rows.tolist())
    assert len(seen) == len(found.ids)
    assert chosen(project, least=len(found.ids))[1] is None
    assert chosen(project, least=50)[1].size == 50


def test_the_number_of_texts_that_are_read_does_not_grow_with_the_project():
    project = open_example("cafe-notes")
    table, n = project.item_table, project.item_table.num_rows
    copies = [
        table.set_column(0, ITEMS.field("item_id"), pa.array([f"{name} {k}" for name in table["item_id"].to_pylist()]))
        for k in range(20)
    ]
    model = task_of("rationales").train(project, {}, lambda what, done, total: None)
    read = []

    def words(texts):
        read.append(len(texts))
        return ask.weighted_words(texts)

    for k in (1, 20):
        large = replace(project, item_table=pa.concat_tables([table, *copies[:k]]))
        asked = ask_texts(model, large, 10, "information", words=words)
        assert asked["item_id"].nunique() == 10
    assert read[0] <= 2 * n
    assert read[1] <= looked_at._MOST + ask._GIVEN < large.counts["items"]
