"""What answers to a comparison mean, and which column holds them if its name does not tell."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from accord.data.reading.profiles import Profile, plain_name

__all__ = ["TIED", "VOTES", "answer_of", "answered_columns", "is_graded"]

_LEFT = ("1", "1.0", "left", "a", "a1", "model_a", "first", "l", "erste", "erster", "erstes", "links")
_RIGHT = ("0", "0.0", "right", "b", "a2", "model_b", "second", "r", "zweite", "zweiter", "zweites", "rechts")
_TIE = (
    *("0.5", ".5", "½", "tie", "equal", "undecided", "draw", "both", "neither", "both_bad", "both bad"),
    *("tie (bothbad)", "no preference", "no difference", "equally good", "same", "the same", "cannot decide"),
    *("can't decide", "unentschieden", "egal", "beide", "keine", "égalité", "both good", "both_good", "about the same"),
    *("don't know", "not sure", "equally bad", "weiß nicht", "weiss nicht", "gleich gut", "gleich"),
    *("=", "==", "a=b", "a = b", "≈", "tied", "empate", "pareggio"),
)
_NAMED_SIDE = re.compile(
    r"(?:text|option|argument|answer|response|choice|item|statement|candidate|version|model|system|assistant|slogan|output)"
    r"[ _]?(a|b|left|right|1|2)"
)
# both are equally good; they are about the same; neither is good; no clear winner
_EQUAL = re.compile(
    r"(?:(?:both|they|the two|it)(?: (?:texts|answers|responses|options))?(?: (?:are|is|were))? )?"
    r"(?:about |roughly |both )?"
    r"(?:equal|equals|a tie|a draw|tied|the same|good|bad|equally [^\W\d_]{2,20})"
    r"|(?:neither|none)(?: (?:one|of them|of the two|text|answer|response|option))?(?: (?:is|are))?(?: [^\W\d_]{2,20})?"
    r"|no (?:clear )?(?:winner|preference|difference)"
)
_NUMBERED = {"1": "left", "2": "right"}
_ARTICLE = re.compile(r"\A(?:the|der|die|das) ")
# A much better; the first is slightly better; B wins
_GRADED = re.compile(
    r"(?: (?:is|was))?"
    r"(?P<much> (?:very much|much|far|clearly|significantly|slightly|somewhat|marginally|a bit|a little))?"
    r" (?:better|preferred|stronger|wins|won)\Z"
)
_LONGEST_ANSWER = 60  # characters
VOTES = {**dict.fromkeys(_LEFT, "1"), **dict.fromkeys(_RIGHT, "0"), **dict.fromkeys(_TIE, "0.5")}
# What a column says of a vote between a winner and a loser: whether they are equal.
TIED = {
    **dict.fromkeys(("", "0", "0.0", "no", "false", "n", "f"), "1"),
    **dict.fromkeys(("1", "1.0", "yes", "true", "y", "t", "tie", "tied", "draw"), "0.5"),
}
_LOOKED_AT = 200  # rows
_MOST_COLUMNS = 40  # that are tried


def answer_of(word: str) -> str | None:
    """1, 0 or 0.5 of an answer in words; ``None`` if it says nothing of sides.

    Examples
    --------
    >>> [answer_of(word) for word in ("Left", "Option B", "Model 1", "No preference", "blue")]
    ['1', '0', '1', '0.5', None]
    >>> [answer_of(word) for word in ("A is much better", "The second", "about the same")]
    ['1', '0', '0.5']
    """
    said = word.strip().lower()
    if said in VOTES or len(said) > _LONGEST_ANSWER:
        return VOTES.get(said)
    if _EQUAL.fullmatch(said) and said not in ("good", "bad"):
        return "0.5"
    side = _ARTICLE.sub("", _GRADED.sub("", said))
    named = _NAMED_SIDE.fullmatch(side)
    return VOTES.get(side if named is None else _NUMBERED.get(named[1], named[1]))


def is_graded(word: str) -> bool:
    """Whether an answer also says how much better one side is, which a vote does not keep.

    Examples
    --------
    >>> is_graded("A is much better"), is_graded("A is better"), is_graded("much better")
    (True, False, False)
    """
    found = _GRADED.search(word.strip().lower()) if len(word) <= _LONGEST_ANSWER else None
    return found is not None and found["much"] is not None and answer_of(word) in ("0", "1")


def answered_columns(
    profiles: Mapping[str, Profile], sides: Sequence[str] | None
) -> tuple[str, str, str, dict[str, str]] | None:
    """The columns of the first text, the second, and the answer, by what the answers say.

    An answer names the column of the better text, or repeats that text; if the ``sides`` are known by their names, it
    may also say left or right. The last part is what answers mean that are names of columns. ``None`` if no column, or
    more than one, holds such answers.
    """
    found = []
    for name, profile in profiles.items():
        said = [cell.strip() if cell else "" for cell in profile.first[:_LOOKED_AT]]
        if not any(said) or (sides is not None and name in sides):
            continue
        others = [other for other in profiles if other != name][:_MOST_COLUMNS]
        pairs = [tuple(sides)] if sides is not None else combinations(others, 2)
        for a, b in pairs:
            words = _answers(profiles, a, b, said, sides is not None)
            found += [] if words is None else [(a, b, name, words)]
    return found[0] if len(found) == 1 else None


def _answers(
    profiles: Mapping[str, Profile], a: str, b: str, said: Sequence[str], known: bool
) -> dict[str, str] | None:
    """What the answers mean that name a column, if every answer tells one of two columns; else ``None``."""
    words = {a.strip().lower(): "1", plain_name(a): "1", b.strip().lower(): "0", plain_name(b): "0"}
    meant: set[str] = set()
    for row, answer in enumerate(said):
        if not answer:
            continue
        cells = [(profiles[side].first[row] or "").strip() for side in (a, b)]
        if not all(cells):
            return None
        word = None if answer[0].isdigit() else answer_of(answer)
        same = {cells[0]: "1", cells[1]: "0"}.get(answer) if cells[0] != cells[1] else None
        code = same or words.get(answer.lower()) or (word if known or word == "0.5" else None)
        if code is None:
            return None
        meant.add(code)
    return words if {"0", "1"} <= meant else None
