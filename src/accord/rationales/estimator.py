"""A classifier of texts that learns from the words people highlight ([ZE08])."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.data.labels import coded_labels, warn_of_alike
from accord.data.tables import column_names, columns_in_order
from accord.engines.convergence import Convergence, warn_unconverged
from accord.engines.numerics import normalise_log
from accord.errors import ConvergenceWarning, InputError
from accord.evaluation.metrics import accuracy_where_open
from accord.fitting.settings import Choice, Flag, Many, Number, Object, Rule, Seed, check_settings
from accord.fitting.workers import WithWorkers
from accord.rationales.annotator import (
    Strengths,
    best_tags,
    emission_names,
    highlight_loss,
    inside_probabilities,
    worth_of_highlights,
)
from accord.rationales.annotator_choice import Choice as StrengthChoice
from accord.rationales.annotator_choice import choose_strengths, inner_folds, left_out_parts, middle_strengths
from accord.rationales.annotator_fit import EMISSION_RULES, FITS, AnnotatorFit, starting_habits, with_habits
from accord.rationales.design import WORD_PRIORS, Columns, given_features
from accord.rationales.features import TOKENISERS, TRANSITION_SETS, Tokens, read_tokens, transition_names
from accord.rationales.highlights import (
    Annotation,
    MatchedSpans,
    PredictedRationale,
    annotations_of,
    given_classes,
    match_spans,
)
from accord.rationales.marked_texts import MarkedTexts, in_blocks, marked_texts
from accord.rationales.marking import Marking, learn_marking, with_marks_of
from accord.rationales.reading import READINGS, Reader, Reading, learn_reading, reading_scores
from accord.texts.rows import as_texts, row_ids
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["RationaleClassifier"]

# Fewer texts than this of some class cannot be left out in turns.
_FEWEST = 3


class RationaleClassifier(WithWorkers, ClassifierMixin, BaseEstimator):
    """Log-linear classifier, taught by a model of how annotators highlight.

    The words of a text that speak for its class are likely to be highlighted; so what was highlighted tells the
    classifier which words should matter. Maximises

        Σᵢ log p_θ(yᵢ|xᵢ) − ‖θ‖²/2σ_θ² + C ( Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) − ‖φ‖²/2σ_φ² )

    over word weights θ and highlighting habits φ ([ZE08] eq. 4). Annotators share the habits, and each of several may
    deviate from them. A text without rationales has only the first term; with none at all this is logistic regression.
    A text without any known word has the classes' frequencies as its probabilities.

    Parameters
    ----------
    C : float or "auto"
        How much the highlights count beside the classes. "auto" chooses inside the training texts, and may choose 0.
    theta_variance : float or "auto"
        σ_θ², how large word weights may get.
    repeats : bool
        Whether a word that occurs n times in a text counts 1 + log n times, or once, as in the paper.
    word_prior : {"idf", "flat"}
        Whether the weight of a word that n of N training texts hold may be larger the rarer the word is, in proportion
        to 1 + log (1 + N)/(1 + n) ("idf"), or all weights alike ("flat"), as in the paper.
    phi_variance : float
        σ_φ².
    deviation_variance : float
        How far the habits of one annotator may be from those of all, where there are several.
    laziness : float
        Variance of how ready the annotator was to mark anything in a text; 0 takes all texts alike ([ZE08] footnote 6).
    relevance_thresholds : sequence of float
        Further emission features, of words whose weight exceeds a threshold ([ZE08] footnote 11).
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
    min_count : int or "auto"
        "auto" is 1, and 2 above a million tokens.
    tokeniser : {"words", "whitespace"} or callable
        A callable gives a text's tokens and their character spans, shape (n_tokens, 2).
    vectors : str, path or callable, optional
        An encoder of texts, whose vectors the classifier sees beside the words; see
        :func:`accord.texts.vectors.open_vectors`.
    lexicon : bool
        Learn also which words people highlight, and beside which, whatever these say of the class; it predicts
        highlights better, and the classifier reads with it. Without it highlights are predicted by θ and φ alone, as
        in the paper.
    reading : {"highlights", "words"}
        Whether a word counts the more, the likelier it is to be highlighted in the text at hand, as far as that is
        better on training texts left out ("highlights"), or all words alike, as in the paper ("words"). It needs
        highlights, the lexicon, and a strength that is chosen; without them all words count alike.
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
    log_prior_ : array of shape (n_classes,)
        Logarithms of the classes' frequencies.
    columns_ : Columns
        The words and other columns that the classifier sees.
    class_weights_ : array of shape (n_classes, n_columns)
    scale_ : float
        Factor of the scores with which probabilities of texts left out are right; 1 where strengths are given.
    drift_ : array of shape (n_classes,)
        What every known word adds beside its weight: what texts left out need for their scores to be right on average.
        Where one class has more texts, weights lean towards it once more than its frequency says.
    phi_ : array of shape (n_phi,)
        Habits of an annotator of whom nothing is known.
    annotator_phi_ : array of shape (n_annotators, n_phi)
    phi_names_ : list of str
    annotators_ : array of shape (n_annotators,)
        Those who are known.
    C_, theta_variance_ : float
        As given or chosen.
    choice_ : Choice or None
        How each candidate did on texts left out, and what the highlights gain there.
    reading_ : Reading
        How much words count by how likely they are to be highlighted.
    marking_ : Marking
        What predicts highlights: the habits and, beside them, how likely each word is to be highlighted at all.
    threshold_ : float
        Probability from which a token counts as highlighted.
    habit_ : int
        Row of ``marking_.table`` with the habits of nobody in particular.
    annotator_thresholds_ : array of shape (n_annotators,)
    unmarked_, unmarked_worth_ : array of shape (n_unmarked,)
        Training texts without rationales, and what highlighting each is worth.

    Examples
    --------
    >>> from accord import RationaleClassifier
    >>> texts = ["good film", "bad film", "good plot", "bad plot"]
    >>> model = RationaleClassifier(C=0.1, theta_variance=1.0)
    >>> model = model.fit(texts, ["+", "-", "+", "-"], rationales=[[(0, 4)], [(0, 3)], [(0, 4)], None])
    >>> model.predict(["a good one", "a bad one"]).tolist()
    ['+', '-']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "C": Number(0, words=("auto",)),
        "theta_variance": Number(0, above=True, words=("auto",)),
        "repeats": Flag(),
        "word_prior": Choice(WORD_PRIORS),
        "phi_variance": Number(0, above=True),
        "deviation_variance": Number(0, above=True),
        "laziness": Number(0),
        "relevance_thresholds": Object("a list of numbers", (list, tuple), none=False),
        "printed_prior": Flag(),
        "emissions": Choice(EMISSION_RULES),
        "transitions": Choice(TRANSITION_SETS),
        "parser": Object("a function of a text's tokens", (Callable,)),
        "method": Choice(tuple(FITS)),
        "max_ngram": Number(1, whole=True),
        "vocabulary": Many(Object("a word", (str,), none=False), none=True),
        "min_count": Number(1, whole=True, words=("auto",)),
        "tokeniser": Choice(tuple(TOKENISERS), kinds=(Callable,)),  # type: ignore[arg-type]
        "vectors": Object("an encoder's name, folder or file, or a function of texts", (str, Path, Callable)),
        "lexicon": Flag(),
        "reading": Choice(READINGS),
        "fit_intercept": Flag(),
        "n_inner_folds": Number(2, whole=True),
        "max_iter": Number(1, whole=True),
        "tol": Number(0, above=True),
        "value_tol": Number(0),
        "n_jobs": Number(-64, whole=True, none=True),
        "client": Object("a Dask client or the address of a scheduler", (object,)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        C: float | str = "auto",
        theta_variance: float | str = "auto",
        repeats: bool = False,
        word_prior: str = "idf",
        phi_variance: float = 1.0,
        deviation_variance: float = 0.25,
        laziness: float = 0.0,
        relevance_thresholds: Sequence[float] = (),
        printed_prior: bool = False,
        emissions: str = "bounded",
        transitions: str = "words",
        parser: Any = None,
        method: str = "joint",
        max_ngram: int = 1,
        vocabulary: Any = None,
        min_count: int | str = "auto",
        tokeniser: Any = "words",
        vectors: Any = None,
        lexicon: bool = True,
        reading: str = "highlights",
        fit_intercept: bool = False,
        n_inner_folds: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-3,
        value_tol: float = 1e-6,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.theta_variance = theta_variance
        self.repeats = repeats
        self.word_prior = word_prior
        self.phi_variance = phi_variance
        self.deviation_variance = deviation_variance
        self.laziness = laziness
        self.relevance_thresholds = relevance_thresholds
        self.printed_prior = printed_prior
        self.emissions = emissions
        self.transitions = transitions
        self.parser = parser
        self.method = method
        self.max_ngram = max_ngram
        self.vocabulary = vocabulary
        self.min_count = min_count
        self.tokeniser = tokeniser
        self.vectors = vectors
        self.lexicon = lexicon
        self.reading = reading
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
        """Learn from classes and highlights; the order of the rows and the names of classes and people do not matter.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
        rationales : sequence of shape (n_texts,), or Rationales, optional
            For each text its highlighted spans ``(start, end)`` in characters; ``[]`` where nothing was marked,
            ``None`` where nobody looked. Overlapping spans are merged. ``(start, end, label)`` is a reason for another
            class than the text's, which somebody else decided ([ZE08] footnote 4). A record meets the rows by
            their ``item_id``; where X has none, its texts must be those of the record, in their order.
        annotator : sequence of shape (n_texts,), optional
            Who highlighted; a record of rationales says so itself.
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            Seen by the classifier beside the words. Measurements are counted from their means in standard deviations,
            whatever their units are; columns of which most entries are 0 are as large as a word where they are not.

        Returns
        -------
        self
        """
        check_settings(self)
        texts, labels = as_texts(X), given_classes(y)
        if len(texts) != len(labels):
            raise InputError(f"every text needs a class; there are {len(texts)} texts and {len(labels)} classes.")
        codes: IntArray
        self.classes_, codes = coded_labels(labels)
        warn_of_alike(self.classes_)
        if len(self.classes_) < 2:
            raise InputError(f"a classifier needs texts of two classes or more; all are {labels[:1].tolist()}.")
        matched = match_spans(texts, labels, rationales, annotator, ids=row_ids(X))
        ranks = _class_ranks(texts, codes, len(self.classes_))
        order = _row_order(texts, ranks[codes], matched)
        place = np.argsort(order)
        matched = [one._replace(row=int(place[one.row])) for one in matched]
        texts, codes = [texts[row] for row in order], ranks[codes][order]
        tokens = self._read(texts)
        given = None if features is None else given_features(features, ids=row_ids(X), n_texts=len(texts))[order]
        self.feature_names_ = column_names(features)
        self.columns_ = Columns.learn(
            tokens,
            vocabulary=self.vocabulary,
            min_count=self.min_count,
            longest=self.max_ngram,
            vectors=self.vectors,
            features=given,
            intercept=bool(self.fit_intercept),
            repeats=bool(self.repeats),
        )
        self.log_prior_ = np.log(np.bincount(codes)[ranks] / len(codes))
        design = self.columns_.design(tokens, texts, given, self.vectors)
        annotations, people = annotations_of(
            tokens, matched, dict(zip(self.classes_.tolist(), ranks.tolist(), strict=True))
        )
        n_habits = 1 + len(people) if len(people) > 1 else 1
        inner = np.argsort(ranks)  # the class of each rank
        marked = self._marked(tokens, design, codes, annotations, self.log_prior_[inner], n_habits)
        if self.word_prior == "idf":
            marked = replace(marked, ease=self.columns_.ease(design))
        free = np.arange(marked.n_features) == marked.n_features - 1 if self.fit_intercept else None
        folds = inner_folds(codes, self.n_inner_folds, np.random.default_rng(self.random_state))
        strengths = self._strengths(marked, folds, free)
        fit = self._fit_all(marked, strengths, free)
        self.class_weights_ = fit.class_weights(len(self.classes_))[ranks]
        if self.choice_ is not None:
            self.drift_ = self.choice_.drift[ranks]
        marking, readers = self._marking(marked, strengths, fit, folds, free)
        self._learn_habits(marked, fit, people, marking)
        self.reading_ = Reading(0.0, 1.0)
        if self.reading == "highlights" and self.choice_ is not None and readers:
            self.reading_, found = learn_reading(
                self.columns_, tokens, design, self._reasons_for(tokens), readers, codes, self.log_prior_[inner]
            )
            self.scale_, self.drift_ = found.scale, found.drift[ranks]
        looked = np.unique(marked.chain_text)
        self.n_seen_ = np.bincount(marked.design[looked][:, : marked.n_words].indices, minlength=marked.n_words) * 1.0
        unmarked = np.setdiff1d(np.arange(len(texts)), looked)
        by_row = unmarked[np.argsort(order[unmarked])]
        self.unmarked_ = order[by_row]
        self.unmarked_worth_ = self._worth(tokens, inner[codes])[by_row]
        return self

    def decision_function(self, X: Any, *, features: Any = None) -> FloatArray:
        """Score of each class, shape (n_texts, n_classes); with two classes that of the second, shape (n_texts,).

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            The columns beside the words, where the model was fitted with some.
        """
        scores = self._scores(X, features)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any, *, features: Any = None) -> FloatArray:
        """Probability of each class, shape (n_texts, n_classes).

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            The columns beside the words, where the model was fitted with some.
        """
        return normalise_log(self._scores(X, features))

    def predict(self, X: Any, *, features: Any = None) -> Any:
        """The most likely class of each text, shape (n_texts,).

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            The columns beside the words, where the model was fitted with some.
        """
        best = np.argmax(self._scores(X, features), axis=1)
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, features: Any = None) -> float:
        """Accuracy of the predicted classes.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
            True classes.
        sample_weight : array of shape (n_texts,), optional
            How much each row counts; by default all count the same.
        features : array or sparse matrix of shape (n_texts, n_extra), optional
            The columns beside the words, where the model was fitted with some.
        """
        return accuracy_where_open(self.predict(X, features=features), given_classes(y), sample_weight=sample_weight)

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
            Whose habits and threshold; by default those that all share.
        features : array of shape (n_texts, n_extra), optional

        Returns
        -------
        list of PredictedRationale
            One a text. Probabilities and the most likely highlighting are exact under the model; ``spans`` hold the
            tokens whose probability reaches the threshold with the largest F1 expected on training texts left out.
        """
        check_is_fitted(self)
        if not self.n_annotated_:
            raise InputError("highlights can be predicted after fitting with rationales; this model saw none.")
        phi, threshold = self._habits_of(annotator)
        texts = as_texts(X)
        labels = self.predict(texts, features=features) if y is None else np.asarray(y)
        tokens = self._read(texts)
        marked = self._unmarked(tokens, sp.csr_matrix((len(texts), self.columns_.n_words)), self._codes(labels))
        inside = inside_probabilities(marked, self.class_weights_, phi, self.marking_.lexicon)
        tags = best_tags(marked, self.class_weights_, phi, self.marking_.lexicon)
        return [
            PredictedRationale.of(labels[row], inside[start:end], tags[start:end], tokens.of(row), threshold)
            for row, (start, end) in enumerate(zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True))
        ]

    def explain(self, text: str, *, label: Any = None, features: Any = None) -> pd.DataFrame:
        """Why a text has its class: what each word or n-gram in it adds to the class's score, strongest first.

        Parameters
        ----------
        text : str
        label : object, optional
            The class to explain; by default the predicted one.
        features : array of shape (1, n_extra), optional
            Zeros if not given.

        Returns
        -------
        DataFrame
            ``reason`` (the word), ``effect`` (log-odds of the class against the mean of the others), ``kind`` (word,
            n-gram, prior, vectors, features or intercept), ``start`` and ``end`` of its first occurrence, and
            ``p_highlight``, the largest probability of it being highlighted. The attribute ``label`` is the class.
        """
        check_is_fitted(self)
        features = self.columns_.usual_features(1) if features is None else self._given(features)
        label = self.predict([text], features=features)[0] if label is None else label
        code = self._codes([label])[0]

        def against_others(values: FloatArray) -> FloatArray:
            return np.asarray(values[code] - np.delete(values, code, axis=0).mean(axis=0))

        tokens = self._read([text])
        effects = against_others(self._weights_in(tokens))
        where, inside = tokens.of(0), np.full(len(tokens.spans), np.nan)
        if self.n_annotated_:
            inside = self.predict_rationales([text], [label])[0].probabilities
        row = self.columns_.design(tokens, [text], features, self.vectors).toarray()[0]
        prior = float(against_others(self.log_prior_))
        found = [
            *self.columns_.reasons(tokens, row, effects),
            *([("(prior)", prior, "prior", None, None)] if prior else []),
        ]
        rows: dict[str, list[Any]] = {}
        for reason, effect, kind, first, last in found:
            p = float(inside[first]) if kind == "word" else np.nan
            start, end = (None, None) if first is None else (where[first, 0], where[last, 1])
            known = rows.setdefault(reason, [reason, effect, kind, start, end, p])
            known[5] = np.fmax(known[5], p)
        table = pd.DataFrame(list(rows.values()), columns=["reason", "effect", "kind", "start", "end", "p_highlight"])
        by_size = np.argsort(-np.abs(table["effect"].to_numpy(dtype=float)), kind="stable")
        table = table.iloc[by_size].reset_index(drop=True)
        table.attrs["label"] = label
        return table

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
            labels = self.predict(texts, features=self.columns_.usual_features(len(texts))) if y is None else y
            worth = self._worth(tokens, self._codes(labels))
            rows = np.arange(len(texts))
        order = np.argsort(-worth, kind="stable")[:n]
        return pd.DataFrame({"row": rows[order], "worth": worth[order]})

    def with_habits_of(self, X: Any, y: Any, rationales: Any) -> "RationaleClassifier":
        """A copy with the habits of another annotator, which predicts what they would highlight.

        Its ``phi_`` and ``threshold_`` are theirs. Classes are predicted as before: word weights, and how texts are
        read to be classified, stay as they are.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
            Their classes.
        rationales : sequence of shape (n_texts,), or Rationales
            Highlighted spans, as in :meth:`fit`.
        """
        marked = self._read_marks(X, y, rationales)
        fit = AnnotatorFit(self._theta, starting_habits(marked), 0.0, Convergence(True, 0, 0.0))
        strengths = Strengths(0.0, 1.0, self.phi_variance, self.deviation_variance)
        other = copy(self)
        habits = with_habits(marked, fit, strengths, emissions=self.emissions).habits
        other.phi_ = habits.common
        if marked.n_chains and self.n_annotated_:
            other.marking_ = with_marks_of(self.marking_, marked, self.class_weights_, habits, emissions=self.emissions)
            other.habit_, other.threshold_ = len(other.marking_.table) - 1, float(other.marking_.thresholds[-1])
        return other

    def highlight_log_loss(self, X: Any, y: Any, rationales: Any) -> float:
        """−log p_φ(r|x, y, θ) of highlights, in nats a token, under the habits ``phi_`` that all share.

        Parameters
        ----------
        X : sequence of str of shape (n_texts,), or table with ``text`` and ``item_id``
        y : array of shape (n_texts,)
            Their classes.
        rationales : sequence of shape (n_texts,), or Rationales
            Highlighted spans, as in :meth:`fit`.
        """
        marked = self._read_marks(X, y, rationales)
        return highlight_loss(marked, self.class_weights_, self.phi_[None])[0] / max(1, len(marked.words))

    @property
    def _theta(self) -> FloatArray:
        """The free rows of the class weights."""
        return self.class_weights_[1:] if len(self.classes_) == 2 else self.class_weights_

    @property
    def _effective_weights(self) -> FloatArray:
        """What each column adds to the score of each class, shape (n_classes, n_columns)."""
        weights = self.scale_ * self.class_weights_
        weights[:, : self.columns_.n_words] += self.drift_[:, None]
        return weights

    def _weights_in(self, tokens: Tokens) -> FloatArray:
        """The effective weights as one text is read, shape (n_classes, n_columns)."""
        if not self.reading_.share:
            return self._effective_weights
        weights, n = self._effective_weights, self.columns_.n_terms
        chains, marking = self._reasons_for(tokens), self.marking_
        for label, row in enumerate(weights):
            inside = inside_probabilities(chains(label), self.class_weights_, marking.table[:1], marking.lexicon)
            counts = self.columns_.marked(tokens, np.arange(1), inside).toarray()[0]
            own = self.scale_ * self.class_weights_[label, :n]
            row[:n] += self.reading_.scores(own, counts * own) - own
        return weights

    def _read_marks(self, X: Any, y: Any, rationales: Any) -> MarkedTexts:
        """Highlights of other texts as arrays, by people of whom nothing is known."""
        check_is_fitted(self)
        texts, labels = as_texts(X), given_classes(y)
        codes = self._codes(labels)
        matched = [one._replace(annotator="") for one in match_spans(texts, labels, rationales, ids=row_ids(X))]
        tokens = self._read(texts)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        annotations, _ = annotations_of(tokens, matched, places)
        empty = sp.csr_matrix((len(texts), self.class_weights_.shape[1]))
        return self._marked(tokens, empty, codes, annotations, self.log_prior_, 1)

    # -- arrays --------------------------------------------------------------------------------------------------

    def _read(self, texts: Sequence[str]) -> Tokens:
        return read_tokens(texts, tokeniser=self.tokeniser, transitions=self.transitions, parser=self.parser)

    def _marked(
        self,
        tokens: Tokens,
        design: Any,
        codes: IntArray,
        annotations: list[Annotation],
        log_prior: FloatArray,
        n_habits: int,
    ) -> MarkedTexts:
        return marked_texts(
            tokens,
            self.columns_.vocabularies[0],
            design,
            codes,
            annotations,
            log_prior=log_prior,
            n_habits=n_habits,
            transitions=self.transitions,
            thresholds=tuple(float(level) for level in self.relevance_thresholds),
        )

    def _unmarked(self, tokens: Tokens, design: Any, codes: IntArray) -> MarkedTexts:
        """Texts of known classes with one chain each, in which nothing is highlighted."""
        nothing = [
            Annotation(row, 0, int(codes[row]), np.zeros(len(strings), dtype=bool))
            for row, strings in enumerate(tokens.strings)
        ]
        return self._marked(tokens, design, codes, nothing, self.log_prior_, 1)

    def _reasons_for(self, tokens: Tokens) -> Callable[[int], MarkedTexts]:
        """From a class to all texts with one chain each, as reasons for that class."""
        empty = sp.csr_matrix((tokens.n_texts, self.columns_.n_words))
        return lambda label: self._unmarked(tokens, empty, np.full(tokens.n_texts, label))

    def _scores(self, X: Any, features: Any) -> FloatArray:
        check_is_fitted(self)
        texts = as_texts(X)
        features = self._given(features, ids=row_ids(X))
        if not self.reading_.share:
            tokens = read_tokens(texts, tokeniser=self.tokeniser, transitions="plain")  # places are not needed here
            design = self.columns_.design(tokens, texts, features, self.vectors)
            return np.asarray(design @ self._effective_weights.T) + self.log_prior_
        tokens = self._read(texts)
        design = self.columns_.design(tokens, texts, features, self.vectors)
        reader = Reader(np.arange(len(texts)), self.class_weights_, self.marking_.lexicon, self.marking_.table)
        plain, by_marks, rest = reading_scores(self.columns_, tokens, design, self._reasons_for(tokens), [reader])
        n_words = np.asarray(design[:, : self.columns_.n_words].sum(axis=1))
        scores = self.scale_ * (self.reading_.scores(plain, by_marks) + rest)
        return np.asarray(scores + n_words.reshape(-1, 1) * self.drift_ + self.log_prior_)

    def _given(self, features: Any, *, ids: Any = None) -> Any:
        """The columns beside the words as in training; those of a table are met by their names."""
        if features is None:
            return None
        return given_features(columns_in_order(features, getattr(self, "feature_names_", None)), ids=ids)

    def _codes(self, labels: Any) -> IntArray:
        places = {label: place for place, label in enumerate(self.classes_)}
        for row, label in enumerate(labels):
            if label not in places:
                raise InputError(
                    f"a class must be one of those in training ({', '.join(map(str, self.classes_))}); row {row + 1} "
                    f"has {str(label)!r}."
                )
        return np.array([places[label] for label in labels], dtype=np.int64)

    # -- fitting -------------------------------------------------------------------------------------------------

    def _strengths(self, marked: MarkedTexts, folds: IntArray, free: BoolArray | None) -> Strengths:
        """As given, or chosen inside the training texts."""
        settings = {"C": self.C, "theta_variance": self.theta_variance}
        given = {name: None if value == "auto" else float(value) for name, value in settings.items()}
        base = Strengths(
            0.0, 1.0, self.phi_variance, self.deviation_variance, float(self.laziness), bool(self.printed_prior)
        )
        self.choice_: StrengthChoice | None = None
        self.scale_, self.drift_ = 1.0, np.zeros(marked.n_classes)
        chosen = middle_strengths(marked, base, **given)
        if None in given.values() and np.bincount(marked.labels).min() >= _FEWEST:
            choice = choose_strengths(
                marked,
                base,
                C=given["C"],
                theta_variance=given["theta_variance"],
                folds=folds,
                emissions=self.emissions,
                free=free,
                workers=self._workers,
            )
            if choice.at_edge:
                warnings.warn(
                    f"RationaleClassifier chose C = {choice.strengths.C:.3g} and theta_variance = "
                    f"{choice.strengths.theta_variance:.3g} at the edge of what it tries. Give one of them to go on.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
            self.choice_, self.scale_, chosen = choice, choice.scale, choice.strengths
        self.C_, self.theta_variance_ = chosen.C, chosen.theta_variance
        return chosen

    def _fit_all(self, marked: MarkedTexts, strengths: Strengths, free: BoolArray | None) -> AnnotatorFit:
        small, columns = marked.compact()
        stop = {"max_iter": self.max_iter, "tol": self.tol, "value_tol": self.value_tol}
        kept = None if free is None else free[columns]
        settings = {"emissions": self.emissions, "free": kept, **stop}
        if self.laziness:  # each text has a weight of its own, which blocks do not hold
            fit = FITS[self.method](small, strengths, **settings)
        else:
            with in_blocks(small, self._workers) as blocked:
                fit = FITS[self.method](blocked, strengths, **settings)
        warn_unconverged("RationaleClassifier", fit.convergence, cure="Raise max_iter or value_tol.")
        self.objective_, self.n_iter_ = -fit.value, fit.convergence.n_iter
        return with_habits(small, fit, strengths, emissions=self.emissions).expanded(columns, marked.n_features)

    def _marking(
        self, marked: MarkedTexts, strengths: Strengths, fit: AnnotatorFit, folds: IntArray, free: BoolArray | None
    ) -> tuple[Marking, list[Reader]]:
        """What predicts highlights, and what reads texts left out as it does.

        Without a lexicon, or with too few texts to leave any out, the habits alone, and nothing to read with.
        """
        if not marked.n_chains or not self.lexicon or np.bincount(marked.labels).min() < _FEWEST:
            weights, table = fit.class_weights(marked.n_classes), fit.habits.table
            return Marking.of_habits(marked, weights, table), []
        parts = left_out_parts(
            marked, strengths, folds=folds, emissions=self.emissions, free=free, workers=self._workers
        )
        settings: dict[str, Any] = {"deviation_variance": self.deviation_variance, "emissions": self.emissions}
        marking, without = learn_marking(parts, fit.habits, **settings)
        rows = [np.flatnonzero(folds[0] == fold) for fold in np.unique(folds[0][folds[0] >= 0])]
        return marking, [
            Reader(own, weights, *found) for own, (_, weights), found in zip(rows, parts, without, strict=True)
        ]

    def _learn_habits(self, marked: MarkedTexts, fit: AnnotatorFit, people: list[str], marking: Marking) -> None:
        table = fit.habits.table
        self.phi_names_ = [*emission_names(marked.thresholds), *transition_names(self.transitions)]
        self.annotators_ = np.array(sorted(people), dtype=object)
        self.habit_of_ = np.array([people.index(name) + 1 if len(people) > 1 else 0 for name in self.annotators_], int)
        self.phi_, self.annotator_phi_ = table[0], table[self.habit_of_]
        self.marking_, self.threshold_, self.habit_ = marking, float(marking.thresholds[0]), 0
        self.annotator_thresholds_ = marking.thresholds[self.habit_of_]
        self.n_annotated_ = marked.n_chains
        self.laziness_ = fit.habits.bias

    def _habits_of(self, annotator: Any) -> tuple[FloatArray, float]:
        """Habits, shape (1, n_phi), and threshold of an annotator, or of nobody in particular."""
        if annotator is None:
            return self.marking_.table[[self.habit_]], self.threshold_
        found = np.flatnonzero(self.annotators_ == str(annotator))
        if not len(found):
            raise InputError(
                f"an annotator must be one of those in training ({', '.join(self.annotators_)}); this is {annotator!r}."
            )
        return self.marking_.table[self.habit_of_[found]], float(self.annotator_thresholds_[found[0]])

    def _worth(self, tokens: Tokens, codes: IntArray) -> FloatArray:
        marked = self._unmarked(tokens, sp.csr_matrix((tokens.n_texts, self.columns_.n_words)), codes)
        return worth_of_highlights(
            marked, self.class_weights_, self.marking_.table[:1], self.n_seen_, self.marking_.lexicon
        )


def _class_ranks(texts: list[str], codes: IntArray, n_classes: int) -> IntArray:
    """An order of the classes by their texts, so that their names do not matter, shape (n_classes,)."""
    own: list[list[str]] = [[] for _ in range(n_classes)]
    for text, code in zip(texts, codes, strict=True):
        own[code].append(text)
    by_texts = sorted(range(n_classes), key=lambda code: (len(own[code]), sorted(own[code])))
    return np.argsort(by_texts)


def _row_order(texts: list[str], codes: IntArray, matched: list[MatchedSpans]) -> IntArray:
    """An order of the rows by what they hold, so that the order in which they come does not matter."""
    marks: dict[int, list[Any]] = {}
    for one in matched:
        marks.setdefault(one.row, []).append(one.spans.tolist())
    key = [
        (text, int(code), sorted(marks.get(row, []))) for row, (text, code) in enumerate(zip(texts, codes, strict=True))
    ]
    return np.array(sorted(range(len(texts)), key=key.__getitem__), dtype=np.int64)
