"""Do rankings keep what they say? Simulated votes with known truth, ranked by the default settings.

Of every problem: how often the 90 % intervals of scores and of ranks hold the truth, in how many runs any statement
across tiers is wrong, the log loss of attentive votes with and without learning about voters, and the rates of random
answers that are learnt of honest and of random voters.

    python benchmarks/rankings.py RUNS [--first SEED] [--only PART OF A NAME]... [--keep FILE] [--table]

``--only "=NAME="`` takes one problem alone. With ``--keep`` every run is a line of a file of JSON lines, and runs that
stand there are not repeated. ``--table`` prints the table of docs/results/rankings.md.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr

from accord import PreferenceRanker
from accord.data.documents import Items

# P(vote) = Φ(z/√2) ≈ σ(1.702 z/√2): what a difference in log odds is on the scale of the noise.
_PROBIT = float(np.sqrt(2.0)) / 1.702


@dataclass(frozen=True)
class Problem:
    """Votes of some voters on items whose scores are drawn from a normal distribution."""

    name: str
    n_items: int
    n_votes: int
    n_voters: int
    spread: float = 1.0
    n_random: int = 0
    margin: float = 0.0
    bias: float = 0.0
    lean: float = 0.0  # standard deviation of the voters' own position biases
    n_groups: int = 1
    logistic: bool = False  # Bradley–Terry votes

    def variants(self) -> Iterator["Problem"]:
        """Honest voters, a third of them random, ties, position bias, a bias of each voter's own; each by the model and
        by Bradley–Terry."""
        third = self.n_voters // 3
        for model in (self, replace(self, name=f"{self.name} Bradley–Terry", logistic=True)):
            yield model
            yield replace(model, name=f"{model.name}, {third} random", n_random=third)
            yield replace(model, name=f"{model.name}, ties", margin=0.5)
            yield replace(model, name=f"{model.name}, bias .8", bias=0.8)
            yield replace(model, name=f"{model.name}, own biases .3 ± .8", bias=0.3, lean=0.8)


PROBLEMS = (
    Problem("20/300/15", 20, 300, 15),
    Problem("6/1500/30", 6, 1500, 30, 0.7),
    Problem("10/900/30", 10, 900, 30),
    Problem("6/3000/60", 6, 3000, 60, 0.7),
    Problem("40 in 2 groups/300/15", 40, 300, 15, n_groups=2),
    Problem("200/1000/30", 200, 1000, 30),
)


def votes_of(problem: Problem, seed: int):
    """Items, X, y, voters, who was shown on the left, and the true scores on the scale of the votes' noise."""
    rng = np.random.default_rng(seed)
    n, m = problem.n_items, problem.n_votes
    truth = problem.spread * rng.standard_normal(n)
    size = n // problem.n_groups
    left = rng.integers(0, n, m)
    right = left // size * size + (left % size + rng.integers(1, size, m)) % size
    voter = rng.integers(0, problem.n_voters, m)
    side = rng.choice([-1, 1], m)
    noise = rng.logistic(size=m) if problem.logistic else np.sqrt(2.0) * rng.standard_normal(m)
    own = problem.bias + problem.lean * np.random.default_rng([seed, 1]).standard_normal(problem.n_voters)
    z = truth[left] - truth[right] + own[voter] * side + noise
    y = np.where(z > problem.margin, 1.0, np.where(z < -problem.margin, 0.0, 0.5))
    thrown = rng.choice([0.0, 0.5, 1.0] if problem.margin else [0.0, 1.0], m)
    y = np.where(voter < problem.n_random, thrown, y)
    ids = np.array([f"t{k:03d}" for k in range(n)], dtype=object)
    items = Items(ids, groups=[f"g{k // size}" for k in range(n)] if problem.n_groups > 1 else None)
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})
    shown = np.where(side == 1, ids[left], ids[right])
    return items, X, y, np.array([f"v{k:02d}" for k in voter], dtype=object), shown, truth


def measure(problem: Problem, seed: int) -> dict[str, float]:
    """One run."""
    items, X, y, who, shown, truth = votes_of(problem, seed)
    routed = {"items": items, "shown_left": shown if problem.bias else None}
    started = time.process_time()
    ranker = PreferenceRanker().fit(X, y, annotator=who, **routed)
    table = ranker.rank().set_index("item_id").loc[list(items.ids)]
    seconds = time.process_time() - started
    size = problem.n_items // problem.n_groups
    group = np.arange(problem.n_items) // size
    scaled = truth * (_PROBIT if problem.logistic else 1.0)
    centred = scaled - np.array([scaled[group == g].mean() for g in group])
    place = np.array([1 + np.sum((truth > truth[k]) & (group == group[k])) for k in range(problem.n_items)])
    a, b = np.triu_indices(problem.n_items, 1)
    inside = group[a] == group[b]
    a, b = a[inside], b[inside]
    tier = table["tier"].to_numpy()
    wrong = (tier[a] != tier[b]) & ((tier[a] < tier[b]) != (truth[a] > truth[b]))
    gap = truth[a] - truth[b]
    p = expit(gap) if problem.logistic else ndtr(gap / np.sqrt(2.0))
    if problem.margin:  # of the decided answers
        up, down = ((expit(s * gap - problem.margin) if problem.logistic else ndtr((s * gap - problem.margin) / 2**0.5))
                    for s in (1.0, -1.0))  # fmt: skip
        p = up / (up + down)
    pairs = pd.DataFrame({"left": items.ids[a], "right": items.ids[b]})
    plain = PreferenceRanker(reliability="equal").fit(X, y, annotator=who, **routed)
    people = ranker.annotators_.set_index("annotator")["error"]
    random = np.array([int(name[1:]) < problem.n_random for name in people.index])
    last = set(people.sort_values().index[len(people) - problem.n_random :]) if problem.n_random else set()
    return {
        "coverage": np.mean((table["low"] <= centred) & (centred <= table["high"])),
        "ranks": np.mean((table["rank_low"] <= place) & (place <= table["rank_high"])),
        "wrong tiers": float(wrong.any()),
        "n tiers": float(tier.max()),
        "log loss": _log_loss(ranker, pairs, p),
        "gain": _log_loss(plain, pairs, p) - _log_loss(ranker, pairs, p),
        "rate honest": people[~random].mean(),
        "rate random": people[random].mean() if random.any() else np.nan,
        "random last": float(last == set(people.index[random])) if random.any() else np.nan,
        "random above": _above(people[random], people[~random]) if random.any() else np.nan,
        "bias": ranker.likelihood_.bias,
        "seconds": seconds,
    }


def _above(ones: pd.Series, others: pd.Series) -> float:
    """How often one of the first is above one of the second."""
    gap = ones.to_numpy()[:, None] - others.to_numpy()
    return float(np.mean((gap > 0) + 0.5 * (gap == 0)))


def _log_loss(ranker: PreferenceRanker, pairs: pd.DataFrame, p: np.ndarray) -> float:
    found = ranker.predict_proba(pairs)
    said = np.clip(found[:, -1] / (found[:, 0] + found[:, -1]), 1e-9, 1 - 1e-9)
    return float(-np.mean(p * np.log(said) + (1 - p) * np.log(1 - said)))


def coverage(problem: Problem, n_runs: int) -> pd.Series:
    """Means over runs."""
    return pd.DataFrame([measure(problem, seed) for seed in range(n_runs)]).mean()


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a problem: each figure's mean and half the width of its 95 % interval over runs."""
    lines = {}
    for name, part in rows.drop(columns="seed").groupby("problem", sort=False):
        figures = part.drop(columns="problem")
        half = 1.96 * figures.std() / np.sqrt(len(part))
        lines[name] = {"n": len(part)} | {
            key: "" if np.isnan(figures[key].mean()) else f"{figures[key].mean():.3f} ± {half[key]:.3f}"
            for key in figures
        }
    return pd.DataFrame(lines).T


# The columns of the table in the documentation.
_COLUMNS = {
    "coverage": "score intervals hold",
    "ranks": "rank intervals hold",
    "wrong tiers": "runs with a wrong tier",
    "rate honest": "ε of honest voters",
    "rate random": "ε of random voters",
    "random above": "random above honest",
    "gain": "gain",
}


def markdown(rows: pd.DataFrame) -> str:
    """The summary as a table for the documentation."""
    whole = summary(rows)
    names = [variant.name for base in PROBLEMS for variant in base.variants()]
    whole = whole.loc[[name for name in names if name in whole.index]]
    lines = ["| items/votes/voters | n | " + " | ".join(_COLUMNS.values()) + " |"]
    lines.append("|---|---:|" + "---:|" * len(_COLUMNS))
    for name, row in whole.iterrows():
        lines.append(f"| {name} | {row['n']} | " + " | ".join(row[key] or "–" for key in _COLUMNS) + " |")
    return "\n".join(lines)


def main() -> None:
    """Runs that are missing, seed by seed over all problems, and the table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--table", action="store_true")
    said = parser.parse_args()
    kept = []
    if said.keep and said.keep.exists():
        kept = [json.loads(line) for line in said.keep.read_text(encoding="utf-8").splitlines()]
    done = {(row["problem"], row["seed"]) for row in kept}
    problems = [variant for base in PROBLEMS for variant in base.variants()]
    problems = [one for one in problems if not said.only or any(part in f"={one.name}=" for part in said.only)]
    for seed in range(said.first, said.first + said.runs):
        for problem in problems:
            if (problem.name, seed) not in done:
                found = {key: float(value) for key, value in measure(problem, seed).items()}
                kept.append({"problem": problem.name, "seed": seed, **found})
                if said.keep:
                    with said.keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(kept[-1]) + "\n")
    print(markdown(pd.DataFrame(kept)) if said.table else summary(pd.DataFrame(kept)).to_string())


if __name__ == "__main__":
    main()
