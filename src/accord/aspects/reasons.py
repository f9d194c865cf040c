"""Why a text is ranked as it is: what each word and each known rank adds under the model that predicts."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from accord.aspects.agreement import agreement_reasons
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["reasons_of"]

_MOST_TRIED = 200


def reasons_of(ranker: Any, x: Any, *, aspect: str | None, known: Any, n_words: int) -> pd.DataFrame:
    """The table of :meth:`~accord.aspects.AspectRanker.explain` for one text, a sparse row of features."""
    if x.shape[0] != 1:
        raise InputError(f"explain takes one text at a time; got {x.shape[0]}.")
    if aspect is not None and aspect not in ranker.aspects_:
        raise InputError(f"the aspects of this model are {', '.join(ranker.aspects_)}; {aspect!r} is none of them.")
    names, kinds, groups = _feature_groups(ranker, x)
    shown = [a for a, name in enumerate(ranker.aspects_) if aspect in (None, name)]
    ranks = np.zeros(len(ranker.aspects_), dtype=np.int64) if known is None else ranker._ranks([known])[0]
    rows: list[tuple[str, float, str]] = []
    for a in shown:
        of = "" if aspect is not None else f"{ranker.aspects_[a]}: "
        others = np.where(np.arange(len(ranks)) == a, 0, ranks)
        effects = _effects(ranker, x, groups, len(names), others)[:, a]
        for i in np.argsort(-np.abs(effects), kind="stable")[:n_words]:
            rows.append((f"{of}{names[i]}", float(effects[i]), kinds[i]))
        for j in np.flatnonzero(others):
            with_and_without = np.stack([others, np.where(np.arange(len(ranks)) == j, 0, others)])
            p = ranker._probabilities(x[[0, 0]], with_and_without)[:, a] @ np.arange(1, ranker.n_ranks + 1)
            rows.append((f"{of}{ranker.aspects_[j]} is {others[j]}", float(p[0] - p[1]), "aspect"))
    if ranker.agreement_ is not None:
        found = agreement_reasons(ranker.agreement_, x, _feature_names(ranker, x.indices), ranker.aspects_, n_words)
        rows += [(f"equal ranks: {evidence}", effect, "agreement") for evidence, effect in found]
    table = pd.DataFrame(rows, columns=["reason", "effect", "kind"]).astype({"effect": np.float64})
    table = table.sort_values("effect", key=np.abs, ascending=False, kind="stable", ignore_index=True)
    said = known if ranker._has_probabilities and known is not None else None
    found_ranks = ranker._decoded(x, None if said is None else [said])[0]
    table.attrs["label"] = ", ".join(f"{ranker.aspects_[a]} {found_ranks[a]}" for a in shown)
    return table


def _feature_groups(ranker: Any, x: Any) -> tuple[list[str], list[str], IntArray]:
    """Names and kinds of what is explained in one text, and which of them each entry of its row belongs to."""
    n_phrases = x.shape[1] if ranker.phrases_ is None else len(ranker.phrases_.kept_)
    words = x.indices < n_phrases
    names = list(_feature_names(ranker, x.indices[words]))
    groups: IntArray = np.cumsum(words) - 1
    if words.all():
        return names, ["word"] * len(names), groups
    groups[~words] = len(names)
    return [*names, "meaning of the text (vectors)"], [*["word"] * len(names), "vectors"], groups


def _feature_names(ranker: Any, features: IntArray) -> Any:
    if ranker.phrases_ is not None:
        names = ranker.phrases_.get_feature_names_out()
        return np.array([names[i] if i < len(names) else "vectors" for i in features], dtype=object)
    called = getattr(ranker, "feature_names_", None)
    return np.array([f"feature {i}" if called is None else called[i] for i in features], dtype=object)


def _effects(ranker: Any, x: Any, groups: IntArray, n: int, known: IntArray) -> FloatArray:
    """Effects of groups of the features of one text, shape (n, n_aspects)."""
    if not ranker._has_probabilities:
        online = ranker.ranker_.ranker
        effects = np.zeros((n, len(ranker.aspects_)))
        np.add.at(effects, groups, x.data[:, None] * (online.weights[x.indices] @ online.mixing.T))
        return effects
    tried = _strongest(ranker, x, groups, n)
    # Row i lacks the i-th of them; the last row has all features.
    data = np.where(groups == np.append(tried, -1)[:, None], 0.0, x.data)
    rows = len(tried) + 1
    without = sp.csr_array(
        (data.ravel(), np.tile(x.indices, rows), np.arange(rows + 1) * x.nnz), shape=(rows, x.shape[1])
    )
    told = np.tile(known, (rows, 1)) if known.any() else None
    expected = ranker._probabilities(without, told) @ np.arange(1, ranker.n_ranks + 1)
    effects = np.zeros((n, len(ranker.aspects_)))
    effects[tried] = expected[-1] - expected[:-1]
    return effects


def _strongest(ranker: Any, x: Any, groups: IntArray, n: int) -> IntArray:
    """The groups that move the logits most: a text of any length has its effects measured in so many trials."""
    if n <= _MOST_TRIED:
        return np.arange(n)
    if ranker.ranker_ is None:
        weights = ranker.crf_.weights[x.indices].reshape(x.nnz, -1)
    else:
        weights = ranker.ranker_.weights[x.indices] @ ranker.ranker_.mixing
    size = np.bincount(groups, weights=np.abs(x.data) * np.abs(weights).max(axis=1), minlength=n)
    return np.sort(np.argsort(-size, kind="stable")[:_MOST_TRIED])
