"""Hugging Face: Parquet files and a data set card that its loader reads without code."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project

__all__ = ["FORMAT", "to_hf"]


def to_hf(project: Project, folder: str | Path) -> dict[str, int]:
    """Write a project as a data set: ``datasets.load_dataset(folder, "judgements")`` reads it.

    Returns
    -------
    written : dict
        Rows by file.
    """
    folder = Path(folder)
    tables = {"items": project.item_table, "judgements": project.judgement_table, "links": project.link_table}
    written = {}
    for name, table in tables.items():
        if table.num_rows:
            (folder / "data").mkdir(parents=True, exist_ok=True)
            pq.write_table(_plain(table), folder / "data" / f"{name}.parquet", compression="zstd")
            written[f"data/{name}.parquet"] = table.num_rows
    (folder / "README.md").write_text(_card(project, tables), encoding="utf-8")
    return {**written, "README.md": 1}


def _plain(table: pa.Table) -> pa.Table:
    """Without dictionaries, which the loader would show as codes, and without empty columns."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if column.null_count < len(column):
            columns[name] = pc.cast(column, pa.string()) if pa.types.is_dictionary(column.type) else column
    return pa.table(columns)


def _card(project: Project, tables: dict[str, pa.Table]) -> str:
    given = [name for name, table in tables.items() if table.num_rows]
    default = "judgements" if "judgements" in given else "items"
    configs = "".join(
        f"- config_name: {name}\n  data_files: data/{name}.parquet\n" + ("  default: true\n" if name == default else "")
        for name in given
    )
    people = len(pc.unique(project.judgement_table.column("annotator_id")).drop_null()) if given else 0
    counts = "".join(f"| {name} | {tables[name].num_rows:,} |\n" for name in given)
    source = f"Source: {project.source}\n\n" if project.source else ""
    return (
        f"---\nconfigs:\n{configs}tags:\n- accord\n- {project.kind}\n---\n\n"
        f"# Judgements of kind {project.kind}\n\n{source}| table | rows |\n|---|---|\n{counts}\n"
        f"People who judged: {people:,}.\n\n"
        "`items` has the texts, `judgements` what people said of them (`kind` is pair, label, score or span; a "
        "judgement counts unless its `status` says something else than done), `links` what joins two texts. Offsets "
        "are code points of the text, from 0.\n"
    )


def _detect(seen: Glimpse) -> str | None:
    return None  # its Parquet files are plain tables


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    return to_hf(project, folder)


FORMAT = Format("huggingface", "a Hugging Face data set", _detect, None, _write)
