"""Regularised Bradley–Terry: ranks items by votes alone, without looking at their texts."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from accord.data.columns import float_column
from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.data.vote_order import places_of
from accord.engines.convergence import Convergence, warn_unconverged
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.fitting.settings import Number, Rule, Seed, check_settings
from accord.pairs.decided import share_right
from accord.pairs.item_order import item_order
from accord.pairs.process.sparse import conditioned_variance, sparse_draws
from accord.pairs.process.vote_counts import count_votes
from accord.pairs.ranking import rank_columns
from accord.typing import FloatArray, IntArray

__all__ = ["BradleyTerryRanker", "Strengths", "bradley_terry", "curvature", "vote_loss"]


class BradleyTerryRanker(BaseEstimator):
    """Ranks items by votes alone: P(left beats right) = σ(s_left − s_right), with a Gaussian prior on the scores.

    Undecided votes count as half a win for each side. Undefeated, winless and unseen items get finite scores with wide
    intervals, and a comparison graph in several parts is ranked with a warning.

    Parameters
    ----------
    alpha : float
        Precision of the prior s ~ N(0, 1/alpha) of every score, on the scale of log odds.
    max_iter : int
        Most steps of the optimiser.
    tol : float
        Largest gradient entry at which the optimum counts as reached.
    random_state : int or None
        Seed of the draws behind ``p_best``.

    Attributes
    ----------
    ids_ : array of shape (n_items,)
    scores_ : Strengths
        Mean, deviations and draws of the scores (Laplace approximation).
    n_votes_ : array of shape (n_items,)
        Votes that each item took part in.
    n_parts_ : int
        Number of connected parts of the comparison graph.

    Examples
    --------
    >>> from accord import BradleyTerryRanker
    >>> X = [("tea", "coffee"), ("tea", "water"), ("coffee", "water")]
    >>> ranker = BradleyTerryRanker().fit(X, [1, 0.5, 1])
    >>> ranker.rank()["item_id"].tolist()
    ['tea', 'coffee', 'water']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "alpha": Number(0, above=True),
        "max_iter": Number(1, whole=True),
        "tol": Number(0, above=True),
        "random_state": Seed(),
    }

    def __init__(
        self, *, alpha: float = 0.5, max_iter: int = 500, tol: float = 1e-6, random_state: int | None = 0
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, items: Items | None = None, sample_weight: Any = None) -> "BradleyTerryRanker":
        """Fit to votes.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two items.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided.
        items : Items, optional
            All items, also those without votes; by default the ids that occur.
        sample_weight : array of shape (n_votes,), optional
        """
        check_settings(self)
        votes = Comparisons.from_xy(X, y, items)
        n = votes.items.n_items
        weight = (
            None
            if sample_weight is None
            else float_column(sample_weight, n=votes.n_votes, what="sample weight", low=0.0)
        )
        # Counted in an order of the items' own, so that neither the order of items and votes nor ids change a draw.
        place = places_of(item_order(votes))
        counts = count_votes(place[votes.left], place[votes.right], votes.value, weight)
        found = bradley_terry(
            counts.left,
            counts.right,
            counts.value,
            n_items=n,
            weight=counts.weight,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
            rng=np.random.default_rng(self.random_state),
        )
        self.scores_ = found.take(place)
        warn_unconverged("BradleyTerryRanker", self.scores_.convergence, cure="Raise max_iter or tol.")
        self.ids_ = votes.items.ids
        self._places = {name: place for place, name in enumerate(self.ids_)}
        self.n_votes_ = np.bincount(votes.left, minlength=n) + np.bincount(votes.right, minlength=n)
        self.n_parts_ = _count_parts(votes.left, votes.right, n)
        if self.n_parts_ > 1:
            warnings.warn(
                f"the votes join the {n} items into {self.n_parts_} separate parts; scores of different parts are "
                "compared only through the prior. Ask for votes between the parts, or rank each part by itself.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> FloatArray:
        """1 where left is expected to win, else 0, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.float64)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities that right and that left wins, shape (n_pairs, 2).

        They are averaged over the posterior of the scores, by the approximation σ(d / √(1 + π·var/8)).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        difference, std = self._differences(X)
        p = sigmoid(difference / np.sqrt(1.0 + np.pi * std**2 / 8.0))
        return np.stack([1.0 - p, p], axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the decided votes that it predicts right, from 0 to 1; not a number where none is decided.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two items.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided, which counts neither way.
        sample_weight : array of shape (n_votes,), optional
            How many votes each row stands for.
        """
        return share_right(self.predict(X) == 1.0, X, y, sample_weight)

    def predict_std(self, X: Any) -> FloatArray:
        """Standard deviation of the difference of the two scores, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        return self._differences(X)[1]

    def rank(self, *, level: float = 0.9, sure: float = 0.95, anchor: str | None = None) -> pd.DataFrame:
        """The ranking, best first.

        Parameters
        ----------
        level : float
            Probability with which ``low`` and ``high`` hold the score, and ``rank_low`` and ``rank_high`` the rank.
        sure : float
            All statements that tiers make are right together with at least this probability.
        anchor : str, optional
            The item whose score is zero; by default zero is the mean of all items.

        Returns
        -------
        DataFrame
            ``rank, tier, item_id, score, std, low, high, rank_low, rank_high, p_best, wins, n_votes`` as
            :meth:`PreferenceRanker.rank` has them, with scores in log odds: distances from the mean of all items, or
            from the ``anchor``.
        """
        check_is_fitted(self)
        place = None if anchor is None else int(self._positions(pd.Series([anchor]))[0])
        # Items of equal score stand in the order of their ids.
        by_id = np.argsort(self.ids_.astype(str), kind="stable")
        draws = (self.scores_.mean + self.scores_.draws)[:, by_id]
        where = None if place is None else int(np.flatnonzero(by_id == place)[0])
        order, columns = rank_columns(draws, level=level, sure=sure, anchor=where, mean=self.scores_.mean[by_id])
        table = pd.DataFrame(columns)
        # A logistic difference counts for as much as 1.702/√2 of a difference on the scale of the noise.
        table["wins"] = 100.0 * sigmoid(table["score"].to_numpy())
        table.insert(2, "item_id", self.ids_[by_id][order])
        return table.assign(n_votes=self.n_votes_[by_id][order])

    def _differences(self, X: Any) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self)
        pairs = pair_frame(X)
        left, right = self._positions(pairs["left"]), self._positions(pairs["right"])
        return self.scores_.mean[left] - self.scores_.mean[right], self.scores_.difference_std(left, right)

    def _positions(self, ids: pd.Series) -> IntArray:
        places = np.array([self._places.get(str(name), -1) for name in ids], dtype=np.int64)
        if (places < 0).any():
            row = int(np.argmin(places))
            raise InputError(
                f"Bradley–Terry knows only the items it was fitted to; row {row + 1} names {ids.iloc[row]!r}. "
                "Pass it in items= when fitting."
            )
        return places


def _count_parts(left: IntArray, right: IntArray, n_items: int) -> int:
    graph = sp.coo_matrix((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n_items, n_items))
    return int(connected_components(graph, directed=False, return_labels=False))


@dataclass(frozen=True, eq=False)
class Strengths:
    """The Laplace approximation of the posterior of the scores: N(mean, covariance)."""

    mean: FloatArray  # (n_items,)
    std: FloatArray  # (n_items,)
    draws: FloatArray  # (n_draws, n_items), from the approximation
    covariance: FloatArray | None  # (n_items, n_items); None where that would not fit
    convergence: Convergence

    def take(self, items: IntArray) -> "Strengths":
        """The same of some items, in the order of their positions."""
        covariance = None if self.covariance is None else self.covariance[np.ix_(items, items)]
        return replace(
            self, mean=self.mean[items], std=self.std[items], draws=self.draws[:, items], covariance=covariance
        )

    def difference_std(self, i: IntArray, j: IntArray) -> FloatArray:
        """Standard deviation of s_i − s_j, shape (n,); without covariances an estimate from the draws."""
        if self.covariance is None:
            # E[(xᵢ − xⱼ)²] over the draws
            return np.asarray(np.sqrt(np.mean((self.draws[:, i] - self.draws[:, j]) ** 2, axis=0)))
        covariance = self.covariance
        return np.asarray(np.sqrt(np.maximum(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j], 0.0)))


def vote_loss(
    left: IntArray, right: IntArray, value: FloatArray, weight: FloatArray, *, n_items: int
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """Negative log-likelihood of votes and its gradient, as a function of the scores.

    Parameters
    ----------
    left, right : int array of shape (n_votes,)
    value : float array of shape (n_votes,)
        1 where left won, 0 where right won, ½ where undecided.
    weight : float array of shape (n_votes,)
    n_items : int
    """

    def loss(scores: FloatArray) -> tuple[float, FloatArray]:
        difference = scores[left] - scores[right]
        # −log p = log(1 + e^d) − y·d
        total = float(np.sum(weight * (np.logaddexp(0.0, difference) - value * difference)))
        residual = weight * (sigmoid(difference) - value)
        gradient = np.bincount(left, residual, n_items) - np.bincount(right, residual, n_items)
        return total, np.asarray(gradient, dtype=np.float64)

    return loss


def curvature(
    scores: FloatArray, left: IntArray, right: IntArray, weight: FloatArray, *, alpha: float
) -> sp.csr_matrix:
    """Second derivatives of the penalised loss, shape (n_items, n_items): a weighted graph Laplacian + alpha·I."""
    n = len(scores)
    p = sigmoid(scores[left] - scores[right])
    w = weight * p * (1.0 - p)
    rows, columns = np.concatenate([left, right, np.arange(n)]), np.concatenate([right, left, np.arange(n)])
    diagonal = np.bincount(left, w, n) + np.bincount(right, w, n) + alpha
    return sp.coo_matrix((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n)).tocsr()


def bradley_terry(
    left: IntArray,
    right: IntArray,
    value: FloatArray,
    *,
    n_items: int,
    weight: FloatArray | None = None,
    alpha: float = 0.5,
    max_iter: int = 500,
    tol: float = 1e-6,
    n_draws: int = 2000,
    largest_dense: int = 2000,
    rng: np.random.Generator,
) -> Strengths:
    """Most probable scores of items and how sure they are.

    Up to ``largest_dense`` items the covariance of the Laplace approximation is computed whole; above, deviations come
    from a few draws and are estimates.
    """
    weight = np.ones(len(left)) if weight is None else np.asarray(weight, dtype=np.float64)
    value = np.asarray(value, dtype=np.float64)
    loss = l2_penalised(vote_loss(left, right, value, weight, n_items=n_items), alpha)
    optimum = minimise_lbfgs(loss, np.zeros(n_items), max_iter=max_iter, tol=tol)
    precision = curvature(optimum.weights, left, right, weight, alpha=alpha)
    if n_items <= largest_dense:
        factor = scipy.linalg.cholesky(precision.toarray(), lower=True)  # Λ = LLᵀ
        inverse = scipy.linalg.solve_triangular(factor, np.eye(n_items), lower=True)
        covariance = inverse.T @ inverse  # Λ⁻¹ = L⁻ᵀL⁻¹
        draws = rng.standard_normal((n_draws, n_items)) @ inverse
        return Strengths(optimum.weights, np.sqrt(np.diag(covariance)), draws, covariance, optimum.convergence)
    draws = sparse_draws(precision, alpha, min(n_draws, 40), rng)
    return Strengths(optimum.weights, np.sqrt(conditioned_variance(precision, draws)), draws, None, optimum.convergence)
