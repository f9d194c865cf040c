"""
Stopping: how many more votes?
==============================

More votes are always better, and never free. ``stability`` says how probable it is that the texts now on top are really the best. A
probability that takes all votes into account stays right however often one looks, so one may look after every vote and stop when it is
high enough. How many votes that will take nobody knows beforehand: the interval of the forecast below goes from dozens of votes to thousands, or
has no upper end (``inf``), which is why commands and pages do not print it.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from accord import Items, PreferenceRanker

rng = np.random.default_rng(3)
n_texts, most = 10, 500
truth = np.linspace(-1.5, 1.5, n_texts)
ids = np.array([f"text {k}" for k in range(n_texts)], dtype=object)
left = rng.integers(n_texts, size=most)
right = (left + rng.integers(1, n_texts, size=most)) % n_texts
won = (rng.random(most) < norm.cdf((truth[left] - truth[right]) / np.sqrt(2))).astype(float)

# %%
# Look again after every few votes.

looks = [40, 80, 140, 220, 340, 500]
states = []
for n in looks:
    ranker = PreferenceRanker().fit(np.column_stack([ids[left[:n]], ids[right[:n]]]), won[:n], items=Items(ids))
    states.append(ranker.stability(top=3, sure=0.95))
    now = states[-1]
    state = (
        "enough"
        if now.reached
        else f"forecast {now.votes_left:,.0f} more ({now.votes_low:,.0f} to {now.votes_high:,.0f})"
    )
    print(f"{n:3} votes: the first three are the best three with {now.p_top:.0%}; {state}")

# %%
fig, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(7, 5))
above.plot(looks, [s.p_top for s in states], marker="o", label="the first three are the best three")
above.plot(looks, [s.settled for s in states], marker="s", label="share of pairs in settled order")
above.axhline(0.95, color="0.6", ls="--")
above.set(ylim=(0, 1.03), ylabel="probability or share")
above.legend()
open_ = [(n, s) for n, s in zip(looks, states, strict=True) if s.votes_left is not None and np.isfinite(s.votes_high)]
below.errorbar(
    [n for n, _ in open_],
    [s.votes_left for _, s in open_],
    yerr=[[s.votes_left - s.votes_low for _, s in open_], [s.votes_high - s.votes_left for _, s in open_]],
    fmt="o",
    capsize=3,
)
below.set(xlabel="votes so far", ylabel="votes still needed\n(80 % interval)", yscale="symlog")

# %%
# On the command line: ``accord rank PROJECT --stop-when top=3 --sure .95`` ends with exit code 0 once it is reached, and with 1 before.
