"""Hyper-parameters of a Gaussian process over items, by the evidence lower bound of the votes.

With the sites held fixed the bound has a closed form and a closed-form gradient that hardly depends on the number of
votes. :func:`fit` alternates: sites, then the voters and the likelihood, then a few steps of L-BFGS on the logarithms
of variances and length-scales, which remembers the curvature from one alternation to the next.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import cholesky, inverse_from_cholesky
from accord.fitting.optimise import Loss
from accord.fitting.quasi_newton import Curvature, minimise_boxed
from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Preference
from accord.pairs.process.posterior import (
    Marks,
    Posterior,
    Prepared,
    Prior,
    Sites,
    Votes,
    infer,
    item_sites,
    jittered,
    make_prior,
    prepare,
    solve_lower,
    start_sites,
    sum_by,
    whitened_update,
)
from accord.pairs.voters import Voters
from accord.typing import BoolArray, FloatArray

__all__ = ["Fit", "Shrinkage", "evidence_loss", "fit", "gamma_scale"]

# How little is taken to be known of the level of all scores, as a share of what votes say of an item.
_LEVEL = 1e-7
# Log variances and log length-scales stay within so much of the base scales.
_FARTHEST = 9.0
# From which step on the published inference may stop.
_LEAST_PUBLISHED = 5
# How often scores and voters are learnt in turn before the hyper-parameters move.
_VOTER_ROUNDS = 3


@dataclass(frozen=True)
class Shrinkage:
    """Log-normal priors around the base scales: standard deviations of log variances and log length-scales."""

    variance: float = 2.0
    length: float = 1.0

    def penalty(self, theta: FloatArray, is_variance: BoolArray) -> tuple[float, FloatArray]:
        """Minus the log prior and its gradient."""
        precision = np.where(is_variance, self.variance, self.length) ** -2.0
        return 0.5 * float(precision @ theta**2), precision * theta


@dataclass(frozen=True, eq=False)
class Fit:
    """Everything that was learnt: parameters, likelihood, voters, and the posterior that goes with them."""

    theta: FloatArray
    likelihood: Preference
    scores: Marks | None
    voters: Voters | None
    votes: Votes
    prior: Prior
    posterior: Posterior
    convergence: Convergence


class _State(NamedTuple):
    """Where the alternation of :func:`fit` stands."""

    theta: FloatArray
    sites: Sites
    likelihood: Preference
    marks: Marks | None
    voters: Voters | None
    votes: Votes
    reached: float  # the bound
    best: FloatArray  # the last θ that raised it
    curvature: Curvature  # of the bound by θ
    n_steps: int = 0  # counted for the published inference


def evidence_loss(
    kernel: Kernel,
    prepared: Prepared,
    votes: Votes,
    sites: Sites,
    scores: Marks | None = None,
    *,
    jitter: float = 1e-6,
    shrinkage: Shrinkage | None = None,
) -> Loss:
    """Minus the bound at fixed sites (up to a constant) with its gradient, as a function of θ."""
    bound, is_variance = (_exact_bound if prepared.cross is None else _inducing_bound), kernel.is_variance
    at = bound(prepared, votes, sites, scores, jitter)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = at(theta)
        if shrinkage is None:
            return -value, -gradient
        penalty, slope = shrinkage.penalty(theta, is_variance)
        return penalty - value, slope - gradient

    return loss


def _exact_bound(prepared: Prepared, votes: Votes, sites: Sites, scores: Marks | None, jitter: float) -> Loss:
    """The bound where the items are their own inducing points.

    All sites together are one noisy observation y = f + e of the scores, e ~ N(0, S) with S = T₂⁻¹ and y = S T₁, so
    that a step needs no more than y ~ N(0, K + S). Votes say nothing of the common level of the scores: T₂ is singular,
    and S very large along that level.
    """
    items = prepared.points
    precision, shift = item_sites(votes, sites, scores)
    factor = cholesky(jittered(precision.toarray(), _LEVEL))
    noise, target = inverse_from_cholesky(factor), scipy.linalg.cho_solve((factor, True), shift, check_finite=False)
    constant = 0.5 * float(shift @ target) - float(np.log(np.diag(factor)).sum())

    def bound(theta: FloatArray) -> tuple[float, FloatArray]:
        total = jittered(items.value(theta), jitter)
        total += noise
        root = cholesky(total)
        inverse = inverse_from_cholesky(root)
        alpha = inverse @ target
        value = constant - 0.5 * float(target @ alpha) - float(np.log(np.diag(root)).sum())
        # ∂/∂K = ½ (α αᵀ − (K + S)⁻¹)
        weights = np.outer(0.5 * alpha, alpha)
        weights -= 0.5 * inverse
        return value, items.gradient(theta, _through_jitter(weights, jitter))

    return bound


def _inducing_bound(prepared: Prepared, votes: Votes, sites: Sites, scores: Marks | None, jitter: float) -> Loss:
    """The bound with inducing points, which leave some of the scores' variance unexplained."""
    items, cross, own, between = prepared.points, prepared.cross, prepared.own, prepared.between
    assert cross is not None  # the three come together
    assert own is not None
    assert between is not None
    w = sites.precision
    precision, shift = item_sites(votes, sites, scores)
    own_weight = sum_by(votes.left, w, votes.n_items) + sum_by(votes.right, w, votes.n_items)
    if scores is not None:
        own_weight += scores.slope**2 / scores.noise * np.bincount(scores.item, minlength=votes.n_items)

    def bound(theta: FloatArray) -> tuple[float, FloatArray]:
        root = cholesky(jittered(items.value(theta), jitter))
        design = np.ascontiguousarray(solve_lower(root, cross.value(theta).T).T)
        weighted = precision @ design
        mean, factor = whitened_update(design, weighted, shift)
        carried = float(np.vdot(design, weighted))
        trace = float(own_weight @ own.value(theta)) - 2.0 * float(w @ between.value(theta)) - carried
        value = 0.5 * float(shift @ (design @ mean)) - float(np.log(np.diag(factor)).sum()) - 0.5 * trace
        # ∂/∂A = T₁ mᵀ − T₂ A M, M = m mᵀ + C⁻¹ − I; with C m = Aᵀ T₁ and Aᵀ T₂ A = C − I that makes
        # Aᵀ ∂/∂A = M + C − I
        moment = inverse_from_cholesky(factor)
        moment += np.outer(mean, mean)
        moment[np.diag_indices_from(moment)] -= 1.0
        to_cross = np.outer(shift, solve_lower(root, mean, transposed=True))
        to_cross -= weighted @ solve_lower(root, moment, transposed=True).T
        moment += factor @ factor.T
        moment[np.diag_indices_from(moment)] -= 1.0
        inner = solve_lower(root, moment, transposed=True)
        to_items = -0.5 * solve_lower(root, inner.T, transposed=True)
        gradient = cross.gradient(theta, to_cross) + items.gradient(theta, _through_jitter(to_items, jitter))
        gradient += own.gradient(theta, -0.5 * own_weight) + between.gradient(theta, w)
        return value, gradient

    return bound


def _through_jitter(weights: FloatArray, jitter: float) -> FloatArray:
    """Weights of the entries of K from those of K with jitter, which is a share of its mean diagonal; in place."""
    weights[np.diag_indices_from(weights)] += jitter * float(np.trace(weights)) / max(len(weights), 1)
    return weights


def _log_gamma(log_scale: float, shape: float, rate: float) -> float:
    """Log density of log s where 1/s ~ Gamma(shape, rate), up to a constant."""
    return -shape * log_scale - rate * float(np.exp(-log_scale))


def gamma_scale(
    theta: FloatArray,
    is_variance: BoolArray,
    posterior: Posterior,
    prior: Prior,
    votes: Votes,
    shape: float,
    rate: float,
) -> FloatArray:
    """θ with one common variance s moved to its variational mean, 1/s ~ Gamma(shape, rate) ([SG18] section 5)."""
    size = posterior.mean.size
    carried = posterior.vote_variance - prior.residual
    trace = size - float(posterior.sites.precision @ carried)  # tr C⁻¹
    # fᵀ K⁻¹ f = s · vᵀ v with s inside the whitened process
    scale = float(np.exp(theta[is_variance].mean()))
    quadratic = scale * (float(posterior.mean @ posterior.mean) + trace)
    wanted = (rate + 0.5 * quadratic) / (shape + 0.5 * size)
    moved = theta.copy()
    moved[is_variance] += np.log(wanted / scale)
    return moved


def fit(
    kernel: Kernel,
    x: Inputs,
    z: Inputs | None,
    votes: Votes,
    *,
    start: FloatArray,
    likelihood: Preference,
    learn: str = "mlii",
    learn_bias: bool = False,
    scores: Marks | None = None,
    voters: Voters | None = None,
    sites: Sites | None = None,
    method: str = "auto",
    shrinkage: Shrinkage | None = None,
    gamma: tuple[float, float] = (2.0, 200.0),
    max_outer: int = 12,
    inner_iter: int = 6,
    tol: float = 1e-3,
    max_iter: int = 50,
    bound_tol: float = 0.02,
) -> Fit:
    """Learn what is to be learnt and infer the scores.

    Parameters
    ----------
    kernel, x, z, votes, scores, sites, method
        As in :func:`~accord.pairs.process.posterior.infer`.
    start : array of shape (n_parameters,)
        Where θ starts, and stays if ``learn`` is ``"fixed"``.
    learn : {"mlii", "gamma", "fixed"}
        All of θ by the bound; one common variance by its Gamma prior; nothing. With the published linearisation
        (``method="variational"``) all is as in the authors' program: the variance starts at the prior's, no step is
        taken back, and from the fifth step on the first that does not raise the bound, or hardly, is the last one.
    learn_bias : bool
        Also learn the position bias. A margin is learnt whenever the likelihood has one.
    voters : Voters, optional
        Learn each voter's rate of random answers.
    max_outer, inner_iter, tol
        Most alternations, L-BFGS steps in each, and the relative change of the bound at which they stop. (Length-scales
        of features that do not matter drift for ever; the bound stands still.)
    max_iter, bound_tol
        Limits of the last inference.
    """
    is_variance = kernel.is_variance
    prepared = prepare(kernel, x, z, votes)
    margin = likelihood.margin > 0.0
    # The published linearisation follows another bound than this one, which falls while the variance settles.
    guarded = method != "variational"
    if learn == "gamma" and not guarded:
        start = start + np.where(is_variance, np.log(gamma[1] / gamma[0]) - start[is_variance].mean(), 0.0)

    first: list[Prior] = []

    def prior_at(theta: FloatArray, counted: Votes, marks: Marks | None) -> Prior:
        if learn != "gamma":
            return make_prior(prepared, theta, counted, marks)
        if not first:
            first.append(make_prior(prepared, start, counted, marks))
        return first[0].scaled(float(np.exp((theta - start)[is_variance][0])))  # only the common variance moves

    def step(state: _State) -> _State:
        theta, now, like, marks, people, counted, reached, best, curvature, _ = state
        prior = prior_at(theta, counted, marks)
        rounds = _VOTER_ROUNDS if people is not None else 1
        known: Posterior | None = None
        for _ in range(rounds):
            known = posterior = infer(
                prior, counted, like, method=method, scores=marks, sites=now, known=known, max_iter=3, tol=bound_tol
            )
            now = posterior.sites
            if people is not None:
                before, people = people, people.update(like, posterior.vote_mean, posterior.vote_variance, counted)
                counted = replace(counted, ballots=replace(counted.ballots, share=people.row_shares()))
                if float(np.abs(people.belief - before.belief).mean()) < tol:
                    break
        if learn_bias or margin:
            like = like.refit(
                posterior.vote_mean,
                posterior.vote_variance,
                counted.ballots,
                counted.weight,
                bias=learn_bias,
                margin=margin,
            )
        if marks is not None:
            marks = marks.refit(posterior.score_mean, posterior.score_variance)
        if learn == "mlii":
            moved = _State(theta, now, like, marks, people, counted, posterior.bound, best, curvature)
            if change(state, moved) <= tol:
                return moved  # the last search had nothing more to find, nor would another
            loss = evidence_loss(kernel, prepared, counted, now, marks, shrinkage=shrinkage)
            found, curvature = minimise_boxed(
                loss, theta, low=-_FARTHEST, high=_FARTHEST, curvature=curvature, max_iter=inner_iter, tol=1e-3
            )
            theta = found.weights
        elif learn == "gamma":
            objective = posterior.bound + _log_gamma(theta[is_variance].mean(), *gamma)
            if guarded and objective < reached - 1e-6 * abs(reached):
                # The update knows the inducing points only; where it went too far for the items, go half the way back.
                return state._replace(
                    theta=0.5 * (theta + best), sites=now, likelihood=like, marks=marks, voters=people, votes=counted
                )
            best, theta = theta, gamma_scale(theta, is_variance, posterior, prior, counted, *gamma)
            if not guarded:
                best = theta
            return _State(theta, now, like, marks, people, counted, objective, best, curvature, state.n_steps + 1)
        return _State(theta, now, like, marks, people, counted, posterior.bound, best, curvature)

    def change(old: _State, new: _State) -> float:
        if learn == "gamma" and not guarded:
            if new.n_steps < _LEAST_PUBLISHED:
                return np.inf
            return max(0.0, (new.reached - old.reached) / max(1.0, abs(new.reached)))
        moved = [abs(new.likelihood.bias - old.likelihood.bias)]
        if margin:
            moved.append(abs(new.likelihood.margin - old.likelihood.margin))
        if new.marks is not None and old.marks is not None:
            moved.append(abs(np.log(new.marks.slope / old.marks.slope)))
            moved.append(abs(np.log(new.marks.noise / old.marks.noise)))
        if new.voters is not None and old.voters is not None:
            moved.append(float(np.abs(new.voters.belief - old.voters.belief).mean()))
        # A hundredth of a unit in the likelihood's own parameters counts like a thousandth of the bound.
        if learn == "gamma":
            moved.append(float(np.abs(new.theta - old.theta).max()))
        return max(0.1 * max(moved), abs(new.reached - old.reached) / max(1.0, abs(new.reached)))

    sites = start_sites(votes) if sites is None else sites
    state = _State(start, sites, likelihood, scores, voters, votes, -np.inf, start, Curvature())
    convergence = Convergence(True, 0, 0.0)
    if learn != "fixed" or learn_bias or margin or scores is not None or voters is not None:
        state, convergence = iterate(step, state, max_iter=max_outer, tol=tol, change=change)
    theta = state.best if learn == "gamma" else state.theta
    like, marks, counted = state.likelihood, state.marks, state.votes
    prior = prior_at(theta, counted, marks)
    posterior = infer(
        prior, counted, like, method=method, scores=marks, sites=state.sites, max_iter=max_iter, tol=bound_tol
    )
    return Fit(theta, like, marks, state.voters, counted, prior, posterior, convergence)
