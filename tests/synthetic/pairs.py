"""Votes between items with latent scores: unreliable voters, ties and position bias."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.special import ndtr

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.typing import BoolArray, FloatArray, IntArray
from synthetic.words import leaning_texts, numbered

__all__ = ["SyntheticVotes", "votes", "votes_csv"]


@dataclass(frozen=True, eq=False)
class SyntheticVotes:
    """Votes and the truth behind them.

    A reliable voter sees d = f(left) − f(right) + position_bias + ε, ε ~ N(0, 2), and votes for the left item if
    d > tie_width, for the right one if d < −tie_width, else ½. A random voter votes left or right by a fair coin.

    Attributes
    ----------
    comparisons : Comparisons
        With items that have texts, features and groups.
    scores : float array of shape (n_items,)
        f, with mean 0.
    reliable : bool array of shape (n_voters,)
        Whether each voter looks at the items.
    tie_width, position_bias : float
    """

    comparisons: Comparisons
    scores: FloatArray
    reliable: BoolArray
    tie_width: float
    position_bias: float

    def win_probability(self, left: IntArray, right: IntArray) -> FloatArray:
        """The chance that an unbiased reliable voter who must decide prefers ``left``: Φ((f(left) − f(right)) / √2)."""
        return np.asarray(ndtr((self.scores[left] - self.scores[right]) / np.sqrt(2.0)))


def votes(
    n_items: int = 100,
    n_votes: int = 1000,
    *,
    n_features: int = 8,
    n_relevant: int | None = None,
    function: Literal["linear", "smooth"] = "linear",
    spread: float = 1.5,
    n_voters: int = 20,
    random_share: float = 0.0,
    tie_width: float = 0.0,
    position_bias: float = 0.0,
    n_groups: int = 1,
    random_state: int = 0,
) -> SyntheticVotes:
    """Votes between random pairs of items of one group.

    Parameters
    ----------
    n_items, n_votes, n_voters, n_groups : int
    n_features, n_relevant : int
        Standard normal features, of which the first ``n_relevant`` (by default all) matter.
    function : {"linear", "smooth"}
        How scores depend on features: linearly, or as a draw of a Gaussian process with length-scale 3.
    spread : float
        The standard deviation of the scores, in units of a voter's noise on one item.
    random_share : float
        The share of voters, rounded, that vote at random; they come first.
    tie_width, position_bias : float
        See :class:`SyntheticVotes`.
    random_state : int
    """
    if n_items < 2 * n_groups:
        raise InputError(f"a group needs two items; {n_items} items do not fill {n_groups} groups. Use more items.")
    rng = np.random.default_rng(random_state)
    features = rng.normal(size=(n_items, n_features))
    relevant = features[:, : n_features if n_relevant is None else n_relevant]
    if function == "linear":
        scores = relevant @ rng.normal(size=relevant.shape[1])
    elif function == "smooth":
        # Random Fourier features of the squared exponential kernel [RR07].
        frequencies = rng.normal(size=(relevant.shape[1], 2000)) / 3.0
        waves = np.cos(relevant @ frequencies + rng.uniform(0.0, 2.0 * np.pi, 2000))
        scores = waves @ rng.normal(size=2000)
    else:
        raise InputError(f"the function is 'linear' or 'smooth'; this is {function!r}.")
    scores = spread * (scores - scores.mean()) / scores.std()
    group = np.arange(n_items) * n_groups // n_items
    left, right = _pairs_within(rng, group, n_groups, n_votes)
    voter = rng.integers(0, n_voters, n_votes)
    reliable = np.arange(n_voters) >= round(random_share * n_voters)
    seen = scores[left] - scores[right] + position_bias + rng.normal(scale=np.sqrt(2.0), size=n_votes)
    value = np.where(np.abs(seen) < tie_width, 0.5, (seen > 0).astype(np.float64))
    value = np.where(reliable[voter], value, rng.integers(0, 2, n_votes))
    items = Items(
        numbered("item", n_items),
        texts=leaning_texts(rng, ndtr(scores / spread)),
        features=features,
        groups=numbered("group", n_groups)[group],
    )
    record = Comparisons(items, left, right, value, voter, numbered("voter", n_voters))
    return SyntheticVotes(record, scores, reliable, tie_width, position_bias)


def _pairs_within(rng: np.random.Generator, group: IntArray, n_groups: int, n_votes: int) -> tuple[IntArray, IntArray]:
    """Two different items of one group a vote; groups are runs of items."""
    starts = np.searchsorted(group, np.arange(n_groups + 1))
    sizes = np.diff(starts)
    which = rng.integers(0, n_groups, n_votes)
    first = rng.integers(0, sizes[which])
    second = (first + rng.integers(1, sizes[which])) % sizes[which]
    return starts[which] + first, starts[which] + second


def votes_csv(
    path: str | os.PathLike[str],
    n_votes: int,
    *,
    n_items: int = 100_000,
    n_voters: int = 10_000,
    bad_row: int | None = None,
    block: int = 500_000,
    random_state: int = 0,
) -> Path:
    """Write votes to a CSV file block by block, so that any number fits: ``left,right,value,annotator_id``.

    Parameters
    ----------
    path : path
    n_votes, n_items, n_voters : int
    bad_row : int, optional
        This vote, counted from 1, compares an item with itself: for testing that bad files are refused.
    block : int
        Votes in memory at a time.
    random_state : int
    """
    rng = np.random.default_rng(random_state)
    scores = rng.normal(scale=1.5, size=n_items)
    items, voters = pa.array(numbered("item", n_items), pa.string()), pa.array(numbered("voter", n_voters), pa.string())
    schema = pa.schema(
        [("left", pa.string()), ("right", pa.string()), ("value", pa.float32()), ("annotator_id", pa.string())]
    )
    options = pa.csv.WriteOptions(quoting_style="none")
    with pa.csv.CSVWriter(Path(path), schema, write_options=options) as file:
        for start in range(0, n_votes, block):
            n = min(block, n_votes - start)
            left = rng.integers(0, n_items, n)
            right = (left + rng.integers(1, n_items, n)) % n_items
            seen = scores[left] - scores[right] + rng.normal(scale=np.sqrt(2.0), size=n)
            value = np.where(np.abs(seen) < 0.1, 0.5, (seen > 0).astype(np.float64)).astype(np.float32)
            if bad_row is not None and start < bad_row <= start + n:
                right[bad_row - 1 - start] = left[bad_row - 1 - start]
            columns = [items.take(left), items.take(right), value, voters.take(rng.integers(0, n_voters, n))]
            file.write_table(pa.table(columns, schema=schema))
    return Path(path)
