"""The same arena file ranked here and by arena-rank and evalica: is the order equal, how wide are the intervals?

    python benchmarks/arena.py PYTHON_WITH_ARENA_RANK_AND_EVALICA [FILE.jsonl]

Without a file, battles of six models are simulated: 3,000 Bradley–Terry votes without ties, five times.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from accord import PreferenceRanker

PEER = Path(__file__).parent / "peers" / "arena_intervals.py"


def simulated(seed, n_models=6, n_votes=3000):
    """Battles as an arena publishes them."""
    rng = np.random.default_rng(seed)
    truth = np.linspace(1.0, -1.0, n_models) + rng.normal(0, 0.2, n_models)
    a = rng.integers(0, n_models, n_votes)
    b = (a + rng.integers(1, n_models, n_votes)) % n_models
    won = truth[a] - truth[b] + rng.logistic(size=n_votes) > 0
    names = np.array([f"model {k}" for k in range(n_models)])
    return pd.DataFrame({"model_a": names[a], "model_b": names[b], "winner": np.where(won, "model_a", "model_b")})


def compare(battles, peers):
    """One row a peer: whether the order is equal, and the ratio of our widths to theirs, smallest and largest."""
    value = battles["winner"].map({"model_a": 1.0, "model_b": 0.0}).fillna(0.5)
    X = battles[["model_a", "model_b"]].set_axis(["left", "right"], axis=1)
    ours = PreferenceRanker().fit(X, value.to_numpy()).rank(scale="elo").set_index("item_id")
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "battles.jsonl", Path(folder) / "answer.json"
        battles.to_json(file, orient="records", lines=True)
        subprocess.run([peers, str(PEER), str(file), str(answer)], check=True)
        theirs = json.loads(answer.read_text(encoding="utf-8"))
    rows = []
    for name, found in theirs.items():
        table = pd.DataFrame(found, index=["score", "low", "high"]).T.loc[ours.index]
        ratio = (ours["high"] - ours["low"]) / (table["high"] - table["low"])
        rows.append({
            "peer": name, "same order": table["score"].is_monotonic_decreasing, "mean width": ratio.mean(),
            "least": ratio.min(), "most": ratio.max(), "largest shift": (ours["score"] - table["score"]).abs().max(),
        })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(compare(pd.read_json(sys.argv[2], lines=True), sys.argv[1]).round(3).to_string())
    else:
        tables = [compare(simulated(seed), sys.argv[1]).assign(seed=seed) for seed in range(5)]
        print(pd.concat(tables).sort_values(["peer", "seed"]).round(3).to_string(index=False))
