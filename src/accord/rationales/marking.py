"""Predicting highlights: how likely each word is to be marked, and from which probability on tokens are.

While word weights θ are learnt, words enter the model of the annotator only through θ, so that the only way to explain
a highlight is to give its words a weight ([ZE08] section 5.3). Once θ is known, highlights are better predicted by a
model that also knows which words people mark, and beside which words they do, whatever these say of the class. It is
fitted to texts left out, with the θ of models that have not seen them: on its own training texts θ looks better than it
is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from accord.rationales.annotator import Habits, Strengths, habit_prior, highlight_loss, inside_probabilities
from accord.rationales.annotator_fit import Coordinates
from accord.rationales.highlights import expected_threshold
from accord.rationales.marked_texts import MarkedTexts
from accord.typing import BoolArray, FloatArray

__all__ = ["Marking", "fit_lexicon", "learn_marking", "with_marks_of"]

Part = tuple[MarkedTexts, FloatArray]

# Variances of the lexicon, among which texts left out decide.
_VARIANCES = (0.03, 0.1, 0.3, 1.0)
# The texts left out are taken out of the lexicon in so many turns at most.
_TURNS = 5
# Somebody with fewer texts than this shares the threshold of all.
_OWN_THRESHOLD = 10


@dataclass(frozen=True, eq=False)
class Marking:
    """What predicts highlights, beside the word weights of the classes."""

    # (3, n_words) what each word adds, whatever it says of the class, to the score of being highlighted: to its own, to
    # that of the token after it, and to that of the token before it
    lexicon: FloatArray
    table: FloatArray  # (n_habits, n_phi) φ beside the lexicon: of nobody in particular, then of each person
    thresholds: FloatArray  # (n_habits,) probability from which a token counts as highlighted
    variance: float  # of the lexicon, as chosen; 0 without one
    f1: float  # of the tokens of texts left out, or NaN

    @classmethod
    def of_habits(cls, texts: MarkedTexts, weights: FloatArray, table: FloatArray) -> "Marking":
        """Without a lexicon, with the thresholds that are best on the training texts themselves."""
        inside = inside_probabilities(texts, weights, table) if texts.n_chains else np.zeros(0)
        return cls(
            np.zeros((3, texts.n_words)), table, _thresholds([(texts, weights)], inside, texts.tags), 0.0, float("nan")
        )


def fit_lexicon(
    parts: Sequence[Part],
    habits: Habits,
    variance: float,
    *,
    deviation_variance: float = 0.25,
    emissions: str = "bounded",
    start: FloatArray | None = None,
    max_iter: int = 60,
    tol: float = 1e-2,
    value_tol: float = 1e-5,
) -> tuple[FloatArray, Habits]:
    """The lexicon and the habits beside it that explain the highlights best, given class weights; convex.

    Parameters
    ----------
    parts : sequence of (MarkedTexts, array of shape (n_classes, n_features))
        Texts with the class weights to read them with.
    habits : Habits
        Where to start.
    variance : float
        Of the scores in the lexicon.
    deviation_variance, emissions, max_iter, tol, value_tol
        As in :func:`~accord.rationales.annotator_fit.fit_joint`.
    start : array of shape (3, n_words), optional
        Where the lexicon starts.

    Returns
    -------
    lexicon : array of shape (3, n_words)
    habits : Habits
    """
    shape = (3, parts[0][0].n_words)
    n = shape[0] * shape[1]
    strengths = Strengths(1.0, variance, deviation_variance=deviation_variance)
    at = Coordinates.of(parts[0][0], habits, strengths, emissions)

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        lexicon, moved = vector[:n].reshape(shape), at.unpack(vector[n:])
        value, gradient = habit_prior(moved, strengths)
        by_lexicon, by_table = lexicon / variance, np.zeros(moved.table.shape)
        value += 0.5 * float((lexicon * by_lexicon).sum())
        for texts, weights in parts:
            more, by_word, by_phi, _ = highlight_loss(texts, weights, moved.table, None, lexicon)
            value, by_lexicon, by_table = value + more, by_lexicon + by_word, by_table + by_phi
        gradient = gradient.plus(moved.gradient(by_table, moved.bias))
        return value, np.concatenate([by_lexicon.ravel(), at.pack_gradient(gradient)])

    first = np.concatenate([np.zeros(n) if start is None else start.ravel(), at.pack(habits)])
    best = at.minimise(flat, first, max_iter=max_iter, tol=tol, value_tol=value_tol).weights
    return best[:n].reshape(shape), at.unpack(best[n:])


def with_marks_of(
    marking: Marking, texts: MarkedTexts, weights: FloatArray, habits: Habits, *, emissions: str = "bounded"
) -> Marking:
    """The marking with one more row, for somebody else: beside the same lexicon their habits and their threshold.

    Parameters
    ----------
    marking : Marking
    texts : MarkedTexts
        With their highlights.
    weights : array of shape (n_classes, n_features)
    habits : Habits
        Where to start; convex.
    emissions
        As in :func:`fit_lexicon`.
    """
    strengths = Strengths(1.0, 1.0)
    at = Coordinates.of(texts, habits, strengths, emissions)

    def flat(vector: FloatArray) -> tuple[float, FloatArray]:
        moved = at.unpack(vector)
        value, gradient = habit_prior(moved, strengths)
        more, _, by_phi, _ = highlight_loss(texts, weights, moved.table, None, marking.lexicon)
        return value + more, at.pack_gradient(gradient.plus(moved.gradient(by_phi, moved.bias)))

    found = at.unpack(at.minimise(flat, at.pack(habits), max_iter=200, tol=1e-2, value_tol=1e-6).weights)
    inside = inside_probabilities(texts, weights, found.table, marking.lexicon)
    table = np.concatenate([marking.table, found.table[:1]])
    return replace(
        marking, table=table, thresholds=np.append(marking.thresholds, expected_threshold(inside, texts.tags))
    )


def learn_marking(
    parts: Sequence[Part], habits: Habits, *, deviation_variance: float = 0.25, emissions: str = "bounded"
) -> tuple[Marking, list[tuple[FloatArray, FloatArray]]]:
    """The lexicon, the habits and the thresholds that predict highlights of texts left out best.

    Parameters
    ----------
    parts : sequence of (MarkedTexts, array)
        Texts left out in two parts or more, as from :func:`~accord.rationales.annotator_choice.left_out_parts`.
    habits : Habits
        As fitted with the word weights.
    deviation_variance, emissions
        As in :func:`fit_lexicon`.

    Returns
    -------
    marking : Marking
    without : list of (lexicon, table)
        For each part the lexicon, and φ of all people, of a model that has not seen it.
    """
    start = Habits(habits.common, habits.deviations, np.zeros(0), habits.n_emissions)
    settings: dict[str, Any] = {"deviation_variance": deviation_variance, "emissions": emissions}
    turns = [parts[turn::_TURNS] for turn in range(min(_TURNS, len(parts)))]
    in_turn = [part for turn in turns for part in turn]
    tags = np.concatenate([texts.tags for texts, _ in in_turn])
    found: list[tuple[float, float, FloatArray, list[tuple[FloatArray, Habits]]]] = []
    lexicon: FloatArray
    lexicons: list[tuple[FloatArray, Habits]] = [(np.zeros((3, parts[0][0].n_words)), start)] * len(turns)
    for variance in _VARIANCES:
        inside = []
        for place, turn in enumerate(turns):
            others = [part for other in (*turns[:place], *turns[place + 1 :]) for part in other]
            lexicon, moved = lexicons[place]
            lexicons[place] = lexicon, moved = fit_lexicon(others, moved, variance, start=lexicon, **settings)
            inside += [inside_probabilities(texts, weights, moved.table, lexicon) for texts, weights in turn]
        p = np.concatenate(inside)
        marked = p >= expected_threshold(p, tags)
        f1 = 2.0 * float((marked & tags).sum()) / max(1, int(marked.sum() + tags.sum()))
        found.append((f1, variance, p, list(lexicons)))
    f1, variance, p, lexicons = max(found, key=lambda one: one[0])
    lexicon, moved = fit_lexicon(parts, start, variance, **settings)
    marking = Marking(lexicon, moved.table, _thresholds(in_turn, p, tags), variance, f1)
    by_turn = [(own, habits.table) for own, habits in lexicons]
    return marking, [by_turn[place % len(turns)] for place in range(len(parts))]


def _thresholds(parts: Sequence[Part], p: FloatArray, tags: BoolArray) -> FloatArray:
    """Of all, then of each person, shape (n_habits,)."""
    shared = expected_threshold(p, tags)
    chain_habit = np.concatenate([texts.chain_habit for texts, _ in parts])
    habit = np.repeat(chain_habit, np.concatenate([np.diff(texts.offsets) for texts, _ in parts]))
    counts = np.bincount(chain_habit, minlength=parts[0][0].n_habits)
    own = [
        expected_threshold(p[habit == row], tags[habit == row]) if row and counts[row] >= _OWN_THRESHOLD else shared
        for row in range(len(counts))
    ]
    return np.array(own)
