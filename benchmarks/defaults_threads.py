"""The default thread classifier against what people would pick instead, on few threads and on long ones.

``python benchmarks/defaults_threads.py [N_DRAWS [FIRST_SEED]]`` draws 20, 60 and 200 training threads of SemEval 2015
and scores the test threads, and draws short threads and scores the long ones; it needs the corpus ``cqa`` in
``ACCORD_DATA``. The simple row is what people would pick instead: words and word pairs by tf-idf beside seven hand-made
features, logistic regression, its strength by cross-validation.
"""

import sys

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from accord import ThreadClassifier
from accord.data.corpora import cqa
from accord.threads.features.table import ThreadFeatures
from accord.threads.paper.tables import binary, joined

FEW = (
    "comment/length", "comment/question_mark", "comment/by_asker", "comment/url", "comment/thanks", "thread/position",
    "similarity/cosine_11",
)  # fmt: skip
SIZES = (20, 60, 200)
SHORT, LONG, LONG_SIZES = 10, 30, (60, 200, 800)


def simple(train, test):
    """P(Good) of the test comments by tf-idf and a few features."""
    features = ThreadFeatures(features="paper")
    few = features.fit_transform(train)[list(FEW)], features.transform(test)[list(FEW)]
    scaler = StandardScaler().fit(few[0])
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit(train.texts)
    a, b = (
        sp.hstack([sp.csr_matrix(scaler.transform(table)), words.transform(part.texts)]).tocsr()
        for table, part in zip(few, (train, test), strict=True)
    )
    folds = list(GroupKFold(5).split(a, groups=train.thread_of))
    model = LogisticRegressionCV(
        Cs=[0.03, 0.1, 0.3, 1, 3, 10, 30], cv=folds, scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False
    ).fit(a, train.labels.astype(str))
    return model.predict_proba(b)[:, 1]


def ours(**settings):
    def run(train, test):
        return ThreadClassifier(**settings).fit(train).predict_proba(test)[:, 1]

    return run


def prior(train, test):
    return np.full(test.n_comments, np.mean(train.labels == "Good"))


ROWS = {
    "prior": prior,
    "tf-idf + 7 features, logistic regression": simple,
    "default": ours(),
    "default, model='local'": ours(model="local"),
}


def log_loss(p, truth):
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return -np.mean(np.where(truth, np.log(p), np.log(1 - p)))


def drawn(train, n, seed):
    """Threads drawn at random."""
    return train.subset(np.sort(np.random.default_rng(seed).permutation(train.n_threads)[:n]))


def shown(name, values):
    mean, half = values.mean(axis=0), 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    print(f"| {name} | {mean[0]:.3f} ± {half[0]:.3f} | {100 * mean[1]:.1f} ± {100 * half[1]:.1f} |", flush=True)


def few_threads(n_draws, first):
    train, test = binary(cqa.load("2015/train")), binary(cqa.load("2015/test"))
    truth = test.labels == "Good"
    for n in SIZES:
        found = {name: [] for name in ROWS}
        for seed in range(first, first + n_draws):
            part = drawn(train, n, seed)
            for name, row in ROWS.items():
                p = row(part, test)
                found[name].append((log_loss(p, truth), np.mean((p > 0.5) == truth)))
        compared(f"{n} threads, {n_draws} draws", found)


def long_threads(n_draws, first):
    """Trained on threads of at most 10 comments, tested on those of 30 or more, which are never drawn."""
    parts = [binary(cqa.load(f"2015/{name}")) for name in ("train", "dev", "test")]
    short = parts[0].subset(np.diff(parts[0].offsets) <= SHORT)
    test = joined([part.subset(np.diff(part.offsets) >= LONG) for part in parts])
    truth = test.labels == "Good"
    for n in LONG_SIZES:
        found = {name: [] for name in ROWS}
        for seed in range(first, first + n_draws):
            part = drawn(short, n, seed)
            for name, row in ROWS.items():
                p = row(part, test)
                found[name].append((log_loss(p, truth), np.mean((p > 0.5) == truth)))
        compared(
            f"{n} threads of at most {SHORT} comments → {test.n_threads} of {LONG} or more, {n_draws} draws", found
        )


def compared(title, found):
    print(f"\n{title}\n\n| row | log loss | accuracy |\n|---|---:|---:|")
    for name, values in found.items():
        shown(name, np.array(values))
    for name in found:
        if name != "default":
            shown(f"default − {name}", np.array(found["default"]) - np.array(found[name]))


if __name__ == "__main__":
    n_draws, first = [*map(int, sys.argv[1:3]), *(20, 0)[len(sys.argv[1:3]) :]]
    few_threads(n_draws, first)
    long_threads(n_draws, first)
