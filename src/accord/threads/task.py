"""Train, apply and explain thread models on a project."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import Project
from accord.data.table_rows import coded, project_of_rows, text_columns
from accord.data.tables import optional_column
from accord.data.task import Beliefs, RowReader, Task
from accord.data.threads import Threads
from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.fitting.asking import agreement_information, label_margin, label_precision
from accord.fitting.settings import configured
from accord.threads import ThreadClassifier
from accord.threads.estimator import DECODERS
from accord.typing import FloatArray, ObjectArray, Progress

__all__ = ["TASK", "beliefs", "explain", "predict", "predict_threads", "prediction_table", "train"]


# What the groups of features are about, in words; see docs/threads.md.
_GROUPS = {
    "comment": "signs in the comment: length, links, thanks",
    "style": "the way it is written",
    "words": "its words as a whole",
    "similarity": "likeness to the question",
    "vector": "likeness to the question in meaning",
    "thread": "place and people in the thread",
    "category": "category of the question",
    "bias": "how common the answer is",
}


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> ThreadClassifier:
    """Fit a thread classifier on the labelled comments; threads without any label are left out."""
    model = configured(ThreadClassifier, settings)
    threads = project.threads()
    labelled = ~pd.isna(_labels(threads))
    if not labelled.any():
        raise InputError("training needs labelled comments; no comment of this project has a label.")
    some = np.bincount(threads.thread_of[labelled], minlength=threads.n_threads) > 0
    progress("training", 0, 1)
    model.fit(threads.subset(some))
    progress("training", 1, 1)
    return model


def predict(model: ThreadClassifier, project: Project) -> pd.DataFrame:
    """``item_id, group_id, label, probability, given``: comments whose label is given keep it, and pull the others.

    ``probability`` is that of ``label``; ``p.<label>`` that of each label.
    """
    return predict_threads(model, project.threads())


def predict_threads(model: ThreadClassifier, threads: Threads) -> pd.DataFrame:
    """The same for a record of threads."""
    known = _labels(threads)
    p = model.predict_proba(threads, known=known)
    labels = model.predict(threads, known=known) if model.model in DECODERS else None
    own = {"item_id": threads.comment_ids, "group_id": threads.thread_ids[threads.thread_of]}
    return prediction_table(model, own, p, labels, known)


def prediction_table(
    model: ThreadClassifier, own: Mapping[str, Any], p: FloatArray, labels: Any, known: ObjectArray | None
) -> pd.DataFrame:
    """Columns of the comments, then what the model says of them; without ``labels`` the most probable ones."""
    best = p.argmax(axis=1) if labels is None else np.searchsorted(model.classes_, labels)
    columns: dict[str, Any] = {
        **own,
        "label": model.classes_[best],
        "probability": p[np.arange(len(p)), best],
        "given": np.zeros(len(p), dtype=bool) if known is None else ~pd.isna(known),
    }
    return pd.DataFrame(columns | {f"p.{label}": p[:, k] for k, label in enumerate(model.classes_)})


def explain(model: ThreadClassifier, project: Project, item_id: str) -> pd.DataFrame:
    """``reason, effect, kind`` of one comment: its own evidence by feature group and the pulls of the others.

    The effects are log-odds of the label that the model predicts, which is the table's attribute ``label``.
    """
    threads = project.threads()
    place = np.flatnonzero(threads.comment_ids == item_id)
    if not len(place):
        raise InputError(f"only comments are explained; {item_id!r} is a question. Give the id of a comment.")
    one = threads.subset(threads.thread_of[place[:1]])
    known = _labels(one)
    known[one.comment_ids == item_id] = None
    label = model.predict(one, known=known)[one.comment_ids == item_id][0]
    table = model.explain(one, target=item_id, label=label, known=known)[["reason", "effect", "kind"]]
    own = table["kind"] == "evidence"
    table["reason"] = table["reason"].where(~own, table["reason"].map(_GROUPS).fillna(table["reason"]))
    table.attrs["label"] = str(label)
    return table


def beliefs(model: ThreadClassifier, project: Project) -> Beliefs:
    """What asking about comments needs: how sure each label is, and what it tells about the others of its thread."""
    threads = project.threads()
    p, ends, equal = model.pairwise_proba(threads, known=_labels(threads))
    shared = agreement_information(p, ends, equal)
    return Beliefs(threads.comment_ids, entropy(p), label_precision(p), ends, shared, label_margin(p))


def _labels(threads: Threads) -> ObjectArray:
    """The given labels, as an array of its own; ``None`` where there is none."""
    return np.full(threads.n_comments, None, dtype=object) if threads.labels is None else threads.labels.copy()


def _needed(model: ThreadClassifier) -> Sequence[str]:
    return ("group_id", "item_id", "text") if _reads_text(model) else ("group_id", *model.feature_names_)


def _reads_text(model: ThreadClassifier) -> bool:
    return getattr(model, "features_", None) is not None


def _predict_rows(model: ThreadClassifier, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    if _reads_text(model):
        if "question" in table.column_names:
            return predict_threads(model, Threads.from_table(text_columns(table, table.column_names)))
        return predict(model, project_of_rows("threads", table))
    names = list(model.feature_names_)
    values = np.column_stack([table.column(name).to_numpy().astype(np.float64, copy=False) for name in names])
    groups = coded(table.column("group_id"))
    known = optional_column(text_columns(table, ["label"]), "label") if "label" in table.column_names else None
    p = model.predict_proba(values, groups=groups.indices.to_numpy(), known=known)
    label = None
    if model.model in DECODERS:
        label = model.predict(values, groups=groups.indices.to_numpy(), known=known)
    own = {"group_id": groups.cast(groups.type.value_type).to_pandas()}
    if "item_id" in table.column_names:
        own = {"item_id": table.column("item_id").to_pandas(), **own}
    return prediction_table(model, own, p, label, known)


TASK = Task(
    "threads",
    train,
    predict,
    explain,
    RowReader(
        needed=_needed,
        predict=_predict_rows,
        optional=("item_id", "label", "question", "asker_id", "author_id", "category"),
        group="group_id",
    ),
    beliefs=beliefs,
)
