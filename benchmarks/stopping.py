"""May one stop when the ranking says so? A look after every ten votes, until the best three are settled with 95 %.

Scores are drawn from a normal distribution, votes come in random pairs from attentive voters. Counts in how many runs
the three were the best three indeed; how often the forecast of the votes still needed, made at half of the votes that
it took, was within a factor of two; and how often the 80 % interval of a forecast made after 100 votes held what it
took, runs that did not stop included.

    python benchmarks/stopping.py RUNS [--first SEED] [--keep FILE] [--no-forecast]

Most looks find nothing near to sure. Votes are added to the ranking that is there, and only where every order of the
first three and the rest is nearly sure is it ranked anew; a look that this leaves out can only have stopped earlier.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from accord import PreferenceRanker
from accord.data.documents import Items

N_ITEMS, TOP, SURE, STEP, MOST, EARLY = 8, 3, 0.95, 10, 600, 100
_NEARLY = 0.02


def run(seed, *, n_items=N_ITEMS, most=MOST, forecast=True):
    """Votes until the top is settled, whether it was right, and the forecasts at half of these votes and after 100."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(n_items)
    ids = np.array([f"t{k}" for k in range(n_items)], dtype=object)
    left = rng.integers(0, n_items, most)
    right = (left + rng.integers(1, n_items, most)) % n_items
    y = (truth[left] - truth[right] + rng.normal(0, np.sqrt(2.0), most) > 0).astype(float)
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})

    def ranked(n):
        return PreferenceRanker().fit(X[:n], y[:n], items=Items(ids))

    quick, learnt = None, 0
    for n in range(2 * n_items, most + 1, STEP):
        if n >= 1.25 * learnt:
            quick, learnt = ranked(n), n
        else:
            quick.partial_fit(X[n - STEP : n], y[n - STEP : n])
        order = ids[np.argsort(-quick.score_items())]
        pairs = pd.DataFrame(product(order[:TOP], order[TOP:]), columns=["left", "right"])
        if quick.predict_order(pairs).min() < SURE - _NEARLY:
            continue
        ranker = ranked(n)
        if ranker.stability(top=TOP, sure=SURE, forecast=False).reached:
            said = set(ranker.rank()["item_id"].head(TOP))
            found = {"needed": n, "right": float(said == set(ids[np.argsort(-truth)[:TOP]]))}
            if not forecast:
                return found
            return {**found, "forecast": ranked(n // 2).stability(top=TOP, sure=SURE).votes_left, **_early(ranked, n)}
    return {"needed": np.inf, **(_early(ranked, most) if forecast else {})}


def _early(ranked, needed):
    if needed <= EARLY:
        return {}
    state = ranked(EARLY).stability(top=TOP, sure=SURE)
    return {"low": EARLY + state.votes_low, "middle": EARLY + state.votes_left, "high": EARLY + state.votes_high}


def report(rows):
    """The table of all runs."""
    stopped = rows[np.isfinite(rows["needed"])]
    print(
        f"{len(rows)} runs, {len(stopped)} stopped before {MOST} votes, half by {stopped['needed'].median():.0f} votes"
    )
    _share("right", stopped["right"])
    told = rows["forecast"].notna()
    stopped = stopped[told[stopped.index]]
    if not len(stopped):
        return
    ratio = stopped["forecast"] / (stopped["needed"] - stopped["needed"] // 2)
    _share("forecast at half of the votes within a factor of two", (ratio >= 0.5) & (ratio <= 2.0))
    print(f"  its ratio to the truth: median {ratio.median():.2f}, 10 % {ratio.quantile(0.1):.2f}, "
          f"90 % {ratio.quantile(0.9):.2f}")  # fmt: skip
    early = rows[rows["high"].notna()]
    held = (early["low"] <= early["needed"]) & (early["needed"] <= early["high"])
    # Of a run that was cut nothing is known but that it takes more than the cut.
    _share(f"80 % interval after {EARLY} votes holds what it took", held | ~np.isfinite(early["needed"])
           & (early["high"] >= MOST))  # fmt: skip
    _share("  took less than the interval", early["needed"] < early["low"])


def _share(name, held):
    """A share with its 95 % interval by Wilson, which holds near 0 and 1 too."""
    n = len(held)
    if n:
        p, z = float(np.mean(held)), 1.96
        middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
        print(f"{name}: {p:.3f} [{low:.3f}, {high:.3f}] (n {n})")


def main():
    """Runs that are missing, and the table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--no-forecast", action="store_true", help="only whether it was right; takes half of the time")
    said = parser.parse_args()
    kept = []
    if said.keep and said.keep.exists():
        kept = [json.loads(line) for line in said.keep.read_text(encoding="utf-8").splitlines()]
    done = {row["seed"] for row in kept}
    for seed in range(said.first, said.first + said.runs):
        if seed not in done:
            kept.append({"seed": seed, **run(seed, forecast=not said.no_forecast)})
            if said.keep:
                with said.keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(kept[-1]) + "\n")
    report(pd.DataFrame(kept).reindex(columns=["needed", "right", "forecast", "low", "middle", "high"]))


if __name__ == "__main__":
    main()
