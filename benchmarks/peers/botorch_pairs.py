"""Gaussian process preference learning by BoTorch's PairwiseGP; run in an environment of its own.

Arguments: an .npz with features ``x``, ``winner`` and ``loser`` of each vote, and pairs ``seen`` and ``unseen``, of
which the probability that the first wins is asked; a file to write to; optionally the CPU seconds after which fitting
stops with what it has by then.
"""

import json
import sys
import time
import warnings
from types import SimpleNamespace

import botorch
import numpy as np
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models.pairwise_gp import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood
from botorch.optim.utils import timeout

warnings.simplefilter("ignore")
torch.set_num_threads(1)
problem = np.load(sys.argv[1])
x = torch.as_tensor(problem["x"], dtype=torch.float64)
x = (x - x.min(dim=0).values) / (x.max(dim=0).values - x.min(dim=0).values)  # the unit cube, as BoTorch asks for
votes = torch.as_tensor(np.column_stack([problem["winner"], problem["loser"]]))
n_known = int(votes.max()) + 1
limit = {"timeout_sec": float(sys.argv[3])} if len(sys.argv) > 3 else {}
timeout.time = SimpleNamespace(monotonic=time.process_time)  # a machine that is shared would stop it too early
start = time.process_time()
model = PairwiseGP(x[:n_known], votes)
fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model), optimizer_kwargs=limit)
spent = time.process_time() - start
ended = not limit or spent < limit["timeout_sec"]


def wins(pairs):
    """P(first wins) = Φ(mean difference / √(2 + its variance)), as PairwiseGP's likelihood has it.

    The posterior of all items at once: that of each pair by itself would take the memory of all votes for every pair.
    """
    items, place = np.unique(pairs, return_inverse=True)
    first, second = torch.as_tensor(place.reshape(pairs.shape)).T
    with torch.no_grad():
        posterior = model.posterior(x[torch.as_tensor(items)])
        mean, covariance = posterior.mean.squeeze(-1), posterior.distribution.covariance_matrix
    variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    z = (mean[first] - mean[second]) / torch.sqrt(2 + variance)
    return torch.distributions.Normal(0.0, 1.0).cdf(z).tolist()


asked = {name: wins(problem[name]) for name in ("seen", "unseen")}
answer = {"seconds": spent, "ended": ended, "version": botorch.__version__, **asked}
with open(sys.argv[2], "w") as file:
    json.dump(answer, file)
