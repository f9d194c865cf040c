"""
Evaluation: is it better than something simple, on my data?
===========================================================

Accuracy on somebody else's corpus says little about yours. ``evaluate`` leaves out whole threads (texts, pairs), trains on the rest, and
compares the model with its own parts taken one by one and with what people would pick instead, on the same folds. It also says whether more
judgements would help.
"""

import matplotlib.pyplot as plt

from accord import open_example
from accord.workflows.evaluate import evaluate

result = evaluate(open_example("arguments"))
print(result.sentence)
print(result.rows.round(3).to_string(index=False))

# %%
# Figures with their 95 % intervals, from drawing the groups again.

metric = result.rows["metric"].iloc[0]
rows = result.rows[result.rows["metric"] == metric].iloc[::-1]
fig, ax = plt.subplots(figsize=(7, 2.4))
ax.errorbar(
    rows["value"], rows["method"], xerr=[rows["value"] - rows["low"], rows["high"] - rows["value"]], fmt="o", capsize=3
)
ax.margins(y=0.15)
ax.set(xlabel=f"{metric} on pairs that were left out", title=f"{result.n_judgements} judgements")

# %%
# Would more judgements help? The learning curve; and does a probability of 80 % come true eight times in ten? The calibration.

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2))
curve = result.curve[result.curve["metric"] == metric]
left.errorbar(
    curve["n"],
    curve["value"],
    yerr=[curve["value"] - curve["low"], curve["high"] - curve["value"]],
    marker="o",
    capsize=3,
)
left.set(xlabel="judgements to learn from", ylabel=metric, title="learning curve")
right.plot([0, 1], [0, 1], color="0.7", ls="--")
right.scatter(result.calibration["predicted"], result.calibration["right"], s=4 * result.calibration["n"] ** 0.5 + 8)
right.set(xlabel="probability said", ylabel="share that was right", title="calibration", xlim=(0, 1.02), ylim=(0, 1.02))

# %%
# ``accord evaluate pairs PROJECT --report page.html`` writes the same as a page.
