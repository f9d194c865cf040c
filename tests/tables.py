"""One table in all the forms that Accord takes."""

import pandas as pd
import polars as pl
import pyarrow as pa

# From a pandas frame to the same table in another form.
FORMS = {
    "pandas": lambda frame: frame,
    "pandas objects": lambda frame: frame.astype(object),
    "polars": lambda frame: pl.DataFrame({name: _plain(frame[name]) for name in frame.columns}),
    "polars lazy": lambda frame: pl.LazyFrame({name: _plain(frame[name]) for name in frame.columns}),
    "arrow": lambda frame: pa.table({name: pa.array(_plain(frame[name])) for name in frame.columns}),
    "dictionary": lambda frame: {name: frame[name].tolist() for name in frame.columns},
    "rows": lambda frame: frame.to_dict("records"),
}


def _plain(column: "pd.Series") -> list:
    return [None if pd.isna(value) else value for value in column]


def one_sentence(error: BaseException) -> bool:
    """Rule, value and cure in at most a few short sentences on one line."""
    text = str(error)
    return "\n" not in text and text.endswith(".") and len(text) < 400
