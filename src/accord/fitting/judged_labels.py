"""What judges' labels say about people's: confusion tables from texts that both labelled, soft labels of the rest.

A judge j says l about a text whose label is k with probability π_j[k, l] [DS79]. Unlike there, labels of texts are not
guessed: people are the anchor, and π is counted where people labelled too. Rows are shrunk towards those of all
judges, and these towards a judge that says the same whatever the label, so that of what is not known nothing follows.
The label of a text that judges alone labelled is

    P(k) ∝ prior_k · Π_j π_j[k, l_j]^(τ w_j),

with w_j one over the number of judges of j's family that labelled the text, and one power τ between 0 and 1 for all,
because judges share mistakes. τ is the value at which people's labels, each left out in turn, are most probable; it is
zero unless that is better than the prior by more than chance, so that judges who know nothing change nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from accord.engines.numerics import normalise_log
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["JudgedLabels", "judged_labels"]

_OWN, _KIND = 4.0, 4.0  # labels that the shrinkage of a row is worth: towards all judges, and towards no information
_POWERS = np.linspace(0.0, 1.0, 21)
_SURE = 1.645  # standard errors by which judges must beat the prior
_LEVEL = 0.9
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class JudgedLabels:
    """Confusion tables of judges, and soft labels."""

    confusion: FloatArray  # (n_judges, n_labels, n_labels) P(the judge says l | the label is k), posterior means
    low: FloatArray  # the same shape: 90 % intervals
    high: FloatArray
    counts: FloatArray  # the same shape: labels of judges by the labels of people on the same texts
    prior: FloatArray  # (n_labels,)
    power: float  # τ
    gain: float  # nats by which judges improve on the prior for a text that people labelled, left out
    gain_error: float  # standard error of it
    soft: FloatArray  # (n_items, n_labels): people's labels where there are any, else what judges say


def judged_labels(
    people: FloatArray, item: IntArray, judge: IntArray, label: IntArray, family: IntArray
) -> JudgedLabels:
    """Learn how judges label what people label, and what their labels say where no person did.

    Parameters
    ----------
    people : array of shape (n_items, n_labels)
        How many people gave each label to each text.
    item, judge, label : int arrays of shape (n_given,)
        The labels that judges gave.
    family : int array of shape (n_judges,)
    """
    n_items, n_labels = people.shape
    total = people.sum(axis=1)
    anchored = total > 0
    truth = np.divide(people, total[:, None], out=np.zeros_like(people, dtype=np.float64), where=anchored[:, None])
    prior = (truth.sum(axis=0) + 1.0) / (truth.sum() + n_labels)
    # Several labels of one judge on one text are one, in parts.
    cell, place = np.unique(np.stack([item, judge], axis=1), axis=0, return_inverse=True)
    said = np.zeros((len(cell), n_labels))
    np.add.at(said, (place.reshape(-1), label), 1.0)
    said /= np.maximum(said.sum(axis=1, keepdims=True), _LEAST)
    own = np.zeros((family.size, n_labels, n_labels))
    known = anchored[cell[:, 0]]
    np.add.at(own, cell[known, 1], truth[cell[known, 0]][:, :, None] * said[known][:, None, :])
    centre = _shrunk(own, said, cell[:, 1])
    total_rows = own.sum(axis=2, keepdims=True)
    confusion = (own + _OWN * centre) / (total_rows + _OWN)
    tail = 0.5 * (1.0 - _LEVEL)
    a, b = own + _OWN * centre, total_rows - own + _OWN * (1.0 - centre)
    low, high = (beta.ppf(q, np.maximum(a, 1e-6), np.maximum(b, 1e-6)) for q in (tail, 1.0 - tail))
    weight = _weights(cell, family)
    evidence = np.zeros((n_items, n_labels))
    logs = np.einsum("cl,ckl->ck", said, np.log(np.maximum(confusion, _LEAST))[cell[:, 1]])
    np.add.at(evidence, cell[:, 0], weight[:, None] * logs)
    left_out = _left_out(own, centre, truth, said, cell, weight, known, (n_items, n_labels))
    judged = anchored & (np.bincount(cell[:, 0], minlength=n_items) > 0)
    power, gain, error = _power(truth[judged], left_out[judged], np.log(prior))
    soft = np.where(anchored[:, None], truth, normalise_log(np.log(prior) + power * evidence, axis=1))
    return JudgedLabels(confusion, low, high, own, prior, power, gain, error, soft)


def _shrunk(own: FloatArray, said: FloatArray, judge: IntArray) -> FloatArray:
    """What each judge's rows are shrunk towards: those of all judges, and these towards what the judge says anyway."""
    often = np.zeros((len(own), said.shape[1]))
    np.add.at(often, judge, said)
    often = (often + 1.0) / (often + 1.0).sum(axis=1, keepdims=True)
    pooled = own.sum(axis=0)
    rows = pooled.sum(axis=1)[None, :, None]
    return np.asarray((pooled[None] + _KIND * often[:, None, :]) / (rows + _KIND))


def _weights(cell: IntArray, family: IntArray) -> FloatArray:
    """One over the number of judges of the same family that labelled the same text, shape (n_cells,)."""
    key = np.stack([cell[:, 0], family[cell[:, 1]]], axis=1)
    _, place, count = np.unique(key, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / count[place.reshape(-1)])


def _left_out(
    own: FloatArray, centre: FloatArray, truth: FloatArray, said: FloatArray, cell: IntArray, weight: FloatArray,
    known: BoolArray, shape: tuple[int, int],
) -> FloatArray:  # fmt: skip
    """Evidence of judges on texts that people labelled, by tables without the text itself, (n_items, n_labels)."""
    rows, judges = cell[known, 0], cell[known, 1]
    share = truth[rows]
    self_count = share[:, :, None] * said[known][:, None, :]
    counts = own[judges] - self_count + _OWN * centre[judges]
    table = counts / np.maximum(counts.sum(axis=2, keepdims=True), _LEAST)
    logs = np.einsum("cl,ckl->ck", said[known], np.log(np.maximum(table, _LEAST)))
    out = np.zeros(shape)
    np.add.at(out, rows, weight[known][:, None] * logs)
    return out


def _power(truth: FloatArray, evidence: FloatArray, log_prior: FloatArray) -> tuple[float, float, float]:
    """τ, and how many nats a text it gains over the prior, with the standard error."""
    if len(truth) < 2:
        return 0.0, 0.0, 0.0
    base = truth @ log_prior
    gains = [np.sum(truth * np.log(normalise_log(log_prior + power * evidence, axis=1) + _LEAST), axis=1) - base
             for power in _POWERS]  # fmt: skip
    best = int(np.argmax([gain.mean() for gain in gains]))
    mean, error = float(gains[best].mean()), float(gains[best].std(ddof=1) / np.sqrt(len(truth)))
    return (float(_POWERS[best]) if mean > _SURE * error else 0.0), mean, error
