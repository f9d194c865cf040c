"""Preference learning by a sparse variational Gaussian process of GPyTorch; run in an environment of its own.

Arguments: an .npz with features ``x``, ``winner`` and ``loser`` of each vote, and pairs ``seen`` and ``unseen``, of
which the probability that the first wins is asked; a file to write to. GPyTorch has no model of pairs: this is its
usual recipe (200 inducing points that are learnt, one length-scale a feature, Adam, mini-batches) with the likelihood
Φ((f_i − f_j)/√2) of our model.
"""

import json
import sys
import time
import warnings

import gpytorch
import numpy as np
import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
torch.manual_seed(0)
N_POINTS, N_STEPS, BATCH, RATE, N_NODES = 200, 1500, 512, 0.01, 20


class Scores(gpytorch.models.ApproximateGP):
    """f, by inducing points."""

    def __init__(self, points):
        q = gpytorch.variational.CholeskyVariationalDistribution(len(points))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, q, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.MaternKernel(nu=1.5, ard_num_dims=points.shape[1])
        )
        self.covar_module.base_kernel.lengthscale = points.shape[1] ** 0.5

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def differences(posterior, first, second):
    """Means and variances of the differences of scores."""
    mean, covariance = posterior.mean, posterior.covariance_matrix
    variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    return mean[first] - mean[second], variance.clamp_min(1e-8)


problem = np.load(sys.argv[1])
x = torch.as_tensor(problem["x"], dtype=torch.float64)
winner, loser = torch.as_tensor(problem["winner"]), torch.as_tensor(problem["loser"])
n_known, n_votes = int(max(winner.max(), loser.max())) + 1, len(winner)
nodes, weights = (torch.as_tensor(part) for part in np.polynomial.hermite_e.hermegauss(N_NODES))
weights = weights / weights.sum()
start = time.process_time()
x = (x - x[:n_known].mean(dim=0)) / x[:n_known].std(dim=0)
model = Scores(x[torch.randperm(n_known)[: min(N_POINTS, n_known)]].clone()).double()
optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, N_STEPS)
model.train()
for _ in range(N_STEPS):
    rows = torch.randint(n_votes, (min(BATCH, n_votes),))
    items, place = torch.unique(torch.stack([winner[rows], loser[rows]]), return_inverse=True)
    optimiser.zero_grad()
    mean, variance = differences(model(x[items]), place[0], place[1])
    z = mean[:, None] + variance.sqrt()[:, None] * nodes
    fit = (torch.special.log_ndtr(z / 2**0.5) @ weights).mean()
    loss = model.variational_strategy.kl_divergence() / n_votes - fit
    loss.backward()
    optimiser.step()
    schedule.step()
spent = time.process_time() - start
model.eval()


def wins(pairs):
    """P(first wins) = Φ(mean difference / √(2 + its variance))."""
    items, place = np.unique(pairs, return_inverse=True)
    first, second = torch.as_tensor(place.reshape(pairs.shape)).T
    with torch.no_grad():
        mean, variance = differences(model(x[torch.as_tensor(items)]), first, second)
    return torch.special.ndtr(mean / torch.sqrt(2 + variance)).tolist()


asked = {name: wins(problem[name]) for name in ("seen", "unseen")}
with open(sys.argv[2], "w") as file:
    json.dump({"seconds": spent, "version": gpytorch.__version__, **asked}, file)
