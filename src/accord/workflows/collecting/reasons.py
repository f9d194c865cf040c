"""Reasons: why the model that predicts says what it says of a text, kept beside the results."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.data.project import Project
from accord.errors import InputError
from accord.store import scores
from accord.store.connections import pack_model, unpack_model
from accord.store.database import Connection
from accord.store.projects import StoredItem, StoredProject
from accord.workflows.collecting.large import parts
from accord.workflows.collecting.quality import settled
from accord.workflows.exchange import project_of
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of

__all__ = ["Asked", "asked", "find_reasons", "kept", "with_reasons"]

# So many reasons where all are of one kind; of several kinds the strongest of each, so that none hides another.
_MOST_REASONS, _LEAST_OF_KIND = 8, 3
# The first texts of the results are explained, for so long: a refit must not become much slower by it.
_SECONDS, _LEAST, _MOST = 2.0, 1, 200
# The others are explained when somebody asks, by the model that is kept for that where it has at most so many bytes.
_LARGEST = 8 * 2**20


def with_reasons(rows: Iterable[Mapping[str, Any]], model: Any, project: Project) -> Iterator[dict[str, Any]]:
    """Rows of results, the first of them with ``reasons``: lists of what, how strongly, and of which kind."""
    used, n_done, is_able = 0.0, 0, model is not None
    for row in rows:
        kept = dict(row)
        if is_able and (n_done < _LEAST or (n_done < _MOST and used < _SECONDS)):
            started = time.process_time()
            try:
                kept |= _reasons(model, project, str(row["item_id"]))
                n_done += 1
            except InputError:  # a text that the model has nothing to say of
                kept["reasons"] = []
            used += time.process_time() - started
        yield kept


def _reasons(model: Any, project: Project, name: str) -> dict[str, Any]:
    """What is explained, which may be another label than the one that people gave, and the reasons for it."""
    table = task_of(project.kind).explain(model, project, name)
    share = max(_LEAST_OF_KIND, _MOST_REASONS // max(1, table["kind"].nunique()))
    rows = [
        [str(row["reason"]), float(row["effect"]), str(row["kind"])]
        for row in table.groupby("kind", sort=False).head(share).to_dict("records")
        if np.isfinite(float(row["effect"]))
    ]
    return {"reasons": rows, "reasons_for": str(table.attrs.get("label", ""))}


def kept(model: Any, project: Project) -> bytes | None:
    """The model as it is kept to be asked for reasons; ``None`` where there is none or it is too large."""
    packed = None if model is None else pack_model(model, project)
    return None if packed is None or len(packed) > _LARGEST else packed


@dataclass(frozen=True, eq=False)
class Asked:
    """A model and the text that it is asked about."""

    version: int
    packed: bytes
    project: Project
    item_id: str


def asked(connection: Connection, stored: StoredProject, item: StoredItem) -> Asked:
    """The model that is kept of a project, to be asked why it says what it says of a text."""
    found = scores.kept_model(connection, stored.id)
    if found is None:
        raise InputError(
            "reasons need a model that was fitted and is small enough to be kept; this project has none. Export the "
            "project and use 'accord train' and 'accord explain'."
        )
    project = settled(project_of(connection, stored))
    project = parts(project if project.kind == "pairs" else people_only(project)).seen  # as the model was fitted
    if item.item_id not in project.items():
        raise InputError("of so many texts the model looks at those with a judgement; this one has none yet. Judge it.")
    return Asked(*found, project, item.item_id)


def find_reasons(one: Asked) -> dict[str, Any]:
    """What is explained and the reasons, as they are added to the results."""
    return unpack_model(one.packed).use(_reasons, one.project, one.item_id)
