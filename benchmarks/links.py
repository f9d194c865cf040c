"""Links: the default classifier beside what people would pick instead, inference on one graph of a million texts, and
cross-validation over the debates."""

import os
import time

import numpy as np
from sklearn.preprocessing import normalize

from accord.links.linked_graph import linked_beliefs
from defaults_links import N_TEXTS as N_DRAWN
from defaults_links import drawn, labelled_texts, logistic, ours, spread, steps, told

N_TEXTS, N_LINKS, SWEEPS = 1_000_000, 10_000_000, 20
# Probabilities of the labels of all texts of a graph, from its labels, links and words, and which texts are labelled.
PEERS = {
    "ours": lambda y, ends, X, seen, n_labels: ours(y, ends, X, seen)[0],
    "logistic regression on words": lambda y, ends, X, seen, n_labels: logistic(normalize(X), y, seen, n_labels),
    "simplified graph convolution": lambda y, ends, X, seen, n_labels: logistic(_convolved(X, ends), y, seen, n_labels),
    "label spreading": lambda y, ends, X, seen, n_labels: spread(steps(ends, loops=False), y, seen, n_labels),
}


def run() -> list[dict]:
    """One row a measurement."""
    rows = [*_peers(), *_big()]
    if os.environ.get("ACCORD_DATA"):
        rows.append(_folds())
    return rows


def _peers(n_labels: int = 5, share: float = 0.2, seeds: tuple[int, ...] = (200, 201, 202)) -> list[dict]:
    """Fitting and predicting one graph each; CPU seconds and quality are means over the graphs."""
    work = f"links {N_DRAWN:,} texts, {n_labels} labels, {share:.0%} known"
    seconds, quality = {}, {}
    for seed in (seeds[0], *seeds):  # the first time compiles, and counts for nothing
        y, ends, X = drawn(n_labels, 0.7, True, seed)
        seen = labelled_texts(y, n_labels, share, seed)
        rest = np.setdiff1d(np.arange(N_DRAWN), seen)
        for name, predict in PEERS.items():
            start = time.process_time()
            found = predict(y, ends, X, seen, n_labels)
            seconds.setdefault(name, []).append(time.process_time() - start)
            quality.setdefault(name, []).append(told(found, y, rest))
    spent = {name: float(np.mean(values[1:])) for name, values in seconds.items()}
    said = {
        name: "accuracy {:.1f}, log loss {:.2f}".format(*np.mean(each[1:], axis=0)) for name, each in quality.items()
    }
    return [
        {
            "name": work,
            "peer": name,
            "ours_s": spent["ours"],
            "peer_s": spent[name],
            "ratio": spent[name] / spent["ours"],
            "note": f"ours {said['ours']}; theirs {said[name]}; {len(seeds)} graphs",
        }
        for name in spent
        if name != "ours"
    ]


def _convolved(X, ends):
    step = steps(ends, loops=True)
    return normalize(step @ (step @ normalize(X)))


def _row(name: str, seconds: float, note: str) -> dict:
    return {"name": name, "peer": "none", "ours_s": seconds, "peer_s": None, "ratio": None, "note": note}


def _big() -> list[dict]:
    """Random links between random texts; a fixed number of sweeps, so that the work does not hang on the data."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, N_TEXTS, (N_LINKS, 2), dtype=np.int32)
    ends = ends[ends[:, 0] != ends[:, 1]]
    log_p = np.log(rng.dirichlet([2.0, 2.0], N_TEXTS))
    gains = rng.normal(0.1, 0.2, len(ends))
    rows = []
    for engine, options in (("mean_field", {}), ("lbp", {"retries": 0})):
        settings = {"engine": engine, "max_iter": SWEEPS, "tol": 0.0, "warn": False, **options}
        linked_beliefs(log_p[:3], np.array([[0, 1], [1, 2]], dtype=ends.dtype), gains[:2], **settings)  # compiles
        start = time.process_time()
        linked_beliefs(log_p, ends, gains, **settings)
        seconds = time.process_time() - start
        note = f"{SWEEPS} sweeps, one thread, with set-up"
        rows.append(_row(f"links/{engine} 10^6 texts 10^7 links", seconds, note))
    return rows


def _folds() -> dict:
    """One of the ten repeats of the cross-validation."""
    from accord.links.paper.tables import reproduce

    start = time.process_time()
    reproduce(quick=True, progress=lambda what, done, total: None, workers=1)
    seconds = time.process_time() - start
    return _row("links/reproduce one repeat of ten folds", seconds, "CPU seconds of one worker, reading included")
