"""An order of linked texts by what they hold and what they are linked to, whatever texts, groups and labels are called.

Every text begins with a key of its words or features. In each round its key takes in the keys of its neighbours, of the
words around the links to them, of its group and of the texts of its label (the refinement of Weisfeiler and Leman).
"""

from dataclasses import replace

import numpy as np

from accord.fitting.content_order import group_codes, group_keys, label_keys, mixed, row_keys
from accord.links.features.words import LinkedTexts
from accord.texts.rows import text_keys
from accord.typing import IntArray

__all__ = ["in_own_order"]

# Rounds of refinement, and how many texts that are still alike get a place by themselves, one after the other.
_ROUNDS, _MOST_PLACED = 4, 25


def in_own_order(texts: LinkedTexts, codes: IntArray) -> LinkedTexts:
    """The same texts with an order, and names of groups, that do not depend on order and names.

    Parameters
    ----------
    texts : LinkedTexts
    codes : int array of shape (n_texts,)
        Labels; −1 where a text has none.
    """
    pairs = texts.pairs
    link = mixed(text_keys([""] * len(pairs.pair_of_link) if texts.contexts is None else texts.contexts))
    if texts.kinds is not None:
        link = mixed(link, text_keys(texts.kinds))
    weights = np.round(pairs.weights / max(float(pairs.weights.max(initial=0.0)), 1e-300), 9).view(np.uint64)
    first, second = pairs.ends[pairs.pair_of_link].T
    link = mixed(link, weights[pairs.pair_of_link])
    there, back = (mixed(link, way.astype(np.uint64)) for way in (pairs.forward, ~pairs.forward))
    into, out_of = np.concatenate([first, second]), np.concatenate([second, first])
    along = np.concatenate([there, back])

    def refined(keys: IntArray) -> IntArray:
        for _ in range(_ROUNDS):
            told = np.zeros(len(keys), dtype=np.uint64)
            np.add.at(told, into, mixed(keys[out_of], along))
            keys = mixed(keys, told, group_keys(texts.groups, keys), label_keys(codes, keys))
        return keys

    keys = refined(text_keys(texts.content) if texts.is_text else row_keys(texts.content))
    # Texts that are alike are not always alike together: once one of two equal pieces has the first of its texts in
    # front, all its other texts must stand in front too.
    labelled = np.flatnonzero(codes >= 0)
    for place in range(_MOST_PLACED):
        found, count = np.unique(keys[labelled], return_counts=True)
        if not (count > 1).any():
            break
        alike = labelled[keys[labelled] == found[np.argmax(count > 1)]]
        keys[alike[0]] = mixed(keys[alike[:1]], np.array([place], dtype=np.uint64))[0]
        keys = refined(keys)
    groups = group_codes(texts.groups, keys).astype(str).astype(object)
    return replace(texts, order=np.argsort(keys, kind="stable"), groups=groups)
