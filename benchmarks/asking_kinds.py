"""A label or a highlight? Accuracy by the second on the film reviews, with a cheap model, for every way of asking.

    python benchmarks/asking_kinds.py FILE [--splits 0-9] [--seeds 0,1,2] [--costs 10,20] [--ways mixed,label]
    python benchmarks/asking_kinds.py report FILE

A label takes so many seconds, a label with its highlights so many (``--costs``). The model is logistic regression of
weighted words; the highlighted words of a text are one more text of its class, which counts twice, and words count the
more, the more often they are marked where they occur. Ways: labels alone, highlights alone, both in turn (half of the
texts), and ``mixed``, where :mod:`accord.fitting.asking_kinds` chooses text and kind by information a second; the first
two choose their texts by information too. Each split holds out 540 reviews and begins with twenty random answers, half
of them with highlights, whose time counts. Splits 100 and above are for development.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from accord.data.corpora import rationales as movies
from accord.engines.numerics import entropy
from accord.fitting.asking import label_precision, least_certain
from accord.fitting.asking_kinds import Options, marked_words, pick_options, stressed, word_rates
from accord.texts.similar import weighted_words
from asking import numbers, read

FIRST, TEST, BATCH, FLOOR = 20, 540, 20, 0.15
TIMES = (60, 120, 240, 480)  # answers of a label that the time would be enough for
WAYS = ("label", "highlight", "in turn", "mixed")
COUNTS = 2.0  # how often the highlighted words of a text count as a text
STRESS = 5.0  # how much more a word counts that is always marked


def load():
    """Words of texts and of highlights, and labels."""
    reviews = movies.load().reviews
    reviews = reviews[reviews["folds"] < 9]
    marks = [
        " ".join(word for first, last in spans for word in tokens[first:last])
        for tokens, spans in zip(reviews["tokens"], reviews["spans"], strict=True)
    ]
    words = weighted_words([" ".join(tokens) for tokens in reviews["tokens"]] + marks).astype(np.float64)
    n = len(reviews)
    return sp.csr_array(words[:n]), sp.csr_array(words[n:]), (reviews["labels"].to_numpy() > 0).astype(int)


class Model:
    """What labels and highlights say."""

    def __init__(self, x, marks, y, labelled, marked):
        self.rates = word_rates(x[marked], marks[marked])
        rows = sp.csr_array(sp.vstack([x[labelled], marks[marked]]))
        weight = np.concatenate([np.ones(len(labelled)), np.full(len(marked), COUNTS)])
        scale = 1.0 + STRESS * (self.rates - self.rates.min())
        model = LogisticRegression(C=10.0).fit(
            rows @ sp.diags_array(scale), np.concatenate([y[labelled], y[marked]]), sample_weight=weight
        )
        self.weights, self.bias = model.coef_[0] * scale, model.intercept_[0]

    def probabilities(self, x):
        p = expit(x @ self.weights + self.bias)
        return np.column_stack([1.0 - p, p])


def options_of(x, marks, model, labelled, marked, left, kinds, costs, n):
    """The questions, the readings that were made, and which question is of which kind."""
    scaled, expected = stressed(x, model.rates), marked_words(x, model.rates)
    p = model.probabilities(x[left])
    unsure = left[least_certain(entropy(p), n)]
    bare = np.setdiff1d(labelled, marked)
    again = bare if "highlight" in kinds else bare[:0]
    rows = np.concatenate([unsure, again])
    precision = label_precision(model.probabilities(x[rows]))
    k = len(rows)
    readings = sp.vstack([scaled[rows], expected[rows]])
    first, second, text, seconds, kind = [], [], [], [], []
    for place, row in enumerate(rows):
        if place < len(unsure) and "label" in kinds:
            first.append(place), second.append(-1), text.append(row), seconds.append(costs[0]), kind.append("label")
        if "highlight" in kinds:
            is_new = place < len(unsure)
            first.append(place if is_new else k + place)
            second.append(k + place if is_new else -1)
            text.append(row), seconds.append(costs[1]), kind.append("highlight")
    options = Options(
        sp.csr_array(readings), np.concatenate([precision, COUNTS * precision]), np.array(first), np.array(second),
        np.array(text), np.array(seconds, dtype=float),
    )  # fmt: skip
    given = sp.vstack([scaled[labelled], stressed(marks[marked], model.rates)])
    return options, sp.csr_array(given), np.r_[np.full(len(labelled), 0.2), np.full(len(marked), 0.4)], kind


def replay(way, x, marks, y, split, seed, costs):
    """Accuracy after each time, and how many texts were labelled and highlighted."""
    order, rng = np.random.default_rng(split).permutation(len(y)), np.random.default_rng([split, seed])
    test, pool = order[:TEST], rng.permutation(order[TEST:])
    labelled = pool[:FIRST]
    marked = labelled[: FIRST // 2]
    spent, curve = (FIRST - len(marked)) * costs[0] + len(marked) * costs[1], {}
    kinds = {"label": ("label",), "highlight": ("highlight",)}.get(way, ("label", "highlight"))
    times = [costs[0] * n for n in TIMES]
    while True:
        model = Model(x, marks, y, labelled, marked)
        left = pool[~np.isin(pool, labelled)]
        room = min([t for t in times if t > spent], default=None)
        for t in times:
            if spent >= t and t not in curve:
                curve[t] = float(np.mean(model.probabilities(x[test]).argmax(axis=1) == y[test]))
        if room is None:
            return curve, (len(labelled), len(marked))
        if way == "in turn":
            chosen = []
            for of in (("label",), ("highlight",)):
                options, given, precision, kind = options_of(
                    x, marks, model, labelled, labelled, left, of, costs, BATCH
                )
                chosen += _picked(
                    options, given, precision, kind, model, x, left, rng, BATCH // 2, {c[0] for c in chosen}
                )
        else:
            options, given, precision, kind = options_of(x, marks, model, labelled, marked, left, kinds, costs, BATCH)
            chosen = _picked(options, given, precision, kind, model, x, left, rng, BATCH, set())
        for row, of in chosen:
            if rng.random() < FLOOR:
                row = rng.choice(left[~np.isin(left, labelled)])
            cost = costs[0] if of == "label" else costs[1]
            if spent + cost > room:
                spent = room
                break
            spent += cost
            if row not in labelled:
                labelled = np.append(labelled, row)
            if of == "highlight" and row not in marked:
                marked = np.append(marked, row)


def _picked(options, given, precision, kind, model, x, left, rng, n, taken):
    targets = rng.choice(left, min(300, len(left)), replace=False)
    words = stressed(x[targets], model.rates)
    allowed = ~np.isin(options.text, list(taken)) if taken else None
    chosen, _, _ = pick_options(
        options, given, precision, words, label_precision(model.probabilities(x[targets])), targets, n, allowed=allowed
    )
    return [(int(options.text[c]), kind[c]) for c in chosen]


def report(rows):
    """Means, and what ``mixed`` is better by than each single kind on the same split and seed."""
    for costs in sorted({tuple(row["costs"]) for row in rows}):
        own = [row for row in rows if tuple(row["costs"]) == costs]
        cells = {(row["way"], row["split"], row["seed"]): row["curve"] for row in own}
        times = list(own[0]["curve"])
        print(
            f"\nlabel {costs[0]:g} s, highlight {costs[1]:g} s\n| way | " + " | ".join(f"{t} s" for t in times) + " |"
        )
        for way in dict.fromkeys(row["way"] for row in own):
            told = []
            for t in times:
                values = [curve[t] for (name, *_), curve in cells.items() if name == way]
                told.append(f"{np.mean(values):.3f}")
                if way != "mixed":
                    gain = {}
                    for (name, split, seed), curve in cells.items():
                        if name == "mixed" and (way, split, seed) in cells:
                            gain.setdefault(split, []).append(curve[t] - cells[way, split, seed][t])
                    mean = np.array([np.mean(one) for one in gain.values()])
                    if mean.size > 1:
                        half = student.ppf(0.975, mean.size - 1) * mean.std(ddof=1) / np.sqrt(mean.size)
                        told[-1] += f" (mixed {mean.mean():+.3f} ± {half:.3f}, n {mean.size})"
            n = np.mean([row["answers"] for row in own if row["way"] == way], axis=0)
            print(f"| {way} | " + " | ".join(told) + f" | {n[0]:.0f} labels, {n[1]:.0f} highlighted |")

    print("\nmixed above a single kind that is kept whatever the costs are, the mean over all costs")
    for way in ("label", "highlight"):
        print(f"| {way} | " + " | ".join(told_over(rows, way)) + " |")


def told_over(rows, way):
    """Gains of ``mixed`` over a way, the mean over costs, at each time and on average over the times."""
    cells = {(tuple(row["costs"]), row["way"], row["split"], row["seed"]): list(row["curve"].values()) for row in rows}
    costs = sorted({key[0] for key in cells})
    gain = {}
    for split, seed in sorted({key[2:] for key in cells}):
        keys = [(cost, split, seed) for cost in costs]
        if all((cost, name, *rest) in cells for cost, *rest in keys for name in ("mixed", way)):
            apart = [np.subtract(cells[c, "mixed", *rest], cells[c, way, *rest]) for c, *rest in keys]
            gain.setdefault(split, []).append(np.mean(apart, axis=0))
    mean = np.array([np.mean(one, axis=0) for one in gain.values()])
    if len(mean) < 2:
        return []
    mean = np.column_stack([mean, mean.mean(axis=1)])
    half = student.ppf(0.975, len(mean) - 1) * mean.std(axis=0, ddof=1) / np.sqrt(len(mean))
    return [f"{m:+.3f} ± {h:.3f} (n {len(mean)})" for m, h in zip(mean.mean(axis=0), half, strict=True)]


def main():
    """Add the replays that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="+", help="FILE, or report FILE")
    parser.add_argument("--splits", type=numbers, default=list(range(10)))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--costs", type=lambda text: [float(part) for part in text.split(",")], default=[10.0, 20.0])
    options = parser.parse_args()
    path = Path(options.words[-1])
    if options.words[0] == "report":
        report(read(path))
        return
    x, marks, y = load()
    done = {(row["split"], row["seed"], row["way"], tuple(row["costs"])) for row in read(path)}
    for seed in options.seeds:
        for split in options.splits:
            for way in options.ways:
                if (split, seed, way, tuple(options.costs)) in done:
                    continue
                row = {"split": split, "seed": seed, "way": way, "costs": options.costs}
                row["curve"], row["answers"] = replay(way, x, marks, y, split, seed, options.costs)
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
