"""Aspects of a project: train on scores, predict all of them, say why."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from accord.aspects.estimator import ORDINALS, AspectRanker
from accord.data.documents import Items
from accord.data.project import Project
from accord.data.table_rows import project_of_rows
from accord.data.task import Beliefs, RowReader, Task
from accord.engines.numerics import entropy
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.typing import AnyArray, FloatArray, IntArray, Progress

__all__ = ["TASK", "beliefs", "explain", "parts", "predict", "train"]

_PRECISION = 0.25  # of a score about the rank behind it


def train(project: Project, settings: Mapping[str, Any], progress: Progress) -> AspectRanker:
    """Fit an :class:`~accord.aspects.AspectRanker` on the texts and scores of a project.

    Where several people scored, each of them is a row of their own, so that the model learns who is harsh and who is
    lenient. Perceptron rankers take the mean of their scores.
    """
    ratings = project.ratings()
    ranker = configured(AspectRanker, {"n_ranks": ratings.n_ranks, **settings})
    progress("training", 0, 1)
    texts, ranks, annotator = _texts(ratings.items), ratings.ranks, None
    people = _by_person(project) if ranker.model in ORDINALS else None
    if people is not None:
        rows, ranks, annotator = people
        texts = [texts[row] for row in rows]
    given = np.where(ranks > 0, ranks, np.nan)  # a project's scores begin at 1: no 0 among them is a lowest score
    ranker.fit(texts, pd.DataFrame(given, columns=list(ratings.aspects)), annotator=annotator)
    progress("training", 1, 1)
    return ranker


def _by_person(project: Project) -> tuple[IntArray, IntArray, AnyArray] | None:
    """Text, ranks and person of each row where more than one person scored; several scores of one cell are averaged."""
    scores = project.frames()["judgements"]
    scores = scores[(scores["kind"] == "score") & scores["value"].notna()]
    if scores["annotator_id"].nunique() < 2:
        return None
    cells = pd.DataFrame(
        {
            "item": project.items().positions(scores["item_id"].to_numpy(object)),
            "person": scores["annotator_id"].astype(object).where(scores["annotator_id"].notna(), "").to_numpy(object),
            "aspect": scores["aspect"].astype(object).to_numpy(object),
            "value": scores["value"].astype(float).to_numpy(),
        }
    )
    table = cells.pivot_table(index=["item", "person"], columns="aspect", values="value", aggfunc="mean")
    table = table[[str(name) for name in project.ratings().aspects]]
    ranks = np.floor(table.to_numpy() + 0.5)
    people = table.index.get_level_values("person").to_numpy(object)
    return (
        table.index.get_level_values("item").to_numpy(),
        np.where(np.isnan(ranks), 0, ranks).astype(np.int64),
        np.array([None if name == "" else name for name in people], dtype=object),
    )


def predict(model: AspectRanker, project: Project) -> pd.DataFrame:
    """One row a text and aspect: ``item_id, aspect, rank, probability, given, p_all_equal, p.1, p.2, …``.

    Ranks that people gave are kept (``given``), and the ranks of the other aspects of the text are inferred from the
    text and from those. ``p_all_equal`` is the probability that all aspects of the text have the same rank. Perceptron
    rankers have no probabilities of ranks, and nothing is inferred from given ranks.
    """
    items = project.items()
    texts, known = _texts(items), _known(model, project)
    n, m, k = items.n_items, len(model.aspects_), model.n_ranks
    given = known > 0
    if model.model in ORDINALS:
        p, ranks, equal = model.predict_jointly(texts, known=known)
    else:
        p = np.where(given[:, :, None], np.arange(1, k + 1) == known[:, :, None], np.nan)
        ranks = np.where(given, known, model.predict(texts).reshape(n, m))
        equal = model.predict_all_equal(texts) if model.agreement_ is not None else np.full(n, np.nan)
    columns: dict[str, Any] = {
        "item_id": np.repeat(items.ids, m),
        "aspect": np.tile(np.array(model.aspects_, dtype=object), n),
        "rank": ranks.ravel(),
        "probability": np.take_along_axis(p, ranks[:, :, None] - 1, axis=2).ravel(),
        "given": given.ravel(),
        "p_all_equal": np.repeat(equal, m),
    }
    columns |= {f"p.{rank}": p[:, :, rank - 1].ravel() for rank in range(1, k + 1)}
    return pd.DataFrame(columns)


def explain(model: AspectRanker, project: Project, target: str) -> pd.DataFrame:
    """The words and the given ranks of other aspects behind each aspect of one text: ``reason, effect, kind``."""
    items = project.items()
    row = int(items.positions([target])[0])
    known = _known(model, project)[row]
    return model.explain(_texts(items)[row], known=known if model.model in ORDINALS and known.any() else None)


def beliefs(model: AspectRanker, project: Project) -> Beliefs:
    """What asking about texts needs: how unsure the ranks of all aspects together are.

    A score tells as much about the rank behind it wherever that lies, so that all texts have the same precision.
    """
    items = project.items()
    p = _probabilities(model, _texts(items), _known(model, project))
    return Beliefs(items.ids, entropy(p).sum(axis=1), np.full(items.n_items, _PRECISION))


def parts(model: AspectRanker, project: Project, item_ids: Sequence[str]) -> pd.DataFrame:
    """``item_id, aspect, gain``: the aspect of each text whose rank tells most, about itself and the others.

    Its rank is tried out at every value it may have; the gain is by how much the entropy of all ranks is expected to
    fall, in nats.
    """
    items = project.items()
    rows = items.positions(list(item_ids))
    texts, known = [_texts(items)[row] for row in rows], _known(model, project)[rows]
    none = np.where(known > 0, -np.inf, 0.0)  # by models without probabilities
    gain = model.worth_of_ranks(texts, known=known) if model.model in ORDINALS else none
    best = gain.argmax(axis=1)
    names = np.array(model.aspects_, dtype=object)[best]
    return pd.DataFrame({"item_id": items.ids[rows], "aspect": names, "gain": gain[np.arange(len(rows)), best]})


def _probabilities(model: AspectRanker, texts: list[str], known: IntArray) -> FloatArray:
    """Probabilities of ranks, shape (n, m, k); even ones by a model that has none."""
    shape = (len(texts), len(model.aspects_), model.n_ranks)
    if model.model not in ORDINALS:
        return np.full(shape, 1.0 / model.n_ranks)
    return model.predict_proba(texts, known=known).reshape(shape)


def _texts(items: Items) -> list[str]:
    if items.texts is None:
        raise InputError("ranking aspects needs texts; the items of this project have none. Import them with a text.")
    return list(items.texts)


def _known(model: AspectRanker, project: Project) -> IntArray:
    """The ranks that a project has of the model's aspects, 0 elsewhere."""
    known = np.zeros((project.items().n_items, len(model.aspects_)), dtype=np.int64)
    if project.counts["judgements"]:
        ratings = project.ratings()
        places = {name: place for place, name in enumerate(ratings.aspects)}
        for column, name in enumerate(model.aspects_):
            if name in places:
                known[:, column] = ratings.ranks[:, places[name]]
    return known


def _predict_rows(model: AspectRanker, table: pa.Table, linked: pa.Table | None) -> pd.DataFrame:
    return predict(model, project_of_rows("aspects", table))


TASK = Task(
    "aspects",
    train,
    predict,
    explain,
    RowReader(needed=lambda model: ("item_id", "text"), predict=_predict_rows),
    beliefs=beliefs,
    parts=parts,
)
