"""What each voter prefers: the consensus, more or less strongly, plus a few tastes that voters have in other amounts.

Of voter p the difference of two texts is

    z_p = Σ_c v_pc (w_c,left − w_c,right),   c = 0 … C,

where w_0 is the consensus, v_p0 ~ N(1, α_0), and the tastes w_c come with amounts v_pc ~ N(0, α_c) [SG20]. All w are
draws of one Gaussian process, w_c = A u_c, u_c ~ N(0, I). The posterior is approximated by independent Gaussians q(v_p)
and q(u_c), which are updated in turn against Gaussian sites of the votes; the sites are those of the model without
tastes (:mod:`~accord.pairs.process.posterior`), at the mean and variance of z_p. The variances α are learnt by the
fixed point of [M92], so that tastes which nobody has fade to nothing. A sweep is linear in votes and in voters.

Voters with an opposite taste and voters who answer at random both contradict the consensus. Where rates of random
answers are learnt, the updates start twice: from what the model without tastes believes of each voter, and from voters
who all attend until the tastes have formed. The fit with the higher bound on the log evidence counts.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import cholesky
from accord.pairs.process.likelihoods import Preference, expectation
from accord.pairs.process.posterior import Sites, Votes, item_sites, pair_dots, solve_lower, sum_by
from accord.pairs.voters import Voters
from accord.typing import FloatArray, IntArray

__all__ = ["Component", "PersonalFit", "fit_personal", "moments", "taste_basis"]

_LEAST_CURVE, _LEAST_VARIANCE = 1e-6, 1e-6
_FIRST_TASTE, _FIRST_STRENGTH = 0.3, 0.1  # α before anything is learnt
_LEAST_SPREAD = 1e-6  # α of a taste that nobody has
_SHORTER, _LEAST_STEP = 0.7, 0.1  # of the steps of sites
_ATTENDING = 20  # sweeps in which all voters are taken to attend, at the second start


@dataclass(frozen=True, eq=False)
class Component:
    """The consensus or one taste, w = A u with q(u) = N(mean, (factor factorᵀ)⁻¹)."""

    mean: FloatArray  # (m,)
    factor: FloatArray  # (m, m)

    def differences(self, design: FloatArray, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of w_left − w_right under the design A of all items, each of shape (n_pairs,)."""
        value, half = design @ self.mean, np.ascontiguousarray(solve_lower(self.factor, design.T).T)
        item = np.einsum("ij,ij->i", half, half)
        variance = item[left] + item[right] - 2.0 * pair_dots(half, left, right)
        return value[left] - value[right], np.maximum(variance, 0.0)

    def draw(self, design: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws of w, shape (n_draws, n_items)."""
        noise = solve_lower(self.factor, rng.standard_normal((self.mean.size, n_draws)), transposed=True)
        return np.asarray((design @ (self.mean[:, None] + noise)).T)


@dataclass(frozen=True, eq=False)
class PersonalFit:
    """The posterior of consensus, tastes and amounts."""

    components: tuple[Component, ...]  # the consensus, then tastes
    amounts: FloatArray  # (n_voters, 1 + n_tastes) means of v
    covariance: FloatArray  # (n_voters, 1 + n_tastes, 1 + n_tastes)
    spread: FloatArray  # (1 + n_tastes,) α
    likelihood: Preference
    voters: Voters | None
    convergence: Convergence


def taste_basis(design: FloatArray, votes: Votes, size: int) -> FloatArray:
    """The directions of the process that votes see most of, shape (m, size): few that stand for all."""
    if design.shape[1] <= size:
        return np.eye(design.shape[1])
    seen = np.bincount(np.concatenate([votes.left, votes.right]), minlength=votes.n_items)
    _, vectors = np.linalg.eigh(design.T @ (seen[:, None] * design))
    return np.ascontiguousarray(vectors[:, ::-1][:, :size])


def moments(
    amounts: FloatArray, covariance: FloatArray, mean: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of Σ_c v_c d_c for independent v and d, each of shape (n_rows,).

    Parameters
    ----------
    amounts, covariance : arrays of shape (n_rows, k) and (n_rows, k, k)
        Of v.
    mean, variance : arrays of shape (n_rows, k)
        Of the differences d, which are independent of each other.
    """
    of_amounts = np.einsum("ic,icd,id->i", mean, covariance, mean)
    of_texts = np.einsum("ic,ic->i", amounts**2 + np.einsum("icc->ic", covariance), variance)
    return np.einsum("ic,ic->i", amounts, mean), np.maximum(of_amounts + of_texts, _LEAST_VARIANCE)


def _component(design: FloatArray, votes: Votes, sites: Sites) -> Component:
    """q(u) of one component, given the sites of the votes in it."""
    precision, pull = item_sites(votes, sites, None)
    c = design.T @ (precision @ design)
    c[np.diag_indices_from(c)] += 1.0
    factor = cholesky(c)
    return Component(scipy.linalg.cho_solve((factor, True), design.T @ pull, check_finite=False), factor)


def _amounts(
    voter: IntArray, n_voters: int, sites: Sites, mean: FloatArray, variance: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """q(v) of every voter: means and covariances."""
    k = mean.shape[1]
    precision = np.zeros((n_voters, k, k))
    pull = np.zeros((n_voters, k))
    for a in range(k):
        for b in range(a, k):
            both = mean[:, a] * mean[:, b] + (variance[:, a] if a == b else 0.0)
            precision[:, a, b] = precision[:, b, a] = sum_by(voter, sites.precision * both, n_voters)
        precision[:, a, a] += 1.0 / spread[a]
        pull[:, a] = sum_by(voter, sites.shift * mean[:, a], n_voters)
    pull[:, 0] += 1.0 / spread[0]
    covariance = np.linalg.inv(precision)
    return np.einsum("pab,pb->pa", covariance, pull), covariance


def _first_tastes(
    design: FloatArray, votes: Votes, voter: IntArray, n_voters: int, slope: FloatArray, n_tastes: int
) -> FloatArray:
    """Where the residuals of voters go together: first singular vectors of voters × directions, (m, n_tastes)."""
    rows, columns = np.concatenate([voter, voter]), np.concatenate([votes.left, votes.right])
    table = sp.csr_array((np.concatenate([slope, -slope]), (rows, columns)), shape=(n_voters, votes.n_items))
    root = np.sqrt(np.maximum(np.bincount(voter, minlength=n_voters), 1.0))
    pulls = (table @ design) / root[:, None]
    _, vectors = np.linalg.eigh(pulls.T @ pulls)
    return np.asarray(vectors[:, ::-1][:, :n_tastes] * np.sqrt(design.shape[1]))


def _spread(amounts: FloatArray, covariance: FloatArray, spread: FloatArray) -> FloatArray:
    """α after a step of the fixed point: squares of the amounts over what was learnt of them."""
    centred = amounts.copy()
    centred[:, 0] -= 1.0
    known = np.sum(1.0 - np.einsum("pcc->pc", covariance) / spread, axis=0)
    found = (centred**2).sum(axis=0) / np.maximum(known, 1e-3)
    return np.clip(found, _LEAST_SPREAD, 10.0)


@dataclass(frozen=True, eq=False)
class _State:
    """Between two sweeps."""

    votes: Votes
    voters: Voters | None
    likelihood: Preference
    components: tuple[Component, ...]
    mean: FloatArray  # (n_votes, 1 + n_tastes) of the difference of each component
    variance: FloatArray  # (n_votes, 1 + n_tastes)
    amounts: FloatArray
    covariance: FloatArray
    spread: FloatArray
    z: FloatArray  # (n_votes,)
    sites: Sites | None = None  # of the votes, from the last sweep
    moved: float = np.inf  # mean change of z in it
    step: float = 1.0  # how far sites go towards their new values


def fit_personal(
    design: FloatArray,
    basis: FloatArray,
    votes: Votes,
    voter: IntArray,
    n_voters: int,
    start: Component,
    likelihood: Preference,
    voters: Voters | None,
    *,
    residual: FloatArray,
    n_tastes: int,
    max_iter: int = 60,
    tol: float = 2e-3,
) -> PersonalFit:
    """Fit consensus, tastes and amounts.

    Parameters
    ----------
    design : array of shape (n_items, m)
        The whitened process A.
    basis : array of shape (m, d)
        The directions of it that tastes may have.
    votes : Votes
        One row a vote.
    voter : int array of shape (n_votes,)
    start : Component
        The consensus without tastes, with its likelihood and voters.
    residual : array of shape (n_votes,)
        Variance of the consensus's difference that A does not carry.
    n_tastes : int
    max_iter, tol
        Most sweeps, and the mean change of z between two sweeps at which they stop.
    """
    k, left, right = 1 + n_tastes, votes.left, votes.right
    designs = [design] + [design @ basis] * n_tastes

    def sweep(state: _State, *, attending: bool = False) -> _State:
        votes, voters, likelihood = state.votes, state.voters, state.likelihood
        z, noise = moments(state.amounts[voter], state.covariance[voter], state.mean, state.variance)
        if voters is not None and not attending:
            voters = voters.update(likelihood, z, noise, votes)
            votes = replace(votes, ballots=replace(votes.ballots, share=voters.row_shares()))
        _, slope, curve = expectation(likelihood, z, noise, votes.ballots)
        curve = np.maximum(curve, _LEAST_CURVE)
        moved = float(np.mean(np.abs(z - state.z)))
        # Large differences make whole steps swing around their goal; they become shorter when z moves more than before.
        step = max(_SHORTER * state.step, _LEAST_STEP) if moved > state.moved else state.step
        sites = Sites(votes.weight * curve, votes.weight * (slope + curve * z))
        if state.sites is not None and step < 1.0:
            sites = Sites(
                step * sites.precision + (1.0 - step) * state.sites.precision,
                step * sites.shift + (1.0 - step) * state.sites.shift,
            )
        amounts, covariance = _amounts(voter, n_voters, sites, state.mean, state.variance, state.spread)
        own, second = amounts[voter], covariance[voter]
        components, mean, variance = [], state.mean.copy(), state.variance.copy()
        for c in range(k):
            both = second[:, c, :] + own[:, [c]] * own  # E v_c v_d
            rest = np.einsum("id,id->i", both, mean) - both[:, c] * mean[:, c]
            part = Sites(sites.precision * both[:, c], sites.shift * own[:, c] - sites.precision * rest)
            components.append(_component(designs[c], votes, part))
            mean[:, c], variance[:, c] = components[c].differences(designs[c], left, right)
        variance[:, 0] += residual
        if likelihood.margin > 0.0:
            likelihood = likelihood.refit(z, noise, votes.ballots, votes.weight, bias=False, margin=True)
        spread = _spread(amounts, covariance, state.spread)
        return _State(
            votes, voters, likelihood, tuple(components), mean, variance, amounts, covariance, spread, z, sites, moved,
            step,
        )  # fmt: skip

    mean, variance = np.zeros((left.size, k)), np.zeros((left.size, k))
    mean[:, 0], carried = start.differences(design, left, right)
    variance[:, 0] = carried + residual
    if n_tastes:
        slope = expectation(likelihood, mean[:, 0], variance[:, 0], votes.ballots)[1]
        first = designs[1] @ _first_tastes(designs[1], votes, voter, n_voters, slope, n_tastes)
        mean[:, 1:] = first[left] - first[right]
    amounts, spread = np.zeros((n_voters, k)), np.full(k, _FIRST_TASTE)
    amounts[:, 0], spread[0] = 1.0, _FIRST_STRENGTH
    none = np.zeros((n_voters, k, k))
    begin = _State(
        votes, voters, likelihood, (start,) * k, mean, variance, amounts, none, spread, np.full(left.size, np.inf)
    )

    def change(old: _State, new: _State) -> float:
        return float(np.mean(np.abs(new.z - old.z)))

    found = [iterate(sweep, begin, max_iter=max_iter, tol=tol, change=change)]
    if voters is not None and n_tastes:
        attending, _ = iterate(
            lambda state: sweep(state, attending=True),
            begin,
            max_iter=min(_ATTENDING, max_iter),
            tol=tol,
            change=change,
        )
        found.append(iterate(sweep, attending, max_iter=max_iter, tol=tol, change=change))
    last, convergence = max(found, key=lambda pair: _bound(pair[0], voter))
    return PersonalFit(
        last.components, last.amounts, last.covariance, last.spread, last.likelihood, last.voters, convergence
    )


def _bound(state: _State, voter: IntArray) -> float:
    """The variational lower bound on the log evidence, but for what is the same at every start."""
    z, noise = moments(state.amounts[voter], state.covariance[voter], state.mean, state.variance)
    log_p, _, _ = expectation(state.likelihood, z, noise, state.votes.ballots)
    total = float(state.votes.weight @ log_p) - state.likelihood.margin
    for each in state.components:  # KL(q(u) ‖ N(0, I))
        inverse = solve_lower(each.factor, np.eye(each.mean.size))
        total -= 0.5 * float(np.sum(inverse**2) + each.mean @ each.mean - each.mean.size)
        total -= float(np.log(np.diag(each.factor)).sum())
    centred = state.amounts.copy()
    centred[:, 0] -= 1.0
    squares = (centred**2 + np.einsum("pcc->pc", state.covariance)) / state.spread
    volume = np.linalg.slogdet(state.covariance)[1] - np.log(state.spread).sum()
    total -= 0.5 * float(np.sum(squares - 1.0) - volume.sum())  # KL(q(v) ‖ N((1, 0 …), α))
    if state.voters is not None:
        belief, shares = state.voters.belief, state.voters.shares
        total -= float(np.sum(belief * np.log(np.maximum(belief, 1e-300) / shares)))
        total += float(state.voters.prior @ np.log(shares))
    return total
