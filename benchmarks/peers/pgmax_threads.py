"""Loopy belief propagation of a batch by PGMax; run in an environment of its own.

Arguments: an .npz with log odds ``h``, ``edges``, ``gains`` and the number of ``sweeps``; a file to write to.
PGMax 0.6.1 asks JAX for a module that current JAX has moved; the first lines put it back.
"""

import functools
import json
import sys
import time
import types

import jax
import jax.extend
import numpy as np

jax.lib.xla_bridge = types.SimpleNamespace(get_backend=jax.extend.backend.get_backend)

from pgmax import fgraph, fgroup, infer, vgroup  # noqa: E402

problem = np.load(sys.argv[1])
h, edges, gains = problem["h"], problem["edges"], problem["gains"]
variables = vgroup.NDVarArray(num_states=2, shape=(len(h),))
graph = fgraph.FactorGraph(variables)
tables = np.zeros((len(gains), 2, 2))
tables[:, 0, 0] = tables[:, 1, 1] = gains
names = [variables[i] for i in range(len(h))]
graph.add_factors(
    fgroup.PairwiseFactorGroup(
        variables_for_factors=[[names[i], names[j]] for i, j in edges], log_potential_matrix=tables
    )
)
engine = infer.build_inferer(graph.bp_state, backend="bp")
start = engine.init(evidence_updates={variables: np.stack([np.zeros(len(h)), h], axis=1)})
run = jax.jit(functools.partial(engine.run, num_iters=int(problem["sweeps"]), damping=0.0, temperature=1.0))


def solve():
    return np.asarray(infer.get_marginals(engine.get_beliefs(run(start)))[variables])


marginals = solve()
times = []
for _ in range(5):
    before = time.process_time()
    marginals = solve()
    times.append(time.process_time() - before)
with open(sys.argv[2], "w") as file:
    json.dump({"seconds": min(times), "version": jax.__version__, "marginals": marginals[:, 1].tolist()}, file)
