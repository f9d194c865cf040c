"""Node and edge features of comment threads, in four named sets.

``text``
    Similarities between question and comment, and what the comment says by itself.
``paper``
    ``text`` plus the comment's place in the thread and the forum category: the set of [JMN16].
``words``
    ``paper`` plus how the comment is written, and log-odds of a classifier of its words (and of sentence vectors, when
    given) that has not seen the thread: the default.
``full``
    ``words`` plus log-odds of characters, of boosted trees, and of trees that see all of these.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from accord.data.threads import Threads
from accord.errors import InputError
from accord.fitting.content_order import group_codes, label_keys, mixed
from accord.fitting.settings import Choice, Number, Object, Rule, Seed, check_settings
from accord.texts.cache import cached_arrays, content_key
from accord.texts.rows import text_keys
from accord.texts.words import WordAnalyser
from accord.threads.features.context import thread_context
from accord.threads.features.cues import COMMENT_CUES, STYLE_CUES, THREAD_CUES, comment_cues, style_cues, thread_cues
from accord.threads.features.edges import ThreadEdges, complete_pairs
from accord.threads.features.similarity import SIMILARITIES, PairSimilarities, row_cosines
from accord.threads.features.stacking import StackedLogits
from accord.threads.features.text import clean_text, tokenise
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["FEATURE_SETS", "ThreadFeatures", "thread_order"]

FEATURE_SETS = ("text", "paper", "words", "full")
STACKED = {"words": ("words",), "full": ("words", "characters", "trees", "blend")}  # learners of each set
_VERSION = 4  # part of every cache key: raise it when a feature changes

Vectors = tuple[AnyArray, AnyArray]


class ThreadFeatures(BaseEstimator):
    """Threads to node features (a table with one row a comment) and edge features (a record).

    Columns are called ``group/name``; the groups are ``similarity``, ``comment``, ``thread``, ``category``,
    ``style``, ``vector``, ``words`` and ``stacked``.

    Parameters
    ----------
    features : {"text", "paper", "words", "full"}
    n_topics : int
        Dimensions of the latent semantic space.
    min_category : int
        Categories with fewer threads share the column of unknown ones.
    n_folds : int
        Folds of the stacked classifiers.
    cache_dir : path, optional
        Where features are kept on disk; nothing is kept without it.
    random_state : int
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "features": Choice(FEATURE_SETS),
        "n_topics": Number(1, whole=True),
        "min_category": Number(1, whole=True),
        "n_folds": Number(2, whole=True),
        "cache_dir": Object("a path", (str, Path)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        features: str = "words",
        n_topics: int = 100,
        min_category: int = 10,
        n_folds: int = 5,
        cache_dir: str | Path | None = None,
        random_state: int = 0,
    ) -> None:
        self.features = features
        self.n_topics = n_topics
        self.min_category = min_category
        self.n_folds = n_folds
        self.cache_dir = cache_dir
        self.random_state = random_state

    def fit(self, threads: Threads, y: Any = None, *, vectors: Vectors | None = None) -> "ThreadFeatures":
        """Learn word weights, topics, categories and the stacked classifiers.

        Parameters
        ----------
        threads : Threads
            With labels for ``words`` and ``full``, unless ``y`` is given; ``None`` where a comment has none.
        y : array of shape (n_comments,), optional
            What the stacked classifiers learn; by default the labels of the threads. Labels that are finer than those
            to be predicted tell more.
        vectors : (ids, array of shape (n_ids, n_dims)), optional
            Sentence vectors of questions (under the thread's id) and comments.
        """
        self.fit_transform(threads, y, vectors=vectors)
        return self

    def fit_transform(self, threads: Threads, y: Any = None, *, vectors: Vectors | None = None) -> pd.DataFrame:
        """Fit, and give the node features of the same threads, the stacked ones out of fold."""
        check_settings(self)
        if threads.n_comments == 0:
            raise InputError("thread features need at least one comment; there is none.")
        cleaned = self._cleaned(threads)
        self.vectoriser_ = TfidfVectorizer(analyzer=WordAnalyser(), sublinear_tf=True)
        try:
            counts = self.vectoriser_.fit_transform(cleaned)
        except ValueError:
            raise InputError("thread features need at least one word; all questions and comments are empty.") from None
        self.weights_ = {
            word: float(self.vectoriser_.idf_[k]) for word, k in sorted(self.vectoriser_.vocabulary_.items())
        }
        self.unknown_weight_ = float(np.log(1 + len(cleaned)) + 1.0)
        n_topics = min(self.n_topics, min(counts.shape) - 1)
        self.topics_ = (
            TruncatedSVD(n_topics, n_iter=4, random_state=self.random_state).fit(counts) if n_topics >= 1 else None
        )
        found = pd.Series(threads.categories if threads.categories is not None else [], dtype=object).value_counts()
        self.categories_ = tuple(sorted(str(name) for name, n in found.items() if n >= self.min_category))
        # Everything the features of new threads depend on, for the cache.
        self.fingerprint_ = content_key(_VERSION, self.get_params(deep=False) | {"cache_dir": None}, *_content(threads))
        self.has_vectors_ = vectors is not None
        table = self._base_table(threads, cleaned, vectors)
        self.stack_: StackedLogits | None = None
        labels = threads.labels if y is None else np.asarray(y, dtype=object)
        if self.features not in STACKED:
            return table
        if labels is None or pd.isna(labels).all():
            raise InputError(f"features={self.features!r} are fitted on labelled comments; no comment has a label.")
        groups = thread_order(threads, labels)[threads.thread_of]
        if len(np.unique(groups[~pd.isna(labels)])) < 2:
            return table  # nothing can be held out of a single thread
        self.stack_ = StackedLogits(
            learners=STACKED[self.features], n_folds=self.n_folds, random_state=self.random_state
        )
        logits = self.stack_.fit_transform(
            cleaned[threads.n_threads :],
            self._seen_by_trees(threads, table),
            labels,
            groups,
            vectors=self._crossed_vectors(threads, vectors),
        )
        return self._with_stack(table, logits)

    def transform(self, threads: Threads, *, vectors: Vectors | None = None) -> pd.DataFrame:
        """Node features of new threads: one row a comment, with the comment ids as index."""
        check_is_fitted(self, "fingerprint_")
        cleaned = self._cleaned(threads)
        table = self._base_table(threads, cleaned, vectors)
        if self.stack_ is None:
            return table
        logits = self.stack_.transform(
            cleaned[threads.n_threads :],
            self._seen_by_trees(threads, table),
            vectors=self._crossed_vectors(threads, vectors),
        )
        return self._with_stack(table, logits)

    def edges(self, threads: Threads, *, vectors: Vectors | None = None) -> ThreadEdges:
        """Similarities between the comments of each thread, and whether their authors are the same."""
        check_is_fitted(self, "fingerprint_")

        def compute() -> Mapping[str, AnyArray]:
            left, right = complete_pairs(threads.offsets)
            cleaned = self._cleaned(threads)[threads.n_threads :]
            columns = self._similarities(cleaned, left, right)
            columns["topic_cosine"] = self._topic_cosines(cleaned, left, right)
            columns["same_author"] = _same_author(threads, left, right)
            columns["nearness"] = 1.0 / (right - left)
            if self._uses_vectors(vectors):
                columns["vector_cosine"] = row_cosines(self._vectors_of(threads.comment_ids, vectors), left, right)
            return {"values": np.column_stack(list(columns.values())), "names": np.array(list(columns), dtype=str)}

        arrays = self._cached("edges", threads, vectors, compute)
        return ThreadEdges(
            threads.comment_ids, threads.offsets, arrays["values"], tuple(str(name) for name in arrays["names"])
        )

    def word_effects(self, threads: Threads) -> list[dict[str, FloatArray]]:
        """What each word of each comment adds to its features ``words/…``, in their order."""
        check_is_fitted(self, "fingerprint_")
        if self.stack_ is None:
            return [{} for _ in range(threads.n_comments)]
        return [self.stack_.word_effects(clean_text(text)) for text in threads.texts]

    def _base_table(self, threads: Threads, cleaned: ObjectArray, vectors: Vectors | None) -> pd.DataFrame:
        def compute() -> Mapping[str, AnyArray]:
            question = threads.thread_of
            comment = threads.n_threads + np.arange(threads.n_comments)
            columns = {f"similarity/{k}": v for k, v in self._similarities(cleaned, question, comment).items()}
            columns["similarity/topic_cosine"] = self._topic_cosines(cleaned, question, comment)
            for name, values in zip(COMMENT_CUES, comment_cues(threads).T, strict=True):
                columns[f"comment/{name}"] = values
            if self.features != "text":
                for name, values in zip(THREAD_CUES, thread_cues(threads).T, strict=True):
                    columns[f"thread/{name}"] = values
                columns |= self._category_columns(threads)
            if self.features in STACKED:
                for name, values in zip(STYLE_CUES, style_cues(threads).T, strict=True):
                    columns[f"style/{name}"] = values
            if self.features in STACKED and self._uses_vectors(vectors):
                questions = self._vectors_of(threads.thread_ids, vectors)[threads.thread_of]
                both = np.vstack([questions, self._vectors_of(threads.comment_ids, vectors)])
                rows = np.arange(threads.n_comments)
                columns["vector/cosine"] = row_cosines(both, rows, rows + threads.n_comments)
            return {"values": np.column_stack(list(columns.values())), "names": np.array(list(columns), dtype=str)}

        arrays = self._cached("nodes", threads, vectors, compute)
        return pd.DataFrame(
            arrays["values"], index=pd.Index(threads.comment_ids, name="item_id"), columns=list(arrays["names"])
        )

    def _seen_by_trees(self, threads: Threads, table: pd.DataFrame) -> FloatArray:
        return _with_context(threads, table) if "trees" in STACKED[self.features] else np.zeros((len(table), 0))

    def _with_stack(self, table: pd.DataFrame, logits: FloatArray) -> pd.DataFrame:
        assert self.stack_ is not None  # only called with the log-odds of the stack
        names = [
            f"words/{name}" if name.startswith("words") else f"stacked/{name}" for name in self.stack_.output_names
        ]
        return pd.concat([table, pd.DataFrame(logits, index=table.index, columns=names)], axis=1)

    def _cleaned(self, threads: Threads) -> ObjectArray:
        """Cleaned questions, then cleaned comments; a missing question is an empty text."""
        questions = np.full(threads.n_threads, "", dtype=object) if threads.questions is None else threads.questions
        texts = [clean_text(text) if isinstance(text, str) else "" for text in (*questions, *threads.texts)]
        return np.array(texts, dtype=object)

    def _similarities(self, cleaned: ObjectArray, left: AnyArray, right: AnyArray) -> dict[str, FloatArray]:
        tokens = tokenise(cleaned)
        weights = np.array([self.weights_.get(word, self.unknown_weight_) for word in tokens.words])
        values = PairSimilarities(tokens, weights).between(left, right)
        return dict(zip(SIMILARITIES, values.T, strict=True))

    def _topic_cosines(self, cleaned: ObjectArray, left: AnyArray, right: AnyArray) -> FloatArray:
        if self.topics_ is None:
            return np.zeros(len(left))
        return row_cosines(self.topics_.transform(self.vectoriser_.transform(cleaned)), left, right)

    def _category_columns(self, threads: Threads) -> dict[str, FloatArray]:
        known = {name: k for k, name in enumerate(self.categories_)}
        given = np.full(threads.n_threads, None, dtype=object) if threads.categories is None else threads.categories
        codes = np.array([known.get(str(name), len(known)) for name in given], dtype=np.int64)[threads.thread_of]
        return {f"category/{name}": (codes == k).astype(float) for k, name in enumerate((*self.categories_, "other"))}

    def _uses_vectors(self, vectors: Vectors | None) -> bool:
        if self.has_vectors_ and vectors is None:
            raise InputError("the features were fitted with sentence vectors; give vectors= for these threads too.")
        return self.has_vectors_

    def _vectors_of(self, ids: AnyArray, vectors: Vectors | None) -> FloatArray:
        """The vector of each id; zeros where there is none."""
        if vectors is None:
            raise InputError("sentence vectors are needed here; give vectors=(ids, array).")
        names, values = vectors
        if np.ndim(values) != 2 or len(names) != len(values):
            raise InputError(
                f"vectors must be ids and an array with one row an id; there are {len(names)} ids and the array has "
                f"shape {np.shape(values)}."
            )
        place = {str(name): k for k, name in enumerate(names)}
        rows = np.array([place.get(str(name), -1) for name in ids], dtype=np.int64)
        found = np.asarray(values)[rows].astype(np.float64)
        found[rows < 0] = 0.0
        if not np.isfinite(found).all():
            name = ids[int(np.argwhere(~np.isfinite(found))[0, 0])]
            raise InputError(f"sentence vectors must be finite; that of {str(name)!r} is not.")
        return found

    def _crossed_vectors(self, threads: Threads, vectors: Vectors | None) -> FloatArray | None:
        """[c, q∘c, |c − q|] of each comment c and its question q, each part scaled to unit mean square."""
        if not self._uses_vectors(vectors):
            return None
        c = self._vectors_of(threads.comment_ids, vectors)
        q = self._vectors_of(threads.thread_ids, vectors)[threads.thread_of]
        root = np.sqrt(c.shape[1])
        return np.hstack([c * root, q * c * c.shape[1], np.abs(c - q) * root]).astype(np.float32)

    def _cached(self, what: str, threads: Threads, vectors: Vectors | None, compute: Any) -> Mapping[str, AnyArray]:
        if self.cache_dir is None:
            return dict(compute())
        used = vectors if self.has_vectors_ and vectors is not None else ()
        key = content_key(what, self.fingerprint_, *_content(threads), *(np.asarray(part) for part in used))
        return cached_arrays(Path(self.cache_dir) / "threads", key, compute)


def thread_order(threads: Threads, labels: AnyArray | None = None) -> IntArray:
    """The place of each thread in an order that depends on texts and labels, never on names, shape (n_threads,).

    Parameters
    ----------
    threads : Threads
    labels : array of shape (n_comments,), optional
        Labels to go by, ``None`` where a comment has none; by default those of the record.
    """
    labels = threads.labels if labels is None else labels
    codes = np.full(threads.n_comments, -1) if labels is None else pd.factorize(np.asarray(labels))[0]
    question = np.full(threads.n_threads, None) if threads.questions is None else threads.questions
    thread = threads.thread_of
    place = np.arange(threads.n_comments) - threads.offsets[thread]
    keys = mixed(text_keys(threads.texts), text_keys(question)[thread], place)
    if threads.authors is not None:  # who wrote another comment too, whatever they are called
        author = pd.factorize(threads.authors, use_na_sentinel=False)[0]
        _, first, who = np.unique(thread * (author.max(initial=0) + 1) + author, return_index=True, return_inverse=True)
        asks = np.full(len(keys), False) if threads.askers is None else threads.authors == threads.askers[thread]
        keys = mixed(keys, place[first][who.ravel()], np.asarray(asks, dtype=np.uint64))
    keys = mixed(keys, label_keys(codes, keys))
    # A thread may have no comment: its question stands for one.
    every = np.concatenate([thread, np.arange(threads.n_threads)])
    return group_codes(every, np.concatenate([keys, text_keys(question)]))[threads.n_comments :]


def _content(threads: Threads) -> tuple[Any, ...]:
    """What the features read of threads; labels are part of it only through the stacked classifiers."""
    return (
        threads.thread_ids,
        threads.offsets,
        threads.comment_ids,
        threads.texts,
        threads.questions,
        threads.askers,
        threads.categories,
        threads.authors,
    )


def _with_context(threads: Threads, table: pd.DataFrame) -> FloatArray:
    """What the stacked trees see: the features of each comment and what stands around it."""
    columns = {str(name): values for name, values in zip(table.columns, table.to_numpy().T, strict=True)}
    return np.hstack([table.to_numpy(), thread_context(threads, columns)])


def _same_author(threads: Threads, left: AnyArray, right: AnyArray) -> FloatArray:
    if threads.authors is None:
        return np.zeros(len(left))
    a, b = threads.authors[left], threads.authors[right]
    return np.asarray((a == b) & pd.notna(a), dtype=np.float64)
