"""Rank the texts of a project of pairs, one ranking a question."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.data.project import Project
from accord.errors import InputError
from accord.fitting.settings import configured
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.pairs.controlled import ControlledRanker
from accord.pairs.judges import AnchoredRanker, slope_sentence
from accord.pairs.stability import GroupState, Stability, stability
from accord.pairs.style import covariates_of, told_apart
from accord.pairs.task import people_votes
from accord.store.models import SavedModel
from accord.typing import Progress
from accord.workflows.kinds import task_of, trained

__all__ = [
    "METHODS",
    "Controlled",
    "Learnt",
    "Ranking",
    "best_comments",
    "control",
    "parse_top",
    "percent",
    "rank",
    "stability_sentences",
]

METHODS = ("auto", "model", "bradley_terry", "judges")
# Most voters that a sentence names.
_MOST_NAMED = 5
# Labels that mean that a comment is a good one, in small letters.
_GOOD = ("good", "accepted", "helpful", "useful", "best", "yes", "relevant", "positive", "pos", "correct", "true", "1")
# Voters with enough votes whose rate of random answers is high, and from how many of them, and which share, it is said.
_KNOWN_VOTES, _RANDOM, _LEAST_CONTRARY, _MANY = 10, 0.9, 3, 0.25


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt of voters, of all questions together."""

    people: pd.DataFrame | None = None  # annotator, n_votes, error, low, high
    judges: pd.DataFrame = field(default_factory=pd.DataFrame)  # annotator, family, n_votes, share, … deviation
    slopes: pd.DataFrame = field(default_factory=pd.DataFrame)  # annotator, covariate, slope, low, high

    @property
    def careless(self) -> list[str]:
        """Who seems to answer at random more often than not, in a sentence; none where that was not learnt."""
        if self.people is None or "error" not in self.people:
            return []
        some = self.people[self.people["error"] > 0.5].sort_values("error", ascending=False)
        if some.empty:
            return ["No voter seems to answer at random more often than not."]
        named = [
            f"{row['annotator']} ({percent(row['error'])} of {row['n_votes']:.0f} votes, "
            f"90 % interval {percent(row['low'])} to {percent(row['high'])})"
            for row in some.head(_MOST_NAMED).to_dict("records")
        ]
        more = f", and {len(some) - _MOST_NAMED:,} more" if len(some) > _MOST_NAMED else ""
        one = len(some) == 1
        who, count = ("One voter seems", "counts") if one else (f"{len(some):,} voters seem", "count")
        return [f"{who} to answer at random more often than not, and {count} less: {', '.join(named)}{more}."]

    @property
    def sentences(self) -> list[str]:
        """Which judges are not used, and the slopes in words."""
        unused = [] if self.judges.empty else list(self.judges.loc[~self.judges["used"].astype(bool), "annotator"])
        return [
            *(
                f"{name} is not used for the scores: the votes do not show that most of what it sees in texts is what "
                "people prefer."
                for name in unused
            ),
            *(slope_sentence(*row) for row in self.slopes.itertuples(index=False, name=None)),
        ]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The texts of one question, best first."""

    group: str | None
    # rank, tier, item_id, score, std, low, high, rank_low, rank_high, p_best, wins, n_votes, text
    table: pd.DataFrame
    voters: pd.DataFrame  # annotator_id, n_votes, agreement, and if learnt error, low, high
    n_votes: int
    n_undecided: int
    notes: tuple[str, ...]  # what to be careful about
    stability: Stability  # of the rankings of all questions together
    learnt: Learnt = field(default_factory=Learnt)


_NO_VOTES = "a ranking needs votes; this project has none. Import some, or ask people with 'accord studio'."


def _not_of_pairs(project: Project) -> InputError:
    return InputError(
        f"only projects of pairs and threads can be ranked; this one is of {project.kind}. Train a model of it with "
        f"'accord train {project.kind}'."
    )


def rank(
    project: Project,
    *,
    method: str = "auto",
    settings: Mapping[str, Any] | None = None,
    anchor: str | None = None,
    top: int = 1,
    sure: float = 0.95,
    progress: Progress,
) -> list[Ranking]:
    """Rank each group of texts by itself, unless votes cross the groups.

    Parameters
    ----------
    project : Project
    method : {"auto", "model", "bradley_terry", "judges"}
        ``model`` is the project's own model of pairs, which reads the texts; ``bradley_terry`` knows votes alone;
        ``judges`` learns what people prefer from people and from judges with their biases; ``auto`` is ``judges``
        where the project has judges that voted, else ``model``.
    settings : mapping, optional
        Of the model.
    anchor : str, optional
        The text whose score is zero; by default zero is the mean of its group.
    top : int
        Of how many best texts it is asked whether they are settled.
    sure : float
        The probability that is wanted of that.
    progress : callable
    """
    if method not in METHODS:
        raise InputError(f"the method must be one of {', '.join(METHODS)}; got {method!r}.")
    if project.kind != "pairs":
        raise _not_of_pairs(project)
    votes = project.comparisons()
    if not votes.n_votes and (method == "bradley_terry" or not project.marks()):
        raise InputError(_NO_VOTES)
    if anchor is not None and anchor not in set(votes.items.ids):
        raise InputError(f"the anchor must be a text of the project; there is no {anchor!r}.")
    if method == "auto":
        method = "judges" if _has_judges(project, votes) else "model"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tables, state, learnt = _ranked(project, votes, method, settings or {}, anchor, top, sure, progress)
    notes = (*dict.fromkeys(str(warning.message) for warning in caught), *_contrary(learnt))
    rankings = []
    for name, rows in _groups(votes).items():
        # Bradley–Terry says by itself which texts no vote joins.
        careful = () if method == "bradley_terry" else _apart(votes, rows)
        if method == "model" and not project.marks():
            careful += _never_voted_on(votes, tables[name])
        rankings.append(_part(votes, name, rows, tables[name], learnt, notes + careful, state))
    return rankings


def _has_judges(project: Project, votes: Comparisons) -> bool:
    """Whether judges voted."""
    named = set(project.judges()["annotator_id"])
    return votes.annotators is not None and bool(named & set(votes.annotators))


def _by_judges(
    project: Project, votes: Comparisons, settings: Mapping[str, Any], anchor: str | None, top: int, sure: float
) -> tuple[pd.DataFrame, Stability, Learnt]:
    """The table of all groups by people and judges."""
    table = votes.to_table()
    if "annotator_id" not in table:
        raise InputError("a ranking with judges needs to know who voted; these votes do not say it.")
    ranker = configured(AnchoredRanker, settings).fit(
        *votes.xy(),
        items=votes.items,
        annotator=table["annotator_id"].to_numpy(),
        judges=project.judges(),
        sample_weight=table.get("weight"),
        shown_left=table.get("shown_left_id"),
    )
    found = ranker.rank(anchor=anchor)
    state = ranker.stability(top=top, sure=sure)
    return found, state, Learnt(ranker.annotators_, ranker.judges_, ranker.slopes_)


def _ranked(
    project: Project,
    votes: Comparisons,
    method: str,
    settings: Mapping[str, Any],
    anchor: str | None,
    top: int,
    sure: float,
    progress: Progress,
) -> tuple[dict[str | None, pd.DataFrame], Stability, Learnt]:
    """The table of each group, how settled they are, and what was learnt of the voters."""
    groups = _groups(votes)
    if method == "bradley_terry" and project.marks():
        raise InputError(
            "a Bradley–Terry ranking learns from votes alone, and there are scores beside them. Use --method model."
        )
    tables: dict[str | None, pd.DataFrame]
    parts: Any
    if method != "bradley_terry":
        if method == "judges":
            progress("ranking", 0, 1)
            table, state, learnt = _by_judges(project, votes, settings, anchor, top, sure)
            progress("ranking", 1, 1)
        else:
            model = trained(project, settings, progress)
            table = model.rank(project.items(), anchor=anchor)
            state = model.stability(project.items(), top=top, sure=sure)
            learnt = Learnt(model.annotators_)
        parts = {None: table} if None in groups else dict(iter(table.groupby("group", sort=False)))
        tables = {name: part.reset_index(drop=True) for name, part in parts.items()}
        return tables, state, learnt
    tables = {}
    states = []
    for place, (name, rows) in enumerate(groups.items(), start=1):
        progress("ranking", place, len(groups))
        items = _items_of(votes, name)
        part = votes.subset(rows)
        ranker = configured(BradleyTerryRanker, settings).fit(*part.xy(), items=items, sample_weight=part.weight)
        own = anchor if anchor in set(items.ids) else None
        tables[name] = ranker.rank(sure=1.0 - 0.05 / len(groups), anchor=own)
        states.append(GroupState(name, ranker.scores_.mean + ranker.scores_.draws))
    rng = np.random.default_rng(0)
    return tables, stability(states, top=top, sure=sure, n_votes=votes.n_votes, rng=rng), Learnt()


def best_comments(
    project: Project,
    *,
    label: str | None = None,
    saved: SavedModel | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = lambda what, done, total: None,
) -> pd.DataFrame:
    """The comments of each question by the probability of ``label``, those that people gave it first.

    Returns ``group_id, question, rank, item_id, probability, given, text``. Without ``label`` it is the one whose name
    says that a comment is good; without a saved model one is trained on the project.
    """
    if project.kind != "threads":
        raise InputError(f"the best comments are those of threads; this project is of {project.kind}.")
    task = task_of("threads")
    model = trained(project, settings or {}, progress) if saved is None else saved.model
    known = [str(name) for name in model.classes_]
    label = next((name for name in known if name.lower() in _GOOD), None) if label is None else label
    if label not in known:
        said = "none of them says that it is the good one" if label is None else f"got {label!r}"
        raise InputError(f"the label of the best comments is one of {', '.join(known)}; {said}. Name it with --label.")
    table = task.predict(model, project) if saved is None else saved.use(task.predict, project)
    texts = project.frames()["items"].set_index("item_id")["text"]
    best = pd.DataFrame(
        {
            "group_id": table["group_id"],
            "question": table["group_id"].map(texts),
            "item_id": table["item_id"],
            "probability": table[f"p.{label}"],
            "given": table["given"],
            "text": table["item_id"].map(texts),
        }
    )
    first = best["group_id"].map({name: place for place, name in enumerate(dict.fromkeys(best["group_id"]))})
    order = np.lexsort((~best["given"], -best["probability"], first))
    best = best.iloc[order].reset_index(drop=True)
    best.insert(2, "rank", best.groupby("group_id", sort=False).cumcount() + 1)
    best.attrs["label"] = label
    return best


@dataclass(frozen=True, eq=False)
class Controlled:
    """A plain ranking and one with covariates taken out, side by side."""

    # group, item_id, rank, score, low, high, plain_rank, plain_score; scores are log odds
    table: pd.DataFrame
    coefficients: pd.DataFrame  # group, covariate, coefficient, low, high
    n_votes: int
    by: str  # whose votes these are, in words
    covariates: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the table is."""
        out = " and ".join([", ".join(self.covariates[:-1]), self.covariates[-1]][len(self.covariates) < 2 :])
        votes = f"{self.n_votes:,} vote{'' if self.n_votes == 1 else 's'}{self.by}"
        return f"Ranking by Bradley–Terry from {votes}, with and without {out} taken out, in log odds"


def control(project: Project, covariates: Sequence[str]) -> Controlled:
    """Rank by people's votes (by all, where there are no judges) with and without stated covariates.

    Parameters
    ----------
    project : Project
        Of pairs.
    covariates : sequence of str
        ``position, length, lists, markdown`` or ``meta.COLUMN``.
    """
    if project.kind != "pairs":
        raise _not_of_pairs(project)
    votes = people_votes(project)
    if not votes.n_votes:
        raise InputError(_NO_VOTES)
    told_apart(covariates_of(votes, covariates))
    tables, coefficients = [], []
    for name, rows in _groups(votes).items():
        inside = votes.subset(rows)
        table = inside.to_table()
        known: dict[str, Any] = {"sample_weight": table.get("weight"), "shown_left": table.get("shown_left_id")}
        items = _items_of(votes, name)
        found = {}
        for what, names in (("plain", ()), ("controlled", tuple(covariates))):
            ranker = ControlledRanker(covariates=names).fit(*inside.xy(), items=items, **known)
            found[what] = ranker.rank().set_index("item_id")
        coefficients.append(ranker.coefficients_.assign(group=name))
        columns = found["controlled"][["rank", "score", "low", "high"]]
        plain = found["plain"].loc[columns.index, ["rank", "score"]].add_prefix("plain_")
        tables.append(columns.join(plain).reset_index().assign(group=name))
    judges = set(project.judges()["annotator_id"])
    voted = set() if votes.annotators is None or votes.annotator is None else set(votes.annotators[votes.annotator])
    by = "" if not _has_judges(project, project.comparisons()) else " of judges" if voted & judges else " of people"
    beside, slopes = (pd.concat(parts, ignore_index=True) for parts in (tables, coefficients))
    return Controlled(beside, slopes, votes.n_votes, by, tuple(covariates))


def parse_top(text: str) -> int:
    """``top=3`` as 3."""
    name, _, number = text.partition("=")
    if name != "top" or not number.isdigit() or int(number) < 1:
        raise InputError(f"--stop-when is written top=K with K at least 1, such as top=3; got {text!r}.")
    return int(number)


def percent(p: float) -> str:
    """A probability that is not known to be 0 or 1."""
    return "<1 %" if p < 0.01 else ">99 %" if p > 0.99 else f"{100 * p:.0f} %"


def stability_sentences(state: Stability | Mapping[str, Any], n_questions: int) -> list[str]:
    """How settled the rankings of so many questions are, in sentences; figures that are not known are left out."""
    figures = asdict(state) if isinstance(state, Stability) else dict(state)
    if figures.get("settled") is None:
        return []
    settled, top = float(figures["settled"]), int(figures.get("top") or 1)
    among = " of one question" if n_questions > 1 else ""
    right = "right with a probability of at least 9 in 10"
    if settled <= 0.0:
        sentences = [f"The order of no two texts{among} is settled: of no pair is one of the two orders {right}."]
    else:
        share = "all" if settled >= 1.0 else f"{percent(settled)} of all"
        sentences = [f"The order of {share} pairs of texts{among} is settled: each of these orders is {right}."]
    if figures.get("p_top") is None:
        return sentences
    who = "the first text is the best" if top == 1 else f"the first {top} texts are the best {top}"
    how_many = "both" if n_questions == 2 else f"all {n_questions:,}"
    where = "" if n_questions < 2 else f" in {how_many} questions at once"
    sure, p_top, reached = float(figures.get("sure") or 0.95), float(figures["p_top"]), bool(figures.get("reached"))
    found, wanted = percent(p_top), f"{100 * sure:.3g} %"
    if not reached and (p_top > 0.99 or found == wanted):  # rounding must not say that it is reached
        found = f"{np.floor(1000 * p_top) / 10:.1f} %"
    sentences.append(f"The probability that {who}{where} is {found}; {wanted} is wanted.")
    left = figures.get("votes_left")
    if reached:
        sentences.append("That is reached: asking may stop.")
    elif left is None or not np.isfinite(left):
        sentences.append("Some texts may be too close for any sensible number of votes to tell them apart.")
    else:
        sentences.append("More votes are needed.")
    return sentences


def _groups(votes: Comparisons) -> dict[str | None, np.ndarray[Any, Any]]:
    """The votes of each group, or all of them as one if the items have no groups or votes cross them."""
    groups = votes.items.groups
    if groups is None or (groups[votes.left] != groups[votes.right]).any() or any(name is None for name in groups):
        return {None: np.arange(votes.n_votes)}
    of_vote = groups[votes.left]
    return {name: np.flatnonzero(of_vote == name) for name in dict.fromkeys(groups)}


def _items_of(votes: Comparisons, group: str | None) -> Items:
    items = votes.items
    return items if group is None or items.groups is None else items.subset(items.groups == group)


def _never_voted_on(votes: Comparisons, table: pd.DataFrame) -> tuple[str, ...]:
    """A note where some texts have a place only because they are like others."""
    n_new = int((table["n_votes"] == 0).sum())
    if not n_new or votes.items.texts is None:
        return ()
    who, place = ("1 text has", "its place is") if n_new == 1 else (f"{n_new:,} texts have", "their places are")
    return (f"{who} no votes: {place} predicted from words, by the votes on the other texts",)


def _apart(votes: Comparisons, rows: np.ndarray[Any, Any]) -> tuple[str, ...]:
    """A note where no chain of votes joins all texts that were voted on."""
    left, right = votes.left[rows], votes.right[rows]
    voted, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    ends = (place[: left.size], place[left.size :])
    graph = sp.coo_matrix((np.ones(left.size, dtype=np.int8), ends), shape=(voted.size, voted.size))
    n_parts, _ = connected_components(graph, directed=False)
    if n_parts < 2:
        return ()
    return (
        f"the votes join the {voted.size:,} texts that were voted on into {n_parts:,} separate parts; how texts of "
        "different parts compare is not known from votes. Ask for votes between the parts, or compare inside a part",
    )


def _contrary(learnt: Learnt) -> tuple[str, ...]:
    """A note where many voters seem to answer at random: people of another taste seem to do so too."""
    if learnt.people is None:
        return ()
    known = learnt.people[learnt.people["n_votes"] >= _KNOWN_VOTES]
    n = int((known["error"] >= _RANDOM).sum())
    if n < max(_LEAST_CONTRARY, _MANY * len(known)):
        return ()
    return (
        f"{n:,} of {len(known):,} voters with {_KNOWN_VOTES} votes or more count as answering at random, and so hardly "
        "for the ranking. If they may prefer something else than the others do, look at them with --personal",
    )


def _part(
    votes: Comparisons,
    group: str | None,
    rows: np.ndarray[Any, Any],
    table: pd.DataFrame,
    learnt: Learnt,
    notes: tuple[str, ...],
    state: Stability,
) -> Ranking:
    """The ranking of one group with its texts, and how each voter voted."""
    items, inside = _items_of(votes, group), votes.subset(rows)
    text: Any = table["item_id"]
    if items.texts is not None:
        text = items.texts[items.positions(table["item_id"].to_numpy(object))]
    else:
        notes = (*notes, "the votes come without texts, so that ids are ranked; import the texts beside them")
    table = table.drop(columns="group", errors="ignore").assign(text=text)
    undecided = int((inside.value == 0.5).sum())
    return Ranking(group, table, _voters(inside, table, learnt), inside.n_votes, undecided, notes, state, learnt)


def _voters(votes: Comparisons, table: pd.DataFrame, known_of: Learnt) -> pd.DataFrame:
    """How often each voter's decided votes agree with the ranking, and how often they are random, if learnt."""
    if votes.annotator is None or votes.annotators is None:
        return pd.DataFrame({"annotator_id": [], "n_votes": [], "agreement": []})
    score = np.full(votes.items.n_items, np.nan)
    score[votes.items.positions(table["item_id"].to_numpy(object))] = table["score"].to_numpy()
    agrees = (score[votes.left] > score[votes.right]) == (votes.value == 1.0)
    known = (votes.value != 0.5) & (votes.annotator >= 0)
    frame = pd.DataFrame({"annotator_id": votes.annotators[votes.annotator[known]], "agrees": agrees[known]})
    tally = frame.groupby("annotator_id")["agrees"].agg(n_votes="size", agreement="mean").reset_index()
    if len(known_of.judges):
        is_judge = tally["annotator_id"].isin(known_of.judges["annotator"])
        tally.insert(1, "kind", np.where(is_judge, "judge", "person"))
    if known_of.people is None:
        return tally.sort_values(["agreement", "n_votes"], ascending=False).reset_index(drop=True)
    learnt = known_of.people.drop(columns="n_votes").rename(columns={"annotator": "annotator_id"})
    both = tally.merge(learnt, on="annotator_id", how="left" if len(known_of.judges) else "inner")
    return both.sort_values(["error", "annotator_id"]).reset_index(drop=True)
