"""Accord learns from what people judge about texts.

Five kinds of judgement, five models: see :class:`PreferenceRanker` (pairs), :class:`ThreadClassifier` (threads),
:class:`AspectRanker` (aspects), :class:`CollectiveClassifier` (links) and :class:`RationaleClassifier` (rationales).
Judgements come in as records (:class:`Items`, :class:`Comparisons`, :class:`Threads`, :class:`AspectRatings`,
:class:`Links`, :class:`Rationales`) or as a :class:`Project` that holds all of them.

Examples
--------
>>> import accord
>>> project = accord.open_example("arguments")
>>> project.kind, project.comparisons().n_votes
('pairs', 300)
"""

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

# Loaded on first use, so that `import accord` and `accord --help` stay fast.
_LAZY: dict[str, str] = {
    "AccordError": "accord.errors",
    "AnchoredRanker": "accord.pairs.judges",
    "AspectRanker": "accord.aspects",
    "AspectRatings": "accord.data",
    "BradleyTerryRanker": "accord.pairs.bradley_terry",
    "CollectiveClassifier": "accord.links",
    "Comparisons": "accord.data",
    "ConvergenceWarning": "accord.errors",
    "InputError": "accord.errors",
    "Items": "accord.data",
    "IterativeClassifier": "accord.links",
    "Links": "accord.data",
    "MaskingSVMClassifier": "accord.rationales.baselines",
    "MissingDataError": "accord.errors",
    "MissingDependencyError": "accord.errors",
    "PersonalRanker": "accord.pairs.personal",
    "PreferenceRanker": "accord.pairs",
    "Project": "accord.data.project",
    "RationaleClassifier": "accord.rationales",
    "Rationales": "accord.data",
    "ThreadClassifier": "accord.threads",
    "Threads": "accord.data",
    "load_model": "accord.store.models",
    "open_example": "accord.workflows.projects",
    "open_project": "accord.workflows.projects",
    "save_model": "accord.store.models",
}

__all__ = ["__version__", *sorted(_LAZY)]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'accord' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
