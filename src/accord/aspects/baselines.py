"""What people would try first on several scores of a text: regression and plain classification, an aspect at a time.

Every strength is chosen on development texts. A baseline is a function
``(x, ranks, dev_x, dev_ranks, test_x) -> ranks of the test texts``. Missing scores (0) are left out, aspect by aspect.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

from accord.aspects.ordinal import fit_all_threshold, median_ranks, mode_ranks, ordinal_probabilities
from accord.evaluation.metrics import ranking_loss
from accord.typing import FloatArray, IntArray

__all__ = ["multinomial", "ordinal_logistic", "ridge"]


def _best(tried: list[tuple[float, Any]]) -> Any:
    return min(tried, key=lambda pair: pair[0])[1]


def ridge(
    x: Any, ranks: IntArray, dev_x: Any, dev_ranks: IntArray, test_x: Any, *, n_ranks: int
) -> dict[str, IntArray]:
    """Ridge regression: rounded, and cut at thresholds fitted on out-of-fold scores."""
    tried = []
    for strength in (0.1, 0.3, 1.0):
        dev, test, held_out = (np.zeros((x_.shape[0], ranks.shape[1])) for x_ in (dev_x, test_x, x))
        for i in range(ranks.shape[1]):
            seen = np.flatnonzero(ranks[:, i])
            model = Ridge(alpha=strength, solver="sparse_cg", tol=1e-3)
            for train, rest in KFold(5, shuffle=True, random_state=0).split(seen):
                held_out[seen[rest], i] = model.fit(x[seen[train]], ranks[seen[train], i]).predict(x[seen[rest]])
            model.fit(x[seen], ranks[seen, i])
            dev[:, i], test[:, i] = model.predict(dev_x), model.predict(test_x)
        rounded = [np.clip(np.rint(scores), 1, n_ranks).astype(np.int64) for scores in (dev, test)]
        cuts = [_thresholds(held_out[:, i], ranks[:, i], n_ranks) for i in range(ranks.shape[1])]
        cut = [np.stack([1 + np.searchsorted(c, s[:, i]) for i, c in enumerate(cuts)], axis=1) for s in (dev, test)]
        tried.append((rounded, cut))
    return {
        name: _best([(ranking_loss(dev_ranks, pair[way][0]), pair[way][1]) for pair in tried])
        for way, name in enumerate(("ridge", "ridge_thresholds"))
    }


def _thresholds(scores: FloatArray, ranks: IntArray, n_ranks: int) -> FloatArray:
    """Cuts of least ranking loss: the loss is a sum over thresholds r of errors of "above r", so each stands alone."""
    scores, ranks = scores[ranks > 0], ranks[ranks > 0]
    order = np.argsort(scores)
    ordered = np.concatenate([[scores[order[0]] - 1.0], scores[order]])
    cuts = []
    for r in range(1, n_ranks):
        above = ranks[order] > r
        # Cut after position p: errors are those above r among the first p, and those not above r after them.
        errors = np.concatenate([[0], np.cumsum(above)]) + np.concatenate([[0], np.cumsum(~above)])[-1]
        errors = errors - np.concatenate([[0], np.cumsum(~above)])
        cuts.append(ordered[int(np.argmin(errors))])
    return np.maximum.accumulate(np.array(cuts))


def ordinal_logistic(
    x: Any, ranks: IntArray, dev_x: Any, dev_ranks: IntArray, test_x: Any, *, n_ranks: int
) -> dict[str, IntArray]:
    """All-threshold ordinal logistic regression, one weight vector an aspect; decoded by the median."""
    tried = []
    for penalty in (0.1, 0.3):
        model, _ = fit_all_threshold(x, ranks, n_ranks=n_ranks, penalty=penalty, tol=1e-3 * len(ranks))
        loss = ranking_loss(dev_ranks, median_ranks(ordinal_probabilities(model, dev_x)))
        tried.append((loss, median_ranks(ordinal_probabilities(model, test_x))))
    return {"ordinal_logistic": _best(tried)}


def multinomial(
    x: Any, ranks: IntArray, dev_x: Any, dev_ranks: IntArray, test_x: Any, *, n_ranks: int
) -> dict[str, IntArray]:
    """Multinomial logistic regression an aspect: most probable rank, and median."""
    strength, ways = 10.0, {"multinomial_argmax": mode_ranks, "multinomial": median_ranks}
    test = np.zeros((test_x.shape[0], ranks.shape[1], n_ranks))
    for i in range(ranks.shape[1]):
        seen = ranks[:, i] > 0
        tried = []
        # The strength is chosen with the first aspect, and kept.
        for c in (10.0, 30.0) if i == 0 else (strength,):
            model = LogisticRegression(C=c, tol=1e-3, max_iter=300).fit(x[seen], ranks[seen, i])
            dev, p = (_spread(model, x_, n_ranks) for x_ in (dev_x, test_x))
            tried.append((ranking_loss(dev_ranks[:, i], median_ranks(dev)), (c, p)))
        strength, test[:, i] = _best(tried)
    return {name: decode(test) for name, decode in ways.items()}


def _spread(model: LogisticRegression, x: Any, n_ranks: int) -> FloatArray:
    """Probabilities of all ranks, 0 for those that training never saw."""
    p = np.zeros((x.shape[0], n_ranks))
    p[:, model.classes_.astype(np.int64) - 1] = model.predict_proba(x)
    return p
