"""Projects: one folder with the texts, the judgements and the links that belong together.

A project is three tables with one schema, as Parquet, and a small ``project.json``; and a fourth, of the annotators,
where some of them are judges. The tables are Arrow tables with
dictionary-encoded ids, so that ten million votes fit; the methods give the records that the models take.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from accord.data.annotators import ANNOTATORS, read_annotators
from accord.data.aspects import AspectRatings
from accord.data.columns import codes_of
from accord.data.documents import Items
from accord.data.links import Links
from accord.data.pairs import Comparisons
from accord.data.rationales import Rationales
from accord.data.reading.sources import missing_file
from accord.data.threads import Threads
from accord.errors import InputError
from accord.typing import KINDS, FloatArray, IntArray, ObjectArray

__all__ = ["ITEMS", "JUDGED", "JUDGEMENTS", "LEARNT", "LINKS", "SCHEMA_VERSION", "Project", "is_project", "with_schema"]

SCHEMA_VERSION = 1
# What one row of the table of judgements says, and which of these the model of each kind learns from.
JUDGED = ("pair", "label", "score", "span", "rank")
LEARNT: Mapping[str, tuple[str, ...]] = {
    "pairs": ("pair",),
    "threads": ("label",),
    "aspects": ("score",),
    "links": ("label",),
    "rationales": ("label", "span"),
}
_CODED = pa.dictionary(pa.int32(), pa.string())  # ids and labels: few values, many rows

ITEMS = pa.schema(
    [
        ("item_id", pa.string()),
        ("text", pa.string()),
        ("group_id", _CODED),
        ("reply_to", pa.string()),
        ("author_id", _CODED),
        ("timestamp", pa.string()),
    ]  # and any number of meta.* columns
)
JUDGEMENTS = pa.schema(
    [
        ("judgement_id", pa.string()),
        ("kind", _CODED),  # one of JUDGED
        ("item_id", _CODED),
        ("other_id", _CODED),
        ("aspect", _CODED),
        ("value", _CODED),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("quote", pa.string()),
        ("annotator_id", _CODED),
        ("shown_left_id", _CODED),
        ("created_at", pa.string()),
        ("response_ms", pa.int64()),
        ("status", _CODED),
        ("skip_reason", _CODED),
        ("strategy", _CODED),
        ("propensity", pa.float64()),
        ("model_version", _CODED),
        ("source", _CODED),
        ("weight", pa.float64()),  # of a vote: how many it stands for; 1 where there is none
    ]
)
LINKS = pa.schema(
    [("src_id", _CODED), ("dst_id", _CODED), ("kind", _CODED), ("weight", pa.float64()), ("context", pa.string())]
)
_SCHEMAS = {"items": ITEMS, "judgements": JUDGEMENTS, "links": LINKS, "annotators": ANNOTATORS}
_OPTIONAL = "annotators"  # a table that only projects with judges have
_MANIFEST = "project.json"


def with_schema(columns: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """A table of the schema from some of its columns; the others are missing throughout, ``meta.*`` are kept.

    Examples
    --------
    >>> with_schema({"src_id": ["b"], "dst_id": ["a"]}, LINKS).to_pylist()
    [{'src_id': 'b', 'dst_id': 'a', 'kind': None, 'weight': None, 'context': None}]
    """
    n = max((len(column) for column in columns.values()), default=0)
    arrays, fields = [], []
    for entry in schema:
        column = columns.get(entry.name)
        array = pa.nulls(n, entry.type) if column is None else _cast(column, entry.type)
        arrays.append(array)
        fields.append(entry)
    for name, column in columns.items():
        if name.startswith("meta."):
            array = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, from_pandas=True)
            arrays.append(array)
            fields.append(pa.field(name, array.type))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _cast(column: Any, kind: pa.DataType) -> pa.Array:
    if not isinstance(column, pa.Array | pa.ChunkedArray):
        column = pa.array(column, from_pandas=True)
    if column.type == kind:
        return column
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_dictionary(kind):
        return pc.dictionary_encode(pc.cast(column, pa.string()))
    return pc.cast(column, kind)


@dataclass(frozen=True, eq=False)
class Project:
    """The texts, judgements and links of one piece of work, and the kind that says what is judged.

    Parameters
    ----------
    kind : str
        The kind of judgement: pairs, threads, aspects, links or rationales.
    item_table, judgement_table, link_table : pyarrow.Table
        With the schemas ``ITEMS``, ``JUDGEMENTS`` and ``LINKS``.
    settings : mapping
        What the tables do not say: ``n_ranks`` of aspect scores, ``labels`` in their order.
    source : str
        Where it came from.
    annotator_table : pyarrow.Table
        With the schema :data:`~accord.data.annotators.ANNOTATORS`: who is a judge, a program, and of which family. Who
        is not in it is a person.

    Examples
    --------
    >>> from accord import open_example
    >>> project = open_example("cafe-notes")
    >>> project.kind, project.counts["items"] == project.items().n_items
    ('rationales', True)
    >>> sorted({label for label in project.labels() if label is not None})
    ['neg', 'pos']
    """

    kind: str
    item_table: pa.Table
    judgement_table: pa.Table = field(default_factory=JUDGEMENTS.empty_table)
    link_table: pa.Table = field(default_factory=LINKS.empty_table)
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    annotator_table: pa.Table = field(default_factory=ANNOTATORS.empty_table)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"the kind of judgement must be one of {', '.join(KINDS)}; got {self.kind!r}.")
        for name, schema in _SCHEMAS.items():
            table = self.annotator_table if name == _OPTIONAL else self._tables[name]
            if name == "judgements" and "weight" not in table.column_names:  # projects that were written before
                table = table.append_column("weight", pa.nulls(table.num_rows, pa.float64()))
                object.__setattr__(self, "judgement_table", table)
            missing = [entry.name for entry in schema if entry.name not in table.column_names]
            if missing:
                raise InputError(f"the {name} of a project need the columns {', '.join(missing)}. Import them again.")

    @property
    def _tables(self) -> dict[str, pa.Table]:
        tables = {"items": self.item_table, "judgements": self.judgement_table, "links": self.link_table}
        return {**tables, "annotators": self.annotator_table} if self.annotator_table.num_rows else tables

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows of each table."""
        return {name: table.num_rows for name, table in self._tables.items()}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that is in the tables, whatever their order of columns or encoding."""
        digest = hashlib.sha256(f"{SCHEMA_VERSION}:{self.kind}".encode())
        for name, table in self._tables.items():
            for column in sorted(table.column_names):
                values = table.column(column)
                if values.null_count < len(values):
                    frame = _decoded(values).to_pandas().to_frame()
                    digest.update(f"{name}.{column}".encode())
                    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
        return digest.hexdigest()[:16]

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables as pandas frames, by name."""
        return {name: _frame(table) for name, table in self._tables.items()}

    def answered(self) -> pd.DataFrame:
        """The judgements that were answered and not taken back, all columns, one row a judgement."""
        return _frame(self.judgement_table.filter(self._is_answered()))

    # -- records -------------------------------------------------------------------------------------------------

    def items(self) -> Items:
        """All texts."""
        return Items.from_table(_without_empty(_frame(self.item_table), keep=["item_id"]))

    def comparisons(self) -> Comparisons:
        """The votes (``pair`` judgements), with the side on which each text was shown and the weights, if known."""
        votes = self._judgements("pair", "item_id", "other_id", "value", "annotator_id", "shown_left_id", "weight")
        items = self.items()
        annotator, annotators = _codes(votes.column("annotator_id"))
        left = _positions(votes.column("item_id"), items, what="left item")
        right = _positions(votes.column("other_id"), items, what="right item")
        weight = None
        if votes.column("weight").null_count < votes.num_rows:
            weight = pc.fill_null(votes.column("weight"), 1.0).to_numpy()
        return Comparisons(
            items,
            left,
            right,
            _numbers(votes.column("value"), what="vote"),
            annotator if len(annotators) else None,
            annotators if len(annotators) else None,
            weight,
            _shown(votes.column("shown_left_id"), items, left, right),
        )

    def judges(self) -> pd.DataFrame:
        """The annotators that are judges: ``annotator_id, family, model, cost``; a judge without a family is one."""
        frame = _frame(self.annotator_table)
        frame = frame[frame["kind"] == "judge"].drop(columns="kind").reset_index(drop=True)
        return frame.assign(family=frame["family"].where(frame["family"].notna(), frame["annotator_id"]))

    def marks(self) -> dict[str, float]:
        """Absolute scores of single texts (``score`` judgements without an aspect), averaged over people."""
        frame = _frame(self._judgements("score", "item_id", "aspect", "value"))
        frame = frame[frame["aspect"].isna()]
        value = pd.Series(_numbers(frame["value"], what="score"), index=frame.index, dtype=float)
        return {str(name): float(mean) for name, mean in value.groupby(frame["item_id"], sort=False).mean().items()}

    def threads(self) -> Threads:
        """The comments by thread. The question of a thread is the item whose id is the thread's ``group_id``."""
        frame = _frame(self.item_table)
        if frame.empty or frame["group_id"].isna().any():
            raise InputError("every comment of a thread needs a group_id, the id of its thread; one has none.")
        question = frame["item_id"] == frame["group_id"]
        asked = frame[question].set_index("item_id")
        comments = frame[~question].copy()
        comments["label"] = self.labels()[~question.to_numpy()]
        comments["question"] = comments["group_id"].map(asked["text"])
        comments["asker_id"] = comments["group_id"].map(asked["author_id"])
        if "meta.category" in frame:
            comments["category"] = comments["group_id"].map(asked["meta.category"])
        return Threads.from_table(comments)

    def ratings(self) -> AspectRatings:
        """The aspect scores; several people's scores of one aspect are averaged and rounded."""
        scores = _frame(self._judgements("score", "item_id", "aspect", "value"))
        items, n_ranks = self.items(), int(self.settings.get("n_ranks", 5))
        if scores.empty:
            raise InputError("a project of aspects needs scores; this one has none. Import them first.")
        scores["value"] = _numbers(scores["value"], what="score")
        mean = scores.groupby(["item_id", "aspect"], sort=False, observed=True)["value"].mean().reset_index()
        mean["value"] = np.floor(mean["value"] + 0.5)
        return AspectRatings.from_table(mean, items, n_ranks=n_ranks)

    def links(self) -> Links:
        """The links between texts."""
        return Links.from_table(_without_empty(_frame(self.link_table), keep=["src_id", "dst_id"]))

    def rationales(self) -> Rationales:
        """The highlighted spans. A span without start and end says that a text was read and nothing marked."""
        items = self.items()
        frame = _frame(self._judgements("span", "item_id", "start", "end", "annotator_id"))
        item = items.positions(frame["item_id"].to_numpy(object))
        marked = frame["start"].notna().to_numpy()  # that a quote is the text of its span was checked on the way in
        annotator, annotators = codes_of(frame["annotator_id"])
        return Rationales(
            items,
            item[marked],
            frame["start"].to_numpy()[marked],
            frame["end"].to_numpy()[marked],
            annotator[marked],
            annotators,
            readings=np.stack([item[~marked], annotator[~marked]], axis=1),
        )

    def labels(self) -> ObjectArray:
        """The label of each text, shape (n_items,); ``None`` where nobody gave one.

        Where people disagree, the label most of them gave; of equally many, the one given first.
        """
        item, label = self.given_labels()
        labels = np.full(self.item_table.num_rows, None, dtype=object)
        if not len(item):
            return labels
        votes = pd.DataFrame({"item": item, "label": label, "row": np.arange(len(label))})
        tally = votes.groupby(["item", "label"], sort=False)["row"].agg(["size", "min"]).reset_index()
        first = tally.sort_values(["item", "size", "min"], ascending=[True, False, True]).drop_duplicates("item")
        labels[first["item"].to_numpy()] = first["label"].to_numpy(object)
        return labels

    def given_labels(self) -> tuple[IntArray, ObjectArray]:
        """Every label that somebody gave: positions of the texts and the labels, both of shape (n_given,)."""
        given = _frame(self._judgements("label", "item_id", "value"))
        places = {name: place for place, name in enumerate(self.item_table.column("item_id").to_numpy())}
        item = np.array([places[name] for name in given["item_id"]], dtype=np.int64)
        return item, given["value"].to_numpy(object)

    def span_labels(self) -> ObjectArray:
        """The label that each span of :meth:`rationales` names, shape (n_spans,); ``None`` where it names none."""
        frame = _frame(self._judgements("span", "start", "value"))
        return frame.loc[frame["start"].notna(), "value"].to_numpy(object)

    def _judgements(self, kind: str, *columns: str) -> pa.Table:
        """Some columns of the judgements of one kind that were answered and not taken back."""
        table = self.judgement_table
        wanted = pc.and_(_equals(table.column("kind"), kind), self._is_answered())
        table = table.select(list(columns))
        return table if pc.all(wanted).as_py() else table.filter(wanted)

    def _is_answered(self) -> pa.ChunkedArray:
        status = self.judgement_table.column("status")
        return pc.or_(pc.is_null(status), _equals(status, "done"))

    # -- disk ----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> Path:
        """Write the project as a new folder, all or nothing.

        Parameters
        ----------
        folder : str or Path
            A folder that does not exist yet.
        """
        folder = new_folder(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
            part = Path(work) / "project"
            part.mkdir()
            for name, table in self._tables.items():
                pq.write_table(table, part / f"{name}.parquet", compression="zstd")
            write_manifest(part, kind=self.kind, counts=self.counts, settings=self.settings, source=self.source)
            shutil.move(part, folder)
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> "Project":
        """Read a project that :meth:`save` or ``accord import`` wrote.

        Parameters
        ----------
        folder : str or Path
            The folder of a project.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        tables = {}
        for name, schema in _SCHEMAS.items():
            if name == _OPTIONAL:
                tables[name] = _annotators(folder)
                continue
            coded = [entry.name for entry in schema if pa.types.is_dictionary(entry.type)]
            try:
                tables[name] = pq.read_table(folder / f"{name}.parquet", read_dictionary=coded)
            except (pa.ArrowInvalid, FileNotFoundError) as error:
                raise InputError(f"{folder / f'{name}.parquet'} is not readable as a table: {error}") from None
        return cls(
            manifest["kind"],
            tables["items"],
            tables["judgements"],
            tables["links"],
            manifest.get("settings", {}),
            manifest.get("source", ""),
            tables["annotators"],
        )


def _annotators(folder: Path) -> pa.Table:
    """The table of annotators of a project's folder: the one that a person put there, or the one that Accord wrote."""
    for name in ("annotators.csv", "annotators.parquet"):
        if (folder / name).is_file():
            return read_annotators(folder / name)
    return ANNOTATORS.empty_table()


def new_folder(folder: str | Path) -> Path:
    """A folder that is not there yet, with the folder above it made."""
    folder = Path(folder)
    if folder.exists():
        raise InputError(f"a project is written to a new folder; {folder} is there already. Choose another name.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=folder.parent, prefix=".accord-").cleanup()
    except OSError as error:
        raise InputError(
            f"a project is written where a folder can be made; {folder}: {error.strerror}. Choose another place."
        ) from None
    return folder


def is_project(folder: Path) -> bool:
    """Whether a folder holds a project."""
    return (folder / _MANIFEST).is_file()


def write_manifest(
    folder: Path, *, kind: str, counts: Mapping[str, int], settings: Mapping[str, Any], source: str
) -> None:
    """Write ``project.json``."""
    manifest = {
        "format": "accord-project",
        "schema": SCHEMA_VERSION,
        "kind": kind,
        "source": source,
        "counts": dict(counts),
        "settings": dict(settings),
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read and check ``project.json``."""
    path = folder / _MANIFEST
    if not is_project(folder):
        if not folder.exists():
            raise missing_file(folder, "project or file")
        raise InputError(f"a project is a folder with a {_MANIFEST}; {folder} has none. Make one with 'accord import'.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be JSON: {error}.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "accord-project":
        raise InputError(f"{path} is not the manifest of an Accord project.")
    if manifest.get("schema") != SCHEMA_VERSION:
        raise InputError(
            f"this version of Accord reads projects of schema {SCHEMA_VERSION}; {path} has {manifest.get('schema')}. "
            "Import the tables again."
        )
    if "word" in manifest:  # as the kind was called before 0.2
        manifest["kind"] = manifest.pop("word")
    return manifest


def _equals(column: pa.ChunkedArray, value: str) -> pa.ChunkedArray:
    """Which rows of a dictionary-encoded column have a value, without decoding it."""
    chunks = []
    for chunk in column.chunks:
        code = pc.index(chunk.dictionary, value).as_py()
        chunks.append(pc.fill_null(pc.equal(chunk.indices, code), False))
    return pa.chunked_array(chunks, pa.bool_())


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _frame(table: pa.Table) -> pd.DataFrame:
    """A pandas frame with plain objects, ``None`` for what is missing in columns of text."""
    columns = {}
    for name in table.column_names:
        values = _decoded(table.column(name))
        text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        columns[name] = pd.Series(values.to_pylist(), dtype=object) if text else values.to_pandas()
    return pd.DataFrame(columns)


def _without_empty(frame: pd.DataFrame, *, keep: Sequence[str]) -> pd.DataFrame:
    """Without the columns in which everything is missing."""
    return frame[[name for name in frame.columns if name in keep or frame[name].notna().any()]]


def _coded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """One dictionary array of a column."""
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column)
    return column.unify_dictionaries().combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def _codes(column: pa.ChunkedArray) -> tuple[IntArray, ObjectArray]:
    """Positions (−1 where missing) in the distinct values, and those values."""
    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int32), np.empty(0, dtype=object)
    array = _coded(column)
    codes = pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)
    # Rows that were left out leave their values in the dictionary; only those that still occur count.
    occurs = np.bincount(codes[codes >= 0], minlength=len(array.dictionary)) > 0
    places = np.append(np.cumsum(occurs) - 1, -1)
    names = np.array(array.dictionary.to_pylist(), dtype=object)[occurs]
    return places[codes].astype(np.int32, copy=False), names


def _positions(column: pa.ChunkedArray, items: Items, *, what: str) -> IntArray:
    """Positions among the items, looked up once a distinct id instead of once a row."""
    if not len(column):
        return np.empty(0, dtype=np.int32)
    codes, names = _codes(column)
    if (codes < 0).any():
        raise InputError(f"every {what} needs an id; row {int(np.argmin(codes)) + 1} has none. Import the table again.")
    return items.positions(names, what=what)[codes]


def _shown(column: pa.ChunkedArray, items: Items, left: IntArray, right: IntArray) -> IntArray | None:
    """The side on which each pair's left text was shown, as :class:`Comparisons` has it; None if never known."""
    codes, names = _codes(column)
    if not len(names):
        return None
    place = np.append(items.positions(names, what="text shown on the left"), -1)[codes]
    strange = (place >= 0) & (place != left) & (place != right)
    if strange.any():
        raise InputError(
            f"the text shown on the left must be one of the pair's two; vote {int(np.argmax(strange)) + 1} names "
            f"{names[codes[int(np.argmax(strange))]]!r}. Import the table again."
        )
    return (place == left).astype(np.int8) - (place == right).astype(np.int8)


def _numbers(column: Any, *, what: str) -> FloatArray:
    """Numbers written as text, parsed once a distinct value."""
    if isinstance(column, pa.ChunkedArray):
        codes, names = _codes(column)
    else:
        codes, distinct = pd.factorize(np.asarray(column, dtype=object))
        names = np.asarray(distinct, dtype=object)
    if (codes < 0).any():
        raise InputError(f"every {what} needs a value; row {int(np.argmin(codes)) + 1} has none. Import it again.")
    try:
        values = np.array([float(name) for name in names], dtype=np.float32)
    except ValueError as error:
        raise InputError(f"every {what} must be a number: {error}.") from None
    return values[codes] if len(codes) else np.empty(0, dtype=np.float32)
