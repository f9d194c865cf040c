"""Links: cross-validation over the debates, and inference on one graph of a million texts."""

import os
import time

import numpy as np

from accord.inference.linked import ENGINES, linked_beliefs


def run() -> list[dict]:
    """One row a measurement; there is no peer that does the same, so ``peer_s`` is what the project allows."""
    rows = [_big(engine, sweeps=20) for engine in ENGINES if engine != "exact"]
    if os.environ.get("ACCORD_DATA"):
        rows.append(_folds())
    return rows


def _row(name: str, seconds: float, allowed: float, note: str) -> dict:
    ratio = allowed / seconds
    return {"name": name, "peer": "limit", "ours_s": seconds, "peer_s": allowed, "ratio": ratio, "note": note}


def _big(engine: str, *, sweeps: int, n_texts: int = 1_000_000, n_links: int = 10_000_000) -> dict:
    """Random links between random texts; a fixed number of sweeps, so that the work does not hang on the data."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, n_texts, (n_links, 2), dtype=np.int32)
    ends = ends[ends[:, 0] != ends[:, 1]]
    log_p = np.log(rng.dirichlet([2.0, 2.0], n_texts))
    gains = rng.normal(0.1, 0.2, len(ends))
    linked_beliefs(log_p[:100], ends[:0], gains[:0], engine=engine)  # compiles
    start = time.process_time()
    options = {"retries": 0} if engine == "lbp" else {}
    linked_beliefs(log_p, ends, gains, engine=engine, max_iter=sweeps, tol=0.0, warn=False, **options)
    seconds = time.process_time() - start
    return _row(f"links/{engine} 10^6 texts 10^7 links", seconds, 30.0, f"{sweeps} sweeps, one thread, with set-up")


def _folds() -> dict:
    from accord.experiments.links import reproduce

    start = time.perf_counter()
    reproduce(quick=False, progress=lambda what, done, total: None, workers=2)
    return _row("links/reproduce 10 x 10 folds", time.perf_counter() - start, 600.0, "two workers, wall time")
