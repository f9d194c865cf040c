"""What a fitted ranker of pairs answers: probabilities, rankings, questions, explanations."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.errors import InputError
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.process.kernel_design import parameter_table
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.scorer import Scorer
from accord.pairs.questions import STRATEGIES, candidate_pairs, pick_pairs, transfer
from accord.pairs.ranking import rank_columns
from accord.pairs.reasons import feature_shares, neighbour_shares, term_shares
from accord.typing import FloatArray, IntArray

__all__ = ["PairAnswers"]

_OTHER_PAIRS = 200


class PairAnswers:
    """Answers from a posterior over scores; what fits the posterior inherits from it and sets the attributes below."""

    ties: str
    random_state: int | None
    items_: Items
    kernel_: Kernel
    theta_: FloatArray
    scorer_: Scorer
    likelihood_: Preference
    features_: Any
    _comparisons: Comparisons
    _groups: FeatureGroups | None
    _errors: dict[str, float]
    _streamed: IntArray | None = None  # votes of each item, where the votes themselves are not kept

    def _inputs(self, items: Items) -> Inputs:
        place = self._index
        index = np.array([place.get(name, -1) for name in items.ids], dtype=np.int64)
        if self._groups is None:
            return Inputs((), index)
        if items.features is None and self.features_ is not None:
            items = self.features_.items(items)
        if items.features is None:
            raise InputError("the model was fitted to items with features; these have none. Compute the same features.")
        return Inputs(self._groups.parts(items.features), index)

    @property
    def _index(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.items_.ids)}

    def _feature_names(self, part: int) -> list[str]:
        groups = self._groups
        if groups is None:
            return []
        if self.features_ is not None:
            return list(self.features_.get_feature_names_out()[groups.starts[part] : groups.stops[part]])
        return [f"{groups.names[part]}[{k}]" for k in range(groups.stops[part] - groups.starts[part])]

    @property
    def hyperparameters_(self) -> pd.DataFrame:
        """Variances and length-scales in their own units: ``term, group, parameter, value``."""
        check_is_fitted(self)
        return pd.DataFrame(parameter_table(self.kernel_, self.theta_, self._groups.names if self._groups else ()))

    @property
    def feature_groups_(self) -> tuple[str, ...]:
        """Names of the groups of features, in the order of the kernel's."""
        check_is_fitted(self)
        return self._groups.names if self._groups else ()

    @property
    def classes_(self) -> FloatArray:
        """The answers that columns of :meth:`predict_proba` stand for."""
        check_is_fitted(self)
        return np.array([0.0, 1.0] if self.ties == "half" else [0.0, 0.5, 1.0])

    @property
    def annotators_(self) -> pd.DataFrame | None:
        """Voters, the most reliable first: ``annotator, n_votes, error``; None unless reliability was learnt."""
        check_is_fitted(self)
        given = self._comparisons
        if not self._errors or given.annotator is None or given.annotators is None:
            return None
        n_votes = np.bincount(given.annotator[given.annotator >= 0], minlength=len(given.annotators))
        error = [self._errors[name] for name in given.annotators]
        table = pd.DataFrame({"annotator": given.annotators, "n_votes": n_votes, "error": error})
        return table.sort_values("error", kind="stable", ignore_index=True)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scorer_")

    def _pairs(self, X: Any, items: Items | None) -> tuple[Inputs, IntArray, IntArray]:
        check_is_fitted(self)
        items, pairs = items or self.items_, pair_frame(X)
        left = items.positions(pairs["left"].to_numpy(object), what="left item")
        right = items.positions(pairs["right"].to_numpy(object), what="right item")
        used, place = np.unique(np.concatenate([left, right]), return_inverse=True)
        return self._inputs(items.subset(used)), place[: left.size], place[left.size :]

    def decision_function(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """Expected difference of the two scores, shape (n_pairs,); positive where left is better."""
        x, left, right = self._pairs(X, items)
        score = self.scorer_.score(x)
        return score[left] - score[right]

    def predict(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """The likeliest answer of each pair, shape (n_pairs,): 1 left, 0 right, ½ undecided (with a margin only)."""
        return self.classes_[np.argmax(self.predict_proba(X, items=items), axis=1)]

    def predict_proba(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """Probability of each answer in ``classes_``, the scores integrated out, shape (n_pairs, n_classes)."""
        x, left, right = self._pairs(X, items)
        mean, variance = self.scorer_.differences(x, left, right)
        p = self.likelihood_.probability(mean, variance)[:, ::-1]
        return p if self.ties == "margin" else p[:, [0, 2]]

    def predict_std(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """Standard deviation of the difference of the two scores, shape (n_pairs,)."""
        x, left, right = self._pairs(X, items)
        return np.sqrt(self.scorer_.differences(x, left, right)[1])

    def score_items(self, items: Items | None = None) -> FloatArray:
        """Posterior mean of every item's score, shape (n_items,)."""
        check_is_fitted(self)
        return self.scorer_.score(self._inputs(items or self.items_))

    def rank(
        self, items: Items | None = None, *, level: float = 0.9, settled: float = 0.95, n_draws: int = 1000
    ) -> pd.DataFrame:
        """The ranking, best first.

        Columns: ``rank, tier, item_id, score, std, low, high, rank_low, rank_high, p_best, n_votes``.

        Intervals hold with probability ``level``. Items whose order is not settled share a tier: it ends where an item
        is worse than the tier's first with a probability of at least ``settled``.
        """
        check_is_fitted(self)
        items = items or self.items_
        x = self._inputs(items)
        rng = np.random.default_rng(self.random_state)
        order, columns = rank_columns(
            self.scorer_.score(x), self.scorer_.covariance(x), level=level, settled=settled, n_draws=n_draws, rng=rng
        )
        table = pd.DataFrame(columns)
        table.insert(2, "item_id", items.ids[order])
        votes, n_votes = self._comparisons, self._streamed
        if n_votes is None:
            n_votes = np.bincount(np.concatenate([votes.left, votes.right]), minlength=self.items_.n_items)
        table["n_votes"] = np.append(n_votes, 0)[x.index[order]]  # an item that was not fitted to reads the zero
        return table

    def ask(
        self, n: int = 10, *, strategy: str = "bald", candidates: Any = None, max_candidates: int = 50_000
    ) -> pd.DataFrame:
        """The ``n`` pairs most worth asking about, best first: ``left, right, gain, p_left``.

        Parameters
        ----------
        n : int
        strategy : {"bald", "uncertainty", "transfer"}
            Information about the two scores; entropy of the answer; or information about the answers to pairs of other
            groups (to other pairs, where items have no groups), which is what counts when new texts are to be ranked.
            In nats.
        candidates : table with ``left`` and ``right``, optional
            By default all pairs of items, inside one group where items have groups; at most ``max_candidates`` of them,
            drawn at random.
        """
        check_is_fitted(self)
        if strategy not in (*STRATEGIES, "transfer"):
            raise InputError(f"strategy must be one of {', '.join(STRATEGIES)}, transfer; got {strategy!r}.")
        if candidates is None:
            rng = np.random.default_rng(self.random_state)
            groups = None if self.items_.groups is None else pd.factorize(self.items_.groups)[0]
            a, b = candidate_pairs(self.items_.n_items, groups, max_candidates, rng)
            candidates = pd.DataFrame({"left": self.items_.ids[a], "right": self.items_.ids[b]})
        pairs = pair_frame(candidates)
        x, left, right = self._pairs(pairs, None)
        mean, variance = self.scorer_.differences(x, left, right)
        if strategy == "transfer":
            gain = self._transfer(x, left, right, mean, variance)
        else:
            gain = STRATEGIES[strategy](mean, variance)
        chosen = pick_pairs(gain, left, right, n)
        table = pairs.iloc[chosen].reset_index(drop=True)
        return table.assign(gain=gain[chosen], p_left=self.likelihood_.probability(mean, variance)[chosen, 0])

    def _transfer(
        self, x: Inputs, left: IntArray, right: IntArray, mean: FloatArray, variance: FloatArray
    ) -> FloatArray:
        """Information of each pair's answer about those to some pairs of other groups."""
        some = np.random.default_rng(self.random_state).permutation(left.size)[:_OTHER_PAIRS]
        covariance = self.scorer_.shared(x, left, right, (left[some], right[some]))
        if self.items_.groups is None:
            covariance[some, np.arange(some.size)] = 0.0
        else:
            groups = pd.factorize(self.items_.groups)[0][x.index]
            covariance[groups[left][:, None] == groups[left[some]]] = 0.0
        return transfer(mean, variance, mean[some], variance[some], covariance)

    def explain(self, item: str, other: str | None = None, *, items: Items | None = None, n: int = 10) -> pd.DataFrame:
        """Why an item scores as it does, or why it beats another: ``kind, name, share``, strongest first in each kind.

        ``term`` rows add up to the score (or the difference of scores); ``feature`` rows split the linear terms;
        ``item`` rows are the training items that the score leans on.
        """
        check_is_fitted(self)
        items = items or self.items_
        names = [item] if other is None else [item, other]
        x = self._inputs(items.subset(items.positions(names)))
        sign = np.array([1.0, -1.0])[: len(names)]
        groups = self._groups.names if self._groups else ()
        labels = [":".join([*(groups[f.part] for f in term.factors), term.name]) for term in self.kernel_.terms]
        tables = [("term", labels, sign @ term_shares(self.scorer_, x))]
        for part, shares in feature_shares(self.scorer_, x).items():
            tables.append(("feature", self._feature_names(part), sign @ shares))
        known = self.scorer_.points.index
        if (known >= 0).all():
            tables.append(("item", list(self.items_.ids[known]), sign @ neighbour_shares(self.scorer_, x)))
        rows = [pd.DataFrame({"kind": kind, "name": name, "share": share}) for kind, name, share in tables]
        table = pd.concat(rows, ignore_index=True)
        table = table[table["share"] != 0.0]
        strongest = table.sort_values("share", key=np.abs, ascending=False, kind="stable").groupby("kind", sort=False)
        limit = {"term": len(labels)}
        kept = pd.concat([part.head(limit.get(str(kind), n)) for kind, part in strongest])
        order = {"term": 0, "feature": 1, "item": 2}
        return kept.sort_values("kind", key=lambda kind: kind.map(order), kind="stable", ignore_index=True)
