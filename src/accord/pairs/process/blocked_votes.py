"""Stochastic inference whose batches are blocks of votes: each block is summed where it is."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from accord.pairs.process.kernels import Inputs, Kernel
from accord.pairs.process.likelihoods import Ballots, Preference
from accord.pairs.process.posterior import Votes
from accord.pairs.process.stochastic import CHUNK, StochasticPosterior, VoteProcess, stochastic_posterior
from accord.scale.blocks import Blocks
from accord.scale.partition import cut
from accord.scale.workers import Workers
from accord.typing import FloatArray, IntArray

__all__ = ["ReadVotes", "follow_blocks", "stochastic_inference", "votes_of_items"]

_STEPS, _MOST_EPOCHS = 1000, 5
# A block as votes: positions left and right, ballots (or values alone) and weights, in one piece or in several.
ReadVotes = Callable[[Any], Iterable[tuple[IntArray, IntArray, Ballots | FloatArray, FloatArray]]]


def stochastic_inference(
    kernel: Kernel,
    theta: FloatArray,
    x: Inputs,
    z: Inputs,
    votes: Votes,
    likelihood: Preference,
    *,
    method: str = "auto",
    rng: np.random.Generator,
    batch_size: int = 2000,
    n_epochs: int | None = None,
    forgetting: float = 0.7,
    delay: float = 1.0,
    workers: Workers | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> StochasticPosterior:
    """Posterior of the inducing points ``z`` by mini-batches.

    Parameters
    ----------
    kernel, theta, x, z, votes, likelihood, method
        As in :func:`~accord.pairs.process.posterior.infer`; ``"variational"`` is the published linearisation.
    rng : numpy.random.Generator
        Deals the votes into batches, once, and their order in every pass.
    batch_size : int
        Votes a step. Batches beyond 20,000 votes are several blocks, which workers sum at the same time.
    n_epochs : int or None
        How often every vote is seen; ``None`` takes about a thousand steps, but sees no vote more than five times.
    forgetting, delay : float
        Step sizes ρ_t = (t + delay)^−forgetting.
    workers : Workers, optional
        They do not change the result.
    progress : callable, optional
        Called with (steps done, steps in all).
    """
    n_votes = votes.left.size
    order = rng.permutation(n_votes)
    blocks = [
        (votes.left[rows], votes.right[rows], votes.ballots.take(rows), votes.weight[rows])
        for rows in (order[part] for part in cut(np.ones(n_votes), min(batch_size, CHUNK)))
    ]
    process = VoteProcess.of(kernel, theta, x, z, likelihood, method)
    with (workers or Workers()).open(blocks, common=(process, _in_memory)) as opened:
        return follow_blocks(
            opened, np.array([len(block[0]) for block in blocks]), process.root, rng=rng, batch_size=batch_size,
            n_epochs=n_epochs, forgetting=forgetting, delay=delay, progress=progress,
        )  # fmt: skip


def _in_memory(block: Any) -> Any:
    return [block]


def follow_blocks(
    blocks: Blocks,
    sizes: IntArray,
    root: FloatArray,
    *,
    rng: np.random.Generator,
    batch_size: int,
    n_epochs: int | None,
    forgetting: float,
    delay: float,
    progress: Callable[[int, int], None] | None = None,
) -> StochasticPosterior:
    """The posterior by steps of about ``batch_size`` votes, each some whole blocks, in a new order every pass.

    Parameters
    ----------
    blocks : Blocks
        Opened with ``common=(process, read)``: a :class:`~accord.pairs.process.stochastic.VoteProcess`, and a
        :data:`ReadVotes` that says how a block becomes votes.
    sizes : int array of shape (n_blocks,)
        Votes of each block.
    root : array of shape (m, m)
        That of the process.
    rng, batch_size, n_epochs, forgetting, delay, progress
        As in :func:`stochastic_inference`.
    """
    if n_epochs is None:
        a_pass = max(1, -(-int(sizes.sum()) // batch_size))
        n_epochs = min(_MOST_EPOCHS, -(-_STEPS // a_pass))
    steps: list[IntArray] = []
    for _ in range(n_epochs):
        order = rng.permutation(len(sizes))
        steps += [np.sort(order[part]) for part in cut(sizes[order], batch_size)]
    n_votes = float(sizes.sum())

    def sums(t: int, mean: FloatArray, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
        precision, shift = blocks.sum(_block_sums, (mean, factor), which=steps[t].tolist(), what="votes")
        scale = n_votes / float(sizes[steps[t]].sum())
        return scale * precision, scale * shift

    return stochastic_posterior(root, sums, n_steps=len(steps), forgetting=forgetting, delay=delay, progress=progress)


def votes_of_items(blocks: Blocks, n_items: int) -> IntArray:
    """In how many votes each item stands, shape (n_items,); ``blocks`` as in :func:`follow_blocks`."""
    counts: IntArray = blocks.sum(_block_counts, n_items, what="counting")
    return counts


def _block_counts(block: Any, shared: Any, rng: np.random.Generator) -> IntArray:
    (_, read), n_items = shared
    counts = np.zeros(n_items, dtype=np.int64)
    for left, right, _, _ in read(block):
        counts += np.bincount(left, minlength=n_items) + np.bincount(right, minlength=n_items)
    return counts


def _block_sums(block: Any, shared: Any, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """The sums of one block, added piece by piece in their order."""
    (process, read), (mean, factor) = shared
    m = len(mean)
    precision, shift = np.zeros((m, m)), np.zeros(m)
    for left, right, said, weight in read(block):
        ballots = said if isinstance(said, Ballots) else Ballots.of(said, len(process.likelihood.rates))
        one, other = process.sums(left, right, ballots, weight, mean, factor)
        precision += one
        shift += other
    return precision, shift
