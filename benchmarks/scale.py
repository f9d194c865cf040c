"""Prediction and training beyond one process: throughput, memory, growth, and what killed workers change.

``python benchmarks/scale.py predict 1000000`` predicts so many threads from Parquet to Parquet with one worker and with
two; ``votes 1000000 10000000`` trains on so many votes; ``kills 10`` kills workers at random; ``overhead`` compares a
small job with and without a cluster. Files are made in the temporary folder, or kept in ACCORD_SCALE_FOLDER; ``make
1000000`` makes the threads only.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from accord import PreferenceRanker, ThreadClassifier
from accord.data.documents import Items
from accord.scale import Workers
from accord.store.models import save_model
from accord.workflows.predict_parquet import predict_parquet

N_FEATURES = 30
NAMES = [f"f{k}" for k in range(N_FEATURES)]
N_ITEMS, N_POINTS = 2000, 64


class Memory(threading.Thread):
    """The largest resident memory that any process of this one's tree had, sampled five times a second."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak, self.done = process, 0, threading.Event()

    def run(self):
        while not self.done.wait(0.2):
            try:
                for one in [self.process, *self.process.children(recursive=True)]:
                    self.peak = max(self.peak, one.memory_info().rss)
            except psutil.NoSuchProcess:
                continue

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


def thread_rows(rng, n_threads):
    """Sizes 1 + Poisson(5.4), features, and labels that lean as the features and the thread do."""
    sizes = 1 + rng.poisson(5.4, n_threads)
    thread = np.repeat(np.arange(n_threads), sizes)
    x = rng.standard_normal((len(thread), N_FEATURES), dtype=np.float32)
    score = x[:, :3].sum(axis=1) + rng.normal(size=n_threads)[thread]
    return thread, x, np.where(score + rng.logistic(size=len(score)) > 0, "Good", "Bad")


def thread_model(path, n_threads=2600):
    thread, x, labels = thread_rows(np.random.default_rng(1), n_threads)
    model = ThreadClassifier().fit(pd.DataFrame(x, columns=NAMES), labels, groups=thread)
    save_model(model, path, kind="threads")


def thread_file(path, n_threads, block=100_000):
    if path.exists():
        return
    rng = np.random.default_rng(0)
    writer = None
    for first in range(0, n_threads, block):
        thread, x, _ = thread_rows(rng, min(block, n_threads - first))
        columns = {"group_id": [f"t{first + k:07d}" for k in thread], "item_id": np.arange(len(thread)) + 10 * first}
        table = pa.table(columns | {name: x[:, k] for k, name in enumerate(NAMES)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=["group_id"])
        writer.write_table(table, row_group_size=65_536)
    writer.close()


def vote_file(path, n_votes, block=1_000_000):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(N_ITEMS, 4))
    scores = np.sin(features).sum(axis=1)
    names = pa.array([f"item {k:04d}" for k in range(N_ITEMS)])
    if not path.exists():
        writer = None
        for first in range(0, n_votes, block):
            n = min(block, n_votes - first)
            left = rng.integers(N_ITEMS, size=n, dtype=np.int32)
            right = (left + rng.integers(1, N_ITEMS, size=n, dtype=np.int32)) % N_ITEMS
            value = scores[left] - scores[right] + rng.normal(scale=np.sqrt(2.0), size=n) > 0
            table = pa.table(
                {
                    "left": pa.DictionaryArray.from_arrays(left, names),
                    "right": pa.DictionaryArray.from_arrays(right, names),
                    "value": value.astype(np.float32),
                }
            )
            writer = writer or pq.ParquetWriter(path, table.schema, compression="lz4")
            writer.write_table(table, row_group_size=100_000)
        writer.close()
    return Items(np.array(names.to_pylist(), dtype=object), features=features), scores


def measure_predict(folder, n_threads, workers):
    """Wall seconds from Parquet to Parquet on running clusters of some workers, and the largest process of all."""
    from distributed import Client

    from accord.scale.cluster import local_cluster

    thread_model(folder / "threads.model")
    source, small = folder / f"threads-{n_threads}.parquet", folder / "threads-2000.parquet"
    thread_file(source, n_threads)
    thread_file(small, 2000)
    found, files = {}, {}
    for n in workers:
        with (
            local_cluster(n) as cluster,
            Client(cluster) as client,
            Memory(psutil.Process()) as memory,
        ):
            where, files[n] = Workers(client=client), folder / f"predicted-{n}.parquet"
            job = {"model": folder / "threads.model", "workers": where}
            predict_parquet(source=small, target=folder / "warm.parquet", min_rows=500, max_rows=500, **job)
            start = time.perf_counter()
            done = predict_parquet(source=source, target=files[n], **job)
            found[n] = time.perf_counter() - start
        print(
            f"predict: {n_threads:,} threads, {done.n_rows:,} comments, {n} workers: {found[n]:.1f} s, "
            f"{done.n_rows / found[n]:,.0f} comments a second, largest process {memory.peak / 1e6:,.0f} MB",
            flush=True,
        )
    first, last = min(found), max(found)
    if first != last:
        same = files[first].read_bytes() == files[last].read_bytes()
        print(f"predict: {last} workers against {first}: {found[first] / found[last]:.2f} ×, equal files: {same}")


def measure_votes(folder, counts):
    """Training by stochastic inference, one pass; CPU time a vote and the largest memory, each in its own process."""
    for n in counts:
        code = f"import scale; from pathlib import Path; scale.train_votes(Path({str(folder)!r}), {n})"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
        vote_file(folder / f"votes-{n}.parquet", n)
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def train_votes(folder, n):
    items, scores = vote_file(folder / f"votes-{n}.parquet", n)
    model = PreferenceRanker(
        inference="svi", n_inducing=N_POINTS, kernel="matern", length_scales="base", item_effects=False, n_epochs=1
    )
    with Memory(psutil.Process()) as memory:
        start = time.process_time()
        model.fit_parquet(folder / f"votes-{n}.parquet", items=items)
        seconds = time.process_time() - start
    told = np.corrcoef(model.score_items(), scores)[0, 1]
    print(
        f"votes: {n:,}: {seconds:.1f} CPU s, {1e6 * seconds / n:.2f} µs a vote, {memory.peak / 1e6:,.0f} MB, "
        f"correlation with the truth {told:.4f}",
        flush=True,
    )


class Killer(threading.Thread):
    """Kills random workers of a cluster, -9, at random moments.

    Only workers that have started: Dask does not start a worker again that died while it started.
    """

    def __init__(self, cluster, n, pause, rng):
        super().__init__(daemon=True)
        self.cluster, self.n, self.pause, self.rng, self.killed = cluster, n, pause, rng, 0

    def run(self):
        while self.killed < self.n:
            time.sleep(float(self.rng.exponential(self.pause)))
            nannies = [nanny for nanny in list(self.cluster.workers.values()) if nanny.process is not None]
            ids = [nanny.pid for nanny in nannies if nanny.process.status.name == "running"]
            if ids:
                os.kill(int(self.rng.choice(ids)), signal.SIGKILL)
                self.killed += 1


def measure_kills(folder, n_kills, n_threads=20_000):
    """Training and prediction again and again until so many workers were killed; every result must be the same."""
    from distributed import Client

    from accord.scale.cluster import local_cluster

    thread, x, labels = thread_rows(np.random.default_rng(1), 8000)

    def weights(**where):
        model = ThreadClassifier(**where).fit(x, labels, groups=thread)
        return np.concatenate([model.weights_.nodes.ravel(), model.weights_.edges.ravel()])

    thread_model(folder / "threads.model")
    source = folder / f"threads-{n_threads}.parquet"
    thread_file(source, n_threads)
    job = {"model": folder / "threads.model", "source": source, "min_rows": 4096, "max_rows": 4096}
    alone = weights()
    predict_parquet(target=folder / "expected.parquet", **job)
    told = (folder / "expected.parquet").read_bytes()
    rng = np.random.default_rng(0)
    with (
        local_cluster(2) as cluster,
        Client(cluster) as client,
    ):
        expected = weights(client=client)
        apart = np.abs(expected - alone).max() / np.abs(alone).max()
        print(f"undisturbed, cluster against one process: relative difference {apart:.0e}")
        for what in ("training", "prediction"):
            killer, runs, same = Killer(cluster, n_kills, 2.0, rng), 0, 0
            killer.start()
            start = time.perf_counter()
            while killer.is_alive():
                runs += 1
                if what == "training":
                    same += np.array_equal(weights(client=client), expected)
                else:
                    target = folder / "killed.parquet"
                    predict_parquet(target=target, workers=Workers(client=client), **job)
                    same += target.read_bytes() == told
                    target.unlink()
            print(
                f"kills: {killer.killed} workers killed in {runs} runs of {what}, {time.perf_counter() - start:.0f} s; "
                f"{same} of {runs} results identical",
                flush=True,
            )


def measure_overhead(n_threads=2600, repeats=3):
    """Wall seconds of training on a small job: in this process, and on a cluster that is running."""
    from distributed import Client

    from accord.scale.cluster import local_cluster

    thread, x, labels = thread_rows(np.random.default_rng(1), n_threads)

    def fit(**where):
        start = time.perf_counter()
        ThreadClassifier(**where).fit(x, labels, groups=thread)
        return time.perf_counter() - start

    fit()
    alone = min(fit() for _ in range(repeats))
    with (
        local_cluster(2) as cluster,
        Client(cluster) as client,
    ):
        first = fit(client=client)
        warm = min(fit(client=client) for _ in range(repeats))
    return alone, first, warm


def run():
    """The row of ``make bench``: a small job on a cluster of two workers against the same in one process."""
    alone, first, warm = measure_overhead()
    note = f"2,600 threads trained; wall seconds; first fit on a new cluster {first:.2f} s"
    return [
        {"name": "training on a cluster", "peer": "one process", "ours_s": warm, "peer_s": alone,
         "ratio": alone / warm, "note": note}
    ]  # fmt: skip


def main():
    what, *sizes = sys.argv[1:] or ["overhead"]
    numbers = [int(size) for size in sizes]
    with tempfile.TemporaryDirectory(prefix="accord-scale-") as made:
        folder = Path(os.environ.get("ACCORD_SCALE_FOLDER", made))
        folder.mkdir(parents=True, exist_ok=True)
        if what == "make":
            thread_file(folder / f"threads-{numbers[0]}.parquet", numbers[0])
        elif what == "predict":
            measure_predict(folder, numbers[0] if numbers else 1_000_000, numbers[1:] or [1, 2])
        elif what == "votes":
            measure_votes(folder, numbers or [1_000_000, 10_000_000])
        elif what == "kills":
            measure_kills(folder, numbers[0] if numbers else 10)
        else:
            alone, first, warm = measure_overhead()
            print(f"overhead: one process {alone:.2f} s; cluster {warm:.2f} s, first fit {first:.2f} s")


if __name__ == "__main__":
    main()
