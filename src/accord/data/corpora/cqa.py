"""Qatar Living comment threads: is a comment a good answer? (SemEval 2015 and 2016, task 3, subtask A; [JMN16])."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from accord.data.corpora.locate import Root, corpus_file, read_json_lines
from accord.data.threads import Threads
from accord.errors import InputError
from accord.typing import FloatArray, ObjectArray

__all__ = ["FILES", "load", "load_raw", "threads_of", "vectors"]

FILES = {
    "2015/train": "semeval2015_train.jsonl.gz",
    "2015/dev": "semeval2015_dev.jsonl.gz",
    "2015/test": "semeval2015_test.jsonl.gz",
    "2016/train": "semeval2016_train_part2.jsonl.gz",
    "2016/dev": "semeval2016_dev.jsonl.gz",
    "2016/test": "semeval2016_test.jsonl.gz",
}


def load(name: str, root: Root = None) -> Threads:
    """Read one part: the year and the split, as ``"2015/train"``.

    The question's text is its subject and its body, joined by a space, in all parts (the training part of 2015 cannot
    always tell them apart). A comment's text is its body, or its subject where the body is empty. Labels stand as
    published; the task is ``Good`` against the rest.

    Parameters
    ----------
    name : str
        One of ``2015/train``, ``2015/dev``, ``2015/test``, ``2016/train``, ``2016/dev``, ``2016/test``.
    root : path, optional
        The folder that holds ``cqa``; see :func:`~accord.data.corpora.locate.search_path`.
    """
    return threads_of(load_raw(name, root))


def load_raw(name: str, root: Root = None) -> list[dict[str, Any]]:
    """The threads of one part as stored: dictionaries with a question's fields and its ``comments``."""
    if name not in FILES:
        raise InputError(f"a part of cqa is a year and a split; {name!r} is not one of {', '.join(FILES)}.")
    return read_json_lines(corpus_file("cqa", FILES[name], root))


def threads_of(raw: Sequence[dict[str, Any]]) -> Threads:
    """The record of threads given as dictionaries."""
    comments = [comment for thread in raw for comment in thread["comments"]]

    def column(values: list[Any]) -> ObjectArray:
        out = np.empty(len(values), dtype=object)
        out[:] = values
        return out

    return Threads(
        thread_ids=column([thread["id"] for thread in raw]),
        offsets=np.array([0, *accumulate(len(thread["comments"]) for thread in raw)], dtype=np.int64),
        comment_ids=column([comment["id"] for comment in comments]),
        texts=column([comment["body"] or comment["subject"] or "" for comment in comments]),
        questions=column([f"{thread['subject'] or ''} {thread['body'] or ''}".strip() for thread in raw]),
        askers=column([thread["user"] for thread in raw]),
        categories=column([thread["category"] for thread in raw]),
        authors=column([comment["user"] for comment in comments]),
        labels=column([comment["label"] for comment in comments]),
    )


def vectors(root: Root = None) -> tuple[ObjectArray, FloatArray]:
    """Ids of all questions and comments of 2015 and their unit-length sentence vectors, shape (n, 384)."""
    with np.load(corpus_file("cqa", "minilm384_2015.npz", root), allow_pickle=False) as arrays:
        return arrays["ids"].astype(object), arrays["X"].astype(np.float32)
