"""Exchange: projects between the store and the tables that the models and other programs read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from accord.data.annotators import ANNOTATORS
from accord.data.formats.own import Rules
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.data.tables import plain
from accord.errors import InputError
from accord.store import judgements, projects, scores
from accord.store.database import Connection, Database
from accord.store.judgements import Judgement
from accord.store.projects import StoredProject
from accord.workflows.import_ import Imported, import_files, project_of_files

__all__ = [
    "Added",
    "add_texts",
    "asked_about",
    "copy_project",
    "judgement_of",
    "look_at_files",
    "project_of",
    "read_files",
    "remove_project",
    "remove_unfinished",
    "store_project",
]

_MOST_UNPACKED = 2**30
_BATCH = 2_000


def project_of(connection: Connection, stored: StoredProject, *, standing: bool = True, judged: bool = True) -> Project:
    """A stored project as tables: its texts, links and the judgements that were not undone (or every row, or none)."""
    columns = projects.item_columns(connection, stored.id)
    metas = columns.pop("meta")
    meta_names = dict.fromkeys(name for meta in metas for name in meta)
    columns |= {f"meta.{name}": [meta.get(name) for meta in metas] for name in meta_names}
    rows: dict[str, list[Any]] = {name: [] for name in JUDGEMENTS.names}
    for row in judgements.export_rows(connection, stored.id, standing=standing) if judged else ():
        values = dict(row)
        values["judgement_id"] = str(row["judgement_id"])
        values["value"] = row["label"] if row["label"] is not None else _number(row["value"])
        values["created_at"] = row["created_at"].isoformat()
        values["model_version"] = None if row["model_version"] is None else str(row["model_version"])
        for name in JUDGEMENTS.names:
            rows[name].append(values.get(name))
    found = projects.links_of(connection, stored.id)
    linked = {name: [getattr(row, name) for row in found] for name in LINKS.names}
    return Project(
        stored.kind,
        with_schema(columns, ITEMS),
        with_schema(rows, JUDGEMENTS),
        with_schema(linked, LINKS),
        settings=dict(stored.settings),
        source=f"studio: {stored.name}",
        annotator_table=_annotators(connection, stored.id),
    )


def _annotators(connection: Connection, key: int) -> pa.Table:
    found = projects.annotators_of(connection, key)
    return pa.table({name: [getattr(row, name) for row in found] for name in ANNOTATORS.names}, schema=ANNOTATORS)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:g}"


def store_project(
    database: Database,
    project: Project,
    *,
    name: str,
    created_by: int | None,
    question: str = "",
    guidelines: str = "",
    settings: Mapping[str, Any] | None = None,
) -> int:
    """Store a project's texts, links and judgements under a new key: all of them, or nothing.

    They are written a few at a time, so that others who write wait only for a moment. Nobody sees the project before
    all of it is there; what a crash leaves is removed at the next start.
    """
    weights = project.judgement_table.column("weight").drop_null().to_numpy()
    if (weights != 1.0).any():
        raise InputError(
            f"the studio counts every vote once; here a vote has the weight {weights[weights != 1.0][0]:g}. Leave the "
            "column weight out, or rank from the command line."
        )
    with database.write() as connection:
        key = projects.create_project(
            connection,
            name=name,
            kind=project.kind,
            question=question,
            guidelines=guidelines,
            settings={**_seen_choices(project), **project.settings, **(settings or {})},
            created_by=created_by,
            is_ready=False,
        )
    try:
        _store_tables(database, key, project)
        with database.write() as connection:
            projects.finish_import(connection, key)
    except BaseException:
        remove_unfinished(database, key)
        raise
    return key


def remove_unfinished(database: Database, key: int | None = None) -> None:
    """Remove what is left of an import that was cut off; without ``key`` of all that are older than an hour."""
    more = True
    while more:
        with database.write() as connection:
            more = projects.remove_unfinished(connection, key)


def _stored_texts(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the table of texts as they are stored."""
    return [
        {
            **{name: row[name] for name in ITEMS.names},
            "text": row["text"] or "",
            "meta": {
                name.removeprefix("meta."): cell
                for name, cell in row.items()
                if name.startswith("meta.") and cell is not None
            },
        }
        for row in rows
    ]


def _store_tables(database: Database, key: int, project: Project) -> None:
    for rows in _batches(project.item_table):
        with database.write() as connection:
            projects.add_items(connection, key, _stored_texts(rows))
    for rows in _batches(project.link_table):
        with database.write() as connection:
            projects.add_links(connection, key, rows)
    for rows in _batches(project.annotator_table):
        with database.write() as connection:
            projects.add_annotators(connection, key, rows)
    with database.read() as connection:
        places = projects.keys_by_id(connection, key)
    for rows in _batches(project.judgement_table):
        judged = [judgement_of(row, places) for row in rows]
        with database.write() as connection:
            judgements.append(connection, key, judged)


@dataclass(frozen=True)
class Added:
    """How many texts and links were added, how many texts were there already, how many judgements were not read."""

    texts: int
    known: int
    links: int
    judgements: int


def add_texts(database: Database, stored: StoredProject, found: Project, person_id: int) -> Added:
    """Add the texts of files to a stored project, in one transaction; an id that has another text here is refused."""
    rows = _stored_texts([row for batch in _batches(found.item_table) for row in batch])
    links = [row for batch in _batches(found.link_table) for row in batch]
    with database.write() as connection:
        new, known = [], 0
        for start in range(0, len(rows), _BATCH):
            part = rows[start : start + _BATCH]
            here = projects.items_by_id(connection, stored.id, [row["item_id"] for row in part])
            for row in part:
                if row["item_id"] not in here:
                    new.append(row)
                elif here[row["item_id"]].text == row["text"]:
                    known += 1
                else:
                    raise InputError(
                        f"an id names one text; {row['item_id']!r} has another text in this project. Give the new "
                        "texts ids of their own."
                    )
        projects.add_items(connection, stored.id, new)
        if new:  # links between texts that were there are there too
            fresh = {row["item_id"] for row in new}
            links = [row for row in links if row["src_id"] in fresh or row["dst_id"] in fresh]
            projects.add_links(connection, stored.id, links)
            scores.make_stale(connection, stored.id)
            projects.note(connection, stored.id, person_id, "texts added", texts=len(new))
    return Added(len(new), known, len(links) if new else 0, found.counts["judgements"])


def copy_project(database: Database, stored: StoredProject, *, name: str, created_by: int) -> int:
    """Make another project with the same texts, links and settings, and no answers; returns its key."""
    with database.read() as connection:
        project = project_of(connection, stored, judged=False)
    key = store_project(
        database, project, name=name, created_by=created_by, question=stored.question, guidelines=stored.guidelines
    )
    with database.write() as connection:
        projects.note(connection, key, created_by, "project made", copy_of=stored.id)
    return key


def remove_project(database: Database, stored: StoredProject, person_id: int) -> None:
    """Delete a project and all that belongs to it, a few rows at a time; what a crash leaves is removed later."""
    with database.write() as connection:
        projects.hide(connection, stored.id)
        projects.note(connection, None, person_id, "project deleted", project=stored.id, name=stored.name)
    remove_unfinished(database, stored.id)


def _batches(table: pa.Table) -> Iterator[list[dict[str, Any]]]:
    """The rows of a table, a few thousand at a time, as JSON and the database take them."""
    for batch in table.to_batches(max_chunksize=_BATCH):
        yield [{name: plain(cell) for name, cell in row.items()} for row in batch.to_pylist()]


def _seen_choices(project: Project) -> dict[str, Any]:
    """The labels and aspects that the judgements use, for a project that does not name them itself."""
    given = project.frames()["judgements"]
    labels = given.loc[given["kind"] == "label", "value"].dropna().unique()
    aspects = given.loc[given["kind"] == "score", "aspect"].dropna().unique()
    found: dict[str, Any] = {"labels": sorted(map(str, labels)), "aspects": list(map(str, aspects))}
    if project.kind == "rationales" and len(labels):  # labels without a highlight are plain ones
        found["plain"] = not (given["kind"] == "span").any()
        twice = given[given["kind"] == "label"].duplicated(["item_id", "annotator_id"], keep=False)
        found["several"] = bool((twice & given["annotator_id"].notna()).any())
    return {name: values for name, values in found.items() if values}


def judgement_of(row: Mapping[Any, Any], places: Mapping[str, int]) -> Judgement:
    """A row of the table of judgements as it is stored; ``places`` has the keys of the texts by their ids."""
    kind = row["kind"]
    cell = {name: plain(row[name]) for name in JUDGEMENTS.names}  # rows of a frame have NaN for what is missing
    numeric = kind in {"pair", "score"} and cell["value"] is not None
    return Judgement(
        request_id=f"import-{uuid4().hex}",
        kind=kind,
        item=places.get(cell["item_id"]),
        other=places.get(cell["other_id"]),
        aspect=cell["aspect"],
        value=float(cell["value"]) if numeric else None,
        label=None if numeric or cell["value"] is None else str(cell["value"]),
        start=None if cell["start"] is None else int(cell["start"]),
        end=None if cell["end"] is None else int(cell["end"]),
        quote=cell["quote"],
        annotator_id=cell["annotator_id"],
        shown_left=places.get(cell["shown_left_id"]),
        response_ms=None if cell["response_ms"] is None else int(cell["response_ms"]),
        status=cell["status"] or "done",
        skip_reason=cell["skip_reason"],
        strategy=cell["strategy"],
        propensity=cell["propensity"],
        source=cell["source"] or "import",
    )


def look_at_files(
    paths: Sequence[Path],
    settings: Mapping[str, Any],
    *,
    kind: str | None,
    form: str | None,
    config: Path | None,
    uses: Mapping[str, str] | None = None,
) -> Imported:
    """What :func:`read_files` would read and why, with the rows that break a rule; nothing is kept."""
    _check_unpacked(paths)
    return import_files(paths, None, kind=kind, form=form, config=config, uses=uses, rules=_rules(settings))


def read_files(
    paths: Sequence[Path],
    settings: Mapping[str, Any],
    *,
    kind: str | None,
    form: str | None = None,
    config: Path | None = None,
    drop_bad: bool = False,
    uses: Mapping[str, str] | None = None,
) -> Project:
    """A project from people's files, of any known format, with the labels or aspects that are asked about.

    A table that would not fit in memory is refused before it is unpacked.
    """
    _check_unpacked(paths)
    project = project_of_files(
        paths, kind=kind, form=form, config=config, drop_bad=drop_bad, uses=uses, rules=_rules(settings)
    )
    chosen = {**_seen_choices(project), **project.settings, **settings}
    asked_about(project.kind, [], chosen)
    return replace(project, settings=chosen, source="upload")


def asked_about(kind: str, named: Sequence[str], settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """The labels or aspects that people choose from: those that are named, else those of the settings; checked."""
    needed, most = {"aspects": ("aspects", 20), "pairs": ("", 0)}.get(kind, ("labels", 9))
    if not needed:
        return {}
    found, least = list(named) or list(settings.get(needed, ())), 1 if needed == "aspects" else 2
    if not least <= len(found) <= most:
        raise InputError(
            f"a project of {kind} needs {least} to {most} {needed}; there are {len(found)}. "
            "Name them, with commas between."
        )
    return {needed: found}


def _rules(settings: Mapping[str, Any]) -> Rules:
    return Rules(n_ranks=int(settings.get("n_ranks", 5)), labels=tuple(settings.get("labels", ())))


def _check_unpacked(paths: Sequence[Path]) -> None:
    """Refuse Parquet files that are much larger than they look."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    size = 0
    for path in (file for file in files if file.suffix == ".parquet"):
        try:
            footer = pq.read_metadata(path)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{path} is not a readable Parquet file: {error}") from None
        size += sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    if size > _MOST_UNPACKED:
        raise InputError(
            f"an upload has at most {_MOST_UNPACKED:,} bytes when unpacked; this one says {size:,}. Split it."
        )
