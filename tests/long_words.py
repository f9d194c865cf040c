"""Texts on which a bad pattern needs hours, and what goes through them in processes of their own."""

import importlib
import pkgutil
import re
from dataclasses import replace

import regex

import accord
from accord.workflows.kinds import task_of
from accord.workflows.projects import open_example

N = 300_000
PIECES = [
    "a", "é", "漢", "1", "_", "-", " ", "!", "?", ".", "'", "<", "[", "\n", "\u0301", "\u200d", "a-", "a@", "a.",
    "a'", "1,",
    "a b ", "! ", "<a", "a>", "[img_assist", "@a", "-.", "www", "http", "re ", "\U0001f469\u200d", "\U0001f1e6",
    "thanks", "yes",
    "aA", "a1", "((", ":-",
]  # fmt: skip


def patterns():
    """Every compiled pattern of every module of Accord."""
    found = {}
    for module in pkgutil.walk_packages(accord.__path__, "accord."):
        if ".migrations" in module.name or module.name == "accord.__main__":
            continue
        for value in vars(importlib.import_module(module.name)).values():
            for entry in value.values() if isinstance(value, dict) else [value]:
                if isinstance(entry, re.Pattern | regex.Pattern):
                    found[entry.pattern, module.name] = entry
    return found


def search_all():
    """Let every pattern go through every long text; returns how many there are."""
    found = patterns()
    for pattern in found.values():
        for piece in PIECES:
            text = (piece * N)[:N] + "x"
            for _ in pattern.finditer(text.encode() if isinstance(pattern.pattern, bytes) else text):
                pass
    return len(found)


def learn_with(name, piece):
    """Fit a model to an example of which one text is a single long word, and predict."""
    project = open_example(name)
    texts = project.item_table.column("text").to_pylist()
    texts[1] = (piece * N)[:N]
    poisoned = replace(project, item_table=project.item_table.set_column(1, "text", [texts]))
    if project.kind == "rationales":  # highlights lie inside their texts
        name = project.item_table.column("item_id")[1].as_py()
        keep = [item != name for item in project.judgement_table.column("item_id").to_pylist()]
        poisoned = replace(poisoned, judgement_table=project.judgement_table.filter(keep))
    task = task_of(project.kind)
    model = task.train(poisoned, {}, lambda *_: None)
    return len((task.rank or task.predict)(model, poisoned))
