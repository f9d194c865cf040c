"""Reasons: why the model that predicts says what it says of a text, kept beside the results."""

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from accord.data.project import Project
from accord.errors import InputError
from accord.workflows.kinds import task_of

__all__ = ["with_reasons"]

_MOST_REASONS = 8
# The first texts of the results are explained, for so long: a refit must not become much slower by it.
_SECONDS, _LEAST, _MOST = 2.0, 1, 200


def with_reasons(rows: Iterable[Mapping[str, Any]], model: Any, project: Project) -> Iterator[dict[str, Any]]:
    """Rows of results, the first of them with ``reasons``: lists of what, how strongly, and of which kind."""
    used, n_done, is_able = 0.0, 0, model is not None
    for row in rows:
        kept = dict(row)
        if is_able and (n_done < _LEAST or (n_done < _MOST and used < _SECONDS)):
            started = time.process_time()
            try:
                kept["reasons"] = _reasons(model, project, str(row["item_id"]))
                n_done += 1
            except InputError:  # a text that the model has nothing to say of
                kept["reasons"] = []
            used += time.process_time() - started
        yield kept


def _reasons(model: Any, project: Project, name: str) -> list[list[Any]]:
    table = task_of(project.kind).explain(model, project, name).head(_MOST_REASONS)
    return [
        [str(row["reason"]), float(row["effect"]), str(row["kind"])]
        for row in table.to_dict("records")
        if np.isfinite(float(row["effect"]))
    ]
