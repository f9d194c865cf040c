"""Collect the rows of every benchmark in this folder into results.json."""

import json
import math
import sys
import traceback
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
COLUMNS = ("name", "peer", "ours_s", "peer_s", "ratio", "note")


def _plain(value):
    """What JSON has: a time that was not measured is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main() -> int:
    """Run all benchmarks, or those named on the command line; one that fails does not lose the others' rows."""
    sys.path.insert(0, str(FOLDER))
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "run")
    rows, failed = [], []
    for name in names:
        try:
            found = import_module(name).run()
        except Exception:  # noqa: BLE001 - shown, and told by the exit code
            traceback.print_exc()
            failed.append(name)
            continue
        for measured in found:
            row = {column: _plain(measured[column]) for column in COLUMNS}
            rows.append(row)
            ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}×"
            print(f"{name}: {row['name']} against {row['peer']}: {ratio} {row['note']}", flush=True)
        text = json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False)
        (FOLDER / "results.json").write_text(text + "\n", encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
