"""crowd-kit's own aggregation: run by ``run.py`` inside its environment."""

import json
import sys
from pathlib import Path

import pandas as pd
from crowdkit.aggregation import BradleyTerry, MajorityVote

given, made = Path(sys.argv[1]), Path(sys.argv[2])
made.mkdir(parents=True, exist_ok=True)
pairs = pd.read_csv(next((given / "pairs").glob("*comparisons*.csv")), dtype=str)
labels = pd.read_csv(next((given / "texts").glob("*labels*.csv")), dtype=str)
scores = BradleyTerry(n_iter=100).fit_predict(pairs)
majority = MajorityVote().fit_predict(labels)
pairs.to_csv(made / "pairs.csv", index=False)
labels.to_csv(made / "labels.csv", index=False)
print(json.dumps({"best": scores.idxmax(), "majority": majority.to_dict()}))
