"""Pairs: scores, rankings and predictions from votes between texts, by Gaussian process preference learning [SG18]."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.data.vote_blocks import VoteReader, vote_blocks, vote_ids
from accord.errors import InputError
from accord.estimators.base import WithWorkers
from accord.features.groups import FeatureGroups
from accord.inference.fixed_point import warn_unconverged
from accord.inference.gaussian_process import Scores, Sites, Votes, infer, make_prior, prepare, start_sites
from accord.inference.inducing import choose_points
from accord.inference.kernels import Inputs, Kernel
from accord.inference.likelihoods import Preference
from accord.inference.ranking import rank_columns
from accord.inference.scorer import Scorer
from accord.inference.stochastic import StochasticPosterior, VoteProcess
from accord.learning.acquisition import STRATEGIES, candidate_pairs, pick_pairs
from accord.learning.attribution import feature_shares, neighbour_shares, term_shares
from accord.learning.blocked_votes import follow_blocks, stochastic_inference, votes_of_items
from accord.learning.evidence import Fit, Shrinkage, fit
from accord.learning.kernel_design import design_kernel, parameter_table, starting_point
from accord.learning.leave_group_out import choose_multiplier
from accord.learning.reliability import Voters
from accord.learning.vote_counts import SiteMemory, VoteCounts, count_votes
from accord.typing import FloatArray, IntArray

__all__ = ["PreferenceRanker"]

_EXACT_LIMIT = 1500
_INFERENCE = ("auto", "variational", "svi", "laplace")
_HYPER_SAMPLE = 20_000
_LEARN = {"mlii": "mlii", "median": "gamma", "base": "fixed"}


class PreferenceRanker(WithWorkers, ClassifierMixin, BaseEstimator):
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
        Learn how often each voter answers at random.
    standardise : bool
        Centre and scale dense features.
    variance_guard : bool
        Choose one multiplier of all variances by leaving groups of items out: for labels aggregated from several
        people, which look noiseless.
    features : transformer or None
        Makes features of items that have only texts, such as :class:`~accord.features.argument.ArgumentFeatures`.
    hyperparameters : array of shape (n_parameters,) or None
        ``theta_`` of another ranker on the same features, kept as it is. Fit that one on raw votes.
    learning_items : int or None
        Hyper-parameters are learnt from the votes inside whole groups, drawn at random, of about so many items;
        ``None`` (or items without groups) learns them from all votes.
    shrinkage : (float, float)
        Standard deviations of the log-normal priors of variances and length-scales.
    noise_prior : (float, float)
        Shape and rate of the Gamma prior of the inverse variance, used with ``median``.
    batch_size, n_epochs, forgetting, delay
        Of ``svi``: votes a step, passes, and step sizes (t + delay)^−forgetting.
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
        Evidence lower bound in nats.

    Examples
    --------
    >>> from accord import PreferenceRanker
    >>> X = [("tea", "coffee"), ("tea", "water"), ("coffee", "water")]
    >>> PreferenceRanker().fit(X, [1, 1, 1]).rank()["item_id"].tolist()
    ['tea', 'coffee', 'water']
    """

    _streamed: IntArray | None = None  # votes of each item, where the votes themselves are not kept

    def __init__(
        self,
        *,
        kernel: str | Mapping[str, str] = "linear+matern",
        combine: str = "sum",
        ard: bool = False,
        length_scales: str = "mlii",
        inference: str = "auto",
        n_inducing: int | None = None,
        ties: str = "half",
        position_bias: bool = False,
        item_effects: bool | None = None,
        reliability: str | None = None,
        standardise: bool = True,
        variance_guard: bool = False,
        features: Any = None,
        hyperparameters: Any = None,
        learning_items: int | None = 400,
        shrinkage: tuple[float, float] = (2.0, 1.0),
        noise_prior: tuple[float, float] = (2.0, 200.0),
        batch_size: int = 2000,
        n_epochs: int = 5,
        forgetting: float = 0.7,
        delay: float = 1.0,
        n_jobs: int | None = None,
        client: Any = None,
        max_iter: int = 12,
        tol: float = 1e-3,
        random_state: int | None = 0,
    ) -> None:
        self.kernel = kernel
        self.combine = combine
        self.ard = ard
        self.length_scales = length_scales
        self.inference = inference
        self.n_inducing = n_inducing
        self.ties = ties
        self.position_bias = position_bias
        self.item_effects = item_effects
        self.reliability = reliability
        self.standardise = standardise
        self.variance_guard = variance_guard
        self.features = features
        self.hyperparameters = hyperparameters
        self.learning_items = learning_items
        self.shrinkage = shrinkage
        self.noise_prior = noise_prior
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.forgetting = forgetting
        self.delay = delay
        self.n_jobs = n_jobs
        self.client = client
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------

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
        parts = [next(reader(blocks[place])) for place in np.sort(rng.permutation(len(blocks))[:8])]
        left, right, value, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
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
        """Add votes. Hyper-parameters, bias and margin stay; the posterior starts from the last one."""
        if not hasattr(self, "items_"):
            return self.fit(X, y, items=items, annotator=annotator, sample_weight=sample_weight)
        if self._streamed is not None:
            raise InputError(
                "votes cannot be added to those of a file, which are not kept. Fit to files with all votes."
            )
        if items is not None:
            self._take_items(items)
        new = Comparisons.from_xy(X, y, self.items_, annotator=annotator, sample_weight=sample_weight)
        table = pd.concat([self._comparisons.to_table(), new.to_table()], ignore_index=True)
        if "weight" in table:
            table["weight"] = table["weight"].fillna(1.0)
        self._comparisons = Comparisons.from_table(table, self.items_)
        self._learn(np.random.default_rng(self.random_state), learn=False)
        return self

    def _make_features(self) -> None:
        self.features_ = None
        if self.features is not None and self.items_.features is None and self.items_.texts is not None:
            self.features_ = clone(self.features).fit(self.items_.texts)
            self.items_ = self.features_.items(self.items_)

    def _check_settings(self) -> None:
        choices: dict[str, tuple[Any, ...]] = {
            "inference": _INFERENCE,
            "length_scales": ("mlii", "median", "base"),
            "combine": ("sum", "product"),
            "ties": ("half", "margin"),
            "reliability": (None, "em"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(map(str, allowed))}; got {getattr(self, name)!r}.")

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

    def _take_items(self, items: Items) -> None:
        known = set(items.ids)
        lost = [name for name in self.items_.ids[self._voted] if name not in known]
        if lost:
            raise InputError(f"items with votes cannot be taken away; {lost[0]!r} is missing. Pass all items.")
        self._comparisons = Comparisons.from_table(self._comparisons.to_table(), items)
        self.items_ = items if self.features_ is None else self.features_.items(items)
        self._memory = SiteMemory(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def _learn(self, rng: np.random.Generator, *, learn: bool) -> None:
        counts = self._count()
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
        voters = self._voters(counts)
        some = self._some_groups(votes, rng) if mode == "mlii" and points is None and marks is None else None
        if some is not None:
            part = votes.inside(some)
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
        self._fitted_scores = found.scores
        if found.voters is not None and self._comparisons.annotators is not None:
            self._errors = dict(zip(self._comparisons.annotators, found.voters.error.tolist(), strict=True))

    def _voters(self, counts: VoteCounts) -> Voters | None:
        if self.reliability is None:
            return None
        if self._comparisons.annotator is None or self._comparisons.annotators is None:
            raise InputError("reliability needs to know who voted; pass annotator=, one entry a vote.")
        error = np.array([self._errors.get(name, 0.1) for name in self._comparisons.annotators])
        outcomes = 3 if self.ties == "margin" and np.any(counts.value == 0.5) else 2
        return Voters(counts.row, self._comparisons.annotator, counts.raw_weight, error, n_outcomes=outcomes)

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

    # -- answers -------------------------------------------------------------------------------------------------

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
        strategy : {"bald", "uncertainty"}
            Information about the scores, or entropy of the answer, in nats.
        candidates : table with ``left`` and ``right``, optional
            By default all pairs of items, inside one group where items have groups; at most ``max_candidates`` of them,
            drawn at random.
        """
        check_is_fitted(self)
        if strategy not in STRATEGIES:
            raise InputError(f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}.")
        if candidates is None:
            rng = np.random.default_rng(self.random_state)
            groups = None if self.items_.groups is None else pd.factorize(self.items_.groups)[0]
            a, b = candidate_pairs(self.items_.n_items, groups, max_candidates, rng)
            candidates = pd.DataFrame({"left": self.items_.ids[a], "right": self.items_.ids[b]})
        pairs = pair_frame(candidates)
        x, left, right = self._pairs(pairs, None)
        mean, variance = self.scorer_.differences(x, left, right)
        gain = STRATEGIES[strategy](mean, variance)
        chosen = pick_pairs(gain, left, right, n)
        table = pairs.iloc[chosen].reset_index(drop=True)
        return table.assign(gain=gain[chosen], p_left=self.likelihood_.probability(mean, variance)[chosen, 0])

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
