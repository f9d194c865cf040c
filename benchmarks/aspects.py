"""Aspects: Accord's rankers and ordinal models against mord and scikit-learn. CPU seconds of one thread."""

import time

import numpy as np
import scipy.sparse as sp


def texts(n, d, m, *, per_text=200, k=5, seed=0):
    """Sparse texts whose words are as unevenly used as real ones, and ranks that depend on them."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(10, d + 10)
    words = rng.choice(d, size=n * per_text, p=frequency / frequency.sum())
    x = sp.csr_array((np.ones(n * per_text), (np.repeat(np.arange(n), per_text), words)), shape=(n, d))
    x.sum_duplicates()
    x.data[:] = 1.0
    x = sp.csr_array(sp.diags_array(1.0 / np.sqrt(np.maximum(x.sum(axis=1), 1.0))) @ x)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)  # liblinear takes no others
    common = rng.normal(size=(d, 1))
    scores = x @ (common + rng.normal(size=(d, m)))
    cuts = np.quantile(scores, np.arange(1, k) / k, axis=0)
    return x, 1 + (scores[:, None, :] > cuts).sum(axis=1)


def seconds(work, repeats=3):
    """Least CPU time of several runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def row(name, ours, peer="", peer_seconds=None, note=""):
    ratio = None if peer_seconds is None else peer_seconds / ours
    return {"name": name, "peer": peer, "ours_s": ours, "peer_s": peer_seconds, "ratio": ratio, "note": note}


def run():
    from sklearn.linear_model import LogisticRegression

    from accord import AspectRanker
    from accord.aspects.field_fit import fit_aspect_crf, whitened, whitening
    from accord.aspects.logits import fit_logits
    from accord.aspects.ordinal import fit_all_threshold, threshold_targets
    from accord.aspects.prank import train_prank

    rows = []
    x, ranks = texts(3488, 30_000, 5)
    small, few = texts(60, 200, 5)
    train_prank(small, few, n_ranks=5, n_epochs=1)
    fit_logits(small, threshold_targets(few, 5), rng=np.random.default_rng(0))

    prank = seconds(lambda: train_prank(x, ranks, n_ranks=5, n_epochs=10))
    try:
        from mord import LogisticAT
    except ImportError:
        mord, note = None, "mord is not installed"
    else:
        dense, one = x[:, :1000].toarray(), ranks[:, 0]  # mord takes dense features only
        mord = seconds(lambda: LogisticAT(alpha=0.1).fit(dense, one), repeats=1)
        note = "mord: one aspect, 1,000 of the 30,000 features, dense"
        narrow = sp.csr_array(x[:, :1000])
        ours = seconds(lambda: fit_all_threshold(narrow, ranks[:, :1], n_ranks=5, penalty=0.1), repeats=1)
        rows.append(row("aspects: all-threshold ordinal, 3,488 × 1,000, one aspect", ours, "mord LogisticAT", mord))
    rows.insert(0, row("aspects: PRank, 10 epochs, 3,488 × 30,000, 5 aspects", prank, "mord LogisticAT", mord, note))

    targets = threshold_targets(ranks, 5)
    ours = seconds(lambda: fit_logits(x, targets, penalty=0.1, rng=np.random.default_rng(0)), repeats=1)
    peer = seconds(
        lambda: [LogisticRegression(C=10.0, solver="liblinear").fit(x, targets[:, j]) for j in (1, 2)], repeats=1
    )
    rows.append(row("aspects: 20 threshold logits, 3,488 × 30,000", ours, "scikit-learn liblinear", 10 * peer,
                    "scikit-learn: two of the twenty, times ten"))  # fmt: skip

    x, ranks = texts(10_000, 75_000, 6)
    agree = np.random.default_rng(1).normal(size=10_000)
    epoch = seconds(lambda: train_prank(x, ranks, n_ranks=5, n_epochs=2, agreement=agree)) / 2
    rows.append(row("aspects: Good Grief, one epoch, 10,000 × 75,000, 6 aspects", epoch))

    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(10_000, 24)) + 3.0 * rng.normal(size=(10_000, 1)) + ranks.repeat(4, axis=1)
    white = whitened(whitening(inputs), inputs)
    crf = seconds(lambda: fit_aspect_crf(white, ranks, n_ranks=5), repeats=1)
    rows.append(row("aspects: field over 6 aspects, 10,000 texts, given node scores", crf))

    ranker = AspectRanker(random_state=0).fit(x[:1000], ranks[:1000])
    predicting = seconds(lambda: ranker.predict(x), repeats=2)
    rate = f"{10_000 / predicting:,.0f} texts a second"
    rows.append(row("aspects: prediction given features, 10,000 texts", predicting, note=rate))
    return rows


if __name__ == "__main__":
    for entry in run():
        print(entry)
