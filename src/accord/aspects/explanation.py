"""Why a text is ranked as it is: words, griefs, and evidence of one mind."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from accord.aspects.agreement import AgreementModel, agreement_inputs, evidence_names
from accord.typing import AnyArray, FloatArray

__all__ = ["AspectExplanation", "agreement_reasons", "word_reasons"]


@dataclass(frozen=True, eq=False)
class AspectExplanation:
    """Why a text is ranked as it is."""

    ranks: pd.Series  # aspect → rank
    words: pd.DataFrame  # aspect, word, effect: what moved each aspect's score, strongest first
    griefs: pd.DataFrame  # aspect × rank: what that rank would cost (for ordinal models in nats of probability)
    agreement: pd.DataFrame  # evidence, effect: what speaks for (> 0) and against (< 0) one mind
    one_mind: float  # probability that all aspects have the same rank; nan where the model has no say

    def to_table(self) -> pd.DataFrame:
        """One row a reason, strongest first: reason, effect."""
        words = [f"{row.aspect}: {row.word}" for row in self.words.itertuples()]
        mind = [f"one mind: {row.evidence}" for row in self.agreement.itertuples()]
        effect = [*self.words["effect"], *self.agreement["effect"]]
        table = pd.DataFrame({"reason": [*words, *mind], "effect": np.asarray(effect, dtype=np.float64)})
        return table.sort_values("effect", key=np.abs, ascending=False, kind="stable", ignore_index=True)


def word_reasons(effects: FloatArray, names: AnyArray, aspects: list[str], n_words: int) -> pd.DataFrame:
    """The words with the largest effects (n_words_in_text, n_aspects) on each aspect: aspect, word, effect."""
    rows = [
        (aspect, names[i], effects[i, a])
        for a, aspect in enumerate(aspects)
        for i in np.argsort(-np.abs(effects[:, a]), kind="stable")[:n_words]
    ]
    return pd.DataFrame(rows, columns=["aspect", "word", "effect"])


def agreement_reasons(
    model: AgreementModel | None, x: Any, names: AnyArray, aspects: list[str], n_words: int
) -> pd.DataFrame:
    """What the agreement model sees in one text, a sparse row with features named ``names``: evidence, effect."""
    rows: list[tuple[str, float]] = []
    if model is not None:
        effects = agreement_inputs(model, x)[0] * model.second[:-1]
        labels = evidence_names(aspects, contrast=model.contrast is not None)
        rows = list(zip(labels, effects.tolist(), strict=True))
        by_word = x.data * model.weights[x.indices] * model.second[0] / model.scale[0]
        rows += [(f"word {names[i]!r}", float(by_word[i])) for i in np.argsort(-np.abs(by_word))[:n_words]]
    return pd.DataFrame(rows, columns=["evidence", "effect"])
