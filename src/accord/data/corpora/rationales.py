"""Movie reviews (Pang & Lee 2004) with the words that made an annotator decide (Zaidan & al. 2007; [ZE08])."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from accord.data.corpora.locate import Root, corpus_file, read_json_lines, read_lines
from accord.data.documents import Items
from accord.data.rationales import Rationales
from accord.errors import InputError
from accord.typing import IntArray

__all__ = ["MovieRationales", "TokenSpans", "load", "rationales_of"]

TokenSpans = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class MovieRationales:
    """The corpus: 2,000 reviews, half of them positive, in ten folds.

    Attributes
    ----------
    reviews : DataFrame
        One row a review: ``ids``; ``labels``, 1 or −1; ``folds``, 0 to 9, where 9 is the blind test set; ``tokens``, a
        list of strings; ``sentences``, the position of each sentence's first token; ``spans``, the token spans
        ``[start, end)`` that annotator A0 marked, in order, ``[]`` where nothing was marked and ``None`` where nobody
        annotated (fold 9); ``edited``, whether the text differs from polarity v2.0; ``sources``, its file there.
    eraser : mapping of id to token spans
        A second annotation: 50 reviews of fold 8 and all of fold 9. Training on the latter breaks the blind test.
    vocab : list of str
        The types that occur four times or more, sorted.
    """

    reviews: pd.DataFrame
    eraser: Mapping[str, TokenSpans]
    vocab: list[str]

    @property
    def items(self) -> Items:
        """The reviews, each the text of its tokens joined by spaces; the group is the fold."""
        return Items(
            self.reviews["ids"].to_numpy(object),
            texts=np.array([" ".join(tokens) for tokens in self.reviews["tokens"]], dtype=object),
            groups=self.reviews["folds"].to_numpy(object),
        )

    def rationales(self, annotator: Literal["A0", "ERASER"] = "A0") -> Rationales:
        """The spans of one annotator as characters of the texts of :attr:`items`."""
        if annotator not in ("A0", "ERASER"):
            raise InputError(f"an annotator of the movie reviews is 'A0' or 'ERASER'; this is {annotator!r}.")
        own = list(self.reviews["spans"])
        spans = own if annotator == "A0" else [self.eraser.get(name) for name in self.reviews["ids"]]
        return rationales_of(self.items, list(self.reviews["tokens"]), spans, annotator)


def rationales_of(items: Items, tokens: list[list[str]], spans: list[TokenSpans | None], annotator: str) -> Rationales:
    """Token spans as character spans of the texts ``" ".join(tokens)``; ``None`` stands for a text not annotated."""
    item, start, end = [], [], []
    for place, (words, marked) in enumerate(zip(tokens, spans, strict=True)):
        if not marked:
            continue
        starts = token_starts(words)
        for first, last in marked:
            item.append(place)
            start.append(int(starts[first]))
            end.append(int(starts[last]) - 1)
    return Rationales(
        items,
        np.array(item, dtype=np.int32),
        np.array(start, dtype=np.int32),
        np.array(end, dtype=np.int32),
        annotator=np.zeros(len(item), dtype=np.int32),
        annotators=np.array([annotator], dtype=object),
        annotated=np.array([marked is not None for marked in spans], dtype=bool),
    )


def token_starts(tokens: list[str]) -> IntArray:
    """The first character of each token in ``" ".join(tokens)``, and of the one that would follow, shape (n + 1,)."""
    lengths = np.fromiter((len(token) + 1 for token in tokens), np.int64, len(tokens))
    return np.concatenate([[0], np.cumsum(lengths)])


def load(root: Root = None) -> MovieRationales:
    """Read the corpus.

    Parameters
    ----------
    root : path, optional
        The folder that holds ``rationales``; see :func:`~accord.data.corpora.locate.search_path`.
    """
    raw = read_json_lines(corpus_file("rationales", "reviews.jsonl.gz", root))
    spans = np.empty(len(raw), dtype=object)
    spans[:] = [_spans(review["rationales"]) for review in raw]
    reviews = pd.DataFrame(
        {
            "ids": [review["id"] for review in raw],
            "labels": np.array([review["label"] for review in raw], dtype=np.int64),
            "folds": np.array([review["fold"] for review in raw], dtype=np.int64),
            "tokens": [review["tokens"].split(" ") for review in raw],
            "sentences": [review["sentences"] for review in raw],
            "spans": spans,
            "edited": np.array([review["edited"] for review in raw], dtype=bool),
            "sources": [review["source"] for review in raw],
        }
    )
    eraser = read_json_lines(corpus_file("rationales", "eraser_rationales.jsonl.gz", root))
    vocab = read_lines(corpus_file("rationales", "vocab.txt.gz", root))
    return MovieRationales(
        reviews,
        {review["id"]: _spans(review["rationales"]) or [] for review in eraser},
        [line.decode() for line in vocab],
    )


def _spans(raw: list[list[int]] | None) -> TokenSpans | None:
    return None if raw is None else [(first, last) for first, last in raw]
