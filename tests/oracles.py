"""Plain answers to compare fast code with: everything enumerated, every slope a difference."""

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass
class Enumerated:
    """All that can be asked of a batch of graphs, by listing every labelling that agrees with the known labels."""

    log_partition: np.ndarray
    node_marginals: np.ndarray
    edge_marginals: np.ndarray
    best_score: np.ndarray
    n_best: np.ndarray


def score_of(graphs, g, labels):
    """Score of one labelling of graph g, term by term."""
    first = graphs.node_offsets[g]
    total = sum(graphs.node_scores[first + i, y] for i, y in enumerate(labels))
    for e in range(graphs.edge_offsets[g], graphs.edge_offsets[g + 1]):
        a, b = (labels[node - first] for node in graphs.edges[e])
        score = graphs.edge_scores[e]
        total += score[a, b] if np.ndim(score) else (score if a == b else 0.0)
    return float(total)


def enumerate_graphs(graphs):
    """Plain enumeration, one labelling at a time."""
    k = graphs.n_labels
    nodes, edges = np.zeros_like(graphs.node_scores), np.zeros_like(graphs.edge_scores)
    log_z, best, n_best = (np.zeros(graphs.n_graphs) for _ in range(3))
    for g in range(graphs.n_graphs):
        first, last = graphs.node_offsets[g], graphs.node_offsets[g + 1]
        known = np.full(last - first, -1) if graphs.known is None else graphs.known[first:last]
        allowed = [range(k) if y < 0 else [y] for y in known]
        labellings = list(itertools.product(*allowed))
        scores = np.array([score_of(graphs, g, labels) for labels in labellings])
        best[g] = scores.max()
        n_best[g] = np.sum(scores > best[g] - 1e-9)
        weights = np.exp(scores - best[g])
        log_z[g] = best[g] + np.log(weights.sum())
        for labels, p in zip(labellings, weights / weights.sum(), strict=True):
            for i, y in enumerate(labels):
                nodes[first + i, y] += p
            for e in range(graphs.edge_offsets[g], graphs.edge_offsets[g + 1]):
                a, b = (labels[node - first] for node in graphs.edges[e])
                if graphs.has_tables:
                    edges[e, a, b] += p
                elif a == b:
                    edges[e] += p
    return Enumerated(log_z, nodes, edges, best, n_best)


def central_difference(loss, at, step=1e-5):
    """Gradient of a scalar function by central differences."""
    at = np.asarray(at, dtype=float)
    slope = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        shift = np.zeros_like(at)
        shift[place] = step
        slope[place] = (loss(at + shift) - loss(at - shift)) / (2 * step)
    return slope


def plain_belief_propagation(graphs, n_sweeps):
    """Flooding sum-product on whole message vectors in the log domain; (node marginals, Bethe log partition)."""
    full = graphs.with_tables()
    m = full.n_edges
    source = np.concatenate([full.edges[:, 0], full.edges[:, 1]])
    target = np.concatenate([full.edges[:, 1], full.edges[:, 0]])
    theta = np.concatenate([full.edge_scores, full.edge_scores.transpose(0, 2, 1)])
    back = np.concatenate([np.arange(m, 2 * m), np.arange(m)])
    message = np.zeros((2 * m, full.n_labels))
    for _ in range(n_sweeps):
        cavity = _beliefs(full, target, message)[source] - message[back]
        message = np.logaddexp.reduce(theta + cavity[:, :, None], axis=1)
        message -= message.max(axis=1, keepdims=True)
    belief = _beliefs(full, target, message)
    log_node = np.logaddexp.reduce(belief, axis=1)
    cavity = belief[source] - message[back]
    joint = theta[:m] + cavity[:m, :, None] + cavity[m:, None, :]
    log_edge = np.logaddexp.reduce(joint.reshape(m, full.n_labels**2), axis=1)
    log_edge = log_edge - log_node[source[:m]] - log_node[target[:m]]
    log_z = np.bincount(full.node_graph, log_node, full.n_graphs) + np.bincount(
        full.edge_graph, log_edge, full.n_graphs
    )
    return np.exp(belief - log_node[:, None]), log_z


def _beliefs(graphs, target, message):
    belief = graphs.node_scores.copy()
    np.add.at(belief, target, message)
    return belief


def plain_mean_field(graphs, n_steps):
    """Damped synchronous ascent of one graph; (node marginals, the bound after each step that was kept)."""
    full = graphs.with_tables()

    def look(b):
        field = full.node_scores.copy()
        for (p, q), table in zip(full.edges, full.edge_scores, strict=True):
            field[p] += table @ b[q]
            field[q] += b[p] @ table
        entropy = -np.sum(b * np.log(np.maximum(b, 1e-300)))
        bound = float(np.sum(b * (full.node_scores + field)) / 2 + entropy)
        return bound, np.exp(field - np.logaddexp.reduce(field, axis=1)[:, None])

    b = np.exp(full.node_scores - np.logaddexp.reduce(full.node_scores, axis=1)[:, None])
    step, kept, bounds = 0.5, b, []
    for left in reversed(range(n_steps)):
        bound, aim = look(b)
        if bounds and bound < bounds[-1] - 1e-11 * max(1.0, abs(bounds[-1])):
            step, b = step / 2, (b + kept) / 2 if left else kept
        else:
            bounds.append(bound)
            kept, b = b, b + step * (aim - b) if left else b
    return b, bounds


def to_utf16(text, offset):
    """The offset in UTF-16 code units of a code point."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
