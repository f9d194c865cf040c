"""TripAdvisor hotel reviews: texts with six ranks each (from the data of Wang, Lu & Zhai 2010)."""

from dataclasses import dataclass

import numpy as np

from accord.data.aspects import AspectRatings
from accord.data.columns import frozen
from accord.data.corpora.locate import Root, corpus_file, read_json_lines
from accord.data.documents import Items
from accord.errors import InputError
from accord.typing import ObjectArray

__all__ = ["ASPECTS", "MultiAspect", "load"]

ASPECTS = ("service", "cleanliness", "value", "rooms", "location", "overall")


@dataclass(frozen=True, eq=False)
class MultiAspect:
    """The corpus, in file order, which is random.

    Attributes
    ----------
    ratings : AspectRatings
        12,000 reviews; none of their six ranks is missing. The group of an item is its hotel; ``meta`` has ``year``.
    split : array of shape (n_items,)
        ``train``, ``dev`` or ``test``, random over reviews: hotels recur across the splits.
    """

    ratings: AspectRatings
    split: ObjectArray

    def part(self, split: str, n: int | None = None) -> AspectRatings:
        """The first ``n`` reviews of a split, or all of them."""
        if split not in set(self.split):
            raise InputError(f"a split is one of {', '.join(sorted(set(self.split)))}; this is {split!r}.")
        return self.ratings.subset(np.flatnonzero(self.split == split)[:n])


def load(root: Root = None) -> MultiAspect:
    """Read the corpus.

    Parameters
    ----------
    root : path, optional
        The folder that holds ``multiaspect``; see :func:`~accord.data.corpora.locate.search_path`.
    """
    reviews = read_json_lines(corpus_file("multiaspect", "reviews.jsonl.gz", root))
    items = Items(
        np.array([review["id"] for review in reviews], dtype=object),
        texts=np.array([review["text"] for review in reviews], dtype=object),
        groups=np.array([review["hotel"] for review in reviews], dtype=object),
        meta={"year": np.array([review["year"] or 0 for review in reviews], dtype=np.int64)},
    )
    ranks = np.array([[review["aspects"][aspect] for aspect in ASPECTS] for review in reviews], dtype=np.int8)
    return MultiAspect(
        AspectRatings(items, np.array(ASPECTS, dtype=object), ranks),
        frozen(np.array([review["split"] for review in reviews], dtype=object)),
    )
