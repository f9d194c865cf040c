"""Movie reviews with rationales from the files with inline ``<POS>`` and ``<NEG>`` tags."""

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from accord.data.corpora.locate import Root
from accord.data.corpora.rationales import MovieRationales, TokenSpans
from accord.errors import InputError
from original_files.archive import decoded, published_files

__all__ = ["load", "parse_tags"]

# An R in the name says that the review was annotated.
_NAME = re.compile(r"(?P<label>pos|neg)(?P<annotated>R?)_(?P<number>\d{3})\.txt")
_TAG = {"<POS>": (1, True), "</POS>": (1, False), "<NEG>": (-1, True), "</NEG>": (-1, False)}


def load(root: Root = None, *, folder: Root = None) -> MovieRationales:
    """The reviews and annotator A0's spans; the columns ``sentences``, ``edited``, ``sources`` and ERASER are missing.

    Positive reviews come first, by number. The vocabulary is made of the types that occur four times or more.
    """
    rows: list[dict[str, Any]] = []
    for name, content in published_files("rationales", root, folder=folder):
        match = _NAME.fullmatch(PurePosixPath(name).name)
        if match is None or not PurePosixPath(name).parent.name.startswith("withRats"):
            continue
        label = 1 if match["label"] == "pos" else -1
        tokens, spans = parse_tags(decoded(name, content), label=label, name=name)
        rows.append(
            {
                "ids": f"{match['label']}/cv{match['number']}",
                "labels": label,
                "folds": int(match["number"]) // 100,
                "tokens": tokens,
                "spans": spans if match["annotated"] else None,
            }
        )
    if not rows:
        raise InputError(
            "the published movie reviews are files such as withRats_pos/posR_000.txt; there is none. Name their folder."
        )
    rows.sort(key=lambda row: (-row["labels"], row["ids"]))
    marked = np.empty(len(rows), dtype=object)
    marked[:] = [row["spans"] for row in rows]
    reviews = pd.DataFrame(rows).assign(spans=marked)
    counts = Counter(token for tokens in reviews["tokens"] for token in tokens)
    return MovieRationales(reviews, {}, sorted(token for token, n in counts.items() if n >= 4))


def parse_tags(text: str, *, label: int, name: str = "the review") -> tuple[list[str], TokenSpans]:
    """Tokens of a text between spaces, without its tags, and the token spans ``[start, end)`` between tags.

    Tags stand alone, never inside each other, and agree with the review's label, 1 or −1.
    """
    tokens: list[str] = []
    spans: TokenSpans = []
    start: int | None = None
    for token in text.split():
        if token not in _TAG:
            tokens.append(token)
            continue
        side, opens = _TAG[token]
        if side != label or opens != (start is None):
            raise InputError(
                f"the tags of a review must open and close in turn and agree with its label; {name} has {token} after "
                f"token {len(tokens)}. Correct it."
            )
        if start is None:
            start = len(tokens)
        else:
            spans.append((start, len(tokens)))
            start = None
    if start is not None:
        raise InputError(f"every tag must be closed; {name} leaves the one after token {start} open. Close it.")
    return tokens, spans
