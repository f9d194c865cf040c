"""Rankings as comparisons: best–worst choices, the first few of many, and whole orders."""

from collections.abc import Sequence
from itertools import combinations

__all__ = ["LONGEST_RANKING", "comparisons_of"]

LONGEST_RANKING = 100  # texts; n texts in order imply n (n − 1) / 2 comparisons


def comparisons_of(tiers: Sequence[Sequence[str]], *, ties: bool = False) -> list[tuple[str, str, str]]:
    """The comparisons that a ranking implies, each as (left, right, value).

    Every text of a tier beats every text of the tiers below it. A whole order is a text a tier. A best–worst choice is
    the best, all between, the worst. The first k of many are k tiers of one text and a last one of all the others.
    The comparisons of one ranking are not independent: three texts in order imply three of them.

    Parameters
    ----------
    tiers : sequence of sequences of str
        Ids, the best tier first.
    ties : bool
        Whether texts of one tier were judged equal (value ½); otherwise nothing is said about them.

    Examples
    --------
    >>> comparisons_of([["tea"], ["coffee", "water"]])
    [('tea', 'coffee', '1'), ('tea', 'water', '1')]
    """
    pairs = [(better, worse, "1") for above, below in combinations(tiers, 2) for better in above for worse in below]
    if ties:
        pairs += [(one, other, "0.5") for tier in tiers for one, other in combinations(tier, 2)]
    return pairs
