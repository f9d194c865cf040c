"""What is learnt from threads that a node classifier has not seen: its penalty, and the pull between comments.

The nodes are trained on all folds of the threads but one, for a path of penalties, and say what they think of the fold
that was held out. The penalty with the least log loss there is taken. The pull between the comments of a thread, and
how much the nodes then count, are fitted to the same held-out log-odds, drawn towards no pull at all; the pull is kept
only if it helps in folds that it was not fitted to either. Labels that a person gives are surer than those that the
model guesses, so that they have a pull of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from accord.engines.auto import auto
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals, assemble
from accord.engines.numerics import normalise_log
from accord.fitting.folds import group_folds
from accord.fitting.graph_crf import GraphCRF, marginal_loss
from accord.fitting.optimise import minimise_lbfgs
from accord.threads.local import fit_log_linear_lbfgs, log_linear_scores, n_vectors
from accord.typing import FloatArray, IntArray

__all__ = ["Coupling", "HeldOut", "fit_coupling", "hold_out", "node_penalties", "with_given_pull"]

# Total strengths that are tried, strongest first; the path goes on in either direction while the end is the best.
PATH = (300.0, 100.0, 30.0, 10.0, 3.0)
STEP, WEAKEST, STRONGEST = 3.0, 1e-2, 1e5
# Log-odds of text classifiers are features, and those of other threads come from classifiers that saw the labels of
# the threads held out. With few comments that makes weak penalties look better than they are: none is taken below this
# number over the number of labelled comments.
LEAST = 2000.0
FIXED = 30.0  # where nothing can be held out
BIAS = 0.1  # keeps a bias finite where a fold lacks a label
MOST_THREADS = 800  # more are not needed to fit a handful of numbers
PRIOR = 2.0  # total strength that draws slope and pulls towards 1 and 0

# The loss of marginals takes differences of them, which need a tight fixed point. All edges of a thread share one gain.
infer = partial(auto, tol=1e-9, max_iter=500, warn=False, each_edge=False)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The nodes' log probabilities of every comment, from fits that have not seen its thread."""

    scores: FloatArray  # (n_rows, n_labels)
    folds: IntArray  # (n_rows,)
    penalty: float  # the total strength that was chosen, or given
    path: dict[float, float]  # total strength → mean log loss of held-out comments


@dataclass(frozen=True)
class Coupling:
    """The pull between the comments of a thread, and what it is worth on threads that were held out.

    A pull is the gain of equal labels, to be divided by the number of other comments. The losses are mean log losses of
    comments of threads that neither the nodes nor the pulls were fitted to: of all comments where no label is given,
    and of the other comments where half of the labels of a thread are given.
    """

    pull: float  # between two comments whose labels are not known
    pull_given: float  # from a comment whose label is given to one whose label is not
    slope: float  # what the log-odds of nodes that are trained on all threads are multiplied with beside the pull
    offsets: tuple[float, ...]  # what is added to the score of each label beside the pull
    log_loss_alone: float
    log_loss_coupled: float
    given_loss_alone: float
    given_loss_coupled: float


def node_penalties(total: float, relief: FloatArray, n_rows: int) -> FloatArray:
    """The penalty of each feature of a mean loss over ``n_rows``; the last feature is the bias, nearly free.

    ``relief``, of shape (n_features − 1,), is 1, or less for features that are evidence of a classifier already.
    """
    return np.append(total * relief, BIAS) / max(n_rows, 1)


def hold_out(
    x: FloatArray,
    labels: IntArray,
    n_labels: int,
    names: IntArray,
    relief: FloatArray,
    *,
    penalty: float | None,
    n_folds: int,
    random_state: Any,
) -> HeldOut | None:
    """Train nodes without each fold; ``None`` where there are not two threads with labels.

    Parameters
    ----------
    x : array of shape (n_rows, n_features + 1)
    labels : int array of shape (n_rows,)
        −1 where a comment has none.
    n_labels : int
    names : array of shape (n_rows,)
        The thread of each row.
    relief : array of shape (n_features,)
    penalty : float, optional
        The total strength; by default the best of a path.
    """
    seen = labels >= 0
    n_threads, n_seen = len(np.unique(names)), len(np.unique(names[seen]))
    if n_seen < 2:
        return None
    folds = group_folds(names, n_folds=min(n_folds, n_threads), random_state=random_state)
    warm: dict[int, FloatArray] = {}

    def scores_of(total: float) -> FloatArray:
        scores = np.full((len(labels), n_labels), -np.log(n_labels))
        for fold in range(folds.max() + 1):
            held = folds == fold
            rows = np.flatnonzero(~held & seen)
            if not len(rows):
                continue
            found = fit_log_linear_lbfgs(
                x[rows], labels[rows], n_labels, penalty=node_penalties(total, relief, len(rows)),
                start=warm.get(fold), tol=1e-5,
            )  # fmt: skip
            warm[fold] = found.weights
            scores[held] = log_linear_scores(found.weights.reshape(n_vectors(n_labels), -1), x[held])
        return scores

    found: dict[float, FloatArray] = {}
    path: dict[float, float] = {}

    def tried(total: float) -> None:
        found[total] = scores_of(total)
        path[total] = -float(found[total][seen, labels[seen]].mean())

    weakest = max(WEAKEST, LEAST / seen.sum()) if (relief < 1.0).any() else WEAKEST
    for total in [total for total in PATH if total >= weakest] or [weakest] if penalty is None else (penalty,):
        tried(total)
    if penalty is None:
        while (best := min(path, key=lambda total: path[total])) == min(path) and best / STEP >= weakest:
            tried(best / STEP)
        warm.clear()
        while (best := min(path, key=lambda total: path[total])) == max(path) and best * STEP <= STRONGEST:
            tried(best * STEP)
    best = min(path, key=lambda total: path[total])
    return HeldOut(found[best], folds, best, path)


def fit_coupling(
    held: HeldOut,
    layout: Graphs,
    share: FloatArray,
    labels: IntArray,
    *,
    keys: IntArray | None = None,
    random_state: Any = 0,
) -> Coupling:
    """The pulls that fit held-out nodes best; one that does not help on yet other threads is 0.

    Parameters
    ----------
    held : HeldOut
    layout : Graphs
        The threads, each a complete graph.
    share : array of shape (n_edges,)
        What the length of a thread leaves of each edge.
    labels : int array of shape (n_rows,)
    keys : int array of shape (n_rows,), optional
        By which the rows of a thread are put in order before some of their labels are given; as they stand by default.
    """
    rng = np.random.default_rng(random_state)
    labelled = np.flatnonzero(np.bincount(layout.node_graph[labels >= 0], minlength=layout.n_graphs) > 0)
    rows = np.sort(rng.permutation(labelled)[:MOST_THREADS])
    crf = GraphCRF(layout, _node_features(held.scores), share[:, None]).subset(rows)
    nodes = layout.node_rows(rows)
    own, given = labels[nodes], labels[nodes].copy()
    at = np.arange(len(own)) if keys is None else np.lexsort((keys[nodes], crf.graphs.node_graph))
    given[at[rng.random(len(own)) < 0.5]] = -1
    fold = held.folds[nodes][crf.graphs.node_offsets[:-1]]  # threads with a label are never empty
    alone = np.zeros(1 + _n_offsets(held.scores) + 1)  # slope, offsets, pull
    alone[0] = 1.0
    sums = np.zeros((2, 2))
    for k in range(fold.max() + 1):
        train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if not len(test):
            continue
        here, there = (
            _Part(crf.subset(some), *(y[crf.graphs.node_rows(some)] for y in (own, given))) for some in (train, test)
        )
        # Both have slope and offsets of their own, so that only the pull makes the difference.
        sums[0] += [there.loss(_fit_pull(here, alone, pulls=pulls)) for pulls in (False, True)]
        given_loss = there.given_loss(alone)
        sums[1] += [given_loss(0.0), given_loss(_fit_given(here, alone))]
    each, rest = sums[0] / max((own >= 0).sum(), 1), sums[1] / max(((own >= 0) & (given < 0)).sum(), 1)
    whole = _Part(crf, own, given)
    coupled = each[1] < each[0]
    fitted = _fit_pull(whole, alone) if coupled else alone
    pull_given = _fit_given(whole, fitted) if rest[1] < rest[0] else 0.0
    best = _beside_all_threads(fitted, _fit_pull(whole, alone, pulls=False)) if coupled else alone
    offsets = (0.0, best[1]) if len(best) == 3 else best[1:-1]
    return Coupling(
        float(best[-1]), pull_given, float(best[0]), tuple(map(float, offsets)), *map(float, (*each, *rest))
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """Some threads, with all their labels and with some of them given."""

    crf: GraphCRF
    labels: IntArray  # (n_nodes,)
    given: IntArray  # (n_nodes,)

    def loss(self, parameters: FloatArray) -> float:
        """Summed log loss of the labels where none is given."""
        engine = infer if parameters[-1] != 0.0 else _apart
        return _log_loss(engine(self.crf.scores(_tie(self.crf) @ parameters)).node_marginals, self.labels)

    def given_loss(self, parameters: FloatArray) -> Callable[[float], float]:
        """The pull of the given labels to the summed log loss of the others."""
        graphs, share = self.crf.scores(_tie(self.crf) @ parameters), self.crf.edge_features[:, 0]
        rest = np.where(self.given >= 0, -1, self.labels)
        if parameters[-1] != 0.0:
            known = graphs.with_known(self.given)
            return lambda pull: _log_loss(infer(with_given_pull(known, pull * share)).node_marginals, rest)
        # Comments without a given label do not pull each other: each stands by itself beside the given ones.
        pulled = np.zeros_like(graphs.node_scores)
        for here, there in (graphs.edges.T, graphs.edges.T[::-1]):
            edges = np.flatnonzero(self.given[there] >= 0)
            np.add.at(pulled, (here[edges], self.given[there[edges]]), share[edges])
        return lambda pull: _log_loss(normalise_log(graphs.node_scores + pull * pulled), rest)


def with_given_pull(graphs: Graphs, gains: FloatArray) -> Graphs:
    """The graphs with other gains where just one end of an edge has a known label."""
    if graphs.known is None:
        return graphs
    known = graphs.known[graphs.edges] >= 0
    return graphs.with_scores(
        graphs.node_scores, np.where(known[:, 0] != known[:, 1], gains, graphs.edge_scores)
    ).with_known(graphs.known)


def _fit_pull(part: _Part, alone: FloatArray, *, pulls: bool = True) -> FloatArray:
    """Slope, offsets and pull with the least log loss of single comments, drawn towards nodes alone."""
    loss, tie = marginal_loss(part.crf, part.labels, infer=infer if pulls else _apart), _tie(part.crf)

    n = max(int((part.labels >= 0).sum()), 1)

    def penalised(moved: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(tie @ (moved + alone))
        strength = np.zeros(len(alone))
        strength[[0, -1]] = PRIOR
        return value + 0.5 * float(strength @ moved**2) / n, tie.T @ gradient + strength * moved / n

    # The slope is never negative.
    bounds = [(-1.0, None), *[(None, None)] * (len(alone) - 2), (None, None) if pulls else (0.0, 0.0)]
    found = minimise_lbfgs(penalised, np.zeros(len(alone)), bounds=bounds, tol=1e-4, max_iter=50)
    return np.asarray(found.weights + alone)


def _beside_all_threads(coupled: FloatArray, apart: FloatArray) -> FloatArray:
    """What a pull changes of slope and offsets, for nodes that are trained on all threads.

    Nodes that were trained without a fold differ from those: with few threads they may be too timid, or know next to
    nothing. Slope and offsets that are fitted to them without a pull tell that; it is left out, and so is what both
    fits have in common.
    """
    found = coupled - apart
    found[0] = max(1.0 + found[0], 0.0)
    return np.asarray(found)


def _fit_given(part: _Part, parameters: FloatArray) -> float:
    """The pull of given labels with the least log loss of the others."""
    loss = part.given_loss(parameters)
    found = minimize_scalar(
        lambda pull: loss(pull) + 0.5 * PRIOR * pull**2, bounds=(-10.0, 10.0), method="bounded",
        options={"xatol": 1e-3},
    )  # fmt: skip
    return float(found.x)


def _apart(graphs: Graphs) -> Marginals:
    """Marginals where no comment pulls another: each is independent of the others."""
    p = normalise_log(graphs.node_scores)
    equal = np.einsum("ek,ek->e", p[graphs.edges[:, 0]], p[graphs.edges[:, 1]])
    log_z = np.zeros(graphs.n_graphs)  # not used
    return assemble(graphs, "apart", node_marginals=p, edge_marginals=equal, log_partition=log_z)


def _log_loss(p: FloatArray, labels: IntArray) -> float:
    """Summed over the comments that have a label, of probabilities of shape (n_rows, n_labels)."""
    seen = labels >= 0
    return -float(np.log(np.maximum(p[seen, labels[seen]], 1e-12)).sum())


def _n_offsets(scores: FloatArray) -> int:
    return 1 if scores.shape[1] == 2 else scores.shape[1]


def _node_features(scores: FloatArray) -> FloatArray:
    """The log-odds of the second of two labels, or the scores of all labels, and a last column of ones."""
    own = scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores
    return np.column_stack([own, np.ones(len(scores))])


def _tie(crf: GraphCRF) -> FloatArray:
    """The matrix that makes the weights of the CRF of slope, offsets and pull: one slope for all labels."""
    n = crf.n_node_vectors
    tie = np.zeros((crf.n_weights, 1 + n + 1))
    for k in range(n):
        tie[k * (n + 1) + k, 0] = 1.0
        tie[k * (n + 1) + n, 1 + k] = 1.0
    tie[-1, -1] = 1.0
    return tie
