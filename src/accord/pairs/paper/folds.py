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
from accord.typing import BoolArray, FloatArray, ObjectArray

__all__ = ["FEATURES", "Fold", "classification", "errors", "ranking", "some_folds", "split"]

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
    feature_names: ObjectArray  # (n_features,)

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
    names: list[str] = []
    if texts is not None:
        written = corpus.items.texts if corpus.items.texts is not None else np.zeros(0, dtype=object)
        maker = ArgumentFeatures(features=texts).fit(written[training])
        matrix = maker.transform(written)
        groups.update({group: matrix[:, part] for group, part in maker.groups_.items()})
        names += maker.get_feature_names_out().tolist()
    for vector in vectors:
        groups[vector] = np.asarray(corpus.vectors[vector], dtype=np.float64)
        names += [f"{vector}[{k}]" for k in range(groups[vector].shape[1])]
    items = corpus.items.with_features(*hstack_groups(groups))
    return Fold(name, corpus, training, items, np.array(names, dtype=object))


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


def errors(fold: Fold, p: FloatArray) -> dict[str, float]:
    """How sure right and wrong answers are, and how much length alone decides.

    The entropies are means in bits, at most 1 for two outcomes. ``accuracy_longer`` is that on the gold votes that the
    longer text won, ``accuracy_shorter`` that on those which the shorter one won. A figure about nothing is left out.
    """
    truth, p = fold.test.value == 1.0, np.clip(p, 1e-9, 1.0 - 1e-9)
    right = (p > 0.5) == truth
    entropy = -(p * np.log2(p) + (1.0 - p) * np.log2(1.0 - p))
    written = fold.corpus.items.texts if fold.corpus.items.texts is not None else np.zeros(0, dtype=object)
    length = np.array([len(str(text)) for text in written])
    longer, shorter = (
        sign * (length[fold.test.left] - length[fold.test.right]) * np.where(truth, 1, -1) > 0 for sign in (1, -1)
    )
    parts = {
        "entropy_right": entropy[right],
        "entropy_wrong": entropy[~right],
        "accuracy_longer": right[longer],
        "accuracy_shorter": right[shorter],
    }
    return {name: float(np.mean(values)) for name, values in parts.items() if values.size}


def ranking(gold: FloatArray, score: FloatArray) -> dict[str, float]:
    """Correlations of scores with the gold ones; scores that are all alike have none."""
    if np.ptp(score) == 0.0:
        return {"pearson": 0.0, "spearman": 0.0, "kendall": 0.0}
    return {"pearson": pearson(gold, score), "spearman": spearman(gold, score), "kendall": kendall(gold, score)}
