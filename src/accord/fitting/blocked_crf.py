"""The losses of pairwise CRFs as sums over blocks of graphs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.fitting.blocked import summed_loss
from accord.fitting.graph_crf import GraphCRF, marginal_loss, negative_log_likelihood
from accord.fitting.optimise import Loss
from accord.scale.blocks import Blocks
from accord.scale.partition import MOST_BLOCKS, cut
from accord.typing import FloatArray, IntArray

__all__ = ["OBJECTIVES", "CrfBlock", "blocked_crf_loss", "crf_blocks"]

OBJECTIVES: dict[str, Callable[..., Loss]] = {"likelihood": negative_log_likelihood, "marginals": marginal_loss}
# Nodes and edges of a block: some thousand threads, some tens of milliseconds of inference.
BLOCK_COST = 100_000


@dataclass(frozen=True, eq=False)
class CrfBlock:
    """Some of the graphs of a CRF with their labels (−1 where not observed)."""

    crf: GraphCRF
    labels: IntArray  # (n_nodes,)
    _losses: dict[Any, Loss] = field(default_factory=dict)  # prepared once, where the block is

    def __getstate__(self) -> dict[str, Any]:
        return {"crf": self.crf, "labels": self.labels, "_losses": {}}

    def loss(self, objective: str, infer: Callable[[Graphs], Marginals]) -> Loss:
        """The mean loss over the observed labels of the block."""
        key = objective, repr(infer)
        if key not in self._losses:
            self._losses[key] = OBJECTIVES[objective](self.crf, self.labels, infer=infer)
        return self._losses[key]


def crf_blocks(crf: GraphCRF, labels: IntArray) -> list[CrfBlock]:
    """Blocks of whole graphs, of about 100,000 nodes and edges; graphs without an observed label are left out."""
    graphs = crf.graphs
    observed = np.bincount(graphs.node_graph[labels >= 0], minlength=graphs.n_graphs) > 0
    costs = (np.diff(graphs.node_offsets) + np.diff(graphs.edge_offsets))[observed]
    kept = np.flatnonzero(observed)
    parts = [kept[part] for part in cut(costs, BLOCK_COST, most=MOST_BLOCKS)]
    if len(parts) == 1 and len(kept) == graphs.n_graphs:
        return [CrfBlock(crf, labels)]
    return [CrfBlock(crf.subset(part), labels[graphs.node_rows(part)]) for part in parts]


def blocked_crf_loss(blocks: Blocks, n_observed: int, *, objective: str, infer: Callable[[Graphs], Marginals]) -> Loss:
    """The mean loss over the ``n_observed`` observed labels of all blocks, with its gradient.

    Parameters
    ----------
    blocks : Blocks
        Of :func:`crf_blocks`.
    n_observed : int
    objective : {"likelihood", "marginals"}
        :func:`~accord.fitting.graph_crf.negative_log_likelihood` or
        :func:`~accord.fitting.graph_crf.marginal_loss`.
    infer : callable
        The engine; it must pickle where the blocks are elsewhere.
    """
    return summed_loss(partial(_share, objective=objective, infer=infer, n_observed=n_observed), blocks)


def _share(
    weights: FloatArray, block: CrfBlock, *, objective: str, infer: Callable[[Graphs], Marginals], n_observed: int
) -> tuple[float, FloatArray]:
    """What a block adds to the mean loss over all observed labels."""
    share = float((block.labels >= 0).sum()) / n_observed
    if share == 0.0:
        return 0.0, np.zeros(len(weights))
    value, gradient = block.loss(objective, infer)(weights)
    return share * value, share * gradient
