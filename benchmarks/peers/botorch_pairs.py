"""Gaussian process preference learning by BoTorch's PairwiseGP; run in an environment of its own.

Arguments: an .npz with features ``x``, ``winner`` and ``loser`` of each vote, and pairs ``seen`` and ``unseen``, of
which the probability that the first wins is asked; a file to write to.
"""

import json
import sys
import time
import warnings

import botorch
import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood

warnings.simplefilter("ignore")
torch.set_num_threads(1)
problem = np.load(sys.argv[1])
x = torch.as_tensor(problem["x"], dtype=torch.float64)
x = (x - x.min(dim=0).values) / (x.max(dim=0).values - x.min(dim=0).values)  # the unit cube, as BoTorch asks for
votes = torch.as_tensor(np.column_stack([problem["winner"], problem["loser"]]))
n_known = int(votes.max()) + 1
start = time.process_time()
model = PairwiseGP(x[:n_known], votes)
fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
spent = time.process_time() - start


def wins(pairs):
    """P(first wins) = Φ(mean difference / √(2 + its variance)), as PairwiseGP's likelihood has it."""
    with torch.no_grad():
        posterior = model.posterior(x[torch.as_tensor(pairs)])  # (n_pairs, 2, n_features)
        mean, covariance = posterior.mean.squeeze(-1), posterior.distribution.covariance_matrix
    variance = covariance[:, 0, 0] + covariance[:, 1, 1] - 2 * covariance[:, 0, 1]
    z = (mean[:, 0] - mean[:, 1]) / torch.sqrt(2 + variance)
    return torch.distributions.Normal(0.0, 1.0).cdf(z).tolist()


def wins_in_blocks(pairs, size=100):
    """The same, a few pairs at a time: the posterior of each pair takes the memory of all votes."""
    return [p for first in range(0, len(pairs), size) for p in wins(pairs[first : first + size])]


asked = {name: wins_in_blocks(problem[name]) for name in ("seen", "unseen")}
answer = {"seconds": spent, "version": botorch.__version__, **asked}
with open(sys.argv[2], "w") as file:
    json.dump(answer, file)
