"""Say why a model judges a text as it does."""

import pandas as pd

from accord.data.project import Project
from accord.data.reading.roles import LABELLED
from accord.errors import InputError
from accord.store.models import SavedModel
from accord.workflows.ask import askable
from accord.workflows.judged import people_only
from accord.workflows.kinds import task_of
from accord.workflows.predict import check_match

__all__ = ["explain", "given_label", "named_text"]

_MOST_NAMED = 5  # ids in a sentence


def explain(saved: SavedModel, project: Project, target: str) -> pd.DataFrame:
    """The reasons for the judgement of the text ``target``, strongest first."""
    check_match(saved, project)
    if target not in project.items():
        raise InputError(f"the text to explain must be in the project; it has no item {target!r}.")
    return saved.use(task_of(saved.kind).explain, people_only(project), target)


def given_label(project: Project, target: str) -> str | None:
    """The label that people gave to the text ``target``, where texts have one label; ``None`` if nobody did."""
    if project.kind not in LABELLED:
        return None
    labels = people_only(project).labels()
    label = labels[project.items().ids == target][0]
    return None if label is None else str(label)


def named_text(project: Project, name: str) -> str:
    """The id of the text that has this id or, if none has, of the only one that begins with these words."""
    if name in project.items():
        return name
    texts, start = askable(project), _plain(name)
    found = [
        str(key) for key, text in zip(texts.ids, texts.texts, strict=True) if start and _plain(text).startswith(start)
    ]
    if not found:
        raise InputError(
            "the text to explain is named by its id or by the words it begins with; the project has no item "
            f"{name!r} and no text that begins so. Write either as it stands in the project."
        )
    if len(found) > 1:
        named = ", ".join(found[:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
        raise InputError(
            f"the words must be the beginning of one text; {name!r} is that of {len(found):,}: {named}. Write more of "
            "the words, or the id."
        )
    return found[0]


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip("…").casefold()
