"""The inference engines against their peers, in one run: CPU seconds of one thread, the best of several.

``python benchmarks/engines.py`` prints a table. ``--peers`` also runs PGMax and igraph, each in an environment of its
own under the cache folder (or under ACCORD_PEERS), made if it is missing. ``--growth`` measures time against edges and
draws it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numba import njit

from accord.engines.belief_propagation import belief_propagation
from accord.engines.chain import chain
from accord.engines.exact import exact
from accord.engines.graphs import Graphs
from accord.engines.min_cut import min_cut
from accord.fitting.chain_crf import KeyedChains, expected_counts
from accord.fitting.graph_crf import GraphCRF, negative_log_likelihood
from accord.fitting.optimise import l2_penalised, minimise_lbfgs

HERE = Path(__file__).parent
PEERS = {"pgmax": ["pgmax"], "igraph": ["igraph", "numpy"], "botorch": ["botorch"]}
GROWTH = (10**4, 10**5, 10**6, 10**7)


def seconds(run, repeats=9):
    """Best CPU time of several runs, after one that compiles and warms up."""
    run()
    times = []
    for _ in range(repeats):
        before = time.process_time()
        run()
        times.append(time.process_time() - before)
    return min(times)


def threads(n_threads=300, low=2, high=40, attractive=False, seed=0):
    """Complete graphs of log odds 2h and gains 2J: h ~ N(0, 1), J ~ ½N(0, 1)/√n, or |N(0, 1)|/n if attractive."""
    rng = np.random.default_rng(seed)
    sizes, h, gains = [], [], []
    for _ in range(n_threads):
        n = int(rng.integers(low, high + 1))
        sizes.append(n)
        h.append(2.0 * rng.normal(size=n))
        z = rng.normal(size=n * (n - 1) // 2)
        gains.append(2.0 * np.abs(z) / n if attractive else z / np.sqrt(n))
    h = np.concatenate(h)
    return Graphs.complete(np.stack([np.zeros(len(h)), h], axis=1), sizes, np.concatenate(gains))


def row(name, peer, ours, theirs, note=""):
    return {
        "name": name,
        "peer": peer,
        "ours_s": ours,
        "peer_s": theirs,
        "ratio": None if theirs is None else theirs / ours,
        "note": note,
    }


def peer_python(name):
    """The interpreter of a peer's own environment; made, with the packages, if it is missing."""
    from platformdirs import user_cache_path

    folder = Path(os.environ.get("ACCORD_PEERS") or user_cache_path("accord") / "peers") / name
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS[name]], check=True)
    return str(python)


def ask_peer(name, script, **problem):
    """Run a peer's script on a problem in its own environment; what it answered."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "problem.npz", Path(folder) / "answer.json"
        np.savez(given, **problem)
        one_thread = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        environment = {**os.environ, "XLA_FLAGS": one_thread, "OMP_NUM_THREADS": "1", "JAX_ENABLE_X64": "1"}
        subprocess.run([peer_python(name), HERE / "peers" / script, given, answer], check=True, env=environment)
        return json.loads(answer.read_text())


def bench_belief_propagation(peers):
    graphs = threads()
    found = belief_propagation(graphs)
    ours = seconds(lambda: belief_propagation(graphs))
    note = f"{graphs.n_edges} edges, {found.n_iter.mean():.1f} sweeps on average, tol 1e-6"
    if not peers:
        return [row("belief propagation, 300 threads", "none", ours, None, note)]
    h, gains, _ = graphs.ising()
    # PGMax runs a fixed number of sweeps over all graphs: the mean number of ours, to its advantage.
    sweeps = round(float(found.n_iter.mean()))
    answer = ask_peer("pgmax", "pgmax_threads.py", h=h, edges=graphs.edges, gains=gains, sweeps=sweeps)
    gap = np.abs(np.array(answer["marginals"]) - found.node_marginals[:, 1]).max()
    note += f"; PGMax {sweeps} sweeps on JAX {answer['version']}, marginals within {gap:.1e}"
    return [row("belief propagation, 300 threads", "PGMax", ours, answer["seconds"], note)]


def bench_min_cut(peers):
    from ortools.graph.python import max_flow
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    graphs = threads(attractive=True)
    ours, name = seconds(lambda: min_cut(graphs)), "minimum cut, 300 threads"
    best = min_cut(graphs).log_partition
    scale = 1e6  # both take whole capacities only
    networks = []
    for g in range(graphs.n_graphs):
        part = graphs.subset([g])
        h, gains, _ = part.ising()
        n, (i, j) = part.n_nodes, part.edges.T
        rows = np.concatenate([np.full(n, n), np.arange(n), i, j]).astype(np.int32)
        columns = np.concatenate([np.arange(n), np.full(n, n + 1), j, i]).astype(np.int32)
        capacity = np.rint(scale * np.concatenate([np.maximum(h, 0), np.maximum(-h, 0), gains, gains])).astype(np.int64)
        offset = np.maximum(h, 0).sum() + gains.sum()
        networks.append((n, rows, columns, capacity, offset))

    def or_tools():
        values = []
        for n, rows, columns, capacity, offset in networks:
            solver = max_flow.SimpleMaxFlow()
            solver.add_arcs_with_capacity(rows, columns, capacity)
            solver.solve(n, n + 1)
            values.append(offset - solver.optimal_flow() / scale)
        return np.array(values)

    def scipy_flow():
        values = []
        for n, rows, columns, capacity, offset in networks:
            matrix = csr_array((capacity.astype(np.int32), (rows, columns)), shape=(n + 2, n + 2))
            values.append(offset - maximum_flow(matrix, n, n + 1).flow_value / scale)
        return np.array(values)

    rows_out = []
    for peer, solve in (("OR-tools", or_tools), ("SciPy", scipy_flow)):
        note = f"score within {np.abs(solve() - best).max():.1e}; the peer takes whole capacities"
        rows_out.append(row(name, peer, ours, seconds(solve, 3), note))
    if peers:
        h, gains, _ = graphs.ising()
        layout = {"node_offsets": graphs.node_offsets, "edge_offsets": graphs.edge_offsets}
        answer = ask_peer("igraph", "igraph_cuts.py", h=h, edges=graphs.edges, gains=gains, **layout)
        offsets = np.array([offset for *_, offset in networks])
        gap = np.abs(offsets - np.array(answer["values"]) - best).max()
        note = f"score within {gap:.1e}, igraph {answer['version']}, networks built beforehand"
        rows_out.append(row(name, "igraph", ours, answer["seconds"], note))
    return rows_out


def bench_chain():
    import pycrfsuite

    rng = np.random.default_rng(0)
    graphs = Graphs.chain(rng.normal(size=(150_000, 2)), [750] * 200, rng.normal(size=(149_800, 2, 2)))
    whole = row("chain, 200 × 750, marginals and best labels", "none", seconds(lambda: chain(graphs)), None)
    keys, labels = rng.integers(1000, size=150_000), rng.integers(2, size=150_000)
    chains = KeyedChains(keys, np.zeros(150_200, dtype=int), np.arange(0, 150_001, 750))
    scores, transitions = rng.normal(size=(1000, 2)), rng.normal(size=(1, 2, 2))
    ours = seconds(lambda: expected_counts(chains, scores, transitions))
    trainer = pycrfsuite.Trainer(verbose=False)
    for d in range(200):
        own = slice(750 * d, 750 * (d + 1))
        trainer.append([[f"w{k}"] for k in keys[own]], [str(y) for y in labels[own]])
    trainer.set_params({"max_iterations": 30, "feature.possible_transitions": True, "epsilon": 0.0, "delta": 0.0})
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        trainer.train(str(Path(folder) / "model"))
        spent = time.process_time() - before
    n_done = max(int(trainer.logparser.last_iteration["num"]), 1) if trainer.logparser.last_iteration else 30
    note = f"one loss and gradient, against one of {n_done} L-BFGS iterations, one feature a token"
    return [whole, row("chain CRF, 200 × 750", "python-crfsuite", ours, spent / n_done, note)]


def bench_exact():
    rows, rng = [], np.random.default_rng(0)
    for n in (16, 20):
        graphs = Graphs.complete(rng.normal(size=(n, 2)), [n], rng.normal(size=n * (n - 1) // 2))
        rows.append(row(f"exact, {n} nodes", "none", seconds(lambda g=graphs: exact(g)), None))
    return rows


def question_threads():
    """2,600 threads, the longest of 143 comments, about 132,000 pairs: the shape of the SemEval training set."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(rng.geometric(0.2, size=2600) + 1, 60)
    sizes[:6] = [143, 100, 90, 90, 80, 80]
    while np.sum(sizes * (sizes - 1) // 2) < 132_018:
        sizes[rng.integers(10, 2600)] += 1
    layout = Graphs.complete(np.zeros((sizes.sum(), 2)), sizes)
    x = np.column_stack([np.ones(layout.n_nodes), rng.normal(size=(layout.n_nodes, 101))])
    phi = np.column_stack([np.ones(layout.n_edges), rng.normal(size=(layout.n_edges, 19))])
    crf = GraphCRF(layout, x, phi, scale_edges=True)
    truth = np.concatenate([0.2 * rng.normal(size=102), [0.8], 0.3 * rng.normal(size=19)])
    one = belief_propagation(crf.scores(truth)).node_marginals[:, 1]
    return crf, (rng.random(layout.n_nodes) < one).astype(int)


def bench_training():
    crf, labels = question_threads()
    n_calls = [0]
    plain = negative_log_likelihood(crf, labels)

    def counted(weights):
        n_calls[0] += 1
        return plain(weights)

    def fit():
        n_calls[0] = 0
        return minimise_lbfgs(l2_penalised(counted, 1e-5), np.zeros(crf.n_weights), max_iter=500, tol=1e-7)

    ours = seconds(fit, 1)
    note = f"{crf.graphs.n_edges} pairs, 102 node and 20 edge features, {n_calls[0]} evaluations to a slope of 1e-7"
    return [row("CRF training, 2,600 threads", "none", ours, None, note)]


def growth(sizes=GROWTH, n_sweeps=20):
    """(edges, CPU seconds of 20 sweeps, peak memory in GB) for random graphs of ten edges a node."""
    points, rng = [], np.random.default_rng(0)
    for m in sizes:
        n = m // 10
        first = rng.integers(n, size=m, dtype=np.int32)
        second = (first + rng.integers(1, n, size=m, dtype=np.int32)) % n
        edges = np.stack([first, second], axis=1)
        graphs = Graphs.from_edges(rng.normal(size=(n, 2)), edges, 0.2 * rng.normal(size=m))
        spent = seconds(
            lambda g=graphs: belief_propagation(g, max_iter=n_sweeps, tol=0.0, retries=0, warn=False),
            max(1, min(9, 10**6 // m)),
        )
        points.append((m, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6))
    return points


@njit
def _read_both_ends(values, edges, out):
    for e in range(len(edges)):
        out[e] = values[edges[e, 0]] + values[edges[e, 1]]


def memory_growth(sizes=GROWTH):
    """(edges, CPU seconds) to read one number at both ends of every edge: the least any engine must do a sweep."""
    points, rng = [], np.random.default_rng(0)
    for m in sizes:
        edges = rng.integers(m // 10, size=(m, 2), dtype=np.int32)
        values, out = rng.random(m // 10), np.empty(m)
        repeats = max(1, 10**6 // m)

        def read(values=values, edges=edges, out=out, repeats=repeats):
            for _ in range(repeats):
                _read_both_ends(values, edges, out)

        points.append((m, seconds(read, 5) / repeats))
    return points


def batch_growth(sizes=GROWTH):
    """(edges, CPU seconds) for batches of complete threads of 2–40 comments, to a tolerance of 1e-6."""
    points, rng = [], np.random.default_rng(0)
    for m in sizes:
        lengths = rng.integers(2, 41, size=m // 100)
        lengths = lengths[: int(np.searchsorted(np.cumsum(lengths * (lengths - 1) // 2), m)) + 1]
        pairs = lengths * (lengths - 1) // 2
        gains = rng.normal(size=pairs.sum()) / np.sqrt(np.repeat(lengths, pairs))
        graphs = Graphs.complete(2.0 * rng.normal(size=(lengths.sum(), 2)), lengths, gains)
        spent = seconds(lambda g=graphs: belief_propagation(g, warn=False), max(2, min(9, 10**6 // m)))
        points.append((int(pairs.sum()), spent))
    return points


def bench_growth(picture):
    points = growth()
    draw_growth(points, picture)
    return [
        *(
            row(
                f"belief propagation, one graph of {m:.0e} edges, 20 sweeps",
                "none",
                spent,
                None,
                f"peak {memory:.2f} GB",
            )
            for m, spent, memory in points
        ),
        *(
            row(f"belief propagation, threads of {m:.0e} edges in all", "none", spent, None, "")
            for m, spent in batch_growth()
        ),
        *(row(f"reading both ends of {m:.0e} edges once", "none", spent, None, "") for m, spent in memory_growth()),
    ]


def draw_growth(points, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    edges, spent = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    figure, axes = plt.subplots(figsize=(5, 3.5), layout="constrained")
    axes.loglog(edges, spent, "o-", label="measured")
    axes.loglog(edges, spent[0] * edges / edges[0], ":", color="grey", label="linear")
    axes.set(xlabel="edges", ylabel="CPU seconds for 20 sweeps", title="Belief propagation on one graph")
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith("svg") else None)
    plt.close(figure)


def run(peers=False):
    """Rows of ours against peers; ``peers`` also runs those that need an environment of their own."""
    return [
        *bench_belief_propagation(peers),
        *bench_min_cut(peers),
        *bench_chain(),
        *bench_exact(),
        *bench_training(),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="also run PGMax and igraph in their own environments")
    parser.add_argument("--growth", metavar="PICTURE", help="measure time against edges and draw it here")
    options = parser.parse_args()
    if options.growth:
        points = growth()
        draw_growth(points, options.growth)
        for m, spent, memory in points:
            print(f"{m:>10} edges  {spent:9.4f} s  {1e9 * spent / m / 20:6.2f} ns an edge and sweep  {memory:.2f} GB")
        return
    for entry in run(options.peers):
        theirs = "" if entry["peer_s"] is None else f"{1e3 * entry['peer_s']:10.2f} ms {entry['ratio']:8.1f} ×"
        print(f"{entry['name']:45} {1e3 * entry['ours_s']:9.2f} ms  {entry['peer']:16} {theirs}  {entry['note']}")


if __name__ == "__main__":
    main()
