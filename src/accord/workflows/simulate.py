"""Try out ways of asking on what was already answered: how fast does each learn, and how many answers does it save."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from accord.data.project import Project
from accord.errors import InputError, did_you_mean
from accord.evaluation.tables import Row, mean_row
from accord.fitting.settings import Number
from accord.texts.similar import weighted_words
from accord.typing import Progress
from accord.workflows.ask import STRATEGIES, ask_texts, askable, strategies_of
from accord.workflows.kinds import task_of

__all__ = ["Simulation", "parse_numbers", "parse_ways", "replay", "simulate"]

_HELD_OUT = 0.3  # share of the answered texts that are never asked about, on which all ways are compared
_FEWEST = 40
_LOOKED = 2_000  # texts that are looked at before a choice, as in the studio
_FEWEST_SPLITS = 3  # half of the interval of two is 6.4 times their difference, which tells nothing
_SHOWN = 4  # numbers of answers that people are shown
_OWN = {"n_labels": 100, "batch": 10, "seeds": 3}
# What one answer holds: a text's label comes with the words that were highlighted for it.
_ANSWERED = {"aspects": ("score",), "rationales": ("label", "span")}


@dataclass(frozen=True, eq=False)
class Simulation:
    """Learning curves of ways of asking.

    Attributes
    ----------
    kind : str
    metric : str
        ``accuracy``, or ``distance`` of predicted from given ranks, of which less is better.
    table : DataFrame
        ``strategy, n_labels, metric, mean, low, high``, and where ways were compared on the same texts ``gain,
        gain_low, gain_high`` (how much better than random questions, with 95 % intervals over splits) and ``n``, the
        number of splits. One split alone has no interval: its bounds are NaN.
    """

    kind: str
    metric: str
    table: pd.DataFrame

    @property
    def measured(self) -> str:
        """What the figures are, in words."""
        what = "distance from the given ranks (less is better)" if self.metric == "distance" else self.metric
        if "gain" not in self.table:
            return f"{what} on what was held out"
        shown = "± half of the 95 % interval" if self.has_intervals else f"{self._splits} no interval; --set seeds=10"
        return f"{what} on texts held out, and how much better than random questions ({shown})"

    @property
    def has_intervals(self) -> bool:
        """Whether there are enough splits to say how sure the figures are."""
        return "n" not in self.table or int(self.table["n"].max()) >= _FEWEST_SPLITS

    @property
    def _splits(self) -> str:
        n = int(self.table["n"].max())
        return "one split says" if n == 1 else f"{n} splits say"

    def needed(self, strategy: str) -> float | None:
        """The answers with which a way is as good as random questions at the end; ``None`` where it never is."""
        sign = -1.0 if self.metric == "distance" else 1.0
        curves = {name: part.sort_values("n_labels") for name, part in self.table.groupby("strategy")}
        goal = sign * float(curves["random"]["mean"].iloc[-1])
        n = curves[strategy]["n_labels"].to_numpy(float)
        reached = np.maximum.accumulate(sign * curves[strategy]["mean"].to_numpy())
        at = int(np.argmax(reached >= goal))
        if reached[at] < goal:
            return None
        if at == 0 or reached[at] == reached[at - 1]:
            return float(n[at])
        return float(n[at - 1] + (n[at] - n[at - 1]) * (goal - reached[at - 1]) / (reached[at] - reached[at - 1]))

    @property
    def ways(self) -> list[str]:
        """The ways of asking, random questions first."""
        return sorted(dict.fromkeys(self.table["strategy"]), key=lambda name: name != "random")

    def summary(self) -> pd.DataFrame:
        """One row a way of asking, and at most four numbers of answers, for people to read.

        A cell is the mean, and where ways were compared on the same texts how much better than random questions it is,
        with half of the 95 % interval if there are enough splits for one.
        """
        numbers = sorted(self.table["n_labels"].unique().tolist())
        round_ones = [n for n in _checkpoints(numbers[-1]) if n in numbers]
        numbers = (round_ones if len(round_ones) > 1 else numbers)[-_SHOWN:]
        rows = []
        for strategy in self.ways:
            part = self.table[self.table["strategy"] == strategy].to_dict("records")
            found = {row["n_labels"]: _cell(row, strategy, self.has_intervals) for row in part}
            cells = {f"{n:,} answers": found.get(n, "–") for n in numbers}
            rows.append({"way of asking": strategy, **cells})
        return pd.DataFrame(rows)

    @property
    def sentences(self) -> list[str]:
        """What the ways of asking save, in words."""
        most = int(self.table["n_labels"].max())
        told = []
        for strategy in dict.fromkeys(self.table["strategy"]):
            needed = self.needed(strategy)
            if strategy != "random":
                told.append(
                    f"{strategy}: does not reach what {most:,} random answers reach{self._unsure(strategy, most)}."
                    if needed is None
                    else f"{strategy}: as good as {most:,} random answers after about {needed:,.0f}"
                    f"{self._unsure(strategy, most)}."
                )
        return told

    def _unsure(self, strategy: str, n: int) -> str:
        """What to add where random questions may be just as good at the end."""
        if "gain_low" not in self.table:
            return ""
        last = self.table[(self.table["strategy"] == strategy) & (self.table["n_labels"] == n)]
        if last.empty or (self.has_intervals and not last["gain_low"].iloc[0] <= 0.0 <= last["gain_high"].iloc[0]):
            return ""
        n_splits = int(last["n"].iloc[0])
        splits = "one split" if n_splits == 1 else f"{n_splits} splits"
        return f" on average, but {splits} cannot tell it from random questions"


def simulate(
    project: Project,
    *,
    settings: Mapping[str, Any],
    progress: Progress,
    strategies: Sequence[str] | None = None,
    at: Sequence[int] = (),
) -> Simulation:
    """How fast each way of asking learns, replayed on the judgements that are there.

    A part of the answered texts is held out in each of ``seeds`` splits. All ways begin with the same ``batch`` random
    answers; an answer is what was given for a text, its label with the words that were highlighted for it. The model
    is fitted again after each batch, which grows to half of what was asked. Settings: ``n_labels`` (100), ``batch``
    (10) and ``seeds`` (3); the others are the model's. The model is the one that ``accord train`` fits. With ``at``,
    it is fitted after these numbers of answers alone, which takes the place of ``n_labels``.
    """
    task = task_of(project.kind)
    if at and (min(at) < 1 or list(at) != sorted(set(at))):
        raise InputError(f"numbers of answers rise from 1, as in 50,100,200; got {', '.join(map(str, at))}.")
    possible = strategies_of(project.kind)
    if task.beliefs is None:
        if at or strategies is not None:
            raise InputError(
                f"--at and --ways are not for {project.kind}, which has ways of its own. Use --set n_labels=200."
            )
        return Simulation(project.kind, "accuracy", task.must(task.simulate, "simulate")(project, settings, progress))
    strategies = possible if strategies is None else strategies
    for name in strategies:
        if name not in possible:
            raise InputError(f"a way of asking about {project.kind} is one of {', '.join(possible)}; got {name!r}.")
    own = {name: settings.get(name, default) for name, default in _OWN.items()}
    for name, value in own.items():
        if not (rule := Number(1, whole=True)).allows(value):
            raise InputError(f"the setting {name!r} of a simulation must be {rule.describe()}; got {value!r}.")
    rest = {name: value for name, value in settings.items() if name not in own}
    scores: dict[tuple[str, int], list[float]] = {}
    n_runs = own["seeds"] * len(strategies)
    for seed in range(own["seeds"]):
        for place, strategy in enumerate(strategies):
            progress("replaying", seed * len(strategies) + place, n_runs)
            # Many small fits: threads of linear algebra wait for each other for longer than they work.
            with threadpool_limits(1):
                curve = replay(
                    project, strategy, split=seed, n_labels=own["n_labels"], batch=own["batch"], at=at, settings=rest
                )
            for n, score in curve.items():
                if not at or n in at:
                    scores.setdefault((strategy, n), []).append(score)
    progress("replaying", n_runs, n_runs)
    metric = "distance" if project.kind == "aspects" else "accuracy"
    return Simulation(project.kind, metric, _table(scores, metric))


def parse_ways(text: str | None) -> tuple[str, ...] | None:
    """Ways of asking from ``information,uncertainty``; random questions, which they are compared with, come first."""
    if text is None:
        return None
    named = [part.strip() for part in text.split(",") if part.strip()]
    for name in named:
        if name not in STRATEGIES:
            meant = did_you_mean(name, STRATEGIES)
            raise InputError(f"a way of asking is one of {', '.join(STRATEGIES)}; got {name!r}.{meant}")
    return tuple(dict.fromkeys(["random", *named]))


def parse_numbers(text: str | None) -> list[int]:
    """Numbers of answers from ``50,100,200``."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    wrong = next((part for part in parts if not part.isascii() or not part.isdigit() or len(part) > 9), None)
    if wrong is not None or (text is not None and not parts):
        raise InputError(f"numbers of answers are whole ones, as in 50,100,200; got {(wrong or text)!r}.")
    return [int(part) for part in parts]


def replay(
    project: Project,
    strategy: str,
    *,
    split: int,
    seed: int = 0,
    n_labels: int = 100,
    batch: int = 10,
    at: Sequence[int] = (),
    settings: Mapping[str, Any] | None = None,
) -> dict[int, float]:
    """One learning curve: the score on the texts that ``split`` holds out, by the number of answers.

    ``seed`` is that of the first answers, which are the same for all strategies, and of the draws. The model is
    fitted after ``batch`` answers and then after batches that grow to half of what was asked; with ``at``, after these
    numbers of answers alone. The score is the accuracy, or the mean distance of predicted from given ranks.
    """
    found = askable(project)
    known = found.ids[found.given]
    if len(known) < _FEWEST:
        raise InputError(f"a simulation needs at least {_FEWEST} answered texts; this project has {len(known)}.")
    order = np.random.default_rng(split).permutation(known)
    n_test = int(_HELD_OUT * len(known))
    pool = order[n_test:] if seed == 0 else np.random.default_rng([split, seed]).permutation(order[n_test:])
    one = _Replay(project, _truth(project), frozenset(order[:n_test]), pool, settings or {}, split + 1_000 * seed)
    return one.run(strategy, n_labels, batch, at)


def _table(scores: Mapping[tuple[str, int], Sequence[float]], metric: str) -> pd.DataFrame:
    sign, rows = -1.0 if metric == "distance" else 1.0, []
    for (strategy, n), values in scores.items():
        mean = mean_row("simulate", strategy, metric, values)
        row = {"strategy": strategy, "n_labels": n, "metric": metric, "mean": mean.ours}
        most = 1.0 if metric == "accuracy" else np.inf
        low, high = _bounds(mean, 0.0, most)
        row |= {"low": low, "high": high, "n": mean.n}
        if ("random", n) in scores:
            apart = sign * (np.array(values) - np.array(scores["random", n]))
            gain = mean_row("simulate", strategy, "gain", apart)
            low, high = _bounds(gain, -most, most)
            row |= {"gain": gain.ours, "gain_low": low, "gain_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def _bounds(row: Row, least: float, most: float) -> tuple[float, float]:
    """The interval inside of what is possible; one figure alone has none."""
    return (max(row.low, least), min(row.high, most)) if row.n > 1 else (np.nan, np.nan)


def _cell(row: Mapping[Any, Any], strategy: str, has_interval: bool) -> str:
    mean = f"{row['mean']:.3f}"
    if strategy == "random" or "gain" not in row:
        return mean
    if not has_interval:
        return f"{mean} ({row['gain']:+.3f})".replace("-", "−")
    half = 0.5 * (row["gain_high"] - row["gain_low"])
    return f"{mean} ({row['gain']:+.3f} ± {half:.3f})".replace("-", "−")


def _truth(project: Project) -> pd.Series:
    """What people said, by text (and aspect)."""
    if project.kind == "aspects":
        table = project.ratings().to_table()
        return table.set_index(["item_id", "aspect"])["value"].astype(float)
    return pd.Series(project.labels(), index=project.item_table.column("item_id").to_pylist()).dropna().astype(str)


@dataclass(frozen=True, eq=False)
class _Replay:
    project: Project
    truth: pd.Series
    test: frozenset[str]
    pool: Any  # ids in the order of asking at random
    settings: Mapping[str, Any]
    seed: int

    def run(self, strategy: str, n_labels: int, batch: int, at: Sequence[int] = ()) -> dict[int, float]:
        """The score on the held-out texts after each number of answers."""
        asked, task = list(self.pool[:batch]), task_of(self.project.kind)
        reached: dict[int, float] = {}
        while True:
            part = self._answered(asked)
            try:
                model = task.train(part, self.settings, lambda what, done, total: None)
            except InputError:  # too few answers, or all the same
                model = None
            reached[len(asked)] = self._score(task, model, part)
            left = [name for name in self.pool if name not in set(asked)]
            n = min(max(batch, len(asked) // 2), n_labels - len(asked), len(left))
            if at:
                n = min(max(at, default=0) - len(asked), len(left))
            n = min([n, *(c - len(asked) for c in at or _checkpoints(n_labels) if c > len(asked))])
            if n <= 0:
                return reached
            how = strategy if model is not None or strategy == "random" else "coverage"
            table = ask_texts(
                model, part, n, how, seed=self.seed + len(asked), allowed=set(left), least=_LOOKED, words=_read_once
            )
            asked += table["item_id"].tolist()

    def _answered(self, ids: Sequence[str]) -> Project:
        table = self.project.judgement_table
        kinds = _ANSWERED.get(self.project.kind, ("label",))
        rows = pc.and_(
            pc.is_in(pc.cast(table.column("item_id"), pa.string()), pa.array(ids, pa.string())),
            pc.is_in(pc.cast(table.column("kind"), pa.string()), pa.array(kinds, pa.string())),
        )
        return replace(self.project, judgement_table=table.filter(rows))

    def _score(self, task: Any, model: Any, part: Project) -> float:
        if model is None:  # the most frequent answer for all
            said = _truth(part).mode().iloc[0]
            truth = self.truth[self.truth.index.get_level_values(0).isin(self.test)]
            return float(np.abs(truth - said).mean() if self.project.kind == "aspects" else (truth == said).mean())
        table = task.predict(model, part)
        table = table[table["item_id"].isin(self.test)]
        if self.project.kind == "aspects":
            ranks = self.truth.reindex(pd.MultiIndex.from_frame(table[["item_id", "aspect"]])).to_numpy(float)
            return float(np.nanmean(np.abs(ranks - table["rank"].to_numpy())))
        labels = self.truth.reindex(table["item_id"]).to_numpy(object)
        return float(np.mean(table["label"].astype(str).to_numpy(object) == labels))


def _read_once(texts: Sequence[str]) -> sp.csr_array:
    """The words of the same texts, which are asked about again and again, are read once."""
    return _words(tuple(texts))


@lru_cache(maxsize=1)
def _words(texts: tuple[str, ...]) -> sp.csr_array:
    return weighted_words(texts)


def _checkpoints(n_labels: int) -> list[int]:
    """Numbers of answers at which all ways are compared."""
    return [n for n in (50, 100, 200, 400, 800, 1600) if n < n_labels] + [n_labels]
