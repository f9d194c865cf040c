"""The default thread classifier against what people would pick instead, on few threads and on long ones.

``python benchmarks/defaults_threads.py [N_DRAWS]`` draws 20, 60 and 200 training threads of SemEval 2015 and scores the
test threads; it needs the corpus ``cqa`` in ``ACCORD_DATA``. The simple row is what people would pick instead: words
and word pairs by tf-idf beside seven hand-made features, logistic regression, its strength by cross-validation.
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
from accord.threads.paper.tables import binary

FEW = (
    "comment/length", "comment/question_mark", "comment/by_asker", "comment/url", "comment/thanks", "thread/position",
    "similarity/cosine_11",
)  # fmt: skip
SIZES = (20, 60, 200)


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


def few_threads(n_draws):
    train, test = binary(cqa.load("2015/train")), binary(cqa.load("2015/test"))
    truth = test.labels == "Good"
    for n in SIZES:
        found = {name: [] for name in ROWS}
        for seed in range(n_draws):
            part = drawn(train, n, seed)
            for name, row in ROWS.items():
                p = row(part, test)
                found[name].append((log_loss(p, truth), np.mean((p > 0.5) == truth)))
        print(f"\n{n} threads, {n_draws} draws\n\n| row | log loss | accuracy |\n|---|---:|---:|")
        for name, values in found.items():
            shown(name, np.array(values))
        for name in ROWS:
            if name != "default":
                shown(f"default − {name}", np.array(found["default"]) - np.array(found[name]))


def long_threads():
    """Trained on threads of at most 10 comments, tested on those of 30 or more, of all of 2015."""
    parts = [binary(cqa.load(f"2015/{name}")) for name in ("train", "dev", "test")]
    short = parts[0].subset(np.diff(parts[0].offsets) <= 10)
    print("\nat most 10 comments → 30 or more\n\n| row | log loss | accuracy |\n|---|---:|---:|")
    for name in ("default", "default, model='local'"):
        losses = []
        for part in parts:
            long = part.subset(np.diff(part.offsets) >= 30)
            if long.n_threads:
                p, truth = ROWS[name](short, long), long.labels == "Good"
                losses += [(log_loss(p[long.thread_of == t], truth[long.thread_of == t]),
                            np.mean((p > 0.5)[long.thread_of == t] == truth[long.thread_of == t]))
                           for t in range(long.n_threads)]  # fmt: skip
        shown(f"{name}, n = {len(losses)} threads", np.array(losses))


if __name__ == "__main__":
    few_threads(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    long_threads()
