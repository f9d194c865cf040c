"""Figures of [SG18], Tables 2 and 3 (ling+GloVe): (table, row) → metric → figure."""

__all__ = ["PAPER"]

_CLASSES, _RANKS = ("accuracy", "auc", "cee"), ("pearson", "spearman", "kendall")


def _figures(names: tuple[str, ...], *values: float) -> dict[str, float]:
    return dict(zip(names, values, strict=True))


PAPER: dict[tuple[str, str], dict[str, float]] = {
    ("strict", "svm"): _figures(_CLASSES, 0.79, 0.86, 0.47),
    ("strict", "bilstm"): _figures(_CLASSES, 0.77, 0.86, 0.57),
    ("strict", "gppl_median"): _figures(_CLASSES, 0.79, 0.87, 0.47),
    ("strict", "gppl_mlii"): _figures(_CLASSES, 0.80, 0.87, 0.51),
    ("strict", "gpc"): _figures(_CLASSES, 0.81, 0.89, 0.43),
    ("strict", "pl_svr"): _figures(_CLASSES, 0.78, 0.85, 0.51),
    ("rank", "svm"): _figures(_RANKS, 0.37, 0.48, 0.34),
    ("rank", "gppl_median"): _figures(_RANKS, 0.45, 0.65, 0.49),
    ("rank", "gppl_mlii"): _figures(_RANKS, 0.44, 0.67, 0.50),
    ("rank", "pl_svr"): _figures(_RANKS, 0.39, 0.63, 0.47),
    ("seeds", "gppl_median"): {"deviation": 0.03},
    ("crowd", "svm"): _figures(_CLASSES + _RANKS, 0.70, 0.81, 0.58, 0.32, 0.43, 0.31),
    ("crowd", "gppl_median"): _figures(_CLASSES + _RANKS, 0.77, 0.84, 0.50, 0.35, 0.54, 0.40),
    ("crowd", "gpc"): _figures(_CLASSES, 0.73, 0.86, 0.53),
    ("crowd", "pl_svr"): _figures(_CLASSES + _RANKS, 0.75, 0.82, 0.55, 0.31, 0.55, 0.40),
}
