"""Links with few labelled speeches: the default against what people would pick instead, on draws of ConVote.

Run ``python benchmarks/defaults_debates.py [DRAWS [FIRST_SEED [SIZE ...]]]`` with ACCORD_DATA set. Speeches are drawn
in two ways: whole debates in random order until there are so many speeches, or speeches of any debate. Every model is
tested on all other speeches. All read the same weighted words and word pairs, ours stance n-grams beside. Accuracy in
percent and log loss; beside them, how far the default is above the row, with the 95 % interval over draws. Choices were
made on draws whose seeds begin at 1000.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.preprocessing import normalize

from accord.data.corpora import convote
from accord.links.paper.conditions import paper_data
from accord.links.paper.folds import default_row

SIZES = ("20", "60", "200")


def whole_debates(groups, y, size, rng):
    """All speeches of debates in random order, until there are enough and both labels occur."""
    rows = []
    for debate in rng.permutation(np.unique(groups)):
        rows += list(np.flatnonzero(groups == debate))
        if len(rows) >= size and len(set(y[rows])) == 2:
            break
    return np.sort(rows)


def any_speeches(groups, y, size, rng):
    """Speeches of any debate, both labels among them."""
    while True:
        rows = np.sort(rng.permutation(len(y))[:size])
        if len(set(y[rows])) == 2:
            return rows


def logistic(features, y, groups):
    """Logistic regression, C by inner folds: of debates, where each fold then has both labels to learn from."""
    n_folds = min(5, len(np.unique(groups)))
    folds = list(GroupKFold(n_folds).split(features, groups=groups)) if n_folds > 1 else []
    least = np.unique(y, return_counts=True)[1].min()
    if (not folds or any(len(set(y[train])) < 2 for train, _ in folds)) and least > 1:
        folds = list(StratifiedKFold(min(5, least), shuffle=True, random_state=0).split(features, y))
    model = LogisticRegression(C=1.0, max_iter=1000)
    if least > 1:
        model = GridSearchCV(model, {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}, cv=folds, scoring=loss)
    return model.fit(features, y)


def loss(model, X, y):
    """Mean log probability, defined where a fold has one label only."""
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(np.mean(np.log(np.clip(p, 1e-12, 1.0))))


def draw(debates, words, rows):
    """Measures of every row of the table on one draw."""
    y = debates.labels
    rest = np.setdiff1d(np.arange(len(y)), rows)
    code = (y[rest] == "Y").astype(int)

    def told(p):
        right = np.clip(p[np.arange(len(rest)), code], 1e-12, 1.0)
        return 100.0 * np.mean(p.argmax(axis=1) == code), -np.mean(np.log(right))

    known, asked = (debates.rows(debates.stance, at) for at in (rows, rest))
    share = np.mean(y[rows] == "Y")
    model = default_row().fit(y=y[rows], **known)
    own = default_row(coupling=0.0, neighbour_words="own", implicit=0).fit(y=y[rows], **known)
    return {
        "default": told(model.predict_proba(**asked)),
        "its content": told(model.content_proba(**asked)),
        "local": told(own.predict_proba(**asked)),
        "logistic": told(logistic(words[rows], y[rows], debates.debates[rows]).predict_proba(words[rest])),
        "prior": told(np.tile([1 - share, share], (len(rest), 1))),
    }


def report(title, draws):
    """Means, and how far the default is above."""
    print(f"{title}, {len(draws)} draws", flush=True)
    first = np.array([one["default"] for one in draws])
    for name in draws[0]:
        values = np.array([one[name] for one in draws])
        gain = (first - values) * [1.0, -1.0]
        half = 1.96 * gain.std(axis=0, ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else [0.0, 0.0]
        mean, better = values.mean(axis=0), gain.mean(axis=0)
        print(
            f"  {name:12s} {mean[0]:5.1f} {mean[1]:.3f}   default better by {better[0]:+.1f} ± {half[0]:.1f} and "
            f"{better[1]:+.3f} ± {half[1]:.3f}",
            flush=True,
        )


def main(n_draws=20, first=0, sizes=SIZES):
    """All sizes, both ways."""
    warnings.simplefilter("ignore")
    debates = paper_data(convote.load())
    words = normalize(debates.words)
    for size in sizes:
        for way in (whole_debates, any_speeches):
            draws = []
            for k in range(first, first + n_draws):
                rng = np.random.default_rng([int(size), k])
                draws.append(draw(debates, words, way(debates.debates, debates.labels, int(size), rng)))
            report(f"{size} speeches, {way.__name__.replace('_', ' ')}", draws)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(*(int(each) for each in arguments[:2]), *([arguments[2:]] if len(arguments) > 2 else []))
