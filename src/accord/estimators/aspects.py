"""Aspects: the scores that a text gives to several aspects, decided together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from accord.errors import InputError
from accord.features.aspects import PhraseFeatures
from accord.inference.aspect_graph import AspectMarginals, aspect_graph
from accord.inference.fixed_point import warn_unconverged
from accord.inference.good_grief import aspect_griefs
from accord.inference.numerics import sigmoid
from accord.learning.agreement import (
    AgreementModel,
    agreement_inputs,
    agreement_labels,
    agreement_scores,
    evidence_names,
    fit_agreement,
)
from accord.learning.aspect_crf import (
    AspectCRF,
    Edges,
    clamped,
    fit_aspect_crf,
    fit_joint_crf,
    joint_log_likelihood,
)
from accord.learning.good_grief import ALPHAS, fit_good_grief, good_grief_ranks, mean_distance
from accord.learning.ordinal import (
    OrdinalLogits,
    choose_penalty,
    fit_all_threshold,
    fit_cumulative,
    fit_stacked,
    folds,
    median_ranks,
    mode_ranks,
    ordinal_logits,
    ordinal_probabilities,
    rank_probabilities,
)
from accord.learning.prank import UpdateRule, prank_scores
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["AspectExplanation", "AspectRanker"]

Model = Literal["prank", "sim", "good_grief", "good_grief_decode", "ordinal", "ordinal_crf"]
_PERCEPTRONS = ("prank", "sim", "good_grief", "good_grief_decode")
_ORDINALS = ("ordinal", "ordinal_crf")
_DECODERS: dict[str, Callable[[FloatArray], IntArray]] = {"median": median_ranks, "mode": mode_ranks}
_NODES = ("stacked", "cumulative", "all_threshold")
_CURE_PROBABILITIES = "Use model='ordinal' or 'ordinal_crf'."


@dataclass(frozen=True, eq=False)
class AspectExplanation:
    """Why a text is ranked as it is."""

    ranks: pd.Series  # aspect → rank
    words: pd.DataFrame  # aspect, word, effect: what moved each aspect's score, strongest first
    griefs: pd.DataFrame  # aspect × rank: what that rank would cost (for ordinal models in nats of probability)
    agreement: pd.DataFrame  # evidence, effect: what speaks for (> 0) and against (< 0) one mind
    one_mind: float  # probability that all aspects have the same rank; nan where the model has no say

    def to_table(self) -> pd.DataFrame:
        """One row a reason, strongest first: reason, effect."""
        words = [f"{row.aspect}: {row.word}" for row in self.words.itertuples()]
        mind = [f"one mind: {row.evidence}" for row in self.agreement.itertuples()]
        effect = [*self.words["effect"], *self.agreement["effect"]]
        table = pd.DataFrame({"reason": [*words, *mind], "effect": np.asarray(effect, dtype=np.float64)})
        return table.sort_values("effect", key=np.abs, ascending=False, kind="stable", ignore_index=True)


class AspectRanker(BaseEstimator):
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
        Of the field: edges on top of out-of-fold nodes, or text weights and edges together.
    decoding : {"median", "mode"}
        Rank of least expected distance, or the most probable one.
    agreement : {"logistic", "svm", "perceptron", "oracle", None}
        Learner of "all aspects have the same rank". Good Grief needs one; the field takes it as evidence, or does
        without (None). "oracle" is told the truth, for analysis: ``predict`` then needs ``one_mind``.
    contrast : bool
        Give the agreement model the largest contrast between two words.
    alpha : float, optional
        Weight of the agreement model in Good Grief; by default chosen on development data.
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
        agreement: str | None = "logistic",
        contrast: bool = True,
        alpha: float | None = None,
        n_epochs: int = 10,
        passes: int | None = None,
        update: UpdateRule = "crammer_singer",
        averaged: bool = True,
        n_orders: int = 5,
        n_folds: int = 5,
        development_fraction: float = 0.125,
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
        self.n_epochs = n_epochs
        self.passes = passes
        self.update = update
        self.averaged = averaged
        self.n_orders = n_orders
        self.n_folds = n_folds
        self.development_fraction = development_fraction
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
        self._check_settings()
        rng = np.random.default_rng(self.random_state)
        self.flat_ = np.ndim(y) == 1
        self.aspects_ = self._names(y)
        ranks = self._ranks(y)
        self.phrases_ = (
            None if _is_matrix(X) else PhraseFeatures(ngram_range=_pair(self.ngram_range), min_texts=self.min_texts)
        )
        x = _matrix(X) if self.phrases_ is None else self.phrases_.fit_transform(_texts(X))
        if x.shape[0] != len(ranks):
            raise InputError(f"every text needs a row of ranks; there are {x.shape[0]} texts and {len(ranks)} rows.")
        self.n_features_in_ = x.shape[1]
        self._check_enough(ranks)
        scored = (ranks > 0).any(axis=1)
        x, ranks = x[scored], ranks[scored]
        self.ranker_: Any = None  # GoodGrief, OrdinalLogits, or the text weights of end-to-end training
        self.agreement_: AgreementModel | None = None
        self.crf_: AspectCRF | None = None
        if self.model in _PERCEPTRONS:
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
            alphas = ALPHAS if self.alpha is None else (self.alpha,)
            if self.agreement == "oracle":
                agree = _oracle_scores(agreement_labels(ranks))
            else:
                self.agreement_, agree = self._fit_agreement(x, ranks, rng, None)
        settings: dict[str, Any] = {
            "n_ranks": self.n_ranks,
            "n_epochs": self.n_epochs,
            "similarity": self.model == "sim",
            "joint_training": self.model != "good_grief_decode",
            "rule": self.update,
            "averaged": self.averaged,
            "n_orders": self.n_orders,
        }
        if development is not None:
            dev_x, dev_ranks = development
            held = (dev_x, dev_ranks, self._agreement(dev_x, agreement_labels(dev_ranks)))
            self.ranker_ = fit_good_grief(x, ranks, agree, held, alphas=alphas, passes=self.passes, rng=rng, **settings)
            return
        # Choose on a part that the rankers do not train on, then train on everything. Agreement is cross-fitted.
        order = rng.permutation(len(ranks))
        cut = min(max(1, round(self.development_fraction * len(order))), len(order) - 1)
        part, rest = order[:cut], order[cut:]
        chosen = fit_good_grief(
            x[rest], ranks[rest], agree[rest], (x[part], ranks[part], agree[part]),
            alphas=alphas, passes=self.passes, rng=rng, **settings,
        )  # fmt: skip
        everything = (x, ranks, agree)
        settings["n_epochs"] = chosen.n_epochs
        self.ranker_ = fit_good_grief(
            *everything, everything, alphas=(chosen.alpha,), passes=chosen.n_epochs, rng=rng, **settings
        )

    def _fit_ordinal(self, x: Any, ranks: IntArray, rng: np.random.Generator) -> None:
        if self.model == "ordinal_crf" and self.training == "joint":
            fitted = fit_joint_crf(
                x, ranks, n_ranks=self.n_ranks, edges=self.edges, penalty=self._penalty(x, ranks, rng),
                edge_penalty=self.edge_penalty,
            )  # fmt: skip
            self._warn(fitted.crf)
            self.ranker_, self.crf_ = fitted.weights, fitted.crf
            return
        penalty = self._penalty(x, ranks, rng)
        held_out: FloatArray | None = None
        if self.nodes == "stacked":
            self.ranker_, held_out = fit_stacked(
                x, ranks, n_ranks=self.n_ranks, penalty=penalty, stack_penalty=self.stack_penalty,
                n_folds=self._folds(ranks), rng=rng,
            )  # fmt: skip
        elif self.nodes == "cumulative":
            self.ranker_ = fit_cumulative(x, ranks, n_ranks=self.n_ranks, penalty=penalty, rng=rng)
        else:
            self.ranker_, _ = fit_all_threshold(x, ranks, n_ranks=self.n_ranks, penalty=penalty)
        if self.model == "ordinal":
            return
        if held_out is None:
            held_out = self._held_out_logits(x, ranks, penalty, rng)
        evidence = None
        if self.agreement is not None and ranks.shape[1] > 1:
            stacked = (self.ranker_, held_out) if self.nodes == "stacked" else None
            self.agreement_, scores = self._fit_agreement(x, ranks, rng, stacked)
            evidence = scores[:, None]
        nodes = np.log(rank_probabilities(held_out, ranks.shape[1]))
        self.crf_ = fit_aspect_crf(nodes, ranks, edges=self.edges, agreement=evidence, edge_penalty=self.edge_penalty)
        self._warn(self.crf_)

    def _held_out_logits(self, x: Any, ranks: IntArray, penalty: float, rng: np.random.Generator) -> FloatArray:
        """Logits of the training texts under nodes of the same kind, out of fold."""
        out = np.empty((len(ranks), ranks.shape[1] * (self.n_ranks - 1)))
        for train, test in folds(len(ranks), self._folds(ranks), rng):
            if self.nodes == "cumulative":
                model = fit_cumulative(x[train], ranks[train], n_ranks=self.n_ranks, penalty=penalty, rng=rng)
            else:
                model, _ = fit_all_threshold(x[train], ranks[train], n_ranks=self.n_ranks, penalty=penalty)
            out[test] = ordinal_logits(model, x[test])
        return out

    def _fit_agreement(
        self, x: Any, ranks: IntArray, rng: np.random.Generator, ordinal: tuple[OrdinalLogits, FloatArray] | None
    ) -> tuple[Any, FloatArray]:
        if self.agreement is None or self.agreement == "oracle":
            raise InputError(
                f"model={self.model!r} needs an agreement model: agreement='logistic', 'svm' or 'perceptron' "
                f"('oracle' only with model='good_grief' or 'good_grief_decode'); got {self.agreement!r}."
            )
        return fit_agreement(
            x, ranks, n_ranks=self.n_ranks, learner=self.agreement, contrast=self.contrast,
            penalty=self._penalty(x, ranks, rng), n_folds=self._folds(ranks), rng=rng, ordinal=ordinal,
        )  # fmt: skip

    def _penalty(self, x: Any, ranks: IntArray, rng: np.random.Generator) -> float:
        if isinstance(self.penalty, int | float):
            return float(self.penalty)
        return choose_penalty(x, ranks, tuple(self.penalty), n_ranks=self.n_ranks, n_folds=self._folds(ranks), rng=rng)

    def _folds(self, ranks: IntArray) -> int:
        return min(self.n_folds, len(ranks))

    def _warn(self, crf: AspectCRF) -> None:
        warn_unconverged("The field over aspects", crf.convergence, cure="Raise edge_penalty.", stacklevel=5)

    # -- predicting ----------------------------------------------------------------------------------------------

    def predict(self, X: Any, *, known: Any = None, one_mind: Any = None) -> IntArray:
        """Ranks of texts, shape (n_texts, n_aspects).

        Parameters
        ----------
        X : sequence of str, or array or sparse matrix of shape (n_texts, n_features)
        known : array of shape (n_texts, n_aspects), optional
            Ranks that are known already (0 or nan elsewhere): they stay, and the field infers the others from them.
        one_mind : bool array of shape (n_texts,), optional
            With ``agreement="oracle"``: whether all ranks are equal in truth.
        """
        check_is_fitted(self, "ranker_")
        if self.model in _ORDINALS:
            ranks = _DECODERS[self.decoding](self._marginals(self._features(X), known).nodes)
        else:
            self._refuse_known(known)
            x = self._features(X)
            labels = None if one_mind is None else np.asarray(one_mind).astype(np.int8)
            ranks = good_grief_ranks(self.ranker_, x, self._agreement(x, labels))
        return ranks[:, 0] if self.flat_ else ranks

    def predict_proba(self, X: Any, *, known: Any = None) -> FloatArray:
        """Probability of every rank, shape (n_texts, n_aspects, n_ranks); given the ranks in ``known``."""
        self._need_probabilities("probabilities of ranks")
        nodes = self._marginals(self._features(X), known).nodes
        return nodes[:, 0] if self.flat_ else nodes

    def predict_one_mind(self, X: Any, *, known: Any = None) -> FloatArray:
        """Probability that all aspects have the same rank, shape (n_texts,)."""
        check_is_fitted(self, "ranker_")
        x = self._features(X)
        if self.model in _ORDINALS:
            return self._marginals(x, known).equal
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
        """Minus the ranking loss, mean |true − predicted| over known ranks: higher is better."""
        ranks = self._ranks(y)
        return -mean_distance(ranks, np.asarray(self.predict(X)).reshape(ranks.shape))

    def explain(self, text: Any, *, n_words: int = 10) -> AspectExplanation:
        """Why one text is ranked as it is.

        Parameters
        ----------
        text : str, or array or sparse row of shape (1, n_features)
        n_words : int
            Most words an aspect.
        """
        check_is_fitted(self, "ranker_")
        x = self._features([text] if isinstance(text, str) else text)
        if x.shape[0] != 1:
            raise InputError(f"explain takes one text at a time; got {x.shape[0]}.")
        x = sp.csr_array(x)
        if self.phrases_ is not None:
            names = self.phrases_.get_feature_names_out()[x.indices]
        else:
            names = np.array([f"feature {i}" for i in x.indices], dtype=object)
        effects = x.data[:, None] * self._word_weights(x.indices)
        words = [
            {"aspect": aspect, "word": names[i], "effect": effects[i, a]}
            for a, aspect in enumerate(self.aspects_)
            for i in np.argsort(-np.abs(effects[:, a]), kind="stable")[:n_words]
        ]
        one_mind, ranks = np.nan, np.zeros(len(self.aspects_), dtype=np.int64)
        if self.model in _ORDINALS:
            marginals = self._marginals(x, None)
            ranks, one_mind = _DECODERS[self.decoding](marginals.nodes)[0], float(marginals.equal[0])
            log_p = np.log(marginals.nodes[0])
            griefs = log_p.max(axis=1, keepdims=True) - log_p
        else:
            griefs = aspect_griefs(prank_scores(self.ranker_.ranker, x), self.ranker_.ranker.thresholds)[0]
            ranks = good_grief_ranks(self.ranker_, x, self._agreement(x, np.array([-1])))[0]
            if self.agreement_ is not None:
                one_mind = float(sigmoid(agreement_scores(self.agreement_, x))[0])
        return AspectExplanation(
            pd.Series(ranks, index=self.aspects_),
            pd.DataFrame(words, columns=["aspect", "word", "effect"]),
            pd.DataFrame(griefs, index=self.aspects_, columns=range(1, self.n_ranks + 1)),
            self._agreement_reasons(x, names, n_words),
            one_mind,
        )

    def _agreement_reasons(self, x: Any, names: AnyArray, n_words: int) -> pd.DataFrame:
        rows: list[tuple[str, float]] = []
        if self.agreement_ is not None:
            model = self.agreement_
            effects = agreement_inputs(model, x)[0] * model.second[:-1]
            labels = evidence_names(self.aspects_, contrast=model.contrast is not None)
            rows = list(zip(labels, effects.tolist(), strict=True))
            by_word = x.data * model.weights[x.indices] * model.second[0] / model.scale[0]
            rows += [(f"word {names[i]!r}", float(by_word[i])) for i in np.argsort(-np.abs(by_word))[:n_words]]
        return pd.DataFrame(rows, columns=["evidence", "effect"])

    def _word_weights(self, features: AnyArray) -> FloatArray:
        """Weight of some features in the score of each aspect, shape (n, n_aspects)."""
        if self.model in _PERCEPTRONS:
            return self.ranker_.ranker.weights[features] @ self.ranker_.ranker.mixing.T
        if isinstance(self.ranker_, np.ndarray):
            return self.ranker_[features].mean(axis=2)
        # Mean over thresholds of the weights of both stages.
        per_threshold = self.ranker_.weights[features] @ self.ranker_.mixing
        return per_threshold.reshape(len(features), len(self.aspects_), -1).mean(axis=2)

    # -- the field -----------------------------------------------------------------------------------------------

    def _field(self, x: Any) -> tuple[FloatArray, FloatArray]:
        """Node scores (n, m, k) and scores of one mind (n,)."""
        none = np.zeros(x.shape[0])
        if isinstance(self.ranker_, np.ndarray):  # text weights of end-to-end training
            d, m, thresholds = self.ranker_.shape
            above = np.arange(thresholds + 1) > np.arange(thresholds)[:, None]
            nodes = np.asarray(x @ self.ranker_.reshape(d, -1)).reshape(-1, m, thresholds) @ above
            return nodes + self.crf_.preference, none
        nodes = np.log(ordinal_probabilities(self.ranker_, x))
        if self.crf_ is None:
            return nodes, none
        equal = none if self.agreement_ is None else agreement_scores(self.agreement_, x) * self.crf_.equal_weights[0]
        return self.crf_.trust[:, None] * nodes + self.crf_.preference, equal

    def _marginals(self, x: Any, known: Any) -> AspectMarginals:
        ranks = np.zeros((x.shape[0], len(self.aspects_)), dtype=np.int8) if known is None else self._ranks(known)
        if ranks.shape[0] != x.shape[0]:
            raise InputError(f"known must have a row a text; there are {x.shape[0]} texts and {ranks.shape[0]} rows.")
        nodes, equal = self._field(x)
        nodes = clamped(nodes, ranks)
        if self.crf_ is not None:
            return aspect_graph(nodes, self.crf_.pair_scores, equal)
        p = np.exp(nodes)
        p /= p.sum(axis=2, keepdims=True)
        return AspectMarginals(
            np.zeros(len(p)), p, p.prod(axis=1).sum(axis=1), np.zeros((0, self.n_ranks, self.n_ranks))
        )

    def _agreement(self, x: Any, labels: IntArray | None) -> FloatArray:
        """Agreement scores of new texts; 0 without an agreement model."""
        if self.agreement_ is not None:
            return agreement_scores(self.agreement_, x)
        if self.agreement == "oracle" and self.model in ("good_grief", "good_grief_decode"):
            if labels is None:
                raise InputError("agreement='oracle' must be told the truth; give one_mind=, or another agreement.")
            return _oracle_scores(labels)
        return np.zeros(x.shape[0])

    # -- input ---------------------------------------------------------------------------------------------------

    def _check_settings(self) -> None:
        for name, allowed in (
            ("model", (*_PERCEPTRONS, *_ORDINALS)),
            ("nodes", _NODES),
            ("training", ("two_stage", "joint")),
            ("decoding", tuple(_DECODERS)),
        ):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is one of {', '.join(allowed)}; got {getattr(self, name)!r}.")
        if self.n_ranks < 2:
            raise InputError(f"there must be at least 2 ranks; n_ranks is {self.n_ranks}.")

    def _check_enough(self, ranks: IntArray) -> None:
        empty = np.flatnonzero((ranks == 0).all(axis=0))
        if len(empty) == ranks.shape[1]:
            raise InputError("training needs scores; all of them are missing.")
        if len(empty):
            raise InputError(f"every aspect needs a score; {self.aspects_[empty[0]]!r} has none. Drop that aspect.")
        if int((ranks > 0).any(axis=1).sum()) < 2:
            raise InputError("training needs at least 2 texts with scores; there is one.")

    def _names(self, y: Any) -> list[str]:
        m = 1 if np.ndim(y) == 1 else np.shape(y)[1]
        own = getattr(y, "columns", None)
        names = self.aspects if self.aspects is not None else own if own is not None else range(m)
        names = [str(name) for name in names]
        if len(names) != m:
            raise InputError(f"there must be one name an aspect; y has {m} columns and there are {len(names)} names.")
        return names

    def _ranks(self, y: Any) -> IntArray:
        """Ranks as integers, 0 where missing, shape (n, m)."""
        try:
            values = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"ranks must be numbers in 1..{self.n_ranks}, 0 or nan where missing.") from None
        values = np.nan_to_num(values.reshape(len(values), -1), nan=0.0)
        if values.shape[1] != len(self.aspects_):
            raise InputError(
                f"ranks must have {len(self.aspects_)} columns, one an aspect; they have {values.shape[1]}."
            )
        bad = (values < 0) | (values > self.n_ranks) | (values != np.floor(values))
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            raise InputError(
                f"a rank must be a whole number in 1..{self.n_ranks}, or 0 if missing; row {row + 1} has "
                f"{values[row, column]:g} for {self.aspects_[column]!r}. Correct it or set n_ranks."
            )
        return values.astype(np.int8)

    def _features(self, X: Any) -> Any:
        if self.phrases_ is not None:
            if _is_matrix(X):
                raise InputError("this model was trained on texts; give texts, not a matrix of features.")
            return self.phrases_.transform(_texts(X))
        x = _matrix(X)
        if x.shape[1] != self.n_features_in_:
            raise InputError(
                f"features must have {self.n_features_in_} columns, as in training; they have {x.shape[1]}."
            )
        return x

    def _need_probabilities(self, what: str) -> None:
        check_is_fitted(self, "ranker_")
        if self.model not in _ORDINALS:
            raise InputError(f"model={self.model!r} has no {what}. {_CURE_PROBABILITIES}")

    def _refuse_known(self, known: Any) -> None:
        if known is not None:
            raise InputError(f"model={self.model!r} cannot use known ranks. {_CURE_PROBABILITIES}")


def _oracle_scores(labels: IntArray) -> FloatArray:
    """A score far from 0 on the true side; 0 where the truth is open."""
    return np.select([labels == 1, labels == 0], [1.0, -1.0], 0.0)


def _pair(ngram_range: Sequence[int]) -> tuple[int, int]:
    return int(ngram_range[0]), int(ngram_range[1])


def _is_matrix(X: Any) -> bool:
    if sp.issparse(X):
        return True
    if isinstance(X, list | tuple):
        return bool(len(X)) and not isinstance(X[0], str)
    return getattr(X, "ndim", 1) == 2


def _matrix(X: Any) -> Any:
    try:
        x = sp.csr_array(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("X must be texts or a matrix of numbers; it holds something else.") from None
    if not np.isfinite(x.data).all():
        raise InputError("features must be finite numbers; one is not. Fill in or drop it.")
    return x


def _texts(X: Any) -> list[str]:
    texts = list(X)
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"every text must be a string; row {row + 1} is {type(text).__name__}.")
    return texts
