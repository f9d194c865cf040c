"""What the estimators share: where they do their work, and what a setting may be."""

from copy import deepcopy
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from accord.scale.workers import Workers

__all__ = ["WithWorkers", "is_number", "is_whole"]


class WithWorkers:
    """An estimator with the parameters ``n_jobs`` and ``client``; what it learns does not depend on them."""

    n_jobs: int | None
    client: Any

    @property
    def _workers(self) -> Workers:
        return Workers(self.n_jobs, self.client)

    def __sklearn_clone__(self) -> Any:
        """A copy that has not been fitted; a Dask client cannot be copied and is handed on."""
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]  # of BaseEstimator
        client = given.pop("client")
        twin = type(self)(**{name: clone(value, safe=False) for name, value in given.items()})
        twin.client = client
        for name in ("_metadata_request", "_sklearn_output_config"):
            if name in vars(self):
                setattr(twin, name, deepcopy(vars(self)[name]))
        return twin


def is_number(value: Any, low: float, high: float = np.inf) -> bool:
    """Whether a setting is a finite number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return low <= float(value) <= high and float(value) < np.inf


def is_whole(value: Any, low: int) -> bool:
    """Whether a setting is a whole number of at least ``low``."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= low
