"""Aspects with few texts: the default against what people would pick instead, on draws of hotel reviews.

Run ``python benchmarks/defaults_aspects.py [SIZE=DRAWS[@FIRST] ...]`` with ACCORD_DATA set; draws are numbered from
FIRST, or 0. Training texts are drawn from the
corpus's training part, and every model is tested on the same 1,000 test texts. Ranking loss; below it, how much higher
the default's loss is than that of the row, with the 95 % interval over draws.
"""

import sys

import numpy as np
from sklearn.linear_model import RidgeCV

from accord import AspectRanker
from accord.aspects.features import PhraseFeatures, phrase_counts
from accord.aspects.logits import fit_logits
from accord.aspects.ordinal import (
    fit_all_threshold,
    fit_cumulative,
    median_ranks,
    ordinal_probabilities,
)
from accord.data.corpora import multiaspect
from accord.evaluation.metrics import ranking_loss

SIZES = {24: 20, 60: 20, 200: 20, 600: 10, 1500: 5}
PENALTIES = (0.03, 0.1, 0.3, 1.0)


def constant(x, y, test):
    return np.broadcast_to(np.round(np.median(y, axis=0)).astype(int), (test.shape[0], y.shape[1]))


def ridge(x, y, test):
    p = RidgeCV(alphas=(0.1, 0.3, 1.0, 3.0, 10.0)).fit(x, y).predict(test)
    return np.clip(np.rint(p), 1, 5).astype(int)


def prank(x, y, test):
    return AspectRanker(model="prank").fit(x, y).predict(test)


def chosen(fit, x, y):
    """The penalty of least ranking loss over five folds."""
    fold = np.random.default_rng(0).permutation(len(y)) % 5
    losses = []
    for penalty in PENALTIES:
        found = np.zeros_like(y)
        for i in range(5):
            p = ordinal_probabilities(fit(x[fold != i], y[fold != i], penalty), x[fold == i])
            found[fold == i] = median_ranks(p)
        losses.append(ranking_loss(y, found))
    return PENALTIES[int(np.argmin(losses))]


def plain(fit):
    def run(x, y, test):
        return median_ranks(ordinal_probabilities(fit(x, y, chosen(fit, x, y)), test))

    return run


ROWS = {
    "constant median": constant,
    "ridge": ridge,
    "PRank": prank,
    "cumulative logits": plain(
        lambda x, y, penalty: fit_cumulative(x, y, n_ranks=5, penalty=penalty, rng=np.random.default_rng(0))
    ),
    "ordinal logistic": plain(lambda x, y, penalty: fit_all_threshold(x, y, n_ranks=5, penalty=4 * penalty)[0]),
}


def main():
    words = sys.argv[1:] or [f"{n}={n_draws}" for n, n_draws in SIZES.items()]
    hotels = multiaspect.load()
    counts, _ = phrase_counts(hotels.ratings.items.texts)
    ranks = hotels.ratings.ranks.astype(np.int64)
    pool, test = (np.flatnonzero(hotels.split == part) for part in ("train", "test"))
    fit_logits(np.eye(2), np.eye(2, dtype=np.int8), rng=np.random.default_rng(0))
    for word in words:
        n, n_draws, first = map(int, [*word.replace("@", "=").split("="), "0"][:3])
        losses = {name: [] for name in [*ROWS, "nodes", "default", "default on its training texts", "constant there"]}
        fields = 0
        for draw in range(first, first + n_draws):
            train = np.random.default_rng([n, draw]).permutation(pool)[:n]
            phrases = PhraseFeatures().fit(counts[train])
            x, y, test_x = phrases.transform(counts[train]), ranks[train], phrases.transform(counts[test])
            for name, run in ROWS.items():
                losses[name].append(ranking_loss(ranks[test], run(x, y, test_x)))
            model = AspectRanker().fit(x, y)
            fields += model.coupling_.taken == "field"
            nodes = median_ranks(ordinal_probabilities(model.ranker_, test_x))
            losses["nodes"].append(ranking_loss(ranks[test], nodes))
            losses["default"].append(ranking_loss(ranks[test], model.predict(test_x)))
            losses["default on its training texts"].append(ranking_loss(y, model.predict(x)))
            losses["constant there"].append(ranking_loss(y, constant(x, y, x)))
        print(f"{n} texts, {n_draws} draws, the field's own marginals taken in {fields}")
        ours = np.array(losses["default"])
        for name, values in losses.items():
            gap = ours - np.array(values)
            half = 1.96 * gap.std(ddof=1) / np.sqrt(n_draws) if n_draws > 1 else np.nan
            print(f"  {name:32}{np.mean(values):7.3f}   default − this {gap.mean():+.3f} ± {half:.3f}", flush=True)


if __name__ == "__main__":
    main()
