"""Does knowing who votes help? Held-out votes of each worker of UKPConvArg, by the consensus and by person.

The 32 sides of debates are eight disjoint parts of four sides. Of every worker a fifth of the votes in a part is held
out, and the rest is learnt from, undecided votes too. Decided votes are predicted by the consensus, by the consensus
with the worker's own rate of random answers, and by person; the default settings count. The gain of the last is tested
over workers.

    python benchmarks/personal.py [--parts 0 1 ...] [--seed SEED] [--keep FILE]
    python benchmarks/personal.py --growth 500 1000 2000 4000 8000

With ``--keep`` every predicted vote is a line of a file of JSON lines, and parts that stand there are not repeated.
``--growth`` measures CPU seconds and memory of fits to made-up voters with six votes each, one process a size.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import wilcoxon

from accord import PersonalRanker
from accord.data.corpora import convarg
from accord.data.documents import Items

_N_PARTS = 8
ROWS = ("consensus", "own rate", "person")


def _left(p, classes):
    """Probability of left of a decided answer."""
    return p[:, classes == 1.0][:, 0] / (p[:, classes == 1.0] + p[:, classes == 0.0])[:, 0]


def measure(part, seed):
    """The held-out votes of one part: worker, votes learnt from, answer, and each row's probability of left."""
    corpus = convarg.load()
    sides = np.unique(corpus.folds.astype(str))[part::_N_PARTS]
    rows = np.flatnonzero(np.isin(corpus.folds.astype(str), sides))
    items = corpus.items.subset(rows)
    votes = corpus.crowd_full.subset(np.isin(corpus.crowd_full.left, rows))
    (X, y), who = votes.xy(), votes.to_table()["annotator_id"]
    chance = pd.Series(np.random.default_rng([seed, part]).random(len(who)))
    held = (chance.groupby(who.to_numpy()).rank(pct=True) > 0.8).to_numpy() & (
        chance.groupby(who.to_numpy()).transform("size") > 1
    ).to_numpy()
    started = time.process_time()
    ranker = PersonalRanker().fit(X[~held], y[~held], items=items, annotator=who[~held])
    seconds = time.process_time() - started
    rows = held & (y != 0.5)
    shown, names = X[rows].reset_index(drop=True), who[rows].to_numpy()
    consensus, classes = ranker.consensus_, ranker.classes_
    known = ranker.voters_.set_index("annotator")
    rate = known["error"].reindex(names).to_numpy() if "error" in known else np.zeros(len(names))
    stranger = float(known["error"].mean()) if "error" in known else 0.0
    rate = np.where(np.isnan(rate), stranger, rate)
    attentive = _left(consensus.predict_proba(shown), classes)
    p = {
        "consensus": _left(consensus.predict_proba(shown, attentive=False), classes),
        "own rate": (1.0 - rate) * attentive + 0.5 * rate,
        "person": _left(ranker.predict_proba(shown, annotator=names, attentive=False), classes),
    }
    frame = pd.DataFrame({"part": part, "worker": names, "y": y[rows].astype(float), **p})
    frame["learnt"] = who[~held].value_counts().reindex(names).fillna(0).to_numpy()
    return frame.assign(seconds=seconds, tastes=ranker.n_tastes_, groups=len(ranker.groups_))


def _interval(workers, n_draws=2000):
    """95 % interval of the mean over votes of a gain, workers drawn anew; columns ``sum`` and ``size``."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(workers), np.full(len(workers), 1 / len(workers)), n_draws)
    means = drawn @ workers["sum"].to_numpy() / (drawn @ workers["size"].to_numpy())
    return np.quantile(means, (0.025, 0.975))


def summary(votes):
    """Lines of text."""
    right = {row: (votes[row] > 0.5) == (votes["y"] == 1.0) for row in ROWS}
    loss = {row: -np.log(votes[row].where(votes["y"] == 1.0, 1.0 - votes[row])) for row in ROWS}
    yield f"{votes['part'].nunique()} parts, {len(votes):,} decided votes of {votes['worker'].nunique():,} workers"
    for row in ROWS:
        yield f"{row:10} accuracy {right[row].mean():.4f}  cross-entropy {loss[row].mean():.4f}"
    for other in ROWS[:2]:
        for what, gain in (
            ("accuracy", right["person"].astype(float) - right[other]),
            ("cross-entropy", loss[other] - loss["person"]),
        ):
            workers = gain.groupby(votes["worker"]).agg(["sum", "size", "mean"])
            low, high = _interval(workers)
            p = wilcoxon(workers["mean"]).pvalue
            yield (
                f"person over {other}, {what}: {gain.mean():+.4f} ({low:+.4f} to {high:+.4f} over workers), "
                f"Wilcoxon over workers p = {p:.2g}"
            )
    for low, high in ((0, 5), (5, 20), (20, 100), (100, np.inf)):
        some = (votes["learnt"] >= low) & (votes["learnt"] < high)
        yield f"learnt from {low} to {high} votes, n {some.sum()}: " + ", ".join(
            f"{row} {loss[row][some].mean():.3f}" for row in ROWS
        )
    by_part = votes.groupby("part")[["seconds", "tastes", "groups"]].first()
    yield by_part.to_string()


def growth(n):
    """CPU seconds and peak memory of a fit to n voters with six votes each on 200 texts with two features."""
    rng = np.random.default_rng(n)
    features = rng.standard_normal((200, 2))
    who = np.repeat(np.arange(n), 6)
    left = rng.integers(0, 200, who.size)
    right = (left + rng.integers(1, 200, who.size)) % 200
    taste = rng.choice([-1.0, 1.0], n)
    z = (features[left] - features[right]) @ [1.0, 0.0] + taste[who] * ((features[left] - features[right]) @ [0.0, 1.0])
    y = (rng.random(who.size) < ndtr(z / 2**0.5)).astype(float)
    items = Items(np.array([f"t{k}" for k in range(200)], dtype=object), features=features)
    X = pd.DataFrame({"left": items.ids[left], "right": items.ids[right]})
    names = np.array([f"p{k}" for k in range(n)], dtype=object)[who]
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    ranker = PersonalRanker().fit(X, y, items=items, annotator=names)
    seconds, after = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = f"{after / 1024:6.0f} MB ({(after - before) / 1024:.0f} in fitting)"
    return f"{n:>7,} voters: {seconds:6.1f} CPU s, {memory}, {ranker.n_tastes_} tastes"


def main():
    """Parts that are missing, and the figures of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, nargs="*", default=range(_N_PARTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--growth", type=int, nargs="+")
    said = parser.parse_args()
    if said.growth:
        if len(said.growth) == 1:
            print(growth(said.growth[0]))
            return
        for n in said.growth:  # peak memory is of a whole process
            subprocess.run([sys.executable, __file__, "--growth", str(n)], check=True)
        return
    kept = pd.read_json(said.keep, lines=True) if said.keep and said.keep.exists() else pd.DataFrame()
    done = set(kept["part"]) if len(kept) else set()
    for part in said.parts:
        if part not in done:
            found = measure(part, said.seed)
            kept = pd.concat([kept, found], ignore_index=True)
            if said.keep:
                with said.keep.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in found.to_dict("records"))
    print("\n".join(summary(kept)))


if __name__ == "__main__":
    main()
