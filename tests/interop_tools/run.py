"""Checks with the tools' own code: what Accord writes they load, and what they write Accord loads.

Each tool is installed in an environment of its own, with the versions below, by ``uv`` or ``venv``::

    python tests/interop_tools/run.py [--envs FOLDER] [TOOL …]

It needs a package index. It prints one line a tool, and ends with 1 where one failed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.workflows.export import export_as
from accord.workflows.import_ import project_of_files

HERE = Path(__file__).parent

# A sign outside the first plane, a combining mark, a line end of two characters, a tab and quotation marks.
TEXTS = {
    "t1": "😀 The soup was superb.\r\n\tWe stayed.",
    "t2": 'Cafe\u0301 𝔸: never again, "bland" & cold.',
    "t3": "Fine.",
}
PEOPLE = ("7", "8")


def project(kind: str, items: dict[str, list[str | None]], rows: list[dict[str, object]]) -> Project:
    """A project of plain columns and rows."""
    kinds = {"start": pa.int32(), "end": pa.int32()}
    columns = {
        name: pa.array([row.get(name) for row in rows], kinds.get(name, pa.string())) for name in JUDGEMENTS.names
        if any(name in row for row in rows)
    }  # fmt: skip
    texts = {name: pa.array(column, pa.string()) for name, column in items.items()}
    return Project(kind, with_schema(texts, ITEMS), with_schema(columns, JUDGEMENTS))


def _span(item: str, quote: str) -> dict[str, object]:
    start = TEXTS[item].index(quote)
    place = {"start": start, "end": start + len(quote), "quote": quote}
    return {"kind": "span", "item_id": item, "value": "why", "annotator_id": PEOPLE[0], **place}


LABELS = [
    {"kind": "label", "item_id": item, "value": value, "aspect": "label", "annotator_id": PEOPLE[0]}
    for item, value in (("t1", "pos"), ("t2", "neg"), ("t3", "pos"))
]
SPANS = [_span("t1", "superb"), _span("t1", "We stayed"), _span("t2", "𝔸"), _span("t2", "Cafe\u0301")]
VOTES = [
    {"kind": "pair", "item_id": a, "other_id": b, "value": value, "annotator_id": person}
    for a, b, value, person in (("t1", "t2", "1", "7"), ("t2", "t3", "0", "7"), ("t1", "t3", "1", "8"))
]


def texts_of(rows: list[dict[str, object]], kind: str = "rationales") -> Project:
    """The texts with some judgements."""
    return project(kind, {"item_id": list(TEXTS), "text": list(TEXTS.values())}, rows)


def threads() -> Project:
    """A question with two comments."""
    items: dict[str, list[str | None]] = {
        "item_id": ["t1", "t2", "t3"],
        "text": list(TEXTS.values()),
        "group_id": ["t1"] * 3,
        "reply_to": [None, "t1", "t2"],
        "author_id": ["ada", "bo", "ada"],
        "timestamp": ["90", "200", "1000"],
    }
    return project("threads", items, [{**row, "aspect": "quality"} for row in LABELS[1:]])


# -- what must be equal ------------------------------------------------------------------------------------------


def said(found: Project, *, people: bool = True) -> set[tuple[object, ...]]:
    """What people judged about which text, by the text's words."""
    frames = found.frames()
    texts = dict(frames["items"][["item_id", "text"]].itertuples(index=False, name=None))
    rows = set()
    for row in frames["judgements"].to_dict("records"):
        if row["kind"] == "span" and row["start"] != row["start"]:  # read, and nothing marked
            continue
        quote = texts[row["item_id"]][int(row["start"]) : int(row["end"])] if row["kind"] == "span" else None
        one, other, value = texts[row["item_id"]], texts.get(row["other_id"]), row["value"]
        if row["kind"] == "pair" and value == "0":
            one, other, value = other, one, "1"
        rows.add((row["kind"], one, other, value, quote, row["annotator_id"] if people else None))
    return rows


def equal(what: str, found: object, wanted: object) -> None:
    """Stop where two things differ."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r} is not {wanted!r}")


def read(paths: list[Path], form: str, kind: str, **settings: object) -> Project:
    """What Accord reads from a tool's files."""
    return project_of_files(paths, form=None if form == "tables" else form, kind=kind, **settings)


# -- one function a tool -----------------------------------------------------------------------------------------

Use = Callable[[Path, Path], list[dict[str, object]]]


def label_studio(given: Path, made: Path, use: Use) -> str:
    both, pairs = texts_of([*LABELS, *SPANS]), texts_of(VOTES, "pairs")
    export_as(both, given / "texts", form="label-studio")
    export_as(pairs, given / "pairs", form="label-studio")
    use(given, made)
    for kind, before, kind in (("texts", both, "rationales"), ("pairs", pairs, "pairs")):
        for form in ("JSON", "JSON_MIN", "CSV"):
            (path,) = [entry for entry in (made / kind / form).rglob("*") if entry.is_file()]
            after = read([path], "label-studio", kind, config=given / kind / "label_config.xml")
            equal(f"{kind} as {form}", said(after), said(before))
    return "tasks and config load; JSON, JSON_MIN and CSV come back equal"


def argilla(given: Path, made: Path, use: Use) -> str:
    both, pairs = texts_of([*LABELS, *SPANS]), texts_of(VOTES, "pairs")
    export_as(both, given / "texts", form="argilla")
    export_as(pairs, given / "pairs", form="argilla")
    use(given, made)
    equal("texts", said(read([made / "texts.json"], "argilla", "rationales")), said(both))
    equal("pairs", said(read([made / "pairs.json"], "argilla", "pairs")), said(pairs))
    return "records load; its JSON comes back equal"


def doccano(given: Path, made: Path, use: Use) -> str:
    kinds = {"labels": LABELS, "spans": SPANS, "both": [*LABELS, *SPANS]}
    for name, rows in kinds.items():
        export_as(texts_of(rows), given / name, form="doccano")
    use(given, made)
    for name, rows in kinds.items():
        after = read([made / name / "all.jsonl"], "doccano", "rationales")
        equal(name, said(after, people=False), said(texts_of(rows), people=False))
    return "classification, sequence labelling and both load; its JSONL comes back equal"


def convokit(given: Path, made: Path, use: Use) -> str:
    before = threads()
    export_as(before, given / "threads", form="convokit")
    (seen,) = use(given, made)
    equal("texts", seen["texts"], TEXTS)
    equal("speakers", seen["speakers"], {"t1": "ada", "t2": "bo", "t3": "ada"})
    equal("replies", seen["replies"], {"t1": None, "t2": "t1", "t3": "t2"})
    equal("labels", seen["labels"], {"t1": None, "t2": "neg", "t3": "pos"})
    equal("conversations", seen["conversations"], {"t1": ["t1", "t2", "t3"]})
    equal("trees", seen["trees"], True)
    equal("order in time", seen["order"], ["t1", "t2", "t3"])
    after = read([made / "dumped"], "convokit", "threads")
    equal("labels read", said(after, people=False), said(before, people=False))
    columns = ["item_id", "text", "group_id", "reply_to", "author_id", "timestamp"]
    tables = [found.frames()["items"][columns].astype(str).to_numpy().tolist() for found in (after, before)]
    equal("utterances read", *tables)
    return "corpus and labels load, trees hold; its dump comes back equal"


def crowd_kit(given: Path, made: Path, use: Use) -> str:
    labels, pairs = texts_of(LABELS), texts_of(VOTES, "pairs")
    export_as(labels, given / "texts", form="crowd-kit")
    export_as(pairs, given / "pairs", form="crowd-kit")
    (seen,) = use(given, made)
    equal("best", seen["best"], "t1")
    equal("majority", seen["majority"], {"t1": "pos", "t2": "neg", "t3": "pos"})
    columns = ("item_id", "other_id", "value", "annotator_id")
    for name, before, kind in (("labels", labels, "rationales"), ("pairs", pairs, "pairs")):
        after = read([made / f"{name}.csv"], "crowd-kit", kind)
        rows = [_ids(found, columns) for found in (after, before)]
        equal(name, *rows)
    return "comparisons are ranked, labels aggregated; its frames come back equal"


def _ids(found: Project, columns: tuple[str, ...]) -> set[tuple[str, ...]]:
    rows = set()
    for item, other, value, person in found.frames()["judgements"][list(columns)].astype(str).to_numpy():
        rows.add((other, item, "1", person) if value == "0" else (item, other, value, person))
    return rows


def huggingface(given: Path, made: Path, use: Use) -> str:
    both, pairs = texts_of([*LABELS, *SPANS]), texts_of(VOTES, "pairs")
    export_as(both, given / "texts", form="huggingface")
    export_as(pairs, given / "pairs", form="huggingface")
    use(given, made)
    for kind, before, kind in (("texts", both, "rationales"), ("pairs", pairs, "pairs")):
        paths = [made / f"{kind}-{table}.parquet" for table in ("items", "judgements")]
        equal(kind, said(read(paths, "tables", kind)), said(before))
    return "the folder loads without code; its Parquet comes back equal"


@dataclass(frozen=True)
class Tool:
    """A tool, the versions it is checked with, and how."""

    check: Callable[[Path, Path, Use], str]
    script: str
    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()  # installed without what they say they need
    python: str = "3.11"


TOOLS = {
    "label-studio": Tool(label_studio, "use_label_studio.py", ("label-studio-sdk==2.1.2",)),
    "argilla": Tool(argilla, "use_argilla.py", ("argilla==2.8.0", "requests==2.32.5")),
    # What doccano 1.8.4 asks for without saying which versions.
    "doccano": Tool(
        doccano, "use_doccano.py", ("doccano==1.8.4", "marshmallow==3.26.1", "numpy==1.26.4", "setuptools==80.9.0")
    ),
    # Without sentence-transformers and torch, which a corpus does not need.
    "convokit": Tool(
        convokit,
        "use_convokit.py",
        ("pandas", "scipy", "scikit-learn", "spacy", "nltk", "tqdm", "pyyaml", "dill", "pymongo", "msgpack-numpy",
         "clean-text", "unidecode", "matplotlib"),
        ("convokit==5.0.0",),
    ),
    "crowd-kit": Tool(crowd_kit, "use_crowdkit.py", ("crowd-kit==1.4.2",)),
    "huggingface": Tool(huggingface, "use_huggingface.py", ("datasets==5.2.0",)),
}  # fmt: skip


def environment(folder: Path, tool: Tool) -> Path:
    """The Python of a tool's own environment, made if it is not there."""
    python = folder / "bin" / "python"
    if not python.exists():
        uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
        if uv:
            subprocess.run([uv, "venv", "-q", "--python", tool.python, str(folder)], check=True)
            install = [uv, "pip", "install", "-q", "--python", str(python)]
        else:
            venv.create(folder, with_pip=True)
            install = [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*install, *tool.packages], check=True)
        if tool.alone:
            subprocess.run([*install, "--no-deps", *tool.alone], check=True)
    return python


def check(name: str, envs: Path) -> bool:
    """Check one tool and print what came of it."""
    tool = TOOLS[name]
    python = environment(envs / name, tool)

    def use(given: Path, made: Path) -> list[dict[str, object]]:
        command = [str(python), str(HERE / tool.script), str(given), str(made)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{tool.script} ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    with tempfile.TemporaryDirectory(prefix="accord-tools-") as work:
        made = Path(work) / "made"
        made.mkdir()
        try:
            outcome, good = tool.check(Path(work) / "given", made, use), True
        except SystemExit as error:
            outcome, good = f"FAILED: {error}", False
    print(f"{name} ({', '.join((*tool.alone, *tool.packages[: 1 if not tool.alone else 0]))}): {outcome}", flush=True)
    return good


def main() -> int:
    """Check the tools that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools", nargs="*", choices=[*TOOLS, []], default=[])
    parser.add_argument("--envs", type=Path, default=Path(tempfile.gettempdir()) / "accord-interop-tools")
    chosen = parser.parse_args()
    good = [check(name, chosen.envs.absolute()) for name in chosen.tools or TOOLS]
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
