"""Contextual Bradley–Terry by arena-rank; run in an environment of its own (pip install arena-rank).

Arguments: an .npz with ``pairs`` (n, 2), ``outcomes``, ``features`` (n, k), ``n_items``, ``reg``; a file to write to.
"""

import json
import sys
import time

import jax.numpy as jnp
import numpy as np
from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
from arena_rank.utils.data_utils import ContextualPairDataset

problem = np.load(sys.argv[1])
n, k = int(problem["n_items"]), problem["features"].shape[1]
data = ContextualPairDataset(
    competitors=[str(i) for i in range(n)],
    pairs=jnp.asarray(problem["pairs"]),
    outcomes=jnp.asarray(problem["outcomes"]),
    features=jnp.asarray(problem["features"]),
    weights=jnp.ones(len(problem["outcomes"])),
)
times = []
for _ in range(3):
    model = ContextualBradleyTerry(n, k, scale=1.0, base=float(np.e), init_rating=0.0, reg=float(problem["reg"]))
    before = time.process_time()
    found = model.compute_ratings_and_cis(data, significance_level=0.1)
    times.append(time.process_time() - before)
plain = {name: np.asarray(value).tolist() for name, value in found.items() if name != "competitors"}
with open(sys.argv[2], "w") as file:
    json.dump({"seconds": min(times), **plain}, file)
