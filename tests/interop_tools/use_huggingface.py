"""The Hugging Face loader: run by ``run.py`` inside the environment of ``datasets``."""

import json
import sys
from pathlib import Path

from datasets import load_dataset

given, made = Path(sys.argv[1]), Path(sys.argv[2])
cache = str(made / "cache")
tables = {}
for kind in ("texts", "pairs"):
    for table in ("items", "judgements"):
        loaded = load_dataset(str(given / kind), table, split="train", cache_dir=cache)
        loaded.to_parquet(str(made / f"{kind}-{table}.parquet"))
        tables[f"{kind}/{table}"] = loaded.num_rows
print(json.dumps(tables))
