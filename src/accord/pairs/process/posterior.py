"""Posterior over the scores of items, given votes between them.

f ~ GP(0, K), votes on differences f_i − f_j, absolute scores on f_i. Every vote is replaced by a Gaussian site; all
sites together are one sparse weighted Laplacian T₂ over the items and one vector T₁, so that the number of votes hardly
matters:

    q(f) ∝ N(f; 0, K) exp(−½ fᵀ T₂ f + T₁ᵀ f)

Inducing points z carry the process in whitened form: f = A v, A = K_xz L⁻ᵀ, K_zz = L Lᵀ, v ~ N(0, I), so that
q(v) = N(m, C⁻¹) with C = I + Aᵀ T₂ A. With the items themselves as inducing points A = L and nothing is approximated.
No covariance is ever inverted.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numba import njit

from accord.engines.convergence import Convergence, iterate
from accord.engines.numerics import cholesky
from accord.pairs.process.kernels import Block, Inputs, Kernel
from accord.pairs.process.likelihoods import LINEARISATIONS, Ballots, Preference
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Marks",
    "Posterior",
    "Prepared",
    "Prior",
    "Sites",
    "Votes",
    "infer",
    "item_sites",
    "jittered",
    "make_prior",
    "pair_dots",
    "prepare",
    "solve_lower",
    "start_sites",
    "sum_by",
    "whitened_update",
]

_SMALL, _LEAST_CURVE = 1e-10, 1e-6
# Columns of a symmetric product that are computed together.
_BLOCK = 128


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes between items, as positions; equal votes may be collapsed into one row with their summed weight."""

    left: IntArray  # (n_votes,)
    right: IntArray  # (n_votes,)
    ballots: Ballots
    weight: FloatArray  # (n_votes,)
    n_items: int

    def followed_by(self, more: "Votes") -> "Votes":
        """These votes and then ``more`` between the same items."""
        return Votes(
            np.append(self.left, more.left),
            np.append(self.right, more.right),
            self.ballots.followed_by(more.ballots),
            np.append(self.weight, more.weight),
            self.n_items,
        )

    def take(self, rows: IntArray | BoolArray) -> "Votes":
        """Some of the votes; the items stay."""
        return Votes(self.left[rows], self.right[rows], self.ballots.take(rows), self.weight[rows], self.n_items)

    def between(self, items: IntArray) -> "Votes":
        """The votes between the items at some positions (sorted), renumbered."""
        part = self.take(np.isin(self.left, items) & np.isin(self.right, items))
        left, right = np.searchsorted(items, part.left), np.searchsorted(items, part.right)
        return replace(part, left=left, right=right, n_items=items.size)


@dataclass(frozen=True, eq=False)
class Marks:
    """Absolute scores: score = offset + slope · f_item + noise."""

    item: IntArray  # (n_scores,)
    value: FloatArray  # (n_scores,)
    offset: float = 0.0
    slope: float = 1.0
    noise: float = 1.0  # variance

    def refit(self, mean: FloatArray, variance: FloatArray) -> "Marks":
        """Offset, slope and noise that fit the scores best under f_item ~ N(mean, variance).

        A slope that would turn the votes upside down is held at a small positive number.
        """
        centred = mean - mean.mean()
        spread = float(centred @ centred + variance.sum()) + _SMALL
        slope = max(float(centred @ self.value) / spread, 1e-3)
        offset = float(np.mean(self.value - slope * mean))
        residual = (self.value - offset - slope * mean) ** 2 + slope**2 * variance
        # Inverse-gamma prior worth two scores of variance 0.01.
        return replace(self, offset=offset, slope=slope, noise=float((residual.sum() + 0.02) / (self.value.size + 2.0)))


@dataclass(frozen=True, eq=False)
class Prior:
    """The process at some parameters, seen from the items: A, the factor of K_zz and what A leaves unexplained."""

    root: FloatArray  # (m, m) L
    design: FloatArray  # (n_items, m) A
    residual: FloatArray  # (n_votes,) variance of a vote's difference that A does not carry
    item_residual: FloatArray  # (n_scores,) the same for absolute scores

    def scaled(self, variance: float) -> "Prior":
        """The process times the square root of ``variance``."""
        root = np.sqrt(variance) * self.root
        exact = self.design is self.root
        design = root if exact else np.sqrt(variance) * self.design
        return Prior(root, design, variance * self.residual, variance * self.item_residual)


@dataclass(frozen=True, eq=False)
class Sites:
    """Gaussian sites of the votes: precision w and precision × target."""

    precision: FloatArray  # (n_votes,)
    shift: FloatArray  # (n_votes,)

    def followed_by(self, more: "Sites") -> "Sites":
        """These sites and then those of further votes."""
        return Sites(np.append(self.precision, more.precision), np.append(self.shift, more.shift))

    def after(self, n: int) -> "Sites":
        """The sites without the first ``n``."""
        return Sites(self.precision[n:], self.shift[n:])


@dataclass(frozen=True, eq=False)
class Posterior:
    """q(v) = N(mean, (factor factorᵀ)⁻¹) with the differences it implies for the votes."""

    mean: FloatArray  # (m,)
    factor: FloatArray  # (m, m) Cholesky factor of C
    sites: Sites
    vote_mean: FloatArray  # (n_votes,)
    vote_variance: FloatArray  # (n_votes,)
    score_mean: FloatArray  # (n_scores,)
    score_variance: FloatArray  # (n_scores,)
    bound: float
    convergence: Convergence


def solve_lower(root: FloatArray, right: FloatArray, *, transposed: bool = False) -> FloatArray:
    """L⁻¹ b, or L⁻ᵀ b."""
    return np.asarray(
        scipy.linalg.solve_triangular(root, right, lower=True, trans=1 if transposed else 0, check_finite=False)
    )


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def pair_dots(rows: FloatArray, a: IntArray, b: IntArray) -> FloatArray:
    """Inner products of rows a and b, shape (n_pairs,), without an (n_pairs, m) array."""
    out = np.empty(len(a))
    for k in range(len(a)):
        total = 0.0
        for d in range(rows.shape[1]):
            total += rows[a[k], d] * rows[b[k], d]
        out[k] = total
    return out


@dataclass(frozen=True, eq=False)
class Prepared:
    """The kernel between the items, votes and inducing points of one problem, ready for any θ."""

    points: Block  # between the inducing points (the items themselves if exact)
    cross: Block | None  # items × points
    own: Block | None  # every item with itself
    between: Block | None  # the two items of every vote


def prepare(kernel: Kernel, x: Inputs, z: Inputs | None, votes: Votes) -> Prepared:
    """Distances and inner products, computed once."""
    if z is None:
        return Prepared(kernel.block(x), None, None, None)
    pairs = kernel.block(x.take(votes.left), x.take(votes.right), paired=True)
    return Prepared(kernel.block(z), kernel.block(x, z), kernel.block(x, x, paired=True), pairs)


def make_prior(
    prepared: Prepared, theta: FloatArray, votes: Votes, scores: Marks | None = None, *, jitter: float = 1e-6
) -> Prior:
    """The whitened process at parameters ``theta``."""
    n_scores = 0 if scores is None else scores.item.size
    root = cholesky(jittered(prepared.points.value(theta), jitter))
    if prepared.cross is None or prepared.own is None or prepared.between is None:
        return Prior(root, root, np.zeros(votes.left.size), np.zeros(n_scores))
    design = np.ascontiguousarray(solve_lower(root, prepared.cross.value(theta).T).T)
    left = np.maximum(prepared.own.value(theta) - np.einsum("ij,ij->i", design, design), 0.0)
    cross = prepared.between.value(theta) - pair_dots(design, votes.left, votes.right)
    residual = np.maximum(left[votes.left] + left[votes.right] - 2.0 * cross, 0.0)
    return Prior(root, design, residual, left[scores.item] if scores is not None else np.zeros(0))


def jittered(gram: FloatArray, jitter: float) -> FloatArray:
    """The matrix with a little, relative to its mean diagonal, added to the diagonal."""
    gram = gram.copy()
    gram[np.diag_indices_from(gram)] += jitter * float(np.mean(np.diag(gram))) if gram.size else 0.0
    return gram


def sum_by(index: IntArray, weight: FloatArray, n: int) -> FloatArray:
    """Sums of ``weight`` by ``index``, shape (n,)."""
    return np.bincount(index, weight, n).astype(np.float64)


def item_sites(votes: Votes, sites: Sites, scores: Marks | None) -> tuple[sp.csr_array, FloatArray]:
    """All sites as one sparse precision T₂ over the items and one vector T₁."""
    a, b, n, w = votes.left, votes.right, votes.n_items, sites.precision
    diagonal = sum_by(a, w, n) + sum_by(b, w, n)
    shift = sum_by(a, sites.shift, n) - sum_by(b, sites.shift, n)
    if scores is not None:
        gain = scores.slope / scores.noise
        diagonal += scores.slope * gain * np.bincount(scores.item, minlength=n)
        shift += gain * sum_by(scores.item, scores.value - scores.offset, n)
    place = np.arange(n)
    rows, columns = np.concatenate([a, b, place]), np.concatenate([b, a, place])
    return sp.csr_array((np.concatenate([-w, -w, diagonal]), (rows, columns)), shape=(n, n)), shift


def start_sites(votes: Votes) -> Sites:
    """Sites of a vote between items of equal score."""
    # A voter who may answer at random says the less.
    attentive = votes.weight * votes.ballots.share[:, 0]
    return Sites(0.3 * attentive + 1e-6, 0.6 * attentive * (votes.ballots.value - 0.5))


def whitened_update(design: FloatArray, weighted: FloatArray, shift: FloatArray) -> tuple[FloatArray, FloatArray]:
    """m and the factor of C, from A, T₂ A and T₁."""
    m = design.shape[1]
    c = np.zeros((m, m))
    for first in range(0, m, _BLOCK):  # a factor needs no more than the lower triangle
        c[first:, first : first + _BLOCK] = design[:, first:].T @ weighted[:, first : first + _BLOCK]
    c[np.diag_indices_from(c)] += 1.0
    factor = cholesky(c)
    return scipy.linalg.cho_solve((factor, True), design.T @ shift, check_finite=False), factor


def infer(
    prior: Prior,
    votes: Votes,
    likelihood: Preference,
    *,
    method: str = "auto",
    scores: Marks | None = None,
    sites: Sites | None = None,
    known: Posterior | None = None,
    max_iter: int = 50,
    tol: float = 1e-4,
) -> Posterior:
    """Posterior by updates of the sites until the bound rises by less than ``tol`` nats.

    ``auto`` takes the conjugate (dual) natural-gradient step on the evidence lower bound and halves it whenever the
    bound would fall, so the bound never falls. ``laplace`` is Newton's method on the log posterior with the same guard.
    ``variational`` iterates the published linearisation, which follows no bound; it stops when the bound stands still.

    Parameters
    ----------
    prior : Prior
    votes : Votes
    likelihood : Preference
    method : {"auto", "variational", "laplace"}
    scores : Marks, optional
    sites : Sites, optional
        Where to start; a warm start makes a refit cheap.
    known : Posterior, optional
        The posterior of the same prior, votes and scores under another likelihood, to start from in place of ``sites``.
    max_iter : int
    tol : float
    """
    linearise, guarded = LINEARISATIONS[method], method != "variational"
    design, a, b = prior.design, votes.left, votes.right

    def moments(now: Sites) -> Posterior:
        precision, shift = item_sites(votes, now, scores)
        mean, factor = whitened_update(design, precision @ design, shift)
        half = solve_lower(factor, design.T).T
        marginal = np.einsum("ij,ij->i", half, half)
        f = design @ mean
        carried = marginal[a] + marginal[b] - 2.0 * pair_dots(np.ascontiguousarray(half), a, b)
        score_mean = score_variance = np.zeros(0)
        if scores is not None:
            score_mean, score_variance = f[scores.item], marginal[scores.item] + prior.item_residual
        variance = np.maximum(prior.residual + carried, _SMALL)
        unknown = Convergence(False, 0, np.inf)
        return Posterior(mean, factor, now, f[a] - f[b], variance, score_mean, score_variance, np.nan, unknown)

    def judged(q: Posterior) -> tuple[Posterior, Sites]:
        value, slope, curve = linearise(likelihood, q.vote_mean, q.vote_variance, votes.ballots)
        # The probability of a vote that may be random is not log-concave; a site is never of negative precision.
        curve = np.maximum(curve, _LEAST_CURVE)
        target = Sites(votes.weight * curve, votes.weight * (slope + curve * q.vote_mean))
        bound = float(votes.weight @ value)
        # KL(q(v) ‖ N(0, I)) = ½ (mᵀm + tr C⁻¹ − M + log |C|), M − tr C⁻¹ = tr(T₂ A C⁻¹ Aᵀ)
        kl = float(q.mean @ q.mean) + 2.0 * float(np.log(np.diag(q.factor)).sum())
        kl -= float(q.sites.precision @ (q.vote_variance - prior.residual))
        if scores is not None:
            kl -= scores.slope**2 / scores.noise * float((q.score_variance - prior.item_residual).sum())
            error = (scores.value - scores.offset - scores.slope * q.score_mean) ** 2
            error = error + scores.slope**2 * q.score_variance
            bound -= 0.5 * float((error / scores.noise + np.log(2.0 * np.pi * scores.noise)).sum())
        bound -= 0.5 * (float(q.mean @ q.mean) if method == "laplace" else kl)
        return replace(q, bound=bound), target

    def step(state: tuple[Posterior, Sites, float]) -> tuple[Posterior, Sites, float]:
        old, target, rate = state
        now = Sites(
            (1.0 - rate) * old.sites.precision + rate * target.precision,
            (1.0 - rate) * old.sites.shift + rate * target.shift,
        )
        new, new_target = judged(moments(now))
        if guarded and new.bound < old.bound - 1e-9 * abs(old.bound):
            return replace(old, bound=old.bound), target, 0.5 * rate
        return new, new_target, min(1.0, 2.0 * rate)

    def change(old: tuple[Posterior, Sites, float], new: tuple[Posterior, Sites, float]) -> float:
        if new[2] < old[2] and new[2] > 1e-3:
            return np.inf  # a refused step is not convergence
        return abs(new[0].bound - old[0].bound)

    if known is None:
        known = moments(start_sites(votes) if sites is None else sites)
    first, target = judged(known)
    (last, _, _), convergence = iterate(step, (first, target, 1.0), max_iter=max_iter, tol=tol, change=change)
    return replace(last, convergence=convergence)
