"""Ridge regression on label indicators, in the dual: scores of texts left out of training without training again."""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = ["RidgeScorer", "ridge_dual"]


def ridge_dual(
    gram: FloatArray, targets: FloatArray, groups: AnyArray, *, strength: float, with_bias: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Dual weights of ridge regression, and the score of every row by the model trained without its group.

    With A = (K + λI)⁻¹ and a = A·t, the score of group g without g is t_g − (A_gg)⁻¹·a_g: exact, not an approximation.

    Parameters
    ----------
    gram : float array of shape (n, n)
        Inner products of the rows (add a constant for a bias).
    targets : float array of shape (n, n_targets)
    groups : array of shape (n,)
    strength : float
        λ.
    with_bias : bool
        Whether the left-out scores hold the bias, which is the sum of the dual weights where a constant of 1 was added.
        Without a group its labels are rarer, so that the bias then speaks against them.

    Returns
    -------
    dual_weights, left_out_scores : float array of shape (n, n_targets)
    """
    regular = gram + strength * np.eye(len(gram))
    inverse, failed = scipy.linalg.lapack.dpotri(scipy.linalg.cholesky(regular, lower=True, overwrite_a=True), lower=1)
    if failed:
        raise InputError(f"a Gram matrix must be positive definite with λ = {strength:g} added; raise λ.")
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    weights = inverse @ targets
    left_out = np.empty_like(targets, dtype=np.float64)
    column_sums, bias = inverse.sum(axis=0), weights.sum(axis=0)
    codes = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        away = np.linalg.solve(inverse[np.ix_(rows, rows)], weights[rows])
        left_out[rows] = targets[rows] - away
        if not with_bias:
            # The dual weights without g are a − A_·g·(A_gg)⁻¹·a_g, and their sum is the bias.
            left_out[rows] -= bias - column_sums[rows] @ away
    return weights, left_out


class RidgeScorer(ClassifierMixin, BaseEstimator):
    """A linear classifier by ridge regression on ±1 indicators, for rows of about unit length.

    Up to ``max_gram`` rows it is solved in the dual, and :meth:`out_of_group_scores` gives the exact scores of every
    group by the model trained without it. Beyond, it is solved in the primal by conjugate gradients.

    Parameters
    ----------
    strength : float
        Penalty λ on the squared weights.
    max_gram : int
        Largest number of rows for which the Gram matrix is formed.
    """

    def __init__(self, *, strength: float = 1.0, max_gram: int = 4000) -> None:
        self.strength = strength
        self.max_gram = max_gram

    def fit(self, X: Any, y: Any) -> "RidgeScorer":
        """Fit on features (n, n_features), sparse or dense, and labels (n,)."""
        X = sp.csr_matrix(X, dtype=np.float64)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"a classifier needs two labels or more; all {len(codes)} rows are {self.classes_[0]!r}.")
        targets = indicator_targets(codes, len(self.classes_))
        if X.shape[0] <= self.max_gram:
            gram = (X @ X.T).toarray() + 1.0
            self._dual: tuple[FloatArray, FloatArray] | None = (gram, targets)
            weights = scipy.linalg.solve(gram + self.strength * np.eye(len(gram)), targets, assume_a="pos")
            self.coef_, self.intercept_ = (X.T @ weights).T, weights.sum(axis=0)
        else:
            self._dual = None
            self.coef_, self.intercept_ = _primal(X, targets, self.strength)
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores, shape (n,) of the second label for two labels, else (n, n_labels)."""
        check_is_fitted(self)
        scores = sp.csr_matrix(X) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)

    def predict(self, X: Any) -> AnyArray:
        """The label of the largest score, shape (n,)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def out_of_group_scores(self, groups: AnyArray) -> FloatArray | None:
        """Scores of the training rows, each by the model trained without its group; ``None`` above ``max_gram``."""
        check_is_fitted(self)
        if self._dual is None:
            return None
        gram, targets = self._dual
        scores = ridge_dual(gram, targets, groups, strength=self.strength)[1]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def forget_training(self) -> "RidgeScorer":
        """Drop the Gram matrix, which only :meth:`out_of_group_scores` needs."""
        self._dual = None
        return self


def indicator_targets(codes: AnyArray, n_labels: int) -> FloatArray:
    """±1 targets, shape (n, 1) of the second label for two labels, else (n, n_labels)."""
    if n_labels == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_labels), 1.0, -1.0)


def _primal(X: sp.csr_matrix, targets: FloatArray, strength: float) -> tuple[FloatArray, FloatArray]:
    """Weights and bias (penalised alike) by conjugate gradients on (XᵀX + λI) w = Xᵀt."""
    wide = sp.hstack([X, np.ones((X.shape[0], 1))], format="csr")
    n = wide.shape[1]
    normal = LinearOperator((n, n), matvec=lambda w: wide.T @ (wide @ w) + strength * w, dtype=np.float64)
    solved = np.array([cg(normal, wide.T @ t, rtol=1e-6, maxiter=1000)[0] for t in targets.T])
    return solved[:, :-1], solved[:, -1]
