"""How the models of [JMN16] are trained. All end as weights that score the nodes and edges of one graph a thread."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from accord.engines.auto import auto
from accord.engines.belief_propagation import belief_propagation
from accord.engines.chain import chain
from accord.engines.convergence import Convergence
from accord.engines.graphs import Graphs
from accord.engines.marginals import Marginals
from accord.errors import InputError
from accord.fitting.blocked_crf import blocked_crf_loss, crf_blocks
from accord.fitting.folds import group_folds
from accord.fitting.graph_crf import GraphCRF, thread_steps
from accord.fitting.optimise import Optimum, l2_penalised, minimise_lbfgs, minimise_sgd
from accord.scale.blocks import Blocks
from accord.scale.workers import Workers
from accord.threads.design import Scaler, ThreadRows, chain_pairs, pair_features
from accord.threads.features.edges import complete_pairs
from accord.threads.held_out import FIXED, Coupling, HeldOut, fit_coupling, hold_out, node_penalties
from accord.threads.local import (
    PerceptronPath,
    fit_log_linear_lbfgs,
    fit_log_linear_sgd,
    fit_perceptron,
    log_linear_scores,
    n_vectors,
)
from accord.threads.second_order_chain import SecondOrderChain
from accord.typing import FloatArray, IntArray

__all__ = ["EDGES", "LEARNERS", "MODELS", "OBJECTIVES", "Settings", "ThreadWeights", "fit_weights"]

MODELS = ("fccrf", "local", "local+cut", "local+ilp", "local+lbp", "joint", "chain")
APART = ("local+cut", "local+ilp", "local+lbp")  # node and edge classifiers are trained apart
EDGES = ("bias", "ising", "full")
LEARNERS = ("lbfgs", "sgd", "voted", "averaged")
OBJECTIVES = ("likelihood", "marginals")
COUPLINGS = ("auto", "held_out", "joint")
EDGE_SCALES = {"none": 0.0, "root": 0.5, "length": 1.0}  # edges are divided by (n − 1) to this power


@dataclass(frozen=True)
class Settings:
    """The choices that training needs; see :class:`~accord.threads.estimator.ThreadClassifier`."""

    model: str
    edges: str
    edge_scale: str
    order: int
    learner: str
    objective: str
    coupling: str
    node_penalty: float | str
    edge_penalty: float
    n_epochs: int
    step_size: float
    n_folds: int
    max_iter: int
    tol: float
    random_state: Any

    def __post_init__(self) -> None:
        if self.learner == "voted" and self.model != "local":
            raise InputError(
                f"a voted perceptron needs model='local', because it has no single weights; the model is "
                f"{self.model!r}. Use learner='averaged'."
            )
        if self.coupling == "held_out" and not self._can_hold_out:
            raise InputError(
                "coupling='held_out' fits one pull to nodes trained apart: it needs model='fccrf', edges='bias', "
                "learner='lbfgs' and objective='likelihood'. Use coupling='joint'."
            )
        if self.learner == "averaged" and self.model in APART:
            raise InputError(f"model={self.model!r} is trained by lbfgs or sgd; the learner is 'averaged'.")
        if self.model == "local+cut" and self.edges == "full":
            raise InputError("a graph cut needs edges 'bias' or 'ising'; they are 'full'. Use model='local+lbp'.")
        if self.model == "chain" and self.order == 2 and (self.learner, self.objective) != ("lbfgs", "likelihood"):
            raise InputError(
                "chains of order 2 are trained by lbfgs on the likelihood; learner and objective are "
                f"{self.learner!r} and {self.objective!r}."
            )

    @property
    def _can_hold_out(self) -> bool:
        chosen = (self.model, self.edges, self.learner, self.objective)
        return chosen == ("fccrf", "bias", "lbfgs", "likelihood")

    @property
    def couples_held_out(self) -> bool:
        """Whether the pull between comments is fitted to nodes that are trained by themselves."""
        return self.coupling != "joint" and self._can_hold_out

    @property
    def uses_pairs(self) -> bool:
        """Whether features of pairs of comments enter the model."""
        return self.model != "local" and self.edges != "bias"

    def pairs(self, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """The pairs of comments that an edge joins."""
        return chain_pairs(offsets) if self.model == "chain" else complete_pairs(offsets)

    def layout(self, node_scores: FloatArray, sizes: IntArray) -> Graphs:
        """The graphs of the threads."""
        return (Graphs.chain if self.model == "chain" else Graphs.complete)(node_scores, sizes)


@dataclass(frozen=True, eq=False)
class Training:
    """What a model is trained on, in the order of :class:`ThreadRows`."""

    x: FloatArray  # (n_rows, n_features + 1), the last column is 1
    labels: IntArray  # (n_rows,), −1 = not observed
    n_labels: int
    rows: ThreadRows
    similarities: FloatArray | None  # (n_pairs, n_similarities)
    relief: FloatArray  # (n_features,): what part of the penalty a feature bears
    keys: IntArray | None = None  # (n_rows,): of what a row holds, where rows of a thread come in any order

    @property
    def thread(self) -> IntArray:
        """The thread of each row."""
        return np.repeat(np.arange(len(self.rows.sizes)), self.rows.sizes)

    def node_penalties(self, settings: Settings, n_rows: int) -> FloatArray:
        """The penalty of each node feature of a mean loss over so many rows."""
        return node_penalties(float(settings.node_penalty), self.relief, n_rows)

    @property
    def observed(self) -> IntArray:
        return np.flatnonzero(self.labels >= 0)

    @property
    def batches(self) -> list[IntArray]:
        """The observed rows of each thread that has any."""
        thread = self.thread[self.observed]
        return [part for part in np.split(self.observed, np.flatnonzero(np.diff(thread)) + 1) if len(part)]


@dataclass(frozen=True, eq=False)
class ThreadWeights:
    """A trained model: everything that prediction needs."""

    local: FloatArray  # (n_node_vectors, n_features + 1): the node classifier trained by itself
    nodes: FloatArray  # (n_node_vectors, n_features + 1)
    edges: FloatArray  # (n_edge_vectors, n_edge_features + 1); none for the local model
    triples: FloatArray | None  # (n_labels, n_labels, n_labels) for chains of the second order
    pair_scaler: Scaler | None
    path: PerceptronPath | None
    convergence: Convergence
    penalty: float | None = None  # total strength on the node weights
    penalties_tried: Mapping[float, float] | None = None  # total strength → log loss of threads held out
    coupling: Coupling | None = None


def bias_free(penalty: float, n_features: int) -> FloatArray:
    """The penalty of each feature; the last one is the bias and goes free."""
    strength = np.full(n_features, penalty)
    strength[-1] = 0.0
    return strength


def fit_local(
    data: Training, settings: Settings, rng: np.random.Generator, workers: Workers
) -> tuple[FloatArray, Convergence, Any]:
    """The node classifier by itself: weights of shape (n_node_vectors, n_features + 1), and a perceptron's path."""
    rows, labels = data.observed, data.labels[data.observed]
    x = data.x[rows]
    if settings.learner in ("voted", "averaged"):
        path = fit_perceptron(x, labels, data.n_labels, n_epochs=settings.n_epochs, rng=rng)
        mean = path.averaged()
        mean = mean[1:] - mean[:1] if data.n_labels == 2 else mean
        return mean, Convergence(True, settings.n_epochs, 0.0), path
    penalty = data.node_penalties(settings, len(rows))
    if settings.learner == "sgd":
        found = fit_log_linear_sgd(
            data.x, data.labels, data.n_labels, penalty=penalty, batches=data.batches,
            n_epochs=settings.n_epochs, step_size=settings.step_size, rng=rng,
        )  # fmt: skip
    else:
        found = fit_log_linear_lbfgs(
            x, labels, data.n_labels, penalty=penalty, max_iter=settings.max_iter, workers=workers
        )
    return found.weights.reshape(n_vectors(data.n_labels), -1), found.convergence, None


def held_out_evidence(data: Training, settings: Settings, rng: np.random.Generator) -> FloatArray:
    """Node log probabilities of each row from a classifier that has not seen its thread, (n_rows, n_labels)."""
    folds = group_folds(data.thread, n_folds=min(settings.n_folds, len(data.rows.sizes)), random_state=rng)
    evidence = np.zeros((len(data.labels), data.n_labels))
    for fold in range(settings.n_folds):
        held = folds == fold
        rows = data.observed[~held[data.observed]]
        if not len(rows) or not held.any():
            continue
        penalty = data.node_penalties(settings, len(rows))
        found = fit_log_linear_lbfgs(data.x[rows], data.labels[rows], data.n_labels, penalty=penalty)
        evidence[held] = log_linear_scores(found.weights.reshape(n_vectors(data.n_labels), -1), data.x[held])
    return evidence


def as_gains(scores: FloatArray, kind: str, n_labels: int) -> FloatArray:
    """Edge scores, one column a weight vector, as gains (n_edges,) or tables (n_edges, n_labels, n_labels)."""
    return scores.reshape(-1, n_labels, n_labels) if kind == "full" else scores[:, 0]


def edge_share(graphs: Graphs, scale: str) -> FloatArray:
    """What ``edge_scale`` leaves of each edge, shape (n_edges,)."""
    sizes = np.diff(graphs.node_offsets)[graphs.edge_graph]
    return np.asarray(np.maximum(sizes - 1.0, 1.0) ** -EDGE_SCALES[scale])


def hardened(infer: Callable[[Graphs], Marginals]) -> Callable[[Graphs], Marginals]:
    """The engine with its most probable labels as if they were certain: what a perceptron learns from."""

    def run(graphs: Graphs) -> Marginals:
        found = infer(graphs)
        labels = found.node_marginals.argmax(axis=1)
        nodes = np.zeros_like(found.node_marginals)
        nodes[np.arange(len(labels)), labels] = 1.0
        a, b = labels[graphs.edges[:, 0]], labels[graphs.edges[:, 1]]
        edges = np.zeros_like(found.edge_marginals)
        if graphs.has_tables:
            edges[np.arange(len(a)), a, b] = 1.0
        else:
            edges[:] = a == b
        return replace(found, node_marginals=nodes, edge_marginals=edges)

    return run


def _edge_design(data: Training, settings: Settings, rng: np.random.Generator) -> tuple[FloatArray, Scaler | None]:
    """Scaled edge features with a last column of ones; for bias edges that column alone."""
    left, right = settings.pairs(data.rows.offsets)
    if not settings.uses_pairs:
        return np.ones((len(left), 1)), None
    evidence = held_out_evidence(data, settings, rng)
    values = pair_features(data.x[:, :-1], evidence, left, right, data.similarities)
    scaler = Scaler.of(values)
    return scaler(values), scaler


def fit_weights(
    data: Training, settings: Settings, rng: np.random.Generator, workers: Workers | None = None
) -> ThreadWeights:
    """Train the chosen model; L-BFGS sums its losses over blocks of threads, by the workers if there are any."""
    workers = workers or Workers()
    held = None
    if settings.learner not in ("voted", "averaged") or settings.model != "local":
        held = _held_out(data, settings)
        if settings.node_penalty == "auto":
            settings = replace(settings, node_penalty=FIXED if held is None else held.penalty)
    found = _fit_model(data, settings, rng, workers, held)
    if held is None:
        return found
    return replace(found, penalty=held.penalty, penalties_tried=held.path)


def _held_out(data: Training, settings: Settings) -> HeldOut | None:
    """What nodes say of threads held out, where something is chosen by it."""
    automatic = settings.node_penalty == "auto"
    if not (automatic or settings.couples_held_out):
        return None
    return hold_out(
        data.x, data.labels, data.n_labels, data.thread, data.relief, n_folds=settings.n_folds,
        penalty=None if automatic else float(settings.node_penalty), random_state=settings.random_state,
    )  # fmt: skip


def _fit_model(
    data: Training, settings: Settings, rng: np.random.Generator, workers: Workers, held: HeldOut | None
) -> ThreadWeights:
    if settings.model == "local":
        local, convergence, path = fit_local(data, settings, rng, workers)
        keep = path if settings.learner == "voted" else None
        return ThreadWeights(local, local, np.zeros((0, 1)), None, None, keep, convergence)
    plain = replace(settings, learner="sgd") if settings.learner == "sgd" else replace(settings, learner="lbfgs")
    local, local_convergence, _ = fit_local(data, plain, rng, workers)
    if settings.couples_held_out:
        return _coupled(data, settings, local, local_convergence, held)
    features, scaler = _edge_design(data, settings, rng)
    if settings.model in APART:
        edges = _fit_edges_apart(data, settings, features)
        return ThreadWeights(local, local, edges, None, scaler, None, local_convergence)
    layout = settings.layout(np.zeros((len(data.labels), data.n_labels)), data.rows.sizes)
    features *= edge_share(layout, settings.edge_scale)[:, None]
    if settings.model == "chain" and settings.order == 2:
        return _fit_second_order(data, settings, local, features, scaler)
    crf = GraphCRF(layout, data.x, features, edges="full" if settings.edges == "full" else "ising")
    found = _fit_crf(crf, data, settings, local, rng, workers)
    nodes, edges = crf.split(found.weights)
    return ThreadWeights(local, nodes, edges, None, scaler, None, found.convergence)


def _coupled(
    data: Training, settings: Settings, local: FloatArray, convergence: Convergence, held: HeldOut | None
) -> ThreadWeights:
    """Nodes trained by themselves, and a pull between comments that is fitted to what they say of threads held out."""
    layout = settings.layout(np.zeros((len(data.labels), data.n_labels)), data.rows.sizes)
    if held is None or not layout.n_edges:
        return ThreadWeights(local, local, np.zeros((1, 1)), None, None, None, convergence)
    share = edge_share(layout, settings.edge_scale)
    found = fit_coupling(held, layout, share, data.labels, keys=data.keys, random_state=0)
    nodes = found.slope * local
    nodes[:, -1] += found.offsets[1:] if data.n_labels == 2 else found.offsets
    return ThreadWeights(local, nodes, np.full((1, 1), found.pull), None, None, None, convergence, coupling=found)


def _fit_edges_apart(data: Training, settings: Settings, features: FloatArray) -> FloatArray:
    """The edge classifier by itself ([JMN16] eq. 2): one vector for the log odds of equal labels, or one a pair."""
    left, right = settings.pairs(data.rows.offsets)
    seen = np.flatnonzero((data.labels[left] >= 0) & (data.labels[right] >= 0))
    a, b = data.labels[left[seen]], data.labels[right[seen]]
    penalty = bias_free(settings.edge_penalty / max(len(seen), 1), features.shape[1])
    full = settings.edges == "full"
    target, n_targets = (a * data.n_labels + b, data.n_labels**2) if full else ((a == b).astype(np.int64), 2)
    if not len(seen):
        return np.zeros((n_targets if full else 1, features.shape[1]))
    found = fit_log_linear_lbfgs(features[seen], target, n_targets, penalty=penalty, max_iter=settings.max_iter)
    weights = found.weights.reshape(-1, features.shape[1])
    if not full:
        # "Different" is K − 1 labels of the other comment: odds of 1 : K − 1 say nothing, and must not push apart.
        weights[:, -1] += np.log(data.n_labels - 1)
    return weights


def _penalty(crf: Any, data: Training, settings: Settings, n_extra: int = 0) -> FloatArray:
    n = len(data.observed)
    edge = settings.edge_penalty / max(n, 1)
    return np.concatenate(
        [
            np.tile(data.node_penalties(settings, n), crf.n_node_vectors),
            np.tile(bias_free(edge, crf.edge_features.shape[1]), crf.n_edge_vectors),
            np.full(n_extra, edge),
        ]
    )


def _start(crf: Any, local: FloatArray, n_extra: int = 0) -> FloatArray:
    """Node weights of the local model (of the same data, so nothing leaks) and no pull between comments."""
    return np.concatenate([local.ravel(), np.zeros(crf.n_edge_weights + n_extra)])


def _fit_crf(
    crf: GraphCRF,
    data: Training,
    settings: Settings,
    local: FloatArray,
    rng: np.random.Generator,
    workers: Workers,
) -> Optimum:
    """Joint training: L-BFGS on a loss, or one thread a step ([JMN16] Algorithm 1 and section 3.2)."""
    infer = training_engine(settings)
    strength = _penalty(crf, data, settings)
    if settings.learner == "lbfgs" and settings.model != "joint":
        units = np.ones(crf.n_weights)
        pull = edge_share(crf.graphs, settings.edge_scale).sum() / max(crf.graphs.n_nodes, 1)
        units[crf.n_node_weights :] = edge_units(pull)
        with workers.open(crf_blocks(crf, data.labels)) as opened:
            return minimise_blocks(
                opened, settings, n_observed=len(data.observed), start=_start(crf, local), strength=strength,
                units=units,
            )  # fmt: skip
    perceptron = settings.learner == "averaged"
    step = thread_steps(crf, data.labels, infer=hardened(infer) if perceptron else infer)
    threads = np.array(
        [g for g in range(crf.graphs.n_graphs) if (data.labels[crf.graphs.node_rows(np.array([g]))] >= 0).any()]
    )
    decay = np.zeros(crf.n_weights) if perceptron else strength
    weights = minimise_sgd(
        lambda w, g: step(w, int(g)) + decay * w,
        np.zeros(crf.n_weights),
        lambda epoch, generator: iter(generator.permutation(threads)),
        n_epochs=settings.n_epochs,
        step_size=lambda t: 1.0 if perceptron else settings.step_size / (1.0 + t / len(threads)),
        rng=rng,
        average=perceptron,
    )
    return Optimum(weights, np.nan, Convergence(True, settings.n_epochs, 0.0))


def edge_units(pull: float) -> float:
    """Units of edge weights, where a comment has ``pull`` edges on average.

    The loss is much steeper in edge weights than in node weights; in these units it is not, and the line search does
    not try pulls that are out of all proportion.
    """
    return 1.0 / max(pull, 1.0)


def minimise_blocks(
    blocks: Blocks,
    settings: Settings,
    *,
    n_observed: int,
    start: FloatArray,
    strength: FloatArray,
    units: FloatArray,
) -> Optimum:
    """The optimum of the loss of blocks of threads."""
    loss = blocked_crf_loss(blocks, n_observed, objective=settings.objective, infer=training_engine(settings))
    found = minimise_lbfgs(
        in_units(l2_penalised(loss, strength), units), start / units, max_iter=settings.max_iter, tol=settings.tol
    )
    return replace(found, weights=found.weights * units)


def in_units(
    loss: Callable[[FloatArray], tuple[float, FloatArray]], units: FloatArray
) -> Callable[[FloatArray], tuple[float, FloatArray]]:
    """The loss of weights that are measured in ``units``."""

    def rescaled(weights: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(weights * units)
        return value, gradient * units

    return rescaled


def training_engine(settings: Settings) -> Callable[[Graphs], Marginals]:
    """Exact wherever that is affordable, else belief propagation; steps of one thread by belief propagation alone."""
    if settings.model == "chain":
        return chain
    # The node marginals' loss takes differences of marginals, which need a tighter fixed point.
    tol = 1e-8 if settings.objective == "marginals" else 1e-6
    by_thread = settings.model == "joint" or settings.learner != "lbfgs"
    return partial(belief_propagation if by_thread else auto, tol=tol, max_iter=300, warn=False)


def prediction_engine(settings: Settings, *, each_edge: bool) -> Callable[[Graphs], Marginals]:
    """Exact wherever that is affordable, else belief propagation."""
    return chain if settings.model == "chain" else partial(auto, max_iter=300, each_edge=each_edge)


def _fit_second_order(
    data: Training, settings: Settings, local: FloatArray, features: FloatArray, scaler: Scaler | None
) -> ThreadWeights:
    kind = "full" if settings.edges == "full" else "ising"
    model = SecondOrderChain(data.x, features, data.rows.sizes, data.n_labels, kind)
    n_triples = data.n_labels**3
    found = minimise_lbfgs(
        l2_penalised(model.loss(data.labels), _penalty(model, data, settings, n_triples)),
        _start(model, local, n_triples),
        max_iter=settings.max_iter,
        tol=settings.tol,
    )
    nodes, edges, triples = model.split(found.weights)
    return ThreadWeights(local, nodes, edges, triples, scaler, None, found.convergence)
