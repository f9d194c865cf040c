"""Pairs: scores, rankings and predictions from votes between texts, by Gaussian process preference learning [SG18]."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.vote_blocks import VoteReader, vote_blocks, vote_ids
from accord.data.vote_order import places_of, voters_arranged
from accord.errors import InputError
from accord.fitting.settings import Choice, Flag, Many, Number, Object, Rule, Seed, check_settings
from accord.pairs.learning import _HYPER_SAMPLE, _LEARN, PairLearning
from accord.pairs.process.blocked_votes import follow_blocks, votes_of_items
from accord.pairs.process.inducing import choose_points
from accord.pairs.process.likelihoods import Ballots
from accord.pairs.process.posterior import Votes, start_sites
from accord.pairs.process.rank_update import add_votes
from accord.pairs.process.scorer import Scorer
from accord.pairs.process.stochastic import VoteProcess
from accord.pairs.voters import majority
from accord.typing import FloatArray

__all__ = ["PreferenceRanker"]

# Votes are added to the posterior that is there up to this share of them, and from so many items on.
_FEW_VOTES = 0.05
_MANY_ITEMS = 200


class PreferenceRanker(PairLearning, ClassifierMixin, BaseEstimator):
    """Ranks texts by votes between them; a Gaussian process carries the votes over to similar and to unseen texts.

    P(left beats right) = Φ((f_left − f_right)/√2), f ~ GP(0, K) ([SG18] eq. 3). K is a sum of kernels over the named
    feature groups of the items, and an effect of each item itself. Without features K is the item effect alone.

    Parameters
    ----------
    kernel : str or mapping of group to str
        Kernel families joined by ``+``: ``linear``, ``matern`` (3/2, Euclidean), ``rbf``, ``matern_product`` (3/2, one
        factor a feature, as published).
    combine : {"sum", "product"}
        Whether the groups' kernels are added or multiplied.
    ard : bool or None
        One length-scale a feature instead of one a group. ``None`` takes what the bound prefers, where there are at
        most 64 features, all of them dense, and one length-scale a group elsewhere.
    length_scales : {"mlii", "median", "base"}
        Learn variances and length-scales by the bound; or keep the length-scales at the median distance and learn one
        variance by its Gamma prior; or learn neither, as is best with very few votes.
    inference : {"auto", "variational", "laplace", "svi", "published_svi"}
        Conjugate variational updates; the published linearisation; Laplace; mini-batches for millions of votes; the
        published linearisation by mini-batches.
    n_inducing : int or None
        Number of inducing points; ``None`` is exact up to 1,500 items with votes and 500 points above.
    ties : {"auto", "half", "margin"}
        An undecided vote is half a vote for each side, as published, or falls into a learned margin. ``"auto"`` learns
        a margin where there are undecided votes.
    position_bias : bool or None
        Learn an advantage of the item shown on the left. ``None`` does so where the side is known of all votes.
    item_effects : bool or None
        Whether each item deviates from what its features say. ``None`` allows it with sums, not as published.
    reliability : {"auto", "learned", "equal"}
        Whether each voter's rate of random answers is learnt. ``"auto"`` learns it where every voter is known, and
        there are at least three of them with five votes each on average.
    aggregate : {None, "majority"}
        ``"majority"`` replaces the votes on a pair by one, the answer most people gave. The scores are then those of
        majorities, which are surer than single votes.
    standardise : bool
        Centre and scale dense features.
    variance_guard : bool
        Choose one multiplier of all variances by leaving groups of items out: for labels aggregated from several
        people, which look noiseless.
    features : transformer, "auto" or None
        Makes features of items that have only texts. ``"auto"`` is
        :class:`~accord.pairs.features.ArgumentFeatures`; ``None`` makes none.
    hyperparameters : array of shape (n_parameters,) or None
        ``theta_`` of another ranker on the same features, kept as it is. Fit that one on raw votes.
    learning_items : int or None
        Hyper-parameters are learnt from the votes inside whole groups, drawn at random, of about so many items;
        ``None`` (or items without groups) learns them from all votes.
    shrinkage : (float, float)
        Standard deviations of the log-normal priors of variances and length-scales; wide, because groups of features
        differ a hundredfold in what they say. Where ``ard`` is left open, length-scales by feature have a deviation of
        at least 5, because a feature may not matter at all.
    noise_prior : (float, float)
        Shape and rate of the Gamma prior of the inverse variance, used with ``median`` and as published.
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
        ``annotator, n_votes, error, low, high``: each voter's rate of random answers with its 90 % interval.
    bound_ : float
        Evidence lower bound in nats; not a number where it was not computed.

    Examples
    --------
    >>> from accord import PreferenceRanker
    >>> X = [("tea", "coffee"), ("tea", "water"), ("coffee", "water")]
    >>> PreferenceRanker().fit(X, [1, 1, 1]).rank()["item_id"].tolist()
    ['tea', 'coffee', 'water']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "kernel": Object("the name of a kernel, or one name a feature group", (str, Mapping), none=False),
        "combine": Choice(("sum", "product")),
        "ard": Flag(none=True),
        "length_scales": Choice(("mlii", "median", "base")),
        "inference": Choice(("auto", "variational", "laplace", "svi", "published_svi")),
        "n_inducing": Number(1, whole=True, none=True),
        "ties": Choice(("auto", "half", "margin")),
        "position_bias": Flag(none=True),
        "item_effects": Flag(none=True),
        "reliability": Choice(("auto", "learned", "equal")),
        "aggregate": Choice(("majority",), none=True),
        "standardise": Flag(),
        "variance_guard": Flag(),
        "features": Choice(("auto",), none=True, kinds=(BaseEstimator,)),
        "hyperparameters": Many(Number(), none=True),
        "learning_items": Number(1, whole=True, none=True),
        "shrinkage": Many(Number(0, above=True), size=2),
        "noise_prior": Many(Number(0, above=True), size=2),
        "batch_size": Number(1, whole=True),
        "n_epochs": Number(1, whole=True, none=True),
        "forgetting": Number(0, 1),
        "delay": Number(0),
        "n_jobs": Number(whole=True, none=True),
        "client": Object("the address of a Dask scheduler or a client of one", (object,)),
        "max_iter": Number(1, whole=True),
        "tol": Number(0),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        kernel: str | Mapping[str, str] = "linear+matern",
        combine: str = "sum",
        ard: bool | None = None,
        length_scales: str = "mlii",
        inference: str = "auto",
        n_inducing: int | None = None,
        ties: str = "auto",
        position_bias: bool | None = None,
        item_effects: bool | None = None,
        reliability: str = "auto",
        aggregate: str | None = None,
        standardise: bool = True,
        variance_guard: bool = False,
        features: Any = "auto",
        hyperparameters: Any = None,
        learning_items: int | None = 400,
        shrinkage: tuple[float, float] = (4.0, 1.5),
        noise_prior: tuple[float, float] = (2.0, 200.0),
        batch_size: int = 2000,
        n_epochs: int | None = None,
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
        self.aggregate = aggregate
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

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        items: Items | None = None,
        annotator: Any = None,
        sample_weight: Any = None,
        shown_left: Any = None,
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
            All items with their features or texts; by default the ids that occur, without features.
        annotator : array of shape (n_votes,), optional
            Who voted.
        sample_weight : array of shape (n_votes,), optional
            How many votes each row stands for; a weak sign such as a click may count less than one.
        shown_left : array of shape (n_votes,), optional
            The id of the item that was shown on the left; ``None`` where that is not known.
        scores : mapping of item id to number, optional
            Absolute scores, learnt from in the same posterior.
        """
        check_settings(self)
        comparisons = Comparisons.from_xy(
            X, y, items, annotator=annotator, sample_weight=sample_weight, shown_left=shown_left
        )
        if not comparisons.n_votes and not scores:
            raise InputError("fitting needs at least one vote or score; there is none.")
        self._take_votes(majority(comparisons) if self.aggregate else comparisons, scores or {})
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
        check_settings(self)
        blocks = vote_blocks(source, **plan)
        items = Items(vote_ids(blocks)) if items is None else items
        none = np.zeros(0, dtype=np.int32)
        self._take_votes(Comparisons(items, none, none, np.zeros(0, dtype=np.float32)), {})
        rng = np.random.default_rng(self.random_state)
        self._lay_out(rng)
        self._voted = np.arange(self.items_.n_items)
        x, reader = self._inputs(self._sorted_items()), VoteReader(self.items_.ids[self._order])
        points = choose_points(x, min(500 if self.n_inducing is None else self.n_inducing, x.n), rng)
        parts = [next(reader(blocks[place])) for place in np.sort(rng.permutation(len(blocks))[:4])]
        left, right, value, weight = (
            np.concatenate([column[:_HYPER_SAMPLE] for column in columns]) for columns in zip(*parts, strict=True)
        )
        del parts
        some = Votes(left, right, Ballots.of(value), weight, x.n)
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
        """Hyper-parameters of these votes, to be passed as ``hyperparameters``; the posterior is not computed.

        Parameters
        ----------
        X, y, items
            Votes, as in :meth:`fit`.
        """
        check_settings(self)
        self._take_votes(Comparisons.from_xy(X, y, items), {})
        rng = np.random.default_rng(self.random_state)
        self._lay_out(rng)
        counts = self._count(self._comparisons)
        self._voted = np.union1d(counts.left, counts.right).astype(np.int64)
        x, votes = self._inputs(self._sorted_items()).take(self._voted), counts.votes(self._voted)
        some = self._some_groups(votes, rng)
        rows = np.arange(x.n) if some is None else some
        points, part = self._points(x.take(rows), rng), votes.between(rows)
        return self._fit(x.take(rows), points, part, "mlii", None, None, start_sites(part), True).theta

    def partial_fit(
        self,
        X: Any,
        y: Any,
        *,
        annotator: Any = None,
        sample_weight: Any = None,
        shown_left: Any = None,
        items: Items | None = None,
    ) -> "PreferenceRanker":
        """Add votes. Hyper-parameters, bias and margin stay; the posterior starts from the last one.

        Among many items a few votes are taken into the last posterior, whose curvatures stay (``bound_`` is then not
        known); once they are more than one in twenty the whole posterior is inferred again.

        Parameters
        ----------
        X, y, annotator, sample_weight, shown_left
            The new votes, as in :meth:`fit`.
        items : Items, optional
            All items, old and new, where the new votes are about items that were not there before.
        """
        if not hasattr(self, "items_"):
            return self.fit(X, y, items=items, annotator=annotator, sample_weight=sample_weight, shown_left=shown_left)
        if self._streamed is not None:
            raise InputError(
                "votes cannot be added to those of a file, which are not kept. Fit to files with all votes."
            )
        if self.aggregate is not None:
            raise InputError("votes cannot be added to majorities, which are all that was kept. Fit to all votes.")
        if items is not None:
            self._take_items(items)
        new = Comparisons.from_xy(
            X, y, self.items_, annotator=annotator, sample_weight=sample_weight, shown_left=shown_left
        )
        if self._learns_bias and (new.shown is None or not new.shown.all()):
            raise InputError("this ranker learnt a position bias; say which item each new vote showed on the left.")
        self._comparisons = voters_arranged(self._comparisons.followed_by(new), self._order)
        if not self._add(new):
            self._learn(np.random.default_rng(self.random_state), learn=False)
        return self

    def _add(self, new: Comparisons) -> bool:
        """Take a few votes into the posterior that is there; False where only inference anew will do."""
        if self.inference != "auto" or self._given_marks or not isinstance(self.scorer_, Scorer):
            return False
        points = self.scorer_.points.index
        exact = np.array_equal(points, self._voted) and points.size >= _MANY_ITEMS
        few = self._n_added + new.n_votes <= _FEW_VOTES * self._comparisons.n_votes
        named = places_of(self._order)[np.concatenate([new.left, new.right])]
        if not (exact and few and np.isin(named, points).all()):
            return False
        counts = self._count(new)
        voters = self._voters(counts, new)
        more = counts.votes(points, None if voters is None else voters.row_shares())
        found, self._votes = add_votes(self.scorer_.root, self._posterior, self._votes, more, self.likelihood_)
        self._posterior, self.bound_ = found, found.bound
        self.scorer_ = replace(self.scorer_, mean=found.mean, factor=found.factor)
        self._memory = self._memory.extended(counts, found.sites.after(found.sites.precision.size - more.left.size))
        self._n_added += new.n_votes
        self._sampled = None
        return True
