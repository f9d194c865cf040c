"""Draws from the joint posterior of everything that is learnt, where the votes are few enough to afford it.

The Gaussian posterior of the scores takes the variance of the scores, the voters' rates of random answers and their
shares, the bias and the margin as known. Where votes are few they are not, and intervals that ignore it are too narrow.
Here all of them are drawn together, by Markov chain Monte Carlo:

- every voter's rate and lean, given the scores; the shares of these, given the voters (Dirichlet);
- scores, bias and margin, by Hamiltonian Monte Carlo, whitened by the Gaussian posterior, so that draws are almost
  independent. The scale e^t of all scores, which has a log-normal prior, is integrated out meanwhile;
- the scale, given the scores, exactly.

Only the common scale of the kernel is drawn; its other parameters stay where the bound put them.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from accord.engines.numerics import cholesky
from accord.pairs.process.likelihoods import Preference, log_rates, log_votes
from accord.pairs.process.posterior import Posterior, Votes, solve_lower
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray

__all__ = ["Draws", "draw_posterior", "draw_scale", "log_prior"]

# The scores' covariance is taken to be that of the Gaussian posterior, widened along the scores themselves, because it
# takes their scale as known; how often a move should be accepted.
_STRETCH, _ACCEPTED = 0.06, 0.85
# Bias and margin are known to about so much over the root of the number of votes.
_UNIT = 1.2
# The variance of the scores is log-normal around 1: two texts out of three differ by a fifth to five times the noise.
_PRIOR_SD = 1.5


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws from the posterior, one a row.

    ``whitened`` holds u = e^t v of f = e^t A v at the inducing points, so that the scores of any items follow.
    """

    whitened: FloatArray  # (n_draws, m)
    scale: FloatArray  # (n_draws,) e^t
    habits: IntArray  # (n_draws, n_voters) of models that were saved earlier, otherwise of no draw
    bias: FloatArray  # (n_draws,)
    margin: FloatArray  # (n_draws,)
    belief: FloatArray | None = None  # (n_voters, n_habits) the mean probability of each rate and lean

    def beliefs(self, n_habits: int) -> FloatArray:
        """Probability of each voter's rates and leans, shape (n_voters, n_habits)."""
        if self.belief is not None:
            return self.belief
        return np.stack([(self.habits == k).mean(axis=0) for k in range(n_habits)], axis=1)


class _Votes(NamedTuple):
    """Rows of votes, and what voters may be like."""

    left: IntArray
    right: IntArray
    answer: IntArray  # 1 left, −1 right, 0 undecided
    side: FloatArray
    chance: FloatArray  # of the answer where it is random
    rates: FloatArray
    leans: FloatArray


class _Space(NamedTuple):
    """Where the chain moves: x holds w of u = centre + spread · w, then bias and log margin in units of their own."""

    centre: FloatArray  # (m,)
    spread: FloatArray  # (m, m) S
    scores: FloatArray  # (n_items,) at the centre
    basis: FloatArray  # (n_items, m) scores by w
    pull: FloatArray  # (m,) Sᵀ centre
    gram: FloatArray  # (m, m) SᵀS
    bias: float
    bias_unit: float  # 0 where it is known
    log_margin: float
    margin_unit: float
    learn_scale: bool
    log_variance: float


@njit(cache=True, error_model="numpy")
def _likeliest_scale(square: float, size: int, log_variance: float) -> float:
    """The likeliest t given u = e^t v with |u|² = ``square``; the density is log-concave."""
    t = 0.5 * np.log(max(square, 1e-12) / size)
    for _ in range(50):
        part = square * np.exp(-2.0 * t)
        slope = part - size - 2.0 * (log_variance + 2.0 * t) / _PRIOR_SD**2
        step = slope / (2.0 * part + 4.0 / _PRIOR_SD**2)
        t += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-9:
            break
    return t


@njit(cache=True, error_model="numpy")
def log_prior(square: float, size: int, log_variance: float) -> tuple[float, float]:
    """Log density of u with |u|² = ``square``, up to a constant, the scale integrated out; and its slope.

    log ∫ N(u; 0, e^{2t} I) p(t) dt by the trapezoidal rule over eight standard deviations on either side of the mode,
    which is right to six digits because the integrand is almost normal.
    """
    mode = _likeliest_scale(square, size, log_variance)
    spread = 1.0 / np.sqrt(2.0 * square * np.exp(-2.0 * mode) + 4.0 / _PRIOR_SD**2)
    own = log_variance + 2.0 * mode
    top = -size * mode - 0.5 * square * np.exp(-2.0 * mode) - 0.5 * own * own / _PRIOR_SD**2
    total, slope = 0.0, 0.0
    for node in range(-16, 17):
        t = mode + 0.5 * node * spread
        own, shrink = log_variance + 2.0 * t, np.exp(-2.0 * t)
        part = np.exp(-size * t - 0.5 * square * shrink - 0.5 * own * own / _PRIOR_SD**2 - top)
        total += part
        slope -= 0.5 * shrink * part
    return top + np.log(total * spread), slope / total


@njit(cache=True, error_model="numpy")
def draw_scale(rng: np.random.Generator, square: float, size: int, log_variance: float) -> float:
    """A draw of t given u with |u|² = ``square``, exact.

    Without its prior e^{−2t} would be Gamma(m/2, |u|²/2). The log prior lies below its tangent at the mode, which only
    changes the shape of the Gamma; the distance between the two is the logarithm of the probability of acceptance.
    """
    mode = _likeliest_scale(square, size, log_variance)
    at = log_variance + 2.0 * mode
    while True:
        t = -0.5 * np.log(rng.gamma(0.5 * size + at / _PRIOR_SD**2, 2.0 / square))
        off = 2.0 * (t - mode)
        if np.log(rng.random()) < -0.5 * off * off / _PRIOR_SD**2:
            return t


@njit(cache=True, error_model="numpy")
def _density(x: FloatArray, counts: FloatArray, votes: _Votes, space: _Space, slope: FloatArray) -> float:
    """Log posterior density at ``x`` given the voters' habits, up to a constant; its gradient into ``slope``."""
    m = space.centre.size
    w = x[:m]
    bias = space.bias + space.bias_unit * x[m]
    log_margin = space.log_margin + space.margin_unit * x[m + 1]
    margin = np.exp(log_margin)
    f = space.scores + space.basis @ w
    z, by_z, by_score = f[votes.left] - f[votes.right] + bias * votes.side, np.empty(votes.left.size), np.zeros(f.size)
    total, by_margin = log_votes(
        z, votes.answer, votes.side, margin, votes.rates, votes.leans, votes.chance, counts, by_z
    )
    for i in range(z.size):
        by_score[votes.left[i]] += by_z[i]
        by_score[votes.right[i]] -= by_z[i]
    by_bias = votes.side @ by_z
    slope[:m] = space.basis.T @ by_score
    turned = space.gram @ w
    square = space.centre @ space.centre + 2.0 * (space.pull @ w) + w @ turned
    if space.learn_scale:
        prior, by_square = log_prior(square, m, space.log_variance)
    else:
        prior, by_square = -0.5 * square, -0.5
    slope[:m] += 2.0 * by_square * (space.pull + turned)
    slope[m] = space.bias_unit * (by_bias - bias)
    slope[m + 1] = space.margin_unit * (margin * (by_margin - 1.0) + 1.0)
    total += prior - 0.5 * bias * bias
    return total + (log_margin - margin if space.margin_unit > 0.0 else 0.0)


@njit(cache=True, error_model="numpy")
def _judge_voters(
    rng: np.random.Generator, x: FloatArray, votes: _Votes, space: _Space, cells: tuple[IntArray, IntArray, FloatArray],
    shares_prior: FloatArray, shares: FloatArray, counts: FloatArray, belief: FloatArray,
) -> None:  # fmt: skip
    """Draw every voter's habits given the scores, then their shares.

    Shares, the votes of each row by habit, and the probabilities that habits were drawn from go into the last three.
    """
    m, n_rates = space.centre.size, votes.rates.size
    voter, row, weight = cells
    f = space.scores + space.basis @ x[:m]
    bias = space.bias + space.bias_unit * x[m]
    margin = np.exp(space.log_margin + space.margin_unit * x[m + 1])
    log_p = np.empty((votes.left.size, n_rates))
    z = f[votes.left] - f[votes.right] + bias * votes.side
    log_rates(z, votes.answer, votes.side, margin, votes.rates, votes.leans, votes.chance, log_p)
    n_voters = len(belief)
    belief[:] = np.log(shares)
    for c in range(row.size):
        for k in range(n_rates):
            belief[voter[c], k] += weight[c] * log_p[row[c], k]
    habits, tally = np.empty(n_voters, dtype=np.int64), shares_prior.copy()
    for u in range(n_voters):
        belief[u] = np.exp(belief[u] - belief[u].max())
        belief[u] /= belief[u].sum()
        pick, chosen = rng.random(), 0
        while chosen < n_rates - 1 and pick > belief[u, chosen]:
            pick -= belief[u, chosen]
            chosen += 1
        habits[u] = chosen
        tally[chosen] += 1.0
    for k in range(n_rates):
        shares[k] = max(rng.gamma(tally[k], 1.0), 1e-12)
    shares /= shares.sum()
    counts[:] = 0.0
    for c in range(row.size):
        counts[row[c], habits[voter[c]]] += weight[c]


@njit(cache=True, error_model="numpy")
def _chain(
    rng: np.random.Generator, n_draws: int, burn_in: int, thin: int, votes: _Votes, space: _Space,
    cells: tuple[IntArray, IntArray, FloatArray], n_voters: int, shares_prior: FloatArray, counts: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:  # fmt: skip
    """The chain; see :func:`draw_posterior`."""
    m, n_rates = space.centre.size, votes.rates.size
    out_u, out_scale = np.empty((n_draws, m)), np.ones(n_draws)
    out_bias, out_margin = np.empty(n_draws), np.empty(n_draws)
    shares, belief, mean_belief = shares_prior.copy(), np.zeros((n_voters, n_rates)), np.zeros((n_voters, n_rates))
    x, slope = np.zeros(m + 2), np.zeros(m + 2)
    now = _density(x, counts, votes, space, slope)
    log_step = np.log(1.2) - 0.25 * np.log(m + 2.0)
    for it in range(burn_in + n_draws * thin):
        if n_voters:
            _judge_voters(rng, x, votes, space, cells, shares_prior, shares, counts, belief)
            now = _density(x, counts, votes, space, slope)
        # A quarter of a turn on average, in as many steps as energy is kept with.
        step, way = np.exp(log_step), np.pi * (0.25 + 0.5 * rng.random())
        speed = rng.standard_normal(m + 2)
        energy = 0.5 * (speed @ speed) - now
        to, then, by = x.copy(), now, slope.copy()
        for _ in range(max(1, int(np.round(way / step)))):
            speed += 0.5 * step * by
            to += step * speed
            then = _density(to, counts, votes, space, by)
            speed += 0.5 * step * by
        lost = 0.5 * (speed @ speed) - then - energy
        accepted = np.exp(-max(lost, 0.0)) if np.isfinite(lost) else 0.0
        if rng.random() < accepted:
            x, now, slope = to, then, by
        if it < burn_in:
            log_step += 0.5 * (it + 1.0) ** -0.6 * (accepted - _ACCEPTED)
            continue
        mean_belief += belief
        if (it - burn_in) % thin == 0:
            place = (it - burn_in) // thin
            out_u[place] = space.centre + space.spread @ x[:m]
            if space.learn_scale:
                out_scale[place] = np.exp(draw_scale(rng, out_u[place] @ out_u[place], m, space.log_variance))
            out_bias[place] = space.bias + space.bias_unit * x[m]
            out_margin[place] = np.exp(space.log_margin + space.margin_unit * x[m + 1])
    return out_u, out_scale, out_bias, out_margin, mean_belief / (n_draws * thin)


def draw_posterior(
    design: FloatArray,
    posterior: Posterior,
    votes: Votes,
    likelihood: Preference,
    voters: Voters | None,
    *,
    log_variance: float,
    learn_scale: bool,
    learn_bias: bool,
    n_draws: int,
    rng: np.random.Generator,
    burn_in: int = 300,
    thin: int = 1,
) -> Draws:
    """Draws from the joint posterior, by a chain that starts at the Gaussian posterior.

    Parameters
    ----------
    design : array of shape (n_items, m)
        A, which must carry the items whole.
    posterior : Posterior
        The Gaussian posterior of ``votes``.
    votes, likelihood
        What was inferred; the margin is drawn if there is one.
    voters : Voters, optional
        All of them known; without them everybody attends.
    log_variance : float
        Logarithm of the variance of the scores at the kernel's parameters, which the scale multiplies.
    learn_scale, learn_bias : bool
    n_draws, burn_in, thin : int
        Draws that are kept, steps before the first of them, and steps from one to the next.
    """
    m, margin = posterior.mean.size, likelihood.margin
    half = solve_lower(posterior.factor, np.eye(m), transposed=True)
    spread = cholesky(half @ half.T + _STRETCH * np.outer(posterior.mean, posterior.mean))
    rows, weight, cells = _answers(votes, likelihood, voters)
    prior, n_voters = (np.ones(1), 0) if voters is None else (voters.prior, len(voters.belief))
    counts = np.zeros((weight.size, rows.rates.size))
    counts[:, 0] = weight
    unit = _UNIT / np.sqrt(weight.sum())
    space = _Space(
        posterior.mean, spread, design @ posterior.mean, design @ spread, spread.T @ posterior.mean, spread.T @ spread,
        likelihood.bias, unit if learn_bias else 0.0,
        np.log(margin) if margin > 0.0 else -np.inf, unit / margin if margin > 0.0 else 0.0,
        learn_scale, log_variance,
    )  # fmt: skip
    found = _chain(rng, n_draws, burn_in, thin, rows, space, cells, n_voters, prior, counts)
    whitened, scale, bias, margins, belief = found
    return Draws(whitened, scale, np.zeros((0, n_voters), dtype=np.int64), bias, margins, belief)


def _answers(
    votes: Votes, likelihood: Preference, voters: Voters | None
) -> tuple[_Votes, FloatArray, tuple[IntArray, IntArray, FloatArray]]:
    """Rows, their weights, and who gave how many of which; without a margin an undecided vote is two half votes."""
    ballots, n = votes.ballots, votes.left.size
    twice = np.flatnonzero((ballots.value == 0.5) & (likelihood.margin <= 0.0))
    row = np.append(np.arange(n), twice)
    part = np.ones(n)
    part[twice] = 0.5
    answer = np.sign(ballots.value - 0.5).astype(np.int64)
    answer[twice] = 1
    answer = np.append(answer, np.full(twice.size, -1))
    rates: FloatArray = np.zeros(1)
    leans: FloatArray = np.zeros(1)
    nobody: IntArray = np.zeros(0, dtype=np.int64)
    cells: tuple[IntArray, IntArray, FloatArray] = (nobody, nobody, np.zeros(0))
    if voters is not None:
        rates, leans = np.array(likelihood.rates), likelihood.own_leans
        second = np.full(n, -1)
        second[twice] = n + np.arange(twice.size)
        again = np.flatnonzero(second[voters.row] >= 0)
        cell, own = np.append(np.arange(voters.row.size), again), voters.weight * part[voters.row]
        cells = (voters.voter[cell], np.append(voters.row, second[voters.row[again]]), own[cell])
    chance = np.where(answer == 0, likelihood.tie_chance, likelihood.side_chance)
    rows = _Votes(votes.left[row], votes.right[row], answer, ballots.side[row], chance, rates, leans)
    return rows, (votes.weight * part)[row], cells
