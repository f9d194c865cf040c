"""What stands around a comment: its neighbours, the rest of its thread, its question.

Boosted trees see these beside the features of the comment itself; a linear model gains nothing by them.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from accord.data.threads import Threads
from accord.typing import FloatArray, IntArray

__all__ = ["NEIGHBOUR_CUES", "RANKED_CUES", "thread_context"]

# Columns whose values at the neighbours count, and columns whose rank in the thread counts, where they exist.
NEIGHBOUR_CUES: tuple[str, ...] = (
    "comment/length",
    "comment/by_asker",
    "comment/question_mark",
    "comment/thanks",
    "style/log_length",
    "vector/cosine",
    "similarity/topic_cosine",
    "comment/asker_thanks",
    "comment/asker_asks",
    "comment/asker_other",
    "style/advice",
    "comment/number",
)
RANKED_CUES: tuple[str, ...] = ("style/log_length", "vector/cosine", "similarity/topic_cosine")
_STEPS = (-2, -1, 1, 2)


def thread_context(threads: Threads, columns: Mapping[str, FloatArray]) -> FloatArray:
    """The context of each comment, shape (n_comments, n_columns).

    Parameters
    ----------
    threads : Threads
    columns : mapping of name to array of shape (n_comments,)
        Features of the comments themselves.
    """
    thread, place = threads.thread_of, np.arange(threads.n_comments)
    start, end = threads.offsets[thread], threads.offsets[thread + 1]
    n, before = end - start, place - start
    questions = np.full(threads.n_threads, "", dtype=object) if threads.questions is None else threads.questions
    texts = [text if isinstance(text, str) else "" for text in questions]
    asker = columns["comment/by_asker"]
    asked_before = np.cumsum(asker) - asker
    asked_before -= asked_before[start]
    made = [
        n,
        np.log(n),
        before,
        n - before - 1,
        before / n,
        np.log1p([len(text) for text in texts])[thread],
        np.array([text.count("?") for text in texts])[thread],
        asked_before,
        np.bincount(thread, asker, threads.n_threads)[thread] - asked_before - asker,
    ]
    for name in NEIGHBOUR_CUES:
        if name in columns:
            values = columns[name]
            made += [_neighbour(values, place + step, start, end) for step in _STEPS]
            made.append((np.bincount(thread, values, threads.n_threads)[thread] - values) / np.maximum(n - 1, 1))
    made += [
        pd.Series(columns[name]).groupby(thread).rank(pct=True).to_numpy() for name in RANKED_CUES if name in columns
    ]
    return np.column_stack(made).astype(np.float64)


def _neighbour(values: FloatArray, where: IntArray, start: IntArray, end: IntArray) -> FloatArray:
    """The value at another place of the same thread; 0 beyond its ends."""
    inside = (where >= start) & (where < end)
    return np.where(inside, values[np.where(inside, where, 0)], 0.0)
