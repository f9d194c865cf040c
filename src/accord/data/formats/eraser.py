"""ERASER: annotations with evidence as spans of white-space tokens, beside their documents."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from accord.data.formats.registry import Format, Glimpse
from accord.data.project import Project
from accord.data.rationales import inside_tags, token_spans, whitespace_tokens
from accord.data.reading.json_stream import records
from accord.data.reading.rows import Buffer, Context, Rows
from accord.data.reading.writing import answered, judged_texts, plain_rows, write_lines
from accord.errors import InputError

__all__ = ["FORMAT"]

_SOURCE = "eraser"
_SPLITS = ("train.jsonl", "val.jsonl", "test.jsonl")


class _Evidence(msgspec.Struct):
    docid: str
    start_token: int
    end_token: int
    text: str | list[str] | None = None


class _Annotation(msgspec.Struct):
    annotation_id: str
    classification: str | None = None
    evidences: list[list[_Evidence]] = []
    docids: list[str] | None = None
    query: str | list[str] | None = None


class _Document(msgspec.Struct):
    docid: str
    document: str


def _detect(seen: Glimpse) -> str | None:
    if ("docs" in seen.files or "docs.jsonl" in seen.files) and set(_SPLITS) & set(seen.files):
        return "the folder has docs and " + ", ".join(name for name in _SPLITS if name in seen.files)
    return "its records have annotation_id and evidences" if seen.has("annotation_id", "evidences") else None


def _read(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        folder = path if path.is_dir() else path.parent
        files = [folder / name for name in _SPLITS if (folder / name).is_file()] if path.is_dir() else [path]
        documents = _Documents(folder)
        for file in files:
            buffer = Buffer(file, context, source=_SOURCE)
            for row, annotation in records(file, _Annotation):
                _annotation(buffer, row, annotation, documents)
                yield from buffer.ready()
            yield from buffer.rest()


class _Documents:
    """The documents of a folder: one file each in ``docs``, or lines of ``docs.jsonl``."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.known = folder / "docs", {}
        lines = folder / "docs.jsonl"
        if lines.is_file():
            self.known = {document.docid: document.document for _, document in records(lines, _Document)}
        elif not self.folder.is_dir():
            raise InputError(f"the documents of ERASER lie in a folder docs or in docs.jsonl; {folder} has neither.")

    def __getitem__(self, name: str) -> str | None:
        if name in self.known or not self.folder.is_dir():
            return self.known.get(name)
        if "\0" in name:
            return None
        path = self.folder / name
        inside = path.resolve().is_relative_to(self.folder.resolve())
        if not inside or not path.is_file():
            return None
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except UnicodeDecodeError:
            raise InputError(f"a document must be UTF-8; {path} is not. Convert it.") from None


def _annotation(buffer: Buffer, row: int, given: _Annotation, documents: _Documents) -> None:
    evidence = [span for group in given.evidences for span in group]
    names = list(dict.fromkeys([*(given.docids or ()), *(span.docid for span in evidence)])) or [given.annotation_id]
    if len(names) > 1:
        buffer.refuse(
            row, "an annotation is read if it is about one document", f"{len(names)} documents", "Split it by document."
        )
        return
    text = documents[names[0]]
    if text is None:
        buffer.refuse(row, "every document must be in docs", f"the unknown id {names[0]!r}", "Add it or drop the row.")
        return
    tokens, places = whitespace_tokens(text)
    spans = []
    for span in evidence:
        if not 0 <= span.start_token < span.end_token <= len(tokens):
            buffer.refuse(
                row,
                "evidence must lie inside its document",
                f"tokens [{span.start_token}, {span.end_token}) of {len(tokens)}",
                "Correct the tokens.",
            )
            return
        words = " ".join(tokens[span.start_token : span.end_token])
        quoted = " ".join(span.text) if isinstance(span.text, list) else span.text
        if quoted is not None and quoted.split() != words.split():
            buffer.refuse(
                row, "the text of evidence must be its tokens", f"{quoted[:40]!r} for {words[:40]!r}", "Correct it."
            )
            return
        spans.append((int(places[span.start_token, 0]), int(places[span.end_token - 1, 1])))
    query = " ".join(given.query) if isinstance(given.query, list) else given.query
    meta = {"docid": names[0] if names[0] != given.annotation_id else None, "query": query}
    known = {name: value for name, value in meta.items() if value}
    item = buffer.item(row, given.annotation_id, text, meta=known)
    if given.classification is not None:
        buffer.judgement(row, "label", item, value=given.classification)
    for start, end in dict.fromkeys(spans):
        buffer.judgement(row, "span", item, start=start, end=end, quote=text[start:end])
    if not spans:
        buffer.judgement(row, "span", item)
    if any(len(group) > 1 for group in given.evidences):
        buffer.context.lost["which spans make up one piece of evidence is not kept"] += 1


def _write(project: Project, folder: Path, lost: Counter[str]) -> dict[str, int]:
    texts = judged_texts(project)
    for row in plain_rows(project, "judgements"):
        if row["kind"] not in ("label", "span"):
            lost[f"judgements of kind {row['kind']} have no place in ERASER"] += 1
        elif row["status"] not in (None, "done"):
            lost["judgements without an answer are left out"] += 1
        elif row["annotator_id"] is not None:
            lost["who annotated is not written"] += 1
    documents = ({"docid": name, "document": judged.item["text"] or ""} for name, judged in texts.items())
    labels = dict(zip(texts, project.labels(), strict=True))
    annotations = []
    for name, judged in texts.items():
        text = judged.item["text"] or ""
        tokens, places = whitespace_tokens(text)
        spans = [[row["start"], row["end"]] for row in answered(judged.spans) if row["start"] is not None]
        if labels[name] is None and not judged.spans:
            continue
        runs = []
        for span in spans:
            runs += [
                (int(first), int(last)) for first, last in token_spans(inside_tags(np.array([span]), places)).tolist()
            ]
        exact = {(int(places[a, 0]), int(places[b - 1, 1])) for a, b in runs}
        lost["spans are widened to whole tokens"] += sum((start, end) not in exact for start, end in spans)
        evidence = [
            [{"docid": name, "start_token": a, "end_token": b, "text": " ".join(tokens[a:b])}]
            for a, b in dict.fromkeys(runs)
        ]
        annotations.append(_line(name, labels[name], evidence, judged.item))
    lost += Counter()  # forget what was counted zero times
    return {
        "docs.jsonl": write_lines(folder / "docs.jsonl", documents),
        "train.jsonl": write_lines(folder / "train.jsonl", annotations),
    }


def _line(name: str, label: Any, evidence: list[Any], item: dict[str, Any]) -> dict[str, Any]:
    line = {"annotation_id": name, "docids": [name], "evidences": evidence, "query": item.get("meta.query")}
    return {**line, "classification": label} if label is not None else line


FORMAT = Format(_SOURCE, "ERASER's annotations", _detect, _read, _write)
