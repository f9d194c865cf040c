"""Named groups of features, each scaled in its own way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from accord.errors import InputError
from accord.typing import AnyArray, FloatArray

__all__ = ["FeatureGroups", "hstack_groups"]

_FEW_COLUMNS, _DENSE = 64, 0.3


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """Cuts a feature matrix into its groups and standardises the dense ones.

    Presence and tf-idf features stay as they are: dividing a rare word by its tiny deviation would make it the loudest.
    """

    names: tuple[str, ...]
    starts: tuple[int, ...]
    stops: tuple[int, ...]
    centre: tuple[FloatArray | None, ...]  # one a group; None leaves the group sparse and as it is
    scale: tuple[FloatArray | None, ...]
    n_features: int

    @classmethod
    def of(cls, features: Any, groups: Mapping[str, slice] | None, *, standardise: bool = True) -> "FeatureGroups":
        """Learn the groups' scales from a matrix of shape (n_items, n_features)."""
        width = int(features.shape[1])
        spans = {name: part.indices(width) for name, part in (groups or {"features": slice(0, width)}).items()}
        covered = np.zeros(width, dtype=int)
        for start, stop, _ in spans.values():
            covered[start:stop] += 1
        if (covered != 1).any():
            column = int(np.argmax(covered != 1))
            raise InputError(
                f"feature groups must cover every column once; column {column} is in {covered[column]} groups."
            )
        spans = {name: span for name, span in spans.items() if span[1] > span[0]}
        centre: list[FloatArray | None] = []
        scale: list[FloatArray | None] = []
        for start, stop, _ in spans.values():
            part = features[:, start:stop]
            if sp.issparse(part) and stop - start > _FEW_COLUMNS and part.nnz < _DENSE * part.shape[0] * part.shape[1]:
                centre.append(None)
                scale.append(None)
                continue
            dense = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)
            if not np.isfinite(dense).all():
                row, column = np.argwhere(~np.isfinite(dense))[0]
                raise InputError(
                    f"features must be finite; item {row} has {dense[row, column]} in column {column + start}."
                )
            spread = dense.std(axis=0)
            if standardise and len(dense):
                centre.append(dense.mean(axis=0))
                scale.append(np.where(spread > 1e-12, spread, 1.0))
            else:
                centre.append(np.zeros(stop - start))
                scale.append(np.ones(stop - start))
        starts, stops = (tuple(int(span[k]) for span in spans.values()) for k in (0, 1))
        return cls(tuple(spans), starts, stops, tuple(centre), tuple(scale), width)

    def parts(self, features: Any) -> tuple[AnyArray, ...]:
        """One matrix a group: dense float64, or CSR."""
        if features.shape[1] != self.n_features:
            raise InputError(
                f"items must have the {self.n_features} features of the fitted model; these have {features.shape[1]}."
            )
        found = []
        rows = sp.csr_array(features) if sp.issparse(features) else features
        for start, stop, centre, scale in zip(self.starts, self.stops, self.centre, self.scale, strict=True):
            part = rows[:, start:stop]
            if centre is None or scale is None:
                found.append(sp.csr_array(part, dtype=np.float64))
            else:
                dense = np.asarray(part.toarray() if sp.issparse(part) else part, dtype=np.float64)
                found.append((dense - centre) / scale)
        return tuple(found)


def hstack_groups(groups: Mapping[str, Any]) -> tuple[Any, dict[str, slice]]:
    """Matrices side by side, CSR if any is sparse, and where each stands."""
    spans: dict[str, slice] = {}
    at = 0
    for name, matrix in groups.items():
        spans[name] = slice(at, at + matrix.shape[1])
        at += matrix.shape[1]
    if any(sp.issparse(matrix) for matrix in groups.values()):
        return sp.hstack([sp.csr_array(matrix) for matrix in groups.values()], format="csr"), spans
    return np.hstack(list(groups.values())), spans
