"""The table of kinds: the room that does the work for each kind of judgement."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from accord.data.project import Project
from accord.data.task import Task
from accord.engines.convergence import telling_steps
from accord.errors import InputError, did_you_mean
from accord.typing import KINDS, Progress
from accord.workflows.judged import learning_project

if TYPE_CHECKING:
    from accord.evaluation.tables import Paper

__all__ = ["check_kind", "paper_of", "task_of", "trained"]


def check_kind(kind: str) -> str:
    """The kind itself, if it is one of the five."""
    if kind not in KINDS:
        meant = did_you_mean(kind, KINDS)
        raise InputError(f"the kind of judgement must be one of {', '.join(KINDS)}; got {kind!r}.{meant}")
    return kind


def task_of(kind: str) -> Task:
    """What can be done with one kind of judgement."""
    return _TASKS[check_kind(kind)]()


def trained(project: Project, settings: Mapping[str, Any], progress: Progress) -> Any:
    """The fitted model of a project's kind; the progress counts the steps of everything that is fitted for it.

    Where judges answered too, it learns what people say; see :mod:`accord.workflows.judged`.
    """
    n_steps = 0

    def told() -> None:
        nonlocal n_steps
        n_steps += 1
        progress("training, steps", n_steps, 0)

    def larger(what: str, done: int, total: int) -> None:
        if total != 1:  # that one thing is not yet done says nothing
            progress(what, done, total)

    with telling_steps(told):
        return task_of(project.kind).train(learning_project(project), dict(settings), larger)


def paper_of(kind: str) -> "Paper":
    """The tables of the paper behind one kind of judgement."""
    return _PAPERS[check_kind(kind)]()


# Rooms are imported when they are asked for, so that a command loads one of them and not five.


def _pairs() -> Task:
    from accord.pairs.task import TASK

    return TASK


def _threads() -> Task:
    from accord.threads.task import TASK

    return TASK


def _aspects() -> Task:
    from accord.aspects.task import TASK

    return TASK


def _links() -> Task:
    from accord.links.task import TASK

    return TASK


def _rationales() -> Task:
    from accord.rationales.task import TASK

    return TASK


def _pairs_paper() -> "Paper":
    from accord.pairs.paper.tables import PAPER

    return PAPER


def _threads_paper() -> "Paper":
    from accord.threads.paper.tables import PAPER

    return PAPER


def _aspects_paper() -> "Paper":
    from accord.aspects.paper.tables import PAPER

    return PAPER


def _links_paper() -> "Paper":
    from accord.links.paper.tables import PAPER

    return PAPER


def _rationales_paper() -> "Paper":
    from accord.rationales.paper.tables import PAPER

    return PAPER


_TASKS: dict[str, Callable[[], Task]] = {
    "pairs": _pairs,
    "threads": _threads,
    "aspects": _aspects,
    "links": _links,
    "rationales": _rationales,
}
_PAPERS: dict[str, Callable[[], "Paper"]] = {
    "pairs": _pairs_paper,
    "threads": _threads_paper,
    "aspects": _aspects_paper,
    "links": _links_paper,
    "rationales": _rationales_paper,
}
