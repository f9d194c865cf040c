"""Several models of the same links as one: the mean of their log beliefs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accord.learning.dual import DualModel, Evidence, fit_dual
from accord.learning.joint import fit_joint
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["AveragedModel", "fit_averaged"]


@dataclass(frozen=True, eq=False)
class AveragedModel:
    """Models of the same texts and links, each with the same say."""

    models: tuple[DualModel, ...]

    @property
    def sigmoids(self) -> FloatArray:
        """Mean slopes and offsets of the content, shape (2, n_sigmoids)."""
        return np.mean([model.sigmoids for model in self.models], axis=0)

    def content(self, scores: FloatArray) -> FloatArray:
        """Log probabilities by content alone, shape (n_texts, n_labels)."""
        return _mean_log([model.content(scores) for model in self.models])

    def gains(self, evidence: Sequence[Evidence]) -> list[FloatArray]:
        """Mean gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        return [np.mean(each, axis=0) for each in zip(*(model.gains(evidence) for model in self.models), strict=True)]

    def beliefs(
        self, scores: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Normalised means of the models' log beliefs, shape (n_texts, n_labels)."""
        every = [model.beliefs(scores, evidence, known=known, warn=warn) for model in self.models]
        return np.exp(_mean_log([np.log(np.clip(beliefs, 1e-12, 1.0)) for beliefs in every]))


def fit_averaged(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    n_labels: int = 2,
    engine: str = "mean_field",
    scales: Sequence[Sequence[float]] | None = None,
    recalibrate: bool = True,
    workers: Workers | None = None,
) -> AveragedModel:
    """The dual classifier and joint training by likelihood; arguments as for each of them."""
    dual = fit_dual(scores, codes, evidence, scales=scales, recalibrate=recalibrate, n_labels=n_labels, engine=engine)
    joint = fit_joint(
        scores, codes, evidence, objective="likelihood", workers=workers, n_labels=n_labels, engine=engine
    )
    return AveragedModel((dual, joint))


def _mean_log(log_p: Sequence[FloatArray]) -> FloatArray:
    mean = np.mean(log_p, axis=0)
    return np.asarray(mean - np.logaddexp.reduce(mean, axis=1, keepdims=True))
