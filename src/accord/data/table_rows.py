"""Rows of a table that is too large to be a project, in the forms that models read."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema

__all__ = ["coded", "project_of_rows", "text_columns"]


def project_of_rows(kind: str, table: pa.Table, linked: pa.Table | None = None) -> Project:
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
    return Project(kind, with_schema(columns, ITEMS), judged, joined)


def text_columns(table: pa.Table, names: Sequence[str]) -> pd.DataFrame:
    """Columns as plain objects, never as categories."""
    return pd.DataFrame({name: np.asarray(table.column(name).to_pylist(), dtype=object) for name in names})


def coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as codes and the values that they stand for."""
    column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    joined = column.unify_dictionaries().combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined
