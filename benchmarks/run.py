"""Measure Accord against its peers, and write results.json and the page docs/benchmarks.md from it.

    python benchmarks/run.py                      every benchmark, three runs each
    python benchmarks/run.py engines --runs 1     some of them
    python benchmarks/run.py pairs --runs 1 --add one more run of it, beside those that are stored
    python benchmarks/run.py pairs --only TEXT    the rows with this in their name and peer, where it takes only=
    python benchmarks/run.py --peers              with peers that get an environment of their own (torch, JAX, igraph)
    python benchmarks/run.py --page               only write the page again

A benchmark is a file of this folder with a function ``run()`` that returns rows ``name, peer, ours_s, peer_s, ratio,
note``. Each run is a process of its own, and is stored when it ends. results.json is a list of such rows: times are
medians over the runs, what was not measured is null, and each row also says its benchmark, the date, the machine, the
versions, and what every run measured. What is not run this time keeps its rows; so do the peers of ``--peers`` where
the same benchmark is run again without them.
"""

import argparse
import ast
import json
import math
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results.json"
COLUMNS = ("name", "peer", "ours_s", "peer_s", "ratio", "note")
TIMES = ("ours_s", "peer_s", "ratio")
APART = ("PGMax", "igraph", "BoTorch", "GPyTorch")  # peers that ``--peers`` runs
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "choix",
    "evalica",
    "crowd-kit",
    "python-crfsuite",
    "ortools",
    "mord",
)


def benchmarks() -> list[str]:
    """The files that have a ``run`` that needs no argument."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == "run":
                needed = len(node.args.args) - len(node.args.defaults)
                found += [path.stem] if needed == 0 and path.stem != "run" else []
    return found


def measure(name: str, *, peers: bool, only: str = "") -> list[dict]:
    """The rows of one run, in this process."""
    sys.path.insert(0, str(FOLDER))
    module = import_module(name)
    taken = module.run.__code__.co_varnames[: module.run.__code__.co_argcount]
    if only and "only" not in taken:
        raise SystemExit(f"{name} has no rows to choose from; leave --only out.")
    wanted = {"peers": True} if peers and "peers" in taken else {}
    rows = module.run(**wanted, **({"only": only} if only else {}))
    return [{column: _plain(row[column]) for column in COLUMNS} for row in rows]


def _plain(value):
    """What JSON has: a time that was not measured is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def joined(runs: list[list[dict]]) -> list[dict]:
    """One row a comparison: median times, their ratio, the ratios of all runs, and what each run measured."""
    by_key: dict[tuple, list[dict]] = {}
    for rows in runs:
        for row in rows:
            by_key.setdefault((row["name"], row["peer"]), []).append(row)
    joint = []
    for same in by_key.values():
        row = {column: same[-1][column] for column in COLUMNS}
        for column in ("ours_s", "peer_s"):
            values = [one[column] for one in same if one[column] is not None]
            row[column] = median(values) if values else None
        row["ratio"] = None if None in (row["ours_s"], row["peer_s"]) else row["peer_s"] / row["ours_s"]
        row["ratios"] = sorted(one["ratio"] for one in same if one["ratio"] is not None)
        row["runs"] = [[one[column] for column in TIMES] for one in same]
        joint.append(row)
    return joint


def stored_runs(rows: list[dict]) -> list[list[dict]]:
    """The runs behind the latest rows of a benchmark, to add another to; rows of earlier days stay apart."""
    latest = max((row["date"] for row in rows), default=None)
    rows = [row for row in rows if row["date"] == latest]
    most = max((len(row["runs"]) for row in rows), default=0)
    return [
        [row | dict(zip(TIMES, row["runs"][k], strict=True)) for row in rows if k < len(row["runs"])]
        for k in range(most)
    ]


def with_peers_apart(rows: list[dict], before: list[dict]) -> list[dict]:
    """Rows, and those of peers in environments of their own that were measured before and not now.

    A row that only says that such a peer was not run gives way to one where it was.
    """
    now = {(row["name"], row["peer"]) for row in rows if row["peer_s"] is not None}
    old = [
        row
        for row in before
        if row["peer"].startswith(APART) and row["peer_s"] is not None and (row["name"], row["peer"]) not in now
    ]
    found = [*rows, *old]
    measured = {(row["name"], row["peer"]) for row in found if row["peer_s"] is not None}
    names = {name for name, peer in measured if peer.startswith(APART)}
    return [
        row
        for row in found
        if row["peer_s"] is not None
        or not ((row["name"], row["peer"]) in measured or (row["peer"] in ("", "none") and row["name"] in names))
    ]


def with_others(rows: list[dict], before: list[dict]) -> list[dict]:
    """Rows, and in their places those of the same benchmark that were measured before and not now."""
    now = {(row["name"], row["peer"]): row for row in rows}
    kept = [now.pop((row["name"], row["peer"]), row) for row in before]
    return [*kept, *now.values()]


def replaced(results: list[dict], name: str, rows: list[dict]) -> list[dict]:
    """The results with these rows of one benchmark instead of those it had, benchmarks in the order of their names."""
    rows = [{"benchmark": name} | row for row in rows]
    return sorted([row for row in results if row["benchmark"] != name] + rows, key=lambda row: row["benchmark"])


def machine() -> dict:
    """Where and with which versions the times were taken."""
    cpu = platform.processor()
    if Path("/proc/cpuinfo").is_file():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), cpu)
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    versions = ", ".join(f"{name} {number}" for name, number in found.items())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
    return {
        "machine": f"{cpu}, {cores} core{'s' if cores != 1 else ''}",
        "load": load,
        "versions": f"Python {platform.python_version()}, {versions}",
    }


def main() -> int:
    """Run, write, and tell by the exit code whether a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks; by default all of them")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--add", action="store_true", help="keep the runs that are stored, and add to them")
    parser.add_argument("--only", metavar="TEXT", default="", help="rows with this in their name and peer")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--rows", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        found = measure(options.names[0], peers=options.peers, only=options.only)
        Path(options.rows).write_text(json.dumps(found), encoding="utf-8")
        return 0
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else []
    failed = []
    for name in [] if options.page else options.names or benchmarks():
        before = [row for row in results if row["benchmark"] == name]
        same = [row for row in before if options.only in f"{row['name']} {row['peer']}"]
        runs = stored_runs(same) if options.add else []
        for _ in range(options.runs):
            part = FOLDER / f".{name}.json"
            command = [sys.executable, __file__, name, "--rows", str(part), *(["--peers"] if options.peers else [])]
            command += ["--only", options.only] if options.only else []
            if subprocess.run(command, check=False).returncode != 0:
                failed.append(name)
                break
            runs.append(json.loads(part.read_text(encoding="utf-8")))
            part.unlink()
            where = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), **machine()}
            loads = [where["load"], *(row.get("load") for row in before if options.add)]
            where["load"] = max((load for load in loads if load is not None), default=None)  # the busiest run
            rows = [row | where for row in joined(runs)]
            rows = with_others(rows, before) if options.only else with_peers_apart(rows, before)
            results = replaced(results, name, rows)
            text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
            RESULTS.write_text(text + "\n", encoding="utf-8")
            print(f"{name}: run {len(runs)} is stored", flush=True)
        for row in (row for row in results if row["benchmark"] == name and name not in failed):
            ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}×"
            print(f"{name}: {row['name']} against {row['peer'] or 'nothing'}: {ratio}", flush=True)
    sys.path.insert(0, str(FOLDER))
    import_module("page").write(results)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
