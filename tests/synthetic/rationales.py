"""Texts with a class and highlighted words, drawn from the generative chain model of [ZE08]."""

from dataclasses import dataclass

import numpy as np

from accord.data.documents import Items
from accord.data.rationales import Rationales, token_spans
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray
from synthetic.words import made_up_words, numbered

__all__ = ["SyntheticRationales", "sample_tags", "texts_with_rationales"]


@dataclass(frozen=True, eq=False)
class SyntheticRationales:
    """Texts, labels, highlights and the truth behind them.

    Words are independent with p(w | y) ∝ exp(y θ_w); θ comes in pairs ±θ, so that log p(1|x) / p(−1|x) = 2 Σ θ.
    Tags r ∈ {O, I} of the tokens are one exact draw of the chain
    p(r | x, y) ∝ exp(Σ_m [r_m = I] (φ_rel B₁₀(y θ) + φ_antirel B₋₁₀(y θ)) + Σ_m transition[r_m, r_{m+1}]), where both
    ends border on O and B_s(a) = (log(1 + e^{a s}) − log 2) / s.

    Attributes
    ----------
    items : Items
    labels : int array of shape (n_items,)
        1 or −1.
    rationales : Rationales
        The runs of inside tokens, as characters.
    tokens : int array of shape (n_items, n_tokens)
        Positions in ``words``.
    tags : bool array of shape (n_items, n_tokens)
    words : list of str
    theta : float array of shape (n_words,)
    phi : tuple of float
        φ_rel and φ_antirel.
    transition : float array of shape (2, 2)
        Scores of O-O, O-I; I-O, I-I.
    """

    items: Items
    labels: IntArray
    rationales: Rationales
    tokens: IntArray
    tags: BoolArray
    words: list[str]
    theta: FloatArray
    phi: tuple[float, float]
    transition: FloatArray


def texts_with_rationales(
    n_items: int = 200,
    *,
    n_tokens: int = 60,
    n_words: int = 200,
    opinion_share: float = 0.2,
    strength: float = 0.5,
    phi: tuple[float, float] = (6.0, 6.0),
    transition: tuple[tuple[float, float], tuple[float, float]] = ((0.0, -3.5), (-0.5, -1.0)),
    random_state: int = 0,
) -> SyntheticRationales:
    """Texts of ``n_tokens`` words.

    Parameters
    ----------
    n_items, n_tokens : int
    n_words : int
        Words of the language, an even number.
    opinion_share : float
        The share of words with θ ≠ 0.
    strength : float
        |θ| of those words, times a factor between ½ and 1½.
    phi, transition : floats
        See :class:`SyntheticRationales`.
    random_state : int
    """
    if n_words % 2 or n_words < 2:
        raise InputError(f"words come in pairs of opposite meaning; n_words must be even, this is {n_words}.")
    rng = np.random.default_rng(random_state)
    half = n_words // 2
    n_opinion = round(opinion_share * half)
    side = np.zeros(half)
    side[:n_opinion] = strength * rng.uniform(0.5, 1.5, n_opinion)
    theta = np.concatenate([side, -side])
    words = made_up_words(n_words)
    labels = np.where(rng.random(n_items) < 0.5, 1, -1)
    shares = np.exp(np.stack([-theta, theta]))
    shares /= shares.sum(axis=1, keepdims=True)
    tokens = np.stack(
        [rng.choice(n_words, size=n_tokens, p=shares[int(label > 0)]) for label in labels]
        or [np.empty(n_tokens, dtype=np.int64)]
    )[:n_items]
    pull = labels[:, None] * theta[tokens]
    inside_scores = phi[0] * _bend(pull, 10.0) + phi[1] * _bend(pull, -10.0)
    scores = np.asarray(transition, dtype=np.float64)
    tags = sample_tags(rng, inside_scores, scores)
    names = np.array(words, dtype=object)
    items = Items(numbered("text", n_items), texts=np.array([" ".join(names[row]) for row in tokens], dtype=object))
    return SyntheticRationales(
        items, labels, _spans(items, names, tokens, tags), tokens, tags, words, theta, phi, scores
    )


def sample_tags(rng: np.random.Generator, inside_scores: FloatArray, transition: FloatArray) -> BoolArray:
    """One exact draw of the tags of each row, shape (n_items, n_tokens): messages from the right, draws from the left.

    Parameters
    ----------
    rng : Generator
    inside_scores : array of shape (n_items, n_tokens)
        The score of tag I at each token; that of O is 0.
    transition : array of shape (2, 2)
        ``transition[a, b]`` is the score of tag b after tag a; before the first and after the last token stands O.
    """
    n_items, n_tokens = inside_scores.shape
    # message[:, m, a] = log Σ over the tags from m on, given that tag a stands at m
    message = np.empty((n_items, n_tokens, 2))
    after = np.broadcast_to(transition[:, 0], (n_items, 2))
    for m in range(n_tokens - 1, -1, -1):
        message[:, m, 0] = after[:, 0]
        message[:, m, 1] = inside_scores[:, m] + after[:, 1]
        after = np.logaddexp(transition[:, 0] + message[:, m, :1], transition[:, 1] + message[:, m, 1:])
    tags = np.zeros((n_items, n_tokens), dtype=bool)
    before = np.zeros(n_items, dtype=np.int64)
    for m in range(n_tokens):
        gain = transition[before, 1] + message[:, m, 1] - transition[before, 0] - message[:, m, 0]
        tags[:, m] = rng.logistic(size=n_items) < gain
        before = tags[:, m].astype(np.int64)
    return tags


def _bend(a: FloatArray, s: float) -> FloatArray:
    """B_s(a) = (log(1 + e^{a s}) − log 2) / s."""
    return np.asarray((np.logaddexp(0.0, a * s) - np.log(2.0)) / s)


def _spans(items: Items, names: FloatArray, tokens: IntArray, tags: BoolArray) -> Rationales:
    lengths = np.vectorize(len, otypes=[np.int64])(names)[tokens] + 1
    ends = np.cumsum(lengths, axis=1) - 1
    starts = ends - lengths + 1
    item, start, end = [], [], []
    for place, row in enumerate(tags):
        for first, last in token_spans(row):
            item.append(place)
            start.append(int(starts[place, first]))
            end.append(int(ends[place, last - 1]))
    return Rationales(
        items,
        np.array(item, dtype=np.int32),
        np.array(start, dtype=np.int32),
        np.array(end, dtype=np.int32),
        annotated=np.ones(items.n_items, dtype=bool),
    )
