"""Accord learns from what people judge about texts.

Five kinds of judgement, five models: see :class:`PreferenceRanker` (pairs), :class:`ThreadClassifier` (threads),
:class:`AspectRanker` (aspects), :class:`CollectiveClassifier` (links) and :class:`RationaleClassifier` (rationales).
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded on first use, so that `import accord` and `accord --help` stay fast.
_LAZY: dict[str, str] = {
    "AspectRanker": "accord.aspects",
    "BradleyTerryRanker": "accord.pairs.bradley_terry",
    "CollectiveClassifier": "accord.links",
    "IterativeClassifier": "accord.links",
    "MaskingSVMClassifier": "accord.rationales.baselines",
    "PreferenceRanker": "accord.pairs",
    "Project": "accord.data.project",
    "RationaleClassifier": "accord.rationales",
    "ThreadClassifier": "accord.threads",
    "open_example": "accord.workflows.projects",
}

__all__ = ["__version__", *sorted(_LAZY)]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'accord' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
