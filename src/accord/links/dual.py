"""Beliefs from content and links: how far links agree, how strongly they pull, and how sure the result may be.

What is fitted here sees only log probabilities of training texts by models trained without them, so that everything
(agreement, couplings, fusion) is chosen on texts that stand for new ones. There are two couplings: one for texts none
of whose neighbours has a known label, one for texts among known labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from accord.engines.blocks import BlockBeliefs, block_beliefs
from accord.engines.convergence import warn_unconverged
from accord.engines.numerics import sigmoid, spread
from accord.fitting.optimise import l2_penalised, minimise_lbfgs
from accord.links.content import Calibration, HeldOut, label_shares
from accord.links.linked_graph import linked_beliefs, same_label_gains
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Agreement",
    "Coupling",
    "DualModel",
    "Evidence",
    "Pulled",
    "beside_shares",
    "fit_agreement",
    "fit_apart",
    "fit_coupling",
    "fits_blocks",
    "fuse",
    "pieces",
    "pull_share",
    "unreached",
]

_TINY = 1e-9
# A change of beliefs in the last sweep of the block model that is worth a warning.
_UNSETTLED = 0.01
# Agreement of links before any is seen: so many pairs, and the share of them that agree.
PRIOR_PAIRS, PRIOR_SHARE = 2.0, 0.75
# Fusion weights before any text is seen, and how far they are expected to lie from there: of the pairwise model, whose
# beliefs are over-confident, and of the block model.
PRIOR, BLOCK_PRIOR = np.array([1.0, 0.15, 0.0]), np.array([1.0, 0.8, 0.0])
# The same in a piece of the graph without a known label, where words alone tell which side is which.
APART_PRIOR = np.array([1.0, 0.4, 0.0])
DEVIATION = np.array([0.3, 0.4, 0.2])
# A coupling that is not zero must lower the loss of all held-out texts together by this much.
PRICE = 1.0
# Where labels are known the block model is expected to help: it may be worse by this much.
CREDIT = 2.0
# With no more groups than this, what the pull of links counts is one of these, by the lower bound of its gain over the
# groups: one standard error below, in Student's distribution.
MOST_FEW, FEW_PULLS, ONE_ERROR = 20, (0.03, 0.05, 0.1, 0.15), 0.84
# So many links of the given agreement count beside those that the block model sees, and such a share of all links where
# the content reads the words of neighbours: beliefs of neighbours then agree by their words already.
BLOCK_PAIRS, MIXED_SHARE = 10.0, 0.3
# The gain of held-out texts over the shares of the labels, in nats of all of them together: so much is taken for
# granted, and where this and the gain together are no more than the doubt, half of the certainty is left. The doubt is
# so large from so many texts on; with fewer, whose gain says little, it falls with the square of their number. A model
# never loses all certainty.
GRANTED, DOUBT, DOUBTED_TEXTS, LEAST_GAIN = 2.0, 2.0, 20.0, 0.1
# So many texts of each label count as seen in the shares that the result is drawn to.
DRAWN_TEXTS = 5.0
# With up to so many times as many links a text as in training a link counts as it does there; with more, less.
MOST_DENSER = 2.0
# Most messages (ends of links times labels) of the block model; beyond, it is not tried.
MOST_MESSAGES = 40_000_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """Links of one kind: which texts they join, what speaks for or against equal labels, and what they weigh."""

    ends: IntArray  # (n_pairs, 2)
    features: FloatArray  # (n_pairs, n_features); NaN in a row that says nothing
    weights: FloatArray  # (n_pairs,)


@dataclass(frozen=True, eq=False)
class Agreement:
    """Log odds that two linked texts have the same label, linear in standardised features."""

    centre: FloatArray  # (n_features,)
    spread: FloatArray  # (n_features,)
    weights: FloatArray  # (n_features,)
    offset: float
    base: float  # of a link about which nothing is known but that it is there

    def log_odds(self, features: FloatArray) -> FloatArray:
        """Shape (n_pairs,)."""
        told = (features - self.centre) / self.spread @ self.weights + self.offset
        return np.asarray(np.where(np.isfinite(told), told, self.base))


def fit_agreement(features: FloatArray, same: BoolArray, *, strength: float = 1.0) -> Agreement:
    """Logistic regression of equal labels on link features, with Platt's targets.

    With one feature, the score of a link classifier, and ``strength=0`` this is Platt's sigmoid. A link without
    features has the base rate of agreement.

    Parameters
    ----------
    features : float array of shape (n_pairs, n_features)
        NaN in the rows of links that say nothing.
    same : bool array of shape (n_pairs,)
    strength : float
        Penalty on the squared standardised weights.
    """
    share = (same.sum() + PRIOR_PAIRS * PRIOR_SHARE) / (len(same) + PRIOR_PAIRS)
    base = float(np.log(share / (1.0 - share)))
    told = np.isfinite(features).all(axis=1)
    features, same = features[told], same[told]
    n, n_features = features.shape
    centre = features.mean(axis=0) if n else np.zeros(n_features)
    scale = spread(features)
    if not n or not np.any(features != features[0]):
        return Agreement(centre, scale, np.zeros(n_features), base, base)
    x = np.column_stack([(features - centre) / scale, np.ones(n)])
    n_same = int(same.sum())
    target = np.where(same, (n_same + 1.0) / (n_same + 2.0), 1.0 / (n - n_same + 2.0))

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        log_odds = x @ weights
        value = float(np.sum(np.logaddexp(0.0, log_odds) - target * log_odds))
        return value, (sigmoid(log_odds) - target) @ x

    penalty = np.append(np.full(n_features, strength), 0.0)
    weights = minimise_lbfgs(l2_penalised(loss, penalty), np.zeros(n_features + 1)).weights
    return Agreement(centre, scale, weights[:-1], float(weights[-1]), base)


@dataclass(frozen=True, eq=False)
class Coupling:
    """How strongly each kind of link pulls, and how content and pulls are weighed in the end.

    The log probability is ``a·content + (s + r·log degree)·pull``, up to normalisation: beliefs that went round loops
    are over-confident, and more so where there are many links.
    """

    scales: tuple[float, ...]
    fusion: FloatArray  # (3,) a, s, r
    blocks: bool = False  # whether the pull is that of the block model, which has no scales
    loss: float = np.nan  # mean log loss of held-out training texts
    content_loss: float = np.nan  # the same with content alone
    rank: float = np.nan  # total loss with penalties, by which couplings are compared
    apart: FloatArray | None = None  # (3,) in pieces of the graph without a known label, where training had such
    trust: float = 1.0  # what the result counts beside the shares of the labels
    shares: FloatArray | None = None  # (n_labels,) log shares of the labels in training

    def drawn(self, log_p: FloatArray) -> FloatArray:
        """Log probabilities drawn to the shares of the labels, shape (n_texts, n_labels)."""
        if self.shares is None:
            return log_p
        logits = self.trust * log_p + (1.0 - self.trust) * self.shares
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))

    def weights(self, evidence: Sequence[Evidence], known: IntArray | None, n_texts: int) -> FloatArray:
        """Fusion weights of each text, shape (n_texts, 3)."""
        same = np.tile(self.fusion, (n_texts, 1))
        if self.apart is None or known is None or not evidence:
            return same
        return np.where(unreached(evidence[0], known)[:, None], self.apart, same)


RAW = np.array([1.0, 1.0, 0.0])  # the beliefs as they are
# What links add in held-out texts, by the scales of the links and whether the block model pulls.
Pulled = dict[tuple[tuple[float, ...], bool], FloatArray]


@dataclass(frozen=True, eq=False)
class DualModel:
    """Calibration of the content, one agreement model a kind of link, and the two couplings."""

    calibration: Calibration
    agreements: tuple[Agreement, ...]
    free: Coupling  # where no label is known
    among_known: Coupling
    engine: str
    mixed: bool = False  # whether the content reads the words of neighbours
    density: FloatArray | None = None  # (n_kinds,) links a text in training; None while the couplings are fitted

    def link_shares(self, evidence: Sequence[Evidence], n_texts: int) -> FloatArray:
        """What a link of each kind counts in this graph, beside one in a graph like that of training, shape (n_kinds,).

        What links count was seen where a text has a few of them. If texts that were drawn from a graph were trained on
        alone, most of their links were missing, and in the whole graph the same pulls run through all of it. How far
        its links repeat each other nobody has seen: the links of a text, beyond ``MOST_DENSER`` times as many as in
        training, count with the root of their number, between copies of one link and links of their own.
        """
        if self.density is None:
            return np.ones(len(evidence))
        here, most = densities(evidence, n_texts), MOST_DENSER * self.density
        return np.sqrt(most / np.maximum(here, np.maximum(most, _TINY)))

    def gains(self, evidence: Sequence[Evidence], scales: Sequence[float] | FloatArray) -> list[FloatArray]:
        """Scaled gains of equal labels of each kind of link, each of shape (n_pairs,)."""
        n_labels = len(self.calibration.slopes)
        return [
            scale * kind.weights * same_label_gains(agreement.log_odds(kind.features), n_labels)
            for scale, agreement, kind in zip(scales, self.agreements, evidence, strict=True)
        ]

    def coupling(self, known: IntArray | None) -> Coupling:
        """The coupling for texts some of which have known labels, or none."""
        return self.free if known is None or not (known >= 0).any() else self.among_known

    def pull(
        self,
        log_p: FloatArray,
        evidence: Sequence[Evidence],
        known: IntArray | None,
        coupling: Coupling,
        *,
        warn: bool = True,
        tol: float = 1e-6,
    ) -> FloatArray:
        """What links add to the log probabilities by content, shape (n_texts, n_labels)."""
        shares = self.link_shares(evidence, len(log_p))
        if coupling.blocks:
            found = self.blocks(log_p, evidence[0], known, tol=tol)
            if warn and found.convergence.residual > _UNSETTLED:
                warn_unconverged("The block model", found.convergence, cure="Use inference='mean_field'.", stacklevel=5)
            beliefs = found.nodes
            return np.asarray(shares[0] * (np.log(np.clip(beliefs, _TINY, 1.0)) - log_p))
        ends = np.concatenate([kind.ends for kind in evidence]) if evidence else np.empty((0, 2), dtype=np.int64)
        gains = np.concatenate(self.gains(evidence, shares * coupling.scales)) if evidence else np.empty(0)
        held = gains != 0.0
        if not held.any():
            return np.zeros_like(log_p)
        beliefs, _ = linked_beliefs(log_p, ends[held], gains[held], engine=self.engine, known=known, warn=warn, tol=tol)
        return np.asarray(np.log(np.clip(beliefs, _TINY, 1.0)) - log_p)

    def blocks(self, log_p: FloatArray, links: Evidence, known: IntArray | None, *, tol: float = 1e-6) -> BlockBeliefs:
        """Beliefs by the block model of the links."""
        odds = self.agreements[0].log_odds(links.features)
        # Beliefs that are held out to choose by need not be exact, nor what moves slowly settle.
        tol, max_iter = (5e-3, 60) if tol > 1e-5 else (1e-4, 300)
        pairs = BLOCK_PAIRS + MIXED_SHARE * self.mixed * float(links.weights.sum())
        return block_beliefs(
            log_p, links.ends, odds, weights=links.weights, known=known, prior_pairs=pairs, tol=tol, max_iter=max_iter
        )

    def pulls(
        self, log_p: FloatArray, evidence: Sequence[Evidence], known: IntArray | None, coupling: Coupling
    ) -> list[FloatArray]:
        """What each link of each kind counts: the gain of equal labels, each of shape (n_pairs,)."""
        shares = self.link_shares(evidence, len(log_p))
        gains = self.gains(evidence, shares * coupling.scales)
        if coupling.blocks:
            same = self.blocks(log_p, evidence[0], known).same
            gains[0] = shares[0] * evidence[0].weights * same_label_gains(np.log(same / (1.0 - same)), log_p.shape[1])
        return gains

    def beliefs(
        self, log_p: FloatArray, evidence: Sequence[Evidence], *, known: IntArray | None = None, warn: bool = True
    ) -> FloatArray:
        """Beliefs, shape (n_texts, n_labels), from the log probabilities by content; known labels hold."""
        coupling = self.coupling(known)
        pull = self.pull(log_p, evidence, known, coupling, warn=warn)
        weights = coupling.weights(evidence, known, len(log_p))
        found = np.exp(coupling.drawn(fuse(weights, log_p, pull, degrees(evidence, len(log_p)))))
        if known is not None:
            found[known >= 0] = np.eye(log_p.shape[1])[known[known >= 0]]
        return found


def degrees(evidence: Sequence[Evidence], n_texts: int) -> FloatArray:
    """Number of links of each text, of all kinds."""
    ends = [kind.ends.ravel() for kind in evidence]
    return np.bincount(np.concatenate([np.empty(0, dtype=np.int64), *ends]), minlength=n_texts).astype(np.float64)


def densities(evidence: Sequence[Evidence], n_texts: int) -> FloatArray:
    """Links a text of each kind, by their weights, shape (n_kinds,)."""
    return np.array([float(kind.weights.sum()) / max(n_texts, 1) for kind in evidence])


def pieces(links: Evidence, n_texts: int) -> IntArray:
    """The connected piece of the graph that each text stands in, shape (n_texts,)."""
    i, j = links.ends.T
    joined = sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(n_texts, n_texts))
    return np.asarray(connected_components(joined, directed=False)[1])


def unreached(links: Evidence, known: IntArray) -> BoolArray:
    """Which texts have links, but stand in a piece of the graph without a known label, shape (n_texts,)."""
    piece = pieces(links, len(known))
    told = np.bincount(piece[known >= 0], minlength=len(known)) > 0
    return np.asarray(~told[piece] & (np.bincount(piece)[piece] > 1))


def fuse(fusion: FloatArray, log_p: FloatArray, pull: FloatArray, degree: FloatArray) -> FloatArray:
    """Log probabilities by content and pulls together, shape (n_texts, n_labels).

    Fusion weights have shape (3,), or (n_texts, 3).
    """
    logits = fusion[..., :1] * log_p + pull_share(fusion, degree)[:, None] * pull
    return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))


def pull_share(fusion: FloatArray, degree: FloatArray) -> FloatArray:
    """What the pull of links counts, by the number of links."""
    return np.maximum(fusion[..., 1] + fusion[..., 2] * np.log(np.maximum(degree, 1.0)), 0.0)


def fit_fusion(
    log_p: FloatArray, pull: FloatArray, degree: FloatArray, codes: IntArray, prior: FloatArray = PRIOR
) -> tuple[FloatArray, float]:
    """Fusion weights of held-out texts by penalised likelihood, and the total loss with its penalty."""
    depth = np.log(np.maximum(degree, 1.0))
    truth = np.arange(len(codes)), codes
    used = np.array([True, bool(pull.any()), bool(pull.any())])

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        result = fuse(w, log_p, pull, degree)
        error = np.exp(result)
        error[truth] -= 1.0
        along = np.sum(error * pull, axis=1) * (w[1] + w[2] * depth > 0.0)
        slopes = np.array([np.sum(error * log_p), along.sum(), along @ depth])
        away = (w - prior) / DEVIATION
        value = -float(result[truth].sum()) + 0.5 * float(away[used] @ away[used])
        return value, np.where(used, slopes + away / DEVIATION, 0.0)

    start = np.where(used, prior, [1.0, 0.0, 0.0])
    found = minimise_lbfgs(loss, start, tol=1e-9, bounds=[(0.0, 3.0), (0.0, 3.0), (-1.0, 1.0)])
    return found.weights, found.value


def fit_coupling(
    model: DualModel,
    held_out: Sequence[HeldOut],
    codes: IntArray,
    evidence: Sequence[Evidence],
    *,
    scales: Sequence[Sequence[float]],
    blocks: bool = False,
    recalibrate: bool = True,
    units: IntArray | None = None,
    doubted: bool = False,
    pulled: Pulled | None = None,
) -> Coupling:
    """The scales of links, and the fusion weights, with which held-out training texts have the lowest log loss.

    Parameters
    ----------
    model : DualModel
        Its calibration and agreements; its couplings are not used.
    held_out : sequence of HeldOut
        Texts that are asked about together.
    codes : int array of shape (n_texts,)
        −1 for a text without a label.
    evidence : sequence of Evidence
    scales : sequence of sequences of float
        For each kind of link the scales to choose from.
    blocks : bool
        Try the block model too.
    recalibrate : bool
        Fit the fusion weights; else beliefs are taken as they come out of the inference.
    units : int array of shape (n_texts,), optional
        The group of each text, where whole groups are new. With few groups links count only as far as each of them
        shows.
    doubted : bool
        Draw the result to the shares of the labels where held-out texts do not show that there was something to learn.
    pulled : dict, optional
        Pulls of these held-out texts by this model that are known already; those found here are added.
    """
    asked = np.concatenate([part.rows for part in held_out])
    truth, degree = codes[asked], degrees(evidence, len(codes))[asked]
    log_p = np.concatenate([part.log_p[part.rows] for part in held_out])
    tried = [Coupling(tuple(choice), PRIOR) for choice in product(*scales)]
    if blocks and fits_blocks(evidence, log_p.shape[1]):
        tried.append(Coupling(tuple(0.0 for _ in scales), BLOCK_PRIOR, blocks=True))
    place = None if units is None else np.unique(units[asked], return_inverse=True)[1]
    few = place is not None and recalibrate and place.max(initial=0) < MOST_FEW
    best: Coupling | None = None
    content_loss = -float(np.mean(log_p[np.arange(len(truth)), truth]))
    for coupling in tried:
        parts = log_p, _pulls(model, held_out, evidence, coupling, pulled), degree
        if few and place is not None:
            fusion, total = _cautious_fusion(*parts, truth, place)
        else:
            fusion, total = fit_fusion(*parts, truth, coupling.fusion) if recalibrate else (RAW, np.nan)
        loss = -float(np.mean(fuse(fusion, *parts)[np.arange(len(truth)), truth]))
        rank = (total if recalibrate else loss * len(truth)) + PRICE * sum(scale != 0.0 for scale in coupling.scales)
        rank -= CREDIT * coupling.blocks
        if best is None or rank < best.rank:
            best = replace(coupling, fusion=fusion, loss=loss, content_loss=content_loss, rank=rank)
    assert best is not None  # there is at least one choice
    return _trusted(best, truth, codes, log_p.shape[1]) if recalibrate and doubted else best


def _trusted(coupling: Coupling, truth: IntArray, codes: IntArray, n_labels: int) -> Coupling:
    """The coupling, which counts only as far as held-out texts show that there was something to learn.

    What is chosen on a dozen texts fits them by chance: where neither words nor links say anything, the best of all
    choices still seems to. So the result counts g / (g + c) beside the shares of the labels, where g is by how much the
    log loss of all held-out texts together is lower than that of the shares, and c the doubt.
    """
    shares = label_shares(codes[codes >= 0], n_labels, DRAWN_TEXTS)
    gain = -float(shares[truth].sum()) - coupling.loss * len(truth) + GRANTED
    gain, doubt = max(gain, LEAST_GAIN), DOUBT * min(len(truth) / DOUBTED_TEXTS, 1.0) ** 2
    return replace(coupling, trust=gain / (gain + doubt), shares=shares)


def beside_shares(coupling: Coupling, codes: IntArray, n_labels: int, n_groups: int) -> Coupling:
    """The coupling for groups of which no label is known, drawn to the shares of the labels where few were learnt from.

    The texts of a group are right or wrong together, and what two groups have in common may be chance, however many
    texts they have. So the result of G labelled groups counts 1 − 2^(1−G): half of its certainty with two, all with
    many. One group says nothing of how groups differ, and is taken as one graph.
    """
    if n_groups < 2:
        return coupling
    trust, shares = 1.0 - 0.5 ** (n_groups - 1), label_shares(codes[codes >= 0], n_labels, DRAWN_TEXTS)
    return replace(coupling, trust=trust, shares=shares)


def fit_apart(
    model: DualModel,
    coupling: Coupling,
    held_out: Sequence[HeldOut],
    codes: IntArray,
    evidence: Sequence[Evidence],
    pulled: Pulled | None = None,
) -> tuple[FloatArray, float]:
    """Fusion weights of texts in pieces of the graph without a known label, and the total loss with its penalty.

    Parameters
    ----------
    model, codes, evidence, pulled
        As in :func:`fit_coupling`.
    coupling : Coupling
        What pulls.
    held_out : sequence of HeldOut
        Whole pieces, with the labels of other pieces known.
    """
    asked = np.concatenate([part.rows for part in held_out])
    log_p = np.concatenate([part.log_p[part.rows] for part in held_out])
    pull = _pulls(model, held_out, evidence, coupling, pulled)
    degree = degrees(evidence, len(codes))[asked]
    return fit_fusion(log_p, pull, degree, codes[asked], APART_PRIOR if coupling.blocks else PRIOR)


def _pulls(
    model: DualModel,
    held_out: Sequence[HeldOut],
    evidence: Sequence[Evidence],
    coupling: Coupling,
    pulled: Pulled | None,
) -> FloatArray:
    """What links add in held-out texts, computed once for each coupling."""
    kept = {} if pulled is None else pulled
    key = coupling.scales, coupling.blocks
    if key not in kept:
        each = (model.pull(part.log_p, evidence, part.known, coupling, warn=False, tol=1e-4) for part in held_out)
        kept[key] = np.concatenate([pull[part.rows] for pull, part in zip(each, held_out, strict=True)])
    return kept[key]


def fits_blocks(evidence: Sequence[Evidence], n_labels: int) -> bool:
    """Whether there are links, and not too many of them for the block model."""
    return bool(evidence) and 0 < 2 * n_labels * len(evidence[0].ends) <= MOST_MESSAGES


def _cautious_fusion(
    log_p: FloatArray, pull: FloatArray, degree: FloatArray, truth: IntArray, place: IntArray
) -> tuple[FloatArray, float]:
    """Fusion weights by a few groups, and the total loss, which is raised by the standard error of the gain by links.

    The texts of a group are right or wrong together, and one group whose texts pull each other to the wrong side costs
    more than many others gain: the content counts as it is, and the pull so much as the lower bound of its gain over
    groups is highest, within bounds; nothing if no bound is above 0.
    """
    rows, n_groups = np.arange(len(truth)), int(place.max()) + 1
    found, total = np.array([1.0, 0.0, 0.0]), -float(log_p[rows, truth].sum())
    if n_groups < 2 or not pull.any():
        return found, total
    errors = float(stdtrit(n_groups - 1.0, ONE_ERROR)) * np.sqrt(n_groups)
    best = 0.0
    for weight in FEW_PULLS:
        fusion = np.array([1.0, weight, 0.0])
        gains = np.bincount(place, weights=fuse(fusion, log_p, pull, degree)[rows, truth] - log_p[rows, truth])
        bound = float(gains.sum() - errors * gains.std(ddof=1))
        if bound > best:
            best, found = bound, fusion
    return found, total - best
