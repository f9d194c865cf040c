"""Baselines for pairs, with the ranker's own interface: what people would use if the ranker were no better.

Every class has ``fit(X, y, items=)``, ``score_items(items)`` and ``predict_proba(X, items=)``.
"""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold
from sklearn.svm import SVR, LinearSVC
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.engines.convergence import iterate
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.pairs.bradley_terry import bradley_terry, vote_loss
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.process.kernels import squared_distances
from accord.pairs.process.length_scales import half_mean_square, median_distance
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "LogisticDifferenceRanker",
    "LongerTextRanker",
    "PageRankRanker",
    "PairGaussianProcessClassifier",
    "PairSupportVectorClassifier",
    "ScoreRegressionRanker",
    "pagerank",
]


class _PairModel(BaseEstimator):
    """Shared: reading pairs, and answers from scores of items."""

    def score_items(self, items: Items) -> FloatArray:
        raise NotImplementedError

    def _sides(self, X: Any, items: Items) -> tuple[IntArray, IntArray]:
        pairs = pair_frame(X)
        left = items.positions(pairs["left"].to_numpy(object), what="left item")
        return left, items.positions(pairs["right"].to_numpy(object), what="right item")

    def _probability(self, difference: FloatArray) -> FloatArray:
        return sigmoid(difference)

    def predict_proba(self, X: Any, *, items: Items) -> FloatArray:
        """Probabilities that right and that left wins, shape (n_pairs, 2)."""
        score = self.score_items(items)
        left, right = self._sides(X, items)
        p = self._probability(score[left] - score[right])
        return np.stack([1.0 - p, p], axis=1)

    def predict(self, X: Any, *, items: Items) -> FloatArray:
        """1 where left is expected to win, else 0, shape (n_pairs,)."""
        return (self.predict_proba(X, items=items)[:, 1] > 0.5).astype(np.float64)


def _slope(difference: FloatArray, votes: Comparisons) -> float:
    """The one coefficient of a logistic regression without intercept."""

    def loss(weight: FloatArray) -> tuple[float, FloatArray]:
        z = weight[0] * difference
        value = float(np.sum(np.logaddexp(0.0, z) - votes.value * z))
        return value, np.array([float((sigmoid(z) - votes.value) @ difference)])

    return float(minimise_lbfgs(l2_penalised(loss, 1e-3), np.zeros(1)).weights[0])


class LongerTextRanker(_PairModel):
    """The longer text wins; how surely, one coefficient on the difference of log lengths says."""

    def fit(self, X: Any, y: Any, *, items: Items) -> "LongerTextRanker":
        """Fit the coefficient."""
        votes = Comparisons.from_xy(X, y, items)
        length = self._lengths(items)
        self.coef_ = _slope(length[votes.left] - length[votes.right], votes)
        return self

    @staticmethod
    def _lengths(items: Items) -> FloatArray:
        if items.texts is None:
            raise InputError("the longer text can win only where there are texts; these items have none.")
        return np.log1p([len(text) for text in items.texts])

    def score_items(self, items: Items) -> FloatArray:
        """Scores, shape (n_items,)."""
        check_is_fitted(self)
        return self.coef_ * self._lengths(items)


class PageRankRanker(_PairModel):
    """PageRank on the graph of votes, edges from loser to winner; knows only items with votes.

    Parameters
    ----------
    damping : float
    """

    def __init__(self, *, damping: float = 0.85) -> None:
        self.damping = damping

    def fit(self, X: Any, y: Any, *, items: Items | None = None) -> "PageRankRanker":
        """Compute the scores."""
        votes = Comparisons.from_xy(X, y, items)
        self.ids_ = votes.items.ids
        scores = pagerank(votes.left, votes.right, votes.value, n_items=votes.items.n_items, damping=self.damping)
        self.scores_ = np.log(scores)
        self.coef_ = _slope(self.scores_[votes.left] - self.scores_[votes.right], votes)
        return self

    def score_items(self, items: Items) -> FloatArray:
        """Scores, shape (n_items,); an item that was not fitted to gets the mean."""
        check_is_fitted(self)
        known = dict(zip(self.ids_, self.scores_.tolist(), strict=True))
        mean = float(self.scores_.mean())
        return self.coef_ * np.array([known.get(name, mean) for name in items.ids])


class _FeatureModel(_PairModel):
    """Shared: features of items, each group scaled to differences of about 1."""

    def _fit_features(self, items: Items) -> None:
        if items.features is None:
            raise InputError(f"{type(self).__name__} needs features; these items have none.")
        self._groups = FeatureGroups.of(items.features, items.feature_groups)
        rng = np.random.default_rng(0)
        self._scales = [np.sqrt(half_mean_square(part, rng)) for part in self._groups.parts(items.features)]

    def _features(self, items: Items) -> Any:
        if items.features is None:
            raise InputError(f"{type(self).__name__} needs features; these items have none.")
        parts = self._groups.parts(items.features)
        scaled: list[Any] = [part / scale for part, scale in zip(parts, self._scales, strict=True)]
        return sp.hstack([sp.csr_array(part) for part in scaled], format="csr") if len(scaled) > 1 else scaled[0]


def _gram(a: Any, b: Any) -> FloatArray:
    product = a @ b.T
    return np.asarray(product.toarray() if sp.issparse(product) else product)


class LogisticDifferenceRanker(_FeatureModel):
    """Logistic regression on differences of features, its penalty chosen by cross-validation over groups of items.

    Solved in the space of the items: as many weights as items, however many features there are.

    Parameters
    ----------
    cs : sequence of float
        Inverse penalties to choose from.
    n_splits : int
    """

    def __init__(
        self, *, cs: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), n_splits: int = 3
    ) -> None:
        self.cs = cs
        self.n_splits = n_splits

    def fit(self, X: Any, y: Any, *, items: Items) -> "LogisticDifferenceRanker":
        """Choose the penalty and fit."""
        votes = Comparisons.from_xy(X, y, items)
        self._fit_features(items)
        x = self._features(items)
        values, vectors = scipy.linalg.eigh(_gram(x, x))
        kept = values > 1e-9 * values.max()
        # K = Φ Φᵀ: the same model with one weight a kept direction
        basis = vectors[:, kept] * np.sqrt(values[kept])
        losses = np.zeros(len(self.cs))
        for train, test in self._splits(votes):
            start = np.zeros(basis.shape[1])
            for k, c in enumerate(self.cs):
                start = self._solve(basis, votes.subset(train), c, start)
                score = basis @ start
                held = votes.subset(test)
                z = score[held.left] - score[held.right]
                losses[k] += float(np.sum(np.logaddexp(0.0, z) - held.value * z))
        self.c_ = self.cs[int(np.argmin(losses))]
        weights = self._solve(basis, votes, self.c_, np.zeros(basis.shape[1]))
        dual = vectors[:, kept] @ (weights / np.sqrt(values[kept]))
        self.coef_ = np.asarray(x.T @ dual).ravel()
        return self

    def _splits(self, votes: Comparisons) -> list[tuple[AnyArray, AnyArray]]:
        if votes.items.groups is None:
            return list(KFold(self.n_splits, shuffle=True, random_state=0).split(votes.left))
        return list(GroupKFold(self.n_splits).split(votes.left, groups=votes.groups.astype(str)))

    @staticmethod
    def _solve(basis: FloatArray, votes: Comparisons, c: float, start: FloatArray) -> FloatArray:
        n = votes.items.n_items
        item_loss = vote_loss(votes.left, votes.right, votes.value, np.ones(votes.n_votes), n_items=n)

        def loss(weights: FloatArray) -> tuple[float, FloatArray]:
            value, gradient = item_loss(basis @ weights)
            return value, basis.T @ gradient

        return minimise_lbfgs(l2_penalised(loss, 1.0 / c), start, max_iter=200, tol=1e-2).weights

    def score_items(self, items: Items) -> FloatArray:
        """Scores, shape (n_items,)."""
        check_is_fitted(self)
        return np.asarray(self._features(items) @ self.coef_).ravel()


class ScoreRegressionRanker(_FeatureModel):
    """Scores of the training items by votes alone, then a support vector regression on features.

    Parameters
    ----------
    scores : {"preference", "pagerank"}
        ``preference`` is PL+SVR of [SG18]; ``pagerank`` its SVM row for rankings.
    c : float
        Of the regression.
    """

    def __init__(self, *, scores: str = "preference", c: float = 1.0) -> None:
        self.scores = scores
        self.c = c

    def fit(self, X: Any, y: Any, *, items: Items) -> "ScoreRegressionRanker":
        """Score the items, then fit the regression."""
        votes = Comparisons.from_xy(X, y, items)
        n = items.n_items
        if self.scores == "pagerank":
            raw = np.log(pagerank(votes.left, votes.right, votes.value, n_items=n))
        else:
            rng = np.random.default_rng(0)
            raw = bradley_terry(votes.left, votes.right, votes.value, n_items=n, alpha=0.5, rng=rng).mean
        seen = np.unique(np.concatenate([votes.left, votes.right]))
        self._fit_features(items)
        self._train = self._features(items)[seen]
        self._gamma = 0.5 / median_distance(self._train, np.random.default_rng(0)) ** 2
        self._svr = SVR(kernel="precomputed", C=self.c, epsilon=0.1).fit(self._kernel(self._train), raw[seen])
        score = self._svr.predict(self._kernel(self._features(items)))
        self.coef_ = _slope(score[votes.left] - score[votes.right], votes)
        return self

    def score_items(self, items: Items) -> FloatArray:
        """Scores, shape (n_items,)."""
        check_is_fitted(self)
        return np.asarray(self.coef_ * self._svr.predict(self._kernel(self._features(items))))

    def _kernel(self, x: Any) -> FloatArray:
        """RBF kernel with the training items: many sparse features cost less in one product than pair by pair."""
        return np.exp(-self._gamma * squared_distances(x, self._train))


class _ConcatenatedPairs(_FeatureModel):
    """Shared: a kernel classifier on the features of both texts side by side, trained on each pair in both orders.

    All decided votes are used. The kernel is that of ``n_landmarks`` of the pairs, drawn at random (Nyström): its cost
    is linear in the votes.
    """

    def __init__(self, *, n_landmarks: int = 500, n_components: int = 100, random_state: int | None = 0) -> None:
        self.n_landmarks = n_landmarks
        self.n_components = n_components
        self.random_state = random_state

    def _kernel(self, squared: FloatArray) -> FloatArray:
        """The kernel from squared distances in units of the length-scale."""
        raise NotImplementedError

    def _classifier(self) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any, *, items: Items) -> Any:
        """Fit to all decided votes."""
        votes = Comparisons.from_xy(X, y, items)
        votes = votes.subset(votes.value != 0.5)
        rng = np.random.default_rng(self.random_state)
        self._fit_features(items)
        x = self._features(items)
        size = min(self.n_components, *x.shape)
        few = size < min(x.shape)  # then sparse features stay sparse
        x = x if few or not sp.issparse(x) else x.toarray()
        solver = "arpack" if few else "full"
        self._pca = PCA(size, random_state=self.random_state, svd_solver=solver).fit(x)
        z = self._pca.transform(x)
        both = np.vstack([np.hstack([z[votes.left], z[votes.right]]), np.hstack([z[votes.right], z[votes.left]])])
        won = np.concatenate([votes.value == 1.0, votes.value == 0.0])
        self._length = median_distance(both, np.random.default_rng(0))
        self._landmarks = np.unique(both, axis=0)
        self._landmarks = self._landmarks[rng.permutation(len(self._landmarks))[: self.n_landmarks]]
        own = self._similarity(self._landmarks)
        self._factor = np.linalg.cholesky(own + 1e-6 * own[0, 0] * np.eye(len(own)))
        self._model = self._classifier().fit(self._coordinates(both), won)
        return self

    def _coordinates(self, pairs: FloatArray) -> FloatArray:
        """Coordinates whose scalar products are the kernel through the landmarks, shape (n_pairs, n_landmarks)."""
        across = self._similarity(pairs)
        return np.asarray(scipy.linalg.solve_triangular(self._factor, across, lower=True)).T

    def _similarity(self, pairs: FloatArray) -> FloatArray:
        """Kernel values of the landmarks with pairs, shape (n_landmarks, n_pairs)."""
        return self._kernel(squared_distances(self._landmarks, pairs) / self._length**2)

    def predict_proba(self, X: Any, *, items: Items) -> FloatArray:
        """Probabilities that right and that left wins, averaged over both orders, shape (n_pairs, 2)."""
        check_is_fitted(self, "_model")
        left, right = self._sides(X, items)
        z = self._pca.transform(self._features(items))
        there = self._model.predict_proba(self._coordinates(np.hstack([z[left], z[right]])))[:, 1]
        back = self._model.predict_proba(self._coordinates(np.hstack([z[right], z[left]])))[:, 1]
        p = 0.5 * (there + 1.0 - back)
        return np.stack([1.0 - p, p], axis=1)

    def score_items(self, items: Items) -> FloatArray:
        """Mean probability of beating another item, as a normal score, shape (n_items,)."""
        n = items.n_items
        a, b = np.triu_indices(n, 1)
        p = self.predict_proba(np.column_stack([items.ids[a], items.ids[b]]), items=items)[:, 1]
        wins = np.bincount(a, p, n) + np.bincount(b, 1.0 - p, n)
        return wins / max(n - 1, 1)


class PairSupportVectorClassifier(_ConcatenatedPairs):
    """RBF support vector machine on both texts' features side by side, with Platt's probabilities."""

    def _kernel(self, squared: FloatArray) -> FloatArray:
        return np.exp(-0.5 * squared)

    def _classifier(self) -> Any:
        return CalibratedClassifierCV(LinearSVC(C=1.0, dual=False, tol=1e-3), ensemble=False, cv=3)


class PairGaussianProcessClassifier(_ConcatenatedPairs):
    """Gaussian process classifier (Laplace, Matérn 3/2) on both texts' features side by side.

    The landmarks are its inducing points.
    """

    def _kernel(self, squared: FloatArray) -> FloatArray:
        distance = np.sqrt(3.0 * squared)
        return 4.0 * (1.0 + distance) * np.exp(-distance)

    def _classifier(self) -> Any:
        return _LaplaceLogistic()


class _LaplaceLogistic(BaseEstimator):
    """Logistic regression with a standard normal prior; probabilities are averaged over Laplace's posterior."""

    def fit(self, x: FloatArray, won: AnyArray) -> "_LaplaceLogistic":
        self._mode = LogisticRegression(C=1.0, fit_intercept=False, max_iter=500).fit(x, won)
        p = self._mode.predict_proba(x)[:, 1]
        precision = (x * (p * (1.0 - p))[:, None]).T @ x + np.eye(x.shape[1])
        self._factor = np.linalg.cholesky(precision)
        return self

    def predict_proba(self, x: FloatArray) -> FloatArray:
        mean = self._mode.decision_function(x)
        variance = (scipy.linalg.solve_triangular(self._factor, x.T, lower=True) ** 2).sum(axis=0)
        p = sigmoid(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))  # MacKay's approximation of the mean
        return np.stack([1.0 - p, p], axis=1)


def pagerank(
    left: IntArray,
    right: IntArray,
    value: FloatArray,
    *,
    n_items: int,
    damping: float = 0.85,
    max_iter: int = 200,
    tol: float = 1e-10,
) -> FloatArray:
    """Stationary probabilities, shape (n_items,); an undecided vote is half an edge each way.

    Items that never lost hand their rank to all items alike.
    """
    edges = sp.csr_array(
        (np.concatenate([value, 1.0 - value]), (np.concatenate([left, right]), np.concatenate([right, left]))),
        shape=(n_items, n_items),
    )  # winner × loser
    lost = np.asarray(edges.sum(axis=0)).ravel()
    share = np.divide(1.0, lost, out=np.zeros(n_items), where=lost > 0)
    never = lost == 0

    def step(rank: FloatArray) -> FloatArray:
        flow = edges @ (rank * share) + rank[never].sum() / n_items
        return np.asarray(damping * flow + (1.0 - damping) / n_items)

    rank, _ = iterate(step, np.full(n_items, 1.0 / n_items), max_iter=max_iter, tol=tol)
    return rank
