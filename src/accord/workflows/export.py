"""Write tables, and projects in other tools' formats, as files that other programs read."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from accord.data.formats.registry import format_names, format_of
from accord.data.project import Project, is_project
from accord.data.reading.writing import write_csv, write_lines
from accord.data.replacing import replacing
from accord.errors import InputError, MissingDependencyError, did_you_mean
from accord.workflows.judged import soft_labels

__all__ = ["FORMATS", "SOFT_LABELS", "Exported", "arrow_table", "export", "export_as", "with_spans", "write_frame"]


_SPANS = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64()), ("quote", pa.string())]))


def with_spans(frame: pd.DataFrame, write: Callable[[list[tuple[int, int, str]]], Any]) -> pd.DataFrame:
    """The frame with every list of spans (start, end, quote) as another program reads it."""
    listed = [str(name) for name in frame if any(isinstance(cell, list) for cell in frame[name])]
    return frame.assign(**{name: frame[name].map(write, na_action="ignore") for name in listed})


def arrow_table(frame: pd.DataFrame) -> pa.Table:
    """The frame for a columnar file: lists of spans are lists of records with start, end and quote."""
    table = pa.Table.from_pandas(with_spans(frame, _span_records), preserve_index=False)
    for place, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(_SPANS))
    return table.replace_schema_metadata(None)


def _span_records(spans: list[tuple[int, int, str]]) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "quote": quote} for start, end, quote in spans]


def _csv(frame: pd.DataFrame, path: Path, sep: str = ",") -> None:
    write_csv(with_spans(frame, lambda spans: json.dumps(spans, ensure_ascii=False)), path, sep=sep)


def _jsonl(frame: pd.DataFrame, path: Path) -> None:
    frame.to_json(path, orient="records", lines=True, force_ascii=False)


def _xlsx(frame: pd.DataFrame, path: Path) -> None:
    try:
        import xlsxwriter
    except ModuleNotFoundError:
        raise MissingDependencyError("spreadsheets need xlsxwriter. Install accord-learn[sheets].") from None
    # Cells that begin like a formula or an address stay text.
    options = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    with xlsxwriter.Workbook(path, options) as book:
        sheet = book.add_worksheet("Accord")
        bold = book.add_format({"bold": True})
        sheet.write_row(0, 0, [str(name) for name in frame.columns], bold)
        for row, cells in enumerate(frame.itertuples(index=False), start=1):
            for column, cell in enumerate(cells):
                if isinstance(cell, list | tuple | dict):
                    sheet.write_string(row, column, json.dumps(cell, ensure_ascii=False, default=str))
                elif not pd.isna(cell):
                    sheet.write(row, column, cell.item() if hasattr(cell, "item") else cell)
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, max(len(frame), 1), max(len(frame.columns) - 1, 0))


FORMATS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "csv": _csv,
    "tsv": lambda frame, path: _csv(frame, path, sep="\t"),
    "jsonl": _jsonl,
    "parquet": lambda frame, path: pq.write_table(arrow_table(frame), path),
    "xlsx": _xlsx,
}


SOFT_LABELS = "soft-labels"
_SOFT_FILE = "soft_labels.jsonl"


@dataclass(frozen=True)
class Exported:
    """What an export wrote: rows by file, and what the other tool cannot hold."""

    files: dict[str, int]
    lost: dict[str, int]


def write_frame(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a frame in the format that the file's name ends with."""
    path = Path(path)
    write = FORMATS.get(path.suffix.lstrip("."))
    if write is None:
        raise InputError(f"the file's name must end in {', '.join('.' + name for name in FORMATS)}; got {path.name!r}.")
    with replacing(path) as part:
        write(frame, part)


def export(project: Project, folder: str | Path, *, form: str) -> dict[str, int]:
    """Write a project in a format; returns the rows by file. See :func:`export_as`."""
    return export_as(project, folder, form=form).files


def export_as(project: Project, folder: str | Path, *, form: str) -> Exported:
    """Write the project's tables, each as one file, the files of another tool, or its soft labels.

    Columns and tables that hold nothing are left out. All files are written before the first one appears in the folder,
    and each appears whole.
    """
    folder = Path(folder)
    if is_project(folder):  # its own tables have the names of exported ones
        raise InputError(f"an export must not go into a project's folder; {folder} is one. Choose another folder.")
    known_forms = (*FORMATS, SOFT_LABELS, *format_names(writable=True))
    if form not in known_forms:
        known = ", ".join(known_forms)
        raise InputError(f"the format must be one of {known}; got {form!r}.{did_you_mean(form, known_forms)}")
    lost = Counter[str]()
    with _written_beside(folder) as part:
        if form in FORMATS:
            written = _tables(project, part, form)
        elif form == SOFT_LABELS:
            written = {_SOFT_FILE: write_lines(part / _SOFT_FILE, _soft_records(project))}
            if not written[_SOFT_FILE]:
                raise InputError("soft labels are made of labels; this project has none. Choose another format.")
        else:
            write = format_of(form).write
            assert write is not None  # it is writable
            written = write(project, part, lost)
            if not any(written.values()):
                reason = f": {next(iter(lost))}" if lost else ""
                raise InputError(f"nothing of this project can be written as {form}{reason}. Choose another format.")
    return Exported(written, dict(lost))


def _soft_records(project: Project) -> Iterator[dict[str, Any]]:
    """Each text with the probability of each label, by people where they labelled it, else by judges."""
    texts = dict(zip(*(project.item_table.column(name).to_pylist() for name in ("item_id", "text")), strict=True))
    for row in soft_labels(project).to_dict("records"):
        p = {str(name)[2:]: float(value) for name, value in row.items() if str(name).startswith("p.")}
        yield {"item_id": row["item_id"], "text": texts[row["item_id"]], "label": max(p, key=lambda name: p[name]),
               "given": bool(row["given"]), "probabilities": p}  # fmt: skip


@contextmanager
def _written_beside(folder: Path) -> Iterator[Path]:
    """A folder to write to; when all is written, each file takes its place in ``folder`` whole."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".accord-") as work:
            yield Path(work)
            for file in sorted(path for path in Path(work).rglob("*") if path.is_file()):
                target = folder / file.relative_to(work)
                target.parent.mkdir(parents=True, exist_ok=True)
                file.replace(target)
    except BaseException:
        if made:  # nothing was written: leave no empty folder
            with suppress(OSError):
                folder.rmdir()
        raise


def _tables(project: Project, folder: Path, form: str) -> dict[str, int]:
    written = {}
    for name, frame in project.frames().items():
        if len(frame):
            write_frame(frame.dropna(axis="columns", how="all"), folder / f"{name}.{form}")
            written[f"{name}.{form}"] = len(frame)
    return written
