"""From the figures of every fold to rows: means, intervals, the paper's figures, and tests between rows."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from accord.evaluation.significance import wilcoxon
from accord.evaluation.tables import Row, mean_row
from accord.pairs.paper.printed import PAPER

__all__ = ["Results", "to_rows"]

# (table, row) → metric → value
Results = dict[tuple[str, str], dict[str, float]]

_TABLES = ("strict", "rank", "crowd", "votes", "errors", "active", "scaling", "seeds", "ard", "ard_features")
# (table, metric, row): each is tested against the other rows of its table, or against those named.
_TESTED: tuple[tuple[str, str, str, tuple[str, ...] | None], ...] = (
    ("strict", "cee", "gppl", None),
    ("strict", "accuracy", "gppl", None),
    ("rank", "spearman", "gppl", None),
    ("crowd", "cee", "gppl", ("gpc", "gppl_median", "logistic_diff", "longer", "pl_svr", "svm")),
    ("crowd", "cee", "gppl_reliability", ("gppl_full", "majority_vote", "mace")),
    ("crowd", "cee", "gppl_reliability/majority", ("gppl_reliability", "majority_vote", "mace")),
    ("votes", "cee", "gppl_reliability", None),
    *(
        ("active", "accuracy", f"{row}@{n}", (f"random@{n}",))
        for row in ("gppl", "transfer")
        for n in (50, 100, 200, 400)
    ),
)
_FEWEST = 6  # below, no difference can be significant at 5 %


def to_rows(folds: Mapping[str, Results]) -> list[Row]:
    """Means over folds with their intervals, the paper's figures beside them, and the tests between rows.

    Parameters
    ----------
    folds : mapping of fold to its figures
        A fold need not have every row.
    """
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for fold, results in folds.items():
        for key, metrics in results.items():
            for metric, value in metrics.items():
                values[key][metric][fold] = value
    rows = [
        mean_row(table, row, metric, list(found.values()), paper=PAPER.get((table, row), {}).get(metric))
        for table, row in sorted(values, key=_order)
        for metric, found in values[table, row].items()
    ]
    return rows + _tests(values)


def _order(key: tuple[str, str]) -> tuple[int, int, str]:
    table, row = key
    name, _, count = row.partition("@")
    return _TABLES.index(table), int(count or 0), name


def _tests(values: Mapping[tuple[str, str], Mapping[str, Mapping[str, float]]]) -> list[Row]:
    """p values of Wilcoxon's signed-rank test over the folds that both rows have."""
    rows = []
    for table, metric, ours, others in _TESTED:
        mine = values.get((table, ours), {}).get(metric, {})
        for other_table, other in sorted(values):
            if other_table != table or other == ours or (others is not None and other not in others):
                continue
            theirs = values[table, other].get(metric, {})
            both = [fold for fold in mine if fold in theirs]
            if len(both) >= _FEWEST:
                first, second = (np.array([side[fold] for fold in both]) for side in (mine, theirs))
                p = wilcoxon(first, second).p_value
                rows.append(Row("significance", f"{ours}~{other}", f"{table}/{metric}", None, p, p, p, len(both)))
    return rows
