"""How much links count beside the words, fitted on training texts that stand for new ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from accord.links.content import VIEWS, Content, HeldOut
from accord.links.dual import (
    PRICE,
    RAW,
    Agreement,
    Coupling,
    DualModel,
    Evidence,
    Pulled,
    beside_shares,
    fit_agreement,
    fit_apart,
    fit_coupling,
    fits_blocks,
    pieces,
    unreached,
)
from accord.links.features.words import LinkedTexts
from accord.links.order import in_own_order
from accord.typing import AnyArray, BoolArray, IntArray

__all__ = ["N_PARTS", "Chosen", "CouplingFit", "TrainingTexts", "Unreached", "agreeing"]

# What links, and what links of an implicit kind, may count; chosen on the training texts.
SCALES, IMPLICIT_SCALES = (0.0, 0.5, 1.0), (0.0, 0.15, 0.3)
# Words of neighbours must lower the log loss of a text by this much to be read where no label is known around it.
VIEW_PRICE = 0.01
# Where texts were left out one by one, they fall into so many parts, which stand for graphs that were not trained on.
N_PARTS = 2
# Where pieces of the graph without a label hold so many of the texts without one, they are thought of.
LEAST_APART = 0.05
NO_COUPLING = Coupling((), RAW)


@dataclass(frozen=True, eq=False)
class Unreached:
    """Pieces of the graph in which no text has a label."""

    share: float  # of the texts without a label
    folds: IntArray | None  # of labelled texts, which keep pieces whole; None where one piece holds all of them


@dataclass(frozen=True, eq=False)
class TrainingTexts:
    """Texts to train on, in an order of their own, and how they are left out."""

    texts: LinkedTexts
    codes: IntArray  # labels, −1 for a text without one
    order: IntArray  # positions, drawn from an order that does not depend on the order of rows
    groups: AnyArray  # texts that are left out together
    among: bool  # whether new texts will stand among labelled ones
    folds: IntArray  # of labelled texts, −1 for the others

    @classmethod
    def of(cls, texts: LinkedTexts, codes: IntArray, *, n_folds: int, seed: int) -> "TrainingTexts":
        """Texts with their folds."""
        texts = in_own_order(texts, codes)
        order = texts.order[np.random.default_rng(seed).permutation(texts.n_texts)]
        groups, among = _left_out_together(texts, codes)
        folds = np.full(texts.n_texts, -1, dtype=np.int64)
        folds[order[codes[order] >= 0]] = np.arange(int((codes >= 0).sum())) % n_folds
        return cls(texts, codes, order, groups, among, folds)

    @property
    def labelled(self) -> BoolArray:
        """Which texts have a label."""
        return np.asarray(self.codes >= 0)

    @property
    def units(self) -> IntArray | None:
        """The group of each text, whose texts are right or wrong together; ``None`` where every text is its own."""
        names, place = np.unique(self.texts.groups, return_inverse=True)
        return None if len(names) == self.texts.n_texts else place

    def unreached(self, links: Evidence, n_folds: int) -> Unreached | None:
        """Pieces without a label, where they hold enough of the texts without one."""
        if not self.among:
            return None
        share = float(unreached(links, self.codes).sum() / max(np.sum(~self.labelled), 1))
        if share < LEAST_APART:
            return None
        return Unreached(share, _piece_folds(pieces(links, self.texts.n_texts), self.codes, self.order, n_folds))

    def parts(self) -> tuple[IntArray, bool]:
        """A part of each text, labelled texts shared out evenly, and whether parts keep pieces of the graph whole.

        Whole groups make a part where there are enough of them. A graph without a loop may be cut without harm.
        """
        n, pairs = self.texts.n_texts, self.texts.pairs
        names, units = np.unique(self.texts.groups, return_inverse=True)
        grouped = 2 * N_PARTS <= len(names) < n
        units = units if grouped else np.arange(n)
        order = self.order[np.argsort(self.codes[self.order] < 0, kind="stable")]
        _, first, place = np.unique(units[order], return_index=True, return_inverse=True)
        parts = np.empty(n, dtype=np.int64)
        parts[order] = np.argsort(np.argsort(first))[place] % N_PARTS
        i, j = pairs.ends.T
        joined = sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n))
        n_pieces, _ = connected_components(joined, directed=False)
        return parts, bool(grouped or pairs.n_pairs == n - n_pieces)


@dataclass(frozen=True, eq=False)
class Chosen:
    """One way to read the words, with the model around it, and pulls that were computed while it was chosen."""

    content: Content
    model: DualModel
    rank: float = 0.0
    pulled: Pulled = field(default_factory=dict)
    pulled_away: Pulled = field(default_factory=dict)

    def replaced(self, content: Content, agreements: Sequence[Agreement]) -> "Chosen":
        """The same with other weights, by which nothing has been pulled yet."""
        model = replace(self.model, calibration=content.calibration, agreements=tuple(agreements))
        return Chosen(content, model, self.rank)


@dataclass(frozen=True, eq=False)
class CouplingFit:
    """What is fitted after content and links: which view is read, and what links count."""

    training: TrainingTexts
    evidence: Sequence[Evidence]
    unreached: Unreached | None
    n_labels: int
    inference: str
    coupling: float | str
    recalibrate: bool

    @property
    def scales(self) -> list[tuple[float, ...]]:
        """What links of each kind may count."""
        first = SCALES if isinstance(self.coupling, str) else (float(self.coupling),)
        both = zip((first, IMPLICIT_SCALES), self.evidence, strict=False)
        return [each if len(kind.ends) else (0.0,) for each, kind in both]

    @property
    def blocks(self) -> bool:
        """Whether the block model is tried."""
        return self.inference == "auto" and isinstance(self.coupling, str)

    def agreements(self, strength: float) -> tuple[Agreement, ...]:
        """What speaks for equal labels, for each kind of link."""
        codes = self.training.codes
        return tuple(
            fit_agreement(kind.features[seen], same, strength=strength)
            for kind in self.evidence
            for seen, same in [agreeing(kind.ends, codes)]
        )

    def choose(self, contents: Sequence[Content], agreements: tuple[Agreement, ...]) -> Chosen:
        """The view with which held-out texts have the lowest log loss."""
        tried = [self._ranked(content, agreements, alone=len(contents) == 1) for content in contents]
        return min(tried, key=lambda each: each.rank)

    def _ranked(self, content: Content, agreements: tuple[Agreement, ...], *, alone: bool) -> Chosen:
        training = self.training
        mixed = VIEWS.get(content.view, VIEWS["own"])[1]
        model = DualModel(content.calibration, agreements, NO_COUPLING, NO_COUPLING, self.inference, mixed)
        found = Chosen(content, model)
        if alone:
            return found
        among, codes = training.among, training.codes
        # While the content is chosen, one coupling stands for the others.
        first = [
            each[:1] if among and self.blocks else (each[0], each[-1]) if len(each) > 1 else each
            for each in self.scales
        ]
        asked = content.held_out(codes, training.folds, known=among)
        coupling = self._among_known(model, asked, scales=first, pulled=found.pulled)
        rank = coupling.rank
        if self.unreached is not None and self.unreached.folds is not None:
            away = content.held_out(codes, self.unreached.folds, known=True, in_pieces=True)
            loss = fit_apart(model, coupling, away, codes, self.evidence, found.pulled_away)[1]
            rank += self.unreached.share * (loss - rank)
        price = PRICE + (0.0 if among else VIEW_PRICE * float(training.labelled.sum()))
        rank += price * (content.view != ("both" if among else "own"))
        return replace(found, rank=rank, pulled=found.pulled if among else {})

    def _among_known(self, model: DualModel, asked: Sequence[HeldOut], **settings: Any) -> Coupling:
        return fit_coupling(
            model, asked, self.training.codes, self.evidence,
            recalibrate=self.recalibrate, blocks=self.blocks, **settings,
        )  # fmt: skip

    def among_known(self, chosen: Chosen) -> Coupling:
        """What links count for texts among known labels."""
        codes, content, model = self.training.codes, chosen.content, chosen.model
        asked = content.held_out(codes, self.training.folds, known=True)
        known = self._among_known(model, asked, scales=self.scales, doubted=True, pulled=chosen.pulled)
        if self.unreached is None:
            return known
        if self.unreached.folds is None:
            return replace(known, apart=np.array([1.0, 0.0, 0.0]))
        away = content.held_out(codes, self.unreached.folds, known=True, in_pieces=True)
        return replace(known, apart=fit_apart(model, known, away, codes, self.evidence, chosen.pulled_away)[0])

    def free(self, model: DualModel, new: Sequence[HeldOut], around: Sequence[Evidence], *, cut: bool) -> Coupling:
        """What links count in graphs without a known label, from texts that stand for such graphs.

        ``cut`` says that these texts have lost some of their links.
        """
        codes, scales, blocks = self.training.codes, self.scales, False
        if cut and self.blocks and fits_blocks(self.evidence, self.n_labels):
            # Mean field, chosen where half of the links are cut, floods a graph that has all of its links.
            scales, blocks = [scales[0][:1], *scales[1:]], True
        units = self.training.units
        apart = fit_coupling(
            model, new, codes, around, scales=scales, blocks=blocks, recalibrate=self.recalibrate, units=units
        )
        if not self.recalibrate or units is None:
            return apart
        return beside_shares(apart, codes, self.n_labels, len(np.unique(units[self.training.labelled])))


def agreeing(ends: IntArray, codes: IntArray) -> tuple[IntArray, AnyArray]:
    """The pairs of two labelled texts, and whether they have the same label."""
    seen = np.flatnonzero((codes[ends] >= 0).all(axis=1))
    return seen, codes[ends[seen, 0]] == codes[ends[seen, 1]]


def _left_out_together(texts: LinkedTexts, codes: IntArray) -> tuple[AnyArray, bool]:
    """The group that each text is left out with, and whether new texts will stand among labelled ones.

    Where one group holds all texts, or groups are labelled in part, texts are left out one by one.
    """
    names, place = np.unique(texts.groups, return_inverse=True)
    n_labelled = np.bincount(place[codes >= 0], minlength=len(names))
    size = np.bincount(place, minlength=len(names))
    partly = bool(np.any((n_labelled > 0) & (n_labelled < size)))
    among = partly or len(names) == 1 or len(names) == texts.n_texts
    return (np.argsort(texts.order) if among else texts.groups), among


def _piece_folds(piece: IntArray, codes: IntArray, order: IntArray, n_folds: int) -> IntArray | None:
    """Folds of labelled texts, −1 for the others, that keep pieces of the graph whole; ``None`` with one such piece."""
    labelled = order[codes[order] >= 0]
    _, first, place = np.unique(piece[labelled], return_index=True, return_inverse=True)
    if len(first) < 2:
        return None
    folds = np.full(len(codes), -1, dtype=np.int64)
    folds[labelled] = np.argsort(np.argsort(first))[place] % n_folds
    return folds
