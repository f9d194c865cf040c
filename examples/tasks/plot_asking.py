"""
Asking: which pair should people see next?
==========================================

Votes cost time. A question whose answer is nearly certain tells nothing; one about two texts that are already well known tells
little. ``ask`` chooses the pairs whose answers tell most about the scores. Here we simulate people with known opinions and compare it
with asking at random.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import kendalltau, norm

from accord import Items, PreferenceRanker

N_TEXTS, START, STEP, ROUNDS, RUNS = 16, 30, 15, 5, 4


def answers(pairs, truth, rng):
    """Simulated votes: 1 if the left text wins."""
    gap = truth[pairs[:, 0]] - truth[pairs[:, 1]]
    return (rng.random(len(pairs)) < norm.cdf(gap / np.sqrt(2))).astype(float)


def random_pairs(n, rng):
    left = rng.integers(N_TEXTS, size=n)
    return np.column_stack([left, (left + rng.integers(1, N_TEXTS, size=n)) % N_TEXTS])


# %%
# After each step the ranking is compared with the truth: Kendall's τ is 1 for the same order and 0 for chance.

ids = np.array([f"t{k:02d}" for k in range(N_TEXTS)], dtype=object)
curves = {"asked by Accord": [], "asked at random": []}
for run in range(RUNS):
    truth = np.random.default_rng(run).standard_normal(N_TEXTS)
    for name, curve in curves.items():
        rng = np.random.default_rng(100 + run)
        pairs = random_pairs(START, rng)
        y = answers(pairs, truth, rng)
        reached = []
        for step in range(ROUNDS):
            ranker = PreferenceRanker().fit(ids[pairs], y, items=Items(ids))
            reached.append(kendalltau(ranker.score_items(), truth).statistic)
            if step < ROUNDS - 1:
                if name == "asked by Accord":
                    chosen = ranker.ask(STEP)[["left", "right"]].to_numpy()
                    more = np.array([[int(a[1:]), int(b[1:])] for a, b in chosen])
                else:
                    more = random_pairs(STEP, rng)
                pairs, y = np.vstack([pairs, more]), np.concatenate([y, answers(more, truth, rng)])
        curve.append(reached)

# %%
fig, ax = plt.subplots()
votes = START + STEP * np.arange(ROUNDS)
for name, curve in curves.items():
    mean, error = np.mean(curve, axis=0), np.std(curve, axis=0, ddof=1) / np.sqrt(RUNS)
    (line,) = ax.plot(votes, mean, marker="o", label=name)
    ax.fill_between(votes, mean - error, mean + error, color=line.get_color(), alpha=0.15)
ax.set(
    xlabel="votes",
    ylabel="Kendall's τ with the truth",
    title=f"Mean of {RUNS} simulated groups of texts, with its standard error",
)
ax.legend()

# %%
# A few runs are a picture, not a proof: the bands overlap where they overlap. ``accord simulate PROJECT`` replays your own votes to see
# how fast each way of asking learns, and ``accord ask PROJECT --number 10`` prints the next questions.

print(ranker.ask(3).round(3).to_string(index=False))
