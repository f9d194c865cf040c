"""One fold of the argument experiments: a side of a debate left out, features made from the others' texts."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from accord.data.corpora.convarg import ConvArg
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.evaluation.metrics import (
    accuracy,
    auc,
    cross_entropy,
    expected_calibration_error,
    kendall,
    pearson,
    spearman,
)
from accord.pairs.feature_groups import hstack_groups
from accord.pairs.features import ArgumentFeatures
from accord.typing import BoolArray, FloatArray

__all__ = ["FEATURES", "Fold", "classification", "ranking", "some_folds", "split"]

# feature set → groups made from texts, vectors that come with the corpus
FEATURES: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "full": ("ext", ("minilm384", "glove100")),
    "base": ("base", ("minilm384",)),
    "ling": ("ling", ()),
    "glove": (None, ("glove100",)),
    "ling+glove": ("ling", ("glove100",)),
}


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold trains on and is tested on."""

    name: str
    corpus: ConvArg
    training: BoolArray  # (n_items,)
    items: Items  # all of them; vocabularies and scales come from the training items

    @property
    def training_items(self) -> Items:
        """The items that may be learnt from."""
        return self.items.subset(self.training)

    def train(self, votes: Comparisons) -> Comparisons:
        """The votes of the other folds, on the training items."""
        return _between(votes, self.training_items, self.training)

    @property
    def test(self) -> Comparisons:
        """The gold votes of this fold."""
        return self.corpus.strict.subset(~self.training[self.corpus.strict.left])

    @property
    def test_items(self) -> Items:
        """The items of this fold."""
        return self.items.subset(~self.training)

    @property
    def gold(self) -> FloatArray:
        """Gold convincingness of the fold's items: PageRank turned round, since lower is more convincing there."""
        return -np.asarray(self.corpus.pagerank)[~self.training]


def _between(votes: Comparisons, items: Items, kept: BoolArray) -> Comparisons:
    """The votes between the items that are kept, which are ``items``."""
    inside = votes.subset(kept[votes.left])
    place = np.cumsum(kept) - 1
    return Comparisons(
        items,
        place[inside.left].astype(np.int32),
        place[inside.right].astype(np.int32),
        inside.value,
        inside.annotator,
        inside.annotators,
    )


def some_folds(corpus: ConvArg, names: Collection[str]) -> ConvArg:
    """The corpus of some folds only, as if there were no others."""
    kept = np.isin(corpus.folds.astype(str), list(names))
    items = corpus.items.subset(kept)
    return replace(
        corpus,
        items=items,
        topics=corpus.topics[kept],
        stances=corpus.stances[kept],
        folds=corpus.folds[kept],
        strict=_between(corpus.strict, items, kept),
        all=_between(corpus.all, items, kept),
        crowdsample=_between(corpus.crowdsample, items, kept),
        crowd_full=_between(corpus.crowd_full, items, kept),
        pagerank=corpus.pagerank[kept],
        vectors={name: values[kept] for name, values in corpus.vectors.items()},
    )


def split(corpus: ConvArg, name: str, features: str = "full") -> Fold:
    """The fold ``name`` with one of the feature sets."""
    training = corpus.folds != name
    texts, vectors = FEATURES[features]
    groups: dict[str, FloatArray | sp.csr_array] = {}
    if texts is not None:
        written = corpus.items.texts if corpus.items.texts is not None else np.zeros(0, dtype=object)
        maker = ArgumentFeatures(features=texts).fit(written[training])
        matrix = maker.transform(written)
        groups.update({group: matrix[:, part] for group, part in maker.groups_.items()})
    for vector in vectors:
        groups[vector] = np.asarray(corpus.vectors[vector], dtype=np.float64)
    return Fold(name, corpus, training, corpus.items.with_features(*hstack_groups(groups)))


def classification(truth: FloatArray, p: FloatArray) -> dict[str, float]:
    """Accuracy, AUC, cross-entropy and calibration error of probabilities that left wins; a half is half right."""
    p = np.clip(p, 1e-9, 1.0 - 1e-9)
    decided = p != 0.5
    right = accuracy(truth[decided] == 1.0, p[decided] > 0.5) if decided.any() else 0.0
    return {
        "accuracy": float(right * decided.mean() + 0.5 * (1.0 - decided.mean())),
        "auc": auc(truth, p),
        "cee": cross_entropy(truth, p),
        "ece": expected_calibration_error(truth, p),
    }


def ranking(gold: FloatArray, score: FloatArray) -> dict[str, float]:
    """Correlations of scores with the gold ones; scores that are all alike have none."""
    if np.ptp(score) == 0.0:
        return {"pearson": 0.0, "spearman": 0.0, "kendall": 0.0}
    return {"pearson": pearson(gold, score), "spearman": spearman(gold, score), "kendall": kendall(gold, score)}
