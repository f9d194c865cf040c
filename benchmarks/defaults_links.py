"""The default model of links against what people would pick instead, on synthetic graphs of known truth.

Prints one line a cell (labels, homophily, words, share of labelled texts) with accuracy and log loss of the unlabelled
texts, means over seeds; then how often the default is at or above each of the others: its mean difference over the
seeds, graph by graph, is not below 0 by more than one standard error; and then two tables by the share of labelled
texts: means over graphs, and mean confidence minus accuracy by the number of links of a text. Run
``python benchmarks/defaults_links.py [SEEDS [FIRST]]``. Seeds begin at FIRST or 100, because the priors of the default
were chosen on graphs of seeds 0 to 2.
"""

import sys
import time

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import normalize

from accord import CollectiveClassifier, Links

N_TEXTS, DEGREE, VOCABULARY, LENGTH, TOPIC = 1000, 4.0, 400, 25, 0.25
LABELS, HOMOPHILY, SHARES = (2, 5, 7), (0.5, 0.7, 0.9), (0.01, 0.05, 0.2, 0.6)
FIRST_SEED = 100
DEGREES = ((0, 2), (2, 4), (4, 6), (6, 99))


def drawn(n_labels, homophily, words, seed):
    """Labels, linked pairs and counts of words of one graph."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, N_TEXTS)
    members = [np.flatnonzero(y == label) for label in range(n_labels)]
    first = rng.integers(0, N_TEXTS, int(N_TEXTS * DEGREE / 2))
    same = rng.random(len(first)) < homophily
    label = np.where(same, y[first], (y[first] + rng.integers(1, n_labels, len(first))) % n_labels)
    second = np.array([rng.choice(members[each]) for each in label])
    ends = np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    if not words:
        return y, ends, None
    base, topics = rng.dirichlet(np.full(VOCABULARY, 0.5)), rng.dirichlet(np.full(VOCABULARY, 0.1), n_labels)
    counts = [rng.multinomial(LENGTH, (1 - TOPIC) * base + TOPIC * topics[label]) for label in y]
    return y, ends, sp.csr_matrix(np.array(counts, dtype=float))


def labelled_texts(y, n_labels, share, seed):
    """A random part of the texts, with at least one of each label."""
    rng = np.random.default_rng(1000 + seed)
    chosen = list(rng.permutation(N_TEXTS)[: int(share * N_TEXTS)])
    for label in set(range(n_labels)) - set(y[chosen]):
        chosen.append(rng.choice(np.flatnonzero(y == label)))
    return np.sort(chosen)


def steps(ends, *, loops):
    """Symmetrically normalised adjacency."""
    a = sp.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(N_TEXTS, N_TEXTS))
    a = (a + a.T + (sp.eye(N_TEXTS) if loops else 0.0 * sp.eye(N_TEXTS))).tocsr()
    scale = sp.diags(1.0 / np.sqrt(np.maximum(np.asarray(a.sum(axis=1)).ravel(), 1e-9)))
    return scale @ a @ scale


def logistic(features, y, seen, n_labels):
    """Logistic regression, C by inner cross-validation."""
    least = np.bincount(y[seen]).min()
    model = LogisticRegression(C=1.0, max_iter=300)
    if least >= 2:
        folds = StratifiedKFold(min(3, least), shuffle=True, random_state=0)
        model = GridSearchCV(model, {"C": [0.1, 1.0, 10.0, 100.0]}, cv=folds, scoring="neg_log_loss")
    return model.fit(features[seen], y[seen]).predict_proba(features)


def spread(step, y, seen, n_labels, reach=0.9):
    """Label spreading."""
    given = np.zeros((N_TEXTS, n_labels))
    given[seen, y[seen]] = 1.0
    found = given
    for _ in range(60):
        found = reach * (step @ found) + (1 - reach) * given
    found = found + 1e-3 * found.max() / n_labels
    return found / found.sum(axis=1, keepdims=True)


def ours(y, ends, X, seen, whole=True):
    """The default classifier, fitted on the whole graph or on the labelled texts alone."""
    ids = np.array([f"t{i:05d}" for i in range(N_TEXTS)], dtype=object)
    links = Links(ids[ends[:, 0]], ids[ends[:, 1]])
    known = np.full(N_TEXTS, None, dtype=object)
    known[seen] = [f"label {label}" for label in y[seen]]
    rows = {"X": pd.DataFrame({"item_id": ids})} if X is None else {"X": X, "ids": ids}
    fit = rows
    if not whole:
        fit = {"X": rows["X"].iloc[seen]} if X is None else {"X": X[seen], "ids": ids[seen]}
    start = time.process_time()
    model = CollectiveClassifier().fit(y=known if whole else known[seen], links=links, **fit)
    seconds = time.process_time() - start
    return model.predict_proba(links=links, known=known, **rows), seconds


def told(p, y, rest):
    """Accuracy in percent, and log loss."""
    right = p[rest, y[rest]]
    return 100.0 * np.mean(p[rest].argmax(axis=1) == y[rest]), -np.mean(np.log(np.clip(right, 1e-12, 1.0)))


def gap_by_degree(p, y, ends, rest):
    """Confidence minus accuracy, in points, for texts of few, some and many links, where there are 50 or more.

    In the second row its standard deviation in a model that is calibrated: so few texts are never as right as expected.
    """
    degree = np.bincount(ends.ravel(), minlength=N_TEXTS)[rest]
    found = np.full((2, len(DEGREES)), np.nan)
    for place, (low, high) in enumerate(DEGREES):
        part = rest[(degree >= low) & (degree < high)]
        if len(part) >= 50:
            confidence = p[part].max(axis=1)
            right = p[part].argmax(axis=1) == y[part]
            chance = np.sqrt(np.sum(confidence * (1.0 - confidence))) / len(part)
            found[:, place] = 100.0 * np.array([np.mean(confidence - right), chance])
    return found


def tables(kept):
    """Means by share of labelled texts and by whether texts have words, and confidence minus accuracy by degree.

    The graphs of a seed share their labelled texts, so the mean of each seed is one value of the interval.
    """
    names = ("logistic", "sgc", "spread", "default")
    print("\n| labelled | words | " + " | ".join(names) + " |\n|---|---|" + "---|" * len(names))
    for words in (True, False):
        for share in SHARES:
            parts = [rows for w, s, _, rows, _ in kept if (w, s) == (words, share)]
            cells = [np.mean([rows[name] for rows in parts], axis=0) if name in parts[0] else None for name in names]
            told = ("–" if cell is None else f"{cell[0]:.1f} / {cell[1]:.2f}" for cell in cells)
            print(f"| {share:.0%} | {words} | " + " | ".join(told) + " |")
    print("\n| labelled | words | 0–1 links | 2–3 | 4–5 | more |\n|---|---|---|---|---|---|")
    for words in (True, False, None):
        for share in SHARES:
            rows = [(seed, *gap[0]) for w, s, seed, _, gap in kept if s == share and words in (None, w)]
            by_seed = pd.DataFrame(rows).groupby(0).mean()
            told = [interval(by_seed[column].dropna()) for column in by_seed]
            print(f"| {share:.0%} | {'all' if words is None else words} | " + " | ".join(told) + " |")


def interval(values):
    """Mean and half of the 95 % interval (Student's t)."""
    if not len(values):
        return "–"
    half = (
        student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    )
    return f"{values.mean():.1f} ± {half:.1f}"


def main(n_seeds, first):
    """All cells."""
    cells = [(k, h, w, s) for k in LABELS for h in HOMOPHILY for w in (True, False) for s in SHARES]
    wins, gaps, seconds, kept = {}, [], [], []
    for cell in np.random.default_rng(0).permutation(len(cells)):
        n_labels, homophily, words, share = cells[cell]
        rows = {}
        for seed in range(first, first + n_seeds):
            y, ends, X = drawn(n_labels, homophily, words, seed)
            seen = labelled_texts(y, n_labels, share, seed)
            rest = np.setdiff1d(np.arange(N_TEXTS), seen)
            step = steps(ends, loops=True)
            found = {"spread": spread(steps(ends, loops=False), y, seen, n_labels)}
            if words:
                unit = normalize(X)
                found["logistic"] = logistic(unit, y, seen, n_labels)
                found["sgc"] = logistic(normalize(step @ (step @ unit)), y, seen, n_labels)
            found["default"], spent = ours(y, ends, X, seen)
            found["labelled_only"], _ = ours(y, ends, X, seen, whole=False)
            seconds.append(spent)
            gaps.append(gap_by_degree(found["default"], y, ends, rest))
            measures = {name: told(p, y, rest) for name, p in found.items()}
            kept.append((words, share, seed, measures, gaps[-1]))
            for name, each in measures.items():
                rows.setdefault(name, []).append(each)
        means = {name: np.mean(values, axis=0) for name, values in rows.items()}
        good = {}
        for name in set(rows) - {"default", "labelled_only"}:
            gain = (np.array(rows["default"]) - rows[name]) * [1.0, -1.0]
            error = gain.std(axis=0, ddof=1) / np.sqrt(n_seeds)
            good[name] = gain.mean(axis=0) >= -error
        for name, each in {**good, "all of them": np.all(list(good.values()), axis=0)}.items():
            wins.setdefault(name, []).append(each)
        line = "  ".join(f"{name} {accuracy:.1f}/{loss:.2f}" for name, (accuracy, loss) in means.items())
        print(f"K={n_labels} h={homophily} words={words!s:5} labelled={share:.0%}: {line}", flush=True)
    for name, good in wins.items():
        accuracy, loss = 100.0 * np.mean(good, axis=0)
        print(
            f"default at or above {name}: accuracy in {accuracy:.0f} %, log loss in {loss:.0f} % of {len(good)} cells"
        )
    gap, chance = np.array(gaps).transpose(1, 0, 2)
    print("confidence minus accuracy by degree 0-1, 2-3, 4-5, 6+ (mean over graphs):", np.nanmean(gap, axis=0).round(1))
    print("its size in one graph:", np.nanmean(np.abs(gap), axis=0).round(1))
    print("the same of a calibrated model:", np.nanmean(np.sqrt(2 / np.pi) * chance, axis=0).round(1))
    beyond = np.nanmean(gap**2 - chance**2, axis=0)
    print("calibration error of a graph, root mean square without chance:", np.sqrt(np.maximum(beyond, 0)).round(1))
    print(f"CPU seconds a fit: median {np.median(seconds):.1f}, most {max(seconds):.1f}")
    tables(kept)


if __name__ == "__main__":
    main(*(int(each) for each in [*sys.argv[1:], *("5", str(FIRST_SEED))[len(sys.argv) - 1 :]]))
