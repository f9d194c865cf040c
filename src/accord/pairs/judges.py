"""Pairs with judges: a ranking by what people prefer, learnt from people and from programs that judge, bias and all."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from accord.data.columns import annotator_ids
from accord.data.documents import Items
from accord.data.pairs import Comparisons, pair_frame
from accord.data.vote_order import arranged, places_of
from accord.errors import ConvergenceWarning, InputError
from accord.fitting.settings import Choice, Number, Object, Rule, Seed, check_settings
from accord.pairs.anchored import AnchoredDraws, JudgedVotes, draw_anchored
from accord.pairs.item_order import item_order
from accord.pairs.judged_votes import (
    families_of,
    judged_votes,
    odd_judges,
    one_sided,
    repeated_votes,
    without_copies,
)
from accord.pairs.ranking import rank_columns
from accord.pairs.stability import GroupState, Stability, stability
from accord.pairs.style import (
    COVARIATES,
    author_families,
    covariates_of,
    known_covariates,
    text_numbers,
    told_apart,
)
from accord.pairs.voters import RATES, rate_intervals
from accord.typing import BoolArray, FloatArray, IntArray

__all__ = ["AnchoredRanker", "slope_sentence"]

_LEVEL = 0.9
_FEWEST_DRAWS = 50  # independent draws that a quantile of 90 % needs
_LEAST_VOTES, _LEAST_PEOPLE = 5, 3  # from which people's rates of random answers are learnt
# A judge is used if at least half of what it sees in texts is what people prefer, with this probability.
_VALID, _SURE = 0.5, 0.9


class AnchoredRanker(BaseEstimator):
    """Ranks texts by what people prefer, from votes of people and of judges, which are programs with biases.

    Judges see a share of what people prefer, have slopes on stated covariates of the shown pair (the longer text, the
    left one, their own family's), and deviate on single texts, together with other judges, with their family and alone.
    All of it is learnt in one posterior with people as the anchor, so that any number of judges' votes cannot outvote
    people; see :mod:`accord.pairs.anchored`. A judge of which it is not sure that most of what it sees in texts is what
    people prefer is described but not used: it could add little to the ranking, and might mislead. Texts are ranked by
    votes alone; what they say is not read.

    Parameters
    ----------
    covariates : "auto" or sequence of str
        ``position, length, lists, markdown, family`` and ``meta.COLUMN``. ``"auto"`` takes all but the last that are
        known and differ between texts.
    reliability : {"auto", "learned", "equal"}
        Whether each person's rate of random answers is learnt. ``"auto"`` learns it where every person is known, and
        there are at least three of them with five votes each on average.
    n_draws, burn_in, thin : int
        Draws of the posterior that are kept, sweeps before the first of them, and sweeps from one to the next.
    random_state : int or None

    Attributes
    ----------
    covariates_ : tuple of str
    judges_ : DataFrame
        ``annotator, family, n_votes, used, share, share_low, share_high, deviation``: whether the scores use the judge,
        the share of people's preference that it sees, and the standard deviation of what else it sees in single texts.
    slopes_ : DataFrame
        ``annotator, covariate, slope, low, high``; the annotators ``judges`` and ``people`` are the mean of all judges
        and people together.
    annotators_ : DataFrame or None
        ``annotator, n_votes, error, low, high``: each person's rate of random answers with its 90 % interval.
    draws_ : AnchoredDraws

    Examples
    --------
    >>> from accord import AnchoredRanker
    >>> X = [("tea", "water"), ("tea", "coffee"), ("coffee", "water")] * 3
    >>> voters = ["ada"] * 3 + ["judge-1"] * 6
    >>> judges = {"annotator_id": ["judge-1"], "family": ["m"]}
    >>> ranker = AnchoredRanker(n_draws=200).fit(X, [1] * 9, annotator=voters, judges=judges)
    >>> ranker.rank()["item_id"].tolist()
    ['tea', 'coffee', 'water']
    """

    SETTINGS: ClassVar[Mapping[str, Rule]] = {
        "covariates": Object("auto, or names of covariates", (str, Sequence), none=False),
        "reliability": Choice(("auto", "learned", "equal")),
        "n_draws": Number(1, whole=True),
        "burn_in": Number(1, whole=True),
        "thin": Number(1, whole=True),
        "random_state": Seed(),
    }

    def __init__(
        self,
        *,
        covariates: str | Sequence[str] = "auto",
        reliability: str = "auto",
        n_draws: int = 1500,
        burn_in: int = 500,
        thin: int = 2,
        random_state: int | None = 0,
    ) -> None:
        self.covariates = covariates
        self.reliability = reliability
        self.n_draws = n_draws
        self.burn_in = burn_in
        self.thin = thin
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        annotator: Any,
        judges: Any,
        items: Items | None = None,
        sample_weight: Any = None,
        shown_left: Any = None,
    ) -> "AnchoredRanker":
        """Fit to votes.

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_votes, 2)
            Ids of the two texts.
        y : array of shape (n_votes,)
            1 where left won, 0 where right won, ½ where undecided.
        annotator : array of shape (n_votes,)
            Who voted; ``None`` is a person who is not known.
        judges : table with ``annotator_id`` and optionally ``family``
            Who of them is a judge. A judge without a family is one by itself.
        items : Items, optional
            All texts; by default the ids that occur.
        sample_weight : array of shape (n_votes,), optional
            How many votes each row stands for; whole numbers.
        shown_left : array of shape (n_votes,), optional
            The id of the text that was shown on the left; ``None`` where that is not known.
        """
        check_settings(self)
        votes = Comparisons.from_xy(
            X, y, items, annotator=annotator, sample_weight=sample_weight, shown_left=shown_left
        )
        if not votes.n_votes:
            raise InputError("fitting needs at least one vote; there is none.")
        votes = repeated_votes(votes)
        families = families_of(judges, votes)
        votes, notes = without_copies(votes, families)
        families = families_of(judges, votes)
        self.items_, self._comparisons = votes.items, votes
        order = item_order(votes)
        votes = arranged(votes, order)
        self.covariates_ = self._names(votes, families)
        covariates = told_apart(covariates_of(votes, self.covariates_, families))
        self._units = covariates.units
        record, self._people, self._judges = judged_votes(votes, families, covariates)
        self._families = [families[name] for name in self._judges]
        self._n_judged = np.bincount(record.voter, minlength=1 + len(self._judges))
        self._learnt = self._learns_rates(record)
        self.draws_ = self._draw(record)
        self._used = np.quantile(self.draws_.validity, 1.0 - _SURE, axis=0) >= _VALID
        if (record.voter == 0).any() and not self._used.all():
            self.draws_ = _joined(self._draw(_without(record, ~self._used)), self.draws_)
        place = places_of(order)
        self.draws_ = replace(
            self.draws_, scores=self.draws_.scores[:, place], utilities=self.draws_.utilities[:, place]
        )
        for note in (*notes, *odd_judges(record, self._judges), *one_sided(self._comparisons, self._judges)):
            warnings.warn(note, UserWarning, stacklevel=2)
        self._warn(record)
        return self

    def _draw(self, record: JudgedVotes) -> AnchoredDraws:
        return draw_anchored(
            record, n_draws=self.n_draws, burn_in=self.burn_in, thin=self.thin, learn_rates=self._learnt,
            rng=np.random.default_rng(self.random_state),
        )  # fmt: skip

    def _names(self, votes: Comparisons, families: Mapping[str, str]) -> tuple[str, ...]:
        if self.covariates == "auto":
            return known_covariates(votes, families)
        if isinstance(self.covariates, str):
            return tuple(name.strip() for name in self.covariates.split(",") if name.strip())
        return tuple(self.covariates)

    def _learns_rates(self, record: JudgedVotes) -> bool:
        n_votes, n = int((record.voter == 0).sum()), record.n_people
        known = bool((record.person[record.voter == 0] >= 0).all()) and n > 0
        if self.reliability == "learned" and not known:
            raise InputError("rates of random answers are learnt of people who are known; some are not.")
        enough = n >= _LEAST_PEOPLE and n_votes >= _LEAST_VOTES * n
        return known and (self.reliability == "learned" or (self.reliability == "auto" and enough))

    def _warn(self, record: JudgedVotes) -> None:
        if not (record.voter == 0).any():
            self._used[:] = True
            warnings.warn(
                "no person voted, so that nothing ties the judges to people: the scores are what they have in common, "
                "and the intervals say how little that tells of what people prefer. Ask people about some pairs, or "
                "rank the judges' votes as they are (method 'model').",
                UserWarning,
                stacklevel=3,
            )
        effective = min(_effective(column) for column in self.draws_.scores.T)
        if effective < _FEWEST_DRAWS:
            warnings.warn(
                f"the draws of the posterior are worth only {effective:.0f} independent ones for some text. Raise "
                "n_draws or thin.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- what was learnt of voters -------------------------------------------------------------------------------

    @property
    def judges_(self) -> pd.DataFrame:
        """What was learnt of each judge besides its slopes."""
        check_is_fitted(self, "draws_")
        draws = self.draws_
        low, high = _interval(draws.shares)
        mean = draws.shares.mean(axis=0)
        rest = draws.utilities - mean[:, None] * draws.scores.mean(axis=0)
        table = pd.DataFrame(
            {
                "annotator": self._judges,
                "family": self._families,
                "n_votes": self._n_judged[1:],
                "used": self._used,
                "share": mean,
                "share_low": low,
                "share_high": high,
                "deviation": rest.std(axis=1),
            }
        )
        return table.sort_values("annotator", ignore_index=True)

    @property
    def slopes_(self) -> pd.DataFrame:
        """The slopes of all judges, of each, and of people, with their 90 % intervals."""
        check_is_fitted(self, "draws_")
        rows = []
        for k, name in enumerate(self.covariates_):
            columns = [("judges", self.draws_.kind_slopes[:, k])] if len(self._judges) > 1 else []
            columns += [
                (judge, self.draws_.slopes[:, 1 + self._judges.index(judge), k]) for judge in sorted(self._judges)
            ]
            if name == "position" and self._n_judged[0]:
                columns.append(("people", self.draws_.slopes[:, 0, k]))
            for who, drawn in columns:
                low, high = _interval(drawn / self._units[k])
                rows.append((who, name, float(drawn.mean() / self._units[k]), float(low), float(high)))
        return pd.DataFrame(rows, columns=["annotator", "covariate", "slope", "low", "high"])

    @property
    def annotators_(self) -> pd.DataFrame | None:
        """People, the most reliable first; None unless their rates of random answers were learnt."""
        check_is_fitted(self, "draws_")
        if not self._learnt:
            return None
        given = self._comparisons
        assert given.annotators is not None  # people are known
        assert given.annotator is not None
        n_votes = np.bincount(given.annotator[given.annotator >= 0], minlength=len(given.annotators))
        places = {name: place for place, name in enumerate(given.annotators)}
        belief = np.stack([(self.draws_.rates == rate).mean(axis=0) for rate in RATES], axis=1)
        low, high = rate_intervals(belief, _LEVEL)
        table = pd.DataFrame(
            {
                "annotator": self._people,
                "n_votes": [n_votes[places[name]] for name in self._people],
                "error": self.draws_.rates.mean(axis=0),
                "low": low,
                "high": high,
            }
        )
        return table.sort_values("error", kind="stable", ignore_index=True)

    def explain(self, item: str) -> pd.DataFrame:
        """How much each judge likes a text for its covariates, beyond the mean text, with 90 % intervals.

        Parameters
        ----------
        item : str
            The id of a text.

        Returns
        -------
        DataFrame
            ``annotator, covariate, effect, low, high``, the largest effects first. An effect is the judge's slope times
            how far the text is from the mean of all texts; the position is not of a text and left out.
        """
        check_is_fitted(self, "draws_")
        place = int(self.items_.positions([item], what="text")[0])
        names = [name for name in self.covariates_ if name != "position"]
        families = dict(zip(self._judges, self._families, strict=True))
        rows = []
        for row in self.slopes_.to_dict("records"):
            who, name = str(row["annotator"]), str(row["covariate"])
            if who in families and name in names:
                numbers = _text_numbers(self.items_, name, families[who])
                apart = float(numbers[place] - numbers.mean())
                low, high = sorted((apart * float(row["low"]), apart * float(row["high"])))
                rows.append((who, name, apart * float(row["slope"]), low, high))
        table = pd.DataFrame(rows, columns=["annotator", "covariate", "effect", "low", "high"])
        return table.sort_values("effect", key=lambda column: -column.abs(), kind="stable", ignore_index=True)

    # -- answers -------------------------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities that a person who must decide prefers right and left, shape (n_pairs, 2).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        left, right = self._positions(X)
        difference = self.draws_.scores[:, left] - self.draws_.scores[:, right]
        p = ndtr(difference / np.sqrt(2.0)).mean(axis=0)
        return np.stack([1.0 - p, p], axis=1)

    def predict(self, X: Any) -> FloatArray:
        """1 where people are expected to prefer left, else 0, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        return (self.predict_proba(X)[:, 1] > 0.5).astype(np.float64)

    def predict_order(self, X: Any) -> FloatArray:
        """Posterior probability that left is the better text, shape (n_pairs,).

        Parameters
        ----------
        X : table with ``left`` and ``right``, or array of shape (n_pairs, 2)
            Ids of the two items.
        """
        left, right = self._positions(X)
        return np.asarray(np.mean(self.draws_.scores[:, left] > self.draws_.scores[:, right], axis=0))

    def score_items(self) -> FloatArray:
        """Posterior mean of every text's score, shape (n_items,)."""
        check_is_fitted(self, "draws_")
        return np.asarray(self.draws_.scores.mean(axis=0))

    def rank(
        self, *, level: float = _LEVEL, sure: float = 0.95, anchor: str | None = None, scale: str = "score"
    ) -> pd.DataFrame:
        """The ranking of every group of texts, best first, with the columns of :meth:`PreferenceRanker.rank`.

        ``n_votes`` counts all votes, and ``n_people`` those of people.

        Parameters
        ----------
        level : float
            Probability with which ``low`` and ``high`` hold the score, and ``rank_low`` and ``rank_high`` the rank.
        sure : float
            All statements that tiers make are right together with at least this probability.
        anchor : str, optional
            The item whose score is zero; by default zero is the mean of the group.
        scale : {"score", "elo"}
            Unit of the scores: that of the noise of one item, or Elo points.
        """
        check_is_fitted(self, "draws_")
        votes, n = self._comparisons, self.items_.n_items
        own = np.isin(self._who(), list(self._judges), invert=True)
        counts = [
            np.bincount(np.concatenate([votes.left[rows], votes.right[rows]]), minlength=n)
            for rows in (np.ones(votes.n_votes, dtype=bool), own)
        ]
        where = None if anchor is None else int(self.items_.positions([anchor], what="anchor")[0])
        groups, tables = list(self._groups()), []
        for name, rows in groups:
            place = None
            if where is not None and (rows == where).any():
                place = int(np.flatnonzero(rows == where)[0])
            order, columns = rank_columns(
                self.draws_.scores[:, rows], level=level, sure=1.0 - (1.0 - sure) / len(groups), anchor=place,
                scale=scale,
            )  # fmt: skip
            table = pd.DataFrame(columns)
            table.insert(0, "group", pd.Series([name] * rows.size, dtype=object))
            table.insert(3, "item_id", self.items_.ids[rows[order]])
            tables.append(table.assign(n_votes=counts[0][rows[order]], n_people=counts[1][rows[order]]))
        return pd.concat(tables, ignore_index=True)

    def stability(self, *, top: int = 1, sure: float = 0.95) -> Stability:
        """How settled the ranking of every group is.

        Parameters
        ----------
        top : int
            Of how many best texts the probability is asked for.
        sure : float
            The probability that is wanted.
        """
        check_is_fitted(self, "draws_")
        states = [GroupState(name, self.draws_.scores[:, rows]) for name, rows in self._groups()]
        rng = np.random.default_rng(self.random_state)
        return stability(states, top=top, sure=sure, n_votes=self._comparisons.n_votes, rng=rng)

    def _who(self) -> Any:
        votes = self._comparisons
        if votes.annotators is None or votes.annotator is None:
            return np.full(votes.n_votes, None, dtype=object)
        return annotator_ids(votes.annotator, votes.annotators)

    def _positions(self, X: Any) -> tuple[IntArray, IntArray]:
        check_is_fitted(self, "draws_")
        pairs = pair_frame(X)
        left, right = (
            self.items_.positions(pairs[side].to_numpy(object), what=f"{side} item") for side in ("left", "right")
        )
        return left, right

    def _groups(self) -> Iterator[tuple[str | None, IntArray]]:
        """Each group and the positions of its texts; one group where votes cross them."""
        votes, groups = self._comparisons, self.items_.groups
        if (
            groups is None
            or any(name is None for name in groups)
            or bool((groups[votes.left] != groups[votes.right]).any())
        ):
            yield None, np.arange(self.items_.n_items)
            return
        for name in dict.fromkeys(groups):
            yield name, np.flatnonzero(groups == name)


def slope_sentence(who: str, covariate: str, slope: float, low: float, high: float) -> str:
    """A slope in words, such as "judge A prefers the longer text: +0.6 for twice the length (+0.4 to +0.8)".

    Examples
    --------
    >>> slope_sentence("judge A", "length", 0.6, 0.4, 0.8)
    'judge A prefers the longer text: +0.60 for twice the length (+0.40 to +0.80).'
    >>> slope_sentence("judge A", "length", 0.1, -0.2, 0.4)
    'judge A has no clear preference for the longer text: +0.10 for twice the length (-0.20 to +0.40).'
    """
    what, unit = COVARIATES.get(covariate, (f"the text with more {covariate}", "for one more"))
    is_people = who in ("judges", "people")
    what = what.replace("its own", "their own") if is_people else what
    if low > 0:
        verb = "prefer" if is_people else "prefers"
    elif high < 0:
        verb = "dislike" if is_people else "dislikes"
    else:
        verb = f"{'have' if is_people else 'has'} no clear preference for"
    return f"{who} {verb} {what}: {slope:+.2f} {unit} ({low:+.2f} to {high:+.2f})."


def _text_numbers(items: Items, name: str, family: str) -> FloatArray:
    """A covariate of every text as a judge of the family sees it, shape (n_items,)."""
    if name != "family":
        return text_numbers(items, name)
    authors = author_families(items, {"": family})
    return np.zeros(items.n_items) if authors is None else (authors == family).astype(np.float64)


def _interval(draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, high = np.quantile(draws, (0.5 - 0.5 * _LEVEL, 0.5 + 0.5 * _LEVEL), axis=0)
    return low, high


def _effective(draws: FloatArray) -> float:
    """Independent draws that a chain is worth, by the means of batches."""
    size = max(int(np.sqrt(draws.size)), 1)
    means = draws[: draws.size // size * size].reshape(-1, size).mean(axis=1)
    variance = draws.var()
    return float(draws.size) if variance <= 0 else float(draws.size * variance / max(size * means.var(ddof=1), 1e-300))


def _without(record: JudgedVotes, judges: BoolArray) -> JudgedVotes:
    """The votes without those of some judges."""
    kept = np.append(True, ~judges)
    rows = kept[record.voter]
    columns = {name: getattr(record, name)[rows] for name in ("left", "right", "value", "person", "covariates")}
    voter = (np.cumsum(kept) - 1)[record.voter[rows]]
    family = np.unique(record.family[~judges], return_inverse=True)[1]
    return replace(record, **columns, voter=voter, family=family)


def _joined(scores: AnchoredDraws, judges: AnchoredDraws) -> AnchoredDraws:
    """What people prefer and how they answer of the one, what judges see of the other."""
    people = np.concatenate([scores.slopes[:, :1], judges.slopes[:, 1:]], axis=1)
    return replace(judges, scores=scores.scores, rates=scores.rates, slopes=people)
