"""Experiment 1 of [SG18]: four small graphs of votes, and what is made of them."""

from dataclasses import dataclass

import numpy as np

from accord.data.corpora.convarg import ConvArg
from accord.data.documents import Items
from accord.pairs import PreferenceRanker
from accord.pairs.baselines import PageRankRanker, PairSupportVectorClassifier
from accord.typing import FloatArray

__all__ = ["GRAPHS", "ToyResult", "simulate_graph"]

# name → winner, loser, and 1, or ½ where undecided. In the first, item 0 beats 1 and 2, as section 6.3 has it.
_CHAIN = ((0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (3, 4, 1.0))
GRAPHS: dict[str, tuple[tuple[int, int, float], ...]] = {
    "no cycle": _CHAIN,
    "single cycle": ((0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (3, 4, 1.0), (3, 4, 1.0)),
    "double cycle": ((0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0), (0, 3, 1.0), (3, 2, 1.0)),
    "9 undecided": (*_CHAIN, *(((2, 0, 0.5),) * 9)),
}


@dataclass(frozen=True, eq=False)
class ToyResult:
    """Means over the repeats."""

    scores: FloatArray  # (n_items,) by our ranker
    spreads: FloatArray  # (n_items,) standard deviations of the scores
    pagerank: FloatArray  # (n_items,)
    probabilities: FloatArray  # (n_items, n_items) that the row's item beats the column's
    svm: FloatArray  # (n_items, n_items) the same by the support vector machine


def simulate_graph(corpus: ConvArg, name: str, *, n_repeats: int = 25, random_state: int = 0) -> ToyResult:
    """Fit the votes of one graph to arguments drawn from one fold, described by their mean word vectors."""
    left, right, value = (np.array(column) for column in zip(*GRAPHS[name], strict=True))
    n = int(max(left.max(), right.max())) + 1
    ids = np.array([f"arg{k}" for k in range(n)], dtype=object)
    X, y = np.column_stack([ids[left], ids[right]]), value.astype(np.float64)
    everyone = np.column_stack([np.repeat(ids, n), np.tile(ids, n)])
    rng = np.random.default_rng(random_state)
    fold = np.flatnonzero(corpus.folds == np.unique(corpus.folds)[0])
    found = []
    for _ in range(n_repeats):
        vectors = np.asarray(corpus.vectors["glove100"][rng.permutation(fold)[:n]], dtype=np.float64)
        items = Items(ids, features=vectors)
        ranker = PreferenceRanker(length_scales="base").fit(X, y, items=items)
        table = ranker.rank().set_index("item_id").loc[ids]
        pagerank = PageRankRanker().fit(X, y, items=items)
        svm = PairSupportVectorClassifier().fit(X, y, items=items)
        found.append(
            (
                table["score"].to_numpy(float),
                table["std"].to_numpy(float),
                np.exp(pagerank.scores_),
                ranker.predict_proba(everyone)[:, 1].reshape(n, n),
                svm.predict_proba(everyone, items=items)[:, 1].reshape(n, n),
            )
        )
    return ToyResult(*(np.mean(column, axis=0) for column in zip(*found, strict=True)))
