"""People and judges in one posterior: what people prefer, and how each judge departs from it.

A vote for the left of two texts is the sign of a latent margin y ~ N(z, 2), as in the model of people alone. Of people

    z = f_l − f_r + bᵀx,

of a judge j of the family F

    z = a_j (f_l − f_r) + (u_F,l − u_F,r) + (v_j,l − v_j,r) + β_jᵀx.

f is what people prefer, so that people are the anchor; a_j is the share of it that the judge sees; x are stated
covariates of the shown pair (differences of the two texts, or its position); β_j ~ N(μ, σ²) are the judge's slopes; u
and v are deviations on single texts, shared by a family and the judge's own, and there is one more that all judges
share; their variances are learnt. However many votes judges give, they determine a_j f and deviations together, never f
alone, so that they cannot outvote people: what judges agree on and people do not see is a deviation that judges share.

Everything is drawn together by Gibbs sampling with the latent margins as auxiliary variables [AC93]. Given them scores,
deviations and slopes are jointly Gaussian: up to some hundred unknowns they are drawn by a Cholesky factor, above by
conjugate gradients on perturbed votes [PY11], which is linear in votes. Shares and variances are drawn both with the
deviations kept and with them scaled along [YM11], so that neither small nor large variances are sticky.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from accord.pairs.latent_margins import draw_margins, gather, log_likelihoods, log_rates
from accord.pairs.voters import RATES, SHARES_PRIOR
from accord.typing import FloatArray, IntArray

__all__ = ["AnchoredDraws", "JudgedVotes", "draw_anchored"]

_MOST_DENSE = 700  # unknowns up to which the Gaussian part is drawn by a Cholesky factor
_LOG_SPREADS = np.linspace(np.log(0.01), np.log(30.0), 600)
_SPREADS = np.exp(_LOG_SPREADS)  # standard deviations that are considered
_SHARE_MEAN, _SHARE_SD = 1.0, 1.0  # of a judge's share of people's preference
_SLOPE_SD = 2.0  # of the mean slope of judges, and of people's
# Scales of the half-Cauchy priors of the spread of deviations. What all judges share is told by people's votes alone,
# of which there are few: a smaller scale would make intervals too narrow where judges do share mistakes.
_SHARED, _DEVIATION = 1.0, 0.3
_CG_TOLERANCE = 1e-4


@dataclass(frozen=True, eq=False)
class JudgedVotes:
    """Votes of people and judges on ``n_items`` texts.

    Parameters
    ----------
    left, right : int arrays of shape (n_votes,)
    value : float array of shape (n_votes,)
        1 where left won, 0 where right won, ½ where undecided.
    voter : int array of shape (n_votes,)
        0 for people, 1 + j for judge j.
    person : int array of shape (n_votes,)
        Which person; −1 for judges.
    covariates : float array of shape (n_votes, n_covariates)
        Of the shown pair; they change sign when left and right are exchanged.
    of_people : bool array of shape (n_covariates,)
        Whether people have a slope on the covariate too.
    family : int array of shape (n_judges,)
    n_items, n_people : int
    """

    left: IntArray
    right: IntArray
    value: FloatArray
    voter: IntArray
    person: IntArray
    covariates: FloatArray
    of_people: IntArray
    family: IntArray
    n_items: int
    n_people: int

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return self.family.size


@dataclass(frozen=True, eq=False)
class AnchoredDraws:
    """Draws from the posterior, one a row."""

    scores: FloatArray  # (n_draws, n_items) what people prefer
    utilities: FloatArray  # (n_judges, n_items) mean of what each judge sees in each text, covariates left out
    shares: FloatArray  # (n_draws, n_judges) a
    slopes: FloatArray  # (n_draws, 1 + n_judges, n_covariates); row 0 is of people
    kind_slopes: FloatArray  # (n_draws, n_covariates) μ
    spreads: FloatArray  # (n_draws, 1 + n_blocks) standard deviations of the scores and of each block of deviations
    validity: FloatArray  # (n_draws, n_judges) share of a judge's variance between texts that is people's preference
    rates: FloatArray  # (n_draws, n_people) of random answers
    margins: FloatArray  # (n_draws, 2) of people and of judges


class _Unknowns:
    """Where everything that is Gaussian stands in one vector.

    Scores, one block of deviations after another, people's slopes and how each judge's differ from the mean of all
    judges, and these means.
    """

    def __init__(self, votes: JudgedVotes) -> None:
        self.n, self.n_judges, self.n_covariates = votes.n_items, votes.n_judges, votes.covariates.shape[1]
        self.members = _blocks(votes.family)
        self.at_slopes = self.n * (1 + len(self.members))
        self.has_slope = np.ones((1 + self.n_judges, self.n_covariates), dtype=bool)
        self.has_slope[0] = votes.of_people
        self.at_means = self.at_slopes + int(self.has_slope.sum())
        self.size = self.at_means + (self.n_covariates if self.n_judges else 0)

    def loads(self, share: FloatArray) -> FloatArray:
        """How much each voter has of the scores and of each block, shape (1 + n_judges, 1 + n_blocks)."""
        loads = np.zeros((1 + self.n_judges, 1 + len(self.members)))
        loads[0, 0], loads[1:, 0], loads[1:, 1:] = 1.0, share, self.members.T
        return loads

    def tables(self, vector: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What each voter sees in each text, shape (1 + n_judges, n_items), and the slopes."""
        slopes = np.zeros(self.has_slope.shape)
        slopes[self.has_slope] = vector[self.at_slopes : self.at_means]
        if self.n_judges:
            slopes[1:] += vector[self.at_means :]
        return self.loads(share) @ self.blocks(vector), slopes

    def back(self, texts: FloatArray, cells: FloatArray, share: FloatArray) -> FloatArray:
        """The transpose of :meth:`tables`: sums by voter as one vector."""
        means = cells[1:].sum(axis=0)[: self.size - self.at_means]
        return np.concatenate([(self.loads(share).T @ texts).ravel(), cells[self.has_slope], means])

    def blocks(self, vector: FloatArray) -> FloatArray:
        """Scores and deviations, shape (1 + n_blocks, n_items); a view."""
        return vector[: self.at_slopes].reshape(-1, self.n)


def _blocks(family: IntArray) -> FloatArray:
    """Which judges share each block of deviations, shape (n_blocks, n_judges): all, families, and each judge alone."""
    n = family.size
    sets = [np.ones(n, dtype=bool), *(family == k for k in np.unique(family)), *np.eye(n, dtype=bool)]
    distinct = dict.fromkeys(tuple(members) for members in sets if members.any())
    return np.array(list(distinct), dtype=np.float64).reshape(len(distinct), n)


def _by_voter(unknowns: _Unknowns, votes: JudgedVotes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """XᵀX of each voter's votes: among texts, (n_voters, n, n), of texts with covariates, and among covariates."""
    n, k, n_voters = unknowns.n, unknowns.n_covariates, 1 + unknowns.n_judges
    laplacians, crosses, squares = np.zeros((n_voters, n, n)), np.zeros((n_voters, n, k)), np.zeros((n_voters, k, k))
    for w in range(n_voters):
        rows = votes.voter == w
        left, right, x = votes.left[rows], votes.right[rows], votes.covariates[rows]
        np.add.at(laplacians[w], (left, left), 1.0)
        np.add.at(laplacians[w], (right, right), 1.0)
        np.add.at(laplacians[w], (left, right), -1.0)
        np.add.at(laplacians[w], (right, left), -1.0)
        np.add.at(crosses[w], left, x)
        np.add.at(crosses[w], right, -x)
        squares[w] = x.T @ x
    return laplacians, crosses, squares


def _dense(
    unknowns: _Unknowns, laplacians: FloatArray, crosses: FloatArray, squares: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """XᵀX of the votes as a function of the judges' shares, shape (size, size)."""
    n, k = unknowns.n, unknowns.n_covariates
    first = np.cumsum(np.append(0, unknowns.has_slope.sum(axis=1))) + unknowns.at_slopes
    stacked = laplacians.reshape(1 + unknowns.n_judges, n * n)
    mean = np.zeros((unknowns.at_means, unknowns.size - unknowns.at_means))  # a mean moves the slopes of all judges
    for w in range(1, 1 + unknowns.n_judges):
        mean[first[w] : first[w + 1]] = np.eye(k)

    def matrix(share: FloatArray) -> FloatArray:
        loads = unknowns.loads(share)
        out = np.zeros((unknowns.size, unknowns.size))
        n_blocks = loads.shape[1]
        outer = (loads[:, :, None] * loads[:, None, :]).reshape(len(loads), -1)
        among = (outer.T @ stacked).reshape(n_blocks, n_blocks, n, n)  # Σ_w loads_wa loads_wb laplacian_w
        at = unknowns.at_slopes
        out[:at, :at] = among.transpose(0, 2, 1, 3).reshape(at, at)
        for w in range(1 + unknowns.n_judges):
            kept = unknowns.has_slope[w]
            own = slice(first[w], first[w + 1])
            across = np.outer(loads[w], crosses[w][:, kept].ravel()).reshape(at, -1)
            out[:at, own] = across
            out[own, :at] = across.T
            out[own, own] = squares[w][np.ix_(kept, kept)]
        inner = out[: unknowns.at_means, : unknowns.at_means]
        out[: unknowns.at_means, unknowns.at_means :] = inner @ mean
        out[unknowns.at_means :, : unknowns.at_means] = out[: unknowns.at_means, unknowns.at_means :].T
        out[unknowns.at_means :, unknowns.at_means :] = mean.T @ inner @ mean
        return out

    return matrix


def _pick(rng: np.random.Generator, log_p: FloatArray) -> float:
    """One of the spreads by its log density on the logarithmic grid, moved inside its cell."""
    on_grid = log_p + _LOG_SPREADS
    p = np.cumsum(np.exp(on_grid - on_grid.max()))
    place = int(np.searchsorted(p, rng.random() * p[-1]))
    step = _LOG_SPREADS[1] - _LOG_SPREADS[0]
    return float(_SPREADS[min(place, _SPREADS.size - 1)] * np.exp(step * (rng.random() - 0.5)))


class _Chain:
    """The state of the sampler and its steps; see the module's head for the model."""

    def __init__(self, votes: JudgedVotes, rng: np.random.Generator, *, learn_rates: bool) -> None:
        self.votes, self.rng, self.learn_rates = votes, rng, learn_rates
        self.unknowns = unknowns = _Unknowns(votes)
        self.columns = (votes.left, votes.right, votes.voter, votes.covariates)
        self.ties = bool((votes.value == 0.5).any())
        tied = float(np.mean(votes.value[votes.person >= 0] == 0.5)) if (votes.person >= 0).any() else 0.0
        self.chances = (0.5 * (1.0 - tied), tied)
        self.by_voter = _by_voter(unknowns, votes) if unknowns.size <= _MOST_DENSE else None
        self.matrix = None if self.by_voter is None else _dense(unknowns, *self.by_voter)
        self.vector = np.zeros(unknowns.size)
        self.share = np.zeros(votes.n_judges)  # at first judges are about something else
        self.spreads = np.ones(1 + len(unknowns.members))  # of the scores and of each block
        self.kind_spread = np.full(unknowns.n_covariates, 0.5)  # of the slopes of judges around their mean
        self.rate, self.shares = np.zeros(votes.n_people), SHARES_PRIOR / SHARES_PRIOR.sum()
        self.margins = np.full(2, 0.5 if self.ties else 0.0)
        # The variance of the scores is log-normal around 1, as of people alone; deviations are half-Cauchy.
        prior_scores = -0.5 * (2.0 * _LOG_SPREADS / 1.5) ** 2 - _LOG_SPREADS
        scales = [_SHARED, *[_DEVIATION] * (len(unknowns.members) - 1)]  # the first block is of all judges
        self.priors = [prior_scores, *(-np.log1p((_SPREADS / scale) ** 2) for scale in scales)]
        self.prior_slopes = -0.5 * (_SPREADS / 0.5) ** 2

    def validity(self) -> FloatArray:
        """Of what each judge sees in texts, covariates left out, the share of variance that people's scores are."""
        seen = (self.share * self.spreads[0]) ** 2
        return seen / (seen + self.unknowns.members.T @ self.spreads[1:] ** 2)

    def step(self) -> None:
        """One sweep over everything."""
        votes, unknowns, rng = self.votes, self.unknowns, self.rng
        table, slopes = unknowns.tables(self.vector, self.share)
        if self.learn_rates:
            self._draw_rates(table, slopes)
        if self.ties:
            self._draw_tie_margins(table, slopes)
        dense = self.matrix is not None
        texts, cells, noise_texts, noise_cells = draw_margins(
            rng, table, slopes, votes.left, votes.right, votes.value, votes.voter, votes.person, votes.covariates,
            self.rate, self.margins, *self.chances, 0.0 if dense else np.sqrt(2.0),
        )  # fmt: skip
        self._draw_vector(texts, cells, (noise_texts, noise_cells))
        self._draw_shares(texts)
        self._draw_spreads(texts)
        self._draw_kind()

    def _draw_rates(self, table: FloatArray, slopes: FloatArray) -> None:
        votes, rates = self.votes, np.array(RATES)
        logs = log_rates(
            table, slopes, votes.left, votes.right, votes.value, votes.voter, votes.person, votes.covariates,
            self.margins, rates, *self.chances, votes.n_people,
        ) + np.log(self.shares)  # fmt: skip
        chosen = np.argmax(logs + self.rng.gumbel(size=logs.shape), axis=1)
        self.rate = rates[chosen]
        self.shares = self.rng.dirichlet(SHARES_PRIOR + np.bincount(chosen, minlength=rates.size))

    def _draw_tie_margins(self, table: FloatArray, slopes: FloatArray) -> None:
        votes = self.votes
        n = np.array([(votes.voter == 0).sum(), (votes.voter > 0).sum()])
        to = np.abs(self.margins + 1.5 / np.sqrt(np.maximum(n, 1)) * self.rng.standard_normal(2))
        logs = [
            log_likelihoods(
                table, slopes, votes.left, votes.right, votes.value, votes.voter, votes.person, votes.covariates,
                self.rate, margins, *self.chances,
            ) - margins
            for margins in (self.margins, to)
        ]  # fmt: skip
        self.margins = np.where(np.log(self.rng.random(2)) < logs[1] - logs[0], to, self.margins)

    def _prior(self) -> FloatArray:
        """Precision of each unknown; their means are zero."""
        u = self.unknowns
        slopes = np.empty(u.has_slope.shape)
        slopes[0], slopes[1:] = _SLOPE_SD**-2, self.kind_spread**-2.0
        means = np.full(u.size - u.at_means, _SLOPE_SD**-2)
        return np.concatenate([np.repeat(self.spreads**-2.0, u.n), slopes[u.has_slope], means])

    def _draw_vector(self, texts: FloatArray, cells: FloatArray, noise: tuple[FloatArray, FloatArray]) -> None:
        """Scores, deviations and slopes, given the latent margins."""
        unknowns, share = self.unknowns, self.share
        precision = self._prior()
        target = 0.5 * unknowns.back(texts, cells, share)
        fresh = self.rng.standard_normal(unknowns.size)
        if self.matrix is not None:
            whole = 0.5 * self.matrix(share)
            whole[np.diag_indices_from(whole)] += precision
            factor = scipy.linalg.cholesky(whole, lower=True, overwrite_a=True, check_finite=False)
            half = scipy.linalg.solve_triangular(factor, target, lower=True, check_finite=False)
            self.vector = scipy.linalg.solve_triangular(factor, half + fresh, lower=True, trans=1, check_finite=False)
            return
        target += 0.5 * unknowns.back(noise[0], noise[1], share) + np.sqrt(precision) * fresh

        def apply(vector: FloatArray) -> FloatArray:
            table, slopes = unknowns.tables(np.ravel(vector), share)
            texts, cells = gather(table, slopes, *self.columns)
            return 0.5 * unknowns.back(texts, cells, share) + precision * np.ravel(vector)

        diagonal = precision + 0.5 * self._diagonal()
        shape = (unknowns.size, unknowns.size)
        self.vector, _ = cg(
            LinearOperator(shape, matvec=apply, dtype=np.float64),
            target,
            x0=self.vector,
            rtol=_CG_TOLERANCE,
            M=LinearOperator(shape, matvec=lambda vector: np.ravel(vector) / diagonal, dtype=np.float64),
        )

    def _diagonal(self) -> FloatArray:
        """The diagonal of XᵀX."""
        votes, u = self.votes, self.unknowns
        shape = (1 + u.n_judges, u.n)
        counts = sum(
            np.bincount(votes.voter * u.n + side, minlength=shape[0] * u.n).reshape(shape)
            for side in (votes.left, votes.right)
        )
        squares = np.zeros(u.has_slope.shape)
        np.add.at(squares, votes.voter, votes.covariates**2)
        texts = np.asarray(counts, dtype=np.float64)
        return u.back(texts, squares, self.share**2)  # the other loads are zero or one

    def _draw_shares(self, texts: FloatArray) -> None:
        """Each judge's share of people's preference: with utilities kept, block by block, and with deviations kept."""
        unknowns, rng, prior = self.unknowns, self.rng, _SHARE_SD**-2
        f, *deviations = unknowns.blocks(self.vector)
        for members, deviation, spread in zip(unknowns.members > 0, deviations, self.spreads[1:], strict=True):
            # deviation + δ f and share − δ are the same utilities
            precision = f @ f / spread**2 + prior * members.sum()
            pull = prior * float(np.sum(self.share[members] - _SHARE_MEAN)) - f @ deviation / spread**2
            delta = pull / precision + rng.standard_normal() / np.sqrt(precision)
            deviation += delta * f
            self.share[members] -= delta
        part = np.tile(f, (1 + unknowns.n_judges, 1))
        pull, curve = self._pulls(texts, part)
        precision = curve[1:] + prior
        centre = (pull[1:] + curve[1:] * self.share + prior * _SHARE_MEAN) / precision
        self.share = centre + rng.standard_normal(centre.size) / np.sqrt(precision)

    def _pulls(self, texts: FloatArray, part: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slope and curvature, by voter, of the log-likelihood of the latent margins in more of ``part``."""
        table, slopes = self.unknowns.tables(self.vector, self.share)
        seen = self._sums(table, slopes)
        alone = self._sums(part, np.zeros_like(slopes))
        return 0.5 * np.sum(part * (texts - seen), axis=1), 0.5 * np.sum(part * alone, axis=1)

    def _sums(self, table: FloatArray, slopes: FloatArray) -> FloatArray:
        """Sums of the z of all votes by voter and text, shape (1 + n_judges, n_items)."""
        if self.by_voter is None:
            return gather(table, slopes, *self.columns)[0]
        laplacians, crosses, _ = self.by_voter
        return np.asarray((laplacians @ table[:, :, None] + crosses @ slopes[:, :, None])[:, :, 0])

    def _draw_spreads(self, texts: FloatArray) -> None:
        """Standard deviations of scores and deviations: with these kept, and with these scaled along."""
        loads = self.unknowns.loads(self.share)
        for place, block in enumerate(self.unknowns.blocks(self.vector)):
            prior = self.priors[place]
            square = float(block @ block)
            spread = _pick(self.rng, prior - block.size * _LOG_SPREADS - 0.5 * square / _SPREADS**2)
            pull, curve = (float(part.sum()) for part in self._pulls(texts, loads[:, [place]] * block))
            more = _SPREADS / spread - 1.0
            self.spreads[place] = _pick(self.rng, prior + pull * more - 0.5 * curve * more**2)
            block *= self.spreads[place] / spread

    def _draw_kind(self) -> None:
        """The spread of the judges' slopes around their mean."""
        slopes = np.zeros(self.unknowns.has_slope.shape)
        slopes[self.unknowns.has_slope] = self.vector[self.unknowns.at_slopes : self.unknowns.at_means]
        n = self.unknowns.n_judges
        for k, square in enumerate(np.sum(slopes[1:] ** 2, axis=0)):
            self.kind_spread[k] = _pick(self.rng, self.prior_slopes - n * _LOG_SPREADS - 0.5 * square / _SPREADS**2)


def draw_anchored(
    votes: JudgedVotes,
    *,
    n_draws: int = 1500,
    burn_in: int = 500,
    thin: int = 2,
    learn_rates: bool = True,
    rng: np.random.Generator,
) -> AnchoredDraws:
    """Draws from the joint posterior of scores, shares, slopes, deviations and their variances.

    Parameters
    ----------
    votes : JudgedVotes
    n_draws, burn_in, thin : int
        Draws that are kept, sweeps before the first of them, and sweeps from one to the next.
    learn_rates : bool
        Whether people's rates of random answers are learnt; otherwise they are zero.
    """
    chain = _Chain(votes, rng, learn_rates=learn_rates and votes.n_people > 0)
    kept: dict[str, list[FloatArray]] = {name: [] for name in AnchoredDraws.__dataclass_fields__ if name != "utilities"}
    utilities = np.zeros((votes.n_judges, votes.n_items))
    for sweep in range(burn_in + n_draws * thin):
        chain.step()
        if sweep >= burn_in and (sweep - burn_in) % thin == 0:
            table, slopes = chain.unknowns.tables(chain.vector, chain.share)
            utilities += table[1:] / n_draws
            state = {
                "scores": table[0], "shares": chain.share, "slopes": slopes,
                "kind_slopes": chain.vector[chain.unknowns.at_means :],
                "spreads": chain.spreads, "validity": chain.validity(),
                "rates": chain.rate, "margins": chain.margins,
            }  # fmt: skip
            for name, value in state.items():
                kept[name].append(np.array(value, dtype=np.float64))
    return AnchoredDraws(utilities=utilities, **{name: np.array(values) for name, values in kept.items()})
