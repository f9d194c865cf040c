"""Measure Accord against its peers, and write results.json and the page docs/benchmarks.md from it.

    python benchmarks/run.py                      every benchmark, three runs each
    python benchmarks/run.py engines --runs 1     some of them
    python benchmarks/run.py --peers              with peers that get an environment of their own (torch, JAX, igraph)
    python benchmarks/run.py --page               only write the page again

A benchmark is a file of this folder with a function ``run()`` that returns rows ``name, peer, ours_s, peer_s, ratio,
note``. Each run is a process of its own. What was not measured this time keeps its rows, with machine and date.
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


def measure(name: str, *, peers: bool) -> list[dict]:
    """The rows of one run, in this process."""
    sys.path.insert(0, str(FOLDER))
    module = import_module(name)
    takes_peers = "peers" in module.run.__code__.co_varnames[: module.run.__code__.co_argcount]
    rows = module.run(peers=True) if peers and takes_peers else module.run()
    return [{column: _plain(row[column]) for column in COLUMNS} for row in rows]


def _plain(value):
    """What JSON has: a time that was not measured is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def joined(runs: list[list[dict]]) -> list[dict]:
    """One row a comparison: medians over the runs, and the least and largest ratio."""
    by_key: dict[tuple, list[dict]] = {}
    for rows in runs:
        for row in rows:
            by_key.setdefault((row["name"], row["peer"]), []).append(row)
    joint = []
    for same in by_key.values():
        row = dict(same[-1])
        for column in ("ours_s", "peer_s", "ratio"):
            values = [one[column] for one in same if one[column] is not None]
            row[column] = median(values) if values else None
        ratios = [one["ratio"] for one in same if one["ratio"] is not None]
        row["ratios"] = sorted(ratios)
        joint.append(row)
    return joint


def machine() -> dict[str, str]:
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
    return {"machine": f"{cpu}, {cores} cores", "versions": f"Python {platform.python_version()}, {versions}"}


def main() -> int:
    """Run, write, and tell by the exit code whether a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="benchmarks; by default all of them")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--rows", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rows:
        Path(options.rows).write_text(json.dumps(measure(options.names[0], peers=options.peers)), encoding="utf-8")
        return 0
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    failed = []
    for name in [] if options.page else options.names or benchmarks():
        runs = []
        for _ in range(options.runs):
            part = FOLDER / f".{name}.json"
            command = [sys.executable, __file__, name, "--rows", str(part), *(["--peers"] if options.peers else [])]
            if subprocess.run(command, check=False).returncode != 0:
                failed.append(name)
                break
            runs.append(json.loads(part.read_text(encoding="utf-8")))
            part.unlink()
        if len(runs) == options.runs:
            date = datetime.now(UTC).strftime("%Y-%m-%d")
            results[name] = {"date": date, "runs": len(runs), **machine(), "rows": joined(runs)}
            for row in results[name]["rows"]:
                ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}×"
                print(f"{name}: {row['name']} against {row['peer'] or 'nothing'}: {ratio}", flush=True)
            text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
            RESULTS.write_text(text + "\n", encoding="utf-8")
    sys.path.insert(0, str(FOLDER))
    import_module("page").write(results)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
