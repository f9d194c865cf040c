"""
Agreement: do people agree at all?
==================================

Before a model is fitted: is there something to be learnt? If two people who read the same text answer as differently as chance would have
it, no model can predict them. Agreement on a few texts says little about agreement on the next, so each figure has an interval.
"""

import matplotlib.pyplot as plt

from accord import open_example
from accord.workflows.agree import agree

(part,) = agree(open_example("arguments"))
print(part.what)
print(part.measures.round(2).to_string(index=False))

# %%
fig, ax = plt.subplots(figsize=(7, 2.6))
table = part.measures.iloc[::-1]
ax.errorbar(
    table["value"],
    table["measure"],
    xerr=[table["value"] - table["low"], table["high"] - table["value"]],
    fmt="o",
    capsize=3,
)
ax.axvline(0, color="0.6", ls="--")
ax.margins(y=0.2)
ax.set(xlim=(-0.2, 1.05), xlabel="agreement with its 95 % interval; 0 is chance, 1 is full agreement")

# %%
# Which people answer as most others do? Those at the bottom may have understood the question differently, or clicked at random.

people = part.people
print(people.head(12).round(2).to_string(index=False))

# %%
# The same on the command line: ``accord agree example:arguments``. What each measure means is on :doc:`the page on agreement
# </agreement>`.
