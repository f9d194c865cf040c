"""A classifier of texts that learns from the words people highlight ([ZE08])."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.engines.convergence import warn_unconverged
from accord.engines.numerics import normalise_log
from accord.errors import InputError
from accord.fitting.workers import WithWorkers
from accord.rationales.annotator import (
    EMISSIONS,
    MarkedTexts,
    Strengths,
    best_tags,
    best_threshold,
    inside_probabilities,
    worth_of_highlights,
)
from accord.rationales.annotator_choice import HIGHLIGHT_GRID, PLAIN_GRID, choose_strengths, inner_folds
from accord.rationales.annotator_fit import FITS
from accord.rationales.arrays import marked_texts, nothing_marked
from accord.rationales.blocked_texts import in_blocks
from accord.rationales.features import (
    Tokens,
    Vocabulary,
    n_grams,
    read_tokens,
    transition_names,
)
from accord.rationales.highlights import Annotation, annotations_of, given_classes, given_spans
from accord.rationales.predicted import PredictedRationale, characters
from accord.texts.rows import as_texts, row_ids
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["RationaleClassifier"]


class RationaleClassifier(WithWorkers, ClassifierMixin, BaseEstimator):
    """Log-linear classifier, taught by a model of how annotators highlight.

    The words of a text that speak for its class are likely to be highlighted; so what was highlighted tells the
    classifier which words should matter. Maximises

        Σᵢ log p_θ(yᵢ|xᵢ) − ‖θ‖²/2σ_θ² + C ( Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) − ‖φ‖²/2σ_φ² )

    over word weights θ and, for each annotator, highlighting habits φ ([ZE08] eq. 4). A text without rationales
    has only the first term; with none at all this is logistic regression.

    Parameters
    ----------
    C : float or "auto"
        How much the highlights count beside the classes. "auto" chooses inside the training texts.
    theta_variance : float or "auto"
        σ_θ², how large word weights may get.
    phi_variance : float
        σ_φ².
    printed_prior : bool
        Take the prior on φ as printed in the paper, outside C( … ); it then outweighs the highlights.
    emissions : {"bounded", "tied", "free"}
        Whether φ_rel and φ_antirel stay at or above zero, are equal, or may be anything.
    transitions : {"plain", "words", "syntax"}
        What the start and end of a highlight may depend on: nothing, punctuation and a few words, or also phrases.
    parser : callable, optional
        For ``transitions="syntax"``: a text's tokens to constituents ``(label, start, end)`` in token positions.
    method : {"joint", "alternating"}
        Fit θ and φ together, or in turn as the paper does.
    max_ngram : int
        Longest run of words that the classifier sees beside single words. The highlights see single words only.
    vocabulary : sequence of str, optional
        Word types; by default those that occur ``min_count`` times or more in the training texts.
    min_count : int
    tokeniser : {"words", "whitespace"} or callable
        A callable gives a text's tokens and their character spans, shape (n_tokens, 2).
    lowercase : bool
    fit_intercept : bool
        The paper has none.
    n_inner_folds : int
        For "auto". Few folds choose strengths that are too weak.
    max_iter : int
    tol, value_tol : float
        Stop when no entry of the gradient exceeds ``tol``, or a step improves the objective by less than this share.
    n_jobs : int, optional
        Processes that the losses are summed with, and that the folds for "auto" are run in; as in scikit-learn, None
        means one. The weights are the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int
        For the inner folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_weights_ : array of shape (n_classes, n_features)
        Of words, then n-grams, then given features, then the intercept.
    phi_ : array of shape (n_annotators, n_phi)
    phi_names_ : list of str
    annotators_ : array of shape (n_annotators,)
    C_, theta_variance_ : float
        As given or chosen.
    threshold_ : float
        Probability from which a token counts as highlighted.
    unmarked_, unmarked_worth_ : array of shape (n_unmarked,)
        Training texts without rationales, and what highlighting each is worth.

    Examples
    --------
    >>> from accord import RationaleClassifier
    >>> texts = ["good film", "bad film", "good plot", "bad plot"]
    >>> model = RationaleClassifier(C=0.1, theta_variance=1.0, min_count=1)
    >>> model = model.fit(texts, ["+", "-", "+", "-"], rationales=[[(0, 4)], [(0, 3)], [(0, 4)], None])
    >>> model.predict(["a good one", "a bad one"]).tolist()
    ['+', '-']
    """

    def __init__(
        self,
        *,
        C: float | str = "auto",
        theta_variance: float | str = "auto",
        phi_variance: float = 1.0,
        printed_prior: bool = False,
        emissions: str = "bounded",
        transitions: str = "words",
        parser: Any = None,
        method: str = "joint",
        max_ngram: int = 1,
        vocabulary: Any = None,
        min_count: int = 4,
        tokeniser: Any = "words",
        lowercase: bool = True,
        fit_intercept: bool = False,
        n_inner_folds: int = 5,
        max_iter: int = 500,
        tol: float = 1e-3,
        value_tol: float = 1e-7,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.theta_variance = theta_variance
        self.phi_variance = phi_variance
        self.printed_prior = printed_prior
        self.emissions = emissions
        self.transitions = transitions
        self.parser = parser
        self.method = method
        self.max_ngram = max_ngram
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.tokeniser = tokeniser
        self.lowercase = lowercase
        self.fit_intercept = fit_intercept
        self.n_inner_folds = n_inner_folds
        self.max_iter = max_iter
        self.tol = tol
        self.value_tol = value_tol
        self.n_jobs = n_jobs
        self.client = client
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, *, rationales: Any = None, annotator: Any = None, features: Any = None
    ) -> "RationaleClassifier":
        """Learn from classes and highlights.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
        rationales : sequence of shape (n_texts,), or Rationales, optional
            For each text its highlighted spans ``(start, end)`` in characters, or ``(start, end, label)``; ``[]``
            where nothing was marked, ``None`` where nobody looked. Overlapping spans are merged. A record meets
            the rows by their ``item_id``; where X has none, its texts must be those of the record, in their order.
        annotator : sequence of shape (n_texts,), optional
            Who highlighted; a record of rationales says so itself.
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            Seen by the classifier beside the words.

        Returns
        -------
        self
        """
        texts, labels = as_texts(X), given_classes(y)
        if len(texts) != len(labels):
            raise InputError(f"every text needs a class; there are {len(texts)} texts and {len(labels)} classes.")
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"a classifier needs texts of two classes or more; all are {labels[:1].tolist()}.")
        if self.method not in FITS:
            raise InputError(f"method must be one of {', '.join(FITS)}; it is {self.method!r}.")
        tokens = self._read(texts)
        self._learn_vocabulary(tokens)
        self.n_extra_ = 0 if features is None else int(np.shape(features)[1])
        annotations, self.annotators_ = annotations_of(
            tokens, given_spans(texts, labels, rationales, annotator, ids=row_ids(X))
        )
        design = self._design(tokens, features)
        marked = self._marked(tokens, design, codes, annotations, n_annotators=len(self.annotators_))
        free = np.arange(marked.n_features) == marked.n_features - 1 if self.fit_intercept else None
        strengths = self._strengths(marked, free)
        small, columns = marked.compact()
        with in_blocks(small, self._workers) as blocked:
            fit = FITS[self.method](
                blocked,
                strengths,
                emissions=self.emissions,
                free=None if free is None else free[columns],
                max_iter=self.max_iter,
                tol=self.tol,
                value_tol=self.value_tol,
            )
        warn_unconverged("RationaleClassifier", fit.convergence, cure="Raise max_iter or value_tol.")
        fit = fit.expanded(columns, marked.n_features)
        self.C_, self.theta_variance_ = strengths.C, strengths.theta_variance
        self.class_weights_, self.phi_ = fit.class_weights(len(self.classes_)), fit.phi
        self.phi_names_ = [*EMISSIONS, *transition_names(self.transitions)]
        self.objective_, self.n_iter_ = -fit.value, fit.convergence.n_iter
        self.n_annotated_ = np.bincount(marked.chain_annotator, minlength=marked.n_annotators)
        main = self._annotator(None)
        inside = inside_probabilities(marked, self.class_weights_, self.phi_, main)
        self.threshold_ = best_threshold(inside, marked.chains(main)[1])
        looked = np.unique(marked.chain_text)
        self.n_seen_ = np.asarray(marked.design[looked][:, : marked.n_words].sum(axis=0)).ravel()
        self.unmarked_ = np.setdiff1d(np.arange(len(texts)), looked)
        self.unmarked_worth_ = self._worth(tokens, design, codes)[self.unmarked_]
        return self

    def decision_function(self, X: Any, *, features: Any = None) -> FloatArray:
        """Score of each class, shape (n_texts, n_classes); with two classes that of the second, shape (n_texts,)."""
        scores = self._scores(X, features)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any, *, features: Any = None) -> FloatArray:
        """Probability of each class, shape (n_texts, n_classes)."""
        return normalise_log(self._scores(X, features))

    def predict(self, X: Any, *, features: Any = None) -> Any:
        """The most likely class of each text, shape (n_texts,)."""
        best = np.argmax(self._scores(X, features), axis=1)
        return self.classes_[best]

    def predict_rationales(
        self, X: Any, y: Any = None, *, annotator: Any = None, features: Any = None
    ) -> list[PredictedRationale]:
        """What an annotator would highlight in each text.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,)
        y : array of shape (n_texts,), optional
            The classes to give reasons for; by default the predicted ones.
        annotator : object, optional
            Whose habits; by default those of the annotator who highlighted most texts.
        features : array of shape (n_texts, n_extra), optional

        Returns
        -------
        list of PredictedRationale
            One a text. Probabilities and the most likely highlighting are exact under the model; ``spans`` hold the
            tokens whose probability reaches ``threshold_``, which did best on the training texts.
        """
        check_is_fitted(self)
        if not self.n_annotated_.any():
            raise InputError("highlights can be predicted after fitting with rationales; this model saw none.")
        texts = as_texts(X)
        labels = self.predict(texts, features=features) if y is None else np.asarray(y)
        tokens = self._read(texts)
        codes = self._codes(labels)
        marked = self._marked(tokens, self._design(tokens, features), codes, nothing_marked(tokens), n_annotators=1)
        phi = self.phi_[self._annotator(annotator)]
        inside = inside_probabilities(marked, self.class_weights_, phi[None], 0)
        tags = best_tags(marked, self.class_weights_, phi[None], 0)
        out = []
        for row, (start, end) in enumerate(zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)):
            where = tokens.of(row)
            p = inside[start:end]
            spans, best = characters(p >= self.threshold_, where), characters(tags[start:end], where)
            out.append(PredictedRationale(labels[row], spans, best, where, p))
        return out

    def explain(self, text: str, *, label: Any = None) -> pd.DataFrame:
        """Why a text has its class: what each word or n-gram in it adds to the class's score, strongest first.

        Parameters
        ----------
        text : str
        label : object, optional
            The class to explain; by default the predicted one.

        Returns
        -------
        DataFrame
            ``reason`` (the word), ``effect`` (its weight for the class, against the mean of the others), ``start`` and
            ``end`` of its first occurrence, and ``p_highlight``, the largest probability of it being highlighted.
        """
        check_is_fitted(self)
        label = self.predict([text], features=self._no_features(1))[0] if label is None else label
        code = self._codes([label])[0]
        others = np.delete(self.class_weights_, code, axis=0).mean(axis=0)
        effects = self.class_weights_[code] - others
        tokens = self._read([text])
        where, inside = tokens.of(0), np.full(len(tokens.spans), np.nan)
        if self.n_annotated_.any():
            inside = self.predict_rationales([text], [label], features=self._no_features(1))[0].probabilities
        reasons: dict[str, list[Any]] = {}
        offset = 0
        for n, vocabulary in enumerate(self._vocabularies, 1):
            grams = n_grams(tokens.strings[0], n)
            for place, (gram, word) in enumerate(zip(grams, vocabulary.codes(grams), strict=True)):
                if word == vocabulary.n_words:
                    continue
                p = float(inside[place : place + n].max()) if n == 1 else np.nan
                start, end = where[place, 0], where[place + n - 1, 1]
                known = reasons.setdefault(gram, [effects[offset + word], start, end, p])
                known[3] = np.fmax(known[3], p)
            offset += vocabulary.n_words
        rows = [(reason, *values) for reason, values in reasons.items()]
        table = pd.DataFrame(rows, columns=["reason", "effect", "start", "end", "p_highlight"])
        order = np.argsort(-np.abs(table["effect"].to_numpy(dtype=float)), kind="stable")
        return table.iloc[order].reset_index(drop=True)

    def ask(self, n: int = 1, X: Any = None, y: Any = None) -> pd.DataFrame:
        """The texts most worth highlighting next, best first.

        A text is worth as much as words are expected to be highlighted in it that few highlighted texts hold so far.

        Parameters
        ----------
        n : int
        X : sequence of str, optional
            Texts to choose from; by default the training texts without rationales.
        y : array, optional
            Their classes; by default the predicted ones.

        Returns
        -------
        DataFrame
            ``row`` in ``X`` (or in the training texts) and ``worth``.
        """
        check_is_fitted(self)
        if n < 0:
            raise InputError(f"n must be at least 0; it is {n}.")
        rows, worth = self.unmarked_, self.unmarked_worth_
        if X is not None:
            texts = as_texts(X)
            tokens = self._read(texts)
            features = self._no_features(len(texts))
            labels = self.predict(texts, features=features) if y is None else y
            worth = self._worth(tokens, self._design(tokens, features), self._codes(labels))
            rows = np.arange(len(texts))
        order = np.argsort(-worth, kind="stable")[:n]
        return pd.DataFrame({"row": rows[order], "worth": worth[order]})

    # -- arrays --------------------------------------------------------------------------------------------------

    def _read(self, texts: Sequence[str]) -> Tokens:
        return read_tokens(
            texts,
            tokeniser=self.tokeniser,
            lowercase=self.lowercase,
            transitions=self.transitions,
            parser=self.parser,
        )

    def _learn_vocabulary(self, tokens: Tokens) -> None:
        words = Vocabulary.count(tokens.strings, min_count=self.min_count).words
        if self.vocabulary is not None:
            words = np.array(list(self.vocabulary), dtype=object)
        if not len(words) and self.vocabulary is None:
            raise InputError(
                f"the texts must share words; none occurs {self.min_count} times in them. Lower min_count, or give a "
                "vocabulary."
            )
        self.vocabulary_ = [words]
        for n in range(2, self.max_ngram + 1):
            grams = [n_grams(strings, n) for strings in tokens.strings]
            self.vocabulary_.append(Vocabulary.count(grams, min_count=self.min_count).words)

    @property
    def _vocabularies(self) -> list[Vocabulary]:
        return [Vocabulary(words) for words in self.vocabulary_]

    def _no_features(self, n: int) -> Any:
        """Given features at zero, for texts that come without."""
        return np.zeros((n, self.n_extra_)) if self.n_extra_ else None

    def _design(self, tokens: Tokens, features: Any) -> Any:
        parts = [
            vocabulary.presence([n_grams(strings, n) for strings in tokens.strings])
            for n, vocabulary in enumerate(self._vocabularies, 1)
        ]
        n_extra = 0 if features is None else int(np.shape(features)[1])
        if n_extra != self.n_extra_ or (features is not None and np.shape(features)[0] != tokens.n_texts):
            raise InputError(
                f"features must have the shape ({tokens.n_texts}, {self.n_extra_}), as in fit; they have "
                f"{None if features is None else np.shape(features)}."
            )
        if features is not None:
            parts.append(sp.csr_matrix(features))
        if self.fit_intercept:
            parts.append(sp.csr_matrix(np.ones((tokens.n_texts, 1))))
        return sp.hstack(parts, format="csr")

    def _marked(
        self, tokens: Tokens, design: Any, codes: IntArray, annotations: list[Annotation], *, n_annotators: int
    ) -> MarkedTexts:
        return marked_texts(
            tokens,
            self._vocabularies[0],
            design,
            codes,
            annotations,
            n_classes=len(self.classes_),
            n_annotators=n_annotators,
            transitions=self.transitions,
        )

    def _strengths(self, marked: MarkedTexts, free: BoolArray | None) -> Strengths:
        given = {"C": self.C, "theta_variance": self.theta_variance}
        for name, value in given.items():
            if value != "auto" and not (isinstance(value, int | float) and value >= 0):
                raise InputError(f"{name} must be a number of at least 0 or 'auto'; it is {value!r}.")
        if self.theta_variance != "auto" and float(self.theta_variance) == 0:
            raise InputError("theta_variance must be above 0; at 0 every weight is 0.")
        if not self.phi_variance > 0:
            raise InputError(f"phi_variance must be above 0; it is {self.phi_variance!r}.")
        if self.n_inner_folds < 2:
            raise InputError(f"n_inner_folds must be at least 2; it is {self.n_inner_folds!r}.")
        grid = HIGHLIGHT_GRID if len(marked.chain_text) else PLAIN_GRID
        pairs = [
            (
                c if self.C == "auto" else float(self.C),
                v if self.theta_variance == "auto" else float(self.theta_variance),
            )
            for c, v in grid
        ]
        candidates = [Strengths(c, v, self.phi_variance, self.printed_prior) for c, v in dict.fromkeys(pairs)]
        if len(candidates) == 1:
            return candidates[0]
        sizes = np.bincount(marked.labels)
        if sizes.min() < 2:
            raise InputError(
                f"choosing C and theta_variance needs two texts of every class; {str(self.classes_[sizes.argmin()])!r} "
                "has one. Give both as numbers, or add texts of that class."
            )
        n_folds = min(self.n_inner_folds, marked.n_texts)
        folds = inner_folds(marked.labels, n_folds, np.random.default_rng(self.random_state))
        return choose_strengths(
            marked, candidates, folds=folds, emissions=self.emissions, free=free, workers=self._workers
        ).strengths

    def _scores(self, X: Any, features: Any) -> FloatArray:
        check_is_fitted(self)
        tokens = self._read(X)
        return np.asarray(self._design(tokens, features) @ self.class_weights_.T)

    def _codes(self, labels: Any) -> IntArray:
        places = {label: place for place, label in enumerate(self.classes_)}
        for row, label in enumerate(labels):
            if label not in places:
                raise InputError(
                    f"a class must be one of those in training ({', '.join(map(str, self.classes_))}); row {row + 1} "
                    f"has {str(label)!r}."
                )
        return np.array([places[label] for label in labels], dtype=np.int64)

    def _annotator(self, annotator: Any) -> int:
        if annotator is None:
            return int(np.argmax(self.n_annotated_))
        found = np.flatnonzero(self.annotators_ == str(annotator))
        if not len(found):
            raise InputError(
                f"an annotator must be one of those in training ({', '.join(self.annotators_)}); this is {annotator!r}."
            )
        return int(found[0])

    def _worth(self, tokens: Tokens, design: Any, codes: IntArray) -> FloatArray:
        marked = self._marked(tokens, design, codes, nothing_marked(tokens), n_annotators=1)
        return worth_of_highlights(marked, self.class_weights_, self.phi_[[self._annotator(None)]], self.n_seen_)
