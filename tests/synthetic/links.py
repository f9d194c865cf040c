"""Texts that cite each other, mostly those of their own side, in words that say so."""

from dataclasses import dataclass

import numpy as np

from accord.data.documents import Items
from accord.data.links import Links
from accord.errors import InputError
from accord.typing import BoolArray, ObjectArray
from synthetic.words import leaning_texts, numbered

__all__ = ["SyntheticLinks", "linked_texts"]


@dataclass(frozen=True, eq=False)
class SyntheticLinks:
    """Linked texts and the truth behind them.

    Labels are fair coins. Each word of a text comes from its label's half of the vocabulary with chance
    ½ + content_signal / 2. A link joins two texts of one group; with chance ``same_share`` the two have equal labels.
    Each word of its context comes from the half that says which with chance ½ + context_signal / 2.

    Attributes
    ----------
    items : Items
        With texts and groups.
    labels : array of shape (n_items,)
        ``Y`` or ``N``.
    links : Links
        With contexts.
    same : bool array of shape (n_links,)
        Whether the two ends have equal labels.
    """

    items: Items
    labels: ObjectArray
    links: Links
    same: BoolArray


def linked_texts(
    n_groups: int = 10,
    n_per_group: int = 20,
    *,
    links_per_text: float = 1.5,
    same_share: float = 0.8,
    content_signal: float = 0.3,
    context_signal: float = 0.4,
    n_words: int = 20,
    random_state: int = 0,
) -> SyntheticLinks:
    """Groups (debates) of texts with links inside each.

    Parameters
    ----------
    n_groups, n_per_group : int
        At least four texts a group, so that both sides have two.
    links_per_text : float
        Links for each text, on average.
    same_share, content_signal, context_signal : float
        In [0, 1]; see :class:`SyntheticLinks`.
    n_words, random_state : int
    """
    if n_per_group < 4:
        raise InputError(f"a group needs four texts for links of both kinds; n_per_group is {n_per_group}.")
    rng = np.random.default_rng(random_state)
    n = n_groups * n_per_group
    group = np.repeat(np.arange(n_groups), n_per_group)
    side = rng.integers(0, 2, n)
    for g in range(n_groups):  # two texts of each side in each group
        side[g * n_per_group : g * n_per_group + 4] = rng.permutation([0, 0, 1, 1])
    n_links = round(links_per_text * n)
    source = rng.integers(0, n, n_links)
    same = rng.random(n_links) < same_share
    target = np.empty(n_links, dtype=np.int64)
    for row, (s, equal) in enumerate(zip(source, same, strict=True)):
        others = np.flatnonzero((group == group[s]) & ((side == side[s]) == equal))
        target[row] = rng.choice(others[others != s])
    ids = numbered("text", n)
    items = Items(
        ids,
        texts=leaning_texts(rng, 0.5 + content_signal * (side - 0.5), n_words=n_words),
        groups=numbered("group", n_groups)[group],
    )
    contexts = leaning_texts(rng, 0.5 + context_signal * (same - 0.5), n_words=n_words, prefix="c")
    links = Links(ids[source], ids[target], kinds=np.full(n_links, "citation", dtype=object), contexts=contexts)
    return SyntheticLinks(items, np.where(side == 1, "Y", "N").astype(object), links, same)
