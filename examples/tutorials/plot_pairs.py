"""
Pairs: which argument convinces?
================================

A town debates whether to close its high street to cars. Twelve people were shown two arguments at a time and said which
convinces more; some of them clicked without reading. We want a ranking, and to know how far to trust it.
"""

import numpy as np

from accord import PreferenceRanker, open_example

votes = open_example("arguments").comparisons()
question = "Should the high street be closed to cars?"
street = votes.subset(votes.groups == question)
arguments = votes.items.subset(np.flatnonzero(votes.items.groups == question))
print(f"{street.n_votes} votes on {arguments.n_items} arguments")
print(street.to_table().head(3))

# %%
# Fit and rank
# ------------
# The ranker reads the votes, who gave them, and the texts themselves. Nothing has to be set.

X, y = street.xy()
who = street.annotators[street.annotator]
ranker = PreferenceRanker().fit(X, y, items=arguments, annotator=who)
table = ranker.rank()
print(table[["rank", "tier", "item_id", "score", "low", "high", "p_best"]].head(5).round(2).to_string(index=False))

# %%
# A ranking without its uncertainty is a half-truth. The bars hold the score with a probability of 90 %. Where they overlap
# much, the order is not settled.

import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 5))
shown = table.iloc[::-1]
ax.errorbar(
    shown["score"],
    shown["item_id"],
    xerr=[shown["score"] - shown["low"], shown["high"] - shown["score"]],
    fmt="o",
    color="C0",
    ecolor="C7",
)
ax.axvline(0, color="0.8", zorder=0)
ax.set_xlabel("score: distance from the average argument, with its 90 % interval")
ax.set_title(question)

# %%
# How would people vote on two arguments that they never compared? And how sure are we which is better? These are two
# different questions: two good arguments share the votes even when we know exactly how good they are.

best, middle = table["item_id"].iloc[0], table["item_id"].iloc[9]
right_wins, left_wins = ranker.predict_proba([(best, middle)])[0][[0, -1]]
print(f"{best} would get {left_wins:.0%} of the votes against {middle};")
print(f"that it is the better one is {ranker.predict_order([(best, middle)])[0]:.0%} sure.")

# %%
# Why
# ---
# ``explain`` splits the difference of two scores into what the features of the texts say and what the votes on the
# arguments themselves add (``item``).

last = table["item_id"].iloc[-1]
reasons = ranker.explain(best, last)
print(reasons[reasons["kind"] == "term"].round(2).to_string(index=False))

# %%
# A new argument
# --------------
# The model has read the texts, so it has an opinion on one that nobody voted on, with a wide interval, as it should be.

from accord import Items

new = "Try it for one summer and count: shops, buses, noise. Then decide with figures."
together = Items([*arguments.ids, "new"], texts=[*arguments.texts, new], groups=[question] * (arguments.n_items + 1))
row = ranker.rank(together).set_index("item_id").loc["new"]
print(
    f"The new argument: score {row['score']:+.2f}, with a probability of 90 % between {row['low']:+.2f} and {row['high']:+.2f},"
)
print(f"on place {row['rank_low']} to {row['rank_high']} of {together.n_items}.")

# %%
# Next: :ref:`what to ask next <sphx_glr_gallery_tasks_plot_asking.py>`, :ref:`when to stop
# <sphx_glr_gallery_tasks_plot_stopping.py>` and :ref:`which voters click at random <sphx_glr_gallery_tasks_plot_voters.py>`.
