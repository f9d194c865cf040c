"""Tables 1 and 2 of [BBB11], the corpus's own minimum cuts, and what goes beyond them, on the floor debates."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from accord.data.corpora import convote
from accord.evaluation.resume import FinishedParts
from accord.evaluation.significance import corrected_t_test, paired_t_test
from accord.evaluation.splits import repeated_group_folds
from accord.evaluation.tables import Paper, Row, mean_row
from accord.links.paper.conditions import Condition, full_record, paper_data
from accord.links.paper.folds import Outcome, Outcomes, beyond, paper_recipe
from accord.links.paper.official import official_rows
from accord.links.paper.picture import draw_debate
from accord.scale.processes import run_each
from accord.typing import BoolArray, FloatArray, IntArray, Progress

__all__ = ["PAPER", "reproduce"]

N_FOLDS, N_REPEATS, N_QUICK = 10, 10, 2
SEED = 0
# [BBB11] Table 1 (connected texts, true neighbour labels) and Table 2 (connected, isolated, all).
TABLE_1 = {"majority": 52.46, "content": 75.29, "presence": 85.01, "count": 88.18, "window": 89.66}
TABLE_2 = {
    "majority": (52.46, 46.29, 50.51),
    "content": (75.31, 78.90, 76.28),
    "min_cut": (78.31, 78.90, 78.40),
    "set_to_0.6": (78.22, 78.90, 78.32),
    "set_to_0.8": (78.01, 78.90, 78.14),
    "set_to_1": (77.71, 78.90, 77.93),
    "inc_by_0.05": (78.14, 78.90, 78.25),
    "inc_by_0.15": (78.45, 78.90, 78.46),
    "inc_by_0.25": (78.02, 78.90, 78.15),
    "iterative_count": (80.07, 78.90, 79.69),
    "iterative_window": (79.05, 78.90, 78.93),
    "lbp": (83.37, 78.90, 81.93),
    "mean_field": (84.12, 78.90, 82.45),
}
LOCAL = {f"local_{kind}": kind for kind in ("presence", "count", "window")}
# Compared by the paper's t-test (10 degrees of freedom) and the corrected one.
COMPARED = (
    ("mean_field", "content"),
    ("lbp", "content"),
    ("min_cut", "content"),
    ("iterative_count", "content"),
    ("iterative_window", "content"),
    ("iterative_window_left_out", "iterative_window"),
    ("mean_field", "min_cut"),
    ("mean_field_confident", "mean_field"),
    ("best", "mean_field"),
)
# Section 4.3: standard deviations over the 100 evaluations.
DEVIATIONS = {"content": 7.34, "min_cut": 11.19, "mean_field": 8.94}


class Work(Protocol):
    """Some methods on one fold."""

    __name__: str

    def __call__(self, condition: Condition, train: IntArray, test: IntArray, seed: int, /) -> Outcomes:
        """What they said of the test texts."""


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """All tables: ten times tenfold cross-validation over debates, or the first two folds if ``quick``.

    A full run that is cut off goes on where it stopped when it is started again.
    """
    corpus = convote.load()
    kept = FinishedParts()
    if not quick:
        kept = FinishedParts.of("links", list(corpus.segments["text"]), corpus.citations.to_csv())
    rows = official_rows(corpus)
    n_splits = N_QUICK if quick else N_REPEATS * N_FOLDS
    paper = paper_data(corpus)
    outcomes = _run(paper, (paper_recipe, beyond), n_splits, "the paper's data", progress, workers, kept)
    rows += _local(outcomes) + _table("collective", outcomes) + _tests(outcomes)
    whole = full_record(corpus)
    outcomes = _run(whole, (beyond,), n_splits, "the full record", progress, workers, kept)
    kept.clear()
    return rows + _table("full_record", outcomes)


Slices = dict[str, BoolArray]  # metric to the test texts that it is about
Fold = tuple[Slices, Outcomes]


def _run(
    condition: Condition,
    parts: tuple[Work, ...],
    n_splits: int,
    what: str,
    progress: Progress,
    workers: int,
    kept: FinishedParts,
) -> list[Fold]:
    folds = repeated_group_folds(condition.debates, n_folds=N_FOLDS, n_repeats=N_REPEATS, random_state=SEED)
    splits = list(islice(folds, n_splits))

    def one(seed: int, train: IntArray, test: IntArray) -> Fold:
        outcomes: Outcomes = {}
        for part in parts:

            def compute(part: Work = part) -> dict[str, Any]:
                return {name: vars(found) for name, found in part(condition, train, test, seed).items()}

            found = kept.get(f"{what} {part.__name__} {seed}", compute)
            outcomes |= {name: Outcome(**columns) for name, columns in found.items()}
        return _slices(condition, train, test), outcomes

    done: list[Fold] = []
    progress(what, 0, len(splits))
    for fold in run_each(one, ((seed, *split) for seed, split in enumerate(splits)), n_jobs=workers):
        done.append(fold)
        progress(what, len(done), len(splits))
    return done


def _slices(condition: Condition, train: IntArray, test: IntArray) -> Slices:
    connected = condition.pairs.connected[test]
    known = set(condition.speakers[train])
    seen = np.array([speaker in known for speaker in condition.speakers[test]])
    return {
        "connected": connected,
        "isolated": ~connected,
        "all": np.ones(len(test), dtype=bool),
        "seen_speakers": seen,
        "unseen_speakers": ~seen,
    }


def _accuracies(folds: list[Fold], method: str, metric: str) -> FloatArray:
    """Percent right in each fold that has texts of the metric's kind."""
    right = [outcomes[method].right[slices[metric]] for slices, outcomes in folds]
    return np.array([100.0 * float(part.mean()) for part in right if len(part)])


def _local(folds: list[Fold]) -> list[Row]:
    """Table 1: connected texts, neighbours' labels known."""
    methods = {"majority": "majority", "content": "content", **LOCAL}
    return [
        mean_row("local", name, metric, _accuracies(folds, method, metric), paper=figure)
        for method, name in methods.items()
        for metric, figure in (("connected", TABLE_1[name]), ("all", None))
    ]


def _table(table: str, folds: list[Fold]) -> list[Row]:
    rows = []
    for method in folds[0][1]:
        if method in LOCAL:
            continue
        published = dict(zip(("connected", "isolated", "all"), TABLE_2.get(method, ()), strict=False))
        for metric in folds[0][0]:
            paper = published.get(metric) if table == "collective" else None
            rows.append(mean_row(table, method, metric, _accuracies(folds, method, metric), paper=paper))
        if table == "collective":
            spread = float(np.std(_accuracies(folds, method, "all"), ddof=1)) if len(folds) > 1 else 0.0
            rows.append(Row(table, method, "deviation", DEVIATIONS.get(method), spread, spread, spread, len(folds)))
        losses = [_mean_loss(outcomes[method]) for _, outcomes in folds]
        if all(loss is not None for loss in losses):
            rows.append(mean_row(table, method, "log_loss", np.array(losses, dtype=np.float64)))
    return rows


def _mean_loss(outcome: Outcome) -> float | None:
    return None if outcome.log_loss is None else float(outcome.log_loss.mean())


def _tests(folds: list[Fold]) -> list[Row]:
    """p-values of paired differences over the folds."""
    rows = []
    for first, second in COMPARED:
        a, b = (_accuracies(folds, method, "all") for method in (first, second))
        name = f"{first} - {second}"
        rows.append(mean_row("significance", name, "difference", a - b))
        for metric, p in (
            ("p_paired", paired_t_test(a, b, degrees_of_freedom=10).p_value),
            ("p_corrected", corrected_t_test(a, b, test_share=1.0 / N_FOLDS).p_value),
        ):
            rows.append(Row("significance", name, metric, None, p, p, p, len(folds)))
    return rows


def draw_figures(rows: Sequence[Row], folder: str | Path) -> list[Path]:
    """One debate and its citations, with what the default model says of it."""
    return [draw_debate(Path(folder) / "links-debate.svg")]


PAPER = Paper(reproduce, draw_figures=draw_figures)
