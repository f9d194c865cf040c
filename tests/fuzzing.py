"""Broken files for every reader: samples of each tool changed at random, and what is known to break parsers.

``ACCORD_FUZZ_SECONDS`` is the time for each format. The test-suite spends a moment on each; run this file for longer::

    ACCORD_FUZZ_SECONDS=600 python tests/fuzzing.py [FORMAT …]
"""

import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq

from accord.errors import InputError
from accord.workflows.import_ import import_files

SAMPLES = Path(__file__).parent / "data" / "formats" / "samples"
SECONDS = float(os.environ.get("ACCORD_FUZZ_SECONDS", "0.4"))
LONGEST_TRY = 30  # seconds; a reader that needs longer for a few kilobytes hangs


@dataclass(frozen=True)
class Target:
    """A file to break, its format, and what else the reader needs."""

    name: str
    form: str
    others: tuple[str, ...] = ()
    config: str | None = None
    kind: str | None = None


TARGETS = [
    Target("label_studio/pairs.json", "label-studio", config="label_studio/pairs.xml"),
    Target("label_studio/reviews.json", "label-studio", config="label_studio/reviews.xml"),
    Target("label_studio/reviews_min.json", "label-studio", config="label_studio/reviews.xml"),
    Target("label_studio/reviews.csv", "label-studio", config="label_studio/reviews.xml"),
    Target("label_studio/dialogue.json", "label-studio", config="label_studio/dialogue.xml"),
    Target("label_studio/ranking.json", "label-studio", config="label_studio/ranking.xml"),
    Target("label_studio/reviews.xml", "label-studio", ("label_studio/reviews.json",)),
    Target("argilla/records.json", "argilla"),
    Target("argilla/flat.jsonl", "argilla"),
    Target("argilla/ranking.json", "argilla"),
    Target("prodigy/reviews.jsonl", "prodigy"),
    Target("prodigy/compare.jsonl", "prodigy"),
    Target("potato/annotation_output/ada/user_state.json", "potato", ("potato/data.jsonl",)),
    Target("potato/data.jsonl", "potato", ("potato/annotation_output",)),
    Target("spacy/spans.jsonl", "spacy"),
    Target("spacy/train_data.json", "spacy"),
    Target("brat/streets.ann", "brat"),
    Target("conll/streets.conll", "conll"),
    Target("webanno/streets.tsv", "webanno"),
    Target("doccano/labels.jsonl", "doccano"),
    Target("doccano/spans.jsonl", "doccano"),
    Target("doccano/relations.jsonl", "doccano"),
    Target("convokit/utterances.jsonl", "convokit"),
    Target("convokit/info.quality.jsonl", "convokit"),
    Target("all_our_ideas/votes.csv", "all-our-ideas"),
    Target("all_our_ideas/nonvotes.csv", "all-our-ideas"),
    Target("all_our_ideas/ideas.csv", "all-our-ideas", ("all_our_ideas/votes.csv",)),
    Target("polis/votes.csv", "polis", ("polis/comments.csv",)),
    Target("polis/comments.csv", "polis", ("polis/votes.csv",)),
    Target("crowdkit/comparisons.csv", "crowd-kit"),
    Target("crowdkit/labels.csv", "crowd-kit"),
    Target("arena/battles.jsonl", "arena"),
    Target("trl/preferences.jsonl", "trl"),
    Target("judge_logs/inspect.json", "inspect"),
    Target("judge_logs/promptfoo.json", "promptfoo"),
    Target("judge_logs/deepeval.json", "deepeval"),
    Target("judge_logs/samples_library_2026-10-02.jsonl", "lm-eval"),
    Target("eraser/train.jsonl", "eraser"),
    Target("forums/Posts.xml", "stack-exchange"),
    Target("forums/topic.json", "discourse"),
    Target("forums/listing.json", "reddit"),
    Target("tables/votes.csv", "tables", ("tables/items.csv",), kind="pairs"),
    Target("../../people/zendesk_tickets.jsonl", "tables"),
    Target("../../people/stack_api_questions.json", "tables"),
    Target("../../people/nested_votes.json", "tables"),
    Target("tables/items.csv", "tables", ("tables/votes.csv",), kind="pairs"),
    Target("tables/votes.parquet", "tables", ("tables/items.csv",), kind="pairs"),
]
FORMATS = list(dict.fromkeys(target.form for target in TARGETS))

_PIECES = [
    *(b"", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b'"', b"'", b"[", b"{", b"}", b"]", b",", b":"),
    *(b"\n", b"\r", b"\r\n", b"\t", b"\xe2\x80\xa8", b"null", b"-1", b"1e999", b"NaN", b"-Infinity", b"{}", b"[]"),
    *(b"\xf0\x9f\x98\x80", b"\\ud800", b"\\u0000", b"9" * 400, b'"x"', b"0.5", b"true", b"<", b"&", b"<!--", b"--"),
]
_VALUES = [
    *(None, True, False, -1, 0, 1.5, 10**30, -(2**63), 2**31, 1e308, "", "x", " ", "\0", "é\u0301😀", "NaN", "1e999"),
    *([], {}, [[]], [{}], [None], {"a": None}, ["x"], [1, 2, "x"], [[0, 1, "L"]], {"id": 1}, "x" * 3000),
]


def wreck(content: bytes, rng: random.Random, suffix: str) -> bytes:
    """A broken copy of a file."""
    ways = [_bytes_replaced] * 4 + [_lines_shuffled, _cut_off, _encoded_otherwise, _packed, _repeated]
    if suffix in (".json", ".jsonl"):
        ways += [_value_replaced] * 6 + [_key_doubled, _nested_deep]
    if suffix == ".csv":
        ways += [_cell_replaced] * 4 + [_column_doubled]
    if suffix == ".xml":
        ways += [_bomb]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # What an earlier way made of it may be no JSON or no table any more.
        with contextlib.suppress(ValueError, IndexError, RecursionError):
            content = rng.choice(ways)(content, rng)
    return content


def _bytes_replaced(content: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 3)):
        start = rng.randint(0, len(content))
        content = content[:start] + rng.choice(_PIECES) + content[start + rng.randint(0, 6) :]
    return content


def _lines_shuffled(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines[: rng.randint(0, len(lines))])


def _cut_off(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randint(0, len(content))]


def _encoded_otherwise(content: bytes, rng: random.Random) -> bytes:
    return content.decode("utf-8").encode(rng.choice(("utf-16", "utf-32", "latin-1", "utf-8-sig")), "replace")


def _packed(content: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(content)
    return packed[: rng.choice((len(packed), len(packed) // 2, 5))]


def _repeated(content: bytes, rng: random.Random) -> bytes:
    return content * rng.choice((2, 50))


def _bomb(content: bytes, rng: random.Random) -> bytes:
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
    return f'<!DOCTYPE x [<!ENTITY e0 "ha">{entities}]>'.encode() + content.replace(b"pos", b"&e11;")


def _records(content: bytes) -> tuple[list[object], bool]:
    text = content.decode("utf-8")
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        return (found, True) if isinstance(found, list) else ([found], False)
    return [json.loads(line) for line in text.splitlines() if line.strip()], False


def _dumped(found: list[object], whole: bool) -> bytes:
    text = json.dumps(found) if whole else "\n".join(map(json.dumps, found))
    return text.encode()


def _value_replaced(content: bytes, rng: random.Random) -> bytes:
    found, whole = _records(content)
    place = rng.randrange(len(found))
    found[place] = changed(found[place], rng)
    return _dumped(found, whole)


def changed(value: object, rng: random.Random) -> object:
    """A JSON value with one part replaced or left out."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        name = rng.choice(list(value))
        if rng.random() < 0.15:
            return {key: entry for key, entry in value.items() if key != name}
        if rng.random() < 0.05:
            return {(rng.choice(["", "x", "a.b", "\0", "meta.x", "id"]) if key == name else key): entry
                    for key, entry in value.items()}  # fmt: skip
        return {**value, name: changed(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        place = rng.randrange(len(value))
        return [*value[:place], changed(value[place], rng), *value[place + 1 :]]
    return rng.choice(_VALUES)


def _key_doubled(content: bytes, rng: random.Random) -> bytes:
    places = [place for place in range(len(content)) if content[place : place + 1] == b"{"]
    place = rng.choice(places) + 1
    key = rng.choice((b'"id": ', b'"text": ', b'"data": ', b'"label": '))
    return content[:place] + key + json.dumps(rng.choice(_VALUES)).encode() + b", " + content[place:]


def _nested_deep(content: bytes, rng: random.Random) -> bytes:
    deep = rng.choice((500, 100_000))
    start, end = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    nested = start * deep + b"1" + (end * deep if rng.random() < 0.7 else b"")
    places = [place for place in range(len(content)) if content[place : place + 1] == b":"]
    place = rng.choice(places) + 1
    return content[:place] + nested + content[place + rng.choice((0, 4)) :]


def _cell_replaced(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    place = rng.randrange(len(lines))
    cells = lines[place].split(b",")
    value = rng.choice([v for v in _VALUES if v is None or isinstance(v, str | int | float)])
    cells[rng.randrange(len(cells))] = ("" if value is None else str(value)).encode()
    if rng.random() < 0.1:
        cells.pop()
    lines[place] = b",".join(cells)
    return b"\n".join(lines)


def _column_doubled(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(content.split(b"\n")[0].count(b",") + 1)
    lines = [line.split(b",") for line in content.split(b"\n")]
    return b"\n".join(b",".join([*cells, *cells[place : place + 1]]) for cells in lines)


@dataclass
class Outcome:
    """What came of the tries of one format."""

    form: str
    tries: int = 0
    refused: int = 0
    seconds: float = 0.0
    sentences: set[str] = field(default_factory=set)
    crashes: list[str] = field(default_factory=list)


def original(target: Target) -> bytes:
    """The sample of a target; Parquet is made of the CSV sample beside it."""
    path = SAMPLES / target.name
    if path.suffix != ".parquet":
        return path.read_bytes()
    with tempfile.TemporaryDirectory() as work:
        pq.write_table(pyarrow.csv.read_csv(path.with_suffix(".csv")), Path(work) / "x.parquet")
        return (Path(work) / "x.parquet").read_bytes()


def attempt(folder: Path, target: Target, content: bytes) -> list[str]:
    """Import a broken file, its format said and found; the sentences that refuse it, checked to be sentences."""
    path = folder / Path(target.name).name
    path.write_bytes(content)
    paths, config = [path, *(SAMPLES / name for name in target.others)], target.config and SAMPLES / target.config
    if path.suffix == ".xml" and target.form == "label-studio":
        paths, config = paths[1:], path
    if target.name == "convokit/info.quality.jsonl":
        shutil.copy(SAMPLES / "convokit/utterances.jsonl", folder)
        paths = [folder / "utterances.jsonl", path]
    said = []
    for settings in ({"form": target.form}, {}):
        try:
            import_files(paths, None, kind=target.kind, config=config, **settings)
            import_files(paths, folder / "project", kind=target.kind, config=config, **settings)
        except InputError as error:
            said.append(str(error))
        imported = (folder / "project").exists()
        shutil.rmtree(folder / "project", ignore_errors=True)
        assert imported or said, "an import that was not refused must write a project"
    for sentence in said:
        assert len(sentence.splitlines()) == 1, f"not one line: {sentence!r}"
        assert sentence.endswith((".", "?")), f"no sentence: {sentence!r}"
        assert len(sentence) < 2_000, f"a sentence of {len(sentence):,} characters: {sentence[:200]!r}"
    return said


def fuzz(form: str, *, seconds: float, seed: int, keep: Path | None = None) -> Outcome:
    """Break the samples of a format until the time is up; what crashes is kept in a folder."""
    rng, outcome = random.Random(f"{form}/{seed}"), Outcome(form)
    targets = [(target, original(target)) for target in TARGETS if target.form == form]
    started = time.monotonic()
    while time.monotonic() - started < seconds or outcome.tries < len(targets):
        target, content = targets[outcome.tries % len(targets)]
        broken = wreck(content, rng, Path(target.name).suffix)
        outcome.tries += 1
        with tempfile.TemporaryDirectory(prefix="accord-fuzz-") as work:
            folder = Path(work)
            if form == "eraser":
                shutil.copytree(SAMPLES / "eraser/docs", folder / "docs")
            if form == "brat":
                shutil.copy(SAMPLES / "brat/streets.txt", folder)
            try:
                with _limited(LONGEST_TRY):
                    said = attempt(folder, target, broken)
            except Exception:  # noqa: BLE001 -- finding any is the purpose
                outcome.crashes.append(f"{target.name}\n{traceback.format_exc()}")
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{len(outcome.crashes)}-{target.name.replace('/', '-')}").write_bytes(broken)
                continue
        outcome.refused += bool(said)
        outcome.sentences.update(said[:1])
    outcome.seconds = time.monotonic() - started
    return outcome


@contextlib.contextmanager
def _limited(seconds: int):
    """End a block that takes too long, where the system can."""

    def late(number, frame):
        raise TimeoutError(f"a try took more than {seconds} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def main(forms: list[str]) -> int:
    """Fuzz some formats, or all, and print what came of it."""
    seed, crashed = int(os.environ.get("ACCORD_FUZZ_SEED", "0")), False
    for form in forms or FORMATS:
        outcome = fuzz(form, seconds=SECONDS, seed=seed, keep=Path(tempfile.gettempdir()) / "accord-fuzz" / form)
        print(f"{form}: {outcome.tries} tries in {outcome.seconds:.0f} s, {outcome.refused} refused, "
              f"{len(outcome.crashes)} crashes", flush=True)  # fmt: skip
        for crash in dict.fromkeys(crash.splitlines()[-1] for crash in outcome.crashes):
            print(f"  {crash}", flush=True)
        for crash in outcome.crashes[:3]:
            print(crash, flush=True)
        crashed = crashed or bool(outcome.crashes)
    return int(crashed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
