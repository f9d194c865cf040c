"""Pairs by person: a consensus, and how each voter's preferences depart from it."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_order import arranged, places_of
from accord.engines.convergence import warn_unconverged
from accord.errors import InputError
from accord.fitting.settings import Number, Object, Rule, Seed, check_settings
from accord.pairs.estimator import PreferenceRanker
from accord.pairs.process.likelihoods import Ballots
from accord.pairs.process.personal import Component, PersonalFit, fit_personal, moments, taste_basis
from accord.pairs.process.posterior import Votes, pair_dots, solve_lower
from accord.pairs.process.scorer import Scorer
from accord.pairs.ranking import rank_columns
from accord.pairs.taste_groups import TasteGroups, find_groups
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = ["PersonalRanker"]

_LEVEL = 0.9
_HELD = 1e-3  # a taste counts if voters' scores vary by it with this share of the variance of the consensus
_MOST_GROUPS = 6
_MOST_BARE = 1_500  # texts without features, up to which each has a taste of its own


class PersonalRanker(BaseEstimator):
    """Learns what all voters prefer, and how each of them departs from it.

    A voter sees the consensus, more or less strongly, plus a few tastes that voters have in different amounts. Tastes
    are functions of the texts with the same kernels as the consensus, so that they carry over to unseen texts; how many
    of them there are is learnt up to ``n_tastes``. See :mod:`accord.pairs.process.personal` for the model and how it is
    approximated. Time and memory grow linearly with votes and with voters.

    Parameters
    ----------
    consensus : PreferenceRanker or None
        What learns kernel and consensus first; its settings count for features, ties, reliability and inducing points.
        ``None`` is the default ranker.
    n_tastes : int
        Most tastes. Those that voters do not have fade away.
    n_directions : int
        Tastes vary in so many directions of the process, those that the votes see most of.
    max_iter, tol
        Most sweeps, and the mean change of the differences of scores at which they stop.
    random_state : int or None
        Of the draws behind intervals, and of the search for groups.

    Attributes
    ----------
    consensus_ : PreferenceRanker
        The ranker of all votes, without persons.
    n_tastes_ : int
        Tastes that voters do have.
    voters_ : DataFrame
        ``annotator, n_votes, strength, apart, error, group, p_group``: how strongly the voter sees the consensus, how
        far the voter's scores are from it (1 is as far as the texts' scores are from each other), the rate of random
        answers if it was learnt, and the group of taste with its probability.
    groups_ : DataFrame
        ``group, share, n_voters, likes, dislikes``: the groups of taste, and the texts that each prefers most and least
        beyond the consensus. One group means that there are none.

    Examples
    --------
    >>> from accord import PersonalRanker
    >>> X = [("tea", "coffee"), ("tea", "water"), ("coffee", "water")] * 8
    >>> who = ["ada"] * 12 + ["ben"] * 12
    >>> ranker = PersonalRanker().fit(X, [1, 1, 1] * 4 + [0, 1, 1] * 4, annotator=who)
    >>> ranker.rank("ada")["item_id"].tolist(), ranker.rank("ben")["item_id"].tolist()
    (['tea', 'coffee', 'water'], ['coffee', 'tea', 'water'])
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "consensus": Object("a PreferenceRanker", (PreferenceRanker,)),
        "n_tastes": Number(0, 50, whole=True),
        "n_directions": Number(1, whole=True),
        "max_iter": Number(1, whole=True),
        "tol": Number(0),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        consensus: PreferenceRanker | None = None,
        n_tastes: int = 5,
        n_directions: int = 200,
        max_iter: int = 60,
        tol: float = 2e-3,
        random_state: int | None = 0,
    ) -> None:
        self.consensus = consensus
        self.n_tastes = n_tastes
        self.n_directions = n_directions
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        annotator: Any,
        items: Items | None = None,
        sample_weight: Any = None,
        shown_left: Any = None,
    ) -> "PersonalRanker":
        """Fit to votes.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two texts.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided.
        annotator : array of shape (n_votes,)
            Who voted; everybody must be known.
        items, sample_weight, shown_left
            As in :meth:`PreferenceRanker.fit`.
        """
        check_settings(self)
        given = {"annotator": annotator, "sample_weight": sample_weight, "shown_left": shown_left}
        votes = Comparisons.from_xy(X, y, items, **given)
        if votes.annotator is None or votes.annotators is None or (votes.annotator < 0).any():
            raise InputError("personal preferences need to know who gave each vote; some votes do not say it.")
        ranker: PreferenceRanker = PreferenceRanker() if self.consensus is None else clone(self.consensus)
        if ranker.aggregate is not None or ranker.inference not in ("auto", "laplace"):
            raise InputError(
                "personal preferences are learnt from single votes; the consensus must have aggregate=None and "
                "inference='auto'."
            )
        bare = votes.items.features is None and (
            ranker.features is None or votes.items.texts is None or not any(votes.items.texts)
        )
        n_voted = np.unique(np.concatenate([votes.left, votes.right])).size
        if bare and n_voted > _MOST_BARE and ranker.n_inducing is None:
            raise InputError(
                f"personal preferences between more than {_MOST_BARE:,} texts need features or texts, which like texts "
                f"share; these {n_voted:,} have neither. Give the items texts or features."
            )
        self.consensus_ = ranker.fit(X, y, items=votes.items, **given)
        votes = arranged(votes, ranker._order)
        assert votes.annotator is not None  # checked above
        scorer = ranker.scorer_
        assert isinstance(scorer, Scorer)  # the other one is for many texts without features
        self._annotators = np.array(votes.annotators, dtype=object)
        self._n_votes = np.bincount(votes.annotator, minlength=self._annotators.size)
        design, rows = self._design(None), self._rows(votes)
        self._basis = taste_basis(design, rows, self.n_directions)
        voter = votes.annotator.astype(np.int64)
        found = fit_personal(
            design,
            self._basis,
            rows,
            voter,
            self._annotators.size,
            Component(scorer.mean, scorer.factor),
            ranker.likelihood_,
            self._believed(voter, rows),
            residual=self._residual(None, design, rows.left, rows.right),
            n_tastes=min(self.n_tastes, self._annotators.size - 1),
            max_iter=self.max_iter,
            tol=self.tol,
        )
        warn_unconverged("PersonalRanker", found.convergence, cure="Raise max_iter or tol.", stacklevel=3)
        self._comparisons, self._fit = votes, self._kept(found, design)
        self._found_groups: TasteGroups | None = None
        if self.n_tastes_:
            tastes = slice(1, None)
            self._found_groups = find_groups(
                self._fit.amounts[:, tastes], self._fit.covariance[:, tastes, tastes], self._fit.spread[tastes],
                most=_MOST_GROUPS, rng=np.random.default_rng(self.random_state),
            )  # fmt: skip
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")

    @property
    def items_(self) -> Items:
        """The texts that the ranker was fitted to."""
        check_is_fitted(self)
        return self.consensus_.items_

    @property
    def n_tastes_(self) -> int:
        """Tastes that voters do have."""
        check_is_fitted(self)
        return len(self._fit.components) - 1

    @property
    def _ordered_ids(self) -> ObjectArray:
        return self.items_.ids[self.consensus_._order]

    def _groups(self) -> dict[str | None, IntArray]:
        """Places of the texts of each group among all texts in the order of the consensus."""
        place = places_of(self.consensus_._order)
        return {name: place[rows] for name, rows in self.consensus_._group_rows(self.items_).items()}

    # -- fitting -------------------------------------------------------------------------------------------------

    def _design(self, items: Items | None) -> FloatArray:
        """The whitened process of the items, by default those fitted to in its order, (n_items, m)."""
        ranker = self.consensus_
        scorer: Any = ranker.scorer_
        block = scorer.kernel.block(ranker._inputs(items or ranker._sorted_items()), scorer.points)
        return np.ascontiguousarray(solve_lower(scorer.root, block.value(scorer.theta).T).T)

    def _residual(self, items: Items | None, design: FloatArray, left: IntArray, right: IntArray) -> FloatArray:
        """Variance of each pair's difference that the design does not carry, shape (n_pairs,)."""
        scorer: Any = self.consensus_.scorer_
        x = self.consensus_._inputs(items or self.consensus_._sorted_items())
        if items is None and np.array_equal(x.index, scorer.points.index):
            return np.zeros(left.size)
        item = scorer.kernel.diagonal(scorer.theta, x) - np.einsum("ij,ij->i", design, design)
        between = scorer.kernel.block(x.take(left), x.take(right), paired=True).value(scorer.theta)
        return np.maximum(item[left] + item[right] - 2.0 * (between - pair_dots(design, left, right)), 0.0)

    def _rows(self, votes: Comparisons) -> Votes:
        """One row a vote, as the process takes them."""
        n, likelihood = votes.n_votes, self.consensus_.likelihood_
        sides = self.consensus_._learns_bias and votes.shown is not None
        side = np.asarray(votes.shown, dtype=np.float64) if sides else np.zeros(n)
        share = np.zeros((n, len(likelihood.rates)))
        share[:, 0] = 1.0
        weight = np.ones(n) if votes.weight is None else votes.weight.astype(np.float64)
        ballots = Ballots(votes.value.astype(np.float64), side, share)
        left, right = votes.left.astype(np.int64), votes.right.astype(np.int64)
        return Votes(left, right, ballots, weight, votes.items.n_items)

    def _believed(self, voter: IntArray, rows: Votes) -> Voters | None:
        """What the consensus found of the voters' rates of random answers."""
        if not self.consensus_._learns_voters:
            return None
        belief = np.array([self.consensus_._beliefs[name] for name in self._annotators])
        return Voters.of(voter, np.arange(voter.size), rows.weight, belief, voter.size, self.consensus_._habits.prior)

    def _kept(self, found: PersonalFit, design: FloatArray) -> PersonalFit:
        """The fit with the tastes that voters have, the strongest first."""
        size = [float(np.var(design @ found.components[0].mean))]
        size += [float(np.var(design @ (self._basis @ each.mean))) for each in found.components[1:]]
        moved = found.spread * size
        order = 1 + np.argsort(-moved[1:], kind="stable")
        kept = np.concatenate([[0], order[moved[order] > _HELD * max(size[0], 1e-12)]]).astype(np.int64)
        return PersonalFit(
            tuple(found.components[c] for c in kept),
            found.amounts[:, kept],
            found.covariance[np.ix_(np.arange(len(found.amounts)), kept, kept)],
            found.spread[kept],
            found.likelihood,
            found.voters,
            found.convergence,
        )

    # -- answers -------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> FloatArray:
        """The answers that columns of :meth:`predict_proba` stand for."""
        check_is_fitted(self)
        return self.consensus_.classes_

    def _place(self, name: str) -> int:
        found = np.flatnonzero(self._annotators == name)
        if not found.size:
            raise InputError(f"the ranker was not fitted to votes of {name!r}. Leave the annotator out for a stranger.")
        return int(found[0])

    def _known(self, annotator: Any, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Amounts, their covariance and the rates of random answers of each row's voter; a stranger is the prior."""
        fit, k = self._fit, len(self._fit.spread)
        stranger = np.zeros(k)
        stranger[0] = 1.0
        amounts = np.vstack([fit.amounts, stranger])
        covariance = np.concatenate([fit.covariance, np.diag(fit.spread)[None]])
        rates = np.zeros(len(amounts))
        if fit.voters is not None:
            values = np.array(self.consensus_._habits.rates)
            rates = np.append(fit.voters.belief @ values, fit.voters.shares @ values)
        if annotator is None:
            place = np.full(n, len(amounts) - 1)
        else:
            names = [annotator] * n if isinstance(annotator, str) else list(annotator)
            if len(names) != n:
                raise InputError(f"annotator must have one entry a pair; there are {n} pairs and {len(names)} entries.")
            index = {name: at for at, name in enumerate(self._annotators)}
            place = np.array([index.get(name, len(amounts) - 1) for name in names], dtype=np.int64)
        return amounts[place], covariance[place], rates[place]

    def _moments(self, X: Any, items: Items | None, annotator: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        check_is_fitted(self)
        pairs = Comparisons.from_xy(X, np.ones(len(X)), items or self.consensus_._sorted_items())
        design = self._design(items)
        parts = [
            each.differences(design @ self._basis if c else design, pairs.left, pairs.right)
            for c, each in enumerate(self._fit.components)
        ]
        mean, variance = (np.stack([part[k] for part in parts], axis=1) for k in (0, 1))
        variance[:, 0] += self._residual(items, design, pairs.left, pairs.right)
        amounts, covariance, rate = self._known(annotator, pairs.n_votes)
        return *moments(amounts, covariance, mean, variance), rate

    def predict_proba(
        self, X: Any, *, annotator: Any = None, items: Items | None = None, attentive: bool = True
    ) -> FloatArray:
        """Probability of each answer in ``classes_``, shape (n_pairs, n_classes).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
        annotator : str or array of shape (n_pairs,), optional
            Who is asked; by default, and of names that the ranker does not know, somebody of whom nothing is known.
        items : Items, optional
            Also texts that the ranker was not fitted to.
        attentive : bool
            Whether the person attends; otherwise the answer is random as often as those of this person were.
        """
        mean, variance, rate = self._moments(X, items, annotator)
        p = self._fit.likelihood.probability(mean, variance)
        if not attentive:
            likelihood = self._fit.likelihood
            chance = np.array([likelihood.side_chance, likelihood.tie_chance, likelihood.side_chance])
            p = (1.0 - rate[:, None]) * p + rate[:, None] * chance
        p = p[:, ::-1]
        return p if self.classes_.size == 3 else p[:, [0, 2]] + 0.5 * p[:, [1]]

    def predict(self, X: Any, *, annotator: Any = None, items: Items | None = None) -> FloatArray:
        """The likeliest answer of each pair, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        annotator : str or array of shape (n_pairs,), optional
            Whose answer; by default that of somebody of whom nothing is known.
        items : Items, optional
            The items that the pairs are about; by default those that the ranker was fitted to.
        """
        return self.classes_[np.argmax(self.predict_proba(X, annotator=annotator, items=items), axis=1)]

    def _draws(self, annotator: str | None, n_draws: int) -> FloatArray:
        """Draws of the texts' scores for one person, or of the consensus, shape (n_draws, n_items)."""
        rng, design = np.random.default_rng(self.random_state), self._design(None)
        total = self._fit.components[0].draw(design, n_draws, rng)
        if annotator is None:
            return total
        at = self._place(annotator)
        amounts = rng.multivariate_normal(self._fit.amounts[at], self._fit.covariance[at], n_draws)
        total = amounts[:, [0]] * total
        for c, each in enumerate(self._fit.components[1:], start=1):
            total += amounts[:, [c]] * each.draw(design @ self._basis, n_draws, rng)
        return total

    def rank(self, annotator: str | None = None, *, level: float = _LEVEL, n_draws: int = 500) -> pd.DataFrame:
        """The ranking of every group of texts for one person, or by the consensus, best first.

        Columns: those of :meth:`PreferenceRanker.rank` without ``n_votes``, and ``consensus_rank``.

        Parameters
        ----------
        annotator : str, optional
            Whose ranking; by default the consensus.
        level : float
            Probability with which ``low`` and ``high`` hold the score, and ``rank_low`` and ``rank_high`` the rank.
        n_draws : int
            How many joint draws of the scores the intervals come from.
        """
        check_is_fitted(self)
        groups = self._groups()
        both = [self._draws(name, n_draws) for name in dict.fromkeys((annotator, None))]
        tables = []
        for name, rows in groups.items():
            order, columns = rank_columns(both[0][:, rows], level=level, sure=1.0 - 0.05 / len(groups))
            consensus = np.empty(rows.size, dtype=np.int64)
            consensus[np.argsort(-both[-1][:, rows].mean(axis=0), kind="stable")] = np.arange(1, rows.size + 1)
            table = pd.DataFrame(columns)
            table.insert(0, "group", pd.Series([name] * rows.size, dtype=object))
            table.insert(3, "item_id", self._ordered_ids[rows[order]])
            tables.append(table.assign(consensus_rank=consensus[order]))
        return pd.concat(tables, ignore_index=True)

    # -- who prefers what ----------------------------------------------------------------------------------------

    def _tastes(self) -> FloatArray:
        """Mean of every taste on every text, inside the texts' groups, shape (n_items, n_tastes)."""
        design = self._design(None) @ self._basis
        tastes = np.stack([design @ each.mean for each in self._fit.components[1:]], axis=1)
        for rows in self._groups().values():
            tastes[rows] -= tastes[rows].mean(axis=0)
        return np.asarray(tastes)

    @property
    def voters_(self) -> pd.DataFrame:
        """What was learnt of each voter, those that depart most from the consensus first."""
        check_is_fitted(self)
        fit = self._fit
        table = pd.DataFrame({"annotator": self._annotators, "n_votes": self._n_votes, "strength": fit.amounts[:, 0]})
        apart, groups = np.zeros(len(table)), self._found_groups
        if self.n_tastes_:
            tastes, scores = self._tastes(), self._design(None) @ fit.components[0].mean
            square = np.einsum("pa,ab,pb->p", fit.amounts[:, 1:], np.cov(tastes.T).reshape(self.n_tastes_, -1),
                               fit.amounts[:, 1:])  # fmt: skip
            apart = np.sqrt(np.maximum(square, 0.0) / max(float(scores.var()), 1e-12))
        table["apart"] = apart
        if fit.voters is not None:
            table["error"] = fit.voters.belief @ np.array(self.consensus_._habits.rates)
        table["group"] = 1 if groups is None else 1 + np.argmax(groups.belief, axis=1)
        table["p_group"] = 1.0 if groups is None else groups.belief.max(axis=1)
        return table.sort_values(["apart", "annotator"], ascending=[False, True], ignore_index=True)

    @property
    def groups_(self) -> pd.DataFrame:
        """The groups of taste, the largest first, with the texts that each likes more and less than all voters do."""
        check_is_fitted(self)
        groups, rows = self._found_groups, []
        if groups is None:
            return pd.DataFrame({"group": [1], "share": [1.0], "n_voters": [len(self._annotators)],
                                 "likes": [""], "dislikes": [""]})  # fmt: skip
        tastes, member = self._tastes(), np.argmax(groups.belief, axis=1)
        middle = groups.share @ groups.centre
        for place, centre in enumerate(groups.centre):
            order = np.argsort(-(tastes @ (centre - middle)), kind="stable")
            likes, dislikes = (", ".join(self._ordered_ids[part]) for part in (order[:3], order[::-1][:3]))
            alone = len(groups.centre) == 1
            rows.append((1 + place, float(groups.share[place]), int((member == place).sum()),
                         "" if alone else likes, "" if alone else dislikes))  # fmt: skip
        return pd.DataFrame(rows, columns=["group", "share", "n_voters", "likes", "dislikes"])

    def disagreements(self, n: int = 10) -> pd.DataFrame:
        """The pairs with votes about which voters differ most: ``left, right, p_left, apart`` and each group's view.

        ``p_left`` is the mean probability of a vote for left, ``apart`` its standard deviation between voters, and
        ``p.1``, ``p.2`` … the probability in each group of taste.

        Parameters
        ----------
        n : int
            How many pairs to show.
        """
        check_is_fitted(self)
        votes, fit = self._comparisons, self._fit
        pairs = np.unique(np.sort(np.stack([votes.left, votes.right], axis=1), axis=1), axis=0)
        design = self._design(None)
        values = [design @ (self._basis @ each.mean if c else each.mean) for c, each in enumerate(fit.components)]
        difference = np.stack([value[pairs[:, 0]] - value[pairs[:, 1]] for value in values], axis=1)
        between = np.cov(fit.amounts.T).reshape(len(values), -1) if len(fit.amounts) > 1 else np.zeros((1, 1))
        mean = difference @ fit.amounts.mean(axis=0)
        spread = np.sqrt(np.maximum(np.einsum("ia,ab,ib->i", difference, between, difference), 0.0))
        nodes, weights = np.polynomial.hermite_e.hermegauss(16)
        p = ndtr((mean[:, None] + spread[:, None] * nodes) / np.sqrt(2.0))
        weights = weights / weights.sum()
        p_left = p @ weights
        apart = np.sqrt(np.maximum((p - p_left[:, None]) ** 2 @ weights, 0.0))
        order = np.argsort(-apart, kind="stable")[:n]
        ids = self._ordered_ids
        table = {"left": ids[pairs[order, 0]], "right": ids[pairs[order, 1]], "p_left": p_left[order],
                 "apart": apart[order]}  # fmt: skip
        groups = self._found_groups
        if groups is not None and len(groups.share) > 1:
            for place, centre in enumerate(groups.centre):
                seen = difference[order] @ np.append(fit.amounts[:, 0].mean(), centre)
                table[f"p.{1 + place}"] = ndtr(seen / np.sqrt(2.0))
        return pd.DataFrame(table)
