"""Cells that a spreadsheet would run are disarmed, and nothing is lost by it."""

import csv

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.data.reading.sources import CODED, open_source
from accord.data.reading.spreadsheets import disarmed, read_back
from accord.data.reading.writing import write_csv

FORMULAS = [
    "=1+1",
    "+1+cmd",
    "-1-cmd",
    "@SUM(A1)",
    "\n=1",
    "\t=1",
    "\r\n =1",
    "＝1+1",
    "＋a",
    "－a",
    "＠a",
    "\u00a0=1",
    "'=1",
]
PLAIN = ["yes", "-5", "+1.5e3", "-0.5", "a=b", "it's", "'tis", "", "'"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_are_disarmed(cell):
    assert disarmed(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", PLAIN)
def test_everything_else_stays(cell):
    assert disarmed(cell) == cell


@given(st.lists(st.text(alphabet=st.sampled_from("'=+-@＝＠ \n\t1a\u200b"), max_size=6), max_size=8), st.booleans())
def test_what_was_disarmed_is_read_back(cells, coded):
    column = pa.array([disarmed(cell) for cell in cells], pa.string())
    block = pa.RecordBatch.from_arrays([column.cast(CODED) if coded else column], ["a"])
    back = read_back(block)
    assert back.schema == block.schema
    assert back.column(0).to_pylist() == cells


@pytest.mark.parametrize("suffix, separator", [(".csv", ","), (".tsv", "\t")])
def test_tables_come_back_from_files(suffix, separator, tmp_path):
    cells = [*FORMULAS, *(cell for cell in PLAIN if cell)]
    path = tmp_path / f"table{suffix}"
    write_csv(pd.DataFrame({"text": cells, "n": range(len(cells))}), path, sep=separator)
    with path.open(newline="", encoding="utf-8") as file:
        stored = [row[0] for row in csv.reader(file, delimiter=separator)][1:]
    assert not any(cell.lstrip()[:1] in tuple("=@＝＋－＠") for cell in stored)
    found = [text for block in open_source(path).blocks(["text"]) for text in block.column(0).to_pylist()]
    assert found == cells
