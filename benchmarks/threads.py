"""Threads: CPU seconds of one thread, on synthetic threads of the shape of the SemEval 2015 training set.

Training and prediction against logistic regression on single comments, the chain against python-crfsuite with the same
features, a thread of 2,000 comments, and how many comments a second get their features.
"""

import time

import numpy as np
from sklearn.linear_model import LogisticRegression

from accord.data.threads import Threads
from accord.threads import ThreadClassifier
from accord.threads.features.edges import ThreadEdges
from accord.threads.features.table import ThreadFeatures

N_THREADS = 2600
N_FEATURES = 90


ISING = {"edges": "ising", "edge_scale": "length"}


def run() -> list[dict]:
    """One row a comparison."""
    x, y, thread = _comments()
    pairs = _edges(thread)
    local = _best(lambda: LogisticRegression(C=0.1, max_iter=300).fit(x, y), times=2)
    peer = LogisticRegression(C=0.1, max_iter=300).fit(x, y)
    rows, models = [], {}
    for what, settings, edges in (("default", {}, None), ("edge features", ISING, pairs)):
        row, models[what] = _training(x, y, thread, local, settings, edges, what)
        rows += [row, _prediction(models[what], peer, x, thread, edges, what)]
    return [*rows, _long_thread(models["default"], x), _chain(x, y, thread), *_features()]


def _comments(n_threads: int = N_THREADS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Comments whose threads lean towards one label; thread lengths as in the corpus: a mean of 6, the longest 143."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(1 + rng.geometric(0.19, n_threads), 60)
    sizes[0] = 143
    thread = np.repeat(np.arange(n_threads), sizes)
    lean = rng.normal(scale=0.7, size=n_threads)[thread]
    x = rng.normal(size=(len(thread), N_FEATURES))
    y = (x[:, :10].sum(axis=1) / 3 + lean + rng.logistic(size=len(thread)) > 0).astype(int)
    return x, y, thread


def _edges(thread: np.ndarray) -> ThreadEdges:
    sizes = np.bincount(thread)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    n = int((sizes * (sizes - 1) // 2).sum())
    values = np.random.default_rng(1).normal(size=(n, 20))
    ids = np.arange(len(thread)).astype(str).astype(object)
    return ThreadEdges(ids, offsets, values, tuple(f"s{k}" for k in range(20)))


def _training(x, y, thread, local, settings, edges, what) -> tuple[dict, ThreadClassifier]:
    def fit():
        return ThreadClassifier(**settings).fit(x, y, groups=thread, edges=edges)

    model = fit()  # compiles the kernels
    ours = _best(fit, times=2)
    note = f"{len(x)} comments, {model.weights_.edges.shape[1]} edge weights; the peer has no threads"
    return _row(f"train the connected CRF, {what}", "sklearn LogisticRegression", ours, local, note), model


def _prediction(model, peer, x, thread, edges, what) -> dict:
    def predict():
        return model.predict_proba(x, groups=thread, edges=edges)

    predict()
    ours, theirs = _best(predict), _best(lambda: peer.predict_proba(x))
    note = f"{len(x) / ours:,.0f} comments/s"
    return _row(f"predict with the connected CRF, {what}", "sklearn LogisticRegression", ours, theirs, note)


def _long_thread(model, x) -> dict:
    ours = _best(lambda: model.predict_proba(x[:2000], groups=np.zeros(2000)), times=2)
    return _row("predict one thread of 2,000 comments", "none", ours, None, "1,999,000 edges")


def _chain(x, y, thread) -> dict:
    import pycrfsuite

    few = x[:, :20]

    def ours():
        ThreadClassifier(model="chain", edges="full").fit(few, y, groups=thread)

    def theirs():
        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": 0.0, "c2": 1.0, "max_iterations": 50})
        for rows in np.split(np.arange(len(few)), np.flatnonzero(np.diff(thread)) + 1):
            features = [{f"f{k}": float(value) for k, value in enumerate(few[i])} for i in rows]
            trainer.append(features, [str(label) for label in y[rows]])
        trainer.train("")

    ours()
    return _row("train a chain CRF, 20 features", "python-crfsuite", _best(ours, times=2), _best(theirs, times=1),
                "ours with features on transitions and out-of-fold predictions")  # fmt: skip


def _features() -> list[dict]:
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(4000)])
    popular = 1.0 / np.arange(1, 4001)
    popular /= popular.sum()

    def text(n):
        return " ".join(rng.choice(words, size=n, p=popular))

    sizes = np.minimum(1 + rng.geometric(0.19, 300), 60)
    n = int(sizes.sum())
    threads = Threads(
        thread_ids=[f"t{k}" for k in range(300)],
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        comment_ids=[f"c{k}" for k in range(n)],
        texts=[text(int(rng.integers(2, 90))) for _ in range(n)],
        questions=[text(45) for _ in range(300)],
    )
    transformer = ThreadFeatures(features="paper").fit(threads)
    transformer.edges(threads)
    rows = []
    for name, work in (("node", transformer.transform), ("edge", transformer.edges)):
        seconds = _best(lambda work=work: work(threads))
        rows.append(_row(f"{name} features", "none", seconds, None, f"{n / seconds:,.0f} comments/s"))
    return rows


def _row(name: str, peer: str, ours: float, theirs: float | None, note: str) -> dict:
    ratio = None if theirs is None else theirs / ours
    return {"name": name, "peer": peer, "ours_s": ours, "peer_s": theirs, "ratio": ratio, "note": note}


def _best(work, times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)
