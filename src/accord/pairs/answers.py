"""What a fitted ranker of pairs answers: probabilities, rankings, questions, explanations."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.data.vote_order import votes_of_voters
from accord.errors import InputError
from accord.fitting.workers import is_whole
from accord.pairs.decided import share_right
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.item_order import content_order
from accord.pairs.process.kernel_design import parameter_table
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import Posterior, Votes
from accord.pairs.process.sampling import Draws, draw_posterior
from accord.pairs.process.scorer import Scorer
from accord.pairs.process.sparse import SparseScorer
from accord.pairs.process.vote_counts import SiteMemory
from accord.pairs.questions import STRATEGIES, candidate_pairs, pick_pairs, transfer
from accord.pairs.ranking import rank_columns
from accord.pairs.reasons import feature_shares, neighbour_shares, term_shares
from accord.pairs.stability import GroupState, Stability, stability
from accord.pairs.voters import PLAIN, RATES, Habits, Voters, majority_answer, rate_intervals
from accord.typing import FloatArray, IntArray

__all__ = ["PairAnswers"]

_OTHER_PAIRS = 200
# Everything that is learnt is drawn together where there are at most so many items with votes and distinct votes.
_MOST_SAMPLED, _MOST_ROWS = 256, 4_000
# A ranking holds at most so many drawn scores at once; of very many items fewer draws are made, but at least so many.
_MOST_DRAWN, _FEWEST_DRAWS = 15_000_000, 50
# The fewer items, the more draws are made by default, from the first to the second number: so many scores in all.
_DRAWS, _MOST_DRAWS, _DRAWN = 1_500, 8_000, 320_000
_LEVEL = 0.9


class PairAnswers:
    """Answers from a posterior over scores; what fits the posterior inherits from it and sets the attributes below."""

    ties: str
    inference: str
    length_scales: str
    shrinkage: tuple[float, float]
    random_state: int | None
    items_: Items
    kernel_: Kernel
    theta_: FloatArray
    scorer_: Scorer | SparseScorer
    likelihood_: Preference
    features_: Any
    hyperparameters: Any
    bound_: float
    variance_multiplier_: float
    _comparisons: Comparisons
    _item_order: IntArray | None = None
    _id_order: IntArray | None = None  # of models that were saved when items were taken by id
    _groups: FeatureGroups | None
    _given_marks: dict[str, float]
    _voted: IntArray
    _posterior: Posterior
    _votes: Votes
    _people: Voters | None = None
    _beliefs: dict[str, FloatArray]
    _habits: Habits = PLAIN
    _memory: SiteMemory
    _sampled: Draws | None = None
    _margin: bool
    _learns_bias: bool
    _learns_voters: bool
    _n_added: int
    _streamed: IntArray | None = None  # votes of each item, where the votes themselves are not kept

    def _inputs(self, items: Items) -> Inputs:
        index = self._positions(items)
        if self._groups is None:
            return Inputs((), index)
        if items.features is None and self.features_ is not None:
            items = self.features_.items(items)
        if items.features is None:
            raise InputError("the model was fitted to items with features; these have none. Compute the same features.")
        return Inputs(self._groups.parts(items.features), index)

    @property
    def _index(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.items_.ids[self._order])}

    @property
    def _order(self) -> IntArray:
        """Positions of the items in the order in which everything is learnt."""
        order = self._id_order if self._item_order is None else self._item_order
        return np.arange(self.items_.n_items) if order is None else order  # the oldest models: as they were given

    def _sorted_items(self) -> Items:
        """The items in the order in which everything is learnt."""
        if bool((self._order[:-1] < self._order[1:]).all()):
            return self.items_
        return self.items_.subset(self._order)

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
        return np.array([0.0, 0.5, 1.0] if self._margin else [0.0, 1.0])

    @property
    def annotators_(self) -> pd.DataFrame | None:
        """Voters, the most reliable first; None unless their rates of random answers were learnt.

        ``annotator, n_votes, error, low, high``: the expected rate and its 90 % interval; where it is known which item
        was shown on the left, also ``left``, the advantage that the left item has with this voter.
        """
        check_is_fitted(self)
        given = self._comparisons
        if not self._learns_voters or given.annotator is None or given.annotators is None:
            return None
        n_votes = np.bincount(given.annotator[given.annotator >= 0], minlength=len(given.annotators))
        first = Voters.first_belief(1, self._habits.prior)[0]
        belief = np.array([self._beliefs.get(name, first) for name in given.annotators])
        draws = self._draw()
        if draws is not None and draws.habits.shape[1] == len(belief):
            belief = self._drawn_beliefs(draws)
        lean = self.likelihood_.bias + belief @ np.array(self._habits.leans)
        belief = self._habits.by_rate(belief)
        low, high = rate_intervals(belief, _LEVEL)
        error = belief @ np.array(RATES)
        columns = {"annotator": given.annotators, "n_votes": n_votes, "error": error, "low": low, "high": high}
        if self._habits is not PLAIN:
            columns["left"] = lean
        return pd.DataFrame(columns).sort_values("error", kind="stable", ignore_index=True)

    def _drawn_beliefs(self, draws: Draws) -> FloatArray:
        """Probability of each voter's habits; voters who gave the same votes have the same."""
        belief = draws.beliefs(len(self._habits.rates))
        alike = np.unique(votes_of_voters(self._comparisons, self._order), return_inverse=True)[1]
        total = np.zeros((alike.max(initial=-1) + 1, belief.shape[1]))
        np.add.at(total, alike, belief)
        return np.asarray(total / np.bincount(alike)[:, None])[alike]

    @property
    def _random_rate(self) -> float:
        """How often voters answer at random, on average."""
        return 0.0 if self._people is None else float(self._people.shares @ np.array(self._habits.rates))

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
        """Expected difference of the two scores, shape (n_pairs,); positive where left is better.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        x, left, right = self._pairs(X, items)
        score = self.scorer_.score(x)
        return score[left] - score[right]

    def predict(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """The likeliest answer of each pair, shape (n_pairs,): 1 left, 0 right, ½ undecided (with a margin only).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        return self.classes_[np.argmax(self.predict_proba(X, items=items), axis=1)]

    def predict_proba(
        self, X: Any, *, items: Items | None = None, voters: int = 1, attentive: bool = True
    ) -> FloatArray:
        """Probability of each answer in ``classes_``, the scores integrated out, shape (n_pairs, n_classes).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
        items : Items, optional
        voters : int
            The answer is that of the majority of so many people; a label that several people agreed on is surer than
            a single vote. Where as many are for left as for right, the answer is undecided, or half for each side.
        attentive : bool
            Whether these people always attend; otherwise they answer at random as often as the voters did on average.
        """
        if not is_whole(voters, 1):
            raise InputError(f"voters must be a whole number of at least 1; got {voters!r}.")
        x, left, right = self._pairs(X, items)
        mean, variance = self.scorer_.differences(x, left, right)
        rate = 0.0 if attentive else self._random_rate
        if voters == 1:
            p = self.likelihood_.probability(mean, variance, rate=rate)
        else:
            p = majority_answer(self.likelihood_, mean, variance, voters, rate)
        p = p[:, ::-1]
        return p if self._margin else p[:, [0, 2]] + 0.5 * p[:, [1]]

    def predict_order(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """Posterior probability that left is the better item, shape (n_pairs,).

        It says how sure the order is, not how people would vote: with many votes it tends to 0 or 1, while two items
        that are nearly as good still share the votes.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        x, left, right = self._pairs(X, items)
        mean, variance = self.scorer_.differences(x, left, right)
        return np.where(left == right, 0.5, ndtr(mean / np.sqrt(np.maximum(variance, 1e-300))))

    def predict_std(self, X: Any, *, items: Items | None = None) -> FloatArray:
        """Standard deviation of the difference of the two scores, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        x, left, right = self._pairs(X, items)
        return np.sqrt(self.scorer_.differences(x, left, right)[1])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, items: Items | None = None) -> float:
        """The share of the decided votes that it predicts right, from 0 to 1; not a number where none is decided.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two items.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided, which counts neither way.
        sample_weight : array of shape (n_votes,), optional
            How many votes each row stands for.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        p = self.predict_proba(X, items=items)
        return share_right(p[:, -1] > p[:, 0], X, y, sample_weight)

    def score_items(self, items: Items | None = None) -> FloatArray:
        """Posterior mean of every item's score, shape (n_items,).

        Parameters
        ----------
        items : Items, optional
            By default those that the ranker was fitted to.
        """
        check_is_fitted(self)
        return self.scorer_.score(self._inputs(items or self.items_))

    def rank(
        self,
        items: Items | None = None,
        *,
        level: float = _LEVEL,
        sure: float = 0.95,
        anchor: str | None = None,
        scale: str = "score",
        n_draws: int | None = None,
    ) -> pd.DataFrame:
        """The ranking of every group of items, best first.

        Columns: ``group, rank, tier, item_id, score, std, low, high, rank_low, rank_high, p_best, wins, n_votes``. All
        of them are about the items of one group, from joint draws of their scores.

        Parameters
        ----------
        items : Items, optional
            By default those that the ranker was fitted to. Groups are ranked by themselves unless votes cross them.
        level : float
            Probability with which ``low`` and ``high`` hold the score, and ``rank_low`` and ``rank_high`` the rank.
        sure : float
            Everything in a tier is better than everything in the tiers below: all these statements, about all groups,
            are right together with at least this probability.
        anchor : str, optional
            The item whose score is zero; by default zero is the mean of the group.
        scale : {"score", "elo"}
            Unit of the scores: that of the noise of one item, or Elo points. ``wins`` is in how many of 100 votes the
            item would beat one that stands at zero.
        n_draws : int, optional
            How many joint draws of the scores all of it comes from; by default 1,500, and up to 8,000 of few items.
        """
        check_is_fitted(self)
        items = items or self.items_
        votes, n_votes = self._comparisons, self._streamed
        if n_votes is None:
            n_votes = np.bincount(np.concatenate([votes.left, votes.right]), minlength=self.items_.n_items)[self._order]
        counts = np.append(n_votes, 0)  # an item that was not fitted to reads the zero
        where = None if anchor is None else int(items.positions([anchor], what="anchor")[0])
        tables = []
        groups = self._group_rows(items)
        for name, rows, draws in self._group_draws(items, n_draws):
            place = None
            if where is not None and (rows == where).any():
                place = int(np.flatnonzero(rows == where)[0])
            order, columns = rank_columns(
                draws, level=level, sure=1.0 - (1.0 - sure) / len(groups), anchor=place, scale=scale
            )
            part = items.subset(rows[order])
            table = pd.DataFrame(columns)
            table.insert(0, "group", pd.Series([name] * rows.size, dtype=object))
            table.insert(3, "item_id", part.ids)
            tables.append(table.assign(n_votes=counts[self._positions(part)]))
        return pd.concat(tables, ignore_index=True)

    def stability(
        self,
        items: Items | None = None,
        *,
        top: int = 1,
        sure: float = 0.95,
        n_draws: int | None = None,
        forecast: bool = True,
    ) -> Stability:
        """How settled the ranking of every group is, and how many more votes would settle its best ``top`` items.

        Parameters
        ----------
        items : Items, optional
        top : int
            Of how many best items the probability is asked for.
        sure : float
            The probability that is wanted.
        n_draws : int, optional
            How many joint draws of the scores the probabilities come from, by default as in :meth:`rank`.
        forecast : bool
            Whether to say how many votes are still needed; without it the answer comes sooner.
        """
        check_is_fitted(self)
        items = items or self.items_
        n_votes = self._comparisons.n_votes if self._streamed is None else int(self._streamed.sum()) // 2
        rng = np.random.default_rng(self.random_state)
        states = [GroupState(name, draws) for name, _, draws in self._group_draws(items, n_draws)]
        states.sort(key=lambda state: str(state.group))
        return stability(states, top=top, sure=sure, n_votes=n_votes, rng=rng, forecast=forecast)

    def knows(self, votes: Comparisons) -> bool:
        """Whether votes can be added that say no more than those before: sides, voters, undecided answers.

        Parameters
        ----------
        votes : Comparisons
            Votes that :meth:`partial_fit` would be given.
        """
        undecided = bool((votes.value == 0.5).any()) if votes.n_votes else False
        sides = votes.shown is not None and bool(votes.shown.all())
        voters = votes.annotator is not None and bool((votes.annotator >= 0).all())
        return (
            (self._margin or not undecided or self.ties == "half")
            and (sides or not self._learns_bias)
            and (voters or not self._learns_voters)
        )

    def _positions(self, items: Items) -> IntArray:
        place = self._index
        return np.array([place.get(name, -1) for name in items.ids], dtype=np.int64)

    def _order_of(self, items: Items) -> IntArray:
        """Positions of items in our order; what was not fitted to comes last, by its content, shape (n_items,)."""
        place = self._positions(items)
        new = np.flatnonzero(place < 0)
        if new.size:
            place[new[content_order(items.subset(new))]] = self.items_.n_items + np.arange(new.size)
        return np.argsort(place, kind="stable")

    def _group_rows(self, items: Items) -> dict[str | None, IntArray]:
        """Positions of the items of each group in our order, by the groups; one group if votes cross them."""
        votes, groups = self._comparisons, items.groups
        order = self._order if items is self.items_ else self._order_of(items)
        own = self.items_.groups
        crossed = own is not None and bool((own[votes.left] != own[votes.right]).any())
        if groups is None or crossed or any(name is None for name in groups):
            return {None: order}
        codes, names = pd.factorize(groups)
        order = order[np.argsort(codes[order], kind="stable")]
        ends = np.cumsum(np.bincount(codes))[:-1]
        return dict(zip(names.tolist(), np.split(order, ends), strict=True))

    def _group_draws(self, items: Items, n_draws: int | None) -> Iterator[tuple[str | None, IntArray, FloatArray]]:
        """Joint draws of the scores of each group: its name, the positions of its items, shape (n_draws, n_items)."""
        rng = np.random.default_rng(self.random_state)
        most = max(_FEWEST_DRAWS, _MOST_DRAWN // max(items.n_items, 1))
        n_draws = min(self._enough_draws() if n_draws is None else n_draws, most)
        drawn = self._draw(n_draws)
        whitened, scale = self.scorer_.draw(n_draws, rng) if drawn is None else (drawn.whitened, drawn.scale)
        groups = self._group_rows(items)
        names = sorted(groups, key=str)
        seeds = rng.integers(2**63, size=len(names))  # a generator that was saved cannot spawn the same children again
        generators = {name: np.random.default_rng(seed) for name, seed in zip(names, seeds, strict=True)}
        for name, rows in groups.items():
            x = self._inputs(items.subset(rows))
            yield name, rows, self.scorer_.draw_scores(x, whitened, scale, generators[name])

    def _enough_draws(self) -> int:
        """So many that figures of few items are steady, and those of many items do not take long."""
        return min(max(_DRAWN // max(self.scorer_.points.index.size, 1), _DRAWS), _MOST_DRAWS)

    def _draw(self, n_draws: int | None = None) -> Draws | None:
        """Draws of all that is learnt, made once after each fit; None where the Gaussian posterior has to do."""
        n_draws = self._enough_draws() if n_draws is None else n_draws
        points = self.scorer_.points.index
        if (
            not isinstance(self.scorer_, Scorer)
            or self._streamed is not None
            or self.inference not in ("auto", "laplace")
            or self._given_marks
        ):
            return None
        few = points.size <= _MOST_SAMPLED and self._votes.left.size <= _MOST_ROWS
        people = self._people if self._n_added == 0 else None
        known = not self._learns_voters or (people is not None and bool((people.voter >= 0).all()))
        if not (few and known and np.array_equal(points, self._voted)):
            return None
        if self._sampled is None or len(self._sampled.scale) != n_draws:
            self._sampled = draw_posterior(
                self.scorer_.root, self._posterior, self._votes, self.likelihood_, people,
                log_variance=float(np.log(np.exp(self.theta_[self.kernel_.is_variance]).sum())),
                learn_scale=self.length_scales == "mlii" and self.hyperparameters is None,
                learn_bias=self._learns_bias, n_draws=n_draws, rng=np.random.default_rng(self.random_state),
            )  # fmt: skip
        return self._sampled

    def ask(
        self, n: int = 10, *, strategy: str = "bald", candidates: Any = None, max_candidates: int = 50_000
    ) -> pd.DataFrame:
        """The ``n`` pairs most worth asking about, best first: ``left, right, gain, p_left``.

        Parameters
        ----------
        n : int
            How many pairs.
        strategy : {"bald", "uncertainty", "transfer"}
            Information about the two scores; entropy of the answer; or information about the answers to pairs of other
            groups (to other pairs, where items have no groups), which is what counts when new texts are to be ranked.
            In nats.
        candidates : table with ``left`` and ``right``, optional
            By default all pairs of items, inside one group where items have groups.
        max_candidates : int
            Of more candidates, so many are drawn at random.
        """
        check_is_fitted(self)
        if strategy not in (*STRATEGIES, "transfer"):
            raise InputError(f"strategy must be one of {', '.join(STRATEGIES)}, transfer; got {strategy!r}.")
        if candidates is None:
            rng = np.random.default_rng(self.random_state)
            groups = None if self.items_.groups is None else pd.factorize(self.items_.groups[self._order])[0]
            a, b = candidate_pairs(self.items_.n_items, groups, max_candidates, rng)
            ids = self.items_.ids[self._order]
            candidates = pd.DataFrame({"left": ids[a], "right": ids[b]})
        pairs = pair_frame(candidates)
        x, left, right = self._pairs(pairs, None)
        mean, variance = self.scorer_.differences(x, left, right)
        if strategy == "transfer":
            gain = self._transfer(x, left, right, mean, variance)
        else:
            gain = STRATEGIES[strategy](self.likelihood_, mean, variance, self._random_rate)
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
            groups = pd.factorize(self.items_.groups[self._order])[0][x.index]
            covariance[groups[left][:, None] == groups[left[some]]] = 0.0
        return transfer(mean, variance, mean[some], variance[some], covariance)

    def explain(self, item: str, other: str | None = None, *, items: Items | None = None, n: int = 10) -> pd.DataFrame:
        """Why an item scores as it does, or why it beats another: ``reason, effect, kind``, strongest first.

        ``term`` rows add up to the score (or the difference of scores); ``feature`` rows split the linear terms;
        ``item`` rows are the training items that the score leans on. ``attrs["label"]`` says what is explained.

        Parameters
        ----------
        item : str
            The id of an item.
        other : str, optional
            The id of the item that it is compared with.
        items : Items, optional
            The items; by default those that the ranker was fitted to.
        n : int
            How many features and how many items to show at most.
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
            tables.append(("item", list(self.items_.ids[self._order[known]]), sign @ neighbour_shares(self.scorer_, x)))
        limit = {"term": len(labels)}
        rows = []
        for kind, reason, effect in tables:
            table = pd.DataFrame({"reason": reason, "effect": effect, "kind": kind})
            table = table[table["effect"] != 0.0].sort_values("effect", key=np.abs, ascending=False, kind="stable")
            rows.append((kind, table))
        whole = pd.concat([table for _, table in rows])
        kept = [whole[whole["kind"] == kind].sort_values("effect", key=np.abs, ascending=False, kind="stable")
                .head(limit.get(kind, n)) for kind in dict.fromkeys(kind for kind, _ in rows)]  # fmt: skip
        found = pd.concat(kept, ignore_index=True)
        found.attrs["label"] = f"score of {item}" if other is None else f"{item} over {other}"
        return found
