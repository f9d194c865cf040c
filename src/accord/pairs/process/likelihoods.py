"""The likelihood of one vote, given the difference z = f_left − f_right of the two scores.

An attentive voter compares two scores with unit noise each ([SG18] eq. 3). The item that was shown on the left has an
advantage b, and an undecided answer falls into a margin m around zero, if there is one:

    P(left) = Φ((z + s b − m)/√2),  P(right) = Φ((−z − s b − m)/√2),  s = ±1 the side of the left item, 0 if not known

A voter who answers at random at the rate ε gives that answer with probability (1 − ε) P + ε c, where c is the chance of
the answer. A voter may also lean to one side more than the others do: b is then larger by the voter's lean. Rates and
leans are a few pairs of values; a vote carries the probability of each. What inference needs of a vote is the expected
log probability under a Gaussian difference, with its slope and curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import erfc

import numpy as np
from numba import njit
from scipy.special import ndtr

from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "LINEARISATIONS",
    "Ballots",
    "Preference",
    "expectation",
    "linearised",
    "log_answer",
    "log_rates",
    "log_votes",
    "point",
]

_SQRT2 = float(np.sqrt(2.0))
_LOG_SQRT_2PI = 0.9189385332046727
# Most rows from which bias and margin are learnt: their errors are then far below those of the scores.
_MOST_ROWS = 4_000


def _rule(n: int) -> tuple[FloatArray, FloatArray]:
    """Gauss–Hermite rule for the standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(n)
    return nodes, weights / weights.sum()


# The wider the distribution, the more nodes: up to these variances 6, then 10, then 16.
_NARROW, _MIDDLE = 0.05, 0.5
_RULES = np.zeros((3, 2, 16))
for _place, _n in enumerate((6, 10, 16)):
    _RULES[_place, 0, :_n], _RULES[_place, 1, :_n] = _rule(_n)
_SIZES = np.array([6, 10, 16])
_ONE_NODE = (np.array([[[0.0], [1.0]]] * 3), np.array([1, 1, 1]))


@dataclass(frozen=True, eq=False)
class Ballots:
    """What is known of votes besides the scores of their items; equal votes are one row.

    Parameters
    ----------
    value : array of shape (n_rows,)
        1 where left won, 0 where right won, ½ where undecided.
    side : array of shape (n_rows,)
        1 where the left item was shown on the left, −1 where the right item was, 0 where that does not matter.
    share : array of shape (n_rows, n_rates)
        Probability of each rate of random answers (with its lean), averaged over the voters of the row.
    """

    value: FloatArray
    side: FloatArray
    share: FloatArray

    @classmethod
    def of(cls, value: FloatArray, n_rates: int = 1) -> "Ballots":
        """Votes of attentive people, shown on sides that do not matter."""
        share = np.zeros((len(value), n_rates))
        share[:, 0] = 1.0
        return cls(np.asarray(value, dtype=np.float64), np.zeros(len(value)), share)

    def take(self, rows: IntArray | BoolArray | slice) -> "Ballots":
        """Some of the rows."""
        return Ballots(self.value[rows], self.side[rows], self.share[rows])

    def followed_by(self, more: "Ballots") -> "Ballots":
        """These rows and then others."""
        return Ballots(
            np.append(self.value, more.value),
            np.append(self.side, more.side),
            np.concatenate([self.share, more.share]),
        )


@njit(cache=True, error_model="numpy")
def _log_phi(u: float) -> float:
    """log Φ(u), without cancellation in the tail."""
    if u > -10.0:
        return np.log(0.5 * erfc(-u / _SQRT2))
    square = 1.0 / (u * u)
    return -0.5 * u * u - np.log(-u) - _LOG_SQRT_2PI + np.log1p(-square * (1.0 - square * (3.0 - 15.0 * square)))


@njit(cache=True, error_model="numpy")
def _honest(z: float, answer: int, margin: float) -> tuple[float, float, float]:
    """log P of an attentive voter's answer (1 left, −1 right, 0 undecided), ∂ log P and ∂² log P by z."""
    if answer != 0:
        u = (answer * z - margin) / _SQRT2
        log_p = _log_phi(u)
        mills = np.exp(-0.5 * u * u - _LOG_SQRT_2PI - log_p)
        return log_p, answer * mills / _SQRT2, -0.5 * mills * (u + mills)
    # log [Φ(top) − Φ(low)], written with |z|, where the difference does not cancel
    a = abs(z)
    top, low = (margin - a) / _SQRT2, (-margin - a) / _SQRT2
    log_top, log_low = _log_phi(top), _log_phi(low)
    log_p = log_top + np.log(-np.expm1(min(log_low - log_top, -1e-300)))
    up = np.exp(-0.5 * top * top - _LOG_SQRT_2PI - log_p)
    down = np.exp(-0.5 * low * low - _LOG_SQRT_2PI - log_p)
    slope = down - up
    return log_p, (1.0 if z >= 0.0 else -1.0) * slope / _SQRT2, -0.5 * (slope * slope + top * up - low * down)


@njit(cache=True, error_model="numpy")
def log_answer(
    z: float, value: float, margin: float, rates: FloatArray, leans: FloatArray, share: FloatArray,
    side_chance: float, tie_chance: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Σ_k share_k log p_k(value | z) with its first and second derivative, z with the position's advantage in it.

    ``leans`` are what each voter's own lean adds to z, so with the sign of the side.
    """
    total, slope, bend = 0.0, 0.0, 0.0
    # An undecided vote without a margin is half a vote for each side.
    split = value == 0.5 and margin <= 0.0
    for half in range(2 if split else 1):
        answer = (1 - 2 * half) if split else (1 if value == 1.0 else (-1 if value == 0.0 else 0))
        chance = tie_chance if answer == 0 else side_chance
        weight = 0.5 if split else 1.0
        lean = leans[0]
        log_p, d1, d2 = _honest(z + lean, answer, margin)
        p = -1.0
        for k in range(rates.size):
            part = weight * share[k]
            if part <= 1e-9:
                continue
            rate = rates[k]
            if leans[k] != lean:
                lean = leans[k]
                log_p, d1, d2 = _honest(z + lean, answer, margin)
                p = -1.0
            if rate <= 0.0:
                total += part * log_p
                slope += part * d1
                bend += part * d2
                continue
            if p < 0.0:
                p = np.exp(log_p)
            mixed = (1.0 - rate) * p + rate * chance
            honest = (1.0 - rate) * p / mixed
            total += part * np.log(mixed)
            slope += part * honest * d1
            # p″/p = ∂² log p + (∂ log p)²
            bend += part * (honest * (d2 + d1 * d1) - honest * honest * d1 * d1)
    return total, slope, bend


@njit(cache=True, error_model="numpy")
def _by_margin(z: float, answer: int, margin: float) -> tuple[float, float, float]:
    """log P of an attentive voter's answer as in :func:`_honest`, and its derivatives by z and by the margin."""
    if answer != 0:
        u = (answer * z - margin) / _SQRT2
        log_p = _log_phi(u)
        mills = np.exp(-0.5 * u * u - _LOG_SQRT_2PI - log_p) / _SQRT2
        return log_p, answer * mills, -mills
    a = abs(z)
    top, low = (margin - a) / _SQRT2, (-margin - a) / _SQRT2
    log_top, log_low = _log_phi(top), _log_phi(low)
    log_p = log_top + np.log(-np.expm1(min(log_low - log_top, -1e-300)))
    up = np.exp(-0.5 * top * top - _LOG_SQRT_2PI - log_p) / _SQRT2
    down = np.exp(-0.5 * low * low - _LOG_SQRT_2PI - log_p) / _SQRT2
    return log_p, (1.0 if z >= 0.0 else -1.0) * (down - up), up + down


@njit(cache=True, error_model="numpy")
def log_rates(
    z: FloatArray, answer: IntArray, side: FloatArray, margin: float, rates: FloatArray, leans: FloatArray,
    chance: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """log p_k(answer | z) of every rate k into ``out``, shape (n_rows, n_rates); ``answer`` is 1 left, −1 right, 0."""
    for i in range(z.size):
        lean, log_p, p = np.inf, 0.0, 0.0
        for k in range(rates.size):
            if side[i] * leans[k] != lean:
                lean = side[i] * leans[k]
                log_p = _by_margin(z[i] + lean, answer[i], margin)[0]
                p = np.exp(log_p)
            out[i, k] = np.log((1.0 - rates[k]) * p + rates[k] * chance[i]) if rates[k] > 0.0 else log_p


@njit(cache=True, error_model="numpy")
def log_votes(
    z: FloatArray, answer: IntArray, side: FloatArray, margin: float, rates: FloatArray, leans: FloatArray,
    chance: FloatArray, counts: FloatArray, by_z: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """Σ counts_ik log p_k(answer_i | z_i) and its derivative by the margin; those by z go into ``by_z``."""
    total, by_margin = 0.0, 0.0
    for i in range(z.size):
        lean, log_p, slope, width, by = np.inf, 0.0, 0.0, 0.0, 0.0
        for k in range(rates.size):
            part = counts[i, k]
            if part <= 0.0:
                continue
            if rates[k] >= 1.0:
                total += part * np.log(chance[i])
                continue
            if side[i] * leans[k] != lean:
                lean = side[i] * leans[k]
                log_p, slope, width = _by_margin(z[i] + lean, answer[i], margin)
            if rates[k] > 0.0:
                p = (1.0 - rates[k]) * np.exp(log_p)
                mixed = p + rates[k] * chance[i]
                total += part * np.log(mixed)
                part *= p / mixed
            else:
                total += part * log_p
            by += part * slope
            by_margin += part * width
        by_z[i] = by
    return total, by_margin


@njit(cache=True, error_model="numpy")
def _expect(
    mean: FloatArray, variance: FloatArray, value: FloatArray, side: FloatArray, share: FloatArray, bias: float,
    margin: float, rates: FloatArray, leans: FloatArray, side_chance: float, tie_chance: float, rules: FloatArray,
    sizes: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    for i in range(mean.size):
        leaning = side[i] * leans
        which = 0 if variance[i] < _NARROW else (1 if variance[i] < _MIDDLE else 2)
        spread, centre = np.sqrt(variance[i]), mean[i] + side[i] * bias
        total, slope, bend = 0.0, 0.0, 0.0
        for j in range(sizes[which]):
            weight = rules[which, 1, j]
            a, b, c = log_answer(
                centre + spread * rules[which, 0, j], value[i], margin, rates, leaning, share[i], side_chance,
                tie_chance,
            )  # fmt: skip
            total += weight * a
            slope += weight * b
            bend += weight * c
        out[0, i], out[1, i], out[2, i] = total, slope, -bend


@dataclass(frozen=True)
class Preference:
    """The likelihood of a vote.

    Parameters
    ----------
    bias : float
        Advantage of the item shown on the left, in units of the score.
    margin : float
        Half-width of the undecided region; with 0 an undecided vote is half a vote for each side.
    rates : tuple of float
        The rates of random answers that voters may have.
    leans : tuple of float
        By how much more than the bias each of these voters leans to the left side; by default nobody does.
    tie_chance : float
        How often a random answer is "undecided".
    spread : float
        Variance of the scores before there are votes, which the published linearisation takes its noise from.
    """

    bias: float = 0.0
    margin: float = 0.0
    rates: tuple[float, ...] = (0.0,)
    tie_chance: float = 0.0
    spread: float = 1.0
    leans: tuple[float, ...] = ()

    @property
    def own_leans(self) -> FloatArray:
        """The lean that goes with each rate, shape (n_rates,)."""
        return np.array(self.leans) if self.leans else np.zeros(len(self.rates))

    @property
    def side_chance(self) -> float:
        """How often a random answer is for a given side."""
        return 0.5 * (1.0 - self.tie_chance)

    def expect(
        self, mean: FloatArray, variance: FloatArray, ballots: Ballots, *, at_mean: bool = False
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """E[log p], E[∂ log p], −E[∂² log p] under z ~ N(mean, variance), each of shape (n_rows,)."""
        out = np.empty((3, mean.size))
        rules, sizes = _ONE_NODE if at_mean else (_RULES, _SIZES)
        _expect(
            np.ascontiguousarray(mean, dtype=np.float64), np.ascontiguousarray(variance, dtype=np.float64),
            np.ascontiguousarray(ballots.value, dtype=np.float64), np.ascontiguousarray(ballots.side, dtype=np.float64),
            np.ascontiguousarray(ballots.share, dtype=np.float64), self.bias, self.margin, np.array(self.rates),
            self.own_leans, self.side_chance, self.tie_chance, rules, sizes, out,
        )  # fmt: skip
        return out[0], out[1], out[2]

    def probability(
        self, mean: FloatArray, variance: FloatArray, side: FloatArray | float = 0.0, *, rate: float = 0.0
    ) -> FloatArray:
        """p(left), p(undecided), p(right) with z ~ N(mean, variance), shape (n_votes, 3); [SG18] below eq. 5.

        ``rate`` is the voter's rate of random answers.
        """
        scale, centre = np.sqrt(2.0 + variance), mean + np.asarray(side) * self.bias
        left, right = ndtr((centre - self.margin) / scale), ndtr((-centre - self.margin) / scale)
        p = np.stack([left, np.maximum(1.0 - left - right, 0.0), right], axis=1)
        chance = np.array([self.side_chance, self.tie_chance, self.side_chance])
        return (1.0 - rate) * p + rate * chance

    def answered(self, mean: FloatArray, variance: FloatArray, ballots: Ballots) -> FloatArray:
        """Log probability of each row's answer at each rate, the difference integrated out, shape (n_rows, n_rates)."""
        place = np.where(ballots.value == 1.0, 0, np.where(ballots.value == 0.0, 2, 1))
        chance = np.where(place == 1, self.tie_chance, self.side_chance)
        half = (place == 1) & (self.margin <= 0.0)
        leans, found = self.own_leans, np.empty((mean.size, len(self.rates)))
        for lean in np.unique(leans):
            rates = np.array(self.rates)[leans == lean]
            p = self.probability(mean + ballots.side * lean, variance, ballots.side)
            own = np.maximum(p[np.arange(place.size), place], 1e-300)
            with np.errstate(divide="ignore"):
                logs = np.log((1.0 - rates) * own[:, None] + rates * chance[:, None])
            if half.any():
                sides = (1.0 - rates) * p[half][:, [0, 2], None] + rates * self.side_chance
                logs[half] = 0.5 * np.log(sides).sum(axis=1)
            found[:, leans == lean] = logs
        return found

    def refit(
        self, mean: FloatArray, variance: FloatArray, ballots: Ballots, weight: FloatArray, *, bias: bool, margin: bool
    ) -> "Preference":
        """The bias and margin that raise the expected log likelihood of votes under N(mean, variance).

        A few Newton steps, with a weak normal prior on the bias (sd 1) and exponential prior on the margin (mean 1).
        """
        moved = [name for name, wanted in (("bias", bias), ("margin", margin)) if wanted]
        if mean.size > _MOST_ROWS:
            rows = np.linspace(0, mean.size - 1, _MOST_ROWS).astype(np.int64)
            scale = float(weight.sum() / weight[rows].sum())
            mean, variance, ballots, weight = mean[rows], variance[rows], ballots.take(rows), scale * weight[rows]

        def loss(candidate: Preference) -> float:
            log_p, _, _ = candidate.expect(mean, variance, ballots)
            return 0.5 * candidate.bias**2 + candidate.margin - float(weight @ log_p)

        def at(start: Preference, name: str, to: float) -> Preference:
            return replace(start, bias=to) if name == "bias" else replace(start, margin=to)

        found, h = self, 1e-3
        for name in moved * 2:
            now = float(getattr(found, name))
            low, here, high = (loss(at(found, name, now + shift)) for shift in (-h, 0.0, h))
            slope, curve = (high - low) / (2.0 * h), max((high - 2.0 * here + low) / h**2, 1e-3)
            step = float(np.clip(-slope / curve, -1.0, 1.0))
            for _ in range(8):
                to = float(np.clip(now + step, 2.0 * h if name == "margin" else -5.0, 5.0))
                if loss(at(found, name, to)) <= here:
                    found = at(found, name, to)
                    break
                step *= 0.5
        return found


# (likelihood, mean, variance, ballots) → objective, slope and precision of each row's Gaussian site
Linearisation = Callable[[Preference, FloatArray, FloatArray, Ballots], tuple[FloatArray, FloatArray, FloatArray]]


def expectation(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, ballots: Ballots
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """E[log p], E[∂ log p], −E[∂² log p] under z ~ N(mean, variance), by quadrature; each of shape (n_rows,)."""
    return likelihood.expect(mean, variance, ballots)


def point(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, ballots: Ballots
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log p and its derivatives at the mean: the Laplace approximation; each of shape (n_rows,)."""
    return likelihood.expect(mean, np.zeros(mean.size), ballots, at_mean=True)


def linearised(
    likelihood: Preference, mean: FloatArray, variance: FloatArray, ballots: Ballots
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The published linearisation Π Φ(z) ≈ N(y; G f̂, Q) ([SG18] section 5); each of shape (n_rows,).

    G is the slope of Φ at the mean. Q is the mean of p (1 − p) under the Beta distribution that has the mean and the
    variance of Φ(u), u ~ N(0, spread), with the vote added, as in the published code: .022 at a spread of 100.
    """
    value = ballots.value
    log_p, _, _ = likelihood.expect(mean, variance, ballots)
    u = (mean + ballots.side * likelihood.bias) / _SQRT2
    slope = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi) / _SQRT2  # G
    # Var Φ(u) = arcsin(ρ)/2π with ρ = spread/(1 + spread)
    variance_of_p = np.arcsin(likelihood.spread / (1.0 + likelihood.spread)) / (2.0 * np.pi)
    size = 0.25 / variance_of_p - 1.0  # a + b of the matched Beta distribution, whose mean is ½
    smoothed = (value + 0.5 * size) / (1.0 + size)
    noise = smoothed * (1.0 - smoothed) * (1.0 + size) / (2.0 + size)  # Q
    return log_p, slope * (value - ndtr(u)) / noise, slope**2 / noise


LINEARISATIONS: dict[str, Linearisation] = {"auto": expectation, "variational": linearised, "laplace": point}
