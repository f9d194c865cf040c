"""Texts with several ranks that agree in some texts and differ in others."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtri

from accord.data.aspects import AspectRatings
from accord.data.documents import Items
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray
from synthetic.words import leaning_texts, numbered

__all__ = ["SyntheticAspects", "aspect_ratings"]


@dataclass(frozen=True, eq=False)
class SyntheticAspects:
    """Aspect ranks and the truth behind them.

    A text agrees with chance σ(logit(agreement) + features · agreement_weights). If it does, all its ranks are that of
    one latent value, features · common + noise; else each aspect has its own, features · weights[j] + noise. A latent
    value, made standard normal, becomes a rank by the thresholds.

    Attributes
    ----------
    ratings : AspectRatings
        With texts, whose words of aspect j lean as its rank does, and features.
    complete : int array of shape (n_items, n_aspects)
        The ranks before some were left out.
    agrees : bool array of shape (n_items,)
    weights : float array of shape (n_aspects, n_features)
    common, agreement_weights : float array of shape (n_features,)
    thresholds : float array of shape (n_ranks − 1,)
    """

    ratings: AspectRatings
    complete: IntArray
    agrees: BoolArray
    weights: FloatArray
    common: FloatArray
    agreement_weights: FloatArray
    thresholds: FloatArray


def aspect_ratings(
    n_items: int = 500,
    *,
    n_aspects: int = 3,
    n_ranks: int = 5,
    n_features: int = 10,
    agreement: float = 0.5,
    agreement_strength: float = 1.0,
    noise: float = 0.5,
    missing: float = 0.0,
    random_state: int = 0,
) -> SyntheticAspects:
    """Ranks 1..``n_ranks``, equally frequent, of texts.

    Parameters
    ----------
    n_items, n_aspects, n_ranks, n_features : int
    agreement : float
        The chance of an average text to have equal ranks, between 0 and 1.
    agreement_strength : float
        How much the features say about that.
    noise : float
        The standard deviation of the noise beside a signal of 1.
    missing : float
        The share of ranks left out (0).
    random_state : int
    """
    if not 0.0 < agreement < 1.0:
        raise InputError(f"agreement is a chance between 0 and 1; this is {agreement}.")
    rng = np.random.default_rng(random_state)

    def unit(*shape: int) -> FloatArray:
        vectors = rng.normal(size=shape)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))

    features = rng.normal(size=(n_items, n_features))
    weights, common, about = unit(n_aspects, n_features), unit(n_features), agreement_strength * unit(n_features)
    agrees = rng.random(n_items) < expit(logit(agreement) + features @ about)
    own = features @ weights.T + rng.normal(scale=noise, size=(n_items, n_aspects))
    shared = features @ common + rng.normal(scale=noise, size=n_items)
    latent = np.where(agrees[:, None], shared[:, None], own) / np.hypot(1.0, noise)
    thresholds = ndtri(np.arange(1, n_ranks) / n_ranks)
    complete = np.searchsorted(thresholds, latent) + 1
    ranks = np.where(rng.random(complete.shape) < missing, 0, complete)
    lean = (complete - 1.0) / (n_ranks - 1.0)
    parts = [leaning_texts(rng, lean[:, j], n_words=6, n_types=20, prefix=f"a{j}") for j in range(n_aspects)]
    texts = np.array([" ".join(words) for words in zip(*parts, strict=True)], dtype=object)
    items = Items(numbered("text", n_items), texts=texts, features=features)
    ratings = AspectRatings(items, numbered("aspect", n_aspects), ranks, n_ranks)
    return SyntheticAspects(ratings, complete, agrees, weights, common, about, thresholds)
