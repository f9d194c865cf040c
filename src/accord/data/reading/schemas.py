"""Which table a file is: what its columns are by their names, by what they hold, and by what people say."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from accord.data.reading.names import (
    CONTAINERS,
    NO_JUDGEMENT,
    NO_SCORE,
    NO_SWITCH,
    NUMBERED,
    NUMBERS_ROWS,
    RATING,
    SIDES,
    TITLES,
    USERS,
)
from accord.data.reading.profiles import Profile, plain_name, profiles_of
from accord.data.reading.roles import ANY, GRID, LABELLED, NEEDS, ROLES, TEXTS, USES, VOTES, WINS, Role
from accord.data.reading.sources import Source
from accord.data.reading.votes import answered_columns
from accord.errors import InputError

__all__ = ["CHOSEN", "Look", "Matched", "check_uses", "compared_columns", "match", "parse_uses"]

_LAST = (("_a", "_b"), ("_1", "_2"), ("1", "2"), ("_left", "_right"), ("_links", "_rechts"), ("_gauche", "_droite"))
_FIRST = (
    *(("first_", "second_"), ("left_", "right_"), ("erster_", "zweiter_"), ("erste_", "zweite_")),
    *(("erstes_", "zweites_"), ("linker_", "rechter_"), ("linke_", "rechte_"), ("linkes_", "rechtes_")),
)
_GRID = re.compile(r"\A(?P<question>.*\S)\s*\[(?P<part>[^\[\]]+)\]\s*")
_SCORE_NAME = re.compile(
    r"^(score|rating|stars?|input|answer)[ ._-]{1,9}|[ ._-]{1,9}(score|rating|stars?)$", re.IGNORECASE
)


CHOSEN = "chosen with --map"  # why a column is taken so that somebody named
_SHARED = 0.8  # different values a row, at most, of a column that several rows share
_JOINED_NAME = re.compile(r"\('[^']*', '([^']+)'\)")


@dataclass(frozen=True)
class Look:
    """How one column of a file is taken, and why."""

    file: str
    column: str
    use: str  # "" where it stays unused
    why: str
    samples: tuple[str, ...]


@dataclass(frozen=True)
class Matched:
    """A file and the role it plays."""

    source: Source
    role: Role
    columns: Mapping[str, str]  # our name → the file's name
    rest: tuple[str, ...]  # the file's columns that no name of ours stands for
    scores: Mapping[str, str] = field(default_factory=dict)  # the file's name → the aspect that it scores
    grid: Mapping[str, str] = field(default_factory=dict)  # the file's name → the text that it judges
    could: tuple[str, ...] = ()  # columns that may be judgements, of which none was chosen
    reasons: Mapping[str, str] = field(default_factory=dict)  # the file's name → why it is taken so, if not by its name
    votes: Mapping[str, str] = field(default_factory=dict)  # answers that mean something else than usual
    texts_compared: bool = False  # whether the sides of votes are texts, not ids
    html: bool = False  # whether the texts are HTML, of which the words are kept
    from_zero: bool = False  # whether the lowest score is 0, which is read as rank 1
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    @property
    def renamed(self) -> dict[str, str]:
        """Columns that are read under another name: the file's name → ours."""
        return {theirs: ours for ours, theirs in self.columns.items() if theirs != ours}

    def words_of(self, name: str) -> Mapping[str, float]:
        """The words of the scale of a column, if it has one of words."""
        return self.profiles[name].scale if name in self.profiles else {}

    @property
    def judged(self) -> bool:
        """Whether the file holds judgements."""
        return self.role is not TEXTS or bool(self.scores) or "label" in self.columns or "quote" in self.columns

    def looks(self) -> list[Look]:
        """Each column, what it is taken for and why; what stays unused first."""
        found = []
        ours = {theirs: name for name, theirs in self.columns.items()}
        for name in self.source.columns:
            use, why = "", "no name of ours, no scale and no labels"
            if name in self.scores:
                use, why = f"score of {self.scores[name]}", ""
            elif name in self.grid:
                use, why = f"answers about {self.grid[name]!r}", "its name ends in [ ]"
            elif name in ours:
                use, why = ours[name], "" if ours[name] == plain_name(name) else f"it is called {name!r}"
            elif self.role.keeps_rest and name in self.could:
                why = "it may be a judgement: choose with --map"
            elif self.role.keeps_rest and name in self.rest:
                why = "kept beside the text; no model reads it"
            samples = self.profiles[name].samples if name in self.profiles else ()
            found.append(Look(str(self.source.path), name, use, self.reasons.get(name, why), samples))
        return sorted(found, key=lambda look: look.use != "")


def parse_uses(options: Iterable[str]) -> dict[str, str]:
    """The columns and uses of ``--map``: ``food=score:food,body=text``; a name with commas stands in quotes.

    Examples
    --------
    >>> parse_uses(['food=score:taste,"Clear, or not?"=label'])
    {'food': 'score:taste', 'Clear, or not?': 'label'}
    """
    chosen: dict[str, str] = {}
    for option in options:
        for part in re.findall(r"""(?:"[^"]*"|[^,"])+""", option):
            column, sign, use = part.strip().rpartition("=")
            column = column.strip().strip('"')
            if not sign or not column:
                raise InputError(f"--map takes COLUMN=USE; got {part.strip()!r}. Write, for example, body=text.")
            if column in chosen:
                raise InputError(f"--map says twice what {column!r} is. Leave one of them out.")
            chosen[column] = use.strip()
    return check_uses(chosen)


def check_uses(chosen: dict[str, str]) -> dict[str, str]:
    """The same columns and uses, if each is something that a column can be."""
    for use in chosen.values():
        base = use.partition(":")[0].strip()
        if base not in USES:
            close = get_close_matches(base, USES, 1)
            meant = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(f"a column can be {', '.join(USES)}; got {base!r}. {meant}Correct --map.")
    return chosen


def match(source: Source, kind: str | None, chosen: Mapping[str, str] | None = None) -> Matched:
    """Find the role of a file among the tables of a kind, or of any, by names, by ``chosen`` uses and by content."""
    if not source.columns:
        raise InputError(f"a table must have columns; {source.path} has none. Give one with names and values.")
    known: dict[str, str] = {}
    for name in source.columns:
        other = known.setdefault(plain_name(name), name)
        if other != name:
            raise InputError(
                f"columns must differ by more than capitals and spaces; {source.path} has {other!r} and {name!r}. "
                "Rename one of them."
            )
    uses = {theirs: use for theirs, use in (chosen or {}).items() if theirs in source.columns}
    profiles = profiles_of(source)
    roles = ANY if kind is None else ROLES[kind]
    for role in roles:
        found = _as_role(source, role, known, uses, profiles, kind)
        if found is not None:
            return _judged(found, kind, uses)
    what, (needs, such) = ("a table", NEEDS[None]) if kind is None else (f"a table of {kind}", NEEDS[kind])
    wrong = _unfit(roles, uses)
    if wrong:
        raise InputError(f"{what} has {needs}; --map says {wrong}, which no such table has. Leave it out of --map.")
    compared = _compared(known)
    others = [name for name in source.columns if name not in compared and profiles[name].n_distinct > 1]
    pairs: Iterable[tuple[str, str]] = _likely_uses(profiles, such)
    if all(compared) and others and kind in (None, "pairs"):
        pairs = zip((*compared, others[0]), ("left", "right", "winner"), strict=True)
    example = ",".join(f"{name}={use}" for name, use in pairs)
    raise InputError(
        f"{what} has {needs}; {source.path} has {source.named}, which do not tell.{_suggestion(source, roles)} Rename "
        f"them, or say what they are, such as: accord import --map {shlex.quote(example)}."
    )


def _likely_uses(profiles: Mapping[str, Profile], such: Sequence[str]) -> list[tuple[str, str]]:
    """Which columns an example of ``--map`` names: that of the longest words, and those of few different values."""
    there = {name: profile for name, profile in profiles.items() if profile.n}
    if such[0] != "text":
        return list(zip(profiles, such, strict=False))
    words = [name for name, profile in there.items() if not (profile.scores or profile.is_date or profile.is_percent)]
    text = max(words or there or profiles, key=lambda name: profiles[name].length)
    few = [name for name, profile in there.items() if name != text and 1 < profile.n_distinct <= max(profile.n // 2, 2)]
    few = [name for name in few if not NO_JUDGEMENT.search(plain_name(name))] or [
        name for name in profiles if name != text
    ]
    return [(text, "text"), *zip(few, such[1:], strict=False)]


def compared_columns(source: Source) -> tuple[str, str] | None:
    """The two columns of a table that are compared by their names, if no column says which of the two is better."""
    known = {plain_name(name): name for name in source.columns}
    left, right = _compared(known)
    if not left or not right:
        return None
    try:
        found = match(source, "pairs")
    except InputError:
        return left, right
    return (left, right) if found.role is TEXTS and found.columns["text"] in (left, right) else None


def _compared(known: Mapping[str, str]) -> list[str]:
    """The columns whose names say that they are compared; empty where there is none."""
    return [next((known[name] for name in SIDES[side] if name in known), "") for side in ("item_id", "other_id")]


def _unfit(roles: Sequence[Role], uses: Mapping[str, str]) -> str:
    """The first use that no table of these roles has; empty if there is none."""
    known = {name for role in roles for name in role.uses} | {"score", "keep", "ignore"}
    return next((f"{name}={use}" for name, use in uses.items() if use.partition(":")[0] not in known), "")


def _suggestion(source: Source, roles: Sequence[Role]) -> str:
    """A misspelt column beside the name that it is closest to."""
    names = {name for role in roles for ours in role.required for name in (ours, *role.synonyms.get(ours, ()))}
    for column in source.columns:
        close = get_close_matches(plain_name(column), names - {plain_name(column)}, 1, cutoff=0.8)
        if close and plain_name(column) not in names:
            return f" Did you mean {close[0]!r} by {column!r}?"
    return ""


def _as_role(
    source: Source,
    role: Role,
    known: Mapping[str, str],
    uses: Mapping[str, str],
    profiles: Mapping[str, Profile],
    kind: str | None,
) -> Matched | None:
    """The file in a role, if it has the columns of the role."""
    columns: dict[str, str] = {}
    scores: dict[str, str] = {}
    reasons = dict.fromkeys(uses, CHOSEN)
    taken = set(uses)
    for theirs, use in uses.items():
        base, _, name = use.partition(":")
        if base == "score" and role is TEXTS:
            scores[theirs] = name.strip() or _aspect(theirs, ())
        elif base in role.uses and role.uses[base] not in columns:
            columns[role.uses[base]] = theirs
        elif base == "score":  # of which a table of texts may have several
            return None
        elif base in role.uses:
            raise InputError(
                f"one column can be {base}; --map names {columns[role.uses[base]]!r} and {theirs!r}. Leave one out."
            )
        elif base not in ("keep", "ignore"):
            return None
    for ours in (*role.required, *role.optional):
        candidates = (ours, *role.synonyms.get(ours, ()))
        if role is TEXTS and ours == "text":  # of several, one that holds texts
            candidates = _of_texts(candidates, known, profiles, taken)
        for candidate in candidates:
            theirs = known.get(candidate, "")
            used = ours in role.required or (theirs in profiles and profiles[theirs].n > 0)
            if ours not in columns and theirs and theirs not in taken and used:
                columns[ours] = theirs
                taken.add(theirs)
                break
    if role is TEXTS and "text" not in columns:
        texts = [name for name, profile in profiles.items() if name not in taken and profile.is_text]
        texts = [name for name in texts if not _GRID.fullmatch(name)]
        if texts:
            columns["text"] = max(texts, key=lambda name: profiles[name].length)
            taken.add(columns["text"])
            reasons[columns["text"]] = "it holds the longest texts"
        elif len(source.columns) == 1 and not taken:
            columns["text"] = source.columns[0]
            taken.add(source.columns[0])
    votes: dict[str, str] = {}
    if role is VOTES and not uses and any(name not in columns for name in role.required):
        votes = _votes_by_content(columns, taken, reasons, profiles)
    if any(name not in columns for name in role.required):
        return None
    if role is TEXTS:
        _less_plain(columns, taken, reasons, known, profiles, kind)
    grid: dict[str, str] = {}
    if role is GRID:
        grid = {
            name: found["part"].strip()
            for name in source.columns
            if (found := _GRID.fullmatch(name)) and name not in taken
        }
        if not grid:
            return None
    kept = {theirs for theirs, use in uses.items() if use == "keep"}
    rest = tuple(name for name in source.columns if name not in (taken | set(grid)) - kept)
    html = "html" in uses.values()
    return Matched(
        source, role, columns, rest, scores, grid, reasons=reasons, votes=votes, html=html, profiles=profiles
    )


def _of_texts(
    names: Sequence[str], known: Mapping[str, str], profiles: Mapping[str, Profile], taken: Iterable[str]
) -> tuple[str, ...]:
    """Those of some names whose columns hold texts, all of them if none does."""
    there = [name for name in names if known.get(name, "") not in ("", *taken)]
    full = [
        name
        for name in there
        if profiles[known[name]].is_text and 2 * profiles[known[name]].n >= profiles[known[name]].n_rows
    ]
    return tuple(full or there)


def _votes_by_content(
    columns: dict[str, str], taken: set[str], reasons: dict[str, str], profiles: Mapping[str, Profile]
) -> dict[str, str]:
    """Find the sides and the answers of votes by what the answers say; returns what answers in other words mean."""
    sides = [columns[side] for side in ("item_id", "other_id") if side in columns]
    if "value" in columns or len(sides) == 1:
        return {}
    sides = sides or _two_versions([name for name in profiles if name not in taken])
    others = {name: profile for name, profile in profiles.items() if name not in taken or name in sides}
    found = answered_columns(others, sides or None)
    if found is None:
        return {}
    left, right, answer, words = found
    columns.update(item_id=left, other_id=right, value=answer)
    taken.update((left, right, answer))
    reasons[answer] = "its answers tell which of two columns is better"
    return words


def _two_versions(names: Sequence[str]) -> list[str]:
    """The two columns whose names differ only in one part, such as "Slogan A" and "Slogan B"; else none."""
    plain = {plain_name(name): name for name in names}
    found = [
        [plain[first], plain[stem + two]]
        for first in plain
        for one, two in _LAST
        if first.endswith(one) and (stem := first[: -len(one)]) and stem + two in plain
    ]
    found += [
        [plain[first], plain[two + stem]]
        for first in plain
        for one, two in _FIRST
        if first.startswith(one) and (stem := first[len(one) :]) and two + stem in plain
    ]
    return found[0] if len(found) == 1 else []


def _less_plain(
    columns: dict[str, str],
    taken: set[str],
    reasons: dict[str, str],
    known: Mapping[str, str],
    profiles: Mapping[str, Profile],
    kind: str | None,
) -> None:
    """Columns of a table of texts whose names say little: numbers of rows, users, and titles of threads."""

    def take(ours: str, names: Sequence[str], why: str, fits: Callable[[str], bool]) -> None:
        theirs = next((known[name] for name in names if known.get(name, "") not in ("", *taken)), None)
        if ours not in columns and theirs is not None and fits(theirs):
            columns[ours] = theirs
            taken.add(theirs)
            reasons[theirs] = why

    def shared(name: str) -> bool:
        return 1 < profiles[name].n_distinct <= _SHARED * profiles[name].n and not profiles[name].is_text

    if kind != "pairs":
        held = columns.get("item_id", "")
        if plain_name(held) in CONTAINERS and held not in reasons and shared(held) and _of_several(columns, profiles):
            taken.discard(columns.pop("item_id"))
        take("group_id", CONTAINERS, "several texts share one", shared)
    take("item_id", NUMBERED, "every row has another", lambda name: profiles[name].is_unique)
    if "annotator_id" not in columns:  # else a row is an answer, and its number that of the answer
        numbered = [name for name in known if NUMBERS_ROWS.fullmatch(name)]
        take("item_id", numbered[:1], "every row has another", lambda name: profiles[name].is_unique)
    one_row_a_text = profiles[columns["item_id"]].is_unique if "item_id" in columns else "group_id" in columns
    if plain_name(columns.get("annotator_id", "")) in USERS and one_row_a_text:
        taken.discard(columns.pop("annotator_id"))
        take("author_id", USERS, "every text has one, so that it is who wrote it", lambda name: True)
    if kind == "threads" and "group_id" in columns:
        groups = profiles[columns["group_id"]].first
        ids = set(profiles[columns["item_id"]].first) if "item_id" in columns else set()

        def asked(name: str) -> bool:
            titles = {pair for pair in zip(groups, profiles[name].first, strict=True) if pair[1] is not None}
            return len(titles) == len({group for group, _ in titles}) and ids.isdisjoint(groups)

        take("question", TITLES, "every thread has one", asked)


def _of_several(columns: Mapping[str, str], profiles: Mapping[str, Profile]) -> bool:
    """Whether rows with the same id have different texts."""
    ids, texts = (profiles[columns[name]].first for name in ("item_id", "text"))
    return len(set(zip(ids, texts, strict=True))) > len(set(ids))


def _judged(found: Matched, kind: str | None, uses: Mapping[str, str]) -> Matched:
    """The columns of a table of texts that hold judgements by what stands in them; answers of votes in other words."""
    if found.role is VOTES:
        return _vote_answers(found)
    if found.role is WINS:
        return replace(found, texts_compared=_are_texts(found))
    if found.role is not TEXTS or kind == "pairs":
        return found
    open_ = [name for name in found.rest if name not in uses]
    marked = {name: name[6:] for name in open_ if name.lower().startswith("score.")}
    rated = [name for name in open_ if found.profiles[name].is_score and not NO_JUDGEMENT.search(plain_name(name))]
    rated = [name for name in rated if not NO_SCORE.search(plain_name(name))]
    halves = [name for name in open_ if found.profiles[name].is_half_score]
    halves = [name for name in halves if not NO_JUDGEMENT.search(plain_name(name))]
    alike = [name for name in rated if found.profiles[name].has_decimals]
    if len(halves) + len(alike) > 1 or any(map(RATING.search, map(plain_name, halves))):
        rated = [name for name in open_ if name in {*rated, *halves}]
    named = [name for name in rated if RATING.search(plain_name(name))]
    from_zero = _from_zero(found, open_) if not named else []
    rated = [name for name in open_ if name in {*rated, *from_zero}]
    labelled = [name for name in open_ if found.profiles[name].is_label and not NO_JUDGEMENT.search(plain_name(name))]
    if not labelled:
        switches = [name for name in open_ if found.profiles[name].is_switch and not NO_SWITCH.search(plain_name(name))]
        labelled = [name for name in switches if not NO_JUDGEMENT.search(plain_name(name))]
    shares = [name for name in open_ if found.profiles[name].is_percent and not NO_JUDGEMENT.search(plain_name(name))]
    reasons, columns, scores, could = dict(found.reasons), dict(found.columns), {**found.scores}, list[str]()
    for name in shares:
        reasons[name] = "percentages; as a score, 0 % is the lowest rank and 100 % the highest: choose with --map"
    for name in open_:
        if _may_be_slider(name, found.profiles[name]):
            reasons[name] = "it may be a slider: choose with --map, as score, and add --scale 0..100"
    if marked:
        scores.update(marked)
    elif kind == "aspects" or (kind is None and (named or "label" not in columns) and not found.scores):
        could = [] if kind == "aspects" else list(labelled)
        for name in rated if "label" not in columns or kind == "aspects" else ():
            scores[name] = _aspect(name, scores.values())
            low, high = found.profiles[name].scores[0], found.profiles[name].scores[-1]
            steps = "half steps" if found.profiles[name].is_half_score else "whole numbers"
            steps += ", read as ranks from 1" if from_zero else ""
            words = "words of a scale, read as numbers" if found.profiles[name].scale else steps
            reasons[name] = f"{words} from {low:g} to {high:g}"
    if kind in LABELLED or (kind is None and not scores):
        if "label" not in columns and len(labelled) == 1:
            columns["label"] = labelled[0]
            reasons[labelled[0]] = f"{found.profiles[labelled[0]].n_distinct} different short values"
            could = []
        elif "label" not in columns:
            could = labelled + (rated if kind in LABELLED else [])
    if not scores and "label" not in columns and kind in ("aspects", None):
        could += shares
    taken = {*columns.values(), *scores}
    rest = tuple(name for name in found.rest if name not in taken)
    zero = any(found.profiles[name].is_from_zero for name in scores)
    return replace(
        found, columns=columns, scores=scores, rest=rest, could=tuple(could), reasons=reasons, from_zero=zero
    )


def _may_be_slider(name: str, profile: Profile) -> bool:
    """Whether a column is called as scores are and holds numbers from 0 to 100 that are too many to be ranks."""
    within = bool(profile.scores) and profile.scores[0] >= 0 and 10 < profile.scores[-1] <= 100
    return within and RATING.search(plain_name(name)) is not None and not NO_JUDGEMENT.search(plain_name(name))


def _from_zero(found: Matched, names: Sequence[str]) -> list[str]:
    """Columns of scores from 0, if there are several: one may be a number of things."""
    scales = [name for name in names if found.profiles[name].is_from_zero and not NO_SCORE.search(plain_name(name))]
    scales = [name for name in scales if not NO_JUDGEMENT.search(plain_name(name))]
    return scales if len(scales) > 1 else []


def _aspect(name: str, others: Iterable[str]) -> str:
    """The aspect that a column scores, by its name."""
    joined = _JOINED_NAME.fullmatch(name.strip())  # a column under a heading, as pandas writes it
    name = joined[1] if joined else name
    short = _SCORE_NAME.sub("", name.strip()) or name.strip()
    return name.strip() if short in others else short


def _are_texts(found: Matched) -> bool:
    """Whether the sides of votes are texts, not ids."""
    sides = [found.profiles[found.columns[side]] for side in ("item_id", "other_id")]
    return all(side.words >= 2.5 for side in sides)


def _vote_answers(found: Matched) -> Matched:
    """Sides that are texts, and answers 1 and 2 for the first and the second."""
    said = found.profiles[found.columns["value"]].values
    usual = {"1": "1", "2": "0", "3": "0.5", "0": "0.5"}
    votes = usual if "2" in said and said <= usual.keys() else dict(found.votes)
    if {"0", "3"} <= said:
        votes = {}
    reasons = dict(found.reasons)
    numbers = found.profiles[found.columns["value"]].scores
    if numbers and numbers[0] < 0 < numbers[-1] and max(-numbers[0], numbers[-1]) > 1:  # a scale from one to the other
        votes = {
            value: "1" if number < 0 else "0" if number > 0 else "0.5" for value in said for number in [float(value)]
        }
        reasons[found.columns["value"]] = "below 0 the first is better, above 0 the second"
        return replace(found, texts_compared=_are_texts(found), votes=votes, reasons=reasons)
    if votes and not found.votes:
        reasons[found.columns["value"]] = "1 is the first and 2 the second" + (
            ", else a tie" if said - {"1", "2"} else ""
        )
    return replace(found, texts_compared=_are_texts(found), votes=votes, reasons=reasons)
