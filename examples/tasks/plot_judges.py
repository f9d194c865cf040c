"""
Judges: can I trust language models that judge?
===============================================

Votes of language models are cheap and many, and they have biases: they like the longer answer, or the one on the left. A ranking of all
votes follows whoever votes most. ``AnchoredRanker`` keeps people as the anchor: it learns what each judge sees of what people prefer, and
what else moves it. The example has 180 votes of five people and 900 of two judges.
"""

import matplotlib.pyplot as plt

from accord import AnchoredRanker, BradleyTerryRanker, open_example

project = open_example("answers")
votes = project.comparisons()
table = votes.to_table()
ranker = AnchoredRanker().fit(
    *votes.xy(),
    items=votes.items,
    annotator=table["annotator_id"],
    judges=project.judges(),
    shown_left=table["shown_left_id"],
)

# %%
# How much of what people prefer each judge sees (1 is all of it), whether the ranking uses it, and what else moves it. ``slope`` is
# how much a judge prefers the text that is longer, or stands on the left.

print(
    ranker.judges_[["annotator", "n_votes", "used", "share", "share_low", "share_high"]].round(2).to_string(index=False)
)
print(ranker.slopes_.round(2).to_string(index=False))

# %%
# What it changes. With all votes taken alike, longer answers are pushed up; with people as the anchor they are not.

alike = BradleyTerryRanker().fit(*votes.xy(), items=votes.items).rank().set_index("item_id")
anchored = ranker.rank().set_index("item_id")
length = dict(zip(votes.items.ids, (len(text.split()) for text in votes.items.texts), strict=True))
moved = (alike["rank"] - anchored["rank"]).rename("moved")
words = [length[one] for one in moved.index]

fig, ax = plt.subplots(figsize=(7, 3.6))
ax.scatter(words, -moved)
ax.axhline(0, color="0.7", zorder=0)
ax.set(xlabel="words of the answer", ylabel="places gained by counting\njudges like people")

# %%
# On the command line: ``accord import votes.csv texts.csv --annotators annotators.csv --out PROJECT``, where the third table says who is a
# judge, then ``accord rank PROJECT``. :doc:`/judges` has the model and how well it holds.
