"""What a model says of some rows of a table: one function a word, for tables that are too large to be a project.

A model trained on texts reads the columns of a project (``item_id``, ``text``, ``group_id`` …); one trained on features
reads the columns that it was trained on, by name.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.data.tables import optional_column
from accord.data.threads import Threads
from accord.errors import InputError
from accord.workflows.words import word_module

__all__ = ["GROUPED", "needed_columns", "predict_rows"]

# Words whose rows are decided together, by the column that says which ones.
GROUPED = {"threads": "group_id", "links": "group_id"}
_OPTIONAL = {
    "pairs": (),
    "threads": ("item_id", "label", "question", "asker_id", "author_id", "category"),
    "aspects": (),
    "links": ("label",),
    "rationales": (),
}


def needed_columns(word: str, model: Any, has: Sequence[str]) -> list[str]:
    """The columns to read for a model; one that is missing is refused."""
    needed = {
        "pairs": ["left", "right"],
        "threads": ["group_id", "item_id", "text"],
        "aspects": ["item_id", "text"],
        "links": ["item_id", "group_id", "text"],
        "rationales": ["item_id", "text"],
    }[word]
    if _reads_features(word, model):
        needed = ["group_id", *model.feature_names_]
    missing = [name for name in needed if name not in has]
    if missing:
        shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise InputError(f"this model of {word} reads the columns {shown}, which the table does not have. Add them.")
    return needed + [name for name in _OPTIONAL[word] if name in has and name not in needed]


def predict_rows(word: str, model: Any, table: pa.Table, linked: pa.Table | None = None) -> pd.DataFrame:
    """The predictions of some rows, whole groups of them.

    Parameters
    ----------
    word : str
    model : fitted estimator of that word
    table : pyarrow.Table
        With the columns of :func:`needed_columns`.
    linked : pyarrow.Table, optional
        Of links: ``src_id``, ``dst_id`` and optionally ``kind``, ``weight``, ``context``.
    """
    return _PREDICT[word](model, table, linked)


def _reads_features(word: str, model: Any) -> bool:
    return word == "threads" and getattr(model, "features_", None) is None


def _pairs(model: Any, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    found: pd.DataFrame = word_module("pairs").predict_pairs(model, _texts(table, ["left", "right"]), None)
    return found


def _threads(model: Any, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    module = word_module("threads")
    if not _reads_features("threads", model):
        if "question" in table.column_names:
            return module.predict_threads(model, Threads.from_table(_texts(table, table.column_names)))
        return module.predict(model, _project("threads", table, None))
    names = list(model.feature_names_)
    values = np.column_stack([table.column(name).to_numpy().astype(np.float64, copy=False) for name in names])
    groups = _coded(table.column("group_id"))
    known = optional_column(_texts(table, ["label"]), "label") if "label" in table.column_names else None
    p = model.predict_proba(values, groups=groups.indices.to_numpy(), known=known)
    label = None
    if model.model == "local+cut":
        label = model.predict(values, groups=groups.indices.to_numpy(), known=known)
    own = {"group_id": groups.cast(groups.type.value_type).to_pandas()}
    if "item_id" in table.column_names:
        own = {"item_id": table.column("item_id").to_pandas(), **own}
    return module.prediction_table(model, own, p, label, known)


def _texts_of(word: str) -> Callable[[Any, pa.Table, pa.Table | None], pd.DataFrame]:
    def run(model: Any, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
        return word_module(word).predict(model, _project(word, table, linked))

    return run


_PREDICT: dict[str, Callable[[Any, pa.Table, pa.Table | None], pd.DataFrame]] = {
    "pairs": _pairs,
    "threads": _threads,
    "aspects": _texts_of("aspects"),
    "links": _texts_of("links"),
    "rationales": _texts_of("rationales"),
}


def _project(word: str, table: pa.Table, linked: pa.Table | None) -> Project:
    """The rows as a project of their own; a column ``label`` becomes the labels that are given."""
    columns = {name: table.column(name) for name in table.column_names if name in ITEMS.names}
    if "category" in table.column_names:
        columns["meta.category"] = table.column("category")
    judged = JUDGEMENTS.empty_table()
    if "label" in table.column_names:
        given = table.filter(table.column("label").is_valid())
        judged = with_schema(
            {
                "kind": np.full(given.num_rows, "label", dtype=object),
                "item_id": given.column("item_id"),
                "value": given.column("label"),
            },
            JUDGEMENTS,
        )
    joined = LINKS.empty_table() if linked is None else linked
    if linked is not None:
        joined = with_schema({name: linked.column(name) for name in linked.column_names}, LINKS)
    return Project(word, with_schema(columns, ITEMS), judged, joined)


def _texts(table: pa.Table, names: Sequence[str]) -> pd.DataFrame:
    """Columns as plain objects, never as categories."""
    return pd.DataFrame({name: np.asarray(table.column(name).to_pylist(), dtype=object) for name in names})


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    joined = column.unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
