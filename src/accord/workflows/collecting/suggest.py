"""Suggest: what a project's model would answer to the tasks of Label Studio."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import pyarrow as pa

from accord.data.formats.own import Rules
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.data.reading.rows import text_id
from accord.errors import InputError
from accord.store import connections, projects
from accord.store.database import Connection
from accord.store.models import SavedModel
from accord.store.projects import StoredProject
from accord.store.scores import get_scores, results_of
from accord.workflows.collecting.label_studio import Questions, alone_in_threads, known_texts, n_ranks_of, read_tasks
from accord.workflows.kinds import task_of

__all__ = ["Shelf", "suggest"]

_ONE_ANSWER: Mapping[str, dict[str, Any]] = {
    "pairwise": {"selected": "left"},
    "rating": {"rating": 1},
    "number": {"number": 1},
}
_NOTHING: Mapping[str, Any] = {"result": [], "score": 0.0}


@dataclass(eq=False)
class Shelf:
    """The models that were asked last, so that they are not read from the database each time."""

    most: int = 8
    _models: dict[int, tuple[str, SavedModel]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def model(self, connection: Connection, project_id: int) -> tuple[str, SavedModel] | None:
        """The newest model of a project and its version, or ``None`` before there is one."""
        version = connections.model_version(connection, project_id)
        if version is None:
            return None
        with self._lock:
            found = self._models.pop(project_id, None)
            if found is None or found[0] != version:
                saved = connections.get_model(connection, project_id)
                found = None if saved is None else (version, saved)
            if found is not None:
                self._models[project_id] = found
            while len(self._models) > self.most:
                del self._models[next(iter(self._models))]
            return found


def suggest(
    connection: Connection, project: StoredProject, saved: SavedModel, tasks: Sequence[Any], questions: Questions
) -> list[dict[str, Any]]:
    """What the model would answer to each task: ``result`` and ``score``, the probability that it is right.

    A text that the project has is given what the project's own results say of it, which takes the other texts into
    account; a new one is read by the model. A task that has no text is given no answer.
    """
    read = _asked(project, tasks, questions)
    frame = read.frames()["judgements"]
    if saved.kind == "pairs":
        return _suggest_pairs(saved, _renamed(connection, project, read), tasks, questions)
    known = _known_rows(connection, project, read)
    new = [name for name in read.frames()["items"]["item_id"] if name not in known]
    said = {**known, **_predicted(saved, read, new)}
    of_task = dict(zip(frame["judgement_id"].str.partition(":")[0], frame["item_id"], strict=True))
    texts = dict(read.frames()["items"][["item_id", "text"]].itertuples(index=False, name=None))
    answers = []
    for place in range(len(tasks)):
        name = of_task.get(str(place))
        row = said.get(name) if name is not None else None
        answers.append(_ANSWERS[saved.kind](row, str(texts.get(name, "")), questions) if row else _NOTHING)
    return [dict(answer) for answer in answers]


def _asked(project: StoredProject, tasks: Sequence[Any], questions: Questions) -> Project:
    """The texts that tasks ask about, with one row of ``judgements`` a task that names them and says nothing."""
    name = questions.main[0]
    control = questions.config.controls[name]
    value = _ONE_ANSWER.get(control.tag) or {"choices": list(control.values[:1])}
    marked = []
    for place, task in enumerate(tasks):
        if not isinstance(task, Mapping) or not isinstance(task.get("data"), Mapping):
            raise InputError(f"a task has an id and data; task {place + 1} of {len(tasks)} lacks one of them.")
        annotation = {"id": place, "result": [questions.result(name, value, id="asked")]}
        marked.append({"id": task.get("id", place), "data": task["data"], "annotations": [annotation]})
    read = read_tasks(project, marked, questions, rules=Rules(n_ranks=n_ranks_of(project)), drop_bad=True)
    return alone_in_threads(read) if project.kind == "threads" else read


def _known_rows(connection: Connection, project: StoredProject, read: Project) -> dict[str, Mapping[str, Any]]:
    """What the project's own results say, by the id that a text has in the tasks."""
    served = connections.model_version(connection, project.id)
    scores = get_scores(connection, project.id)
    if scores is None or served != str(scores.model_version):  # another model is served
        return {}
    found = known_texts(connection, project, read)
    rows = results_of(connection, project.id, {item.key for item in found.values()})
    return {name: rows[item.key] for name, item in found.items() if item.key in rows}


def _renamed(connection: Connection, project: StoredProject, read: Project) -> Project:
    """The texts under the ids that the model knows them by, and new ones under ids that it does not know."""
    frames, known = read.frames(), known_texts(connection, project, read)
    taken = projects.items_by_id(connection, project.id, frames["items"]["item_id"])
    names = {
        name: known[name].item_id if name in known else text_id(text or "") if name in taken else name
        for name, text in frames["items"][["item_id", "text"]].itertuples(index=False, name=None)
    }
    items = frames["items"].assign(item_id=frames["items"]["item_id"].map(names)).drop_duplicates("item_id")
    votes = frames["judgements"].assign(
        item_id=frames["judgements"]["item_id"].map(names), other_id=frames["judgements"]["other_id"].map(names)
    )
    return replace(read, item_table=_table(items, ITEMS), judgement_table=_table(votes, JUDGEMENTS))


def _table(frame: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    return with_schema({str(name): frame[name].to_list() for name in frame}, schema)


def _predicted(saved: SavedModel, read: Project, names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """What the model says of new texts, one row a text."""
    if not names:
        return {}
    items = read.frames()["items"]
    items = items[items["item_id"].isin(names)]
    alone = replace(
        read, item_table=_table(items, ITEMS), judgement_table=JUDGEMENTS.empty_table(), link_table=LINKS.empty_table()
    )
    rows = saved.use(task_of(saved.kind).predict, alone).to_dict("records")
    if saved.kind != "aspects":
        return {str(row["item_id"]): {str(name): value for name, value in row.items()} for row in rows}
    texts: dict[str, dict[str, Any]] = {}
    for row in rows:
        texts.setdefault(row["item_id"], {"aspects": {}})["aspects"][row["aspect"]] = row
    return dict(texts)


def _suggest_pairs(
    saved: SavedModel, read: Project, tasks: Sequence[Any], questions: Questions
) -> list[dict[str, Any]]:
    frame = read.frames()["judgements"]
    pairs = frame[["item_id", "other_id"]].set_axis(["left", "right"], axis=1)
    task = task_of("pairs")
    table = saved.use(task.must(task.compare, "compare"), read, pairs)
    answers = [dict(_NOTHING) for _ in tasks]
    for name, left, undecided in zip(frame["judgement_id"], table["p.left"], table["p.undecided"], strict=True):
        right = 1.0 - left - undecided
        value = {"selected": "left" if left >= right else "right"}
        score = float(max(left, right))
        result = questions.result(questions.main[0], value, id="accord", score=score)
        answers[int(name.partition(":")[0])] = {"result": [result], "score": score}
    return answers


def _label_answer(row: Mapping[str, Any], text: str, questions: Questions) -> Mapping[str, Any]:
    (name,) = questions.main
    label, score = str(row["label"]), float(row["probability"])
    if label not in questions.config.controls[name].values:
        return _NOTHING
    results = [questions.result(name, {"choices": [label]}, id="accord", score=score)]
    if questions.spans is not None:
        results += _marks(row.get("highlights") or [], label, questions, questions.spans)
    return {"result": results, "score": score}


def _marks(
    highlights: Sequence[tuple[int, int, str]], label: str, questions: Questions, name: str
) -> list[dict[str, Any]]:
    offered = questions.config.controls[name].values
    marked = label if label in offered else offered[0] if offered else label
    results = []
    for place, (start, end, quote) in enumerate(highlights):
        value = {"start": start, "end": end, "text": quote, "labels": [marked]}
        results.append(questions.result(name, value, id=f"accord-{place}"))
    return results


def _aspect_answer(row: Mapping[str, Any], text: str, questions: Questions) -> dict[str, Any]:
    results, scores = [], []
    for name in questions.main:
        said = row["aspects"].get(name)
        if said is not None and said.get("rank") is not None:
            key = "rating" if questions.config.controls[name].tag == "rating" else "number"
            score = float(said.get("probability") or 0.0)
            results.append(questions.result(name, {key: int(said["rank"])}, id=f"accord-{name}", score=score))
            scores.append(score)
    return {"result": results, "score": sum(scores) / len(scores) if scores else 0.0}


_ANSWERS = {
    "threads": _label_answer,
    "links": _label_answer,
    "rationales": _label_answer,
    "aspects": _aspect_answer,
}
