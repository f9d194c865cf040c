"""How a comment is written: length, capitals, marks, laughter, whom it speaks of, whether it advises."""

import re

import numpy as np

from accord.data.threads import Threads
from accord.typing import FloatArray

__all__ = ["STYLE_CUES", "style_cues"]

_MARKS = {"exclamations": "!", "questions": "?", "dots": ".."}
_MOST_MARKS = 5
_PATTERNS = {
    "laughter": re.compile(r"\b(?:lol|haha|hehe)|[:;]-?[)dp]", re.IGNORECASE),
    "first_person": re.compile(r"\b(?:i|my|me|we|our)\b", re.IGNORECASE),
    "second_person": re.compile(r"\b(?:you|your|u|ur)\b", re.IGNORECASE),
    "advice": re.compile(
        r"\b(?:try|go to|check|contact|call|visit|ask|located|near|road|center|centre|souq|shop|street)\b",
        re.IGNORECASE,
    ),
    "private_message": re.compile(r"\bpm\b", re.IGNORECASE),
}
STYLE_CUES: tuple[str, ...] = ("log_length", "very_short", "capitals", "digits", *_MARKS, *_PATTERNS)


def style_cues(threads: Threads) -> FloatArray:
    """Features of the writing of each comment, shape (n_comments, len(STYLE_CUES))."""
    texts = threads.texts
    length = np.array([len(text) for text in texts], dtype=np.float64)
    most = np.maximum(length, 1.0)
    columns = [
        np.log1p(length),
        np.array([len(text.split()) <= 3 for text in texts], dtype=np.float64),
        np.array([sum(map(str.isupper, text)) for text in texts]) / most,
        np.array([sum(map(str.isdigit, text)) for text in texts]) / most,
    ]
    columns += [np.array([min(text.count(mark), _MOST_MARKS) for text in texts]) for mark in _MARKS.values()]
    columns += [np.array([bool(pattern.search(text)) for text in texts]) for pattern in _PATTERNS.values()]
    return np.column_stack(columns).astype(np.float64).reshape(len(texts), len(STYLE_CUES))
