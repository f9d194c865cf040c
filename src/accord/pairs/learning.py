"""How the ranker of pairs learns: features, kernel, hyper-parameters, voters, and the posterior of the scores."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.base import clone

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_order import places_of, voters_arranged
from accord.engines.convergence import warn_unconverged
from accord.errors import InputError
from accord.fitting.workers import WithWorkers
from accord.pairs.answers import PairAnswers
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.features import ArgumentFeatures
from accord.pairs.item_order import item_order
from accord.pairs.process.blocked_votes import stochastic_inference
from accord.pairs.process.evidence import Fit, Shrinkage, fit
from accord.pairs.process.inducing import choose_points
from accord.pairs.process.kernel_design import design_kernel, isotropic_start, starting_point
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.leave_group_out import choose_multiplier
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import Marks, Sites, Votes, infer, make_prior, prepare, start_sites
from accord.pairs.process.scorer import Scorer
from accord.pairs.process.sparse import SparseScorer, fit_sparse
from accord.pairs.process.stochastic import StochasticPosterior
from accord.pairs.process.vote_counts import SiteMemory, VoteCounts, count_votes
from accord.pairs.voters import PLAIN, SIDED, Voters
from accord.typing import FloatArray, IntArray

__all__ = ["PairLearning"]

_EXACT_LIMIT = 1500
_HYPER_SAMPLE = 20_000
# Length-scales by feature are tried where there are at most so many features, all of them dense.
_MOST_ARD, _FIRST_ROUNDS, _ARD_SPREAD = 64, 4, 5.0
# Voters' rates are learnt by themselves from so many voters on, if they gave so many votes each on average.
_FEWEST_VOTERS, _FEWEST_VOTES = 3, 5
# Up to so many votes each voter's own lean to one side is learnt; with more, only the common one, which is quicker.
_MOST_LEANING = 50_000
# From so many decided votes on, a winner that always stands on one side is no coincidence.
_MANY_DECIDED = 10
_LEARN = {"mlii": "mlii", "median": "gamma", "base": "fixed"}


class PairLearning(PairAnswers, WithWorkers):
    """Fits the posterior; the class that people touch inherits from it and stores the settings below."""

    kernel: str | Mapping[str, str]
    combine: str
    ard: bool | None
    length_scales: str
    inference: str
    n_inducing: int | None
    position_bias: bool | None
    item_effects: bool | None
    reliability: str
    aggregate: str | None
    standardise: bool
    variance_guard: bool
    features: Any
    hyperparameters: Any
    learning_items: int | None
    shrinkage: tuple[float, float]
    noise_prior: tuple[float, float]
    batch_size: int
    n_epochs: int | None
    forgetting: float
    delay: float
    max_iter: int
    tol: float

    def _take_votes(self, comparisons: Comparisons, marks: Mapping[str, float]) -> None:
        """Remember what is learnt from, and make features of the items."""
        self.items_, self._given_marks = comparisons.items, dict(marks)
        self._item_order = item_order(comparisons, self._scored())
        self._comparisons = voters_arranged(comparisons, self._order)
        self._streamed = None
        self.features_ = None
        wanted = self.features
        if self.items_.features is None and self.items_.texts is not None and any(self.items_.texts):
            if isinstance(wanted, str):
                wanted = ArgumentFeatures() if wanted == "auto" else None
            if wanted is not None:
                self.features_ = clone(wanted).fit(self.items_.texts[self._order])
                self.items_ = self.features_.items(self.items_)

    def _lay_out(self, rng: np.random.Generator) -> None:
        """Groups of features and the kernel over them, from all items."""
        features = self._sorted_items().features
        self._groups = None
        if features is not None and features.shape[1]:
            self._groups = FeatureGroups.of(features, self.items_.feature_groups, standardise=self.standardise)
        self._design(bool(self.ard), rng)
        start = starting_point(self.kernel_)
        if self.hyperparameters is not None:
            start = np.array(self.hyperparameters, dtype=np.float64)
            if start.shape != (self.kernel_.n_parameters,):
                raise InputError(
                    f"hyperparameters must have shape ({self.kernel_.n_parameters},), as theta_ of a ranker with the "
                    f"same kernel and features has; they have {start.shape}."
                )
        self.theta_ = start
        undecided = float(np.mean(self._comparisons.value == 0.5)) if self._comparisons.n_votes else 0.0
        self._learns_bias = self._check_sides()
        self._learns_voters = self._check_voters()
        few = self._comparisons.n_votes <= _MOST_LEANING
        self._habits = SIDED if self._learns_bias and self._learns_voters and few else PLAIN
        self._margin = self.ties == "margin" or (self.ties == "auto" and undecided > 0.0)
        self.likelihood_ = Preference(
            bias=self._first_bias() if self._learns_bias else 0.0,
            margin=0.5 if self._margin else 0.0,
            rates=self._habits.rates if self._learns_voters else PLAIN.rates[:1],
            leans=self._habits.leans if self._learns_voters else (),
            tie_chance=undecided if self._margin else 0.0,
            spread=self.noise_prior[1] / self.noise_prior[0],
        )
        self._memory, self._beliefs, self._sampled = SiteMemory.nothing(), {}, None

    def _design(self, ard: bool, rng: np.random.Generator) -> None:
        effects = self.combine == "sum" if self.item_effects is None else self.item_effects
        self.kernel_ = design_kernel(
            self._inputs(self._sorted_items()),
            self._groups.names if self._groups else (),
            families=self.kernel,
            combine=self.combine,
            ard=ard,
            item_effects=effects or self._groups is None,
            rng=rng,
        )

    def _check_sides(self) -> bool:
        """Whether the advantage of the left side is learnt."""
        votes = self._comparisons
        if self.position_bias is False or (self.position_bias is None and votes.shown is None):
            return False
        if votes.shown is None or not votes.shown.all():
            if self.position_bias is None:
                return False
            raise InputError(
                "position_bias needs to know which item each vote showed on the left, and that is not known of all "
                "votes. Pass shown_left=, or leave position_bias out."
            )
        decided = votes.value != 0.5
        left_won = (votes.value == 1.0) == (votes.shown == 1)
        if decided.sum() >= _MANY_DECIDED and left_won[decided].all() | ~left_won[decided].any():
            if self.position_bias is None:
                return False
            raise InputError(
                "position_bias cannot be learnt where the winner always stands on the same side: the table names the "
                "winner first, not the item that was shown on the left. Correct shown_left, or leave position_bias out."
            )
        return True

    def _first_bias(self) -> float:
        """The bias that explains how often the item on the left wins, if scores have a variance of 1.

        A start that is far off would be taken for a lean that all voters share.
        """
        votes = self._comparisons
        assert votes.shown is not None  # checked above
        decided = votes.value != 0.5
        won = float(np.sum((votes.value[decided] == 1.0) == (votes.shown[decided] == 1)))
        return 2.0 * float(ndtri((won + 1.0) / (decided.sum() + 2.0)))

    def _check_voters(self) -> bool:
        """Whether the voters' rates of random answers are learnt."""
        votes = self._comparisons
        if self.reliability == "equal" or self.aggregate is not None:
            return False
        if votes.annotator is None or votes.annotators is None:
            if self.reliability == "auto":
                return False
            raise InputError("reliability needs to know who voted; pass annotator=, one entry a vote.")
        n_voters = len(votes.annotators)
        enough = n_voters >= _FEWEST_VOTERS and votes.n_votes >= _FEWEST_VOTES * n_voters
        wanted = self.reliability == "learned" or (enough and bool((votes.annotator >= 0).all()))
        return wanted and self.inference in ("auto", "laplace")

    def _count(self, votes: Comparisons) -> VoteCounts:
        side, place = votes.shown if self._learns_bias else None, places_of(self._order)
        return count_votes(place[votes.left], place[votes.right], votes.value, votes.weight, side)

    def _voters(self, counts: VoteCounts, votes: Comparisons) -> Voters | None:
        """Who gave which of the counted votes, with what is believed of them so far."""
        if not self._learns_voters or votes.annotator is None or votes.annotators is None:
            return None
        prior = self._habits.prior
        first = Voters.first_belief(1, prior)[0]
        belief = np.array([self._beliefs.get(name, first) for name in votes.annotators])
        return Voters.of(votes.annotator, counts.row, counts.raw_weight, belief, counts.left.size, prior)

    def _learn(self, rng: np.random.Generator, *, learn: bool) -> None:
        self._sampled = None
        counts = self._count(self._comparisons)
        voters = self._voters(counts, self._comparisons)
        items, value = self._scored()
        scored = places_of(self._order)[items], value
        self._voted = np.union1d(np.union1d(counts.left, counts.right), scored[0]).astype(np.int64)
        x = self._inputs(self._sorted_items()).take(self._voted)
        votes = counts.votes(self._voted, None if voters is None else voters.row_shares())
        marks = self._marks(scored)
        if self._is_sparse(x.n) and marks is None:
            self._learn_sparsely(x, votes, voters, self._memory.recall(counts, votes), counts, rng, learn=learn)
            return
        points = self._points(x, rng)
        mode = _LEARN[self.length_scales] if learn and self.hyperparameters is None else "fixed"
        if self.inference in ("svi", "published_svi"):
            self._learn_stochastically(x, points, votes, mode, rng)
            return
        some = self._some_groups(votes, rng) if mode == "mlii" and points is None and marks is None else None
        if some is not None:
            part = votes.between(some)
            self._learn_theta(x.take(some), None, part, rng)
            mode = "fixed"
        if mode == "mlii" and self.ard is None and self._may_have_ard():
            found = self._learn_theta(x, points, votes, rng, marks, voters)
        else:
            found = self._fit(x, points, votes, mode, marks, voters, self._memory.recall(counts, votes), learn)
        if self.variance_guard and learn and points is None:
            found = self._guarded(found, x)
        self._keep(found, x if points is None else points, counts)
        if learn:
            self._settle_voters(found, counts)

    def _is_sparse(self, n_items: int) -> bool:
        """Whether there are no features, and too many items for anything as large as their square."""
        return self._groups is None and n_items > _EXACT_LIMIT and self.inference == "auto" and self.n_inducing is None

    def _learn_sparsely(
        self,
        x: Inputs,
        votes: Votes,
        voters: Voters | None,
        sites: Sites,
        counts: VoteCounts,
        rng: np.random.Generator,
        *,
        learn: bool,
    ) -> None:
        """Many items without features; see :mod:`~accord.pairs.process.sparse`."""
        found = fit_sparse(
            votes,
            self.likelihood_,
            voters,
            variance=float(np.exp(self.theta_[0])),
            learn_variance=learn and self.hyperparameters is None and self.length_scales != "base",
            learn_bias=self._learns_bias and learn,
            rng=rng,
            sites=sites,
            tol=self.tol,
        )
        self.theta_, self.likelihood_ = np.array([np.log(found.variance)]), found.likelihood
        self.scorer_ = SparseScorer(self.kernel_, self.theta_, x, found.mean, found.marginal, found.precision)
        self._memory = SiteMemory.of(counts, found.sites, found.votes.weight)
        self._votes, self._people, self._n_added, self.bound_ = found.votes, found.voters, 0, float("nan")
        if found.voters is not None and self._comparisons.annotators is not None:
            self._beliefs = dict(zip(self._comparisons.annotators, found.voters.belief, strict=True))

    def _settle_voters(self, found: Fit, counts: VoteCounts) -> None:
        """Take the voters and the scale of the scores from the joint draws, where there are any, and infer once more.

        What was learnt in turn is surer than it should be where votes are few: random answers that are not seen as
        such make the scores too small, and small scores make every voter look random.
        """
        people, draws = self._people, self._draw() if self._people is not None else None
        if people is None or draws is None or not isinstance(self.scorer_, Scorer):
            return
        belief = self._drawn_beliefs(draws)
        people = replace(people, belief=belief)
        self._people = people = replace(people, shares=people.expected_shares())
        votes = replace(found.votes, ballots=replace(found.votes.ballots, share=people.row_shares()))
        scale = float(np.exp(np.log(draws.scale).mean()))
        self._sampled = replace(draws, whitened=draws.whitened / scale, scale=draws.scale / scale)
        self.theta_ = found.theta + np.where(self.kernel_.is_variance, 2.0 * np.log(scale), 0.0)
        prior = replace(found.prior, root=scale * found.prior.root, design=scale * found.prior.design)
        posterior = infer(prior, votes, found.likelihood, sites=found.posterior.sites, tol=0.02)
        self._posterior, self._votes, self.bound_ = posterior, votes, posterior.bound
        self.scorer_ = replace(
            self.scorer_, theta=self.theta_, root=prior.root, mean=posterior.mean, factor=posterior.factor
        )
        self._memory = SiteMemory.of(counts, posterior.sites, votes.weight)
        if self._comparisons.annotators is not None:
            self._beliefs = dict(zip(self._comparisons.annotators, belief, strict=True))

    def _may_have_ard(self) -> bool:
        groups = self._groups
        if groups is None or any(scale is None for scale in groups.scale):
            return False
        stationary = any(factor.n_parameters for term in self.kernel_.terms for factor in term.factors)
        return groups.n_features <= _MOST_ARD and stationary

    def _learn_theta(
        self,
        x: Inputs,
        points: Inputs | None,
        votes: Votes,
        rng: np.random.Generator,
        marks: Marks | None = None,
        voters: Voters | None = None,
    ) -> Fit:
        """Hyper-parameters by the bound; where ``ard`` is open, one length-scale a feature if the bound says so."""
        tries = self.ard is None and self._may_have_ard()
        first = min(self.max_iter, _FIRST_ROUNDS) if tries else None
        found = self._fit(x, points, votes, "mlii", marks, voters, start_sites(votes), True, first)
        if tries:
            plain, theta = self.kernel_, found.theta
            self._design(True, rng)
            self.theta_, self.likelihood_ = isotropic_start(plain, theta, self.kernel_), found.likelihood
            wider = self._fit(x, points, found.votes, "mlii", marks, found.voters, found.posterior.sites, True)
            # Every free parameter raises the bound by about half a nat for nothing; it has to be worth a whole one.
            if self._objective(wider, self.kernel_) - wider.theta.size > self._objective(found, plain) - theta.size:
                found = wider
            else:
                self.kernel_ = plain
        self.theta_, self.likelihood_ = found.theta, found.likelihood
        return found

    def _objective(self, found: Fit, kernel: Kernel) -> float:
        """The bound with the prior of the hyper-parameters."""
        return found.posterior.bound - self._shrinkage(kernel).penalty(found.theta, kernel.is_variance)[0]

    def _shrinkage(self, kernel: Kernel) -> Shrinkage:
        """The prior of the hyper-parameters; wide for length-scales of features that may not matter at all."""
        variance, length = self.shrinkage
        own = self.ard is None and any(factor.ard for term in kernel.terms for factor in term.factors)
        return Shrinkage(variance, max(length, _ARD_SPREAD) if own else length)

    def _fit(
        self,
        x: Inputs,
        points: Inputs | None,
        votes: Votes,
        mode: str,
        marks: Marks | None,
        voters: Voters | None,
        sites: Sites,
        learn: bool,
        max_outer: int | None = None,
    ) -> Fit:
        method = {"svi": "auto", "published_svi": "variational"}.get(self.inference, self.inference)
        if not learn and voters is None and marks is None:
            prior = make_prior(prepare(self.kernel_, x, points, votes), self.theta_, votes)
            posterior = infer(prior, votes, self.likelihood_, method=method, sites=sites, tol=0.2)
            return Fit(self.theta_, self.likelihood_, None, None, votes, prior, posterior, posterior.convergence)
        return fit(
            self.kernel_,
            x,
            points,
            votes,
            start=self.theta_,
            likelihood=self.likelihood_,
            learn=mode,
            learn_bias=self._learns_bias and learn,
            scores=marks,
            voters=voters,
            sites=sites,
            method=method,
            shrinkage=self._shrinkage(self.kernel_),
            gamma=self.noise_prior,
            max_outer=self.max_iter if max_outer is None else max_outer,
            tol=self.tol,
        )

    def _some_groups(self, votes: Votes, rng: np.random.Generator) -> IntArray | None:
        """Positions of the items of some whole groups, about ``learning_items`` of them; None means all."""
        if self.learning_items is None or self.items_.groups is None or votes.n_items <= 1.25 * self.learning_items:
            return None
        groups = pd.factorize(self.items_.groups[self._order[self._voted]])[0]
        size = np.bincount(groups)
        order = rng.permutation(size.size)
        kept = order[np.cumsum(size[order]) <= self.learning_items]
        rows = np.flatnonzero(np.isin(groups, kept))
        # Votes between groups would be lost; then only all items will do.
        return rows if rows.size and votes.between(rows).left.size >= rows.size else None

    def _points(self, x: Inputs, rng: np.random.Generator) -> Inputs | None:
        stochastic = self.inference in ("svi", "published_svi")
        if self.n_inducing is None and x.n <= _EXACT_LIMIT and not stochastic:
            return None
        wanted = 500 if self.n_inducing is None else self.n_inducing
        if wanted >= x.n and not stochastic:
            return None
        return choose_points(x, min(wanted, x.n), rng)

    def _learn_stochastically(
        self, x: Inputs, points: Inputs | None, votes: Votes, mode: str, rng: np.random.Generator
    ) -> None:
        if points is None or self._given_marks or self.reliability == "learned":
            raise InputError("svi learns from votes alone; drop scores and reliability, or use inference='auto'.")
        self._learn_kernel(x, points, votes, mode, rng)
        found = stochastic_inference(
            self.kernel_,
            self.theta_,
            x,
            points,
            votes,
            self.likelihood_,
            method="variational" if self.inference == "published_svi" else "auto",
            rng=rng,
            batch_size=self.batch_size,
            n_epochs=self.n_epochs,
            forgetting=self.forgetting,
            delay=self.delay,
            workers=self._workers,
        )
        self._keep_stochastic(found, points)

    def _keep_stochastic(self, found: StochasticPosterior, points: Inputs) -> None:
        self.scorer_ = Scorer(self.kernel_, self.theta_, points, found.root, found.mean, found.factor)
        self._n_added = 0
        self.bound_ = float("nan")

    def _learn_kernel(self, x: Inputs, points: Inputs, votes: Votes, mode: str, rng: np.random.Generator) -> None:
        """Hyper-parameters, bias and margin from some of the votes, which is good enough for all of them."""
        if mode == "fixed" and not self._learns_bias and not self._margin:
            return
        part = votes.take(np.sort(rng.permutation(votes.left.size)[:_HYPER_SAMPLE]))
        seen, place = np.unique(np.concatenate([part.left, part.right]), return_inverse=True)
        n = part.left.size
        part = replace(part, left=place[:n], right=place[n:], n_items=seen.size)
        fewer = points.take(np.sort(rng.permutation(points.n)[:200]))
        learnt = self._fit(x.take(seen), fewer, part, mode, None, None, start_sites(part), True)
        self.theta_, self.likelihood_ = learnt.theta, learnt.likelihood

    def _guarded(self, found: Fit, x: Inputs) -> Fit:
        if self.items_.groups is None:
            raise InputError("variance_guard leaves groups out; give the items groups, or switch it off.")
        groups = pd.factorize(self.items_.groups[self._order[self._voted]])[0]
        theta, self.variance_multiplier_ = choose_multiplier(
            self.kernel_, found.theta, x, found.votes, found.likelihood, groups, found.posterior.sites
        )
        prior = make_prior(prepare(self.kernel_, x, None, found.votes), theta, found.votes, found.scores)
        posterior = infer(prior, found.votes, found.likelihood, scores=found.scores, sites=found.posterior.sites)
        return replace(found, theta=theta, prior=prior, posterior=posterior)

    def _keep(self, found: Fit, points: Inputs, counts: VoteCounts) -> None:
        warn_unconverged(
            "PreferenceRanker",
            found.posterior.convergence,
            cure="Raise max_iter or shrink the variances.",
            stacklevel=4,
        )
        self.theta_, self.likelihood_ = found.theta, found.likelihood
        self.bound_, posterior = found.posterior.bound, found.posterior
        self.scorer_ = Scorer(self.kernel_, found.theta, points, found.prior.root, posterior.mean, posterior.factor)
        self._memory = SiteMemory.of(counts, posterior.sites, found.votes.weight)
        self._posterior, self._votes, self._n_added = posterior, found.votes, 0
        self._people = found.voters
        if found.voters is not None and self._comparisons.annotators is not None:
            self._beliefs = dict(zip(self._comparisons.annotators, found.voters.belief, strict=True))

    def _take_items(self, items: Items) -> None:
        voted = self.items_.ids[self._order[self._voted]]
        lost = voted[items.places(voted) < 0]
        if lost.size:
            raise InputError(f"items with votes cannot be taken away; {lost[0]!r} is missing. Pass all items.")
        order = self._order_of(items)
        points = self.scorer_.points
        at = points.index >= 0
        names = self.items_.ids[self._order[points.index[at]]]
        self.items_ = items if self.features_ is None else self.features_.items(items)
        self._item_order = order  # items keep their order, and more of them may follow
        self._comparisons = voters_arranged(Comparisons.from_table(self._comparisons.to_table(), items), order)
        place = places_of(self._order)
        self._voted = place[items.positions(voted)]
        index = points.index.copy()
        index[at] = np.append(place, -1)[items.places(names)]
        self.scorer_ = replace(self.scorer_, points=replace(points, index=index))
        self._memory = SiteMemory.nothing()

    def _scored(self) -> tuple[IntArray, FloatArray]:
        """Positions of the items that have a score, and their scores."""
        names = list(self._given_marks)
        value = np.array([float(self._given_marks[name]) for name in names])
        if not np.isfinite(value).all():
            worst = names[int(np.argmin(np.isfinite(value)))]
            raise InputError(f"every score must be a finite number; that of {worst!r} is not.")
        return self.items_.positions(names, what="scored item"), value

    def _marks(self, scored: tuple[IntArray, FloatArray]) -> Marks | None:
        item, value = scored
        if not item.size:
            return None
        spread = float(value.std()) if value.size > 1 and value.std() > 0 else 1.0
        return Marks(np.searchsorted(self._voted, item), value, float(value.mean()), 0.5 * spread, 0.5 * spread**2)
