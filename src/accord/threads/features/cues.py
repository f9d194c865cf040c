"""What a comment says and does in its thread: words, marks, style, who speaks, when, and to whom.

The lists follow the published systems for this task (Nicosia et al. 2015, Barrón-Cedeño et al. 2015).
"""

import re

import numpy as np
import pandas as pd
from numba import njit

from accord.data.threads import Threads
from accord.typing import BoolArray, FloatArray, IntArray, ObjectArray

__all__ = ["COMMENT_CUES", "STYLE_CUES", "THREAD_CUES", "comment_cues", "style_cues", "thread_cues"]

_WORDS = ("yes", "sure", "no", "can", "neither", "okay", "sorry")
_WORD_PATTERNS = {
    word: re.compile(rf"\b{'(?:okay|ok)' if word == 'okay' else word}\b", re.IGNORECASE) for word in _WORDS
}
_QUESTION = re.compile("[?？؟]")
_THANKS = re.compile(r"\b(?:thanks?|thankyou|thanx|thnx|thx|tnx|tks|appreciat\w*)\b", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]@[\w-]+\.[\w.]")  # each search is linear: nothing long stands before a fixed sign
_URL = re.compile(r"https?://|www\.|\w-*\.(?:com|net|org|gov|edu|qa)\b", re.IGNORECASE)
_REPEATED = re.compile(r"(\S)\1\1")
_LONG_WORD = re.compile(r"[^\W\d_]{15,}")
_STARTS_YES = re.compile(r"^\W*(?:yes|yeah|yep|yup)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d{3,}")
_POSITIVE = re.compile(
    r"\b(?:good|great|best|better|nice|love|excellent|happy|perfect|recommend\w*|well|glad|enjoy\w*|easy|helpful|"
    r"beautiful|wonderful|amazing|awesome|fine|cheap|cheaper|fantastic|safe|friendly|luck|welcome|delicious)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:bad|worse|worst|hate|terrible|horrible|awful|sad|stupid|poor|wrong|expensive|problem\w*|scam|fake|never|"
    r"difficult|hard|unfortunately|afraid|worry|sick|dirty|rude|illegal|useless|waste|boring|ugly|idiot\w*|damn)\b",
    re.IGNORECASE,
)

_MARKS = {"exclamations": "[!！]", "questions": _QUESTION.pattern, "dots": r"\.\."}
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

COMMENT_CUES: tuple[str, ...] = (
    "by_asker",
    "asker_asks",
    "asker_thanks",
    "asker_other",
    "email",
    "url",
    "length",
    "repeated_characters",
    "long_word",
    *(f"has_{word}" for word in _WORDS),
    "question_mark",
    "at_sign",
    "starts_yes",
    "thanks",
    "number",
    "positive_words",
    "negative_words",
    "empty",
)

_DIALOGUES = tuple(f"dialogue_{part}_{who}" for who in ("asker", "other") for part in ("start", "in", "end"))
THREAD_CUES: tuple[str, ...] = (
    "later_asker_thanks",
    "later_asker_other",
    "later_asker_asks",
    "earlier_asker_asks",
    "user_writes_again",
    "user_first",
    "user_middle",
    "user_last",
    "user_count",
    *_DIALOGUES,
    "position",
    "alone",
)


def _found(pattern: re.Pattern[str], texts: ObjectArray) -> FloatArray:
    return np.fromiter((pattern.search(text) is not None for text in texts), dtype=np.float64, count=len(texts))


def _counted(pattern: re.Pattern[str], texts: ObjectArray) -> FloatArray:
    return np.fromiter((min(len(pattern.findall(text)), 5) for text in texts), dtype=np.float64, count=len(texts))


def _by_asker(threads: Threads) -> BoolArray:
    """Whether each comment is by the one who asked; false where either is not known."""
    if threads.askers is None or threads.authors is None:
        return np.zeros(threads.n_comments, dtype=bool)
    askers = threads.askers[threads.thread_of]
    known = pd.notna(askers) & pd.notna(threads.authors)
    return np.asarray(known & (askers == threads.authors), dtype=bool)


def _asker_moves(threads: Threads) -> tuple[BoolArray, BoolArray, BoolArray]:
    """The asker's comments with a question, with thanks, and with neither."""
    asker = _by_asker(threads)
    asks = asker & (_found(_QUESTION, threads.texts) > 0)
    thanks = asker & (_found(_THANKS, threads.texts) > 0)
    return asks, thanks, asker & ~asks & ~thanks


def comment_cues(threads: Threads) -> FloatArray:
    """Features of each comment by itself, shape (n_comments, len(COMMENT_CUES))."""
    texts = threads.texts
    asks, thanks, other = _asker_moves(threads)
    length = np.fromiter((min(len(text), 400) / 400.0 for text in texts), dtype=np.float64, count=len(texts))
    columns = {
        "by_asker": _by_asker(threads),
        "asker_asks": asks,
        "asker_thanks": thanks,
        "asker_other": other,
        "email": _found(_EMAIL, texts),
        "url": _found(_URL, texts),
        "length": length,
        "repeated_characters": _found(_REPEATED, texts),
        "long_word": _found(_LONG_WORD, texts),
        **{f"has_{word}": _found(_WORD_PATTERNS[word], texts) for word in _WORDS},
        "question_mark": _found(_QUESTION, texts),
        "at_sign": np.array(["@" in text for text in texts], dtype=bool),
        "starts_yes": _found(_STARTS_YES, texts),
        "thanks": _found(_THANKS, texts),
        "number": _found(_NUMBER, texts),
        "positive_words": _counted(_POSITIVE, texts),
        "negative_words": _counted(_NEGATIVE, texts),
        "empty": np.array([not text.strip() for text in texts], dtype=bool),
    }
    return np.column_stack([np.asarray(columns[name], dtype=np.float64) for name in COMMENT_CUES])


def _nearness(asker: BoolArray, flags: BoolArray, start: IntArray, end: IntArray, *, later: bool) -> FloatArray:
    """How near the asker's next (or last) comment is, if it is a flagged one: 1.0 falling by 0.1 a comment, else 0.

    Only the nearest comment of the asker counts, and the asker's own comments have 0.
    """
    place = np.arange(len(asker))
    if later:
        nearest = np.minimum.accumulate(np.where(asker, place, len(asker))[::-1])[::-1]
        inside, distance = nearest < end, nearest - place
    else:
        nearest = np.maximum.accumulate(np.where(asker, place, -1))
        inside, distance = nearest >= start, place - nearest
    counts = inside & ~asker
    counts[counts] = flags[nearest[counts]]
    return np.where(counts, np.maximum(1.0 - 0.1 * (distance - 1), 0.0), 0.0)


@njit(cache=True, error_model="numpy")
def dialogue_parts(offsets: IntArray, users: IntArray, askers: IntArray) -> FloatArray:
    """Start, inside and end of dialogues with the asker (columns 0–2) and between two others (columns 3–5).

    Two users are in a dialogue where one of them writes, the other one writes, and the first writes again. The
    dialogue runs from the first to the last comment of such exchanges between the two. ``users`` and ``askers`` are
    codes inside the thread, −1 for an unknown user, who is in no dialogue.
    """
    parts = np.zeros((len(users), 6))
    for t in range(len(offsets) - 1):
        begin, end = offsets[t], offsets[t + 1]
        n_users = 0
        for i in range(begin, end):
            n_users = max(n_users, users[i] + 1)
        first = np.full((n_users, n_users), end)
        last = np.full((n_users, n_users), -1)
        for again in range(2):
            for i in range(begin, end):
                u = users[i]
                if u < 0:
                    continue
                answer = i + 1
                while answer < end and users[answer] != u:
                    answer += 1
                if answer == end:
                    continue
                for k in range(i + 1, answer):
                    v = users[k]
                    if v < 0:
                        continue
                    low, high = min(u, v), max(u, v)
                    if again == 0:
                        first[low, high] = min(first[low, high], i)
                        last[low, high] = max(last[low, high], answer)
                    else:
                        column = 0 if askers[t] >= 0 and (u == askers[t] or v == askers[t]) else 3
                        for place in (i, k, answer):
                            if place == first[low, high]:
                                parts[place, column] = 1.0
                            elif place == last[low, high]:
                                parts[place, column + 2] = 1.0
                            else:
                                parts[place, column + 1] = 1.0
    return parts


def _user_codes(threads: Threads) -> tuple[IntArray, IntArray]:
    """Codes of authors and askers inside each thread, numbered from 0; −1 where not known."""
    thread = threads.thread_of
    authors = np.full(threads.n_comments, None, dtype=object) if threads.authors is None else threads.authors
    askers = np.full(threads.n_threads, None, dtype=object) if threads.askers is None else threads.askers
    everyone, _ = pd.factorize(np.concatenate([askers, authors]), use_na_sentinel=True)
    owner = np.concatenate([np.arange(threads.n_threads), thread])
    known = everyone >= 0
    codes = np.full(len(everyone), -1, dtype=np.int64)
    pairs, inverse = np.unique(np.column_stack([owner[known], everyone[known]]), axis=0, return_inverse=True)
    before = np.searchsorted(pairs[:, 0], np.arange(threads.n_threads))
    codes[known] = inverse.ravel() - before[owner[known]]
    return codes[threads.n_threads :], codes[: threads.n_threads]


def thread_cues(threads: Threads) -> FloatArray:
    """Features of each comment's place in its thread, shape (n_comments, len(THREAD_CUES))."""
    thread = threads.thread_of
    start, end = threads.offsets[thread], threads.offsets[thread + 1]
    place = np.arange(threads.n_comments) - start
    asker = _by_asker(threads)
    asks, thanks, other = _asker_moves(threads)
    users, askers = _user_codes(threads)
    # An unknown user counts as someone who wrote this comment alone.
    unknown = users < 0
    person = np.where(unknown, -1 - np.arange(len(users)), users)
    frame = pd.DataFrame({"thread": thread, "person": person}).groupby(["thread", "person"], sort=False)
    rank = frame.cumcount().to_numpy()
    total = frame["person"].transform("size").to_numpy() if len(users) else np.zeros(0, dtype=np.int64)
    again = total >= 2
    columns = {
        "later_asker_thanks": _nearness(asker, thanks, start, end, later=True),
        "later_asker_other": _nearness(asker, other, start, end, later=True),
        "later_asker_asks": _nearness(asker, asks, start, end, later=True),
        "earlier_asker_asks": _nearness(asker, asks, start, end, later=False),
        "user_writes_again": again,
        "user_first": again & (rank == 0),
        "user_middle": again & (rank > 0) & (rank < total - 1),
        "user_last": again & (rank == total - 1),
        "user_count": np.minimum(rank + 1, 10) / 10.0,
        **dict(zip(_DIALOGUES, dialogue_parts(threads.offsets, users, askers).T, strict=True)),
        "position": np.minimum(place + 1, 20) / 20.0,
        "alone": end - start == 1,
    }
    return np.column_stack([np.asarray(columns[name], dtype=np.float64) for name in THREAD_CUES])


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
    columns += [np.array([min(len(re.findall(mark, text)), _MOST_MARKS) for text in texts]) for mark in _MARKS.values()]
    columns += [np.array([bool(pattern.search(text)) for text in texts]) for pattern in _PATTERNS.values()]
    return np.column_stack(columns).astype(np.float64).reshape(len(texts), len(STYLE_CUES))
