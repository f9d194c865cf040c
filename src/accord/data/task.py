"""What can be done with one kind of judgement: the record that the ``task`` module of every room fills in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.data.project import Project
from accord.errors import InputError
from accord.typing import FloatArray, IntArray, Kind, ObjectArray, Progress

__all__ = ["Beliefs", "RowReader", "Task", "Train"]

Verb = TypeVar("Verb")


class Train(Protocol):
    """Fit a model on a project."""

    def __call__(self, project: Project, settings: Mapping[str, Any], progress: Progress) -> Any:
        """The fitted estimator; ``settings`` maps names of its parameters to values."""


@dataclass(frozen=True)
class RowReader:
    """How a model reads the rows of a table that is too large to be a project.

    Attributes
    ----------
    needed : callable
        The columns that a model must have.
    optional : tuple of str
        Columns that it uses where they are there.
    predict : callable
        The predictions of some rows, whole groups of them; the second table holds their links, if the kind has any.
    group : str, optional
        The column of rows that are decided together.
    """

    needed: Callable[[Any], Sequence[str]]
    predict: Callable[[Any, pa.Table, pa.Table | None], pd.DataFrame]
    optional: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a model knows of the texts that can be asked about: the joint posterior as far as asking needs it.

    Attributes
    ----------
    ids : array of shape (n_texts,)
    uncertainty : array of shape (n_texts,)
        Entropy of the answer that is not given, in nats.
    precision : array of shape (n_texts,)
        What an answer tells about the log odds (or rank) behind it, in units of 1 / variance.
    ends : int array of shape (n_pairs, 2)
        Rows of texts that pull each other.
    shared : array of shape (n_pairs,)
        What the answers of such two tell about each other, in nats.
    margin : array of shape (n_texts,), optional
        Log odds of the likeliest label against the next one, where answers are labels.
    """

    ids: ObjectArray
    uncertainty: FloatArray
    precision: FloatArray
    ends: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    shared: FloatArray = field(default_factory=lambda: np.empty(0))
    margin: FloatArray | None = None


@dataclass(frozen=True)
class Task:
    """The verbs of one kind of judgement; one that the kind does not have is ``None``.

    Each raises :class:`~accord.errors.InputError` for what a person can put right, and prints nothing.

    Attributes
    ----------
    train : callable
        A fitted estimator from a project, settings and a progress report.
    predict : callable
        ``(model, project)``: one row a judgement, with its ids, ``label`` (``rank`` or ``score`` where the judgement is
        one), ``probability`` of it, ``given`` (whether a person said so), and ``p.<label>`` of each label.
    explain : callable
        ``(model, project, item_id)``: ``reason, effect, kind``, strongest first. What is explained is the attribute
        ``label`` of the table.
    rows : RowReader
        The same predictions for tables that are too large to be a project.
    update : callable, optional
        ``(model, project, fresh)``: the model with the judgements of ``fresh`` added, or ``None`` where it must be
        trained from nothing.
    rank : callable, optional
        ``(model, project)``: the texts, best first.
    ask : callable, optional
        ``(model, project, n)``: the n questions most worth asking next, best first. Of pairs: which two texts; of
        rationales: which labelled texts to highlight.
    beliefs : callable, optional
        ``(model, project)``: what asking about single texts needs to know.
    parts : callable, optional
        ``(model, project, item_ids)``: which part of each text to ask about, and what it tells about the other parts.
    compare : callable, optional
        ``(model, project, pairs)``: predictions of pairs of the project's texts.
    simulate : callable, optional
        ``(project, settings, progress)``: ``strategy, n_labels, metric, mean, low, high``.
    """

    kind: Kind
    train: Train
    predict: Callable[[Any, Project], pd.DataFrame]
    explain: Callable[[Any, Project, str], pd.DataFrame]
    rows: RowReader
    update: Callable[[Any, Project, Project], Any] | None = None
    rank: Callable[[Any, Project], pd.DataFrame] | None = None
    ask: Callable[..., pd.DataFrame] | None = None
    beliefs: Callable[[Any, Project], Beliefs] | None = None
    parts: Callable[[Any, Project, Sequence[str]], pd.DataFrame] | None = None
    compare: Callable[[Any, Project, pd.DataFrame], pd.DataFrame] | None = None
    simulate: Callable[[Project, Mapping[str, Any], Progress], pd.DataFrame] | None = None

    def must(self, verb: Verb | None, name: str) -> Verb:
        """A verb that may be missing; a kind without it is bad input, not a bug."""
        if verb is None:
            raise InputError(f"'{name}' is not available for {self.kind}. Use it with another kind of judgement.")
        return verb
