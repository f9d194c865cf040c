"""Loops over votes of people and judges: latent margins are drawn, and probabilities of votes are summed."""

from math import erfc

import numpy as np
from numba import njit

from accord.typing import FloatArray, IntArray

__all__ = ["draw_margins", "gather", "log_likelihoods", "log_rates"]


@njit(cache=True)
def _above(rng: np.random.Generator, low: float) -> float:
    """A standard normal above ``low``."""
    if low < 0.45:
        while True:
            draw = rng.standard_normal()
            if draw > low:
                return draw
    rate = 0.5 * (low + np.sqrt(low * low + 4.0))
    while True:
        draw = low + rng.standard_exponential() / rate
        if rng.random() < np.exp(-0.5 * (draw - rate) ** 2):
            return draw


@njit(cache=True)
def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """A standard normal between ``low`` and ``high``."""
    if low > 0.0:
        nearest = low
    elif high < 0.0:
        nearest = high
    else:
        nearest = 0.0
    while True:
        draw = low + (high - low) * rng.random()
        if rng.random() < np.exp(0.5 * (nearest * nearest - draw * draw)):
            return draw


@njit(cache=True)
def _ndtr(x: float) -> float:
    return 0.5 * erfc(-x * 0.7071067811865476)


@njit(cache=True)
def _probability(z: float, value: float, margin: float) -> float:
    """P(answer | z) with noise of variance 2."""
    high, low = (z - margin) * 0.7071067811865476, (z + margin) * 0.7071067811865476
    if value == 1.0:
        p = _ndtr(high)
    elif value == 0.0:
        p = _ndtr(-low)
    else:
        p = _ndtr(low) - _ndtr(high)
    return max(p, 1e-300)


@njit(cache=True, error_model="numpy")
def _margin_of(
    i: int, table: FloatArray, slopes: FloatArray, left: IntArray, right: IntArray, voter: IntArray, x: FloatArray
) -> float:
    """z of vote i: ``table`` has what each voter sees in each text."""
    w = voter[i]
    z = table[w, left[i]] - table[w, right[i]]
    for k in range(x.shape[1]):
        z += slopes[w, k] * x[i, k]
    return z


@njit(cache=True, error_model="numpy")
def gather(
    table: FloatArray, slopes: FloatArray, left: IntArray, right: IntArray, voter: IntArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums of the z of all votes by voter and text, and by voter and covariate: XᵀX applied to the unknowns."""
    texts, cells = np.zeros(table.shape), np.zeros(slopes.shape)
    for i in range(left.size):
        z = _margin_of(i, table, slopes, left, right, voter, x)
        w = voter[i]
        texts[w, left[i]] += z
        texts[w, right[i]] -= z
        for k in range(x.shape[1]):
            cells[w, k] += x[i, k] * z
    return texts, cells


@njit(cache=True, error_model="numpy")
def draw_margins(
    rng: np.random.Generator, table: FloatArray, slopes: FloatArray, left: IntArray, right: IntArray,
    value: FloatArray, voter: IntArray, person: IntArray, x: FloatArray, rate: FloatArray, margins: FloatArray,
    side_chance: float, tie_chance: float, noise: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """Draw the latent margins; sums of them by voter and text and by voter and covariate, and of fresh noise.

    A vote that its voter gave without looking says nothing of its margin, which is then drawn freely.
    """
    texts, cells = np.zeros(table.shape), np.zeros(slopes.shape)
    noise_texts, noise_cells = np.zeros(table.shape), np.zeros(slopes.shape)
    root = np.sqrt(2.0)
    for i in range(left.size):
        z = _margin_of(i, table, slopes, left, right, voter, x)
        w = voter[i]
        width = margins[min(w, 1)]
        attends = True
        if person[i] >= 0 and rate[person[i]] > 0.0:
            e = rate[person[i]]
            p = (1.0 - e) * _probability(z, value[i], width)
            chance = tie_chance if value[i] == 0.5 else side_chance
            attends = rng.random() * (p + e * chance) < p
        if not attends:
            y = z + root * rng.standard_normal()
        elif value[i] == 1.0:
            y = z + root * _above(rng, (width - z) / root)
        elif value[i] == 0.0:
            y = z - root * _above(rng, (width + z) / root)
        else:
            y = z + root * _between(rng, (-width - z) / root, (width - z) / root)
        texts[w, left[i]] += y
        texts[w, right[i]] -= y
        for k in range(x.shape[1]):
            cells[w, k] += x[i, k] * y
        if noise > 0.0:
            e = noise * rng.standard_normal()
            noise_texts[w, left[i]] += e
            noise_texts[w, right[i]] -= e
            for k in range(x.shape[1]):
                noise_cells[w, k] += x[i, k] * e
    return texts, cells, noise_texts, noise_cells


@njit(cache=True, error_model="numpy")
def log_rates(
    table: FloatArray, slopes: FloatArray, left: IntArray, right: IntArray, value: FloatArray, voter: IntArray,
    person: IntArray, x: FloatArray, margins: FloatArray, rates: FloatArray, side_chance: float, tie_chance: float,
    n_people: int,
) -> FloatArray:  # fmt: skip
    """Log probability of each person's votes under each rate of random answers, shape (n_people, n_rates)."""
    out = np.zeros((n_people, rates.size))
    for i in range(left.size):
        if person[i] < 0:
            continue
        z = _margin_of(i, table, slopes, left, right, voter, x)
        p = _probability(z, value[i], margins[0])
        chance = tie_chance if value[i] == 0.5 else side_chance
        for k in range(rates.size):
            out[person[i], k] += np.log((1.0 - rates[k]) * p + rates[k] * chance)
    return out


@njit(cache=True, error_model="numpy")
def log_likelihoods(
    table: FloatArray, slopes: FloatArray, left: IntArray, right: IntArray, value: FloatArray, voter: IntArray,
    person: IntArray, x: FloatArray, rate: FloatArray, margins: FloatArray, side_chance: float, tie_chance: float,
) -> FloatArray:  # fmt: skip
    """Log probability of the votes of people and of those of judges, shape (2,)."""
    out = np.zeros(2)
    for i in range(left.size):
        z = _margin_of(i, table, slopes, left, right, voter, x)
        kind = min(voter[i], 1)
        p = _probability(z, value[i], margins[kind])
        if person[i] >= 0:
            e = rate[person[i]]
            p = (1.0 - e) * p + e * (tie_chance if value[i] == 0.5 else side_chance)
        out[kind] += np.log(p)
    return out
