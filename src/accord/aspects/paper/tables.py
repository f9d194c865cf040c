"""The tables and figures of [SB07] on hotel and restaurant reviews, with the models that came after.

Tables 1 and 2 are the rows ``loss``, ``loss/<aspect>``, ``loss_consensus`` and ``loss_non_consensus``. Test sets of the
random splits do not overlap, so that the sign test over all of them counts each text once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from accord.aspects import AspectRanker, baselines
from accord.aspects.agreement import agreement_labels
from accord.aspects.features import PhraseFeatures, phrase_counts
from accord.aspects.ordinal import median_ranks, ordinal_probabilities
from accord.aspects.paper.figures import draw_figures
from accord.data.corpora import multiaspect, we8there
from accord.evaluation.metrics import accuracy, quadratic_kappa, ranking_loss
from accord.evaluation.resume import FinishedParts
from accord.evaluation.significance import sign_test
from accord.evaluation.tables import Paper, Row, mean_row
from accord.scale.processes import run_each
from accord.typing import AnyArray, FloatArray, IntArray, Progress

__all__ = ["PAPER", "reproduce"]

# [SB07] Tables 1 and 2, and section 6: we8there, with the authors' own texts.
_PAPER_ROWS = {
    "majority_5": {"loss": 1.001, "loss/food": 0.848, "loss/service": 1.056, "loss/value": 1.030,
                   "loss/atmosphere": 1.044, "loss/overall": 1.028, "agreement_accuracy": 58.0},
    "prank": {"loss": 0.675, "loss/food": 0.606, "loss/service": 0.676, "loss/value": 0.700, "loss/atmosphere": 0.776,
              "loss/overall": 0.618, "loss_consensus": 0.414, "loss_non_consensus": 0.864},
    "sim": {"loss": 0.663, "loss/food": 0.562, "loss/service": 0.648, "loss/value": 0.706, "loss/atmosphere": 0.798,
            "loss/overall": 0.600},
    "gg_decode": {"loss": 0.656, "loss/food": 0.544, "loss/service": 0.648, "loss/value": 0.704,
                  "loss/atmosphere": 0.798, "loss/overall": 0.584},
    "gg": {"loss": 0.632, "loss/food": 0.534, "loss/service": 0.622, "loss/value": 0.644, "loss/atmosphere": 0.774,
           "loss/overall": 0.584, "loss_consensus": 0.324, "loss_non_consensus": 0.854, "agreement_accuracy": 67.0},
    "gg_oracle": {"loss": 0.595, "loss/food": 0.510, "loss/service": 0.578, "loss/value": 0.674,
                  "loss/atmosphere": 0.694, "loss/overall": 0.518, "loss_consensus": 0.281,
                  "loss_non_consensus": 0.830},
}  # fmt: skip
_PAPER_ROWS["gg_joint"] = _PAPER_ROWS["gg_sim"] = _PAPER_ROWS["gg"]
_SIZES = (3488, 500, 500)
_QUICK_SIZES = (1500, 500, 500)
_N_RANKS = 5
_N_EPOCHS = 10  # of Figure 2 and SIM; the other rankers are at their best after one or two
_MOST_PASSES = 5
_FIGURE_2 = ("prank", "sim", "gg_joint")
# Settings of the exported class for each perceptron row. "gg" comes first: the others take its agreement model. The
# paper scores Good Grief by SIM too (section 3.2); an oracle has an α of its own, from a wider range.
PERCEPTRON_ROWS: dict[str, dict[str, Any]] = {
    "gg": {"model": "good_grief"},
    "prank": {"model": "prank"},
    "sim": {"model": "sim", "n_epochs": _N_EPOCHS},
    "sim_others": {"model": "sim", "similarity": "others", "n_epochs": _N_EPOCHS},
    "gg_decode": {"model": "good_grief_decode"},
    "gg_joint": {"model": "good_grief", "training": "joint"},
    "gg_sim": {"model": "good_grief", "similarity": "all", "training": "joint", "n_epochs": _N_EPOCHS},
    "gg_oracle": {
        "model": "good_grief",
        "agreement": "oracle",
        "alpha": (0.0, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0),
    },
}
_CONFIDENT = (10, 20, 33, 50, 75, 100)  # Figure 3: per cent of the test texts, most confident first


@dataclass(frozen=True, eq=False)
class _Split:
    """Features and ranks of one split."""

    x: tuple[Any, Any, Any]  # train, development, test
    ranks: tuple[IntArray, IntArray, IntArray]
    aspects: tuple[str, ...]
    seed: int


_Job = tuple[str, Callable[[], _Split]]  # the table, and how its split is made


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What one split gave."""

    ranks: dict[str, IntArray]  # row → ranks of the test texts
    figures: dict[tuple[str, str], float]  # (row, metric) → value
    truth: IntArray
    rounds: dict[str, FloatArray]  # row → test loss after each training round (Figure 2)
    confident: FloatArray  # accuracy of the agreement model on the most confident texts (Figure 3)


def _splits(
    n: int, n_splits: int, sizes: tuple[int, int, int] = _SIZES, seed: int = 0
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Random splits into training, development and test texts, with disjoint test sets."""
    n_train, n_dev, n_test = sizes
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    for i in range(n_splits):
        test = order[i * n_test : (i + 1) * n_test]
        rest = rng.permutation(np.setdiff1d(order, test))
        yield rest[:n_train], rest[n_train : n_train + n_dev], test


def _prepared(
    counts: Any, ranks: IntArray, parts: tuple[IntArray, ...], aspects: tuple[str, ...], seed: int, *, min_texts: int
) -> _Split:
    phrases = PhraseFeatures(min_texts=min_texts).fit(counts[parts[0]])
    train, dev, test = (phrases.transform(counts[part]) for part in parts)
    return _Split((train, dev, test), (ranks[parts[0]], ranks[parts[1]], ranks[parts[2]]), aspects, seed)


def _run(split: _Split) -> _Outcome:
    """Every row on one split."""
    (x, dev_x, test_x), (y, dev_y, _) = split.x, split.ranks
    found = _perceptrons(split)
    for baseline in (baselines.ridge, baselines.ordinal_logistic, baselines.multinomial):
        found.ranks.update(baseline(x, y, dev_x, dev_y, test_x, n_ranks=_N_RANKS))
    ranks, figures = _fields(split)
    return replace(found, ranks=found.ranks | ranks, figures=found.figures | figures)


def _perceptrons(split: _Split) -> _Outcome:
    """The paper's own rows: constants, PRank, SIM and Good Grief."""
    test_x, truth = split.x[2], split.ranks[2]
    ranks: dict[str, IntArray] = {f"majority_{r}": np.full(truth.shape, r) for r in (4, 5)}
    figures: dict[tuple[str, str], float] = {}
    labels = agreement_labels(truth)
    sure = labels >= 0
    for row in ("majority_5", "majority_4"):
        figures[row, "agreement_accuracy"] = 100 * max(
            accuracy(labels[sure], np.full(int(sure.sum()), a)) for a in (0, 1)
        )
    confident: FloatArray = np.empty(0)
    rounds, agreement = {}, None
    for row, settings in PERCEPTRON_ROWS.items():
        settings = {"n_epochs": _MOST_PASSES, "agreement": agreement, **settings}
        model = _fitted(split, settings)
        if row == "gg":
            agreement = model.agreement_
            confident = _confident(model.predict_all_equal(test_x)[sure], labels[sure])
            figures["gg", "agreement_accuracy"] = confident[-1]
        told = labels == 1 if settings["agreement"] == "oracle" else None
        ranks[row] = model.predict(test_x, all_equal=told)
        chosen = model.ranker_
        figures |= {
            (row, "passes"): chosen.n_epochs, (row, "alpha"): chosen.alpha, (row, "trained_jointly"): chosen.joint
        }  # fmt: skip
        if row in _FIGURE_2:
            # Figure 2: with α as chosen, the loss of the test texts after each round is the curve of a fit that takes
            # them for development texts; nothing else is read from it.
            curve = settings | {"n_epochs": _N_EPOCHS, "n_orders": 3, "passes": 1}
            if row == "gg_joint":
                curve["alpha"] = chosen.alpha
            rounds[row] = _fitted(split, curve, development=(test_x, truth)).ranker_.curve
    return _Outcome(ranks, figures, truth, rounds, confident)


def _fitted(
    split: _Split, settings: Mapping[str, Any], development: tuple[Any, IntArray] | None = None
) -> AspectRanker:
    """One row's model on one split."""
    ranker = AspectRanker(n_ranks=_N_RANKS, aspects=split.aspects, random_state=split.seed, **settings)
    return ranker.fit(split.x[0], split.ranks[0], development=development or (split.x[1], split.ranks[1]))


def _fields(split: _Split) -> tuple[dict[str, IntArray], dict[tuple[str, str], float]]:
    """Two fields over the aspects and, without their edges, the nodes that they stand on."""
    (x, _, test_x), (y, _, truth) = split.x, split.ranks
    labels = agreement_labels(truth)
    sure = labels >= 0
    last = np.zeros_like(truth)
    last[:, -1] = truth[:, -1]
    ranks: dict[str, IntArray] = {}
    figures: dict[tuple[str, str], float] = {}
    for row, nodes in (("default", "stacked"), ("ordinal_crf", "cumulative")):
        field = AspectRanker(nodes=nodes, aspects=split.aspects, random_state=split.seed).fit(x, y)
        ranks[row] = field.predict(test_x)
        figures[row, "joint_nll"] = -float(field.log_likelihood(test_x, truth).mean())
        figures[row, f"loss_given_{split.aspects[-1]}"] = ranking_loss(
            truth[:, :-1], field.predict(test_x, known=last)[:, :-1]
        )
        figures[row, "agreement_accuracy"] = 100 * accuracy(labels[sure], (field.predict_all_equal(test_x) > 0.5)[sure])
        p = ordinal_probabilities(field.ranker_, test_x)
        ranks[nodes] = median_ranks(p)
        own = np.take_along_axis(p, np.maximum(truth - 1, 0)[:, :, None], axis=2)[:, :, 0]
        figures[nodes, "joint_nll"] = -float(np.where(truth > 0, np.log(own), 0.0).sum(axis=1).mean())
    return ranks, figures


def _confident(p: FloatArray, labels: IntArray) -> FloatArray:
    """Accuracy in per cent of the agreement model on the texts that it is most sure of (Figure 3)."""
    right = ((p > 0.5) == (labels == 1))[np.argsort(-np.abs(p - 0.5))]
    return np.array([100 * right[: max(1, round(len(right) * share / 100))].mean() for share in _CONFIDENT])


def _losses(truth: IntArray, ranks: IntArray, aspects: tuple[str, ...]) -> dict[str, float]:
    """The ranking losses of Tables 1 and 2, and quadratic weighted κ."""
    labels = agreement_labels(truth)
    out = {"loss": ranking_loss(truth, ranks)}
    for name, kept in (("loss_consensus", labels == 1), ("loss_non_consensus", labels == 0)):
        out[name] = ranking_loss(truth[kept], ranks[kept])
    out |= {f"loss/{name}": ranking_loss(truth[:, i], ranks[:, i]) for i, name in enumerate(aspects)}
    if len(np.unique(ranks)) > 1:
        out["kappa"] = quadratic_kappa(truth, ranks)
    return out


def _text_losses(outcome: _Outcome, row: str) -> FloatArray:
    truth = outcome.truth.astype(np.float64)
    known = truth > 0
    return np.where(known, np.abs(truth - outcome.ranks[row]), 0.0).sum(axis=1) / known.sum(axis=1)


def _rows(table: str, outcomes: list[_Outcome], aspects: tuple[str, ...], *, paper: bool) -> list[Row]:
    rows = []
    for row in outcomes[0].ranks:
        published = _PAPER_ROWS.get(row, {}) if paper else {}
        per_split = [_losses(o.truth, o.ranks[row], aspects) for o in outcomes]
        for metric in per_split[0]:
            values = [losses[metric] for losses in per_split]
            rows.append(mean_row(table, row, metric, values, paper=published.get(metric)))
        for own, metric in outcomes[0].figures:
            if own == row:
                values = [o.figures[row, metric] for o in outcomes]
                rows.append(mean_row(table, row, metric, values, paper=published.get(metric)))
    for row, other in (
        ("gg", "prank"),
        ("gg", "sim"),
        ("gg_joint", "prank"),
        ("gg_joint", "gg_decode"),
        ("default", "multinomial"),
    ):
        first, second = (np.concatenate([_text_losses(o, name) for o in outcomes]) for name in (other, row))
        p = sign_test(first, second).p_value
        rows.append(Row(table, row, f"sign_test_p/{other}", None, p, p, p, len(outcomes)))
    return rows


def _figure_rows(table: str, outcomes: list[_Outcome]) -> list[Row]:
    rows = []
    for row in outcomes[0].rounds:
        for i in range(_N_EPOCHS):
            values = [o.rounds[row][i] for o in outcomes]
            rows.append(mean_row(f"figure_2/{table}", row, f"loss@{i + 1}", values))
    published = {10: 90.0, 33: 80.0, 100: 67.0} if table == "we8there" else {}
    for i, share in enumerate(_CONFIDENT):
        values = [o.confident[i] for o in outcomes]
        rows.append(
            mean_row(f"figure_3/{table}", "agreement", f"accuracy@{share}%", values, paper=published.get(share))
        )
    return rows


def _outcomes(jobs: list[_Job], progress: Progress, workers: int, kept: FinishedParts) -> dict[str, list[_Outcome]]:
    """What was found for each table."""

    def one(part: str, split: _Split) -> _Outcome:
        return _Outcome(**kept.get(part, lambda: vars(_run(split))))

    found: dict[str, list[_Outcome]] = {}
    # A split is made when there is a process for it.
    work = ((f"{table} {place}", prepare()) for place, (table, prepare) in enumerate(jobs))
    for done, ((table, _), outcome) in enumerate(zip(jobs, run_each(one, work, n_jobs=workers), strict=True), 1):
        found.setdefault(table, []).append(outcome)
        progress(f"{table}, splits", done, len(jobs))
    return found


def reproduce(*, quick: bool, progress: Progress, workers: int = 1) -> list[Row]:
    """Run the experiments; ``quick`` takes one smaller split of each set of reviews.

    A full run that is cut off goes on where it stopped when it is started again.

    Parameters
    ----------
    quick : bool
    progress : callable
    workers : int
        Splits run at a time.
    """
    hotels, restaurants = multiaspect.load(), we8there.load()
    counts, _ = phrase_counts(hotels.ratings.items.texts)
    phrases = restaurants.items.features
    of_hotels, of_restaurants = (ratings.ranks.astype(np.int64) for ratings in (hotels.ratings, restaurants))
    n_splits, sizes = (1, _QUICK_SIZES) if quick else (10, _SIZES)
    jobs: list[_Job] = []
    for i, parts in enumerate(_splits(len(of_hotels), n_splits, sizes)):
        prepare = partial(_prepared, counts, of_hotels, parts, multiaspect.ASPECTS, i, min_texts=3)
        jobs.append(("multiaspect", prepare))
    given: tuple[AnyArray, ...] = tuple(np.flatnonzero(hotels.split == part) for part in ("train", "dev", "test"))
    if quick:
        given = tuple(part[:size] for part, size in zip(given, sizes, strict=True))
    prepare = partial(_prepared, counts, of_hotels, given, multiaspect.ASPECTS, 0, min_texts=3)
    jobs.append(("multiaspect_10k", prepare))
    for i, parts in enumerate(_splits(len(of_restaurants), n_splits, sizes)):
        prepare = partial(_prepared, phrases, of_restaurants, parts, we8there.ASPECTS, i, min_texts=1)
        jobs.append(("we8there", prepare))

    kept = FinishedParts()
    if not quick:
        kept = FinishedParts.of("aspects", hotels.ratings.items.texts, of_hotels, of_restaurants)
    rows: list[Row] = []
    for table, found in _outcomes(jobs, progress, workers, kept).items():
        restaurant = table == "we8there"
        rows += _rows(table, found, we8there.ASPECTS if restaurant else multiaspect.ASPECTS, paper=restaurant)
        if table != "multiaspect_10k":
            rows += _figure_rows(table, found)
    kept.clear()
    return rows


PAPER = Paper(reproduce, draw_figures=draw_figures)
