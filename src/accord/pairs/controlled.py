"""Style control: a ranking as it would be if the two texts of every pair were alike in stated covariates."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.linalg
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_order import places_of
from accord.engines.convergence import iterate, warn_unconverged
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.settings import Number, Object, Rule, Seed, check_settings
from accord.pairs.item_order import item_order
from accord.pairs.ranking import rank_columns
from accord.pairs.style import covariates_of
from accord.typing import FloatArray

__all__ = ["ControlledRanker"]

_MOST_ITEMS = 5_000  # scores and coefficients have one dense matrix of second derivatives


class ControlledRanker(BaseEstimator):
    """Bradley–Terry with covariates of the shown pair: P(left beats right) = σ(s_left − s_right + βᵀx).

    The scores are what is left when the covariates are taken out. Votes of one pair need not be independent given the
    scores, so that intervals come from the sandwich estimator: the scatter of the votes themselves.

    Parameters
    ----------
    covariates : sequence of str
        ``position, length, lists, markdown`` and ``meta.COLUMN``; empty is a plain ranking.
    alpha : float
        Precision of the Gaussian prior of every score.
    penalty : float
        The same of the coefficients, whose covariates have a root mean square of one.
    max_iter : int
    tol : float
        Largest step at which Newton's method stops.
    random_state : int or None
        Seed of the draws behind ``p_best`` and tiers.

    Attributes
    ----------
    coefficients_ : DataFrame
        ``covariate, coefficient, low, high``, in log odds for one unit more, with 90 % intervals.
    scores_ : array of shape (n_items,)
    covariance_ : array of shape (n_items + n_covariates, n_items + n_covariates)

    Examples
    --------
    >>> from accord.data.documents import Items
    >>> from accord.pairs.controlled import ControlledRanker
    >>> items = Items(["a", "b", "c"], meta={"words": [10, 20, 30]})
    >>> X = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "a")]
    >>> ranker = ControlledRanker(covariates=["meta.words"]).fit(X, [1, 0, 1, 1], items=items)
    >>> ranker.coefficients_["covariate"].tolist()
    ['meta.words']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "covariates": Object("names of covariates", (str, Sequence), none=False),
        "alpha": Number(0, above=True),
        "penalty": Number(0),
        "max_iter": Number(1, whole=True),
        "tol": Number(0, above=True),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        covariates: Sequence[str] = (),
        alpha: float = 0.5,
        penalty: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: int | None = 0,
    ) -> None:
        self.covariates = covariates
        self.alpha = alpha
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        items: Items | None = None,
        sample_weight: Any = None,
        shown_left: Any = None,
        context: Mapping[str, Any] | None = None,
    ) -> "ControlledRanker":
        """Fit to votes.

        Parameters
        ----------
        X, y, items, sample_weight, shown_left
            As in :meth:`PreferenceRanker.fit`.
        context : mapping of name to array of shape (n_votes,), optional
            More covariates, which differ between votes on one pair, such as the lengths of two models' answers to one
            prompt where the items are models: left minus right.
        """
        check_settings(self)
        votes = Comparisons.from_xy(X, y, items, sample_weight=sample_weight, shown_left=shown_left)
        if not votes.n_votes:
            raise InputError("fitting needs at least one vote; there is none.")
        n = votes.items.n_items
        if n > _MOST_ITEMS:
            raise InputError(f"style control takes at most {_MOST_ITEMS:,} texts; these votes are about {n:,}.")
        covariates = covariates_of(votes, tuple(self.covariates)).beside(context or {})
        units = covariates.units
        weight = np.ones(votes.n_votes) if votes.weight is None else votes.weight.astype(np.float64)
        prior = np.concatenate([np.full(n, self.alpha), np.full(len(units), self.penalty)])
        value, covariance = self._newton(votes, covariates.values / units, weight, prior)
        unit = np.concatenate([np.ones(n), 1.0 / units])
        self.items_, self.names_ = votes.items, covariates.names
        self._order = item_order(votes)
        self.scores_, self._coefficients = value[:n], value[n:] / units
        self.covariance_ = covariance * np.outer(unit, unit)
        self.n_votes_ = np.bincount(np.concatenate([votes.left, votes.right]), minlength=n)
        return self

    def _newton(
        self, votes: Comparisons, x: FloatArray, weight: FloatArray, prior: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The most probable scores and coefficients, and their covariance by the sandwich."""
        left, right, y, n = votes.left, votes.right, votes.value.astype(np.float64), votes.items.n_items

        def curvature(value: FloatArray) -> tuple[FloatArray, FloatArray]:
            p = sigmoid(value[left] - value[right] + x @ value[n:])
            return p, _scatter(left, right, x, weight * p * (1.0 - p), n) + np.diag(prior)

        def step(value: FloatArray) -> FloatArray:
            p, curve = curvature(value)
            residual = weight * (y - p)
            won = np.bincount(left, residual, n) - np.bincount(right, residual, n)
            gradient = np.concatenate([won, x.T @ residual]) - prior * value
            move = scipy.linalg.solve(curve, gradient, assume_a="pos")
            return value + move * min(1.0, 5.0 / max(float(np.max(np.abs(move))), 1e-300))  # no wild first steps

        start: FloatArray = np.zeros(prior.size)
        value, convergence = iterate(step, start, max_iter=self.max_iter, tol=self.tol)
        warn_unconverged("ControlledRanker", convergence, cure="Raise max_iter or tol.")
        p, curve = curvature(value)
        inverse = scipy.linalg.inv(curve)
        # The prior counts as evidence that was seen once, so that a text without votes keeps its spread.
        seen = _scatter(left, right, x, (weight * (y - p)) ** 2, n) + np.diag(prior)
        return value, inverse @ seen @ inverse

    @property
    def coefficients_(self) -> pd.DataFrame:
        """The coefficients with their 90 % intervals."""
        check_is_fitted(self, "scores_")
        half = ndtri(0.95) * np.sqrt(np.diag(self.covariance_)[self.items_.n_items :])
        value = self._coefficients
        columns = {"covariate": list(self.names_), "coefficient": value, "low": value - half, "high": value + half}
        return pd.DataFrame(columns)

    def rank(self, *, level: float = 0.9, sure: float = 0.95, anchor: str | None = None) -> pd.DataFrame:
        """The ranking, best first, with the columns of :meth:`BradleyTerryRanker.rank`; scores are log odds."""
        check_is_fitted(self, "scores_")
        n = self.items_.n_items
        among = self.covariance_[:n, :n][np.ix_(self._order, self._order)]
        root = scipy.linalg.cholesky(among + 1e-10 * np.trace(among) / n * np.eye(n), lower=True)
        rng = np.random.default_rng(self.random_state)
        draws = self.scores_ + (rng.standard_normal((2000, n)) @ root.T)[:, places_of(self._order)]
        place = None if anchor is None else int(self.items_.positions([anchor], what="anchor")[0])
        order, columns = rank_columns(draws, level=level, sure=sure, anchor=place, mean=self.scores_)
        table = pd.DataFrame(columns).drop(columns="wins")
        table.insert(2, "item_id", self.items_.ids[order])
        return table.assign(n_votes=self.n_votes_[order])


def _scatter(left: Any, right: Any, x: FloatArray, weight: FloatArray, n: int) -> FloatArray:
    """Σ w d dᵀ over votes, d = (e_left − e_right, x), shape (n + n_covariates, n + n_covariates)."""
    k = x.shape[1]
    out = np.zeros((n + k, n + k))
    pairs = np.bincount(left.astype(np.int64) * n + right, weight, n * n).reshape(n, n)
    out[:n, :n] = -(pairs + pairs.T)
    out[np.arange(n), np.arange(n)] += np.bincount(left, weight, n) + np.bincount(right, weight, n)
    for column in range(k):
        cross = np.bincount(left, weight * x[:, column], n) - np.bincount(right, weight * x[:, column], n)
        out[:n, n + column] = cross
        out[n + column, :n] = cross
    out[n:, n:] = x.T @ (weight[:, None] * x)
    return out
