"""Simple rows to compare with: a confidence-weighted linear classifier, as [BBB11] section 6 suggests."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = ["ConfidenceWeightedClassifier"]


class ConfidenceWeightedClassifier(ClassifierMixin, BaseEstimator):
    """A linear classifier that keeps a mean and a variance for every weight, and moves uncertain weights most.

    Adaptive regularisation of weights with a diagonal covariance (Crammer, Kulesza and Dredze 2009), the form of
    confidence-weighted learning (Dredze, Crammer and Pereira 2008) that stands wrong labels. Two labels; the weights
    are the mean over all steps.

    Parameters
    ----------
    strength : float
        Larger values move less.
    n_epochs : int
        Rounds over the rows, each in a new order.
    random_state : int
        Seed of the orders.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]), ["a", "a", "b", "b"]
    >>> ConfidenceWeightedClassifier().fit(X, y).predict(X).tolist()
    ['a', 'a', 'b', 'b']
    """

    def __init__(self, *, strength: float = 1.0, n_epochs: int = 5, random_state: int = 0) -> None:
        self.strength = strength
        self.n_epochs = n_epochs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "ConfidenceWeightedClassifier":
        """Fit on features (n, n_features), sparse or dense, and labels (n,)."""
        rows = sp.csr_matrix(X, dtype=np.float64)
        rows = sp.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(f"confidence-weighted learning takes two labels; there are {len(self.classes_)}.")
        side = np.where(codes == 1, 1.0, -1.0)
        mean, variance, total = np.zeros(rows.shape[1]), np.ones(rows.shape[1]), np.zeros(rows.shape[1])
        rng, n_steps = np.random.default_rng(self.random_state), 0
        for _ in range(self.n_epochs):
            for row in rng.permutation(rows.shape[0]):
                part = slice(rows.indptr[row], rows.indptr[row + 1])
                at, x = rows.indices[part], rows.data[part]
                margin = side[row] * float(mean[at] @ x)
                if margin < 1.0:
                    spread = variance[at] * x
                    rate = 1.0 / (float(x @ spread) + self.strength)
                    step = (1.0 - margin) * rate * side[row] * spread
                    mean[at] += step
                    total[at] -= n_steps * step  # so that the mean over steps is mean + total / steps
                    variance[at] -= rate * spread**2
                n_steps += 1
        weights = mean + total / max(n_steps, 1)
        self.coef_, self.intercept_ = weights[None, :-1], weights[-1:]
        self.n_features_in_ = rows.shape[1] - 1
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the second label, shape (n,)."""
        check_is_fitted(self)
        return np.asarray(sp.csr_matrix(X) @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> AnyArray:
        """The label on the side of the score, shape (n,)."""
        return self.classes_[(self.decision_function(X) > 0.0).astype(int)]
