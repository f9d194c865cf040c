"""Ratings and centred 90 % intervals of an arena file by arena-rank and evalica; run in an environment of its own.

Arguments: a file of JSON lines with ``model_a``, ``model_b``, ``winner``; a file to write to. Ratings are Elo points
around the mean of all models. arena-rank gives its own intervals; of evalica 300 bootstrap samples are taken, each of
which is centred before the quantiles.
"""

import json
import sys
from importlib.metadata import version

import evalica
import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

ELO, N_SAMPLES, LEVEL = 400.0 / np.log(10.0), 300, 0.9


def table(names, score, low, high):
    """What is compared, by model."""
    return {
        str(n): [float(s), float(a), float(b)] for n, s, a, b in zip(names, score, low, high, strict=True)
    }  # fmt: skip


battles = pd.read_json(sys.argv[1], lines=True)
data = PairDataset.from_pandas(battles)
found = BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data, significance_level=1.0 - LEVEL)
centre = float(np.mean(found["ratings"]))
columns = [np.asarray(found[name]) - centre for name in ("ratings", "rating_lower", "rating_upper")]
results = {f"arena-rank {version('arena-rank')}": table(found["competitors"], *columns)}

ways = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}
winners = [ways.get(name, evalica.Winner.Draw) for name in battles["winner"]]
drawn = evalica.bootstrap(
    evalica.bradley_terry, battles["model_a"].tolist(), battles["model_b"].tolist(), winners, n_resamples=N_SAMPLES,
    bootstrap_method="percentile", confidence_level=LEVEL, random_state=0,
)  # fmt: skip
logs = ELO * np.log(drawn.distribution)
logs = logs.sub(logs.mean(axis=1), axis=0)
score = ELO * np.log(drawn.result.scores)
results[f"evalica {version('evalica')}"] = table(
    score.index, score - score.mean(), *(logs[score.index].quantile(q) for q in (0.05, 0.95))
)
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(results, file)
