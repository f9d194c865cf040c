"""The tables of [SG18] on arguments: classification, ranking, the noisy crowd, active learning, length-scales."""

from collections import Counter, defaultdict
from functools import partial

import numpy as np

from accord.data.corpora import convarg
from accord.data.corpora.convarg import ConvArg
from accord.evaluation.resume import FinishedParts
from accord.evaluation.tables import Paper, Row
from accord.pairs.paper.folds import split
from accord.pairs.paper.methods import raw_hyperparameters
from accord.pairs.paper.parts import PARTS, QUICK_PARTS
from accord.pairs.paper.results import Results, to_rows
from accord.scale.processes import run_each
from accord.typing import FloatArray, Progress

__all__ = ["PAPER", "part_results", "reproduce"]

_QUICK_FOLDS = 3


def part_results(corpus: ConvArg, name: str, part: str, finished: FinishedParts, *, quick: bool = False) -> Results:
    """One part of the experiment on the fold ``name``, or what was kept of it."""
    how = (QUICK_PARTS if quick else PARTS)[part]

    def compute() -> Results:
        fold = split(corpus, name, how.features)

        def kernel() -> FloatArray:
            learnt: FloatArray = finished.get(f"kernel-{name}", lambda: raw_hyperparameters(fold, quick=quick))
            return learnt

        return how.rows(fold, kernel)

    results: Results = finished.get(f"{part}-{name}", compute)
    return results


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """Tables 2 to 4 and Figure 7; ``quick`` takes three folds for the default and one for what takes long.

    A full run that is cut off goes on where it stopped when it is started again.
    """
    corpus = convarg.load()
    names = [str(name) for name in np.unique(corpus.folds)]
    chosen = names[:: len(names) // _QUICK_FOLDS][:_QUICK_FOLDS] if quick else names
    finished = FinishedParts()
    if not quick:
        finished = FinishedParts.of("pairs", corpus.items.texts, corpus.strict.value, corpus.crowd_full.value)
    parts = QUICK_PARTS if quick else PARTS
    jobs = [(part, name) for part, how in parts.items() for name in chosen[:: how.every]]
    work = ((corpus, name, part, finished) for part, name in jobs)
    each = run_each(partial(part_results, quick=quick), work, n_jobs=workers)
    found: dict[str, Results] = defaultdict(dict)
    done: Counter[str] = Counter()
    for (part, name), results in zip(jobs, each, strict=True):
        found[name].update(results)
        done[part] += 1
        progress(part, done[part], len(chosen[:: parts[part].every]))
    rows = to_rows(found)
    finished.clear()
    return rows


PAPER = Paper(reproduce)
