"""
Aspects: the food was fine, but …
=================================

Guests of a café wrote reviews and scored food, service, room, price and the whole. The scores of one guest hang together: who
loved the cake forgives the waiter. We learn all scores jointly and read a review that came without any.
"""

import numpy as np

from accord import AspectRanker, open_example

ratings = open_example("cafe-reviews").ratings()
print(f"{ratings.items.n_items} reviews, aspects: {', '.join(ratings.aspects)}, {ratings.n_ranks} ranks")

# %%
# How do the scores hang together? A table of correlations shows it before any model does.

import matplotlib.pyplot as plt

given = ratings.ranks[(ratings.ranks > 0).all(axis=1)]  # 0 where a guest gave no score
correlation = np.corrcoef(given.T)
fig, ax = plt.subplots(figsize=(4.6, 3.8))
image = ax.imshow(correlation, vmin=-1, vmax=1, cmap="RdBu_r")
ax.set_xticks(range(len(ratings.aspects)), ratings.aspects, rotation=40)
ax.set_yticks(range(len(ratings.aspects)), ratings.aspects)
for (i, j), value in np.ndenumerate(correlation):
    ax.text(j, i, f"{value:.1f}", ha="center", va="center", color="white" if abs(value) > 0.6 else "black")
ax.set_title("Correlation of the scores")
fig.colorbar(image)

# %%
# Fit on all but one review, and read that one.

texts, ranks = list(ratings.items.texts), ratings.ranks
model = AspectRanker(aspects=list(ratings.aspects)).fit(texts[1:], ranks[1:])
print(texts[0])
p = model.predict_proba([texts[0]])[0]

fig, axes = plt.subplots(1, len(ratings.aspects), sharey=True, figsize=(8, 2.6))
for ax, name, row, true in zip(axes, ratings.aspects, p, ranks[0], strict=True):
    ax.bar(range(1, 6), row, color=["C1" if rank == true else "C7" for rank in range(1, 6)])
    ax.set_title(name)
    ax.set_xticks(range(1, 6))
axes[0].set_ylabel("probability")
fig.suptitle("What the model expects; the guest's own score is coloured")

# %%
# Some scores are known
# ---------------------
# If the guest gave the whole a 5, what does that say about the rest? Known scores stay, and the others are inferred from the
# text and from them. A zero means: not known.

known = np.zeros((1, len(ratings.aspects)), dtype=int)
known[0, list(ratings.aspects).index("overall")] = 5
before, after = p @ np.arange(1, 6), model.predict_proba([texts[0]], known=known)[0] @ np.arange(1, 6)
for name, a, b in zip(ratings.aspects, before, after, strict=True):
    print(f"{name:8} expected rank {a:.2f}, given overall = 5: {b:.2f}")

# %%
# Which words did it?

print(model.explain(texts[0], aspect="food").head(6).round(3).to_string(index=False))

# %%
# How much the words say, and how much the other scores, differs from place to place: ``accord evaluate aspects PROJECT`` measures it on
# your own reviews.
