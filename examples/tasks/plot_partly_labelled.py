"""
Partly labelled threads: a few labels inform the rest
=====================================================

A moderator labels two comments of a long thread. The comments of one thread hang together, so these two labels say something about the
others. ``known=`` gives them to the model: they stay as they are, and pull the rest. The data here are simulated: each thread has a mood of its
own that no feature of a single comment shows.
"""

import matplotlib.pyplot as plt
import numpy as np

from accord import ThreadClassifier

rng = np.random.default_rng(5)


def make(n_threads, size=8):
    """Comments with two weak features; the labels of a thread lean to one side together."""
    mood = 1.6 * rng.standard_normal(n_threads).repeat(size)
    y = rng.random(n_threads * size) < 1 / (1 + np.exp(-mood))
    x = rng.standard_normal((n_threads * size, 2)) + 0.25 * (2 * y[:, None] - 1)
    return x, np.where(y, "Good", "Bad").astype(object), np.arange(n_threads).repeat(size).astype(str)


x, y, thread = make(300)
model = ThreadClassifier().fit(x, y, groups=thread)
alone = ThreadClassifier(model="local").fit(x, y, groups=thread)

# %%
# In new threads, the labels of the first k comments are given; accuracy is counted on the last four, which are never given.

new_x, new_y, new_thread = make(200)
place = np.tile(np.arange(8), 200)
tested = place >= 4
accuracy = {"the thread together": [], "each comment by itself": []}
for k in range(5):
    known = np.where(place < k, new_y, None)
    for name, fitted in (("the thread together", model), ("each comment by itself", alone)):
        predicted = fitted.predict(new_x, groups=new_thread, known=known)
        right = (predicted == new_y)[tested].reshape(200, -1).mean(axis=1)
        accuracy[name].append((right.mean(), 1.96 * right.std(ddof=1) / np.sqrt(len(right))))

# %%
fig, ax = plt.subplots()
for name, values in accuracy.items():
    mean, half = np.array(values).T
    ax.errorbar(range(5), mean, yerr=half, marker="o", capsize=3, label=name)
ax.set(
    xlabel="labels given in the thread",
    ylabel="accuracy on the other comments",
    xticks=range(5),
    title="200 new threads, with 95 % intervals over threads",
)
ax.legend()

# %%
# From the command line, labels that stand in the project are given to the model when it predicts.

print({name: f"{values[0][0]:.2f} without, {values[-1][0]:.2f} with four labels" for name, values in accuracy.items()})
