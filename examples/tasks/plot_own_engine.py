"""
An engine of one's own: Gibbs sampling
======================================

An engine is a function from a batch of graphs to their marginals. Here is one that Accord does not have, in fifteen lines: Gibbs sampling. It is
compared with enumeration, which is exact, and with belief propagation. Everything that takes an engine (``negative_log_likelihood`` for
training, ``check_inference``) takes such a function as well.
"""

import matplotlib.pyplot as plt
import numpy as np

from accord.engines.belief_propagation import belief_propagation
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.mean_field import mean_field

# %%
# Ten comments, all connected, as in a thread; two labels; edges that prefer equal labels.

rng = np.random.default_rng(0)
n = 10
edges = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
graphs = Graphs.from_edges(rng.standard_normal((n, 2)), edges, rng.normal(0.15, 0.1, len(edges)))


# %%
# The engine: each node in turn is drawn given all others.


def gibbs(graphs, *, n_sweeps=2000, burn_in=200, seed=0):
    """Share of the sweeps in which each node has each label, shape (n_nodes, n_labels)."""
    rng = np.random.default_rng(seed)
    n_nodes, n_labels = graphs.node_scores.shape
    coupling = np.zeros((n_nodes, n_nodes))
    coupling[tuple(graphs.edges.T)] = coupling[tuple(graphs.edges.T[::-1])] = graphs.edge_scores
    labels, counts = rng.integers(n_labels, size=n_nodes), np.zeros((n_nodes, n_labels))
    for sweep in range(n_sweeps):
        for i in range(n_nodes):
            scores = graphs.node_scores[i] + np.bincount(labels, weights=coupling[i], minlength=n_labels)
            p = np.exp(scores - scores.max())
            labels[i] = rng.choice(n_labels, p=p / p.sum())
        if sweep >= burn_in:
            counts[np.arange(n_nodes), labels] += 1
    return counts / counts.sum(axis=1, keepdims=True)


truth = exact(graphs).node_marginals[:, 1]
found = {
    "Gibbs sampling (ours)": gibbs(graphs)[:, 1],
    "belief propagation": belief_propagation(graphs).node_marginals[:, 1],
    "mean field": mean_field(graphs).node_marginals[:, 1],
}
for name, p in found.items():
    print(f"{name:22} largest error {np.abs(p - truth).max():.4f}")

# %%
fig, ax = plt.subplots(figsize=(5, 4.4))
ax.plot([0, 1], [0, 1], color="0.7", ls="--")
for (name, p), marker in zip(found.items(), "osx", strict=True):
    ax.plot(truth, p, marker, label=name, alpha=0.8)
ax.set(xlabel="exact probability of label 1", ylabel="probability by the engine", title="Ten connected comments")
ax.legend()

# %%
# An engine that is to become part of Accord returns :class:`~accord.engines.marginals.Marginals` and is tested against enumeration;
# ``CONTRIBUTING.md`` says where.
