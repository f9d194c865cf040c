"""How much annotators agree, beyond chance."""

from typing import Literal

import numpy as np
from sklearn.metrics import cohen_kappa_score

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]


def cohen_kappa(first: AnyArray, second: AnyArray) -> float:
    """Cohen's κ of two annotators who labelled the same items: 1 is full agreement, 0 that of chance."""
    first, second = np.asarray(first), np.asarray(second)
    if len(first) != len(second) or not len(first):
        raise InputError(f"both annotators need a label an item; they have {len(first)} and {len(second)}.")
    if (first == second).all():
        return 1.0  # κ has no value where only one label occurs; full agreement is 1
    return float(cohen_kappa_score(first, second))


def fleiss_kappa(counts: AnyArray) -> float:
    """Fleiss's κ of many annotators, the same number for every item.

    Parameters
    ----------
    counts : int array of shape (n_items, n_labels)
        How many annotators gave each label to each item.
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 2:
        raise InputError(f"Fleiss's kappa needs a table of items by labels; this has shape {counts.shape}.")
    raters = counts.sum(axis=1)
    if not len(counts) or raters[0] < 2 or (raters != raters[0]).any():
        raise InputError(
            "Fleiss's kappa needs the same number of labels, two or more, for every item; there are from "
            f"{raters.min(initial=np.inf):g} to {raters.max(initial=0):g}. Use krippendorff_alpha."
        )
    n = raters[0]
    observed = ((counts**2).sum(axis=1) - n).mean() / (n * (n - 1.0))  # mean P_i
    shares = counts.sum(axis=0) / counts.sum()
    expected = (shares**2).sum()  # P_e = Σ p_j²
    return 1.0 if expected == 1.0 else float((observed - expected) / (1.0 - expected))


def krippendorff_alpha(values: AnyArray, *, level: Literal["nominal", "ordinal", "interval"] = "nominal") -> float:
    """Krippendorff's α: any number of annotators, any overlap, missing values allowed.

    Parameters
    ----------
    values : array of shape (n_annotators, n_items)
        Missing values are NaN, or ``None`` among labels that are not numbers.
    level : {"nominal", "ordinal", "interval"}
        What a distance between two values means: whether they differ, how many values of the data lie between them,
        or their squared difference.

    Returns
    -------
    alpha : float
        1 − observed / expected disagreement; NaN where no two different values can be paired.
    """
    table = np.asarray(values, dtype=object)
    missing = np.array([v is None or v != v for v in table.ravel()], dtype=bool).reshape(table.shape)
    if table.ndim != 2 or missing.all():
        raise InputError(
            f"alpha needs a table of annotators by items with values; this has shape {table.shape}, "
            f"{int((~missing).sum())} values."
        )
    known = table[~missing]
    names = sorted(set(known.tolist()))
    code = {name: place for place, name in enumerate(names)}
    # n_uc: how often each value was given to each item; items with one value pair with nothing.
    counts = np.zeros((table.shape[1], len(names)))
    np.add.at(counts, (np.nonzero(~missing)[1], np.array([code[v] for v in known])), 1.0)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        raise InputError("alpha needs an item that two annotators judged; there is none. Let some items overlap.")
    # Coincidences o_ck = Σ_u n_uc (n_uk − δ_ck) / (m_u − 1)
    weights = 1.0 / (counts.sum(axis=1) - 1.0)
    coincidences = (counts * weights[:, None]).T @ counts - np.diag(weights @ counts)
    totals = coincidences.sum(axis=1)
    distance = _distance(level, names, totals)
    expected = totals @ distance @ totals / (totals.sum() - 1.0)
    return float(1.0 - (coincidences * distance).sum() / expected) if expected > 0.0 else float("nan")


def _distance(level: str, names: list[object], totals: FloatArray) -> FloatArray:
    """δ² between values, shape (n_values, n_values)."""
    if level == "nominal":
        return 1.0 - np.eye(len(names))
    if level == "interval":
        points = np.array(names, dtype=np.float64)
    elif level == "ordinal":
        # δ_ck = Σ_{g=c..k} n_g − (n_c + n_k) / 2: the distance between mid-ranks.
        points = np.cumsum(totals) - totals / 2.0
    else:
        raise InputError(f"the level is 'nominal', 'ordinal' or 'interval'; this is {level!r}.")
    return np.asarray((points[:, None] - points[None, :]) ** 2)
