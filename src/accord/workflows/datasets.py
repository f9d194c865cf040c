"""List the public corpora and check them."""

from collections.abc import Sequence
from dataclasses import dataclass

from accord.data.corpora.catalogue import CORPORA, Report, check, corpus_of
from accord.data.corpora.locate import Root
from accord.typing import Progress

__all__ = ["Listed", "check_datasets", "list_datasets"]


@dataclass(frozen=True)
class Listed:
    """One corpus as it is listed: ``found`` is where it is, or ``None``; ``places`` where it was looked for."""

    name: str
    kind: str
    title: str
    found: str | None
    places: list[str]
    source: str
    licence: str
    citation: str


def list_datasets(root: Root = None) -> list[Listed]:
    """All corpora, and where each one is."""
    listed = []
    for corpus in CORPORA.values():
        places = corpus.places(root)
        found = next((str(place) for place in places if place.is_dir()), None)
        listed.append(
            Listed(
                name=corpus.name,
                kind=corpus.kind,
                title=corpus.title,
                found=found,
                places=[str(place) for place in places],
                source=corpus.source,
                licence=corpus.licence,
                citation=corpus.citation,
            )
        )
    return listed


def check_datasets(names: Sequence[str] = (), root: Root = None, *, progress: Progress | None = None) -> list[Report]:
    """Check some corpora, or all of them: are they there, are the files the known ones, are they counted right?"""
    wanted = [corpus_of(name).name for name in names] or list(CORPORA)
    reports = []
    for done, name in enumerate(wanted):
        if progress is not None:
            progress("checking corpora", done, len(wanted))
        reports.append(check(name, root))
    if progress is not None:
        progress("checking corpora", len(wanted), len(wanted))
    return reports
