"""
Own embeddings: bring your own vectors
======================================

Any function from texts to vectors can be given as ``vectors=``: a sentence encoder, an interface to a service, or, as here, a tiny one made
from scikit-learn so that the example needs no download. A name or a folder of a model2vec or sentence-transformers model, or a file of word
vectors, works in the same place, and ``accord train KIND PROJECT --vectors ENCODER`` does the same on the command line.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from accord import CollectiveClassifier, open_example

project = open_example("cafe-statements")
table, links, labels = project.items().to_table(), project.links(), project.labels()

encoder = make_pipeline(TfidfVectorizer(sublinear_tf=True), TruncatedSVD(8, random_state=0)).fit(table["text"])


def vectors(texts):
    """One row a text."""
    return encoder.transform(list(texts))


# %%
# Give the function to the model.

known = np.where(np.arange(len(labels)) % 2 == 0, labels, None)
plain = CollectiveClassifier().fit(table, known, links=links)
model = CollectiveClassifier(vectors=vectors).fit(table, known, links=links)
for name, fitted in (("words", plain), ("words and vectors", model)):
    p = fitted.predict_proba(table, links=links, known=known)
    print(
        name,
        "→ mean probability of the label that a person gave:",
        f"{p[np.arange(len(labels)), np.searchsorted(fitted.classes_, labels.astype(str))].mean():.2f}",
    )

# %%
# What the vectors see: statements that lie close together use similar words. Whether that helps is a question for ``accord evaluate``,
# not for a picture.

xy = vectors(table["text"])[:, 1:3]
fig, ax = plt.subplots()
for label, colour in (("for", "C0"), ("against", "C3")):
    mask = labels == label
    ax.scatter(*xy[mask].T, color=colour, label=label)
ax.set(xlabel="second direction", ylabel="third direction", title="Statements by their vectors")
ax.legend()

# %%
# Vectors are expensive? :class:`accord.texts.vectors.CachedEncoder` keeps them on disk. Features that belong to *items* of pairs go in with
# ``Items(...).with_features(matrix)``.
