"""Neighbours of every node, for the engines that go node by node."""

import numpy as np
from numba import njit

from accord.typing import BoolArray, IntArray

__all__ = ["adjacency", "complete", "near_order"]


@njit(cache=True, error_model="numpy")
def adjacency(edges: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """The edges at each node.

    Returns
    -------
    offsets : array of shape (n_nodes + 1,)
        The entries of node i are ``offsets[i]:offsets[i + 1]``.
    ends : array of shape (2 n_edges,)
        2e where the node is the first end of edge e, 2e + 1 where it is the second.
    """
    offsets = np.zeros(n_nodes + 1, np.int64)
    for e in range(len(edges)):
        offsets[edges[e, 0] + 1] += 1
        offsets[edges[e, 1] + 1] += 1
    for i in range(n_nodes):
        offsets[i + 1] += offsets[i]
    ends = np.empty(2 * len(edges), np.int64)
    place = offsets[:-1].copy()
    for e in range(len(edges)):
        for side in range(2):
            i = edges[e, side]
            ends[place[i]] = 2 * e + side
            place[i] += 1
    return offsets, ends


@njit(cache=True, error_model="numpy")
def complete(edges: IntArray, node_offsets: IntArray, edge_offsets: IntArray) -> BoolArray:
    """Which graphs join every two of their nodes by exactly one edge, shape (n_graphs,)."""
    out = np.zeros(len(node_offsets) - 1, np.bool_)
    for g in range(len(out)):
        first, n = node_offsets[g], node_offsets[g + 1] - node_offsets[g]
        if 2 * (edge_offsets[g + 1] - edge_offsets[g]) != n * (n - 1):
            continue
        seen = np.zeros((n, n), np.bool_)
        out[g] = True
        for e in range(edge_offsets[g], edge_offsets[g + 1]):
            i, j = edges[e, 0] - first, edges[e, 1] - first
            out[g] &= not seen[i, j]
            seen[i, j] = seen[j, i] = True
    return out


@njit(cache=True, error_model="numpy")
def near_order(edges: IntArray, first: int, n_nodes: int, block: int) -> IntArray:
    """An order of the edges of one graph in which neighbours in time touch neighbours in memory, shape (n_edges,).

    Edges are sorted by the block of their second node and inside a block by their first node, so that a pass over them
    walks through the first nodes and stays inside one block of second ones.
    """
    order, by_first = np.empty(len(edges), np.int64), np.empty(len(edges), np.int64)
    place = np.zeros(n_nodes + 1, np.int64)
    for e in range(len(edges)):
        place[edges[e, 0] - first + 1] += 1
    for i in range(n_nodes):
        place[i + 1] += place[i]
    for e in range(len(edges)):
        i = edges[e, 0] - first
        by_first[place[i]] = e
        place[i] += 1
    place = np.zeros(n_nodes // block + 2, np.int64)
    for e in range(len(edges)):
        place[(edges[e, 1] - first) // block + 1] += 1
    for k in range(len(place) - 1):
        place[k + 1] += place[k]
    for step in range(len(edges)):
        e = by_first[step]
        k = (edges[e, 1] - first) // block
        order[place[k]] = e
        place[k] += 1
    return order
