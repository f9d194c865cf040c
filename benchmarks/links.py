"""Links: inference on one graph of a million texts, and cross-validation over the debates."""

import os
import time

import numpy as np

from accord.links.linked_graph import linked_beliefs

N_TEXTS, N_LINKS, SWEEPS = 1_000_000, 10_000_000, 20


def run() -> list[dict]:
    """One row a measurement; there is no peer that does the same, so ``peer_s`` is what the project allows."""
    rows = _big()
    if os.environ.get("ACCORD_DATA"):
        rows.append(_folds())
    return rows


def _row(name: str, seconds: float, allowed: float, note: str) -> dict:
    ratio = allowed / seconds
    return {"name": name, "peer": "limit", "ours_s": seconds, "peer_s": allowed, "ratio": ratio, "note": note}


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
        rows.append(_row(f"links/{engine} 10^6 texts 10^7 links", seconds, 60.0, note))
    return rows


def _folds() -> dict:
    """One of the ten repeats of the cross-validation."""
    from accord.links.paper.tables import reproduce

    start = time.process_time()
    reproduce(quick=True, progress=lambda what, done, total: None, workers=1)
    seconds = time.process_time() - start
    return _row(
        "links/reproduce one repeat of ten folds", seconds, 600.0, "CPU seconds of one worker, reading included"
    )
