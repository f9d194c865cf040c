"""Aspects: the scores that a text gives to several aspects, decided together."""

from collections.abc import Callable, Mapping, Sequence
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
    agreement_reasons,
    agreement_scores,
    fit_agreement,
)
from accord.aspects.features import PhraseFeatures, as_matrix, aspect_names, check_enough, given_ranks, is_matrix
from accord.aspects.field import (
    EDGES,
    AspectCRF,
    Edges,
    Whitening,
    aspect_graph,
    clamped,
    crf_scores,
    fit_aspect_crf,
    joint_log_likelihood,
    whitened,
    whitening,
)
from accord.aspects.ordinal import (
    NODES,
    OrdinalLogits,
    choose_penalty,
    fit_nodes,
    median_ranks,
    mode_ranks,
    ordinal_logits,
    ordinal_probabilities,
)
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
from accord.data.tables import as_frame, is_table
from accord.engines.convergence import warn_unconverged
from accord.engines.numerics import normalise_log, sigmoid
from accord.errors import InputError
from accord.evaluation.metrics import ranking_loss
from accord.fitting.settings import Choice, Flag, Many, Number, Rule, Seed, check_settings
from accord.fitting.workers import WithWorkers
from accord.texts.rows import as_texts
from accord.typing import FloatArray, IntArray

__all__ = ["AspectRanker"]

Model = Literal["prank", "sim", "good_grief", "good_grief_decode", "ordinal", "ordinal_crf"]
PERCEPTRONS = ("prank", "sim", "good_grief", "good_grief_decode")
ORDINALS = ("ordinal", "ordinal_crf")
DECODERS: dict[str, Callable[[FloatArray], IntArray]] = {"median": median_ranks, "mode": mode_ranks}
_CURE_PROBABILITIES = "Use model='ordinal' or 'ordinal_crf'."


class AspectRanker(WithWorkers, BaseEstimator):
    """Ranks 1..k of several aspects of a text, with the relations between aspects.

    Parameters
    ----------
    model : {"ordinal_crf", "ordinal", "good_grief", "good_grief_decode", "sim", "prank"}
        The default is a conditional random field over the aspects whose nodes are stacked ordinal logits; "ordinal" is
        its nodes alone. "prank" ranks each aspect on its own; "sim" adds the other aspects' scores; "good_grief" trains
        and decodes jointly with an agreement model [SB07], "good_grief_decode" only decodes so.
    n_ranks : int
        k, the highest rank.
    aspects : sequence of str, optional
        Names of the aspects; by default the columns of ``y``.
    ngram_range, min_texts
        Of texts: lengths of phrases, and the fewest training texts that a phrase must be in.
    nodes : {"stacked", "cumulative", "all_threshold"}
        Ordinal models: cumulative logits calibrated out of fold on all aspects' scores; the plain logits, with separate
        weights a threshold; one weight vector an aspect.
    penalty : float or sequence of float
        L2 strength of text weights; of several, the one with the least out-of-fold loss.
    stack_penalty, edge_penalty : float
        L2 strengths of the second stage of stacking, and of the field's edges.
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
    n_folds : int
        Of every cross-fit.
    development_fraction : float
        Share of the training texts to choose on where ``fit`` is given no development texts.
    n_jobs : int, optional
        Processes of the ordinal models: for the folds, and for the field's loss; as in scikit-learn, None means one.
        The weights are the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int, Generator or None

    Attributes
    ----------
    aspects_ : list of str
    ranker_ : GoodGrief or OrdinalLogits
    agreement_ : AgreementModel or None
    crf_ : AspectCRF or None

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
        "min_texts": Number(1, whole=True),
        "nodes": Choice(NODES),
        "penalty": Many(Number(0, above=True), one=True),
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
        "n_folds": Number(2, whole=True),
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
        min_texts: int = 3,
        nodes: str = "stacked",
        penalty: float | Sequence[float] = 0.1,
        stack_penalty: float = 10.0,
        edges: Edges = "full",
        edge_penalty: float = 1.0,
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
        n_folds: int = 5,
        development_fraction: float = 0.125,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.n_ranks = n_ranks
        self.aspects = aspects
        self.ngram_range = ngram_range
        self.min_texts = min_texts
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

    def fit(self, X: Any, y: Any, *, development: tuple[Any, Any] | None = None) -> "AspectRanker":
        """Learn from texts and their ranks.

        Parameters
        ----------
        X : sequence of str, or array or sparse matrix of shape (n_texts, n_features)
        y : array or table of shape (n_texts, n_aspects)
            Ranks 1..n_ranks; 0 or nan is missing. One aspect may come as shape (n_texts,).
        development : (X, y), optional
            Texts on which perceptron models choose α and the number of passes.
        """
        self._check()
        rng = np.random.default_rng(self.random_state)
        y = as_frame(y) if is_table(y) else y
        self.flat_ = np.ndim(y) == 1
        self.aspects_ = aspect_names(y, self.aspects)
        ranks = self._ranks(y)
        self.phrases_ = (
            None if is_matrix(X) else PhraseFeatures(ngram_range=_pair(self.ngram_range), min_texts=self.min_texts)
        )
        x = as_matrix(X) if self.phrases_ is None else self.phrases_.fit_transform(as_texts(X))
        if x.shape[0] != len(ranks):
            raise InputError(f"every text needs a row of ranks; there are {x.shape[0]} texts and {len(ranks)} rows.")
        self.n_features_in_ = x.shape[1]
        check_enough(ranks, self.aspects_)
        scored = (ranks > 0).any(axis=1)
        x, ranks = x[scored], ranks[scored]
        self.ranker_: Any = None  # GoodGrief or OrdinalLogits; None after end-to-end training
        self.agreement_: AgreementModel | None = None
        self.whitening_: Whitening | None = None
        self.crf_: AspectCRF | None = None
        if self.model in PERCEPTRONS:
            held = None if development is None else (self._features(development[0]), self._ranks(development[1]))
            self._fit_perceptron(x, ranks, held, rng)
        else:
            self._fit_ordinal(x, ranks, rng)
        return self

    def _fit_perceptron(
        self, x: Any, ranks: IntArray, development: tuple[Any, IntArray] | None, rng: np.random.Generator
    ) -> None:
        agree: FloatArray = np.zeros(len(ranks))
        alphas: tuple[float, ...] = (0.0,)
        if self.model in ("good_grief", "good_grief_decode") and ranks.shape[1] > 1:
            alphas = ALPHAS if self.alpha is None else tuple(np.atleast_1d(self.alpha).tolist())
            if self._is_oracle:
                agree = _oracle_scores(agreement_labels(ranks))
            else:
                self.agreement_ = self._fit_agreement(x, ranks, rng, None)
                agree = self.agreement_.held_out - self.agreement_.prior
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

    def _fit_ordinal(self, x: Any, ranks: IntArray, rng: np.random.Generator) -> None:
        penalty = self._penalty(x, ranks, rng)
        if self.model == "ordinal_crf" and self.training == "joint":
            self.crf_ = fit_aspect_crf(
                x, ranks, n_ranks=self.n_ranks, edges=self.edges, penalty=penalty, edge_penalty=self.edge_penalty,
                workers=self._workers,
            )  # fmt: skip
        else:
            self.ranker_, held_out = fit_nodes(
                self.nodes, x, ranks, n_ranks=self.n_ranks, penalty=penalty, stack_penalty=self.stack_penalty,
                n_folds=self._folds(ranks), rng=rng, workers=self._workers,
            )  # fmt: skip
            if self.model == "ordinal":
                return
            evidence = None
            if self.agreement is not None and ranks.shape[1] > 1:
                self.agreement_ = self._fit_agreement(x, ranks, rng, (self.ranker_, held_out))
                evidence = self.agreement_.held_out[:, None]
            self.whitening_ = whitening(held_out)
            self.crf_ = fit_aspect_crf(
                whitened(self.whitening_, held_out), ranks, n_ranks=self.n_ranks, edges=self.edges,
                agreement=evidence, penalty=self.stack_penalty, edge_penalty=self.edge_penalty,
                workers=self._workers,
            )  # fmt: skip
        warn_unconverged("The field over aspects", self.crf_.convergence, cure="Raise edge_penalty.", stacklevel=4)

    def _fit_agreement(
        self, x: Any, ranks: IntArray, rng: np.random.Generator, ordinal: tuple[OrdinalLogits, FloatArray] | None
    ) -> AgreementModel:
        if isinstance(self.agreement, AgreementModel):
            if len(self.agreement.held_out) != len(ranks):
                raise InputError(
                    f"a fitted agreement model must come from the same {len(ranks)} texts; it was fitted on "
                    f"{len(self.agreement.held_out)}."
                )
            return self.agreement
        if self._is_oracle:
            raise InputError("agreement='oracle' is for Good Grief; the field over aspects needs a learner or None.")
        return fit_agreement(
            x, ranks, n_ranks=self.n_ranks, learner=self.agreement or "logistic", contrast=self.contrast,
            penalty=self._penalty(x, ranks, rng), n_folds=self._folds(ranks), rng=rng, ordinal=ordinal,
        )  # fmt: skip

    def _penalty(self, x: Any, ranks: IntArray, rng: np.random.Generator) -> float:
        if isinstance(self.penalty, int | float):
            return float(self.penalty)
        return choose_penalty(x, ranks, tuple(self.penalty), n_ranks=self.n_ranks, n_folds=self._folds(ranks), rng=rng)

    def _folds(self, ranks: IntArray) -> int:
        return min(self.n_folds, len(ranks))

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, known: Any = None, all_equal: Any = None) -> IntArray:
        """Ranks of texts, shape (n_texts, n_aspects).

        Parameters
        ----------
        X : sequence of str, or array or sparse matrix of shape (n_texts, n_features)
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already (0 or nan elsewhere): they stay, and the field infers the others from them.
        all_equal : bool array of shape (n_texts,), optional
            With ``agreement="oracle"``: whether all ranks are equal in truth.
        """
        check_is_fitted(self, "aspects_")
        ranks = self._decoded(self._features(X), known, all_equal)
        return ranks[:, 0] if self.flat_ else ranks

    def _decoded(self, x: Any, known: Any = None, all_equal: Any = None) -> IntArray:
        if self.model in ORDINALS:
            return DECODERS[self.decoding](self._marginals(x, known)[0])
        self._refuse_known(known)
        labels = None if all_equal is None else np.asarray(all_equal).astype(np.int8)
        return good_grief_ranks(self.ranker_, x, self._agreement(x, labels))

    def predict_proba(self, X: Any, *, known: Any = None) -> FloatArray:
        """Probability of every rank, shape (n_texts, n_aspects, n_ranks); given the ranks in ``known``."""
        self._need_probabilities("probabilities of ranks")
        nodes = self._marginals(self._features(X), known)[0]
        return nodes[:, 0] if self.flat_ else nodes

    def predict_all_equal(self, X: Any, *, known: Any = None) -> FloatArray:
        """Probability that all aspects have the same rank, shape (n_texts,)."""
        check_is_fitted(self, "aspects_")
        x = self._features(X)
        if self.model in ORDINALS:
            return self._marginals(x, known)[1]
        self._refuse_known(known)
        if self.agreement_ is None:
            raise InputError(f"model={self.model!r} has no agreement model. Use 'good_grief' or 'ordinal_crf'.")
        return sigmoid(agreement_scores(self.agreement_, x))

    def log_likelihood(self, X: Any, y: Any) -> FloatArray:
        """Joint log probability of the known ranks of each text, shape (n_texts,)."""
        self._need_probabilities("a likelihood")
        x, ranks = self._features(X), self._ranks(y)
        nodes, equal = self._field(x)
        if self.crf_ is not None:
            return joint_log_likelihood(nodes, self.crf_.pair_scores, equal, ranks)
        own = np.take_along_axis(nodes, np.maximum(ranks - 1, 0)[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        return np.where(ranks > 0, own, 0.0).sum(axis=1)

    def score(self, X: Any, y: Any) -> float:
        """Minus the ranking loss, the mean distance of predicted from known ranks: higher is better."""
        ranks = self._ranks(y)
        return -ranking_loss(ranks, np.asarray(self.predict(X)).reshape(ranks.shape))

    def explain(self, text: Any, *, aspect: str | None = None, n_words: int = 10) -> pd.DataFrame:
        """Why one text is ranked as it is.

        Parameters
        ----------
        text : str, or array or sparse row of shape (1, n_features)
        aspect : str, optional
            Explain this aspect only; by default every aspect, and each reason names its own.
        n_words : int
            The most words that are shown for an aspect.

        Returns
        -------
        table with the columns reason, effect, kind, strongest first
            The effect of a ``word`` is how much higher the expected rank is with it than without it, the field between
            the aspects included (for perceptron rankers: what it adds to the score). ``aspects`` is what the other
            aspects add to the expected rank of one of them. ``agreement`` is what speaks for (above 0) and against
            (below 0) equal ranks, in log odds. The ranks that are explained are ``table.attrs["label"]``.
        """
        check_is_fitted(self, "aspects_")
        x = self._features([text] if isinstance(text, str) else text)
        if x.shape[0] != 1:
            raise InputError(f"explain takes one text at a time; got {x.shape[0]}.")
        if aspect is not None and aspect not in self.aspects_:
            raise InputError(f"the aspects of this model are {', '.join(self.aspects_)}; {aspect!r} is none of them.")
        x = sp.csr_array(x)
        names = self._feature_names(x.indices)
        effects, pulls = self._effects(x)
        shown = [a for a, name in enumerate(self.aspects_) if aspect in (None, name)]
        rows: list[tuple[str, float, str]] = []
        for a in shown:
            of = "" if aspect is not None else f"{self.aspects_[a]}: "
            for i in np.argsort(-np.abs(effects[:, a]), kind="stable")[:n_words]:
                rows.append((f"{of}{names[i]}", float(effects[i, a]), "word"))
            if pulls is not None:
                rows.append((f"{of}the other aspects", float(pulls[a]), "aspects"))
        if self.agreement_ is not None:
            found = agreement_reasons(self.agreement_, x, names, self.aspects_, n_words)
            rows += [(f"equal ranks: {evidence}", effect, "agreement") for evidence, effect in found]
        table = pd.DataFrame(rows, columns=["reason", "effect", "kind"]).astype({"effect": np.float64})
        table = table.sort_values("effect", key=np.abs, ascending=False, kind="stable", ignore_index=True)
        ranks = np.atleast_2d(self._decoded(x))[0]
        table.attrs["label"] = ", ".join(f"{self.aspects_[a]} {ranks[a]}" for a in shown)
        return table

    def _feature_names(self, features: IntArray) -> Any:
        if self.phrases_ is not None:
            return self.phrases_.get_feature_names_out()[features]
        return np.array([f"feature {i}" for i in features], dtype=object)

    def _effects(self, x: Any) -> tuple[FloatArray, FloatArray | None]:
        """Effects of the features of one text, shape (n, n_aspects), and of the other aspects, shape (n_aspects,)."""
        n = x.nnz
        if self.model in PERCEPTRONS:
            ranker = self.ranker_.ranker
            return x.data[:, None] * (ranker.weights[x.indices] @ ranker.mixing.T), None
        # Row i lacks the i-th feature of the text; the last row has all of them.
        data = np.tile(x.data, (n + 1, 1))
        np.fill_diagonal(data[:n], 0.0)
        places = (np.tile(x.indices, n + 1), np.arange(n + 2) * n)
        without = sp.csr_array((data.ravel(), *places), shape=(n + 1, x.shape[1]))
        ranks = np.arange(1, self.n_ranks + 1)
        nodes, equal = self._field(without)
        expected = self._joint(nodes, equal)[0] @ ranks
        alone = normalise_log(nodes[-1:])[0] @ ranks
        return expected[-1] - expected[:-1], expected[-1] - alone if self.crf_ is not None else None

    # -- the field -----------------------------------------------------------------------------------------------

    def _field(self, x: Any) -> tuple[FloatArray, FloatArray]:
        """Node scores (n, m, k) and scores of equal ranks (n,)."""
        if self.crf_ is None:
            return np.log(ordinal_probabilities(self.ranker_, x)), np.zeros(x.shape[0])
        if self.whitening_ is None:
            return crf_scores(self.crf_, x)
        evidence = None if self.agreement_ is None else agreement_scores(self.agreement_, x)[:, None]
        return crf_scores(self.crf_, whitened(self.whitening_, ordinal_logits(self.ranker_, x)), evidence)

    def _marginals(self, x: Any, known: Any) -> tuple[FloatArray, FloatArray]:
        """Probabilities of ranks (n, m, k) and of equal ranks (n,), given known ranks."""
        nodes, equal = self._field(x)
        if known is not None:
            ranks = self._ranks(known)
            if len(ranks) != len(nodes):
                raise InputError(f"known must have a row a text; there are {len(nodes)} texts and {len(ranks)} rows.")
            p, equal = self._joint(clamped(nodes, ranks), equal)
            said = ranks[:, :, None] == np.arange(1, self.n_ranks + 1)
            return np.where(ranks[:, :, None] > 0, said, p), equal  # given ranks are certain to the last digit
        return self._joint(nodes, equal)

    def _joint(self, nodes: FloatArray, equal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities of ranks (n, m, k) and of equal ranks (n,) from the scores of the field."""
        if self.crf_ is not None:
            marginals = aspect_graph(nodes, self.crf_.pair_scores, equal)
            return marginals.nodes, marginals.equal
        p = normalise_log(nodes)
        return p, p.prod(axis=1).sum(axis=1)

    def _agreement(self, x: Any, labels: IntArray | None) -> FloatArray:
        """How much more likely than usual equal ranks are in new texts, in log odds; 0 without an agreement model."""
        if self.agreement_ is not None:
            return agreement_scores(self.agreement_, x) - self.agreement_.prior
        if (
            isinstance(self.agreement, str)
            and self.agreement == "oracle"
            and self.model in ("good_grief", "good_grief_decode")
        ):
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
            return self.phrases_.transform(as_texts(X))
        x = as_matrix(X)
        if x.shape[1] != self.n_features_in_:
            raise InputError(
                f"features must have {self.n_features_in_} columns, as in training; they have {x.shape[1]}."
            )
        return x

    @property
    def _is_oracle(self) -> bool:
        return isinstance(self.agreement, str) and self.agreement == "oracle"

    def _check(self) -> None:
        check_settings(self)
        if self.passes is not None and self.passes > self.n_epochs:
            raise InputError(f"passes must be at most n_epochs, which is {self.n_epochs}; it is {self.passes}.")
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
