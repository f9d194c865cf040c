"""The average of two ways to train a model of links and two ways to infer with it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accord.learning.dual import DualModel, Evidence, calibrated, fit_dual, fit_temperature
from accord.learning.joint import fit_joint
from accord.typing import FloatArray, IntArray

__all__ = ["AveragedModel", "fit_averaged"]


@dataclass(frozen=True, eq=False)
class AveragedModel:
    """Models of the same texts and links; beliefs are the mean of their log beliefs, at one temperature."""

    models: tuple[DualModel, ...]
    temperature: float

    @property
    def sigmoids(self) -> FloatArray:
        """Mean slopes and offsets of the content, shape (2, n_sigmoids)."""
        return np.mean([model.sigmoids for model in self.models], axis=0)

    def content(self, scores: FloatArray) -> FloatArray:
        """Log probabilities by content alone, shape (n_texts, n_labels)."""
        return _mean_log([model.content(scores) for model in self.models])

    def gains(self, evidence: Sequence[Evidence]) -> list[FloatArray]:
        """Mean gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        each = [model.gains(evidence) for model in self.models]
        return [np.mean(kind, axis=0) for kind in zip(*each, strict=True)]

    def beliefs(
        self, scores: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Calibrated beliefs, shape (n_texts, n_labels); ``warn`` where an inference did not settle."""
        each = [model.beliefs(scores, evidence, known=known, warn=warn) for model in self.models]
        mean = _mean_log([np.log(np.clip(beliefs, 1e-12, 1.0)) for beliefs in each])
        return calibrated(np.exp(mean), self.temperature)


def fit_averaged(
    scores: FloatArray,
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    n_labels: int = 2,
    engines: Sequence[str] = ("mean_field", "lbp"),
    scales: Sequence[Sequence[float]] | None = None,
    recalibrate: bool = True,
) -> AveragedModel:
    """The dual classifier and joint training by likelihood, each with every engine, all with the same weight.

    Parameters
    ----------
    scores, codes, evidence, n_labels, scales, recalibrate
        As in :func:`~accord.learning.dual.fit_dual`; ``scales`` are those of the dual classifier.
    engines : sequence of str
        Engines whose beliefs are averaged.
    """
    models = []
    for engine in engines:
        models.append(
            fit_dual(scores, codes, evidence, n_labels=n_labels, engine=engine, scales=scales, recalibrate=recalibrate)
        )
        models.append(fit_joint(scores, codes, evidence, n_labels=n_labels, objective="likelihood", engine=engine))
    averaged = AveragedModel(tuple(models), 1.0)
    if not recalibrate:
        return averaged
    beliefs = averaged.beliefs(scores, evidence, warn=False)
    return AveragedModel(averaged.models, fit_temperature(beliefs, codes)[0])


def _mean_log(log_p: Sequence[FloatArray]) -> FloatArray:
    mean = np.mean(log_p, axis=0)
    return np.asarray(mean - np.logaddexp.reduce(mean, axis=1, keepdims=True))
