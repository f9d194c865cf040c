"""Aspects: the scores that a text gives to several aspects, decided together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from accord.aspects.agreement import (
    LEARNERS,
    AgreementModel,
    agreement_labels,
    agreement_scores,
    fit_agreement,
)
from accord.aspects.features import (
    PhraseFeatures,
    Units,
    as_matrix,
    aspect_names,
    check_enough,
    content_order,
    doubt_zeros,
    given_annotators,
    given_ranks,
    is_matrix,
)
from accord.aspects.field_fit import (
    EDGES,
    AspectCRF,
    Coupling,
    Edges,
    Whitening,
    choose_marginals,
    fit_aspect_crf,
    whitened,
    whitening,
)
from accord.aspects.ordinal import (
    MOST_STACKED,
    NODES,
    OrdinalLogits,
    choose_penalty,
    choose_prior,
    fit_nodes,
    median_ranks,
    mode_ranks,
    rank_probabilities,
)
from accord.aspects.posterior import Posterior
from accord.aspects.prank import (
    ALPHAS,
    RULES,
    Similarity,
    Training,
    UpdateRule,
    choose_and_fit,
    fit_good_grief,
    good_grief_ranks,
)
from accord.aspects.reasons import reasons_of
from accord.aspects.scorers import Scorers, split_scorers, with_scorers
from accord.data.tables import as_frame, column_names, columns_in_order, is_table
from accord.engines.convergence import warn_unconverged
from accord.engines.numerics import sigmoid
from accord.errors import InputError
from accord.evaluation.metrics import ranking_loss
from accord.fitting.settings import Choice, Flag, Many, Number, Rule, Seed, check_settings
from accord.fitting.workers import WithWorkers
from accord.texts.rows import as_texts
from accord.texts.vectors import FittedVectors, check_vectors
from accord.typing import FloatArray, IntArray, ObjectArray

__all__ = ["AspectRanker"]

Model = Literal["prank", "sim", "good_grief", "good_grief_decode", "ordinal", "ordinal_crf"]
PERCEPTRONS = ("prank", "sim", "good_grief", "good_grief_decode")
ORDINALS = ("ordinal", "ordinal_crf")
DECODERS: dict[str, Callable[[FloatArray], IntArray]] = {"median": median_ranks, "mode": mode_ranks}
_PENALTY = 0.1  # of text weights that have nothing in common
# Of stacked nodes: penalty, and correlation of the weights of a phrase. With few texts, and with many, one of two is
# chosen out of fold, on no more texts than this.
_FEW_PRIORS, _FEW_TEXTS = ((_PENALTY, 0.0), (0.03, 0.0)), 400
_MANY_PRIORS, _MANY_TEXTS = ((_PENALTY, 0.0), (0.3, 0.5)), 2000
_MOST_CHOSEN_ON = 4000
_MOST_COUPLED = 10  # ranks; with more, aspects see each other's words and scores in the stacked nodes alone
_CURE_PROBABILITIES = "Use model='ordinal' or 'ordinal_crf'."


class AspectRanker(WithWorkers, BaseEstimator):
    """Ranks 1..k of several aspects of a text, with the relations between aspects.

    Parameters
    ----------
    model : {"ordinal_crf", "ordinal", "good_grief", "good_grief_decode", "sim", "prank"}
        The default is a conditional random field over the aspects whose nodes are stacked ordinal logits; its own
        marginals are taken where they are better than those of the nodes on texts that were held out, and else it keeps
        the nodes' marginals and adds how the aspects hang together. "ordinal" is its nodes alone.
        "prank" ranks each aspect on its own; "sim" adds the aspects' scores by similarity; "good_grief" trains and
        decodes jointly with an agreement model [SB07], "good_grief_decode" only decodes so.
    n_ranks : int
        k, the highest rank.
    aspects : sequence of str, optional
        Names of the aspects; by default the columns of ``y``.
    ngram_range, min_texts
        Of texts: lengths of phrases, and the fewest training texts that a phrase must be in (by default 1 with fewer
        than 400 training texts, 2 with fewer than 2,000, and 3 with more).
    vectors : str, path or callable, optional
        Vectors of texts beside their phrases, as :func:`~accord.texts.vectors.open_vectors` understands them.
    nodes : {"stacked", "cumulative", "all_threshold"}
        Ordinal models: cumulative logits calibrated out of fold on all aspects' scores; the plain logits, with separate
        weights a threshold; one weight vector an aspect.
    penalty : float or sequence of float, optional
        L2 strength of text weights; of several, the one with the least out-of-fold loss. By default .1; with fewer than
        400 texts stacked nodes take .03 where that is better out of fold. With 2,000 texts and more they take .3, and
        expect that a phrase has similar weights under all aspects and thresholds (a correlation of ½ for any two
        aspects, and for any two thresholds), where that is better out of fold.
    stack_penalty, edge_penalty : float
        L2 strengths of what each threshold adds to the second stage of stacking (and to the nodes of the field), and of
        what each pair of aspects adds to the edges that all pairs share.
    edges : {"full", "near", "none"}
        Of the field: a weight for every two ranks of every two aspects; for same, near and apart; none.
    training : {"two_stage", "joint"}
        Of the field: edges on top of out-of-fold nodes, or text weights and edges together. Of Good Grief: "joint"
        always decodes jointly in training, as [SB07] Figure 1 does; otherwise development texts decide.
    decoding : {"median", "mode"}
        Rank of least expected distance, or the most probable one.
    agreement : {None, "logistic", "svm", "perceptron", "oracle"} or AgreementModel
        Learner of "all aspects have the same rank". Good Grief takes the logistic one by default; the field does
        without by default, and takes one as further evidence. "oracle" is told the truth, for analysis of Good Grief:
        ``predict`` then needs ``all_equal``. The ``agreement_`` of a model of the same texts saves fitting it again.
    contrast : bool
        Give the agreement model the largest contrast between two words.
    alpha : float or sequence of float, optional
        Weight of the agreement model in Good Grief, in training and decoding. By default it is ½ unless development
        texts clearly speak for another, and they also say whether it counts in training. Of several numbers the one
        with the least development loss is taken.
    similarity : {None, "all", "others"}
        Of perceptron rankers: add to the score of an aspect those of all aspects, weighted by the similarity of their
        ranks ([SB07] eq. 1), or those of the others only. ``model="sim"`` takes "all" unless told otherwise.
    n_epochs : int
        Most passes of the perceptron rankers; how many are used is chosen on development data.
    passes : int, optional
        Take this many passes instead of choosing.
    update : {"crammer_singer", "figure_1"}
        Perceptron update: Crammer and Singer's, or as printed in [SB07].
    averaged : bool
        Mean of all perceptron iterates, or the last one.
    n_orders : int
        Perceptrons trained in this many orders of the texts and averaged.
    n_folds : int, optional
        Of every cross-fit; by default 10 with fewer than 500 texts and 5 with more.
    development_fraction : float
        Share of the training texts to choose on where ``fit`` is given no development texts.
    n_jobs : int, optional
        Processes of the ordinal models: for the folds, and for the field's loss; as in scikit-learn, None means one.
        The weights are the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int, Generator or None
        What draws folds and orders. The rows are put in an order of their own before, so that their order does not
        matter.

    Attributes
    ----------
    aspects_ : list of str
    ranker_ : GoodGrief or OrdinalLogits
    agreement_ : AgreementModel or None
    crf_ : AspectCRF or None
    coupling_ : Coupling or None
        Loss of nodes and field on held-out texts, and which marginals are taken.
    scorers_ : Scorers or None
        How much higher each annotator scores than the average one; ``scorers_.to_table()`` says it in ranks.

    Examples
    --------
    >>> from accord import AspectRanker
    >>> texts = ["good food, slow service", "bad food, quick service", "good food, quick service"] * 20
    >>> ranker = AspectRanker(n_ranks=2, random_state=0).fit(texts, [[2, 1], [1, 2], [2, 2]] * 20)
    >>> ranker.predict(["good food", "slow service, bad food"])[:, 0].tolist()
    [2, 1]
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "model": Choice((*PERCEPTRONS, *ORDINALS)),
        "n_ranks": Number(2, whole=True),
        "aspects": Many(Choice((), kinds=(str,)), none=True),
        "ngram_range": Many(Number(1, whole=True)),
        "min_texts": Number(1, whole=True, none=True),
        "vectors": Choice((), kinds=(object,), none=True),
        "nodes": Choice(NODES),
        "penalty": Many(Number(0, above=True), one=True, none=True),
        "stack_penalty": Number(0),
        "edges": Choice(EDGES),
        "edge_penalty": Number(0),
        "training": Choice(("two_stage", "joint")),
        "decoding": Choice(tuple(DECODERS)),
        "agreement": Choice((*LEARNERS, "oracle"), kinds=(AgreementModel,), none=True),
        "contrast": Flag(),
        "alpha": Many(Number(0), one=True, none=True),
        "similarity": Choice(("all", "others"), none=True),
        "n_epochs": Number(1, whole=True),
        "passes": Number(1, whole=True, none=True),
        "update": Choice(RULES),
        "averaged": Flag(),
        "n_orders": Number(1, whole=True),
        "n_folds": Number(2, whole=True, none=True),
        "development_fraction": Number(0, 1, above=True, below=True),
        "n_jobs": Number(whole=True, none=True),
        "client": Choice((), kinds=(object,), none=True),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        model: Model = "ordinal_crf",
        n_ranks: int = 5,
        aspects: Sequence[str] | None = None,
        ngram_range: tuple[int, int] = (1, 2),
        min_texts: int | None = None,
        vectors: Any = None,
        nodes: str = "stacked",
        penalty: float | Sequence[float] | None = None,
        stack_penalty: float = 30.0,
        edges: Edges = "full",
        edge_penalty: float = 3.0,
        training: str = "two_stage",
        decoding: str = "median",
        agreement: str | AgreementModel | None = None,
        contrast: bool = True,
        alpha: float | Sequence[float] | None = None,
        similarity: Similarity | None = None,
        n_epochs: int = 10,
        passes: int | None = None,
        update: UpdateRule = "crammer_singer",
        averaged: bool = True,
        n_orders: int = 5,
        n_folds: int | None = None,
        development_fraction: float = 0.125,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.model = model
        self.n_ranks = n_ranks
        self.aspects = aspects
        self.ngram_range = ngram_range
        self.min_texts = min_texts
        self.vectors = vectors
        self.nodes = nodes
        self.penalty = penalty
        self.stack_penalty = stack_penalty
        self.edges = edges
        self.edge_penalty = edge_penalty
        self.training = training
        self.decoding = decoding
        self.agreement = agreement
        self.contrast = contrast
        self.alpha = alpha
        self.similarity = similarity
        self.n_epochs = n_epochs
        self.passes = passes
        self.update = update
        self.averaged = averaged
        self.n_orders = n_orders
        self.n_folds = n_folds
        self.development_fraction = development_fraction
        self.n_jobs = n_jobs
        self.client = client
        self.random_state = random_state

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, *, annotator: Any = None, development: tuple[Any, Any] | None = None
    ) -> "AspectRanker":
        """Learn from texts and their ranks.

        Parameters
        ----------
        X : texts, table with a column ``text``, or array, sparse matrix or table of shape (n_texts, n_features)
            A text that several people scored comes once for each of them. Columns of a table of features are met by
            their names. Features most of which are not 0 count from their means in standard deviations, whatever their
            units are; rows of one length, such as vectors of texts, and features most of which are 0, such as words,
            keep their sizes.
        y : array or table of shape (n_texts, n_aspects)
            Ranks 1..n_ranks; 0 or nan is missing. Wherever ranks are given, columns of a table named as the aspects are
            met by their names. One aspect may come as shape (n_texts,).
        annotator : sequence of shape (n_texts,), optional
            Who gave the ranks of each row (None where it is not known). Ordinal models then learn who is harsh and who
            is lenient; what is predicted is the rank that an average scorer would give.
        development : (X, y), optional
            Texts on which perceptron models choose α and the number of passes.
        """
        self._check()
        rng = np.random.default_rng(self.random_state)
        y = as_frame(y) if is_table(y) else y
        self.flat_ = np.ndim(y) == 1
        self.aspects_ = aspect_names(y, self.aspects)
        ranks = self._ranks(y)
        self.phrases_: PhraseFeatures | None = None
        self.vectors_: FittedVectors | None = None
        self.units_: Units | None = None
        self.feature_names_: list[str] | None = None
        x = self._fit_features(X)
        if x.shape[0] != len(ranks):
            raise InputError(f"every text needs a row of ranks; there are {x.shape[0]} texts and {len(ranks)} rows.")
        self.n_features_in_ = x.shape[1]
        check_enough(ranks, self.aspects_)
        doubt_zeros(y, self.n_ranks)
        scored = np.flatnonzero((ranks > 0).any(axis=1))
        names = given_annotators(annotator, len(ranks))[scored]
        order, texts, who = content_order(x[scored], ranks[scored], names)
        self._order, self._n_rows = scored[order], len(ranks)
        x, ranks, texts, who = x[self._order], ranks[self._order], texts[order], who[order]
        self.ranker_: Any = None  # GoodGrief or OrdinalLogits; None after end-to-end training
        self.agreement_: AgreementModel | None = None
        self.whitening_: Whitening | None = None
        self.crf_: AspectCRF | None = None
        self.coupling_: Coupling | None = None
        self.scorers_: Scorers | None = None
        if self.model in PERCEPTRONS:
            if annotator is not None:
                raise InputError(f"model={self.model!r} cannot tell scorers apart. {_CURE_PROBABILITIES}")
            held = None if development is None else (self._features(development[0]), self._ranks(development[1]))
            self._fit_perceptron(x, ranks, texts, held, rng)
        else:
            self._fit_ordinal(x, ranks, texts, who, names[order], rng)
        del self._order, self._n_rows
        return self

    def _fit_features(self, X: Any) -> Any:
        if is_matrix(X):
            if self.vectors is not None:
                raise InputError("vectors are of texts; X is a matrix of features. Give texts, or leave vectors out.")
            x = as_matrix(X)
            self.feature_names_ = column_names(X)
            self.units_ = Units.of(x)  # strengths and agreement scores are in these units
            return self.units_.convert(x)
        texts = as_texts(X)
        self.phrases_ = PhraseFeatures(ngram_range=_pair(self.ngram_range), min_texts=self.min_texts)
        x = self.phrases_.fit_transform(texts)
        if self.vectors is None:
            return x
        self.vectors_ = FittedVectors.of(self.vectors)
        return self._with_vectors(x, texts)

    def _with_vectors(self, x: Any, texts: list[str]) -> Any:
        if self.vectors_ is None:
            return x
        given = self.vectors if callable(self.vectors) or not self.vectors_.name else None
        return sp.csr_array(sp.hstack([x, sp.csr_array(self.vectors_.encode(given, texts))]))

    def _fit_perceptron(
        self,
        x: Any,
        ranks: IntArray,
        texts: IntArray,
        development: tuple[Any, IntArray] | None,
        rng: np.random.Generator,
    ) -> None:
        agree: FloatArray = np.zeros(len(ranks))
        alphas: tuple[float, ...] = (0.0,)
        if self.model in ("good_grief", "good_grief_decode") and ranks.shape[1] > 1:
            alphas = ALPHAS if self.alpha is None else tuple(np.atleast_1d(self.alpha).tolist())
            if self._is_oracle:
                agree = _oracle_scores(agreement_labels(ranks))
            else:
                self.agreement_, held_out = self._fit_agreement(x, ranks, texts, rng, None)
                agree = held_out - self.agreement_.prior
        settings: dict[str, Any] = {
            "n_ranks": self.n_ranks,
            "n_epochs": self.n_epochs,
            "similarity": "all" if self.model == "sim" and self.similarity is None else self.similarity,
            "free": not isinstance(self.alpha, int | float | None),
            "training": self._training(),
            "rule": self.update,
            "averaged": self.averaged,
            "n_orders": self.n_orders,
        }
        settings |= {"alphas": alphas, "passes": self.passes, "rng": rng}
        if development is None:
            self.ranker_ = choose_and_fit(x, ranks, agree, fraction=self.development_fraction, **settings)
        else:
            dev_x, dev_ranks = development
            if not (dev_ranks > 0).any():
                raise InputError("development texts need scores; all of theirs are missing.")
            held = (dev_x, dev_ranks, self._agreement(dev_x, agreement_labels(dev_ranks)))
            self.ranker_ = fit_good_grief(x, ranks, agree, held, **settings)

    def _training(self) -> Training:
        if self.model != "good_grief":
            return "apart"
        return "joint" if self.training == "joint" or isinstance(self.alpha, int | float) else "chosen"

    def _fit_ordinal(
        self, x: Any, ranks: IntArray, texts: IntArray, who: IntArray, names: ObjectArray, rng: np.random.Generator
    ) -> None:
        m = ranks.shape[1]
        penalty, correlation = self._prior(x, ranks, texts, rng)
        if self.model == "ordinal_crf" and self.training == "joint":
            self.crf_ = fit_aspect_crf(
                x, ranks, n_ranks=self.n_ranks, edges=self.edges, penalty=penalty, edge_penalty=self.edge_penalty,
                workers=self._workers,
            )  # fmt: skip
            self._warn_field()
            return
        several = int(who.max(initial=-1)) > 0
        ranker, held_out = fit_nodes(
            self.nodes, with_scorers(x, who, penalty) if several else x, ranks, n_ranks=self.n_ranks, penalty=penalty,
            correlation=correlation, stack_penalty=self.stack_penalty, n_folds=self._folds(texts), rng=rng,
            texts=texts, n_unit=self._n_unit(x), workers=self._workers,
        )  # fmt: skip
        if several:
            ranker, self.scorers_ = split_scorers(ranker, x, who, names, self.aspects_, penalty)
        self.ranker_ = ranker
        if self.model == "ordinal" or m == 1 or self.n_ranks > _MOST_COUPLED:
            return
        evidence = None
        if self.agreement is not None:
            self.agreement_, scores = self._fit_agreement(x, ranks, texts, rng, (self.ranker_, held_out))
            evidence = scores[:, None]
        self.whitening_ = whitening(held_out)
        inputs, log_p = whitened(self.whitening_, held_out), np.log(rank_probabilities(held_out, m))
        fit = partial(
            fit_aspect_crf, n_ranks=self.n_ranks, edges=self.edges, penalty=self.stack_penalty,
            edge_penalty=self.edge_penalty, workers=self._workers,
        )  # fmt: skip
        self.crf_ = fit(inputs, ranks, offset=log_p, agreement=evidence)
        self._warn_field()
        self.coupling_ = choose_marginals(
            fit, inputs, log_p, evidence, ranks, texts=texts, decode=DECODERS[self.decoding], rng=rng
        )

    def _warn_field(self) -> None:
        if self.crf_ is not None:
            warn_unconverged("The field over aspects", self.crf_.convergence, cure="Raise edge_penalty.", stacklevel=5)

    def _fit_agreement(
        self,
        x: Any,
        ranks: IntArray,
        texts: IntArray,
        rng: np.random.Generator,
        ordinal: tuple[OrdinalLogits, FloatArray] | None,
    ) -> tuple[AgreementModel, FloatArray]:
        """The model, and the out-of-fold log odds of the rows in their own order."""
        if isinstance(self.agreement, AgreementModel):
            held_out = self.agreement.held_out
            if len(held_out) != self._n_rows:
                raise InputError(
                    f"a fitted agreement model must come from the same {self._n_rows} texts; it was fitted on "
                    f"{len(held_out)}."
                )
            return self.agreement, held_out[self._order]
        if self._is_oracle:
            raise InputError("agreement='oracle' is for Good Grief; the field over aspects needs a learner or None.")
        model = fit_agreement(
            x, ranks, n_ranks=self.n_ranks, learner=self.agreement or "logistic", contrast=self.contrast,
            penalty=self._penalty(x, ranks, texts, rng), n_folds=self._folds(texts), rng=rng, texts=texts,
            ordinal=ordinal,
        )  # fmt: skip
        scores = model.held_out
        as_given = np.full(self._n_rows, model.prior)
        as_given[self._order] = scores
        return replace(model, held_out=as_given), scores

    def _prior(self, x: Any, ranks: IntArray, texts: IntArray, rng: np.random.Generator) -> tuple[float, float]:
        """Penalty of the text weights, and how alike those of a phrase are under aspects and thresholds."""
        if self.nodes != "stacked" or self.training != "two_stage" or self.penalty is not None:
            return self._penalty(x, ranks, texts, rng), 0.0
        few, many = x.shape[0] < _FEW_TEXTS, x.shape[0] >= _MANY_TEXTS
        many = many and ranks.shape[1] * (self.n_ranks - 1) <= MOST_STACKED
        if not few and not many:
            return _PENALTY, 0.0
        some = slice(
            _MOST_CHOSEN_ON
        )  # the rows are in an order of their content, so that any of them are like the rest
        kept = np.unique(texts[some], return_inverse=True)[1]
        return choose_prior(
            x[some], ranks[some], _FEW_PRIORS if few else _MANY_PRIORS, seed=int(rng.integers(2**32)),
            n_ranks=self.n_ranks, stack_penalty=self.stack_penalty, n_folds=self._folds(kept), texts=kept,
            n_unit=self._n_unit(x),
        )  # fmt: skip

    def _penalty(self, x: Any, ranks: IntArray, texts: IntArray, rng: np.random.Generator) -> float:
        """Penalty of text weights that have nothing in common."""
        if self.penalty is None:
            return _PENALTY
        if isinstance(self.penalty, int | float):
            return float(self.penalty)
        return choose_penalty(
            x, ranks, tuple(self.penalty), n_ranks=self.n_ranks, n_folds=self._folds(texts), rng=rng, texts=texts
        )

    def _n_unit(self, x: Any) -> int:
        """How many columns, from the first, are phrases of rows that were scaled to one length."""
        if self.phrases_ is not None:
            return len(self.phrases_.kept_)
        squares = np.asarray(x.multiply(x).sum(axis=1)).ravel()
        squares = squares[squares > 0]
        return x.shape[1] if len(squares) and np.ptp(squares) < 1e-6 * squares.max() else 0

    def _folds(self, texts: IntArray) -> int:
        n = int(texts.max()) + 1
        return min(self.n_folds or (10 if n < 500 else 5), n)

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, known: Any = None, all_equal: Any = None, annotator: Any = None) -> IntArray:
        """Ranks of texts, shape (n_texts, n_aspects).

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already (0 or nan elsewhere): they stay, and the field infers the others from them.
        all_equal : bool array of shape (n_texts,), optional
            With ``agreement="oracle"``: whether all ranks are equal in truth.
        annotator : sequence of shape (n_texts,), optional
            Whose ranks to predict; by default, and for people who are not in training, those of an average scorer.
        """
        check_is_fitted(self, "aspects_")
        ranks = self._decoded(self._features(X), known, all_equal, annotator)
        return ranks[:, 0] if self.flat_ else ranks

    def _decoded(self, x: Any, known: Any = None, all_equal: Any = None, annotator: Any = None) -> IntArray:
        if self.model in ORDINALS:
            return DECODERS[self.decoding](self._probabilities(x, known, annotator))
        self._refuse_known(known)
        labels = None if all_equal is None else np.asarray(all_equal).astype(np.int8)
        return good_grief_ranks(self.ranker_, x, self._agreement(x, labels))

    def predict_proba(self, X: Any, *, known: Any = None, annotator: Any = None) -> FloatArray:
        """Probability of every rank, shape (n_texts, n_aspects, n_ranks); given the ranks in ``known``.

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already, 0 or nan elsewhere.
        annotator : sequence of shape (n_texts,), optional
            Whose ranks; by default those of an average scorer.
        """
        self._need_probabilities("probabilities of ranks")
        p = self._probabilities(self._features(X), known, annotator)
        return p[:, 0] if self.flat_ else p

    def predict_all_equal(self, X: Any, *, known: Any = None, annotator: Any = None) -> FloatArray:
        """Probability that all aspects have the same rank, shape (n_texts,).

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already, 0 or nan elsewhere.
        annotator : sequence of shape (n_texts,), optional
            Whose ranks; by default those of an average scorer.
        """
        check_is_fitted(self, "aspects_")
        x = self._features(X)
        if self.model in ORDINALS:
            return self._posterior.all_equal(x, self._known(known), annotator)
        self._refuse_known(known)
        if self.agreement_ is None:
            raise InputError(f"model={self.model!r} has no agreement model. Use 'good_grief' or 'ordinal_crf'.")
        return sigmoid(agreement_scores(self.agreement_, x))

    def predict_jointly(self, X: Any, *, known: Any = None) -> tuple[FloatArray, IntArray, FloatArray]:
        """Probabilities of ranks, ranks, and probabilities that all are equal, where texts are read once.

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already, 0 or nan elsewhere.

        Returns
        -------
        p : array of shape (n_texts, n_aspects, n_ranks)
            As by ``predict_proba``.
        ranks : array of shape (n_texts, n_aspects)
            As by ``predict``.
        equal : array of shape (n_texts,)
            As by ``predict_all_equal``.
        """
        self._need_probabilities("probabilities of ranks")
        x = self._features(X)
        p = self._probabilities(x, known, None)
        return p, DECODERS[self.decoding](p), self._posterior.all_equal(x, self._known(known), None)

    def worth_of_ranks(self, X: Any, *, known: Any = None) -> FloatArray:
        """What the rank of each aspect is expected to tell about all ranks of its text, shape (n_texts, n_aspects).

        It is the expected fall of the entropy of all ranks, in nats; minus infinity where the rank is in ``known``.

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already; 0 or nan where missing.
        """
        self._need_probabilities("what a rank tells")
        x = self._features(X)
        ranks = self._known(known)
        none = np.zeros((x.shape[0], len(self.aspects_)), dtype=np.int64)
        return self._posterior.worth(x, none if ranks is None else ranks)

    def log_likelihood(self, X: Any, y: Any, *, annotator: Any = None) -> FloatArray:
        """Joint log probability of the known ranks of each text, shape (n_texts,).

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        y : array of shape (n_texts, n_aspects)
            Ranks; 0 or nan where missing, which is summed over.
        annotator : sequence of shape (n_texts,), optional
            Whose ranks; by default those of an average scorer.
        """
        self._need_probabilities("a likelihood")
        return self._posterior.log_likelihood(self._features(X), self._ranks(y), annotator)

    def score(self, X: Any, y: Any) -> float:
        """Minus the ranking loss, the mean distance of predicted from known ranks: higher is better.

        Parameters
        ----------
        X : texts or features, as in :meth:`fit`
        y : array of shape (n_texts, n_aspects)
            True ranks; 0 or nan where missing, which does not count.
        """
        ranks = self._ranks(y)
        return -ranking_loss(ranks, np.asarray(self.predict(X)).reshape(ranks.shape))

    def explain(self, text: Any, *, aspect: str | None = None, known: Any = None, n_words: int = 10) -> pd.DataFrame:
        """Why one text is ranked as it is.

        Parameters
        ----------
        text : str, or array or sparse row of shape (1, n_features)
        aspect : str, optional
            Explain this aspect only; by default every aspect, and each reason names its own.
        known : sequence of shape (n_aspects,), optional
            Ranks of the text that are known; an aspect is explained by its words and by the known ranks of the others.
        n_words : int
            The most words that are shown for an aspect.

        Returns
        -------
        table with the columns reason, effect, kind, strongest first
            The effect of a ``word`` is how much higher the expected rank is with it than without it, under the model
            that predicts, the field between the aspects included (for perceptron rankers: what it adds to the score);
            ``vectors`` are all vectors of the text together. A feature that is a measurement is compared with its mean
            over the training texts. ``aspect`` is what a known rank of another aspect adds to
            the expected rank. ``agreement`` is what speaks for (above 0) and against
            (below 0) equal ranks, in log odds. The ranks that are explained are ``table.attrs["label"]``.
        """
        check_is_fitted(self, "aspects_")
        x = self._features([text] if isinstance(text, str) else text)
        return reasons_of(self, sp.csr_array(x), aspect=aspect, known=known, n_words=n_words)

    # -- the models ----------------------------------------------------------------------------------------------

    @property
    def _posterior(self) -> Posterior:
        """The fitted ordinal model."""
        return Posterior(
            self.ranker_, self.crf_, self.whitening_, self.agreement_, self.scorers_,
            keeps_nodes=self.coupling_ is not None and self.coupling_.taken == "nodes",
            n_aspects=len(self.aspects_), n_ranks=self.n_ranks,
        )  # fmt: skip

    def _probabilities(self, x: Any, known: Any, annotator: Any = None) -> FloatArray:
        """Probabilities of ranks (n, m, k), given known ranks."""
        return self._posterior.probabilities(x, self._known(known), annotator)

    def _known(self, known: Any) -> IntArray | None:
        return None if known is None else self._ranks(known)

    def _agreement(self, x: Any, labels: IntArray | None) -> FloatArray:
        """How much more likely than usual equal ranks are in new texts, in log odds; 0 without an agreement model."""
        if self.agreement_ is not None:
            return agreement_scores(self.agreement_, x) - self.agreement_.prior
        if self._is_oracle and self.model in ("good_grief", "good_grief_decode"):
            if labels is None:
                raise InputError("agreement='oracle' must be told the truth; give all_equal=, or another agreement.")
            return _oracle_scores(labels)
        return np.zeros(x.shape[0])

    # -- input ---------------------------------------------------------------------------------------------------

    def _ranks(self, y: Any) -> IntArray:
        return given_ranks(y, self.aspects_, self.n_ranks)

    def _features(self, X: Any) -> Any:
        if self.phrases_ is not None:
            if is_matrix(X):
                raise InputError("this model was trained on texts; give texts, not a matrix of features.")
            texts = as_texts(X)
            return self._with_vectors(self.phrases_.transform(texts), texts)
        x = as_matrix(columns_in_order(X, getattr(self, "feature_names_", None)))
        if x.shape[1] != self.n_features_in_:
            raise InputError(
                f"features must have {self.n_features_in_} columns, as in training; they have {x.shape[1]}."
            )
        return x if self.units_ is None else self.units_.convert(x)

    @property
    def _has_probabilities(self) -> bool:
        return self.model in ORDINALS

    @property
    def _is_oracle(self) -> bool:
        return isinstance(self.agreement, str) and self.agreement == "oracle"

    def _check(self) -> None:
        check_settings(self)
        if self.passes is not None and self.passes > self.n_epochs:
            raise InputError(f"passes must be at most n_epochs, which is {self.n_epochs}; it is {self.passes}.")
        if self.vectors is not None:
            check_vectors(self.vectors)
        if len(self.ngram_range) != 2 or self.ngram_range[0] > self.ngram_range[1]:
            raise InputError(f"ngram_range must be a shortest and a longest length; it is {list(self.ngram_range)}.")

    def _need_probabilities(self, what: str) -> None:
        check_is_fitted(self, "aspects_")
        if self.model not in ORDINALS:
            raise InputError(f"model={self.model!r} has no {what}. {_CURE_PROBABILITIES}")

    def _refuse_known(self, known: Any) -> None:
        if known is not None:
            raise InputError(f"model={self.model!r} cannot use known ranks. {_CURE_PROBABILITIES}")


def _oracle_scores(labels: IntArray) -> FloatArray:
    """A score far from 0 on the true side; 0 where the truth is open."""
    return np.select([labels == 1, labels == 0], [1.0, -1.0], 0.0)


def _pair(ngram_range: Sequence[int]) -> tuple[int, int]:
    return int(ngram_range[0]), int(ngram_range[1])
