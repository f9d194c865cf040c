"""Do the intervals of ``accord estimate`` hold? Known truth, biased judges, and questions chosen by earlier answers.

Of a share of labels, a mean of scores and a difference of two ranks: how often the 95 % interval holds the truth, the
same of people alone, and how wide the interval is, measured by that of people alone. Two judges with one bias answer
everything; people answer 300 questions. Each question is drawn by what is known at that time, and its probability is
stored, as the studio does.

    python benchmarks/estimates.py RUNS [--only share|mean|ranks]... [--keep FILE]

With ``--keep`` every run is a line of a file of JSON lines, and runs that stand there are not repeated.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from accord.data.annotators import annotator_table
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.workflows.estimate import estimate

_JUDGES = ["m-1", "m-2"]
_WHO = annotator_table({"annotator_id": _JUDGES, "kind": ["judge"] * 2, "family": ["m"] * 2})


def asked(rng, said, answer_of, n, *, again):
    """Units that are drawn by what is known so far: units on which answers were unexpected, given what judges say, are
    drawn more often. Returns units, answers and the probabilities of the draws."""
    left = np.ones(said.size)
    level = (4 * (pd.Series(said).rank(pct=True).to_numpy() - 1e-9)).astype(int)  # quarters of what judges say
    units, answers, chances = np.empty(n, dtype=int), np.empty(n), np.empty(n)
    wanted = np.ones(said.size)
    for t in range(n):
        if t % 10 == 0 and t >= 20:
            gone = answers[:t] - said[units[:t]]
            quarter = np.array([1 + np.sum(level[units[:t]] == k) for k in range(4)])
            error = np.array([1 + np.sum(gone[level[units[:t]] == k] ** 2) for k in range(4)]) / quarter
            wanted = 0.2 * error.mean() + error[level]
        p = wanted * left
        p /= p.sum()
        units[t] = rng.choice(said.size, p=p)
        chances[t], answers[t] = p[units[t]], answer_of(units[t])
        if not again:
            left[units[t]] = 0.0
    return units, answers, chances


def share_of(seed, n=1000, n_people=300):
    """Labels: judges say "good" of far too many texts."""
    rng = np.random.default_rng([seed, 1])
    latent = rng.standard_normal(n)
    truth = latent + 0.5 * rng.standard_normal(n) > 0.6
    judged = latent + 0.4 * rng.standard_normal(n) + 0.3 * rng.standard_normal((2, n)) > -0.2
    unit, answer, pi = asked(rng, judged.mean(axis=0), lambda k: float(truth[k]), n_people, again=False)
    names = {True: "good", False: "bad"}
    values = [names[bool(one)] for one in (*judged.ravel(), *(answer > 0.5))]
    project = _of_texts("rationales", "label", n, unit, pi, values)
    return estimate(project, share="good").estimate, float(truth.mean())


def mean_of(seed, n=1000, n_people=300):
    """Scores from 1 to 5: judges are a point too kind, and their scale is compressed."""
    rng = np.random.default_rng([seed, 2])
    latent = rng.standard_normal(n)

    def score(x):
        return np.clip(np.round(x), 1, 5)

    truth = score(2.6 + 1.1 * latent + 0.5 * rng.standard_normal(n))
    shared = 0.3 * rng.standard_normal(n)
    judged = score(3.7 + 0.6 * latent + shared + 0.3 * rng.standard_normal((2, n)))
    unit, answer, pi = asked(rng, judged.mean(axis=0), lambda k: truth[k], n_people, again=False)
    values = [f"{int(one)}" for one in (*judged.ravel(), *answer)]
    project = _of_texts("aspects", "score", n, unit, pi, values, aspect="food")
    return estimate(project, mean="food").estimate, float(truth.mean())


def ranks_of(seed, n=20, n_people=300):
    """Votes: judges see half of the quality, and the length as strongly as people see quality."""
    rng = np.random.default_rng([seed, 3])
    quality, length = rng.standard_normal(n), rng.standard_normal(n)
    first, second = np.triu_indices(n, 1)
    p = expit(1.7 * (quality[first] - quality[second]))
    seen = 0.5 * quality + length
    q = expit(1.7 * (seen[first] - seen[second]))
    judged = rng.random((2, first.size)) < q
    unit, answer, pi = asked(rng, judged.mean(axis=0), lambda k: float(rng.random() < p[k]), n_people, again=True)
    ids = np.array([f"t{k:02d}" for k in range(n)])
    rows = np.concatenate([np.tile(np.arange(first.size), 2), unit])
    table = {
        "kind": ["pair"] * rows.size,
        "item_id": ids[first[rows]],
        "other_id": ids[second[rows]],
        "value": [f"{one:g}" for one in (*judged.ravel().astype(float), *answer)],
        "annotator_id": _names(first.size, n_people),
        "propensity": [*[None] * (2 * first.size), *pi],
    }
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    project = Project("pairs", items, with_schema(table, JUDGEMENTS), annotator_table=_WHO)
    lost = np.zeros(n)
    np.add.at(lost, first, 1.0 - p)
    np.add.at(lost, second, p)
    return estimate(project, ranks=("t00", "t01")).estimate, float(lost[0] - lost[1])


def _names(n_units, n_people):
    return [_JUDGES[k // n_units] for k in range(2 * n_units)] + [f"p{k % 6}" for k in range(n_people)]


def _of_texts(kind, judgement, n, unit, pi, values, **more):
    ids = np.array([f"t{k:04d}" for k in range(n)])
    rows = np.concatenate([np.tile(np.arange(n), 2), unit])
    table = {
        "kind": [judgement] * rows.size,
        "item_id": ids[rows],
        "value": values,
        "annotator_id": _names(n, unit.size),
        "propensity": [*[None] * (2 * n), *pi],
        **{name: [value] * rows.size for name, value in more.items()},
    }
    items = with_schema({"item_id": ids, "text": ids}, ITEMS)
    return Project(kind, items, with_schema(table, JUDGEMENTS), annotator_table=_WHO)


FIGURES = {"share": share_of, "mean": mean_of, "ranks": ranks_of}


def measure(name, seed):
    """One run."""
    found, truth = FIGURES[name](seed)
    return {
        "figure": name,
        "seed": seed,
        "holds": float(found.low <= truth <= found.high),
        "people hold": float(found.people_low <= truth <= found.people_high),
        "width": found.high - found.low,
        "people width": found.people_high - found.people_low,
        "error": found.value - truth,
    }


def summary(rows):
    """One row a figure, with half the width of the 95 % interval of each share of runs."""
    lines = {}
    for name, part in rows.groupby("figure", sort=False):
        n = len(part)
        half = {key: 1.96 * np.sqrt(part[key].mean() * (1 - part[key].mean()) / n) for key in ("holds", "people hold")}
        lines[name] = {
            "n": n,
            "intervals hold": f"{part['holds'].mean():.3f} ± {half['holds']:.3f}",
            "people alone": f"{part['people hold'].mean():.3f} ± {half['people hold']:.3f}",
            "width": f"{part['width'].mean():.3f}",
            "of people alone": f"{part['people width'].mean():.3f}",
            "ratio": f"{part['width'].mean() / part['people width'].mean():.3f}",
            "narrower in": f"{np.mean(part['width'] < part['people width']):.3f}",
            "bias": f"{part['error'].mean():+.4f} ± {1.96 * part['error'].std() / n**0.5:.4f}",
        }
    return pd.DataFrame(lines).T


def main():
    """Runs that are missing, and the table of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int)
    parser.add_argument("--only", action="append", default=[], choices=list(FIGURES))
    parser.add_argument("--keep", type=Path)
    said = parser.parse_args()
    kept = []
    if said.keep and said.keep.exists():
        kept = [json.loads(line) for line in said.keep.read_text(encoding="utf-8").splitlines()]
    done = {(row["figure"], row["seed"]) for row in kept}
    for seed in range(said.runs):
        for name in said.only or FIGURES:
            if (name, seed) not in done:
                kept.append(measure(name, seed))
                if said.keep:
                    with said.keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(kept[-1]) + "\n")
    print(summary(pd.DataFrame(kept)).to_string())


if __name__ == "__main__":
    main()
