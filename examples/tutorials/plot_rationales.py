"""
Rationales: a label, and the words behind it
============================================

Two people read short notes about cafés. They said whether a note is positive or negative, and highlighted the words that made them
think so. Highlights cost a few seconds and tell much more than the label alone. The model learns from both, and highlights new texts.
"""

import numpy as np

from accord import RationaleClassifier, open_example

project = open_example("cafe-notes")
items, labels, marks = project.items(), project.labels(), project.rationales()
texts = items.texts
print(f"{items.n_items} notes, {marks.n_spans} highlights")
print(labels[0], "|", texts[0])
print("highlighted:", [texts[0][start:end] for start, end in marks.per_item()[0]])

# %%
# Fit on the notes that have a label, except the last four of them. The spans of a text are lists of (start, end).

has_label = np.flatnonzero([label is not None for label in labels])
train, test = has_label[:-4], has_label[-4:]
spans = [[tuple(span) for span in one] for one in marks.per_item()]
model = RationaleClassifier().fit(texts[train], labels[train], rationales=[spans[row] for row in train])
for row, label in zip(test, model.predict(texts[test]), strict=True):
    print(f"{label} (a person said {labels[row]})  {texts[row][:80]}")

# %%
# What would a reader highlight? The probability of each word, drawn as the darkness of its mark.

import matplotlib.pyplot as plt

text = texts[test[-1]]
found = model.predict_rationales([text])[0]
reasons = model.explain(text)
words = reasons[reasons["start"].notna() & reasons["p_highlight"].notna()].sort_values("start")

fig, ax = plt.subplots(figsize=(7.5, 2.2))
x = y = 0.0
chance = {int(row.start): float(row.p_highlight) for row in words.itertuples()}
start = 0
for word in text.split():
    start = text.index(word, start)
    width = 0.0135 * len(word)
    if x + width > 1:
        x, y = 0.0, y - 1
    ax.text(
        x,
        y,
        word,
        family="monospace",
        fontsize=10,
        bbox={"facecolor": (1.0, 0.75, 0.1, min(1.0, chance.get(start, 0.0))), "edgecolor": "none", "pad": 1.5},
    )
    x += width + 0.0135
    start += len(word)
ax.set(xlim=(0, 1), ylim=(y - 0.8, 1))
ax.set_axis_off()
ax.set_title(f"predicted: {model.predict([text])[0]}; the stronger the mark, the likelier a highlight")

# %%
print("predicted spans:", [text[a:b] for a, b, *_ in found.spans])

# %%
# What each word adds to the label:

print(reasons.head(6)[["reason", "effect", "kind", "p_highlight"]].round(2).to_string(index=False))

# %%
# Without highlights the same class learns from labels alone. Which is better on your notes, and by how much, is what
# ``accord evaluate rationales PROJECT`` measures: it leaves the highlights out in one of its rows.

alone = RationaleClassifier().fit(texts[train], labels[train])
print("labels alone:", np.asarray(alone.predict(texts[test])).tolist())
