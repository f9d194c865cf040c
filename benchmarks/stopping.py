"""May one stop when the ranking says so? A look after every ten votes, until the best three are settled with 95 %.

Scores are drawn from a normal distribution, votes come in random pairs from attentive voters. Counts in how many runs
the three were the best three indeed, and how often the forecast that was made at half of the votes was within a factor
of two of what was needed.

    python benchmarks/stopping.py [runs]
"""

import sys

import numpy as np
import pandas as pd

from accord import PreferenceRanker
from accord.data.documents import Items

N_ITEMS, TOP, SURE, STEP, MOST = 8, 3, 0.95, 10, 1_500


def run(seed, *, n_items=N_ITEMS, most=MOST):
    """Votes until the top is settled, whether it was right, and the forecast at half of the votes over the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(n_items)
    ids = np.array([f"t{k}" for k in range(n_items)], dtype=object)
    left = rng.integers(0, n_items, most)
    right = (left + rng.integers(1, n_items, most)) % n_items
    y = (truth[left] - truth[right] + rng.normal(0, np.sqrt(2.0), most) > 0).astype(float)
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})
    forecasts = {}
    for n in range(2 * n_items, most + 1, STEP):
        ranker = PreferenceRanker().fit(X[:n], y[:n], items=Items(ids))
        state = ranker.stability(top=TOP, sure=SURE)
        forecasts[n] = n + (state.votes_left or 0.0)
        if state.reached:
            said = set(ranker.rank()["item_id"].head(TOP))
            half = min(forecasts, key=lambda m, n=n: abs(m - n / 2))
            return n, said == set(ids[np.argsort(-truth)[:TOP]]), forecasts[half] / n
    return most, None, np.nan


if __name__ == "__main__":
    found = [run(seed) for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)]
    stopped = [one for one in found if one[1] is not None]
    ratio = np.array([one[2] for one in stopped])
    median = np.median([n for n, _, _ in stopped])
    print(f"{len(found)} runs, {len(stopped)} stopped before {MOST} votes, half of them by {median:.0f} votes")
    print(f"right {np.mean([right for _, right, _ in stopped]):.3f}")
    print(f"forecast within a factor of two {np.mean((ratio > 0.5) & (ratio < 2.0)):.3f}")
