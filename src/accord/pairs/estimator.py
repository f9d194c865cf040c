"""Pairs: scores, rankings and predictions from votes between texts, by Gaussian process preference learning [SG18]."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_blocks import VoteReader, vote_blocks, vote_ids
from accord.engines.convergence import warn_unconverged
from accord.errors import InputError
from accord.fitting.workers import WithWorkers
from accord.pairs.answers import PairAnswers
from accord.pairs.feature_groups import FeatureGroups
from accord.pairs.process.blocked_votes import follow_blocks, stochastic_inference, votes_of_items
from accord.pairs.process.evidence import Fit, Shrinkage, fit
from accord.pairs.process.inducing import choose_points
from accord.pairs.process.kernel_design import design_kernel, starting_point
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.leave_group_out import choose_multiplier
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import Posterior, Scores, Sites, Votes, infer, make_prior, prepare, start_sites
from accord.pairs.process.rank_update import add_votes
from accord.pairs.process.scorer import Scorer
from accord.pairs.process.stochastic import StochasticPosterior, VoteProcess
from accord.pairs.process.vote_counts import SiteMemory, VoteCounts, count_votes
from accord.pairs.settings import PairSettings
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray

__all__ = ["PreferenceRanker"]

_EXACT_LIMIT = 1500
_HYPER_SAMPLE = 20_000
# Votes are added to the posterior that is there up to this share of them, and from so many items on.
_FEW_VOTES = 0.05
_MANY_ITEMS = 200
_LEARN = {"mlii": "mlii", "median": "gamma", "base": "fixed"}


class PreferenceRanker(PairAnswers, PairSettings, WithWorkers, ClassifierMixin, BaseEstimator):
    """Ranks texts by votes between them; a Gaussian process carries the votes over to similar and to unseen texts.

    P(left beats right) = Φ((f_left − f_right)/√2), f ~ GP(0, K) ([SG18] eq. 3). K is a sum of kernels over the named
    feature groups of the items, and an effect of each item itself.

    Parameters
    ----------
    kernel : str or mapping of group to str
        Kernel families joined by ``+``: ``linear``, ``matern`` (3/2, Euclidean), ``rbf``, ``matern_product`` (3/2, one
        factor a feature, as published).
    combine : {"sum", "product"}
        Whether the groups' kernels are added or multiplied.
    ard : bool
        One length-scale a feature instead of one a group.
    length_scales : {"mlii", "median", "base"}
        Learn variances and length-scales by the bound; or keep the length-scales at the median distance and learn one
        variance by its Gamma prior; or learn neither, as is best with very few votes.
    inference : {"auto", "variational", "svi", "laplace"}
        Conjugate variational updates; the published linearisation; mini-batches for millions of votes; Laplace.
    n_inducing : int or None
        Number of inducing points; ``None`` is exact up to 1,500 items with votes and 500 points above.
    ties : {"half", "margin"}
        An undecided vote is half a vote for each side, as published, or falls into a learned margin.
    position_bias : bool
        Learn an advantage of the item shown left.
    item_effects : bool or None
        Whether each item deviates from what its features say. ``None`` allows it with sums, not as published.
    reliability : {None, "em"}
        Learn how often each voter answers at random. All votes on a pair are then reports about one outcome of the
        pair, which counts as one vote; an undecided vote is no report unless ``ties`` is ``"margin"``.
    standardise : bool
        Centre and scale dense features.
    variance_guard : bool
        Choose one multiplier of all variances by leaving groups of items out: for labels aggregated from several
        people, which look noiseless.
    features : transformer or None
        Makes features of items that have only texts, such as :class:`~accord.pairs.features.ArgumentFeatures`.
    hyperparameters : array of shape (n_parameters,) or None
        ``theta_`` of another ranker on the same features, kept as it is. Fit that one on raw votes.
    learning_items : int or None
        Hyper-parameters are learnt from the votes inside whole groups, drawn at random, of about so many items;
        ``None`` (or items without groups) learns them from all votes.
    shrinkage : (float, float)
        Standard deviations of the log-normal priors of variances and length-scales; wide, because groups of features
        differ a hundredfold in what they say.
    noise_prior : (float, float)
        Shape and rate of the Gamma prior of the inverse variance, used with ``median``.
    batch_size, n_epochs, forgetting, delay
        Of ``svi``: votes a step, passes (``None``: five, or fewer if they make a thousand steps), and step sizes
        (t + delay)^−forgetting.
    n_jobs : int or None
        Of ``svi``: processes that sum a step's votes, 20,000 at a time; as in scikit-learn, None means one. The result
        is the same.
    client : str, distributed.Client or None
        Of ``svi``: the address of a Dask scheduler, or a client of one, to do so on a cluster.
    max_iter, tol
        Most alternations of the learning, and the relative change of the bound at which it stops.
    random_state : int or None

    Attributes
    ----------
    theta_ : array of shape (n_parameters,)
        Logarithms of variances and length-scales relative to the base scales.
    hyperparameters_ : DataFrame
        The same in units: ``term, group, parameter, value``.
    likelihood_ : Preference
        Learned position bias and margin.
    annotators_ : DataFrame or None
        ``annotator, n_votes, error``: each voter's rate of random answers.
    bound_ : float
        Evidence lower bound in nats; not a number where it was not computed.

    Examples
    --------
    >>> from accord import PreferenceRanker
    >>> X = [("tea", "coffee"), ("tea", "water"), ("coffee", "water")]
    >>> PreferenceRanker().fit(X, [1, 1, 1]).rank()["item_id"].tolist()
    ['tea', 'coffee', 'water']
    """

    _posterior: Posterior
    _votes: Votes
    _memory: SiteMemory

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        items: Items | None = None,
        annotator: Any = None,
        sample_weight: Any = None,
        scores: Any = None,
    ) -> "PreferenceRanker":
        """Fit to votes.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two items.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided.
        items : Items, optional
            All items with their features; by default the ids that occur, without features.
        annotator : array of shape (n_votes,), optional
            Who voted.
        sample_weight : array of shape (n_votes,), optional
        scores : mapping of item id to number, optional
            Absolute scores, learnt from in the same posterior.
        """
        self._check_settings()
        comparisons = Comparisons.from_xy(X, y, items, annotator=annotator, sample_weight=sample_weight)
        if not comparisons.n_votes and not scores:
            raise InputError("fitting needs at least one vote or score; there is none.")
        self.items_, self._comparisons, self._scores = comparisons.items, comparisons, dict(scores or {})
        self._streamed = None
        self._make_features()
        rng = np.random.default_rng(self.random_state)
        self._lay_out(rng)
        self._learn(rng, learn=True)
        return self

    def fit_parquet(self, source: Any, *, items: Items | None = None, **plan: int) -> "PreferenceRanker":
        """Fit to the votes of Parquet files by ``svi``; memory does not grow with their number.

        A step takes whole row groups, ``batch_size`` votes or more; they should hold votes in no particular order.

        Parameters
        ----------
        source : path
            A Parquet file, or a folder of them, with ``left``, ``right``, ``value`` and optionally ``weight``.
        items : Items, optional
            As in :meth:`fit`; by default the ids that occur, without features.
        **plan
            ``min_rows`` and ``max_rows`` of :func:`~accord.data.parquet_blocks.plan_blocks`.
        """
        self._check_settings()
        blocks = vote_blocks(source, **plan)
        self.items_ = Items(vote_ids(blocks)) if items is None else items
        none = np.zeros(0, dtype=np.int32)
        self._comparisons, self._scores = Comparisons(self.items_, none, none, np.zeros(0, dtype=np.float32)), {}
        self._make_features()
        rng = np.random.default_rng(self.random_state)
        self._lay_out(rng)
        self._voted = np.arange(self.items_.n_items)
        x, reader = self._inputs(self.items_), VoteReader(self.items_.ids)
        points = choose_points(x, min(500 if self.n_inducing is None else self.n_inducing, x.n), rng)
        parts = [next(reader(blocks[place])) for place in np.sort(rng.permutation(len(blocks))[:4])]
        left, right, value, weight = (
            np.concatenate([column[:_HYPER_SAMPLE] for column in columns]) for columns in zip(*parts, strict=True)
        )
        del parts
        some = Votes(left, right, value, weight, x.n)
        self._learn_kernel(
            x, points, some, "fixed" if self.hyperparameters is not None else _LEARN[self.length_scales], rng
        )
        process = VoteProcess.of(self.kernel_, self.theta_, x, points, self.likelihood_)
        with self._workers.open(blocks, common=(process, reader), keep=False) as opened:
            found = follow_blocks(
                opened, np.array([block.n_rows for block in blocks]), process.root, rng=rng,
                batch_size=self.batch_size, n_epochs=self.n_epochs, forgetting=self.forgetting, delay=self.delay,
            )  # fmt: skip
            self._streamed = votes_of_items(opened, x.n)
        self._keep_stochastic(found, points)
        return self

    def learn_hyperparameters(self, X: Any, y: Any, *, items: Items | None = None) -> FloatArray:
        """Hyper-parameters of these votes, to be passed as ``hyperparameters``; the posterior is not computed."""
        self._check_settings()
        self._comparisons, self._scores = Comparisons.from_xy(X, y, items), {}
        self.items_ = self._comparisons.items
        self._make_features()
        rng = np.random.default_rng(self.random_state)
        self._lay_out(rng)
        counts = self._count()
        self._voted = np.union1d(counts.left, counts.right).astype(np.int64)
        x, votes = self._inputs(self.items_).take(self._voted), counts.votes(self._voted)
        some = self._some_groups(votes, rng)
        rows = np.arange(x.n) if some is None else some
        points, part = self._points(x.take(rows), rng), votes.inside(rows)
        return self._fit(x.take(rows), points, part, "mlii", None, None, start_sites(part), True).theta

    def _count(self) -> VoteCounts:
        given = self._comparisons
        return count_votes(given.left, given.right, given.value, given.weight, oriented=self.position_bias)

    def partial_fit(
        self, X: Any, y: Any, *, annotator: Any = None, sample_weight: Any = None, items: Items | None = None
    ) -> "PreferenceRanker":
        """Add votes. Hyper-parameters, bias and margin stay; the posterior starts from the last one.

        Among many items a few votes are taken into the last posterior, whose curvatures stay (``bound_`` is then not
        known); once they are more than one in twenty the whole posterior is inferred again.
        """
        if not hasattr(self, "items_"):
            return self.fit(X, y, items=items, annotator=annotator, sample_weight=sample_weight)
        if self._streamed is not None:
            raise InputError(
                "votes cannot be added to those of a file, which are not kept. Fit to files with all votes."
            )
        if items is not None:
            self._take_items(items)
        new = Comparisons.from_xy(X, y, self.items_, annotator=annotator, sample_weight=sample_weight)
        self._comparisons = self._comparisons.followed_by(new)
        if not self._add(new):
            self._learn(np.random.default_rng(self.random_state), learn=False)
        return self

    def _add(self, new: Comparisons) -> bool:
        """Take a few votes into the posterior that is there; False where only inference anew will do."""
        if self.inference != "auto" or self.reliability is not None or self._scores:
            return False
        points = self.scorer_.points.index
        exact = np.array_equal(points, self._voted) and points.size >= _MANY_ITEMS
        few = self._n_added + new.n_votes <= _FEW_VOTES * self._comparisons.n_votes
        if not (exact and few and np.isin(np.concatenate([new.left, new.right]), points).all()):
            return False
        counts = count_votes(new.left, new.right, new.value, new.weight, oriented=self.position_bias)
        more = counts.votes(points)
        found, self._votes = add_votes(self.scorer_.root, self._posterior, self._votes, more, self.likelihood_)
        self._posterior, self.bound_ = found, found.bound
        self.scorer_ = replace(self.scorer_, mean=found.mean, factor=found.factor)
        self._memory = self._memory.extended(counts, found.sites.after(found.sites.precision.size - more.left.size))
        self._n_added += new.n_votes
        return True

    def _make_features(self) -> None:
        self.features_ = None
        if self.features is not None and self.items_.features is None and self.items_.texts is not None:
            self.features_ = clone(self.features).fit(self.items_.texts)
            self.items_ = self.features_.items(self.items_)

    def _lay_out(self, rng: np.random.Generator) -> None:
        """Groups of features and the kernel over them, from all items."""
        features = self.items_.features
        self._groups: FeatureGroups | None = None
        if features is not None and features.shape[1]:
            self._groups = FeatureGroups.of(features, self.items_.feature_groups, standardise=self.standardise)
        effects = self.combine == "sum" if self.item_effects is None else self.item_effects
        inputs = self._inputs(self.items_)
        self.kernel_: Kernel = design_kernel(
            inputs,
            self._groups.names if self._groups else (),
            families=self.kernel,
            combine=self.combine,
            ard=self.ard,
            item_effects=effects or self._groups is None,
            rng=rng,
        )
        start = starting_point(self.kernel_)
        if self.hyperparameters is not None:
            start = np.array(self.hyperparameters, dtype=np.float64)
            if start.shape != (self.kernel_.n_parameters,):
                raise InputError(
                    f"hyperparameters must have shape ({self.kernel_.n_parameters},), as theta_ of a ranker with the "
                    f"same kernel and features has; they have {start.shape}."
                )
        self.theta_ = start
        self.likelihood_ = Preference(margin=0.5 if self.ties == "margin" else None)
        self._memory = SiteMemory(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
        self._errors: dict[str, float] = {}

    def _take_items(self, items: Items) -> None:
        known = set(items.ids)
        lost = [name for name in self.items_.ids[self._voted] if name not in known]
        if lost:
            raise InputError(f"items with votes cannot be taken away; {lost[0]!r} is missing. Pass all items.")
        self._comparisons = Comparisons.from_table(self._comparisons.to_table(), items)
        self.items_ = items if self.features_ is None else self.features_.items(items)
        self._memory = SiteMemory(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def _learn(self, rng: np.random.Generator, *, learn: bool) -> None:
        raw = counts = self._count()
        voters = None
        if self.reliability is not None and self.inference != "svi":
            counts, voters = self._voters(counts)
        scored = self._index_scores()
        self._voted = np.union1d(np.union1d(counts.left, counts.right), scored[0]).astype(np.int64)
        everything = self._inputs(self.items_)
        x = everything.take(self._voted)
        votes, marks = counts.votes(self._voted), self._marks(scored)
        points = self._points(x, rng)
        mode = "fixed"
        if learn and self.hyperparameters is None:
            mode = _LEARN[self.length_scales]
        if self.inference == "svi":
            self._learn_stochastically(x, points, votes, mode, rng)
            return
        some = (
            self._some_groups(raw.votes(self._voted), rng)
            if mode == "mlii" and points is None and marks is None
            else None
        )
        if some is not None:
            part = raw.votes(self._voted).inside(some)  # outcomes of pairs would look noiseless
            self.theta_ = self._fit(x.take(some), None, part, mode, None, None, start_sites(part), True).theta
            mode = "fixed"
        found = self._fit(x, points, votes, mode, marks, voters, self._memory.recall(counts, votes), learn)
        if self.variance_guard and learn and points is None:
            found = self._guarded(found, x)
        self._keep(found, x if points is None else points, counts)

    def _fit(
        self,
        x: Inputs,
        points: Inputs | None,
        votes: Votes,
        mode: str,
        marks: Scores | None,
        voters: Voters | None,
        sites: Sites,
        learn: bool,
    ) -> Fit:
        method = "auto" if self.inference == "svi" else self.inference
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
            learn_bias=self.position_bias and learn,
            scores=marks,
            voters=voters,
            sites=sites,
            method=method,
            shrinkage=Shrinkage(*self.shrinkage),
            gamma=self.noise_prior,
            max_outer=self.max_iter,
            tol=self.tol,
        )

    def _some_groups(self, votes: Votes, rng: np.random.Generator) -> IntArray | None:
        """Positions of the items of some whole groups, about ``learning_items`` of them; None means all."""
        if self.learning_items is None or self.items_.groups is None or votes.n_items <= 1.25 * self.learning_items:
            return None
        groups = pd.factorize(self.items_.groups[self._voted])[0]
        size = np.bincount(groups)
        order = rng.permutation(size.size)
        kept = order[np.cumsum(size[order]) <= self.learning_items]
        rows = np.flatnonzero(np.isin(groups, kept))
        # Votes between groups would be lost; then only all items will do.
        return rows if rows.size and votes.inside(rows).left.size >= rows.size else None

    def _points(self, x: Inputs, rng: np.random.Generator) -> Inputs | None:
        if self.n_inducing is None and x.n <= _EXACT_LIMIT and self.inference != "svi":
            return None
        wanted = 500 if self.n_inducing is None else self.n_inducing
        if wanted < 1:
            raise InputError(f"n_inducing must be at least 1; got {wanted}.")
        if wanted >= x.n and self.inference != "svi":
            return None
        return choose_points(x, min(wanted, x.n), rng)

    def _learn_stochastically(
        self, x: Inputs, points: Inputs | None, votes: Votes, mode: str, rng: np.random.Generator
    ) -> None:
        if points is None or self._scores or self.reliability is not None:
            raise InputError("svi learns from votes alone; drop scores and reliability, or use inference='auto'.")
        self._learn_kernel(x, points, votes, mode, rng)
        found = stochastic_inference(
            self.kernel_,
            self.theta_,
            x,
            points,
            votes,
            self.likelihood_,
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
        self._errors = {}
        self._n_added = 0
        self.bound_ = float("nan")

    def _learn_kernel(self, x: Inputs, points: Inputs, votes: Votes, mode: str, rng: np.random.Generator) -> None:
        """Hyper-parameters, bias and margin from some of the votes, which is good enough for all of them."""
        if mode == "fixed" and not self.position_bias and self.ties != "margin":
            return
        some = np.sort(rng.permutation(votes.left.size)[:_HYPER_SAMPLE])
        part = Votes(votes.left[some], votes.right[some], votes.value[some], votes.weight[some], x.n)
        seen, place = np.unique(np.concatenate([part.left, part.right]), return_inverse=True)
        part = replace(part, left=place[: some.size], right=place[some.size :], n_items=seen.size)
        fewer = points.take(np.sort(rng.permutation(points.n)[:200]))
        learnt = self._fit(x.take(seen), fewer, part, mode, None, None, start_sites(part), True)
        self.theta_, self.likelihood_ = learnt.theta, learnt.likelihood

    def _guarded(self, found: Fit, x: Inputs) -> Fit:
        if self.items_.groups is None:
            raise InputError("variance_guard leaves groups out; give the items groups, or switch it off.")
        groups = pd.factorize(self.items_.groups[self._voted])[0]
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
        self._fitted_scores = found.scores
        if found.voters is not None and self._comparisons.annotators is not None:
            self._errors = dict(zip(self._comparisons.annotators, found.voters.error.tolist(), strict=True))

    def _voters(self, counts: VoteCounts) -> tuple[VoteCounts, Voters]:
        """The pairs' outcomes as counted votes, weighed by what the voters say, and the voters."""
        given = self._comparisons
        if given.annotator is None or given.annotators is None:
            raise InputError("reliability needs to know who voted; pass annotator=, one entry a vote.")
        error = np.array([self._errors.get(name, 0.1) for name in given.annotators])
        answer = counts.value[counts.row]
        undecided = self.ties == "margin" and bool(np.any(answer == 0.5))
        outcomes = np.array([0.0, 0.5, 1.0] if undecided else [0.0, 1.0])
        spread, pair = counts.every_outcome(outcomes)
        n_pairs = spread.left.size // outcomes.size
        voters = Voters(pair, answer, given.annotator, counts.raw_weight, error, n_pairs, outcomes)
        return replace(spread, weight=voters.first_weights()), voters

    def _index_scores(self) -> tuple[IntArray, FloatArray]:
        names = list(self._scores)
        value = np.array([float(self._scores[name]) for name in names])
        if not np.isfinite(value).all():
            worst = names[int(np.argmin(np.isfinite(value)))]
            raise InputError(f"every score must be a finite number; that of {worst!r} is not.")
        return self.items_.positions(names, what="scored item"), value

    def _marks(self, scored: tuple[IntArray, FloatArray]) -> Scores | None:
        item, value = scored
        if not item.size:
            return None
        spread = float(value.std()) if value.size > 1 and value.std() > 0 else 1.0
        return Scores(np.searchsorted(self._voted, item), value, float(value.mean()), 0.5 * spread, 0.5 * spread**2)
