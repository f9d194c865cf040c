"""Rules of choosing texts, tried out with a cheap model on the public corpora: weighted words and logistic regression.

    python benchmarks/asking_words.py KIND FILE [--splits 0-9] [--seeds 0,1,2] [--ways random,badge] [--batch 20]
    python benchmarks/asking.py report FILE

A replay takes a second, where one with Accord's own models (``benchmarks/asking.py``) takes ten and more. The rules are
those of ``accord ask``, with its share of random questions; what a thread or a link tells is left out, because this
model does not know of them. Aspects are ridge regressions of ranks, which have no uncertainty: all texts are taken as
equally uncertain. Each split holds out 30 % of the texts, at most 1,000, and asks among at most 2,500. A replay begins
with twenty random answers. Splits 100 and above are for development.

``VARIANTS`` are other rules that were tried: entropy weighed by the likeness to the other texts, and BADGE (the spread
of gradients, k-means++). ``--batch`` keeps batches at one size; else they grow to half of what was answered.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from accord.data.corpora import convote, cqa, multiaspect
from accord.data.corpora import rationales as movies
from accord.engines.numerics import entropy
from accord.fitting.asking import Asking, label_margin, label_precision, least_certain, pick_texts
from accord.texts.similar import weighted_words
from asking import SIZES, WAYS, numbers, read

FIRST, MOST_TEST, MOST_POOL, BATCH, FLOOR = 20, 1_000, 2_500, 25, 0.15
NO_PAIRS = (np.empty((0, 2), dtype=np.int64), np.empty(0))


def load(kind):
    """Texts, labels or ranks, and groups."""
    if kind == "rationales":
        corpus = movies.load()
        rows = np.flatnonzero(corpus.reviews["folds"] < 9)
        return (
            corpus.items.texts[rows],
            (corpus.reviews["labels"].to_numpy()[rows] > 0).astype(int),
            np.zeros(len(rows)),
        )
    if kind == "threads":
        table = cqa.load("2015/train").to_table().head(6_000)
        groups = np.unique(table["group_id"], return_inverse=True)[1]
        return table["text"].to_numpy(object), (table["label"] == "Good").to_numpy(int), groups
    if kind == "aspects":
        ratings = multiaspect.load().ratings
        return ratings.items.texts[:4_000], ratings.ranks[:4_000].astype(int), np.zeros(4_000)
    items, votes, _ = convote.load().graph()
    return items.texts, (votes == "Y").astype(int), np.unique(items.groups.astype(str), return_inverse=True)[1]


class Model:
    """What the answers so far say."""

    def __init__(self, x, y):
        self.shares = None
        if y.ndim == 2:
            self.model = Ridge(alpha=1.0).fit(x, y)
        elif len(set(y)) < 2:
            self.shares = np.where(np.arange(2) == y[0], 0.95, 0.05)
        else:
            self.model = LogisticRegression(C=10.0).fit(x, y)

    def probabilities(self, x):
        return np.tile(self.shares, (x.shape[0], 1)) if self.shares is not None else self.model.predict_proba(x)

    def score(self, x, y):
        """Accuracy, or the mean distance of ranks."""
        if y.ndim == 2:
            return float(np.abs(np.clip(np.rint(self.model.predict(x)), 1, 5) - y).mean())
        return float(np.mean(self.probabilities(x).argmax(axis=1) == y))


def chosen(way, x, y, groups, model, asked, left, n, rng):
    """The next ``n`` texts; ``left`` is in random order."""
    if way == "random":
        return left[:n]
    if way == "coverage":
        counts, found, rest = np.bincount(groups[asked], minlength=groups.max() + 1), [], list(left)
        for _ in range(n):
            place = int(np.argmin(counts[groups[rest]]))
            counts[groups[rest[place]]] += 1
            found.append(rest.pop(place))
        return np.array(found)
    p = None if y.ndim == 2 else model.probabilities(x[left])
    uncertainty = np.ones(len(left)) if p is None else entropy(p)
    if way == "uncertainty":
        return left[np.argsort(-uncertainty, kind="stable")[:n]]
    if way in VARIANTS:
        return left[VARIANTS[way](x, left, asked, p, n, rng)]
    rows = np.concatenate([left, asked])
    given = np.arange(len(rows)) >= len(left)
    precision, margin = np.full(len(rows), 0.25), None
    if p is not None:
        precision[: len(left)] = label_precision(p)
    if p is not None and way == "accuracy":
        margin = np.concatenate([label_margin(p), np.zeros(len(asked))])
    allowed = np.zeros(len(rows), dtype=bool)
    allowed[least_certain(uncertainty, n, wide=margin is not None)] = True
    return rows[pick_texts(Asking(x[rows], precision, given, *NO_PAIRS, allowed, margin=margin), n, rng)[0]]


def density(x, left, asked, p, n, rng):
    """Entropy times the mean likeness to the texts that are left."""
    likeness = x[left] @ np.asarray(x[left].mean(axis=0)).ravel()
    return np.argsort(-entropy(p) * likeness, kind="stable")[:n]


def badge(x, left, asked, p, n, rng):
    """k-means++ on the gradients of the loss with respect to the weights, each taken with its likeliest label."""
    size = 1.0 - p.max(axis=1)
    square = size**2 * np.asarray(x[left].multiply(x[left]).sum(axis=1)).ravel()
    best = [int(np.argmax(square))]
    far = np.full(len(left), np.inf)
    for _ in range(n - 1):
        last = best[-1]
        inner = (x[left] @ x[left[[last]]].T).toarray()[:, 0] * size * size[last]
        inner *= np.where(p.argmax(axis=1) == p[last].argmax(), 1.0, -1.0)
        far = np.minimum(far, np.maximum(square + square[last] - 2.0 * inner, 0.0))
        far[best] = 0.0
        best.append(int(rng.choice(len(left), p=far / far.sum())))
    return np.array(best)


VARIANTS = {"density": density, "badge": badge}


def replay(way, x, y, groups, split, seed, batch=None):
    """The score after each number of answers."""
    order = np.random.default_rng(split).permutation(len(y))
    n_test = min(MOST_TEST, int(0.3 * len(y)))
    test, rng = order[:n_test], np.random.default_rng([split, seed])
    pool = rng.permutation(order[n_test : n_test + MOST_POOL])
    asked, curve = pool[:FIRST], {}
    while True:
        model = Model(x[asked], y[asked])
        if len(asked) in SIZES:
            curve[len(asked)] = model.score(x[test], y[test])
        if len(asked) >= SIZES[-1]:
            return curve
        n = min(min(size for size in SIZES if size > len(asked)) - len(asked), batch or max(BATCH, len(asked) // 2))
        left = pool[~np.isin(pool, asked)]
        n_random = 0 if way in ("random", "coverage") else int(rng.binomial(n, FLOOR))
        best = chosen(way, x, y, groups, model, asked, left, n - n_random, rng)
        others = rng.permutation(left[~np.isin(left, best)])[:n_random]
        asked = np.concatenate([asked, best, others])


def main():
    """Add the replays that are missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("threads", "links", "aspects", "rationales"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--splits", type=numbers, default=list(range(10)))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--batch", type=int)
    options = parser.parse_args()
    texts, y, groups = load(options.kind)
    x, groups = weighted_words(list(texts)).astype(np.float64), np.asarray(groups, dtype=np.int64)
    done = {(row["kind"], row["split"], row["seed"], row["way"]) for row in read(options.file)}
    for seed in options.seeds:
        for split in options.splits:
            for way in options.ways:
                name = way if options.batch is None or way == "random" else f"{way}, batches of {options.batch}"
                if (options.kind, split, seed, name) in done or (way == "coverage" and not groups.any()):
                    continue
                row = {"kind": options.kind, "split": split, "seed": seed, "way": name}
                row["curve"] = replay(way, x, y, groups, split, seed, options.batch)
                with options.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
