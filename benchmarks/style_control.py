"""Style control here and by arena-rank's contextual model: are coefficients and intervals equal, which is faster?

    python benchmarks/style_control.py PYTHON_WITH_ARENA_RANK

Votes between models are simulated whose answers differ in length and other features, some models being longer than
others. arena-rank penalises the coefficients by ``reg`` times the number of votes (by default reg = 1, which shrinks
them to about a fifth), so that it gets our penalty divided by that number. Its scores have no prior, and ours then get
next to none; intervals are of scores around their mean. The seconds are CPU time, the least of three fits.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from accord.pairs.controlled import ControlledRanker

PEER = Path(__file__).parent / "peers" / "arena_rank_control.py"
SIZES = ((20, 2_000, 1), (30, 5_000, 3), (30, 5_000, 3), (30, 5_000, 3), (100, 20_000, 4), (150, 50_000, 5))
_PENALTY = 1.0  # precision of the prior of the coefficients; arena-rank has no prior of the scores


def simulated(seed, n_items, n_votes, n_covariates):
    """Pairs, outcomes and covariates of votes; a third of each covariate's variance is the models' own."""
    rng = np.random.default_rng(seed)
    scores, slopes = rng.standard_normal(n_items), rng.uniform(-0.8, 0.8, n_covariates)
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    own = rng.standard_normal((n_items, n_covariates))
    x = (own[left] - own[right]) / 6**0.5 + rng.standard_normal((n_votes, n_covariates)) * (2 / 3) ** 0.5
    y = (rng.random(n_votes) < expit(scores[left] - scores[right] + x @ slopes)).astype(float)
    return left, right, y, x


def compare(peer, seed, n_items, n_votes, n_covariates):
    """One row: largest difference of coefficients and scores, of the widths of intervals, and seconds."""
    left, right, y, x = simulated(seed, n_items, n_votes, n_covariates)
    with tempfile.TemporaryDirectory() as folder:
        file, answer = Path(folder) / "votes.npz", Path(folder) / "answer.json"
        np.savez(file, pairs=np.c_[left, right], outcomes=y, features=x, n_items=n_items, reg=_PENALTY / n_votes)
        subprocess.run([peer, "-I", str(PEER), str(file), str(answer)], check=True)
        theirs = json.loads(answer.read_text(encoding="utf-8"))
    ids = np.array([f"m{k:03d}" for k in range(n_items)], dtype=object)
    X = pd.DataFrame({"left": ids[left], "right": ids[right]})
    seconds = []
    for _ in range(3):
        before = time.process_time()
        ranker = ControlledRanker(alpha=1e-6, penalty=_PENALTY)
        ranker.fit(X, y, context={f"x{k}": x[:, k] for k in range(n_covariates)})
        seconds.append(time.process_time() - before)
    order = np.argsort(ranker.items_.ids)
    score = (ranker.scores_ - ranker.scores_.mean())[order]
    centre = np.eye(n_items) - 1.0 / n_items
    among = centre @ ranker.covariance_[:n_items, :n_items] @ centre
    width = 2 * ndtri(0.95) * np.sqrt(np.diag(among)[order])
    rating = np.array(theirs["ratings"])
    other = np.array(theirs["rating_upper"]) - np.array(theirs["rating_lower"])
    coefficient = ranker.coefficients_["coefficient"].to_numpy()
    return {
        "items": n_items,
        "votes": n_votes,
        "covariates": n_covariates,
        "coefficients differ by at most, %": 100 * np.max(np.abs(coefficient / np.array(theirs["coeffs"]) - 1)),
        "scores differ by at most": np.max(np.abs(score - (rating - rating.mean()))),
        "widths differ by at most, %": 100 * np.max(np.abs(width / other - 1)),
        "ours, s": min(seconds),
        "arena-rank, s": theirs["seconds"],
    }


if __name__ == "__main__":
    table = pd.DataFrame([compare(sys.argv[1], seed, *size) for seed, size in enumerate(SIZES)])
    print(table.round(4).to_string(index=False))
