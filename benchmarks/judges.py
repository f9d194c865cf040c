"""Do rankings by people and judges hold? Simulated votes with known truth, also of judges unlike those of the model.

Forty texts of independent quality and length, 300 votes of six people, 3,000 of judges. Of every case: Spearman's
correlation with the quality by people and judges and by people alone, how often the 90 % intervals of the scores hold
the truth, and how far the judges' slopes are from the true ones.

    python benchmarks/judges.py RUNS [--first SEED] [--only CASE]... [--keep FILE] [--table]

With ``--keep`` every run is a line of a file of JSON lines, and runs that stand there are not repeated. ``--table``
prints the table of docs/judges.md.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from accord import AnchoredRanker
from accord.data.documents import Items
from accord.errors import ConvergenceWarning

_N_ITEMS, _N_VOTERS = 40, 6


@dataclass(frozen=True)
class Case:
    """Votes between random pairs; a voter sees u(left) − u(right) + ε."""

    name: str
    share: float = 1.0  # of the quality in what judges see
    length: float = 0.0  # of the length
    shape: Callable[[np.ndarray], np.ndarray] | None = None  # the length as judges see it; linear if None
    known: bool = False  # whether the length is a covariate
    shared: float = 0.0  # standard deviation of what all judges see in single texts by mistake
    own: float = 0.0  # the same of each judge alone
    noise: float = 1.0  # standard deviation of ε
    judge_noise: float | None = None
    n_judges: int = 2
    families: int | None = None  # judges of one family see the same mistakes; each is one by itself if None
    copied: bool = False  # the second judge repeats every vote of the first
    apart: float = 0.0  # standard deviation of people's own preferences; the truth is their mean
    people: int = 300
    judged: int = 3000


CASES = (
    Case("length known", 0.5, 1.0, known=True),
    Case("length not known", 0.5, 1.0),
    Case("unbiased"),
    Case("length known, noise 1.15", 0.5, 1.0, known=True, noise=1.15),
    Case("length known, noise √2", 0.5, 1.0, known=True, noise=2**0.5),
    Case("shared mistakes of .1", shared=0.1),
    Case("shared mistakes of .2", shared=0.2),
    Case("shared mistakes of .4", shared=0.4),
    Case("shared mistakes of .8", shared=0.8),
    Case("length known, bias saturates", 0.5, 1.0, shape=lambda x: np.tanh(2.0 * x), known=True),
    Case("length known, bias for the middle", 0.5, 0.5, shape=lambda x: -(x**2), known=True),
    Case("length known, twice the noise", 0.5, 1.0, known=True, judge_noise=2.0),
    Case("one judge", n_judges=1),
    Case("one judge, length known", 0.5, 1.0, known=True, n_judges=1),
    Case("a judge that copies another", copied=True),
    Case("six judges of one family, mistakes of .4", shared=0.4, own=0.2, n_judges=6, families=1),
    Case("people differ by .5", apart=0.5),
    Case("people differ by .5, length known", 0.5, 1.0, known=True, apart=0.5),
)


def votes_of(case: Case, seed: int):
    """Items, X, y, voters, the table of judges, and the true scores on the scale of the votes' noise."""
    rng = np.random.default_rng([seed, 20])
    quality, length = rng.standard_normal(_N_ITEMS), rng.standard_normal(_N_ITEMS)
    n = case.people + case.judged
    left = rng.integers(0, _N_ITEMS, n)
    right = (left + rng.integers(1, _N_ITEMS, n)) % _N_ITEMS
    voter = np.where(
        np.arange(n) < case.people, rng.integers(0, _N_VOTERS, n), _N_VOTERS + rng.integers(0, case.n_judges, n)
    )
    tastes = case.apart * rng.standard_normal((_N_VOTERS, _N_ITEMS))
    seen_length = length if case.shape is None else case.shape(length)
    judged = case.share * quality + case.length * seen_length + case.shared * rng.standard_normal(_N_ITEMS)
    own = case.own * rng.standard_normal((case.n_judges, _N_ITEMS))
    utility = np.vstack([quality + tastes, judged + own])
    spread = np.where(voter < _N_VOTERS, case.noise, case.noise if case.judge_noise is None else case.judge_noise)
    y = (utility[voter, left] - utility[voter, right] + spread * rng.standard_normal(n) > 0).astype(float)
    if case.copied:
        first = np.flatnonzero(voter == _N_VOTERS)
        rows = np.concatenate([np.flatnonzero(voter <= _N_VOTERS), first])
        left, right, y = left[rows], right[rows], y[rows]
        voter = np.concatenate([voter[voter <= _N_VOTERS], np.full(first.size, _N_VOTERS + 1)])
    judges = [f"judge-{k}" for k in range(case.n_judges)]
    names = np.array([f"person-{k}" for k in range(_N_VOTERS)] + judges, dtype=object)
    kin = judges if case.families is None else [f"family-{k % case.families}" for k in range(case.n_judges)]
    ids = np.array([f"t{k:02d}" for k in range(_N_ITEMS)], dtype=object)
    items = Items(ids, meta={"length": length})
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})
    truth = (quality + tastes.mean(axis=0)) * 2**0.5 / case.noise  # the model's noise is √2
    return items, X, y, names[voter], pd.DataFrame({"annotator_id": judges, "family": kin}), truth


def measure(case: Case, seed: int) -> dict[str, float]:
    """One run."""
    items, X, y, who, judges, truth = votes_of(case, seed)
    centred = truth - truth.mean()
    covariates = ["meta.length"] if case.known else []
    person = np.array([name.startswith("person") for name in who])
    found = {}
    for name, rows in (("people", person), ("both", np.ones(len(y), dtype=bool))):
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ranker = AnchoredRanker(covariates=covariates)
            ranker.fit(X[rows], y[rows], items=items, annotator=who[rows], judges=judges)
        seconds = time.process_time() - started
        table = ranker.rank().set_index("item_id").loc[list(items.ids)]
        found[f"spearman {name}"] = spearmanr(ranker.score_items(), truth)[0]
        found[f"coverage {name}"] = np.mean((table["low"] <= centred) & (centred <= table["high"]))
        found[f"width {name}"] = (table["high"] - table["low"]).mean()
    found["gain"] = found["spearman both"] - found["spearman people"]
    found["used"] = ranker.judges_["used"].mean()
    found["seconds"] = seconds
    slopes = ranker.slopes_
    if case.known and case.shape is None:
        own = slopes[slopes["annotator"].str.startswith("judge-")]
        true = case.length * 2**0.5 / (case.noise if case.judge_noise is None else case.judge_noise)
        found["slope"] = (own["slope"] / true).mean()
        found["slope within .1"] = np.mean((own["slope"] - true).abs() / (true / case.length) <= 0.1)
        found["slope coverage"] = np.mean((own["low"] <= true) & (true <= own["high"]))
    return found


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a case: each figure's mean and half the width of its 95 % interval over runs, and the lowest gain."""
    lines = {}
    for name, part in rows.drop(columns="seed").groupby("case", sort=False):
        figures = part.drop(columns="case")
        half = 1.96 * figures.std() / np.sqrt(len(part))
        lines[name] = {"n": len(part), "lowest gain": f"{figures['gain'].min():+.3f}"} | {
            key: "" if np.isnan(figures[key].mean()) else f"{figures[key].mean():.3f} ± {half[key]:.3f}"
            for key in figures
        }
    return pd.DataFrame(lines).T


# The columns of the table in the documentation.
_COLUMNS = {
    "spearman people": "Spearman, people alone",
    "spearman both": "people and judges",
    "lowest gain": "lowest gain",
    "coverage people": "intervals hold, people alone",
    "coverage both": "people and judges",
    "used": "judges used",
}


def markdown(rows: pd.DataFrame) -> str:
    """The summary as a table for the documentation."""
    whole = summary(rows)
    whole = whole.loc[[case.name for case in CASES if case.name in whole.index]]
    lines = ["| judges | n | " + " | ".join(_COLUMNS.values()) + " |", "|---|---:|" + "---:|" * len(_COLUMNS)]
    for name, row in whole.iterrows():
        lines.append(f"| {name} | {row['n']} | " + " | ".join(row[key] or "–" for key in _COLUMNS) + " |")
    return "\n".join(lines)


def main() -> None:
    """Runs that are missing, seed by seed over all cases, and the table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--table", action="store_true")
    said = parser.parse_args()
    kept = []
    if said.keep and said.keep.exists():
        kept = [json.loads(line) for line in said.keep.read_text(encoding="utf-8").splitlines()]
    done = {(row["case"], row["seed"]) for row in kept}
    unknown = set(said.only) - {case.name for case in CASES}
    if unknown:
        parser.error(f"there is no case {sorted(unknown)[0]!r}; there are: {', '.join(case.name for case in CASES)}.")
    cases = [case for case in CASES if not said.only or case.name in said.only]
    for seed in range(said.first, said.first + said.runs):
        for case in cases:
            if (case.name, seed) not in done:
                found = {key: float(value) for key, value in measure(case, seed).items()}
                kept.append({"case": case.name, "seed": seed, **found})
                if said.keep:
                    with said.keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(kept[-1]) + "\n")
    print(markdown(pd.DataFrame(kept)) if said.table else summary(pd.DataFrame(kept)).to_string())


if __name__ == "__main__":
    main()
