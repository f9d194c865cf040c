"""What the estimators share: where they do their work."""

from copy import deepcopy
from typing import Any

from sklearn.base import clone

from accord.scale.workers import Workers

__all__ = ["WithWorkers"]


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
