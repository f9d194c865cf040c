"""Collective classification of texts that cite, answer or mention each other: content, links, and one inference."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

from accord.data.links import Links
from accord.errors import InputError
from accord.fitting.settings import Choice, Flag, Number, Object, Rule
from accord.fitting.workers import WithWorkers
from accord.links.content import VIEWS, Content, HeldOut, MixedRidge, fit_calibration, mixing, silent_content
from accord.links.cut import CUTS, fit_cut
from accord.links.dual import RAW, Evidence, degrees, densities, fuse, pull_share
from accord.links.features.similar import nearest_pairs, pair_similarity
from accord.links.features.stance import open_vocabulary, stance_text, window_words
from accord.links.features.words import (
    LinkedTexts,
    has_words,
    kind_features,
    meta_features,
    pair_texts,
)
from accord.links.joint import OBJECTIVES, train_jointly
from accord.links.linked import CLASSIFIER, TRANSFORMER, LinkedClassifier, read_words
from accord.links.linked_graph import ENGINES
from accord.links.order import in_own_order
from accord.links.out_of_fold import fit_with_left_out_scores, label_scores
from accord.links.ridge import RidgeScorer
from accord.links.training import N_PARTS, Chosen, CouplingFit, TrainingTexts, agreeing
from accord.links.views import fit_contents
from accord.texts.vectors import FittedVectors
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["CollectiveClassifier"]

BETAS = {"set_to": 0.8, "inc_by": 0.15}
# A link that weighs more than this many times the mean weighs so much.
MOST_WEIGHT = 3.0
# With fewer labelled groups than this no view reads them: what one group says of neighbours' words is chance.
LEAST_READ = 5


class CollectiveClassifier(WithWorkers, LinkedClassifier):
    """Labels of linked texts from their words, their neighbours', and the words around the links ([BBB11]).

    A content classifier says which label a text has, a link classifier whether two linked texts have the same one, for
    links of agreement and of disagreement alike; inference settles all texts of a connected piece together. Everything
    after the two classifiers is fitted on training texts that were left out, so that words of neighbours and pulls of
    links count as much as they help, and nothing where they do not.

    Parameters
    ----------
    inference : {"auto", "mean_field", "lbp", "exact", "min_cut", "set_to", "inc_by"}
        "auto" is exact in pieces of the graph that have no loop and mean field in the others; among known labels it
        also tries the block model, in which texts that are not linked speak for different labels. The last three hold
        two labels only and give labels without graded beliefs.
    training : {"dual", "joint"}
        Classifiers and links fitted apart, or slopes of the content and weights of the links trained together as a
        pairwise CRF.
    objective : {"marginals", "likelihood"}
        What joint training optimises.
    vectoriser : transformer, optional
        Texts to features; weighted words, word pairs and stance n-grams by default. Not used when X holds features.
    vectors : str, path or callable, optional
        Sentence or word vectors to use beside the words; see :func:`accord.texts.vectors.open_vectors`.
    content : classifier, optional
        Features to labels; any with ``decision_function`` or ``predict_proba``. Ridge regression by default.
    neighbour_words : {"auto", "own", "both", "mixed"}
        What the default content classifier reads: the words of the text, those within two links of it, or both;
        "auto" chooses on the training texts.
    link_vectoriser : transformer, optional
        Texts of links to features; words and word pairs by default.
    link : classifier, optional
        Features of links to "same" (1) or "different" (0). Ridge regression by default.
    meta : bool
        Weigh number, kinds and direction of links and similarity beside the score of the link classifier.
    agreement_strength : float
        Penalty on the weights of what speaks for equal labels; 0 and no ``meta`` is Platt's sigmoid.
    implicit : int
        A text without a link is tied to this many most similar texts of its group, and they to it; 0 for none.
    coupling : float or "auto"
        What the pull of a link counts; "auto" chooses 0, ½ or 1 on the training texts.
    recalibrate : bool
        Weigh content and pulls, by number of links, so that held-out training texts have the lowest log loss. False
        takes the beliefs as they come out of the inference.
    alpha, theta : float or "auto"
        Parameters of the cut; "auto" chooses them on the training texts.
    beta : float, optional
        Parameter of "set_to" (0.8 by default) and "inc_by" (0.15).
    n_folds : int
        Folds for classifiers without a rule for left-out scores, and for texts held out among known labels.
    n_jobs : int, optional
        Processes for those folds and for the losses of joint training; as in scikit-learn, None means one. What is
        learnt is the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int
        Seed of those folds.

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
    model_ : DualModel or CutModel
        What was fitted after the classifiers. ``model_.free`` and ``model_.among_known`` tell what links count, and the
        log loss of held-out training texts with links and without.
    content_, link_ : classifier
        ``link_`` is ``None`` where links have no words or all join the same kind of pair.
    view_ : str
        What the content reads; see ``neighbour_words``.

    Examples
    --------
    >>> import pandas as pd
    >>> from accord import CollectiveClassifier, Links
    >>> texts = pd.DataFrame({"item_id": list("abcdef"), "text": ["yes", "yes good", "no", "no bad", "well", "hm"]})
    >>> links = Links(["a", "b", "c", "e", "f"], ["b", "e", "d", "a", "c"])
    >>> model = CollectiveClassifier().fit(texts, ["for", "for", "against", "against", None, None], links=links)
    >>> model.predict(texts, links=links, known=["for", "for", "against", "against", None, None]).tolist()
    ['for', 'for', 'against', 'against', 'for', 'against']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "inference": Choice((*ENGINES, *CUTS)),
        "training": Choice(("dual", "joint")),
        "objective": Choice(tuple(OBJECTIVES)),
        "vectoriser": TRANSFORMER,
        "vectors": Object("the name, folder or file of an encoder, or a function of texts", (str, object)),
        "content": CLASSIFIER,
        "neighbour_words": Choice(("auto", *VIEWS)),
        "link_vectoriser": TRANSFORMER,
        "link": CLASSIFIER,
        "meta": Flag(),
        "agreement_strength": Number(0),
        "implicit": Number(0, whole=True),
        "coupling": Number(0, words=("auto",)),
        "recalibrate": Flag(),
        "alpha": Number(0, words=("auto",)),
        "theta": Number(0, words=("auto",)),
        "beta": Number(0, 1, none=True),
        "n_folds": Number(2, whole=True),
        "n_jobs": Number(whole=True, none=True),
        "client": Object("the address of a Dask scheduler or a client of one", (object,)),
        "random_state": Number(0, whole=True),
    }
    _partly = True

    def __init__(
        self,
        *,
        inference: str = "auto",
        training: str = "dual",
        objective: str = "marginals",
        vectoriser: Any = None,
        vectors: Any = None,
        content: Any = None,
        neighbour_words: str = "auto",
        link_vectoriser: Any = None,
        link: Any = None,
        meta: bool = False,
        agreement_strength: float = 1.0,
        implicit: int = 5,
        coupling: float | str = "auto",
        recalibrate: bool = True,
        alpha: float | str = "auto",
        theta: float | str = "auto",
        beta: float | None = None,
        n_folds: int = 5,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: int = 0,
    ) -> None:
        self.inference = inference
        self.training = training
        self.objective = objective
        self.vectoriser = vectoriser
        self.vectors = vectors
        self.content = content
        self.neighbour_words = neighbour_words
        self.link_vectoriser = link_vectoriser
        self.link = link
        self.meta = meta
        self.agreement_strength = agreement_strength
        self.implicit = implicit
        self.coupling = coupling
        self.recalibrate = recalibrate
        self.alpha = alpha
        self.theta = theta
        self.beta = beta
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.client = client
        self.random_state = random_state

    def predict_proba(
        self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None, known: Any = None
    ) -> FloatArray:
        """Beliefs, shape (n_texts, n_labels); arguments as in :meth:`predict`.

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        return self._beliefs(texts, self._known(known, texts))

    def pairwise_proba(
        self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None, known: Any = None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Beliefs as :meth:`predict_proba` has them, and how likely linked texts are to have the same label.

        The latter is an approximation: the gain of the link is added to what the two beliefs say.

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere.

        Returns
        -------
        p : array of shape (n_texts, n_labels)
        ends : int array of shape (n_pairs, 2)
            Rows of the texts that pull each other.
        equal : array of shape (n_pairs,)
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        given = self._known(known, texts)
        if self.inference in CUTS:
            return self._beliefs(texts, given), np.empty((0, 2), dtype=np.int64), np.empty(0)
        features = self._features(texts)
        log_p = self.calibration_.log_p(self._scores(texts, features))
        evidence = self._evidence(texts, features, self._link_scores(texts))
        p = np.asarray(self.model_.beliefs(log_p, evidence, known=given))
        ends = np.concatenate([kind.ends for kind in evidence])
        gains = np.concatenate(self.model_.pulls(log_p, evidence, given, self.model_.coupling(given)))
        apart = (p[ends[:, 0]] * p[ends[:, 1]]).sum(axis=1)
        more = apart * np.exp(np.clip(gains, -30.0, 30.0))
        return p, ends, more / (more + 1.0 - apart)

    def content_proba(self, X: Any, *, links: Links | None = None, groups: Any = None, ids: Any = None) -> FloatArray:
        """Probabilities by the words alone, without the pull of links, shape (n_texts, n_labels).

        Parameters
        ----------
        X, links, groups, ids
            As in :meth:`fit`.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        return np.exp(self.calibration_.log_p(self._scores(texts, self._features(texts))))

    def explain(
        self,
        text: str,
        X: Any,
        *,
        links: Links | None = None,
        groups: Any = None,
        ids: Any = None,
        known: Any = None,
        n_words: int = 10,
    ) -> pd.DataFrame:
        """Why a text has its label: words and links that speak for it (positive effect) or against it.

        Effects are log odds for the predicted label against the mean of the others.

        Parameters
        ----------
        text : str
            The id of a row of X.
        X, links, groups, ids
            As in :meth:`fit`.
        known : array of shape (n_texts,), optional
            Labels that are known for certain, missing (``None`` or NaN) elsewhere.
        n_words : int
            Most words shown, of the text and of its neighbours each.

        Returns
        -------
        DataFrame
            ``reason``, ``effect``, ``kind`` (content, word, neighbour_word, link, similar), strongest first;
            ``attrs["label"]`` is the label that is explained.
        """
        texts = self._read(X, links=links, groups=groups, ids=ids)
        if self.inference in CUTS:
            raise InputError(f"inference={self.inference!r} gives labels without reasons. Use 'mean_field' or 'lbp'.")
        row, given = texts.position(str(text)), self._known(known, texts)
        features = self._features(texts)
        scores = self._scores(texts, features)
        log_p = self.calibration_.log_p(scores)
        evidence = self._evidence(texts, features, self._link_scores(texts))
        coupling, degree = self.model_.coupling(given), degrees(evidence, texts.n_texts)
        pull = self.model_.pull(log_p, evidence, given, coupling)
        # What the links pull with: the beliefs of the inference, before they are fused.
        beliefs = np.exp(fuse(RAW, log_p, pull, degree))
        fusion = coupling.weights(evidence, given, texts.n_texts)
        label = int(coupling.drawn(fuse(fusion, log_p, pull, degree))[row].argmax())
        fusion = coupling.trust * fusion
        share, name = pull_share(fusion, degree)[row], str(self.classes_[label])
        told = fusion[row, 0] * _lead(log_p[row], label)
        if coupling.shares is not None:
            told += (1.0 - coupling.trust) * _lead(coupling.shares, label)
        reasons = [(f"all words: {name}", told, "content")]
        reasons += self._words(texts, features, row, label, n_words, float(fusion[row, 0]))
        gains = self.model_.pulls(log_p, evidence, given, coupling)
        for kind, part, gain in zip(("link", "similar"), evidence, gains, strict=False):
            for pair in np.flatnonzero((part.ends == row).any(axis=1)):
                other = int(part.ends[pair].sum() - row)
                told = self.classes_[int(beliefs[other].argmax())]
                side = "agrees with" if gain[pair] > 0 else "differs from"
                reason = f"{side} {texts.ids[other]} ({told}, {beliefs[other].max():.2f})"
                reasons.append((reason, share * float(gain[pair]) * _lead(beliefs[other], label), kind))
        frame = pd.DataFrame(reasons, columns=["reason", "effect", "kind"])
        order = frame["effect"].abs().sort_values(ascending=False, kind="stable").index
        frame = frame.loc[order].reset_index(drop=True)
        frame.attrs["label"] = self.classes_[label]
        return frame

    # -- parts of fit and predict --------------------------------------------------------------------------------

    def _check_combination(self) -> None:
        if self.training == "joint" and self.inference in CUTS:
            raise InputError(f"joint training needs graded beliefs; inference={self.inference!r} has none.")

    def _read(self, X: Any, **given: Any) -> LinkedTexts:
        texts = super()._read(X, **given)
        return in_own_order(texts, np.full(texts.n_texts, -1)) if self.implicit else texts

    def _fit_texts(self, texts: LinkedTexts, codes: IntArray) -> None:
        n_labels = len(self.classes_)
        if n_labels > 2 and self.inference in CUTS:
            raise InputError(f"a cut holds two labels; there are {n_labels}. Use 'mean_field' or 'lbp'.")
        training = TrainingTexts.of(texts, codes, n_folds=self.n_folds, seed=self.random_state)
        texts, graded = training.texts, self.inference not in CUTS
        self.kinds_ = [] if texts.kinds is None else sorted({str(kind) for kind in texts.kinds})
        self.mean_weight_ = float(texts.pairs.weights.mean()) if texts.pairs.n_pairs else 1.0
        self._fit_features(texts)
        features = self._features(texts)
        link_scores = self._fit_link(texts, codes, training.groups)
        evidence = self._evidence(texts, features, link_scores)
        self.n_features_in_ = texts.content.shape[1] if self.feature_scale_ is not None else features.shape[1]
        apart = None
        if self.recalibrate and graded:
            # Links, whatever speaks for their agreement.
            drawn = Evidence(texts.pairs.ends, link_scores[:, None], self._weights(texts))
            apart = training.unreached(drawn, self.n_folds)
        contents = self._contents(training, features, None if apart is None else apart.folds)
        if not graded:
            self._keep(contents[0])
            self._fit_cut(self._signed(contents[0].scores), codes, texts, link_scores)
            return
        fit = CouplingFit(
            training, evidence, apart, n_labels,
            inference=self.inference, coupling=self.coupling, recalibrate=self.recalibrate,
        )  # fmt: skip
        chosen = fit.choose(contents, fit.agreements(self.agreement_strength))
        if self.training == "joint":
            chosen = self._joined(chosen, codes, evidence)
        self._keep(chosen.content)
        new, around, whole = chosen.content.held_out(codes, training.folds, known=False), evidence, True
        if training.among and chosen.content.model is not None:
            parts, whole = training.parts()
            new, around = self._as_new(training, features, link_scores, chosen.content, parts)
        known = fit.among_known(chosen)
        free, density = fit.free(chosen.model, new, around, cut=not whole), densities(evidence, texts.n_texts)
        self.model_: Any = replace(chosen.model, free=free, among_known=known, density=density)

    def _joined(self, chosen: Chosen, codes: IntArray, evidence: Sequence[Evidence]) -> Chosen:
        """The content and the links that are chosen, with slopes and weights that are trained together."""
        content = chosen.content
        calibration, agreements = train_jointly(
            content.scores, codes, evidence, content.calibration, chosen.model.agreements,
            objective=self.objective, engine=self.inference, workers=self._workers,
        )  # fmt: skip
        return chosen.replaced(replace(content, calibration=calibration), agreements)

    def _fit_features(self, texts: LinkedTexts) -> None:
        self.vectoriser_, self.comparer_, self.vectors_ = None, None, None
        if not texts.is_text or (self.linked_ and not has_words(texts.content)):
            return
        self.comparer_ = read_words(open_vocabulary().fit, texts.content, what="texts")
        vectoriser = clone(stance_text() if self.vectoriser is None else self.vectoriser)
        self.vectoriser_ = read_words(vectoriser.fit, texts.content, what="texts")
        self.vectors_ = None if self.vectors is None else FittedVectors.of(self.vectors)

    def _features(self, texts: LinkedTexts) -> sp.csr_matrix:
        words = super()._features(texts)
        if self.vectors_ is None:
            return words
        return sp.hstack([words, self.vectors_.encode(self.vectors, list(texts.content))], format="csr")

    def _mix(self, texts: LinkedTexts, features: sp.csr_matrix) -> sp.csr_matrix:
        return mixing(features, texts.pairs.ends, self._weights(texts))

    def _weights(self, texts: LinkedTexts) -> FloatArray:
        """Weights of the pairs, 1 on the mean of training."""
        return np.minimum(texts.pairs.weights / self.mean_weight_, MOST_WEIGHT)

    def _contents(self, training: TrainingTexts, features: sp.csr_matrix, by_piece: IntArray | None) -> list[Content]:
        """The ways to read the words that are to be compared."""
        codes, labelled, n_labels = training.codes, training.labelled, len(self.classes_)
        folds = training.folds if training.among else None
        if not features.shape[1]:
            return [silent_content(codes, n_labels)]
        groups = training.groups
        if self.content is not None:
            model, left = self._left_out(self.content, features[labelled], codes[labelled], groups[labelled])
            calibration = fit_calibration(left, codes[labelled], n_labels=n_labels, is_ridge=False)
            scores = label_scores(model, features)
            scores[labelled] = left
            by_fold, in_pieces = (
                () if parted is None else tuple(self._without(features, codes, parted, self.n_folds))
                for parted in (folds, by_piece)
            )
            return [Content("own", model, calibration, scores, by_fold, in_pieces)]
        views = [self.neighbour_words] if self.neighbour_words != "auto" else list(VIEWS) if self.linked_ else ["own"]
        few = folds is None and len(np.unique(groups[labelled])) < LEAST_READ
        views = ["own"] if self.neighbour_words == "auto" and (few or self.inference in CUTS) else views
        mix = self._mix(training.texts, features) if views != ["own"] else None
        return fit_contents(
            features, mix, codes, groups, training.order,
            views=views, n_labels=n_labels, folds=folds, by_piece=by_piece, n_folds=self.n_folds,
            seed=self.random_state,
        )  # fmt: skip

    def _as_new(
        self,
        training: TrainingTexts,
        features: sp.csr_matrix,
        link_scores: FloatArray,
        content: Content,
        parts: IntArray,
    ) -> tuple[list[HeldOut], list[Evidence]]:
        """Labelled texts and links as they are met in a graph that was not trained on.

        Neighbours that the content was trained on say more than new ones do, and so do words that stood around them.
        """
        texts, codes = training.texts, training.codes
        apart, kept = texts.apart(parts)
        left = np.where(training.labelled, parts, -1)
        if self.content is not None:
            by_part: Sequence[FloatArray] = list(self._without(features, codes, left, N_PARTS))
        else:
            mix = None if content.view == "own" else self._mix(apart, features)
            groups = np.argsort(texts.order)
            [alone] = fit_contents(
                features, mix, codes, groups, training.order,
                views=[content.view], n_labels=len(self.classes_), folds=left, n_folds=N_PARTS, seed=self.random_state,
            )  # fmt: skip
            by_part = alone.by_fold
        scores = np.stack(by_part)[parts, np.arange(texts.n_texts)]
        held_out = HeldOut(np.flatnonzero(training.labelled), None, content.calibration.log_p(scores))
        return [held_out], self._evidence(apart, features, link_scores[kept])

    def _without(self, features: sp.csr_matrix, codes: IntArray, folds: IntArray, n_folds: int) -> Iterator[FloatArray]:
        """Scores of all texts by the given classifier trained without each fold; 0 where a label is missing then."""
        n_labels = len(self.classes_)
        for fold in range(n_folds):
            kept = np.flatnonzero((codes >= 0) & (folds != fold))
            if len(np.unique(codes[kept])) == n_labels:
                yield label_scores(clone(self.content).fit(features[kept], codes[kept]), features)
            else:
                yield np.zeros(len(codes) if n_labels == 2 else (len(codes), n_labels))

    def _keep(self, content: Content) -> None:
        self.content_, self.calibration_, self.view_ = content.model, content.calibration, content.view

    def _scores(self, texts: LinkedTexts, features: sp.csr_matrix) -> FloatArray:
        if self.content_ is None:
            return np.zeros((texts.n_texts, len(self.classes_)))
        if isinstance(self.content_, MixedRidge):
            return self.content_.scores(features, None if self.view_ == "own" else self._mix(texts, features))
        return label_scores(self.content_, features)

    def _signed(self, scores: FloatArray) -> FloatArray:
        """Scores of two labels that are above 0 for the second: of ridge regression the log odds, else as they are."""
        if not isinstance(self.content_, MixedRidge):
            return scores
        log_p = self.calibration_.log_p(scores)
        return np.asarray(log_p[:, 1] - log_p[:, 0])

    def _left_out(self, given: Any, X: Any, codes: IntArray, groups: AnyArray) -> tuple[Any, FloatArray]:
        classifier = RidgeScorer() if given is None else given
        return fit_with_left_out_scores(
            classifier, X, codes, groups, n_folds=self.n_folds, seed=self.random_state, workers=self._workers
        )

    def _fit_link(self, texts: LinkedTexts, codes: IntArray, groups: AnyArray) -> FloatArray:
        """Scores of the pairs, of pairs of labelled texts left-out ones; NaN where a link says nothing."""
        self.link_, self.link_vectoriser_ = None, None
        ends = texts.pairs.ends
        scores = np.full(len(ends), np.nan)
        seen, same = agreeing(ends, codes)
        if texts.contexts is None or not has_words(texts.contexts) or len(np.unique(same)) < 2:
            return scores
        self.link_vectoriser_ = clone(window_words() if self.link_vectoriser is None else self.link_vectoriser)
        told = pair_texts(texts.contexts, texts.pairs)
        words = sp.csr_matrix(read_words(self.link_vectoriser_.fit_transform, told, what="contexts of links"))
        worded = words.getnnz(axis=1) > 0
        rows = seen[worded[seen]]
        if len(np.unique(codes[ends[rows, 0]] == codes[ends[rows, 1]])) < 2:
            return scores
        # The end that comes first whatever the order of rows.
        rank = np.argsort(texts.order)
        first, second = np.sort(rank[ends[rows]], axis=1).T
        where = np.asarray(groups)[texts.order[first]]
        where = where if len(np.unique(where)) > 1 else first * texts.n_texts + second
        agree = (codes[ends[rows, 0]] == codes[ends[rows, 1]]).astype(np.int64)
        self.link_, left = self._left_out(self.link, words[rows], agree, where)
        scores[worded] = label_scores(self.link_, words[worded])
        scores[rows] = left
        return scores

    def _link_scores(self, texts: LinkedTexts) -> FloatArray:
        scores = np.full(texts.pairs.n_pairs, np.nan)
        if self.link_ is None or texts.contexts is None or not texts.pairs.n_pairs:
            return scores
        vectoriser: Any = self.link_vectoriser_
        words = sp.csr_matrix(vectoriser.transform(pair_texts(texts.contexts, texts.pairs)))
        worded = words.getnnz(axis=1) > 0
        if worded.any():
            scores[worded] = label_scores(self.link_, words[worded])
        return scores

    def _evidence(self, texts: LinkedTexts, features: sp.csr_matrix, link_scores: FloatArray) -> list[Evidence]:
        """One record for links, one for implicit links if there are to be any."""
        unit = features if self.comparer_ is None else self.comparer_.transform(texts.content)
        told = link_scores[:, None]
        if self.meta:
            # Beside other evidence a link without words has the mean score of those with words.
            middle = np.nanmean(told) if np.isfinite(told).any() else 0.0
            told = np.where(np.isfinite(told), told, middle)
            told = np.column_stack([told, meta_features(texts.pairs, pair_similarity(unit, texts.pairs.ends))])
            if self.kinds_:
                unknown = np.full(len(texts.pairs.pair_of_link), "", dtype=object)
                kinds = unknown if texts.kinds is None else texts.kinds
                told = np.column_stack([told, kind_features(kinds, texts.pairs, self.kinds_)])
        evidence = [Evidence(texts.pairs.ends, told, self._weights(texts))]
        if self.implicit and features.shape[1]:
            lonely = ~texts.pairs.connected
            near = nearest_pairs(unit, texts.groups, k=self.implicit, lonely=lonely, order=texts.order)
            evidence.append(Evidence(near, pair_similarity(unit, near)[:, None], np.ones(len(near))))
        return evidence

    def _fit_cut(self, scores: FloatArray, codes: IntArray, texts: LinkedTexts, link_scores: FloatArray) -> None:
        if (codes < 0).any():
            raise InputError("a cut is trained on texts that all have a label; some have none. Leave them out.")
        chosen = {
            f"{name}s": (value,)
            for name, value in (("alpha", self.alpha), ("theta", self.theta))
            if not isinstance(value, str)
        }
        beta = BETAS.get(self.inference, 0.0) if self.beta is None else self.beta
        ends, link_scores = texts.pairs.ends, np.nan_to_num(link_scores)
        self.model_ = fit_cut(scores, codes, texts.groups, ends, link_scores, cut=self.inference, beta=beta, **chosen)
        labels = self.model_.labels(scores, texts.groups, ends, link_scores)
        right = (np.sum(labels == codes) + 1.0) / (len(codes) + 2.0) if self.recalibrate else 1.0
        self.share_right_ = float(right)

    def _labels(self, texts: LinkedTexts, known: IntArray | None) -> IntArray:
        return np.asarray(self._beliefs(texts, known).argmax(axis=1))

    def _beliefs(self, texts: LinkedTexts, given: IntArray | None) -> FloatArray:
        features = self._features(texts)
        scores, link_scores = self._scores(texts, features), self._link_scores(texts)
        if self.inference in CUTS:
            scores, link_scores = self._signed(scores), np.nan_to_num(link_scores)
            labels = self.model_.labels(scores, texts.groups, texts.pairs.ends, link_scores, known=given)
            beliefs = np.where(np.eye(2)[labels] > 0.0, self.share_right_, 1.0 - self.share_right_)
            if given is not None:
                beliefs[given >= 0] = np.eye(2)[given[given >= 0]]
            return beliefs
        evidence = self._evidence(texts, features, link_scores)
        self._warn_of_denser(evidence, texts.n_texts)
        return np.asarray(self.model_.beliefs(self.calibration_.log_p(scores), evidence, known=given))

    def _warn_of_denser(self, evidence: Sequence[Evidence], n_texts: int) -> None:
        here, before = densities(evidence, n_texts)[0], self.model_.density[0]
        if before > 0.0 and self.model_.link_shares(evidence, n_texts)[0] < 1.0:
            warnings.warn(
                f"texts have {2.0 * here:.1f} links each here and had {2.0 * before:.1f} in training, so that links "
                "count less than they could. If the training texts were drawn from this graph, fit on all of its "
                "texts, with None for the labels that are not known.",
                UserWarning,
                stacklevel=4,
            )

    def _words(
        self, texts: LinkedTexts, features: sp.csr_matrix, row: int, label: int, n_words: int, scale: float
    ) -> list[tuple[str, float, str]]:
        """The strongest words of a text, and those of its neighbours where the content reads them."""
        if self.vectoriser_ is None:
            return []
        sources = [("word", getattr(self.content_, "coef_", None), features[[row]])]
        if isinstance(self.content_, MixedRidge):
            mix = self._mix(texts, features) if self.content_.mixed is not None else None
            near = features[[row]] if mix is None else sp.csr_matrix(mix[[row]] @ features)
            sources = [("word", self.content_.own, features[[row]]), ("neighbour_word", self.content_.mixed, near)]
        names = self.vectoriser_.get_feature_names_out()
        reasons = []
        for kind, weights, given in sources:
            if weights is None:
                continue
            columns = np.atleast_2d(np.asarray(weights))
            columns = np.vstack([np.zeros_like(columns), columns]) if len(columns) == 1 else columns
            columns = columns * self.calibration_.slopes[:, None]
            direction = columns[label] - np.delete(columns, label, axis=0).mean(axis=0)
            entry = given.tocoo()
            effects = scale * entry.data * direction[entry.col]
            for i in np.argsort(-np.abs(effects), kind="stable")[:n_words]:
                if entry.col[i] < len(names):  # the rest are dimensions of vectors
                    reasons.append((str(names[entry.col[i]]).split("__")[-1], float(effects[i]), kind))
        return reasons


def _lead(values: FloatArray, label: int) -> float:
    """How far the value of one label stands above the mean of the others."""
    return float(values[label] - np.delete(values, label).mean())
