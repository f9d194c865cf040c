"""Draws from the joint posterior of everything that is learnt, where the votes are few enough to afford it.

The Gaussian posterior of the scores takes the variance of the scores, the voters' rates of random answers and their
shares, the bias and the margin as known. Where votes are few they are not, and intervals that ignore it are too narrow.
Here all of them are drawn together, by Markov chain Monte Carlo:

- scores: elliptical slice sampling around the Gaussian posterior, whitened, so that draws are almost independent;
- the scale e^t of all scores, with a log-normal prior, moved with the scores and against them;
- every voter's rate and lean, given the scores; the shares of these, given the voters (Dirichlet);
- bias and margin: random-walk Metropolis.

Only the common scale of the kernel is drawn; its other parameters stay where the bound put them.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from accord.pairs.process.likelihoods import Preference, log_rates
from accord.pairs.process.posterior import Posterior, Votes, solve_lower
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray

__all__ = ["Draws", "draw_posterior"]

# How much wider than the Gaussian posterior the proposals are: it is too narrow rather than too wide.
_WIDER = 1.5
_SCALE_MOVES = 5
# The variance of the scores is log-normal around 1: two texts out of three differ by a fifth to five times the noise.
_PRIOR_SD = 1.5


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws from the posterior, one a row.

    ``whitened`` holds the scores of the inducing points as v of f = e^t A v, so that scores of any items follow.
    """

    whitened: FloatArray  # (n_draws, m), times e^t
    scale: FloatArray  # (n_draws,) e^t
    habits: IntArray  # (n_draws, n_voters) which of the likelihood's rates and leans each voter has
    bias: FloatArray  # (n_draws,)
    margin: FloatArray  # (n_draws,)

    def beliefs(self, n_habits: int) -> FloatArray:
        """How often each voter was drawn with each rate and lean, shape (n_voters, n_habits)."""
        return np.stack([(self.habits == k).mean(axis=0) for k in range(n_habits)], axis=1)


@njit(cache=True, error_model="numpy")
def _log_likelihood(
    f: FloatArray, left: IntArray, right: IntArray, value: FloatArray, side: FloatArray, counts: FloatArray,
    bias: float, margin: float, rates: FloatArray, leans: FloatArray, side_chance: float, tie_chance: float,
) -> float:  # fmt: skip
    total = 0.0
    own = np.empty(rates.size)
    for i in range(left.size):
        z = f[left[i]] - f[right[i]] + side[i] * bias
        log_rates(z, value[i], margin, rates, leans, side[i], counts[i], side_chance, tie_chance, own)
        for k in range(rates.size):
            total += counts[i, k] * own[k]
    return total


@njit(cache=True, error_model="numpy")
def _chain(
    rng: np.random.Generator, n_draws: int, burn_in: int, thin: int, design: FloatArray, spread: FloatArray,
    factor: FloatArray, centre: FloatArray, left: IntArray, right: IntArray, value: FloatArray, side: FloatArray,
    weight: FloatArray, cell_voter: IntArray, cell_row: IntArray, cell_weight: FloatArray, n_voters: int,
    first_rate: IntArray, rates: FloatArray, leans: FloatArray, shares_prior: FloatArray, side_chance: float,
    tie_chance: float, bias: float, margin: float, learn_bias: bool, learn_margin: bool, learn_scale: bool,
    log_variance: float,
) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, FloatArray]:  # fmt: skip
    """The chain; see :func:`draw_posterior`. v = centre + spread · w, f = e^t design · v."""
    m, n_rows, n_rates = centre.size, left.size, rates.size
    out_v, out_scale = np.empty((n_draws, m)), np.empty(n_draws)
    out_habits = np.empty((n_draws, n_voters), dtype=np.int64)
    out_bias, out_margin = np.empty(n_draws), np.empty(n_draws)
    basis = design @ spread
    v, t = centre.copy(), 0.0
    f0 = design @ centre
    g = f0.copy()  # design · v
    rate = first_rate.copy()
    shares = shares_prior / shares_prior.sum()
    counts = np.zeros((n_rows, n_rates))
    total_weight = weight.sum()
    step_bias, step_margin, step_t = 2.5 / np.sqrt(total_weight), 1.5 / np.sqrt(total_weight), 0.3
    log_p, every = np.empty((n_rows, n_rates)), np.ones(n_rates)
    now = np.nan
    for it in range(burn_in + n_draws * thin):
        # -- voters' rates, given the scores
        if n_rates > 1:
            for i in range(n_rows):
                z = np.exp(t) * (g[left[i]] - g[right[i]]) + side[i] * bias
                log_rates(z, value[i], margin, rates, leans, side[i], every, side_chance, tie_chance, log_p[i])
            score = np.zeros((n_voters, n_rates))
            for c in range(cell_row.size):
                for k in range(n_rates):
                    score[cell_voter[c], k] += cell_weight[c] * log_p[cell_row[c], k]
            tally = shares_prior.copy()
            for u in range(n_voters):
                top = -np.inf
                for k in range(n_rates):
                    score[u, k] += np.log(shares[k])
                    top = max(top, score[u, k])
                mass = 0.0
                for k in range(n_rates):
                    score[u, k] = np.exp(score[u, k] - top)
                    mass += score[u, k]
                pick = rng.random() * mass
                chosen = 0
                while chosen < n_rates - 1 and pick > score[u, chosen]:
                    pick -= score[u, chosen]
                    chosen += 1
                rate[u] = chosen
                tally[chosen] += 1.0
            mass = 0.0
            for k in range(n_rates):
                shares[k] = max(rng.gamma(tally[k], 1.0), 1e-12)
                mass += shares[k]
            shares /= mass
            counts[:] = 0.0
            for c in range(cell_row.size):
                counts[cell_row[c], rate[cell_voter[c]]] += cell_weight[c]
            now = np.sum(counts * log_p)
        elif it == 0:
            counts[:, 0] = weight
            now = _log_likelihood(
                g, left, right, value, side, counts, bias, margin, rates, leans, side_chance, tie_chance
            )
        scale = np.exp(t)
        # -- scores: an elliptical slice around N(centre, spread spreadᵀ)
        w = factor.T @ (v - centre)
        turn = rng.standard_normal(m)
        dv, dg = spread @ turn, basis @ turn
        offset, offset_g = v - centre, g - f0
        cc, co, cd = centre @ centre, centre @ offset, centre @ dv
        oo, od, dd = offset @ offset, offset @ dv, dv @ dv
        ww, wt, tt = w @ w, w @ turn, turn @ turn
        level = now - 0.5 * (cc + 2.0 * co + oo) + 0.5 * ww + np.log(rng.random())
        angle = rng.random() * 2.0 * np.pi
        low, high = angle - 2.0 * np.pi, angle
        for _ in range(60):
            c, s = np.cos(angle), np.sin(angle)
            moved_g = f0 + c * offset_g + s * dg
            then = _log_likelihood(
                scale * moved_g, left, right, value, side, counts, bias, margin, rates, leans, side_chance, tie_chance
            )
            norm_v = cc + 2.0 * (c * co + s * cd) + c * c * oo + 2.0 * c * s * od + s * s * dd
            norm_w = c * c * ww + 2.0 * c * s * wt + s * s * tt
            if then - 0.5 * norm_v + 0.5 * norm_w >= level:
                v = centre + c * offset + s * dv
                g, now = moved_g, then
                break
            if angle < 0.0:
                low = angle
            else:
                high = angle
            angle = low + rng.random() * (high - low)
        if learn_scale:
            # -- the scale together with the scores: f = e^t A v moves
            to = t + step_t * rng.standard_normal()
            then = _log_likelihood(
                np.exp(to) * g, left, right, value, side, counts, bias, margin, rates, leans, side_chance, tie_chance
            )
            here, there = log_variance + 2.0 * t, log_variance + 2.0 * to
            ratio = then - now + 0.5 * (here * here - there * there) / _PRIOR_SD**2
            if np.log(rng.random()) < ratio:
                t, now = to, then
            # -- the scale against the scores: f stays, v shrinks as e^t grows
            norm, shift = v @ v, 0.0
            for _ in range(_SCALE_MOVES):
                d = shift + 2.0 / np.sqrt(m) * rng.standard_normal()
                ratio = 0.5 * norm * (np.exp(-2.0 * shift) - np.exp(-2.0 * d)) - m * (d - shift)
                here, there = log_variance + 2.0 * (t + shift), log_variance + 2.0 * (t + d)
                ratio += 0.5 * (here * here - there * there) / _PRIOR_SD**2
                if np.log(rng.random()) < ratio:
                    shift = d
            t += shift
            v *= np.exp(-shift)
            g *= np.exp(-shift)
        if learn_bias:
            to = bias + step_bias * rng.standard_normal()
            then = _log_likelihood(
                np.exp(t) * g, left, right, value, side, counts, to, margin, rates, leans, side_chance, tie_chance
            )
            if np.log(rng.random()) < then - now + 0.5 * (bias**2 - to**2):
                bias, now = to, then
        if learn_margin:
            to = abs(margin + step_margin * rng.standard_normal())
            then = _log_likelihood(
                np.exp(t) * g, left, right, value, side, counts, bias, to, rates, leans, side_chance, tie_chance
            )
            if np.log(rng.random()) < then - now + margin - to:
                margin, now = to, then
        if it >= burn_in and (it - burn_in) % thin == 0:
            place = (it - burn_in) // thin
            out_v[place], out_scale[place] = np.exp(t) * v, np.exp(t)
            out_habits[place] = rate
            out_bias[place], out_margin[place] = bias, margin
    return out_v, out_scale, out_habits, out_bias, out_margin


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
    thin: int = 2,
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
        Without them the rates that ``votes`` carry are kept.
    log_variance : float
        Logarithm of the variance of the scores at the kernel's parameters, which the scale multiplies.
    learn_scale, learn_bias : bool
    n_draws, burn_in, thin : int
        Draws that are kept, steps before the first of them, and steps from one to the next.
    """
    m = posterior.mean.size
    spread = np.sqrt(_WIDER) * solve_lower(posterior.factor, np.eye(m), transposed=True)
    ballots = votes.ballots
    if voters is None or (voters.voter < 0).any():
        none: IntArray = np.zeros(0, dtype=np.int64)
        cells: tuple[IntArray, IntArray, FloatArray] = (none, none, np.zeros(0))
        rates: FloatArray = np.zeros(1)
        leans: FloatArray = np.zeros(1)
        prior: FloatArray = np.ones(1)
        n_voters, first = 0, none
    else:
        rates, leans = np.array(likelihood.rates), likelihood.own_leans
        cells = (voters.voter, voters.row, voters.weight)
        n_voters, prior = len(voters.belief), voters.prior
        first = np.argmax(voters.belief, axis=1)
    found = _chain(
        rng, n_draws, burn_in, thin, np.ascontiguousarray(design), np.ascontiguousarray(spread),
        np.ascontiguousarray(posterior.factor / np.sqrt(_WIDER)), posterior.mean, votes.left, votes.right,
        ballots.value, ballots.side, votes.weight, cells[0], cells[1], cells[2], n_voters, first, rates, leans, prior,
        likelihood.side_chance, likelihood.tie_chance, likelihood.bias, likelihood.margin, learn_bias,
        likelihood.margin > 0.0, learn_scale, log_variance,
    )  # fmt: skip
    return Draws(*found)
