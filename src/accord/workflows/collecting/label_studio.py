"""Label Studio's projects and tasks beside a project of the studio: which questions are the same, which texts.

Tasks and annotations are read by the same code as files of Label Studio, so that the same rules hold.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from accord.data.formats.label_studio.config import LabelConfig, parse_config
from accord.data.formats.own import Rules
from accord.data.project import ITEMS, Project, with_schema
from accord.errors import InputError
from accord.store import projects
from accord.store.database import Connection
from accord.store.projects import StoredItem, StoredProject
from accord.workflows.import_ import project_of_files

__all__ = ["Questions", "alone_in_threads", "as_json", "known_texts", "match_config", "n_ranks_of", "read_tasks"]


@dataclass(frozen=True)
class Questions:
    """The questions of a label config that a project asks too, by their names there."""

    config: LabelConfig
    raw: str
    main: tuple[str, ...]  # the pairwise question, the choices, or the ratings of the aspects
    spans: str | None = None  # where words are marked

    def result(self, name: str, value: dict[str, Any], **more: Any) -> dict[str, Any]:
        """An answer as Label Studio writes it."""
        control = self.config.controls[name]
        about = control.about[0]
        return {"from_name": name, "to_name": about, "type": control.tag, "value": value, **more}


def match_config(project: StoredProject, raw: str) -> Questions:
    """Find the questions of a project in a label config; a config that asks something else is refused."""
    config = parse_config(raw.encode("utf-8", "replace"), "the one that was sent")
    tags = {name: control.tag for name, control in config.controls.items()}
    if project.kind == "pairs":
        if config.pairwise() is None:
            raise _other_question("a Pairwise question about two texts", tags)
        return Questions(config, raw, (next(name for name, tag in tags.items() if tag == "pairwise"),))
    if project.kind == "aspects":
        aspects = list(project.settings.get("aspects", []))
        main = tuple(name for name, tag in tags.items() if tag in ("rating", "number") and name in aspects)
        if not main:
            raise _other_question(f"a Rating or Number called {' or '.join(aspects)}", tags)
        return Questions(config, raw, main)
    labels = set(project.settings.get("labels", []))
    offers = {name: set(config.controls[name].values) for name, tag in tags.items() if tag == "choices"}
    fitting = [name for name, values in offers.items() if values & labels or not labels]
    if not fitting:
        raise _other_question(f"Choices of {', '.join(sorted(labels)) or 'labels'}", tags)
    plain = [name for name, (tag, _) in config.objects.items() if tag == "text"]
    marks = [name for name, tag in tags.items() if tag == "labels" and config.controls[name].about[0] in plain]
    return Questions(config, raw, (fitting[0],), marks[0] if marks and project.kind == "rationales" else None)


def _other_question(wanted: str, tags: Mapping[str, str]) -> InputError:
    asked = ", ".join(f"{tag} {name!r}" for name, tag in tags.items())
    return InputError(f"the label config must ask what the project asks, {wanted}; it asks {asked}. Change the config.")


def read_tasks(
    project: StoredProject, tasks: Sequence[Any], questions: Questions, *, rules: Rules, drop_bad: bool = False
) -> Project:
    """Tasks as tables, by the rules of files of Label Studio."""
    with tempfile.TemporaryDirectory(prefix="accord-label-studio-") as work:
        folder = Path(work)
        (folder / "tasks.json").write_text(as_json(list(tasks)), encoding="utf-8")
        (folder / "config.xml").write_text(questions.raw, encoding="utf-8", errors="replace")
        try:
            read = project_of_files(
                [folder / "tasks.json"], form="label-studio", config=folder / "config.xml", kind=project.kind,
                rules=rules, drop_bad=drop_bad,
            )  # fmt: skip
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}/", "")) from None
    for frame in read.frames().values():
        for cell in frame.select_dtypes("object").to_numpy().ravel():
            if isinstance(cell, str) and "\0" in cell:
                raise InputError(f"a text has no NUL character; {cell[:40]!r} has one. Mend the task.")
    return read


def as_json(value: Any) -> str:
    """A value as JSON, the same for equal values."""
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError:
        raise InputError("JSON may not be nested more than a few hundred deep; this is. Flatten it.") from None


def alone_in_threads(read: Project) -> Project:
    """Comments without a thread as threads of their own."""
    items = read.frames()["items"]
    items["group_id"] = items["group_id"].fillna("thread of " + items["item_id"])
    return replace(read, item_table=with_schema({str(name): items[name].to_list() for name in items}, ITEMS))


def n_ranks_of(project: StoredProject) -> int:
    return int(project.settings.get("n_ranks", 5))


def known_texts(connection: Connection, project: StoredProject, read: Project) -> dict[str, StoredItem]:
    """The texts that the project has already: known by id and words, or by their words alone."""
    given = dict(read.frames()["items"][["item_id", "text"]].fillna("").itertuples(index=False, name=None))
    by_id = projects.items_by_id(connection, project.id, given)
    found = {name: by_id[name] for name, text in given.items() if name in by_id and by_id[name].text == text}
    by_text = projects.items_by_text(
        connection, project.id, {text for name, text in given.items() if name not in found}
    )
    found.update({name: by_text[text] for name, text in given.items() if name not in found and text in by_text})
    return found
