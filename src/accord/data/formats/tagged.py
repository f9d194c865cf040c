"""Highlights as annotation tools write them beside the words: brat's standoff, CoNLL's tags, and WebAnno's TSV."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.offsets import place_span
from accord.data.reading.rows import Buffer, Context, Rows
from accord.errors import InputError

__all__ = ["BRAT", "CONLL", "WEBANNO"]

_CONLL = (".conll", ".bio", ".iob", ".iob2")
_WEBANNO = "#FORMAT=WebAnno TSV 3"
_MOST_BYTES = 64 << 20  # of one file, which is read whole
_TOKEN = re.compile(r"\d{1,9}-\d{1,9}\t(?P<start>\d{1,9})-\d{1,9}\t(?P<word>[^\t]*)(?:\t(?P<tags>[^\t]*))?")
_FARTHEST = 10_000  # characters between two words
_NUMBERED = re.compile(r"(?P<label>[^\[\]|]{1,200})\[(?P<number>\d{1,9})\]")


def _content(path: Path) -> str:
    """A file's text, line ends as they are counted by the tools: one character each."""
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"an annotated text has at most {_MOST_BYTES:,} bytes; {path} has more. Split it.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"an annotated text must be UTF-8; {path} is not. Convert the file to UTF-8.") from None


def _mark(buffer: Buffer, row: int, item: str, text: str, span: tuple[int, int], quote: str | None, label: str) -> None:
    start, end = place_span(text, *span, quote, utf16=buffer.context.utf16)
    buffer.judgement(row, "span", item, start=start, end=end, quote=text[start:end], value=label)


# -- brat --------------------------------------------------------------------------------------------------------


def _annotated(path: Path) -> list[Path]:
    """The files of annotations in a folder and the folders in it, or one such file, each beside its text."""
    files = path.rglob("*.ann") if path.is_dir() else [path]
    return sorted(file for file in files if file.suffix == ".ann" and file.with_suffix(".txt").is_file())


def _detect_brat(seen: Glimpse) -> str | None:
    return "there are .ann files beside .txt files" if _annotated(seen.path) else None


def _read_brat(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for root in paths:
        found = _annotated(root)
        if not found and root.suffix != ".txt":
            raise InputError(
                f"brat has a .ann file beside a .txt file of the same name; {root} has none. Add the text."
            )
        for path in found:
            buffer = Buffer(path, context, source="brat")
            text = _content(path.with_suffix(".txt"))
            name = path.relative_to(root) if root.is_dir() else Path(path.name)
            item = buffer.item(1, name.with_suffix("").as_posix(), text)
            for row, line in enumerate(_content(path).splitlines(), start=1):
                _brat_line(buffer, row, line, item, text)
            yield from buffer.rest()
    context.lost["brat's files do not say who annotated"] += 1


def _brat_line(buffer: Buffer, row: int, line: str, item: str, text: str) -> None:
    name, _, rest = line.partition("\t")
    if not name.startswith("T"):
        if name.strip():
            what = "notes of annotators" if name.startswith("#") else "relations, events and attributes of spans"
            buffer.context.lost[f"{what} are not kept"] += 1
        return
    where, _, quote = rest.partition("\t")
    label, _, places = where.partition(" ")
    parts = [part.split() for part in places.split(";")]
    if not all(len(part) == 2 and all(place.isdigit() for place in part) for part in parts):
        buffer.refuse(row, "a span of brat is TYPE START END", repr(where)[:60], "Correct it.")
        return
    if len(parts) > 1:
        buffer.context.assumed["each part of an interrupted span is a span of its own"] += 1
    for start, end in parts:
        _mark(buffer, row, item, text, (int(start), int(end)), quote if len(parts) == 1 else None, label)


# -- CoNLL -------------------------------------------------------------------------------------------------------


def _detect_conll(seen: Glimpse) -> str | None:
    return f"its name ends in {seen.path.suffix.lower()}" if seen.path.suffix.lower() in _CONLL else None


def _read_conll(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source="conll")
        words: list[tuple[str, str]] = []
        for row, line in enumerate([*_content(path).splitlines(), ""], start=1):
            cells = line.split()
            if cells and not line.startswith(("-DOCSTART-", "# ")):
                if len(cells) < 2:
                    buffer.refuse(row, "a line of CoNLL is a word and its tag", repr(line)[:60], "Correct it.")
                words.append((cells[0], cells[-1]))
            elif words and not cells:
                _conll_text(buffer, row - len(words), words)
                words = []
                yield from buffer.ready()
        yield from buffer.rest()
    context.assumed["each block of lines is one text, its words joined by spaces"] += 1


def _conll_text(buffer: Buffer, row: int, words: Sequence[tuple[str, str]]) -> None:
    """One text and its spans: B begins one, I goes on with one of the same label, and anything else ends it."""
    text = " ".join(word for word, _ in words)
    item = buffer.item(row, f"{buffer.file.stem}-{row}", text)
    spans: list[tuple[int, int, str]] = []
    place, before = 0, "O"
    for word, tag in words:
        sign, _, label = tag.partition("-")
        end = place + len(word)
        if sign in ("I", "E") and spans and before.partition("-")[2] == label:
            spans[-1] = (spans[-1][0], end, label)
        elif sign in ("B", "I", "S", "U", "E", "L"):
            spans.append((place, end, label))
        place, before = end + 1, tag
    for start, end, label in spans:
        _mark(buffer, row, item, text, (start, end), None, label)


# -- WebAnno and INCEpTION ---------------------------------------------------------------------------------------


def _detect_webanno(seen: Glimpse) -> str | None:
    return "it begins with #FORMAT=WebAnno TSV" if seen.columns and seen.columns[0].startswith(_WEBANNO) else None


def _read_webanno(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source="webanno")
        lines = _content(path).splitlines()
        layers = [line[6:].split("|") for line in lines if line.startswith("#T_SP=")]
        if not layers:
            raise InputError(f"highlights are spans; {path} has no layer of spans (#T_SP=). Export one that has.")
        if len(layers) > 1 or any(line.startswith(("#T_RL=", "#T_CH=")) for line in lines):
            context.lost["layers behind the first one of spans are not kept"] += 1
        text, spans = "", dict[tuple[str, str], tuple[int, int, int]]()
        for row, line in enumerate(lines, start=1):
            found = _TOKEN.match(line)
            if found is None:
                continue
            if not len(text) <= int(found["start"]) <= len(text) + _FARTHEST:
                buffer.refuse(row, "words stand one behind the other", repr(line)[:60], "Export the file again.")
                continue
            start = int(found["start"])
            text = text.ljust(start) + found["word"]
            end = len(text)
            for part in (found["tags"] or "").split("|"):
                own = _NUMBERED.fullmatch(part)
                if part in ("_", ""):
                    continue
                label, number = (own["label"], own["number"]) if own else (part, f"only {row}")
                first = spans.get((label, number), (row, start, end))
                spans[label, number] = (first[0], first[1], end)
        item = buffer.item(1, path.stem, text)
        for (label, _), (row, start, end) in spans.items():
            _mark(buffer, row, item, text, (start, end), None, "" if label == "*" else label)
        yield from buffer.rest()
    context.assumed["words stand where the file says, with spaces between them"] += 1


BRAT = Format("brat", "a folder of brat", _detect_brat, _read_brat)
CONLL = Format("conll", "a file of tagged words (CoNLL)", _detect_conll, _read_conll)
WEBANNO = Format("webanno", "a TSV file of WebAnno or INCEpTION", _detect_webanno, _read_webanno)
