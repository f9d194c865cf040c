"""Sum-product on chains of two tags, the fast kernel under the model of highlighted words.

A chain of n tokens has n + 1 transitions, because both ends are boundaries tagged *outside*. Scores are looked up in
tables, one entry a kind of token (*key*) and one row a kind of place between tokens (*context*), so that exponentials
are taken a table entry, never a token. The recursions run on odds, a = α(I)/α(O) and b = β(I)/β(O): bounded, one
division a token, no logarithms. For more tags, or for the best sequence, use :mod:`accord.engines.chain`.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from accord.engines.graphs import Graphs
from accord.errors import InputError
from accord.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "SCORE_LIMIT",
    "TRANSITIONS",
    "BinaryChains",
    "ChainCounts",
    "expected_counts",
    "inside_marginals",
    "observed_counts",
]

TRANSITIONS = ("OO", "OI", "IO", "II")

# Odds stay finite in double precision as long as no score exceeds this in size.
SCORE_LIMIT = 100.0


@dataclass(frozen=True, eq=False)
class BinaryChains:
    """A ragged batch of chains."""

    keys: IntArray  # (n_tokens,) row of each token in the table of emission scores
    contexts: IntArray  # (n_tokens + n_chains,) row of each place in the table of transition scores
    offsets: IntArray  # (n_chains + 1,) first token of each chain; its first place is offsets[d] + d

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.offsets) - 1


@dataclass(frozen=True, eq=False)
class ChainCounts:
    """What a distribution over tag sequences expects to see, or what one sequence shows."""

    inside: FloatArray  # (n_keys,) tokens tagged inside, by key
    by_chain: FloatArray  # (n_chains,) tokens tagged inside, by chain
    transitions: FloatArray  # (n_contexts, 4) OO, OI, IO, II, by context


def expected_counts(
    chains: BinaryChains, emission_scores: FloatArray, transition_scores: FloatArray, bias: FloatArray | None = None
) -> tuple[float, ChainCounts]:
    """Log partition, summed over the chains, and the expected counts; exact.

    Parameters
    ----------
    chains : BinaryChains
    emission_scores : array of shape (n_keys,)
        Log weight of tagging such a token inside, against outside.
    transition_scores : array of shape (n_contexts, 4)
        Log weights of OO, OI, IO, II.
    bias : array of shape (n_chains,), optional
        Added to the emission score of every token of a chain.

    Returns
    -------
    log_partition : float
    counts : ChainCounts
        The gradient of ``log_partition`` with respect to the two tables and the bias.
    """
    emission, transition = _weights(emission_scores, transition_scores)
    inside, by_chain, transitions = np.zeros(len(emission)), np.zeros(chains.n_chains), np.zeros(transition.shape)
    log_partition = _count(
        *_arrays(chains), emission, transition, _lift(chains, bias), inside, by_chain, transitions, *_buffers(chains)
    )
    return float(log_partition), ChainCounts(inside, by_chain, transitions)


def inside_marginals(chains: BinaryChains, emission_scores: FloatArray, transition_scores: FloatArray) -> FloatArray:
    """Probability that each token is inside, shape (n_tokens,); exact."""
    emission, transition = _weights(emission_scores, transition_scores)
    marginals = np.empty(len(chains.keys))
    _marginals(*_arrays(chains), emission, transition, marginals, *_buffers(chains))
    return marginals


def observed_counts(chains: BinaryChains, tags: AnyArray, *, n_keys: int, n_contexts: int) -> ChainCounts:
    """The counts of given tags (n_tokens,), 1 where a token is inside."""
    tags = np.asarray(tags, dtype=np.int64)
    inside = np.bincount(chains.keys[tags == 1], minlength=n_keys).astype(np.float64)
    chain = np.repeat(np.arange(chains.n_chains), np.diff(chains.offsets))
    by_chain = np.bincount(chain[tags == 1], minlength=chains.n_chains).astype(np.float64)
    tokens = np.arange(len(tags)) + chain
    left, right = np.zeros(len(chains.contexts), dtype=np.int64), np.zeros(len(chains.contexts), dtype=np.int64)
    right[tokens] = tags  # a token is on the right of the place before it, and on the left of the place after it
    left[tokens + 1] = tags
    cells = chains.contexts.astype(np.int64) * 4 + 2 * left + right
    transitions = np.bincount(cells, minlength=4 * n_contexts).reshape(-1, 4).astype(np.float64)
    return ChainCounts(inside, by_chain, transitions)


def as_graphs(chains: BinaryChains, emission_scores: FloatArray, transition_scores: FloatArray) -> Graphs:
    """The same chains for the general engines: label 1 is inside; the boundaries become scores of the end nodes."""
    n = len(chains.keys)
    nodes = np.zeros((n, 2))
    nodes[:, 1] = emission_scores[chains.keys]
    table = transition_scores[chains.contexts].reshape(-1, 2, 2)  # left tag, right tag
    some = np.flatnonzero(np.diff(chains.offsets) > 0)
    first, last = chains.offsets[some], chains.offsets[some + 1] - 1
    nodes[first] += table[first + some, 0, :]
    nodes[last] += table[last + some + 1, :, 0]
    inner = np.ones(n, dtype=bool)
    inner[first] = False
    token = np.flatnonzero(inner)
    chain = np.repeat(np.arange(chains.n_chains), np.diff(chains.offsets))
    return Graphs.chain(nodes, np.diff(chains.offsets), table[token + chain[token]])


def _weights(emission_scores: FloatArray, transition_scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    for what, scores in (("emission", emission_scores), ("transition", transition_scores)):
        size = float(np.abs(scores).max(initial=0.0))
        if not size <= SCORE_LIMIT:
            raise InputError(
                f"the binary chain needs {what} scores of size at most {SCORE_LIMIT:g}; the largest is {size:.3g}. "
                "Scale the features down or regularise more."
            )
    return np.exp(np.ascontiguousarray(emission_scores)), np.exp(np.ascontiguousarray(transition_scores))


def _arrays(chains: BinaryChains) -> tuple[IntArray, IntArray, IntArray]:
    return chains.keys, chains.contexts, chains.offsets


def _lift(chains: BinaryChains, bias: FloatArray | None) -> FloatArray:
    return np.ones(chains.n_chains) if bias is None else np.exp(np.clip(bias, -SCORE_LIMIT, SCORE_LIMIT))


def _buffers(chains: BinaryChains) -> tuple[FloatArray, FloatArray]:
    longest = int(np.diff(chains.offsets).max(initial=0))
    return np.empty(longest + 1), np.empty(longest + 1)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _recursions(
    keys: IntArray,
    contexts: IntArray,
    start: int,
    n: int,
    place: int,
    emission: FloatArray,
    transition: FloatArray,
    lift: float,
    forward: FloatArray,
    backward: FloatArray,
) -> float:
    # Fills forward[m + 1] = a after token m and backward[m] = e·b at token m; returns log Z of the chain.
    # The two recursions do not depend on each other: side by side, each hides the latency of the other's division.
    last = contexts[place + n]
    a, b = 0.0, transition[last, 2] / transition[last, 0]
    log_z, scale = 0.0, 1.0
    forward[0] = 0.0
    for m in range(n):
        c = contexts[place + m]
        total = transition[c, 0] + a * transition[c, 2]
        a = lift * emission[keys[start + m]] * (transition[c, 1] + a * transition[c, 3]) / total
        forward[m + 1] = a
        scale *= total
        if scale > 1e120 or scale < 1e-120:
            log_z += np.log(scale)
            scale = 1.0
        r = n - 1 - m
        c = contexts[place + r]
        e = lift * emission[keys[start + r]] * b
        backward[r] = e
        b = (transition[c, 2] + e * transition[c, 3]) / (transition[c, 0] + e * transition[c, 1])
    return log_z + np.log(scale) + np.log(transition[last, 0] + a * transition[last, 2])


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _count(
    keys: IntArray,
    contexts: IntArray,
    offsets: IntArray,
    emission: FloatArray,
    transition: FloatArray,
    lift: FloatArray,
    inside: FloatArray,
    by_chain: FloatArray,
    transitions: FloatArray,
    forward: FloatArray,
    backward: FloatArray,
) -> float:
    log_z = 0.0
    for d in range(len(offsets) - 1):
        start, n = offsets[d], offsets[d + 1] - offsets[d]
        place = start + d
        log_z += _recursions(keys, contexts, start, n, place, emission, transition, lift[d], forward, backward)
        total = 0.0
        for m in range(n):
            c, a, e = contexts[place + m], forward[m], backward[m]
            oo, oi = transition[c, 0], e * transition[c, 1]
            io, ii = a * transition[c, 2], a * e * transition[c, 3]
            z = 1.0 / (oo + oi + io + ii)
            p = (oi + ii) * z
            inside[keys[start + m]] += p
            total += p
            transitions[c, 0] += oo * z
            transitions[c, 1] += oi * z
            transitions[c, 2] += io * z
            transitions[c, 3] += ii * z
        by_chain[d] = total
        c = contexts[place + n]
        oo, io = transition[c, 0], forward[n] * transition[c, 2]
        transitions[c, 0] += oo / (oo + io)
        transitions[c, 2] += io / (oo + io)
    return log_z


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _marginals(
    keys: IntArray,
    contexts: IntArray,
    offsets: IntArray,
    emission: FloatArray,
    transition: FloatArray,
    marginals: FloatArray,
    forward: FloatArray,
    backward: FloatArray,
) -> None:
    for d in range(len(offsets) - 1):
        start, n = offsets[d], offsets[d + 1] - offsets[d]
        _recursions(keys, contexts, start, n, start + d, emission, transition, 1.0, forward, backward)
        for m in range(n):
            odds = forward[m + 1] * backward[m] / emission[keys[start + m]]
            marginals[start + m] = odds / (1.0 + odds)
