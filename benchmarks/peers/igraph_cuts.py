"""Minimum cuts of a batch by igraph; run in an environment of its own.

Arguments: an .npz with log odds ``h``, ``edges``, ``gains``, ``node_offsets``, ``edge_offsets``; a file to write to.
"""

import json
import sys
import time

import igraph
import numpy as np

problem = np.load(sys.argv[1])
h, edges, gains = problem["h"], problem["edges"], problem["gains"]
nodes, links = problem["node_offsets"], problem["edge_offsets"]
networks = []
for g in range(len(nodes) - 1):
    own, first = slice(links[g], links[g + 1]), nodes[g]
    field = h[first : nodes[g + 1]]
    n = len(field)
    i, j = (edges[own] - first).T
    pairs = [(n, v) for v in range(n)] + [(v, n + 1) for v in range(n)]
    pairs += list(zip(i.tolist(), j.tolist(), strict=True)) + list(zip(j.tolist(), i.tolist(), strict=True))
    capacity = np.concatenate([np.maximum(field, 0), np.maximum(-field, 0), gains[own], gains[own]])
    networks.append((igraph.Graph(n + 2, pairs, directed=True), n, capacity.tolist()))
times = []
for _ in range(5):
    before = time.process_time()
    values = [network.mincut(n, n + 1, capacity).value for network, n, capacity in networks]
    times.append(time.process_time() - before)
with open(sys.argv[2], "w") as file:
    json.dump({"seconds": min(times), "version": igraph.__version__, "values": values}, file)
