"""Texts with classes and highlighted tokens, as the arrays that the model of the annotator reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.rationales.binary_chain import BinaryChains, ChainCounts, observed_counts
from accord.rationales.features import Tokens, Vocabulary, transition_table
from accord.rationales.highlights import Annotation
from accord.scale.partition import MOST_BLOCKS, cut
from accord.scale.workers import Workers
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["KeyedChains", "MarkedTexts", "in_blocks", "marked_texts"]

# Words and tokens of a block: some hundred long texts.
BLOCK_COST = 400_000


@dataclass(frozen=True, eq=False)
class MarkedTexts:
    """Texts with classes, some with highlighted tokens, as arrays.

    A text that nobody annotated has no chain; one that two people annotated has two. A chain has a class of its own,
    which is the one that its annotator gave reasons for ([ZE08] footnote 4).
    """

    design: Any  # sparse (n_texts, n_features); the first n_words columns are the word types
    labels: IntArray  # (n_texts,) class codes
    log_prior: FloatArray  # (n_classes,) score of each class in a text without any words
    n_words: int
    words: IntArray  # (n_tokens,) word type of each token of each chain; n_words where it has none
    contexts: IntArray  # (n_tokens + n_chains,) kind of each place between tokens
    tags: BoolArray  # (n_tokens,) whether a token was highlighted
    offsets: IntArray  # (n_chains + 1,)
    chain_text: IntArray  # (n_chains,) text of each chain
    chain_class: IntArray  # (n_chains,) class that the highlights of each chain are reasons for
    chain_habit: IntArray  # (n_chains,) row of φ: 0 the habits that all share, 1, 2, … those of one person
    n_habits: int
    transition_features: Any  # sparse (4 · n_contexts, n_transition_features)
    thresholds: tuple[float, ...] = ()  # of further relevance features
    ease: FloatArray | None = None  # (n_features,) standard deviation of a weight, as a factor; None: all alike

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.log_prior)

    @property
    def n_chains(self) -> int:
        """Number of annotations."""
        return len(self.chain_text)

    @property
    def n_features(self) -> int:
        """Number of columns of the design."""
        return int(self.design.shape[1])

    @property
    def n_transitions(self) -> int:
        """Number of transition features."""
        return int(self.transition_features.shape[1])

    @cached_property
    def design_transposed(self) -> Any:
        """The design with features as rows, in the layout in which its products are fast."""
        return self.design.T.tocsr()

    @cached_property
    def one_hot(self) -> FloatArray:
        """Labels as rows of zeros and a one, shape (n_texts, n_classes)."""
        return np.eye(self.n_classes)[self.labels]

    @cached_property
    def keyed(self) -> "KeyedChains":
        """The chains, keyed by the habits, class and word of each token, and what was highlighted in them."""
        lengths = np.diff(self.offsets)
        n_cells = self.n_classes * (self.n_words + 1)
        cells = np.repeat(self.chain_habit * n_cells + self.chain_class * (self.n_words + 1), lengths) + self.words
        used, keys = np.unique(cells, return_inverse=True)
        n_contexts = self.transition_features.shape[0] // 4
        places = np.repeat(self.chain_habit * n_contexts, lengths + 1) + self.contexts
        kinds, contexts = np.unique(places, return_inverse=True)
        chains = BinaryChains(_narrow(keys, len(used)), _narrow(contexts, len(kinds)), self.offsets)
        # Rows of the transition features, with one set of columns for each row of φ.
        rows = (4 * (kinds % n_contexts)[:, None] + np.arange(4)).ravel()
        features = sp.csr_matrix(self.transition_features)[rows]
        shift = np.repeat(np.repeat(kinds // n_contexts, 4) * self.n_transitions, np.diff(features.indptr))
        shape = (len(rows), self.n_habits * self.n_transitions)
        features = sp.csr_matrix((features.data, features.indices + shift, features.indptr), shape=shape)
        counts = observed_counts(chains, self.tags, n_keys=len(used), n_contexts=len(kinds))
        return KeyedChains(chains, counts, used // n_cells, used % n_cells, features, features.T.tocsr())

    @cached_property
    def neighbourhood(self) -> IntArray:
        """The word of each token, of the one before it and of the one after it in its chain, shape (3, n_tokens).

        ``n_words`` where there is none.
        """
        before, after = np.full((2, len(self.words)), self.n_words, dtype=self.words.dtype)
        some = np.diff(self.offsets) > 0
        before[1:], after[:-1] = self.words[:-1], self.words[1:]
        before[self.offsets[:-1][some]] = after[self.offsets[1:][some] - 1] = self.n_words
        return np.stack([self.words, before, after])

    def subset(self, texts: AnyArray, *, marked: AnyArray | None = None) -> "MarkedTexts":
        """Some texts, in the given order, with their highlights; only those under ``marked`` (n_texts,) if given."""
        texts = np.arange(self.n_texts)[texts]
        place = np.full(self.n_texts, -1)
        place[texts] = np.arange(len(texts))
        keep = place[self.chain_text] >= 0
        if marked is not None:
            keep &= np.asarray(marked)[self.chain_text]
        rows = np.flatnonzero(keep)
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        tokens = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        first = offsets[:-1] + np.arange(len(rows))
        places = np.arange(offsets[-1] + len(rows)) + np.repeat(self.offsets[rows] + rows - first, lengths + 1)
        return replace(
            self,
            design=self.design[texts],
            labels=self.labels[texts],
            words=self.words[tokens],
            contexts=self.contexts[places],
            tags=self.tags[tokens],
            offsets=offsets,
            chain_text=place[self.chain_text[rows]],
            chain_class=self.chain_class[rows],
            chain_habit=self.chain_habit[rows],
        )

    def compact(self) -> tuple["MarkedTexts", IntArray]:
        """The same texts without the columns that none of them uses, and the columns kept.

        A column that no text uses has weight zero in every fit.
        """
        design = sp.csc_matrix(self.design)
        used = np.diff(design.indptr) > 0
        used[self.words[self.words < self.n_words]] = True
        columns = np.flatnonzero(used)
        n_words = int(used[: self.n_words].sum())
        place = np.full(self.n_words + 1, n_words, dtype=np.int32)
        place[columns[:n_words]] = np.arange(n_words)
        ease = None if self.ease is None else self.ease[columns]
        small = replace(self, design=design[:, columns].tocsr(), n_words=n_words, words=place[self.words], ease=ease)
        return small, columns


@dataclass(frozen=True, eq=False)
class KeyedChains:
    """Chains with one table of scores for all annotators, and what was highlighted in them."""

    chains: BinaryChains
    counts: ChainCounts
    habit: IntArray  # (n_keys,) row of φ of each key
    word: IntArray  # (n_keys,) class · (n_words + 1) + word of each key
    transitions: Any  # sparse (4 · n_places, n_habits · n_transitions) features of each kind of place
    transitions_transposed: Any

    @cached_property
    def token_chains(self) -> BinaryChains:
        """The same chains with one key a token, where the scores of tokens depend on more than their keys."""
        return BinaryChains(np.arange(len(self.chains.keys), dtype=np.int64), self.chains.contexts, self.chains.offsets)


def _narrow(codes: IntArray, n: int) -> IntArray:
    """Codes below n as small integers, which the chains read faster."""
    return codes.astype(np.uint16 if n < 2**16 else np.int32)


def marked_texts(
    tokens: Tokens,
    vocabulary: Vocabulary,
    design: Any,
    codes: IntArray,
    annotations: list[Annotation],
    *,
    log_prior: FloatArray,
    n_habits: int,
    transitions: str,
    thresholds: tuple[float, ...] = (),
) -> MarkedTexts:
    """The arrays of the model.

    Parameters
    ----------
    tokens : Tokens
    vocabulary : Vocabulary
    design : sparse matrix of shape (n_texts, n_features)
        Its first columns are the vocabulary's words.
    codes : int array of shape (n_texts,)
        Classes.
    annotations : list of Annotation
    log_prior : array of shape (n_classes,)
    n_habits : int
        Rows of φ.
    transitions : str
        The set of transition features.
    thresholds : tuple of float
        Of further relevance features.
    """
    words = [vocabulary.codes(tokens.strings[one.row]) for one in annotations]
    places = [tokens.places_of(one.row) for one in annotations]
    contexts, features = transition_table(np.concatenate([*places, np.zeros(0, dtype=np.int64)]), transitions)
    return MarkedTexts(
        design=design,
        labels=codes,
        log_prior=log_prior,
        n_words=vocabulary.n_words,
        words=np.concatenate([*words, np.zeros(0, dtype=np.int32)]),
        contexts=contexts,
        tags=np.concatenate([*(one.tags for one in annotations), np.zeros(0, dtype=bool)]),
        offsets=np.cumsum([0, *map(len, words)]).astype(np.int64),
        chain_text=np.array([one.row for one in annotations], dtype=np.int64),
        chain_class=np.array([one.label for one in annotations], dtype=np.int64),
        chain_habit=np.array([one.habit for one in annotations], dtype=np.int64),
        n_habits=n_habits,
        transition_features=features,
        thresholds=thresholds,
    )


@dataclass(frozen=True, eq=False)
class BlockedTexts(MarkedTexts):
    """Texts whose losses are summed where their blocks are."""

    blocks: Any = None  # Blocks


@contextmanager
def in_blocks(texts: MarkedTexts, workers: Workers) -> Iterator[MarkedTexts]:
    """The same texts, with their losses computed by the workers while the context lasts."""
    costs = np.bincount(texts.chain_text, np.diff(texts.offsets), minlength=texts.n_texts) + 50.0
    parts = [texts.subset(np.arange(texts.n_texts)[part]) for part in cut(costs, BLOCK_COST, most=MOST_BLOCKS)]
    with workers.open(parts) as blocks:
        yield BlockedTexts(**{entry.name: getattr(texts, entry.name) for entry in fields(MarkedTexts)}, blocks=blocks)
