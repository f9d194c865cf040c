"""Threads: tables in and out, ragged subsets, refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.data import Threads
from accord.errors import InputError
from tables import FORMS, one_sentence

FRAME = pd.DataFrame(
    {
        "item_id": ["c1", "c2", "c3", "c4"],
        "text": ["a", "b", "", "d"],
        "group_id": ["t2", "t1", "t2", "t1"],
        "question": ["q2", "q1", "q2", "q1"],
        "author_id": ["x", None, "y", "x"],
        "label": ["Good", "Bad", None, "Good"],
    }
)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_comes_back_thread_by_thread(form):
    threads = Threads.from_table(FORMS[form](FRAME))
    assert threads.thread_ids.tolist() == ["t2", "t1"]
    assert threads.comment_ids.tolist() == ["c1", "c3", "c2", "c4"]
    assert threads.offsets.tolist() == [0, 2, 4]
    assert threads.questions.tolist() == ["q2", "q1"]
    assert threads.labels.tolist() == ["Good", None, "Bad", "Good"]
    assert threads.authors.tolist() == ["x", "y", None, "x"]
    back = threads.to_table()
    pd.testing.assert_frame_equal(Threads.from_table(back).to_table(), back)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.data())
def test_a_subset_takes_whole_threads(sizes, data):
    n = sum(sizes)
    threads = Threads(
        [f"t{i}" for i in range(len(sizes))],
        np.concatenate([[0], np.cumsum(sizes)]),
        [f"c{i}" for i in range(n)],
        [f"text {i}" for i in range(n)],
        labels=[f"l{i}" for i in range(n)],
    )
    rows = data.draw(st.lists(st.integers(0, len(sizes) - 1), unique=True))
    part = threads.subset(np.array(rows, dtype=int))
    assert part.n_threads == len(rows)
    for place, row in enumerate(rows):
        own = slice(threads.offsets[row], threads.offsets[row + 1])
        got = slice(part.offsets[place], part.offsets[place + 1])
        assert part.comment_ids[got].tolist() == threads.comment_ids[own].tolist()
        assert part.labels[got].tolist() == threads.labels[own].tolist()
    assert part.thread_of.tolist() == np.repeat(np.arange(len(rows)), np.diff(part.offsets)).tolist()


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Threads.from_table(FRAME.drop(columns="group_id")), "group_id is missing"),
        (lambda: Threads.from_table(FRAME.assign(group_id=["t", None, "t", "t"])), "row 2 has no group_id"),
        (lambda: Threads.from_table(FRAME.assign(item_id=["c", "d", "c", "e"])), "'c' stands in rows"),
        (lambda: Threads(["t"], [0, 2], ["c"], ["x"]), "offsets must rise"),
        (lambda: Threads(["t"], [0, 1], ["c"], ["x"], labels=["a", "b"]), "labels must have one entry a comment"),
        (lambda: Threads(["t"], [0, 1], ["c"], ["x"], questions=[]), "questions must have one entry a thread"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)
