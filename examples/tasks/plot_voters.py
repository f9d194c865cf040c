"""
Voters and judges: who answers at random?
=========================================

Some people click without reading, and some language models judge no better than a coin. Nobody tells us who. The ranker learns how often
each voter answers at random, from how well their votes fit everybody else's, and lets their votes count accordingly.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from accord import Items, PreferenceRanker

rng = np.random.default_rng(7)
n_texts, n_votes = 20, 1500
names = np.array([f"person {k}" for k in range(1, 10)] + ["judge A", "judge B", "judge C"], dtype=object)
rate = np.array([0.0] * 7 + [1.0, 0.6] + [0.0, 0.3, 1.0])  # how often each answers at random
truth = rng.standard_normal(n_texts)
ids = np.array([f"t{k:02d}" for k in range(n_texts)], dtype=object)

left = rng.integers(n_texts, size=n_votes)
right = (left + rng.integers(1, n_texts, size=n_votes)) % n_texts
who = rng.integers(len(names), size=n_votes)
attentive = norm.cdf((truth[left] - truth[right]) / np.sqrt(2))
y = (rng.random(n_votes) < np.where(rng.random(n_votes) < rate[who], 0.5, attentive)).astype(float)

# %%
ranker = PreferenceRanker().fit(np.column_stack([ids[left], ids[right]]), y, items=Items(ids), annotator=names[who])
voters = ranker.annotators_
print(voters.round(2).to_string(index=False))

# %%
# The bars hold each voter's rate with a probability of 90 %; the crosses are the truth of this simulation.

fig, ax = plt.subplots(figsize=(7, 4.2))
ax.hlines(voters["annotator"], voters["low"], voters["high"], color="C7")
ax.plot(voters["error"], voters["annotator"], "o", label="learnt")
ax.plot(
    [rate[list(names).index(name)] for name in voters["annotator"]],
    voters["annotator"],
    "x",
    color="C3",
    ms=8,
    label="truth",
)
ax.invert_yaxis()
ax.set(xlabel="share of random answers", xlim=(-0.05, 1.05))
ax.legend(loc="upper right")

# %%
# What it changes: the scores, with and without telling voters apart, against the truth.

equal = PreferenceRanker(reliability="equal").fit(
    np.column_stack([ids[left], ids[right]]), y, items=Items(ids), annotator=names[who]
)
for name, fitted in (("voters told apart", ranker), ("all voters equal", equal)):
    print(f"{name}: correlation with the true scores {np.corrcoef(fitted.score_items(), truth)[0, 1]:.3f}")

# %%
# In a project give the voter in the column ``voter`` (or ``annotator_id``); ``accord rank PROJECT --report page.html`` has the table.
