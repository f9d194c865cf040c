"""Threads: label the comments under a question jointly, say how sure, rank them, and show why."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from accord.data.columns import as_column
from accord.data.labels import warn_of_alike
from accord.data.tables import texts_as_table
from accord.data.threads import Threads
from accord.engines.chain import chain
from accord.engines.convergence import warn_unconverged
from accord.engines.graphs import Graphs
from accord.engines.integer_program import integer_program
from accord.engines.marginals import Marginals
from accord.engines.min_cut import min_cut
from accord.engines.numerics import normalise_log
from accord.errors import InputError
from accord.evaluation.metrics import accuracy_where_open
from accord.fitting.settings import Choice, Flag, Number, Object, Rule, Seed, check_settings
from accord.fitting.workers import WithWorkers
from accord.texts.vectors import FittedVectors
from accord.threads.calibration import calibrated, fit_sigmoids
from accord.threads.design import (
    Scaler,
    ThreadRows,
    as_float_table,
    as_threads,
    group_rows,
    in_trained_order,
    known_codes,
    label_codes,
    pair_features,
    pair_scores,
    places_in,
    similarities_of,
    tells_threads,
)
from accord.threads.features.edges import ThreadEdges
from accord.threads.features.table import FEATURE_SETS, ThreadFeatures, thread_order
from accord.threads.files import fit_file
from accord.threads.held_out import with_given_pull
from accord.threads.local import log_linear_scores
from accord.threads.models import (
    COUPLINGS,
    EDGE_SCALES,
    EDGES,
    LEARNERS,
    MODELS,
    OBJECTIVES,
    Settings,
    Training,
    as_gains,
    edge_share,
    fit_weights,
    prediction_engine,
)
from accord.threads.pulls import beyond_pairs, contrast, node_evidence, pulls_of_others
from accord.threads.second_order_chain import SecondOrderChain
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = ["DECODERS", "ThreadClassifier"]

_COARSE = (
    "Belief propagation is not exact in long threads, so the loss cannot be lowered further. "
    "Use edges='bias' or raise edge_penalty."
)

# Log-odds of classifiers that have not seen the thread are evidence already, and bear a part of the penalty only.
RELIEF = {"words": 0.1, "stacked": 0.1}


@dataclass(frozen=True, eq=False)
class _Posed:
    """Comments as an inference problem, in the order of their threads."""

    x: FloatArray  # (n_comments, n_features + 1)
    features: FloatArray  # (n_edges, n_edge_features + 1)
    rows: ThreadRows
    graphs: Graphs
    ids: AnyArray | None


class ThreadClassifier(WithWorkers, ClassifierMixin, BaseEstimator):
    """Joint classification of the comments of a thread ([JMN16]).

    A thread is a complete graph over its comments. Node scores are linear in the features of a comment, edge scores
    in the features of a pair of comments; inference makes the labels of one thread agree with each other as far as the
    training threads did.

    Parameters
    ----------
    model : {"fccrf", "local", "local+cut", "local+ilp", "local+lbp", "joint", "chain"}
        "fccrf" is the fully connected CRF. "local" classifies every comment by itself; "local+cut", "local+ilp" and
        "local+lbp" train a node and an edge classifier apart and then infer by graph cut, integer linear programming or
        loopy belief propagation; "joint" trains both on the feedback of belief propagation ([JMN16] Algorithm 1);
        "chain" joins consecutive comments only.
    edges : {"bias", "ising", "full"}
        Edge features: a bias alone, features that speak for equal or different labels, or one weight vector for each
        pair of labels. "local" has no edges.
    edge_scale : {"length", "root", "none"}
        Edges of a thread of n comments are divided by n − 1, √(n − 1) or 1. Unscaled edges that were learnt from short
        threads give all comments of a long one the same label.
    order : {1, 2}
        Order of a chain.
    learner : {"lbfgs", "sgd", "averaged", "voted"}
        Maximum entropy by L-BFGS or by stochastic gradient steps, one thread a step, or the averaged or voted
        perceptron. "joint" takes stochastic steps also under "lbfgs".
    objective : {"likelihood", "marginals"}
        What L-BFGS minimises for "fccrf" and "chain": the negative log-likelihood of whole threads, or the log loss of
        the node marginals.
    coupling : {"auto", "held_out", "joint"}
        How "fccrf" learns the pull between comments. "held_out": the nodes are trained by themselves, and the pull is
        fitted to what they say of threads held out in ``n_folds`` folds; it is set to 0 if it does not help on threads
        that it was not fitted to. "joint": nodes and edges are trained together, as in [JMN16]. "auto" holds out where
        that can be done: for bias edges, L-BFGS and the likelihood.
    features : {"words", "paper", "text", "full"}
        Which features to make of texts, see :class:`~accord.threads.features.table.ThreadFeatures`.
    vectors : str, path or callable, optional
        Sentence vectors beside the words, for features "words" and "full": what
        :func:`~accord.texts.vectors.open_vectors` takes.
    node_penalty, edge_penalty : float
        L2 penalties as total strengths: ½ · penalty · Σ weights² is added to the loss summed over comments (or pairs,
        for edges that are trained apart). Biases are free, and log-odds of text classifiers bear a tenth. "auto"
        chooses the strength with the least log loss on threads held out in ``n_folds`` folds.
    n_epochs : int
        Passes of stochastic gradient steps and perceptrons.
    step_size : float
        First step of stochastic gradient steps.
    n_folds : int
        Folds of threads for everything that is learnt from threads held out.
    max_iter : int
        Most iterations of L-BFGS.
    tol : float
        Largest gradient entry at which L-BFGS stops.
    calibrate : bool
        Pass the log-odds of every comment whose label is not given through a sigmoid that is fitted to threads held
        out in ``n_folds`` folds. Models whose parts are trained apart are too sure of themselves without it.
    cache_dir : path, optional
        Where features made from a Threads record are kept.
    n_jobs : int, optional
        Processes that L-BFGS sums its losses with; as in scikit-learn, None means one. The weights are the same.
    client : str or distributed.Client, optional
        The address of a Dask scheduler, or a client of one, to do so on a cluster.
    random_state : int

    Attributes
    ----------
    classes_ : array of shape (n_labels,)
    weights_ : ThreadWeights
        ``weights_.penalty`` is the strength on the node weights, ``weights_.penalties_tried`` what else was tried.
    coupling_ : Coupling or None
        The pull between comments and what it is worth on threads held out, where it was learnt from those.
    feature_names_ : tuple of str
        ``group/name`` of each node feature.

    Notes
    -----
    With log-linear factors the local normalisers of "joint" cancel in the messages: Algorithm 1 takes the same steps as
    stochastic gradient training of "fccrf", and differs from its default only by the optimiser.

    Examples
    --------
    >>> import numpy as np
    >>> from accord import ThreadClassifier
    >>> x = np.array([[1.0], [0.8], [-1.0], [-0.7], [1.2], [-0.9]])
    >>> y = np.array(["Good", "Good", "Bad", "Bad", "Good", "Bad"])
    >>> thread = np.array(["a", "a", "b", "b", "c", "c"])
    >>> model = ThreadClassifier().fit(x, y, groups=thread)
    >>> model.predict(np.array([[0.9], [-0.8]]), groups=["new", "new"]).tolist()
    ['Good', 'Bad']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "model": Choice(MODELS),
        "edges": Choice(EDGES),
        "edge_scale": Choice(tuple(EDGE_SCALES)),
        "learner": Choice(LEARNERS),
        "objective": Choice(OBJECTIVES),
        "coupling": Choice(COUPLINGS),
        "features": Choice(FEATURE_SETS),
        "vectors": Object("the name, folder or file of an encoder, or a function of texts", (str, Path, Callable)),
        "order": Number(1, 2, whole=True),
        "node_penalty": Number(0, words=("auto",)),
        "edge_penalty": Number(0),
        "n_epochs": Number(1, whole=True),
        "step_size": Number(0, above=True),
        "n_folds": Number(2, whole=True),
        "max_iter": Number(1, whole=True),
        "tol": Number(0, above=True),
        "calibrate": Flag(),
        "cache_dir": Object("a path", (str, Path)),
        "n_jobs": Number(whole=True, none=True),
        "client": Object("a Dask client or the address of a scheduler", (object,)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        model: str = "fccrf",
        edges: str = "bias",
        edge_scale: str = "length",
        order: int = 1,
        learner: str = "lbfgs",
        objective: str = "likelihood",
        coupling: str = "auto",
        features: str = "words",
        vectors: Any = None,
        node_penalty: float | str = "auto",
        edge_penalty: float = 1000.0,
        n_epochs: int = 10,
        step_size: float = 0.1,
        n_folds: int = 5,
        max_iter: int = 200,
        tol: float = 1e-4,
        calibrate: bool = False,
        cache_dir: str | None = None,
        n_jobs: int | None = None,
        client: Any = None,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.edges = edges
        self.edge_scale = edge_scale
        self.order = order
        self.learner = learner
        self.objective = objective
        self.coupling = coupling
        self.features = features
        self.vectors = vectors
        self.node_penalty = node_penalty
        self.edge_penalty = edge_penalty
        self.n_epochs = n_epochs
        self.step_size = step_size
        self.n_folds = n_folds
        self.max_iter = max_iter
        self.tol = tol
        self.calibrate = calibrate
        self.cache_dir = cache_dir
        self.n_jobs = n_jobs
        self.client = client
        self.random_state = random_state

    # scikit-learn routes these without further requests.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True, "edges": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True, "edges": True, "known": True}
    __metadata_request__predict_proba = __metadata_request__predict
    __metadata_request__score = __metadata_request__predict

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, edges: ThreadEdges | None = None) -> "ThreadClassifier":
        """Train.

        Parameters
        ----------
        X : Threads, table of texts, or table or array of shape (n_comments, n_features)
            One row a comment. A table with a column ``text`` is read as
            :meth:`~accord.Threads.from_table` does, and its features are made; a Threads record has its
            own labels and threads.
        y : array of shape (n_comments,)
            Labels; ``None`` where a comment has none. By default those of a record, or the column ``label``.
        groups : array of shape (n_comments,), optional
            The thread of each comment; by default the column ``group_id`` of texts, or else every comment stands alone.
        edges : ThreadEdges, optional
            Similarities between the comments of a thread, for edges="ising" and "full" and features of one's own.
        """
        settings = self._settings()
        self.features_: ThreadFeatures | None = None
        self.vectors_ = None if self.vectors is None else FittedVectors.of(self.vectors)
        if self.model != "local" and not tells_threads(X, groups):
            warnings.warn(
                "groups was not given, so that every comment stands alone and nothing is learnt about threads. "
                "Give the thread of each row as groups (in cross-validation, scikit-learn's metadata routing hands "
                "it on), or use model='local'.",
                stacklevel=2,
            )
        texts, keys = as_threads(X, groups, y), None
        if texts is not None:
            # In an order of their own, so that nothing depends on the order and the names of threads.
            X, y, groups, edges = self._fit_features(texts.subset(np.argsort(thread_order(texts))), settings)
        values, ids, self.feature_names_ = as_float_table(X)
        self.classes_, labels = label_codes(y, len(values))
        warn_of_alike(self.classes_)
        rows = ThreadRows.of(groups, len(values))
        if texts is None:
            groups, keys = group_rows(groups, values, labels)
            rows = ThreadRows.of(groups, len(values))
        if self.model in DECODERS and len(self.classes_) != 2:
            raise InputError(f"{self.model!r} needs two labels; there are {len(self.classes_)}. Use model='local+lbp'.")
        self.scaler_ = Scaler.of(values[rows.order])
        similarities = None
        if settings.uses_pairs:
            similarities = similarities_of(edges, ids, rows, *settings.pairs(rows.offsets))
        self.n_similarities_ = 0 if similarities is None else similarities.shape[1]
        relief = np.array([RELIEF.get(name.partition("/")[0], 1.0) for name in self.feature_names_])
        data = Training(
            self.scaler_(values[rows.order]), labels[rows.order], len(self.classes_), rows, similarities,
            relief[self.scaler_.keep], None if keys is None else keys[rows.order],
        )  # fmt: skip
        self.weights_ = fit_weights(data, settings, np.random.default_rng(self.random_state), self._workers)
        self.coupling_ = self.weights_.coupling
        self.n_features_in_ = values.shape[1]
        self.sigmoids_ = None
        if self.calibrate:
            table = X if ids is not None else pd.DataFrame(values)
            self.sigmoids_ = fit_sigmoids(self, table, as_column(y), groups, edges)
        self._warn_unconverged()
        return self

    def fit_parquet(self, source: Any, *, features: Sequence[str] | None = None, **plan: int) -> "ThreadClassifier":
        """Train on Parquet files of feature columns, which are never all in one place.

        Workers (``n_jobs``, ``client``) load their blocks themselves, and must see the files under the same name. For
        L-BFGS with bias edges: ``model`` "fccrf", "local" or "chain".

        Parameters
        ----------
        source : path
            A Parquet file, or a folder of them, with ``group_id``, ``label`` (missing where a comment has none) and
            features. Rows of one thread must stand together.
        features : sequence of str, optional
            The columns to learn from; by default all columns of numbers.
        **plan
            ``min_rows`` and ``max_rows`` of :func:`~accord.data.parquet_blocks.plan_blocks`.
        """
        if self.calibrate:
            raise InputError(
                "calibrate=True trains on parts of the threads, which files are not read for. Leave it out."
            )
        self.sigmoids_ = self.features_ = self.vectors_ = self.coupling_ = None
        found = fit_file(source, self._settings(), self._workers, features=features, **plan)
        self.weights_, self.scaler_ = found.weights, found.scaler
        self.classes_ = found.classes
        self.feature_names_, self.n_features_in_, self.n_similarities_ = found.names, len(found.names), 0
        self._warn_unconverged()
        return self

    def _warn_unconverged(self) -> None:
        warn_unconverged(
            f"Training of ThreadClassifier(model={self.model!r})",
            self.weights_.convergence,
            cure="Raise max_iter." if self.weights_.convergence.n_iter >= self.max_iter else _COARSE,
            stacklevel=4,
        )

    def predict_proba(
        self,
        X: Any,
        *,
        groups: Any = None,
        known: Any = None,
        edges: ThreadEdges | None = None,
    ) -> FloatArray:
        """Probability of each label, shape (n_comments, n_labels), in the order of ``classes_``.

        Parameters
        ----------
        X, groups, edges
            As in :meth:`fit`.
        known : array of shape (n_comments,), optional
            Labels that are given, ``None`` elsewhere. They are kept, and pull the other comments of their thread.
        """
        posed = self._pose(X, groups, known=known, edges=edges)
        return np.asarray(posed.rows.back(self._probabilities(posed)))

    def pairwise_proba(
        self, X: Any, *, groups: Any = None, known: Any = None, edges: ThreadEdges | None = None
    ) -> tuple[FloatArray, IntArray, FloatArray]:
        """Probabilities as :meth:`predict_proba` has them, and how likely the comments of a thread are to agree.

        Parameters
        ----------
        X, groups, edges
            As in :meth:`fit`.
        known : array of shape (n_comments,), optional
            Labels that are given, ``None`` elsewhere; they are kept, and pull the other comments of their thread.

        Returns
        -------
        p : array of shape (n_comments, n_labels)
        ends : int array of shape (n_pairs, 2)
            Rows of the comments that pull each other.
        equal : array of shape (n_pairs,)
            Probability that the two have the same label.
        """
        posed = self._pose(X, groups, known=known, edges=edges)
        p = np.asarray(posed.rows.back(self._probabilities(posed)))
        if self.model == "local" or (self.model == "chain" and self.order == 2):
            return p, np.empty((0, 2), dtype=np.int64), np.empty(0)
        equal = self._infer(posed.graphs, each_edge=True).edge_marginals
        equal = equal if equal.ndim == 1 else np.trace(equal, axis1=1, axis2=2)
        return p, posed.rows.order[posed.graphs.edges], equal

    def predict(
        self,
        X: Any,
        *,
        groups: Any = None,
        known: Any = None,
        edges: ThreadEdges | None = None,
    ) -> AnyArray:
        """The label of each comment: the most probable one, or that of the best labelling of the whole thread.

        The latter is what "local+cut" and "local+ilp" look for.

        Takes what :meth:`predict_proba` takes.

        Parameters
        ----------
        X, groups, edges
            As in :meth:`fit`.
        known : array of shape (n_comments,), optional
            Labels that are given, ``None`` elsewhere; they are kept, and pull the other comments of their thread.
        """
        posed = self._pose(X, groups, known=known, edges=edges)
        if self.model in DECODERS:
            return np.asarray(self.classes_[posed.rows.back(DECODERS[self.model](posed.graphs))])
        return np.asarray(self.classes_[posed.rows.back(self._probabilities(posed)).argmax(axis=1)])

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        known: Any = None,
        edges: ThreadEdges | None = None,
    ) -> float:
        """Accuracy on the comments that have a label which was not given in ``known``, weighted if so wished.

        Takes what :meth:`predict_proba` takes; ``y`` is by default as in :meth:`fit`.

        Parameters
        ----------
        X, groups, edges
            As in :meth:`fit`.
        y : array of shape (n_comments,), optional
            True labels; by default as in :meth:`fit`.
        sample_weight : array of shape (n_comments,), optional
            How much each row counts; by default all count the same.
        known : array of shape (n_comments,), optional
            Labels that are given, ``None`` elsewhere; they are kept, and pull the other comments of their thread.
        """
        texts = as_threads(X, groups, y)
        if texts is not None and y is None:
            place = places_in(X, texts)
            y = texts.labels if place is None or texts.labels is None else texts.labels[np.argsort(place)]
        if y is None:
            raise InputError("a score needs the true labels; give them as y.")
        said = self.predict(X, groups=groups, known=known, edges=edges)
        return accuracy_where_open(said, y, known=known, sample_weight=sample_weight)

    def rank(self, X: Any, *, groups: Any = None, positive: Any = None, **more: Any) -> pd.DataFrame:
        """The comments of each thread, best answer first.

        Parameters
        ----------
        X, groups
            As in :meth:`predict_proba`.
        positive : label, optional
            The label that makes a good answer; by default "Good" if there is such a label, else the last one.
        **more
            ``known`` and ``edges``, as in :meth:`predict_proba`.

        Returns
        -------
        DataFrame
            ``thread, rank, item_id, row, probability``, one row a comment, thread by thread.
        """
        p = self.predict_proba(X, groups=groups, **more)[:, self._positive(positive)]
        texts = as_threads(X, groups)
        if texts is not None:
            place = places_in(X, texts)
            order = np.arange(len(p)) if place is None else np.argsort(place)
            thread, ids = texts.thread_ids[texts.thread_of][order], texts.comment_ids[order]
        else:
            _, index, _ = as_float_table(X)
            ids = np.arange(len(p)).astype(str) if index is None else index
            thread = np.asarray(groups if groups is not None else ids)
        table = pd.DataFrame({"thread": thread, "item_id": ids, "row": np.arange(len(p)), "probability": p})
        first = pd.factorize(table["thread"])[0]
        table = table.iloc[np.lexsort((-p, first))].reset_index(drop=True)
        table.insert(1, "rank", table.groupby("thread", sort=False).cumcount() + 1)
        return table

    def explain(
        self,
        X: Any,
        *,
        target: Any = None,
        label: Any = None,
        known: Any = None,
        edges: ThreadEdges | None = None,
    ) -> pd.DataFrame:
        """Why the comments of one thread are judged as they are.

        The log-odds of ``label`` of a comment (against the mean of the other labels) are the sum of its node evidence,
        by feature group, and of the pulls of the other comments, which are the messages of belief propagation. Where
        inference is more exact than those, the difference stands in a last row of kind "rest". With ``calibrate`` these
        are the log-odds before calibration.

        Parameters
        ----------
        X : Threads or table
            The comments of one thread.
        target : int or comment id, optional
            Explain this comment only.
        label : label, optional
            As ``positive`` in :meth:`rank`.
        known, edges
            As in :meth:`predict_proba`.

        Returns
        -------
        DataFrame
            ``item_id, reason, effect, kind``; kind is "evidence", "word", "pull" or "rest", the reason a feature group,
            a word or two of the comment, or the id of the other comment; the strongest reason of each comment first.
        """
        check_is_fitted(self, "weights_")
        X = X if isinstance(X, Threads) else texts_as_table(X)
        texts = as_threads(X, np.zeros(np.shape(X)[0])) if not isinstance(X, Threads) else X
        X = X if texts is None else texts
        if texts is not None and texts.n_threads != 1:
            raise InputError(f"explain takes the comments of one thread; there are {texts.n_threads} threads.")
        n = np.shape(X)[0] if texts is None else texts.n_comments
        posed = self._pose(X, np.zeros(n), known=known, edges=edges)
        names = np.arange(n).astype(str) if posed.ids is None else posed.ids
        k = self._positive(label)
        weights = self.weights_.local if self.weights_.path is not None else self.weights_.nodes
        groups = [self.feature_names_[column].partition("/")[0] for column in self.scaler_.keep] + ["bias"]
        frames = node_evidence(weights, posed.x, k, groups, names, self._word_effects(texts, weights, k))
        if self.model != "local" and not (self.model == "chain" and self.order == 2):
            frames += pulls_of_others(posed.graphs, k, names)
            frames.append(beyond_pairs(self._marginals(posed), posed.graphs.known, pd.concat(frames), k, names))
        table = pd.concat(frames, ignore_index=True)
        if target is not None:
            by_place = isinstance(target, int | np.integer) and -n <= target < n
            wanted = str(names[target]) if by_place else str(target)
            if wanted not in names:
                raise InputError(f"the comment to explain must be in the thread; it has no {wanted!r}.")
            table = table[table["item_id"] == wanted]
        place = {name: p for p, name in enumerate(names)}
        order = np.lexsort((-table["effect"].abs(), table["item_id"].map(place)))
        return table.iloc[order].reset_index(drop=True)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _settings(self) -> Settings:
        check_settings(self)
        names = Settings.__dataclass_fields__
        return Settings(**{name: getattr(self, name) for name in names})

    def _fit_features(self, threads: Threads, settings: Settings) -> tuple[Any, Any, Any, Any]:
        if threads.labels is None or pd.isna(threads.labels).all():
            raise InputError("training needs labelled comments; no comment of these threads has a label.")
        self.features_ = ThreadFeatures(
            features=self.features, n_folds=self.n_folds, cache_dir=self.cache_dir, random_state=self.random_state
        )
        vectors = self._vectors_of(threads)
        X = self.features_.fit_transform(threads, vectors=vectors)
        edges = self.features_.edges(threads, vectors=vectors) if settings.uses_pairs else None
        return X, threads.labels, threads.thread_of, edges

    def _vectors_of(self, threads: Threads) -> tuple[AnyArray, FloatArray] | None:
        """Ids of questions and comments, and their sentence vectors."""
        if self.vectors_ is None:
            return None
        questions = np.full(threads.n_threads, "", dtype=object) if threads.questions is None else threads.questions
        texts = [text if isinstance(text, str) else "" for text in (*questions, *threads.texts)]
        return np.concatenate([threads.thread_ids, threads.comment_ids]), self.vectors_.encode(self.vectors, texts)

    def _word_effects(self, texts: Threads | None, weights: FloatArray, k: int) -> list[dict[str, float]] | None:
        """What each word of each comment adds to its log-odds of label k."""
        names = [self.feature_names_[column] for column in self.scaler_.keep]
        columns = [place for place, name in enumerate(names) if name.startswith("words/")]
        every = [name for name in self.feature_names_ if name.startswith("words/")]
        if texts is None or self.features_ is None or not columns or len(columns) != len(every):
            return None
        slopes = contrast(weights, k)[columns] / self.scaler_.scale[self.scaler_.keep[columns]]
        effects = self.features_.word_effects(texts)
        return [{word: float(added @ slopes) for word, added in one.items()} for one in effects]

    def _positive(self, label: Any) -> int:
        check_is_fitted(self, "weights_")
        names = self.classes_.tolist()
        if label is None:
            label = next((name for name in names if str(name).casefold() == "good"), names[-1])
        if label not in names:
            raise InputError(f"the label must be one of {', '.join(map(str, names))}; it is {label!r}.")
        return int(names.index(label))

    def _pose(self, X: Any, groups: Any, *, known: Any = None, edges: ThreadEdges | None = None) -> _Posed:
        """The inference problem of some comments, in the order of their threads."""
        check_is_fitted(self, "weights_")
        settings = self._settings()
        if self.weights_.edges.any() and not tells_threads(X, groups):
            warnings.warn(
                "groups was not given, so that every comment is judged as a thread of its own. Give the thread of each "
                "row as groups; in cross-validation, scikit-learn's metadata routing hands it on.",
                stacklevel=3,
            )
        texts, place = as_threads(X, groups), None
        if texts is not None:
            made = getattr(self, "features_", None)
            if made is None:
                raise InputError("a model trained on a table of features predicts tables; it got texts.")
            place = places_in(X, texts)
            groups = texts.thread_ids[texts.thread_of]
            X = np.zeros((0, self.n_features_in_))
            if texts.n_comments:
                vectors = self._vectors_of(texts)
                edges = made.edges(texts, vectors=vectors) if settings.uses_pairs else None
                X = made.transform(texts, vectors=vectors)
        values, ids, names = as_float_table(X)
        values = in_trained_order(values, names, tuple(self.feature_names_))
        rows = ThreadRows.of(groups, len(values))
        if place is not None:  # a table of texts may come in another order than its threads have
            rows = replace(rows, order=place[rows.order])
            values, ids = values[np.argsort(place)], None if ids is None else ids[np.argsort(place)]
        labels = None if known is None else known_codes(known, self.classes_, len(values))
        x = self.scaler_(values[rows.order])
        scores = self._node_scores(x)
        if self.model == "local":
            features: FloatArray = np.zeros((0, 1))
            graphs = Graphs.complete(scores, np.ones(len(x), dtype=np.int64))
        else:
            graphs = settings.layout(scores, rows.sizes)
            features, gains = self._edge_scores(x, rows, ids, edges, graphs)
            graphs = graphs.with_scores(scores, gains)
        if labels is not None:
            graphs = graphs.with_known(labels[rows.order])
            if self.coupling_ is not None:
                share = edge_share(graphs, self.edge_scale)
                graphs = with_given_pull(graphs, self.coupling_.pull_given * share)
        return _Posed(x, features, rows, graphs, ids)

    def _edge_scores(
        self, x: FloatArray, rows: ThreadRows, ids: AnyArray | None, edges: ThreadEdges | None, graphs: Graphs
    ) -> tuple[FloatArray, FloatArray]:
        """Edge features where inference needs them (chains of the second order), and edge gains or tables."""
        weights, n_labels = self.weights_, len(self.classes_)
        left, right = graphs.edges.T.astype(np.int64)
        kind = "full" if self.edges == "full" else "ising"
        features: FloatArray = np.ones((len(left), 1))
        share = edge_share(graphs, self.edge_scale)
        if weights.pair_scaler is None:
            scores: FloatArray = features @ weights.edges.T
        else:
            similarities = similarities_of(edges, ids, rows, left, right)
            n_given = 0 if similarities is None else similarities.shape[1]
            if n_given != self.n_similarities_:
                raise InputError(
                    f"the model was trained with {self.n_similarities_} edge features; it got {n_given}. "
                    "Give edges= as in training."
                )
            evidence = log_linear_scores(weights.local, x)
            pairs = (x[:, :-1], evidence, left, right, similarities)
            if weights.triples is not None:
                features = weights.pair_scaler(pair_features(*pairs))
            scores = pair_scores(*pairs, weights.pair_scaler, weights.edges)
        return features * share[:, None], as_gains(scores * share[:, None], kind, n_labels)

    def _node_scores(self, x: FloatArray) -> FloatArray:
        weights = self.weights_
        if weights.path is not None:
            # Every label gets one vote more than it has, so that no score is infinite.
            total = weights.path.survivals.sum()
            votes = weights.path.votes(x)
            return np.log((votes * total + 1.0) / (total + len(self.classes_)))
        scores = x @ weights.nodes.T
        return np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores

    def _infer(self, graphs: Graphs, *, each_edge: bool = False) -> Marginals:
        return prediction_engine(self._settings(), each_edge=each_edge)(graphs)

    def _marginals(self, posed: _Posed) -> FloatArray:
        if self.model == "chain" and self.order == 2:
            weights = self.weights_
            kind = "full" if self.edges == "full" else "ising"
            second = SecondOrderChain(posed.x, posed.features, posed.rows.sizes, len(self.classes_), kind)
            assert weights.triples is not None  # chains of the second order are always trained with triples
            flat = np.concatenate([weights.nodes.ravel(), weights.edges.ravel(), weights.triples.ravel()])
            return second.node_marginals(chain(second.scores(flat, posed.graphs.known)))
        if self.model == "local" and posed.graphs.known is None:
            return normalise_log(posed.graphs.node_scores)
        return self._infer(posed.graphs).node_marginals

    def _probabilities(self, posed: _Posed) -> FloatArray:
        """Marginals, calibrated where the label is not given."""
        p = self._marginals(posed)
        if self.sigmoids_ is None:
            return p
        known = posed.graphs.known
        free = np.ones(len(p), dtype=bool) if known is None else known < 0
        out = p.copy()
        out[free] = calibrated(p[free], self.sigmoids_)
        return out


def _cut(graphs: Graphs) -> AnyArray:
    """The best cut, without the edges that prefer different labels: a cut cannot hold them."""
    attractive = graphs.with_scores(graphs.node_scores, np.maximum(graphs.edge_scores, 0.0))
    return min_cut(attractive).map_labels


# The best labelling of a whole thread; other models give each comment its most probable label.
DECODERS = {"local+cut": _cut, "local+ilp": integer_program}
