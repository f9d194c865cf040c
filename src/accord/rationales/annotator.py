"""A classifier that learns from the words people highlight: loss and gradient ([ZE08] eq. 4).

    Σᵢ log p_θ(yᵢ|xᵢ) − ‖θ‖²/2σ_θ²  +  C ( Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) − ‖φ‖²/2σ_φ² )

p_θ is log-linear. p_φ is a chain over the tags inside/outside of every token, and sees a word only through its weight
for the text's class: words that matter to the classifier are likely to be highlighted, so what was highlighted says
which words should matter. All annotators share the habits φ; each may deviate from them.
"""

from dataclasses import dataclass

import numpy as np

from accord.engines.chain import viterbi
from accord.rationales.binary_chain import SCORE_LIMIT, BinaryChains, as_graphs, expected_counts, inside_marginals
from accord.rationales.marked_texts import BlockedTexts, MarkedTexts
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Habits",
    "Strengths",
    "best_tags",
    "class_loss",
    "class_maps",
    "class_scores",
    "emission_names",
    "emission_scores",
    "habit_prior",
    "highlight_loss",
    "inside_probabilities",
    "loss",
    "worth_of_highlights",
]

_SLOPE = 10.0  # s in B_s, [ZE08] eq. 3


@dataclass(frozen=True)
class Strengths:
    """How much each part of the objective counts.

    ``printed_prior`` takes [ZE08] eq. 4 as printed, with the prior on φ outside C( … ): it then outweighs the
    highlighted words unless ``phi_variance`` is large.
    """

    C: float
    theta_variance: float
    phi_variance: float = 1.0
    deviation_variance: float = 0.25  # of one person's habits about the common ones
    bias_variance: float = 0.0  # of one text's readiness to be marked ([ZE08] footnote 6); 0: there is none
    printed_prior: bool = False

    @property
    def prior_weight(self) -> float:
        """How much the priors on habits count."""
        return 1.0 if self.printed_prior else self.C


@dataclass(frozen=True, eq=False)
class Habits:
    """How people highlight: what they share, how each differs, and how ready each text was to be marked."""

    common: FloatArray  # (n_phi,) φ of a person of whom nothing is known: emissions, then transitions
    deviations: FloatArray  # (n_habits - 1, n_phi) emissions as logarithms of factors, transitions as differences
    bias: FloatArray  # (n_chains,) or, where texts do not differ, (0,)
    n_emissions: int

    @property
    def table(self) -> FloatArray:
        """φ of nobody in particular, then of each person, shape (n_habits, n_phi)."""
        n = self.n_emissions
        emissions = self.common[:n] * np.exp(self.deviations[:, :n])
        people = np.concatenate([emissions, self.common[n:] + self.deviations[:, n:]], axis=1)
        return np.concatenate([self.common[None], people])

    def plus(self, other: "Habits") -> "Habits":
        """Entry by entry."""
        return Habits(
            self.common + other.common, self.deviations + other.deviations, self.bias + other.bias, self.n_emissions
        )

    def gradient(self, by_table: FloatArray, by_bias: FloatArray) -> "Habits":
        """The gradient by these habits from that by :attr:`table`."""
        n = self.n_emissions
        by_common = by_table.sum(axis=0)
        by_common[:n] = by_table[0, :n] + (by_table[1:, :n] * np.exp(self.deviations[:, :n])).sum(axis=0)
        by_deviation = np.concatenate([by_table[1:, :n] * self.table[1:, :n], by_table[1:, n:]], axis=1)
        return Habits(by_common, by_deviation, by_bias, n)


def emission_names(thresholds: tuple[float, ...] = ()) -> list[str]:
    """Names of the emission features: relevance, irrelevance, and relevance above each threshold."""
    return ["rel", "antirel", *(f"rel>{threshold:g}" for threshold in thresholds)]


def class_maps(n_classes: int) -> FloatArray:
    """The matrix from the rows of θ to one weight vector a class, shape (n_classes, n_rows).

    Two classes share one row with opposite signs, as in the paper; more have one row each, centred, so that a weight
    says how much a word speaks for a class against the others.
    """
    if n_classes == 2:
        return np.array([[-1.0], [1.0]])
    return np.eye(n_classes) - 1.0 / n_classes


def emission_scores(
    weights: FloatArray, phi: FloatArray, thresholds: tuple[float, ...] = ()
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """φ_rel B₁₀(a) + φ_antirel B₋₁₀(a) + Σ_t φ_t B₁₀(a − t) for weights a.

    Parameters
    ----------
    weights : array of shape (n,)
    phi : array of shape (n, n_emissions) or (n_emissions,)
    thresholds : tuple of float
        The t of [ZE08] footnote 11.

    Returns
    -------
    scores : array of shape (n,)
        Held within ±100, far beyond what a fitted model reaches.
    slopes : array of shape (n,)
        Derivative of the scores by the weights.
    features : array of shape (n, n_emissions)
    """
    # B_s(a) = (log(1 + e^{as}) − log 2)/s, so B_s(a) + B₋ₛ(a) = a and B_s' = sigmoid(sa)
    shifted = weights[:, None] - np.array([0.0, *thresholds])
    small = np.exp(-_SLOPE * np.abs(shifted))
    relevance = np.maximum(shifted, 0.0) + (np.log1p(small) - np.log(2.0)) / _SLOPE
    rising = np.where(shifted > 0, 1.0, small) / (1.0 + small)
    features = np.concatenate([relevance[:, :1], weights[:, None] - relevance[:, :1], relevance[:, 1:]], axis=1)
    rises = np.concatenate([rising[:, :1], 1.0 - rising[:, :1], rising[:, 1:]], axis=1)
    scores, slopes = (phi * features).sum(axis=1), (phi * rises).sum(axis=1)
    beyond = np.abs(scores) > SCORE_LIMIT
    if beyond.any():
        scores, slopes = np.clip(scores, -SCORE_LIMIT, SCORE_LIMIT), np.where(beyond, 0.0, slopes)
    return scores, slopes, features


def class_scores(texts: MarkedTexts, theta: FloatArray) -> FloatArray:
    """log p_θ(y|x) up to a constant, shape (n_texts, n_classes)."""
    return np.asarray((texts.design @ theta.T) @ class_maps(texts.n_classes).T + texts.log_prior)


def class_loss(texts: MarkedTexts, theta: FloatArray) -> tuple[float, FloatArray]:
    """−Σᵢ log p_θ(yᵢ|xᵢ) and its gradient by θ, shape (n_rows, n_features)."""
    scores = class_scores(texts, theta)
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    totals = weights.sum(axis=1)
    value = float(np.log(totals).sum() - scores[np.arange(texts.n_texts), texts.labels].sum())
    excess = (weights / totals[:, None] - texts.one_hot) @ class_maps(texts.n_classes)
    return value, (texts.design_transposed @ excess).T


def _scores(
    texts: MarkedTexts, class_weights: FloatArray, table: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Emission scores (n_keys,), their slopes and features, and transition scores (4 · n_places,)."""
    keyed, n_emissions = texts.keyed, 2 + len(texts.thresholds)
    # Tokens without a word type weigh nothing.
    padded = np.zeros((len(class_weights), texts.n_words + 1))
    padded[:, :-1] = class_weights[:, : texts.n_words]
    weights = padded.ravel()[keyed.word]
    scores, slopes, features = emission_scores(weights, table[keyed.habit, :n_emissions], texts.thresholds)
    return scores, slopes, features, keyed.transitions @ table[:, n_emissions:].ravel()


def _with_lexicon(texts: MarkedTexts, scores: FloatArray, lexicon: FloatArray) -> FloatArray:
    """The emission score of each token from those of its key and of the words at and beside it, shape (n_tokens,)."""
    total = scores[texts.keyed.chains.keys]
    for own, words in zip(lexicon, texts.neighbourhood, strict=True):
        total += np.append(own, 0.0)[words]
    return np.clip(total, -SCORE_LIMIT, SCORE_LIMIT)


def highlight_loss(
    texts: MarkedTexts,
    class_weights: FloatArray,
    table: FloatArray,
    bias: FloatArray | None = None,
    lexicon: FloatArray | None = None,
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """−Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) and its gradients.

    Parameters
    ----------
    texts : MarkedTexts
    class_weights : array of shape (n_classes, n_features)
    table : array of shape (n_habits, n_phi)
    bias : array of shape (n_chains,), optional
    lexicon : array of shape (3, n_words), optional
        What each word adds to the score of being highlighted, whatever it says of the class: its own score, that of
        the token after it, and that of the token before it.

    Returns
    -------
    value : float
    word_gradient : array of shape (n_classes, n_words), or (3, n_words)
        By the class weights; with a lexicon, by the lexicon instead.
    table_gradient : array of shape (n_habits, n_phi)
    bias_gradient : array of shape (n_chains,)
    """
    keyed, seen = texts.keyed, texts.keyed.counts
    scores, slopes, features, raw = _scores(texts, class_weights, table)
    transitions = np.clip(raw, -SCORE_LIMIT, SCORE_LIMIT).reshape(-1, 4)
    if lexicon is None:
        log_partition, expected = expected_counts(keyed.chains, scores, transitions, bias)
        value = log_partition - float(seen.inside @ scores)
        excess = expected.inside - seen.inside
        by_word = _by_word(texts.n_classes * (texts.n_words + 1), keyed.word, excess * slopes, texts.n_words)
    else:
        by_token = _with_lexicon(texts, scores, lexicon)
        log_partition, expected = expected_counts(keyed.token_chains, by_token, transitions, bias)
        value = log_partition - float(by_token[texts.tags].sum())
        over = expected.inside - texts.tags
        excess = np.bincount(keyed.chains.keys, over, len(scores)).astype(np.float64)
        by_word = np.concatenate([_by_word(texts.n_words + 1, w, over, texts.n_words) for w in texts.neighbourhood])
    value -= float((seen.transitions * transitions).sum())
    if bias is not None:
        value -= float(seen.by_chain @ bias)
    by_emission = [np.bincount(keyed.habit, excess * one, texts.n_habits) for one in features.T]
    moved = np.where(np.abs(raw) <= SCORE_LIMIT, (expected.transitions - seen.transitions).ravel(), 0.0)
    by_transition = (keyed.transitions_transposed @ moved).reshape(texts.n_habits, -1)
    by_table = np.concatenate([np.stack(by_emission, axis=1), by_transition], axis=1)
    return value, by_word, by_table, expected.by_chain - seen.by_chain


def _by_word(n_cells: int, cells: IntArray, amounts: FloatArray, n_words: int) -> FloatArray:
    """Amounts summed by cell, rows of the words, without what belongs to no word."""
    summed: FloatArray = np.bincount(cells, weights=amounts, minlength=n_cells).astype(np.float64)
    return summed.reshape(-1, n_words + 1)[:, :-1]


def data_loss(
    texts: MarkedTexts, theta: FloatArray, table: FloatArray, C: float, bias: FloatArray | None = None
) -> tuple[float, FloatArray, FloatArray, FloatArray]:
    """−Σᵢ log p_θ(yᵢ|xᵢ) − C Σᵢ log p_φ(rᵢ|xᵢ,yᵢ,θ) with its gradients by θ, φ and the texts' bias.

    A sum over the texts: blocks of texts are summed where they are.
    """
    if isinstance(texts, BlockedTexts):
        found: tuple[float, FloatArray, FloatArray] = texts.blocks.sum(_of_block, (theta, table, C), what="loss")
        return *found, np.zeros(0)
    maps = class_maps(texts.n_classes)
    value, by_theta = class_loss(texts, theta)
    if C == 0 or not texts.n_chains:
        return value, by_theta, np.zeros(table.shape), np.zeros(0 if bias is None else len(bias))
    marks, by_word, by_table, by_bias = highlight_loss(texts, maps @ theta, table, bias)
    by_theta[:, : texts.n_words] += C * (maps.T @ by_word)
    return value + C * marks, by_theta, C * by_table, C * by_bias


def _of_block(
    texts: MarkedTexts, shared: tuple[FloatArray, FloatArray, float], rng: np.random.Generator
) -> tuple[float, FloatArray, FloatArray]:
    return data_loss(texts, *shared)[:3]


def loss(
    texts: MarkedTexts, theta: FloatArray, habits: Habits, strengths: Strengths, free: BoolArray | None = None
) -> tuple[float, FloatArray, Habits]:
    """The negative of [ZE08] eq. 4 and its gradients.

    Parameters
    ----------
    texts : MarkedTexts
    theta : array of shape (n_rows, n_features)
    habits : Habits
    strengths : Strengths
    free : bool array of shape (n_features,), optional
        Features without a prior (an intercept).

    Returns
    -------
    value : float
    theta_gradient : array like ``theta``
    habits_gradient : Habits
    """
    bias = habits.bias if len(habits.bias) else None
    value, by_theta, by_table, by_bias = data_loss(texts, theta, habits.table, strengths.C, bias)
    gradient = habits.gradient(by_table, by_bias if bias is not None else habits.bias)
    penalised = theta if free is None else np.where(free, 0.0, theta)
    more, by_habits = habit_prior(habits, strengths)
    variance = strengths.theta_variance * (1.0 if texts.ease is None else texts.ease**2)
    by_prior = penalised / variance
    value += 0.5 * float((penalised * by_prior).sum()) + more
    return value, by_theta + by_prior, gradient.plus(by_habits)


def habit_prior(habits: Habits, strengths: Strengths) -> tuple[float, Habits]:
    """The penalty of habits and its gradient.

    The prior on emission weights is that of the mean square over all habits: if it held for the common ones alone, they
    could shrink while everybody's factors grow.
    """
    weight, n = strengths.prior_weight, habits.n_emissions
    on_phi, on_people = weight / strengths.phi_variance, weight / strengths.deviation_variance
    on_bias = weight / strengths.bias_variance if len(habits.bias) else 0.0
    squares = np.exp(2.0 * habits.deviations[:, :n]) / (1.0 + len(habits.deviations))
    by_common, by_people = on_phi * habits.common, on_people * habits.deviations
    value = by_common @ habits.common + (by_people * habits.deviations).sum() + on_bias * (habits.bias @ habits.bias)
    excess = squares.sum(axis=0) - len(habits.deviations) / (1.0 + len(habits.deviations))
    value += on_phi * float(excess @ habits.common[:n] ** 2)
    by_common[:n] *= 1.0 + excess
    by_people[:, :n] += on_phi * squares * habits.common[:n] ** 2
    return 0.5 * float(value), Habits(by_common, by_people, on_bias * habits.bias, n)


def _chains(
    texts: MarkedTexts, class_weights: FloatArray, table: FloatArray, lexicon: FloatArray | None
) -> tuple[BinaryChains, FloatArray, FloatArray]:
    """The chains with their emission scores and transition scores (n_places, 4)."""
    scores, _, _, raw = _scores(texts, class_weights, table)
    transitions = np.clip(raw, -SCORE_LIMIT, SCORE_LIMIT).reshape(-1, 4)
    if lexicon is None:
        return texts.keyed.chains, scores, transitions
    return texts.keyed.token_chains, _with_lexicon(texts, scores, lexicon), transitions


def inside_probabilities(
    texts: MarkedTexts, class_weights: FloatArray, table: FloatArray, lexicon: FloatArray | None = None
) -> FloatArray:
    """Probability of each token to be highlighted, in the order of the chains, each under its own habits; exact."""
    return inside_marginals(*_chains(texts, class_weights, table, lexicon))


def best_tags(
    texts: MarkedTexts, class_weights: FloatArray, table: FloatArray, lexicon: FloatArray | None = None
) -> BoolArray:
    """The single most likely highlighting of each chain, in the order of the chains; exact."""
    return viterbi(as_graphs(*_chains(texts, class_weights, table, lexicon))) == 1


def worth_of_highlights(
    texts: MarkedTexts,
    class_weights: FloatArray,
    table: FloatArray,
    n_seen: FloatArray,
    lexicon: FloatArray | None = None,
) -> FloatArray:
    """What highlighting each text may teach, shape (n_texts,): words that will be highlighted, new ones first.

    A word counts by its probability of being highlighted, divided by 1 + the number of highlighted texts that hold it.

    Parameters
    ----------
    texts : MarkedTexts
        With one chain a text.
    class_weights : array of shape (n_classes, n_features)
    table : array of shape (n_habits, n_phi)
    n_seen : array of shape (n_words,)
        Highlighted texts that hold each word.
    """
    inside = inside_probabilities(texts, class_weights, table, lexicon)
    novelty = np.append(1.0 / (1.0 + n_seen), 0.0)[texts.words]
    chain = np.repeat(texts.chain_text, np.diff(texts.offsets))
    return np.bincount(chain, weights=inside * novelty, minlength=texts.n_texts).astype(np.float64)
