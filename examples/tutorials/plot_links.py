"""
Links: who is for it, and who speaks for whom?
==============================================

A town council debates whether the café may put tables on the square. The speakers refer to each other: "Mr Abel is right",
"I cannot follow Mr Corin". A few positions are known. Who stands where?
"""

import numpy as np

from accord import CollectiveClassifier, open_example

project = open_example("cafe-statements")
items, links, labels = project.items(), project.links(), project.labels()
table = items.to_table()
labelled = np.flatnonzero([label is not None for label in labels])
print(
    f"{items.n_items} statements in {table['group_id'].nunique()} debates, {links.n_links} references, {len(labelled)} positions known"
)
print(table["text"].iloc[1])

# %%
# We hide every third of the known positions, and ask for them.

hidden = labelled[::3]
known = labels.copy()
known[hidden] = None

model = CollectiveClassifier().fit(table, known, links=links)
p = model.predict_proba(table, links=links, known=known)
predicted = model.classes_[p.argmax(axis=1)]
print(f"{np.mean(predicted[hidden] == labels[hidden]):.0%} of the {len(hidden)} hidden positions are right")

# %%
# The debate with the most references as a picture: who refers to whom, what is known (squares) and what is inferred (circles; the
# fuller the colour, the surer).

import matplotlib.pyplot as plt

group = dict(zip(items.ids, table["group_id"], strict=True))
busiest = table["group_id"].map({g: sum(group[s] == g for s in links.source) for g in set(group.values())}).idxmax()
rows = np.flatnonzero(table["group_id"] == table["group_id"][busiest])
angles = np.linspace(0, 2 * np.pi, len(rows), endpoint=False)
place = {items.ids[row]: (np.cos(a), np.sin(a)) for row, a in zip(rows, angles, strict=True)}
fig, ax = plt.subplots(figsize=(6, 5.6))
for source, target in zip(links.source, links.target, strict=True):
    if source in place and target in place:
        ax.annotate(
            "",
            place[target],
            place[source],
            arrowprops={"arrowstyle": "->", "color": "0.6", "shrinkA": 10, "shrinkB": 10},
        )
for row in rows:
    x, y = place[items.ids[row]]
    marker = "s" if known[row] is not None else "o"
    ax.scatter(
        x,
        y,
        c=[p[row, list(model.classes_).index("for")]],
        vmin=0,
        vmax=1,
        cmap="coolwarm_r",
        marker=marker,
        s=260,
        edgecolor="0.3",
    )
    ax.text(1.17 * x, 1.17 * y, items.ids[row], ha="center", va="center", fontsize=8)
ax.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35))
ax.set_axis_off()
ax.set_aspect("equal")
ax.set_title(f"{table['group_id'][busiest]}. Blue: for, red: against. Squares are known.")

# %%
# Why
# ---
# Words and links, in log-odds for the predicted label.

someone = items.ids[hidden[0]]
reasons = model.explain(someone, table, links=links, known=known)
print(someone, "is taken as", reasons.attrs.get("label", ""))
print(reasons.head(6).round(2).to_string(index=False))

# %%
# Links need not mean agreement: the model learns from the words around each link whether it speaks for equal labels.
