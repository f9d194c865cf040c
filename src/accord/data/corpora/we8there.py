"""we8there: restaurant reviews as counts of bigrams, with five ranks each (Taddy 2013; Mauá & Cozman 2009)."""

import numpy as np
import scipy.sparse as sp

from accord.data.aspects import AspectRatings
from accord.data.corpora.locate import Root, corpus_file, read_csv, read_lines
from accord.data.documents import Items
from accord.errors import InputError
from accord.typing import ObjectArray

__all__ = ["ASPECTS", "load", "terms"]

ASPECTS = ("food", "service", "value", "atmosphere", "overall")


def load(root: Root = None) -> AspectRatings:
    """Read the corpus: ranks 1 to 5, 0 where missing; ``items.features`` are counts, columns as :func:`terms` names.

    The rows are sorted by overall rank, 5 down to 1: shuffle them before any online training.
    """
    ratings = read_csv(corpus_file("we8there", "ratings.csv.gz", root), dtype={"review_id": str})
    counts = sp.csr_matrix(sp.load_npz(corpus_file("we8there", "counts.npz", root)))
    if counts.shape != (len(ratings), len(terms(root))):
        raise InputError(
            f"the counts of we8there must have a row a review and a column a term, ({len(ratings)}, "
            f"{len(terms(root))}); they are {counts.shape}. Get the corpus again."
        )
    items = Items(ratings["review_id"].to_numpy(object), features=counts)
    return AspectRatings(items, np.array(ASPECTS, dtype=object), ratings[list(ASPECTS)].to_numpy(np.int8))


def terms(root: Root = None) -> ObjectArray:
    """The stemmed bigrams that the columns of the counts stand for, shape (n_terms,)."""
    lines = [line.decode() for line in read_lines(corpus_file("we8there", "terms.txt", root))]
    return np.array(lines, dtype=object)
