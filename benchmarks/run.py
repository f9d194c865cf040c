"""Collect the rows of every benchmark in this folder into results.json."""

import json
import platform
import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Run all benchmarks, or those named on the command line."""
    sys.path.insert(0, str(FOLDER))
    names = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "run")
    rows = []
    for name in names:
        for row in import_module(name).run():
            rows.append({"benchmark": name, **row})
            ratio = "–" if row["ratio"] is None else f"{row['ratio']:.2f}×"
            print(f"{name}: {row['name']} against {row['peer']}: {ratio} {row['note']}")
    result = {"python": platform.python_version(), "machine": platform.machine(), "rows": rows}
    (FOLDER / "results.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
