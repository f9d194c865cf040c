"""A classifier that learns from the words people highlight: loss and gradient ([ZE08] eq. 4).

    Σᵢ log p_θ(yᵢ|xᵢ) − ‖θ‖²/2σ_θ²  +  C ( Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) − ‖φ‖²/2σ_φ² )

p_θ is log-linear. p_φ is a chain over the tags inside/outside of every token, and sees a word only through its weight
for the text's class: words that matter to the classifier are likely to be highlighted, so what was highlighted says
which words should matter. One φ an annotator.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.engines.chain import viterbi
from accord.engines.numerics import sigmoid
from accord.rationales.binary_chain import (
    SCORE_LIMIT,
    BinaryChains,
    ChainCounts,
    as_graphs,
    expected_counts,
    inside_marginals,
    observed_counts,
)
from accord.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "EMISSIONS",
    "MarkedTexts",
    "Strengths",
    "best_tags",
    "best_threshold",
    "class_loss",
    "class_maps",
    "emission_scores",
    "highlight_loss",
    "inside_probabilities",
    "loss",
    "worth_of_highlights",
]

EMISSIONS = ("rel", "antirel")
_SLOPE = 10.0  # s in B_s, [ZE08] eq. 3


@dataclass(frozen=True, eq=False)
class MarkedTexts:
    """Texts with classes, some with highlighted tokens, as arrays.

    A text that nobody annotated has no chain; one that two people annotated has two.
    """

    design: Any  # sparse or dense (n_texts, n_features); the first n_words columns are the word types
    labels: IntArray  # (n_texts,) class codes
    n_classes: int
    n_words: int
    words: IntArray  # (n_tokens,) word type of each token of each chain; n_words where it has none
    contexts: IntArray  # (n_tokens + n_chains,) kind of each place between tokens
    tags: BoolArray  # (n_tokens,) whether a token was highlighted
    offsets: IntArray  # (n_chains + 1,)
    chain_text: IntArray  # (n_chains,) text of each chain
    chain_annotator: IntArray  # (n_chains,) annotator of each chain, 0 .. n_annotators - 1
    n_annotators: int
    transition_features: Any  # sparse (4 · n_contexts, n_transition_features)

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Number of columns of the design."""
        return int(self.design.shape[1])

    @property
    def n_phi(self) -> int:
        """Number of features of an annotator: two emissions and the transitions."""
        return len(EMISSIONS) + int(self.transition_features.shape[1])

    @cached_property
    def design_transposed(self) -> Any:
        """The design with features as rows, in the layout in which its products are fast."""
        return self.design.T.tocsr() if sp.issparse(self.design) else self.design.T

    @cached_property
    def one_hot(self) -> FloatArray:
        """Labels as rows of zeros and a one, shape (n_texts, n_classes)."""
        return np.eye(self.n_classes)[self.labels]

    def chains(self, annotator: int) -> tuple[BinaryChains, BoolArray]:
        """The chains of one annotator, keyed by class and word, and their tags (n_tokens,)."""
        return _take_chains(self, np.flatnonzero(self.chain_annotator == annotator))

    @cached_property
    def observed(self) -> list["Observed"]:
        """For each annotator, the chains and what was highlighted in them."""
        out = []
        for annotator in range(self.n_annotators):
            chains, tags = self.chains(annotator)
            used, keys = np.unique(chains.keys, return_inverse=True)
            chains = BinaryChains(keys.astype(np.int32), chains.contexts, chains.offsets)
            n_contexts = self.transition_features.shape[0] // 4
            out.append(Observed(chains, observed_counts(chains, tags, n_keys=len(used), n_contexts=n_contexts), used))
        return out

    def data_loss(self, theta: FloatArray, phi: FloatArray, C: float) -> tuple[float, FloatArray, FloatArray]:
        """−Σᵢ log p_θ(yᵢ|xᵢ) − C Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) with its gradients, which are new arrays.

        A sum over the texts: blocks of texts may be summed apart.
        """
        maps = class_maps(self.n_classes)
        value, by_theta = class_loss(self, theta)
        by_phi: FloatArray = np.zeros(phi.shape)
        if C > 0 and len(self.chain_text):
            marks, by_word, by_phi = highlight_loss(self, maps @ theta, phi)
            value += C * marks
            by_theta[:, : self.n_words] += C * (maps.T @ by_word)
            by_phi = C * by_phi
        return value, by_theta, by_phi

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
        small = replace(self, design=design[:, columns].tocsr(), n_words=n_words, words=place[self.words])
        return small, columns

    def subset(self, texts: AnyArray, *, marked: AnyArray | None = None) -> "MarkedTexts":
        """Some texts, in the given order, with their highlights; only those under ``marked`` (n_texts,) if given."""
        texts = np.arange(self.n_texts)[texts]
        place = np.full(self.n_texts, -1)
        place[texts] = np.arange(len(texts))
        keep = place[self.chain_text] >= 0
        if marked is not None:
            keep &= np.asarray(marked)[self.chain_text]
        rows = np.flatnonzero(keep)
        tokens, places, offsets = _rows_of(self.offsets, rows)
        return replace(
            self,
            design=self.design[texts],
            labels=self.labels[texts],
            words=self.words[tokens],
            contexts=self.contexts[places],
            tags=self.tags[tokens],
            offsets=offsets,
            chain_text=place[self.chain_text[rows]],
            chain_annotator=self.chain_annotator[rows],
        )


@dataclass(frozen=True, eq=False)
class Observed:
    """The chains of one annotator, keyed by the pairs of class and word that occur, and what was highlighted."""

    chains: BinaryChains
    counts: ChainCounts
    used: IntArray  # (n_keys,) class · (n_words + 1) + word of each key, increasing


def _rows_of(offsets: IntArray, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Token positions, place positions and new offsets of some chains."""
    lengths = np.diff(offsets)[rows]
    new = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = np.arange(new[-1]) + np.repeat(offsets[rows] - new[:-1], lengths)
    first = new[:-1] + np.arange(len(rows))
    places = np.arange(new[-1] + len(rows)) + np.repeat(offsets[rows] + rows - first, lengths + 1)
    return tokens, places, new


def _take_chains(texts: MarkedTexts, rows: IntArray) -> tuple[BinaryChains, BoolArray]:
    tokens, places, offsets = _rows_of(texts.offsets, rows)
    classes = np.repeat(texts.labels[texts.chain_text[rows]], np.diff(offsets))
    keys = (classes * (texts.n_words + 1) + texts.words[tokens]).astype(np.int32)
    return BinaryChains(keys, texts.contexts[places], offsets), texts.tags[tokens]


@dataclass(frozen=True)
class Strengths:
    """How much each part of the objective counts.

    ``printed_prior`` takes [ZE08] eq. 4 as printed, with the prior on φ outside C( … ): it then outweighs the
    highlighted words unless ``phi_variance`` is large.
    """

    C: float
    theta_variance: float
    phi_variance: float = 1.0
    printed_prior: bool = False

    @property
    def phi_penalty(self) -> float:
        """What multiplies ½‖φ‖² in the loss."""
        return (1.0 if self.printed_prior else self.C) / self.phi_variance


def class_maps(n_classes: int) -> FloatArray:
    """The matrix from the rows of θ to one weight vector a class, shape (n_classes, n_rows).

    Two classes share one row with opposite signs, as in the paper; more have one row each, centred, so that a weight
    says how much a word speaks for a class against the others.
    """
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    return np.eye(n_classes) - 1.0 / n_classes


def emission_scores(weights: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """φ_rel B₁₀(a) + φ_antirel B₋₁₀(a) for weights a of any shape.

    Returns
    -------
    scores : array like ``weights``
        Held within ±100, far beyond what a fitted model reaches.
    slopes : array like ``weights``
        Derivative of the scores by the weights.
    relevance : array like ``weights``
        B₁₀(a); B₋₁₀(a) is a − B₁₀(a).
    """
    # B_s(a) = (log(1 + e^{as}) − log 2)/s, so B_s(a) + B₋ₛ(a) = a and B_s' = sigmoid(sa)
    relevance = (np.logaddexp(0.0, _SLOPE * weights) - np.log(2.0)) / _SLOPE
    rising = sigmoid(_SLOPE * weights)
    scores = phi[0] * relevance + phi[1] * (weights - relevance)
    slopes = phi[0] * rising + phi[1] * (1.0 - rising)
    beyond = np.abs(scores) > SCORE_LIMIT
    if beyond.any():
        scores, slopes = np.clip(scores, -SCORE_LIMIT, SCORE_LIMIT), np.where(beyond, 0.0, slopes)
    return scores, slopes, relevance


def _word_weights(class_weights: FloatArray, n_words: int) -> FloatArray:
    """Weights by class and word, with a zero for tokens without a word type, shape (n_classes, n_words + 1)."""
    return np.pad(class_weights[:, :n_words], ((0, 0), (0, 1)))


def _transition_scores(features: Any, phi: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Scores (n_contexts, 4) held within the limit, and which of them were within it."""
    scores = (features @ phi[len(EMISSIONS) :]).reshape(-1, 4)
    return np.clip(scores, -SCORE_LIMIT, SCORE_LIMIT), np.abs(scores) <= SCORE_LIMIT


def class_loss(texts: MarkedTexts, theta: FloatArray) -> tuple[float, FloatArray]:
    """−Σᵢ log p_θ(yᵢ|xᵢ) and its gradient by θ, shape (n_rows, n_features)."""
    maps = class_maps(texts.n_classes)
    scores = (texts.design @ theta.T) @ maps.T
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    totals = weights.sum(axis=1)
    value = float(np.log(totals).sum() - scores[np.arange(texts.n_texts), texts.labels].sum())
    return value, (texts.design_transposed @ ((weights / totals[:, None] - texts.one_hot) @ maps)).T


def highlight_loss(
    texts: MarkedTexts, class_weights: FloatArray, phi: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """−Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) and its gradients.

    Parameters
    ----------
    texts : MarkedTexts
    class_weights : array of shape (n_classes, n_features)
    phi : array of shape (n_annotators, n_phi)

    Returns
    -------
    value : float
    class_gradient : array of shape (n_classes, n_words)
    phi_gradient : array of shape (n_annotators, n_phi)
    """
    table = _word_weights(class_weights, texts.n_words)
    value, by_word, by_phi = 0.0, np.zeros(table.shape), np.zeros(phi.shape)
    for annotator, observed in enumerate(texts.observed):
        seen, weights = observed.counts, table.ravel()[observed.used]
        scores, slopes, relevance = emission_scores(weights, phi[annotator])
        transitions, within = _transition_scores(texts.transition_features, phi[annotator])
        log_partition, expected = expected_counts(observed.chains, scores, transitions)
        value += log_partition - float(seen.inside @ scores) - float((seen.transitions * transitions).sum())
        excess = expected.inside - seen.inside
        by_word.ravel()[observed.used] += excess * slopes
        by_phi[annotator, 0] = excess @ relevance
        by_phi[annotator, 1] = excess @ (weights - relevance)
        moved = np.where(within, expected.transitions - seen.transitions, 0.0)
        by_phi[annotator, 2:] = texts.transition_features.T @ moved.ravel()
    return value, by_word[:, :-1], by_phi


def loss(
    texts: MarkedTexts, theta: FloatArray, phi: FloatArray, strengths: Strengths, free: BoolArray | None = None
) -> tuple[float, FloatArray, FloatArray]:
    """The negative of [ZE08] eq. 4 and its gradients.

    Parameters
    ----------
    texts : MarkedTexts
    theta : array of shape (n_rows, n_features)
    phi : array of shape (n_annotators, n_phi)
    strengths : Strengths
    free : bool array of shape (n_features,), optional
        Features without a prior (an intercept).

    Returns
    -------
    value : float
    theta_gradient : array like ``theta``
    phi_gradient : array like ``phi``
    """
    value, by_theta, by_phi = texts.data_loss(theta, phi, strengths.C)
    penalised = theta if free is None else np.where(free, 0.0, theta)
    value += 0.5 * float((penalised**2).sum()) / strengths.theta_variance
    value += 0.5 * strengths.phi_penalty * float((phi**2).sum())
    return value, by_theta + penalised / strengths.theta_variance, by_phi + strengths.phi_penalty * phi


def inside_probabilities(texts: MarkedTexts, class_weights: FloatArray, phi: FloatArray, annotator: int) -> FloatArray:
    """Probability of each token of one annotator's chains to be highlighted, in the order of the chains."""
    chains, _ = texts.chains(annotator)
    scores, _, _ = emission_scores(_word_weights(class_weights, texts.n_words), phi[annotator])
    transitions, _ = _transition_scores(texts.transition_features, phi[annotator])
    return inside_marginals(chains, scores.ravel(), transitions)


def best_tags(texts: MarkedTexts, class_weights: FloatArray, phi: FloatArray, annotator: int) -> BoolArray:
    """The most likely highlights of one annotator's chains, in the order of the chains; exact."""
    chains, _ = texts.chains(annotator)
    scores, _, _ = emission_scores(_word_weights(class_weights, texts.n_words), phi[annotator])
    transitions, _ = _transition_scores(texts.transition_features, phi[annotator])
    return viterbi(as_graphs(chains, scores.ravel(), transitions)) == 1


def best_threshold(probabilities: FloatArray, tags: BoolArray) -> float:
    """The probability from which tokens are best called highlighted: the largest F1 over all tokens.

    The single most likely tag sequence marks almost nothing where highlights are rare and their places uncertain.
    """
    if not np.any(tags):
        return 0.5
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum(tags[order])
    f1 = 2.0 * hits / (np.arange(1, len(tags) + 1) + hits[-1])
    return float(probabilities[order[int(np.argmax(f1))]])


def worth_of_highlights(
    texts: MarkedTexts, class_weights: FloatArray, phi: FloatArray, n_seen: FloatArray
) -> FloatArray:
    """What highlighting each text may teach, shape (n_texts,): words that will be highlighted, new ones first.

    A word counts by its probability of being highlighted, divided by 1 + the number of highlighted texts that hold it.

    Parameters
    ----------
    texts : MarkedTexts
        With one chain of annotator 0 a text.
    class_weights : array of shape (n_classes, n_features)
    phi : array of shape (1, n_phi)
    n_seen : array of shape (n_words,)
        Highlighted texts that hold each word.
    """
    inside = inside_probabilities(texts, class_weights, phi, 0)
    novelty = np.append(1.0 / (1.0 + n_seen), 0.0)[texts.words]
    chain = np.repeat(np.arange(len(texts.chain_text)), np.diff(texts.offsets))
    worth = np.zeros(texts.n_texts)
    worth[texts.chain_text] = np.bincount(chain, weights=inside * novelty, minlength=len(texts.chain_text))
    return worth
