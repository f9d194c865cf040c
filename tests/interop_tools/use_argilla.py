"""Argilla's own records: run by ``run.py`` inside the environment of its SDK."""

import json
import sys
from pathlib import Path

import argilla as rg
from argilla.records._io import JsonIO

given, made = Path(sys.argv[1]), Path(sys.argv[2])
made.mkdir(parents=True, exist_ok=True)
for kind in ("texts", "pairs"):
    rows = json.loads((given / kind / "records.json").read_text(encoding="utf-8"))
    records = [rg.Record.from_dict(row) for row in rows]
    (made / f"{kind}.json").unlink(missing_ok=True)
    JsonIO.to_json(records, made / f"{kind}.json")
    again = JsonIO._records_from_json(made / f"{kind}.json")
    print(json.dumps({"kind": kind, "records": len(again), "responses": sum(len(list(r.responses)) for r in again)}))
