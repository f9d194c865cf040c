"""Probabilities of ranks under a fitted ordinal model: its nodes, and the field between aspects if there is one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from accord.aspects.agreement import AgreementModel, agreement_scores
from accord.aspects.features import given_annotators
from accord.aspects.field import aspect_graph, clamped, is_exact, joint_log_likelihood, with_marginals
from accord.aspects.field_fit import AspectCRF, Whitening, crf_scores, whitened
from accord.aspects.ordinal import OrdinalLogits, ordinal_logits, ordinal_probabilities, rank_probabilities
from accord.aspects.scorers import Scorers
from accord.engines.convergence import warn_unconverged
from accord.engines.numerics import entropy, normalise_log
from accord.errors import InputError
from accord.typing import FloatArray, IntArray

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What an ordinal model says of texts, given as sparse features of shape (n, n_features).

    Known ranks have the shape (n, m), 0 where they are open; they are certain, and the field infers the others.
    """

    ranker: OrdinalLogits | None  # None after end-to-end training
    crf: AspectCRF | None
    whitening: Whitening | None
    agreement: AgreementModel | None
    scorers: Scorers | None
    keeps_nodes: bool  # whether the marginals are those of the nodes
    n_aspects: int
    n_ranks: int

    def probabilities(self, x: Any, known: IntArray | None = None, annotator: Any = None) -> FloatArray:
        """Probabilities of ranks, shape (n, m, k), given known ranks."""
        if known is None and (self.crf is None or self.keeps_nodes):
            return self._nodes(x, annotator)
        if known is None:
            return self._joint(x, None, annotator)[0]
        _check_rows(known, x.shape[0])
        some = known.any(axis=1)
        if not some.all():  # what is known of one text says nothing of another
            p = np.empty((*known.shape, self.n_ranks))
            for part, ranks in ((np.flatnonzero(some), known[some]), (np.flatnonzero(~some), None)):
                if part.size:
                    own = None if annotator is None else np.asarray(annotator, dtype=object)[part]
                    p[part] = self.probabilities(x[part], ranks, own)
            return p
        p = self._joint(x, known, annotator)[0]
        return np.where(known[:, :, None] > 0, known[:, :, None] == np.arange(1, self.n_ranks + 1), p)

    def worth(self, x: Any, known: IntArray, annotator: Any = None) -> FloatArray:
        """By how much the entropy of all ranks of a text is expected to fall with the rank of one aspect, in nats.

        Shape (n, m), minus infinity where the rank is known. Every rank that it may have is tried out.
        """
        n, m, k = (*known.shape, self.n_ranks)
        p = self.probabilities(x, known, annotator)
        nodes, equal = self._field(x, annotator)
        nodes = clamped(nodes, known)
        left = np.zeros((n, m))
        for aspect in range(m):
            tried = np.repeat(known[:, None, :], k, axis=1)  # (n, k, m)
            tried[:, :, aspect] = np.where(known[:, [aspect]] > 0, known[:, [aspect]], np.arange(1, k + 1))
            given = clamped(np.repeat(nodes, k, axis=0), tried.reshape(n * k, m))
            then = self._marginals(given, np.repeat(equal, k))[0]
            left[:, aspect] = (p[:, aspect] * entropy(then).sum(axis=1).reshape(n, k)).sum(axis=1)
        return np.where(known > 0, -np.inf, entropy(p).sum(axis=1)[:, None] - left)

    def all_equal(self, x: Any, known: IntArray | None = None, annotator: Any = None) -> FloatArray:
        """Probability that all aspects have the same rank, shape (n,)."""
        return self._joint(x, known, annotator)[1]

    def log_likelihood(self, x: Any, ranks: IntArray, annotator: Any = None) -> FloatArray:
        """Joint log probability of the known ranks of each text, shape (n,)."""
        nodes, equal = self._field(x, annotator)
        if self.crf is not None:
            return joint_log_likelihood(nodes, self.crf.pair_scores, equal, ranks)
        own = np.take_along_axis(nodes, np.maximum(ranks - 1, 0)[:, :, None], axis=2)[:, :, 0]
        return np.where(ranks > 0, own, 0.0).sum(axis=1)

    def _shift(self, annotator: Any, n: int) -> FloatArray | None:
        """What the annotators of some texts add to the scores of the first stage, shape (n, n_scores)."""
        if annotator is None or self.scorers is None:
            return None
        return self.scorers.shifts_of(given_annotators(annotator, n))

    def _nodes(self, x: Any, annotator: Any) -> FloatArray:
        """Probabilities of ranks by the ordinal models alone, shape (n, m, k)."""
        assert self.ranker is not None  # only a field is trained end to end
        return ordinal_probabilities(self.ranker, x, self._shift(annotator, x.shape[0]))

    def _field(self, x: Any, annotator: Any) -> tuple[FloatArray, FloatArray]:
        """Node scores (n, m, k) and scores of equal ranks (n,)."""
        n = x.shape[0]
        if self.crf is None:
            return np.log(self._nodes(x, annotator)), np.zeros(n)
        if self.whitening is None or self.ranker is None:
            return crf_scores(self.crf, x)
        logits = ordinal_logits(self.ranker, x, self._shift(annotator, n))
        log_p = np.log(rank_probabilities(logits, self.n_aspects))
        evidence = None if self.agreement is None else agreement_scores(self.agreement, x)[:, None]
        nodes, equal = crf_scores(self.crf, whitened(self.whitening, logits), log_p, evidence)
        if self.keeps_nodes and is_exact(self.n_aspects, self.n_ranks):
            nodes = with_marginals(log_p, self.crf.pair_scores, equal)
        return nodes, equal

    def _joint(self, x: Any, known: IntArray | None, annotator: Any) -> tuple[FloatArray, FloatArray]:
        """Probabilities of ranks (n, m, k) and of equal ranks (n,) from the scores of the field."""
        nodes, equal = self._field(x, annotator)
        if known is not None:
            _check_rows(known, len(nodes))
            nodes = clamped(nodes, known)
        return self._marginals(nodes, equal)

    def _marginals(self, nodes: FloatArray, equal: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.crf is not None:
            found = aspect_graph(nodes, self.crf.pair_scores, equal)
            if found.convergence is not None:
                cure = "Raise edge_penalty, or drop aspects."
                warn_unconverged("Belief propagation over the aspects", found.convergence, cure=cure, stacklevel=6)
            return found.nodes, found.equal
        p = normalise_log(nodes)
        return p, p.prod(axis=1).sum(axis=1)


def _check_rows(known: IntArray, n: int) -> None:
    if len(known) != n:
        raise InputError(f"known must have a row a text; there are {n} texts and {len(known)} rows.")
