"""
Parquet to Parquet: tables that do not fit in memory
====================================================

A model learnt from a few hundred threads is to label a hundred thousand comments. ``predict_parquet`` reads the table in blocks, labels each,
and writes rows in the order of the input. Memory is that of one block, a run that was stopped goes on where it was, and ``workers`` or a cluster
only change how long it takes. On the command line: ``accord predict MODEL in.parquet out.parquet --workers 4``.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from accord import ThreadClassifier, save_model
from accord.workflows.predict_parquet import predict_parquet

rng = np.random.default_rng(0)


def comments(n_threads):
    """Simulated features of comments, six in a thread."""
    thread = np.arange(n_threads).repeat(6)
    label = rng.random(len(thread)) < 0.5
    columns = {f"f{k}": (rng.standard_normal(len(thread)) + 0.4 * (2 * label - 1)).astype("float32") for k in range(10)}
    return pd.DataFrame({"group_id": thread.astype(str), **columns}), np.where(label, "Good", "Bad")


folder = Path(tempfile.mkdtemp())
table, labels = comments(400)
model = ThreadClassifier().fit(table.drop(columns="group_id"), labels, groups=table["group_id"])
save_model(model, folder / "model.accord", kind="threads")

# %%
# Time against size, on one core. The line has the slope of a task whose cost a row does not grow.

sizes, seconds = [2_000, 8_000, 20_000], []
for n in sizes:
    comments(n)[0].to_parquet(folder / "in.parquet", row_group_size=65_536)
    start = time.perf_counter()
    written = predict_parquet(folder / "model.accord", folder / "in.parquet", folder / f"out-{n}.parquet")
    seconds.append(time.perf_counter() - start)
    print(f"{written.n_rows:8,} rows in {written.n_blocks} blocks: {seconds[-1]:.2f} s")

# %%
fig, ax = plt.subplots()
rows = 6 * np.array(sizes)
ax.loglog(rows, seconds, marker="o", label="measured when this page was built")
ax.loglog(rows, seconds[-1] * rows / rows[-1], ls="--", color="0.6", label="time in proportion to rows")
ax.set(xlabel="comments", ylabel="seconds")
ax.legend()

# %%
# What comes out: one row a comment, the label with its probability, and that of each label.

print(pd.read_parquet(folder / f"out-{sizes[-1]}.parquet").head(4).round(3).to_string(index=False))
