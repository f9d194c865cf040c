"""Surface features of a text: lengths, punctuation, readability, word classes, sentiment, spelling.

Everything comes from closed lists and rules, or from libraries whose data ship inside the package. Sentiment needs
vaderSentiment and spelling needs simplemma; without them their columns are left out.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from accord.typing import FloatArray

__all__ = ["BASE_NAMES", "LENGTHS", "coarse_tags", "sentences", "surface_features", "surface_names", "words"]

_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def _bag(members: str) -> frozenset[str]:
    return frozenset(members.split())


_LISTS: dict[str, frozenset[str]] = {
    "connectives": _bag(
        "because since therefore thus hence so consequently however although though but nevertheless "
        "moreover furthermore besides also additionally instead otherwise while whereas unless if then "
        "finally firstly secondly first second third example instance conclusion"
    ),
    "first_person": _bag("i me my mine myself we us our ours ourselves i'm i've i'd i'll we're we've"),
    "second_person": _bag("you your yours yourself yourselves u ur you're you've you'd you'll"),
    "third_person": _bag("he him his she her hers it its they them their theirs he's she's it's they're"),
    "modals": _bag("can could may might must shall should will would ought can't couldn't won't wouldn't"),
    "negations": _bag(
        "no not never none nobody nothing neither nor cannot can't don't doesn't didn't isn't aren't wasn't won't"
    ),
    "hedges": _bag("maybe perhaps possibly probably seem seems think believe guess feel likely somewhat"),
    "boosters": _bag("always never all every definitely clearly obviously certainly totally very really"),
    "evidence": _bag(
        "study studies research evidence percent statistics data fact facts report according survey proof prove"
    ),
    "stop_words": _bag(
        "the a an and or of to in on at for with by from as is are was were be been being this that these those"
    ),
    "slang": _bag("lol omg wtf u ur r gonna wanna gotta cuz coz thx pls plz dont cant wont im ive idk haha"),
}
BASE_NAMES = (
    "log_characters",
    "log_words",
    "log_sentences",
    "mean_word_length",
    "words_a_sentence",
    "long_words",
    "exclamations",
    "questions",
    "upper_case",
    "commas",
    "distinct_words",
    "digits",
)
LENGTHS = ("log_characters", "log_words", "log_sentences", "root_characters")
_MORE_NAMES = (
    "root_characters",
    "flesch",
    "kincaid",
    "coleman_liau",
    "automated_readability",
    "lix",
    "fog",
    "syllables_a_word",
    "sentence_spread",
    "longest_sentence",
    "capital_starts",
    "shouted_words",
    "lower_i",
    "quotes",
    "brackets",
    "links",
    "line_breaks",
    "ellipses",
    "stretched",
    "semicolons",
    "colons_dashes",
    "superlatives",
    "past_tense",
    "ing_forms",
    "apostrophes",
    "ends_properly",
    "very_long_words",
    "repeated_words",
    *_LISTS,
)


def words(text: str) -> list[str]:
    """The words of a text, as written."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    found = [part.strip() for part in _SENTENCE.findall(text)]
    return [part for part in found if part] or [text]


def _syllables(word: str) -> int:
    found = len(re.findall(r"[aeiouy]+", word))
    return max(found - (word.endswith("e") and not word.endswith("le") and found > 1), 1)


def _has(module: str) -> bool:
    return find_spec(module) is not None


def surface_names(*, extended: bool = True) -> list[str]:
    """Names of the columns of :func:`surface_features`, in order."""
    names = list(BASE_NAMES)
    if extended:
        names += _MORE_NAMES
        names += ["positive", "negative", "neutral", "compound"] if _has("vaderSentiment") else []
        names += ["unknown_words"] if _has("simplemma") else []
    return names


def surface_features(texts: Sequence[str], *, extended: bool = True) -> FloatArray:
    """Surface features, shape (n_texts, n_names); ``extended=False`` gives the twelve basic ones."""
    sentiment: Any = None
    is_known: Any = None
    if extended and _has("vaderSentiment"):
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        sentiment = SentimentIntensityAnalyzer()
    if extended and _has("simplemma"):
        import simplemma

        is_known = simplemma.is_known
    cache: dict[str, bool] = {}
    rows = [_row(text, extended, sentiment, is_known, cache) for text in texts]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(surface_names(extended=extended)))


def _row(text: str, extended: bool, sentiment: Any, known: Any, cache: dict[str, bool]) -> list[float]:
    tokens, parts = words(text), sentences(text)
    lower = [token.lower() for token in tokens]
    n, n_char, n_sent = max(len(tokens), 1), max(len(text), 1), len(parts)
    letters = sum(map(len, tokens))
    row = [
        np.log1p(len(text)),
        np.log1p(len(tokens)),
        np.log1p(n_sent),
        letters / n,
        n / n_sent,
        sum(len(token) > 6 for token in tokens) / n,
        np.log1p(text.count("!")),
        np.log1p(text.count("?")),
        sum(c.isupper() for c in text) / n_char,
        np.log1p(text.count(",")),
        len(set(lower)) / np.sqrt(n),
        np.log1p(sum(c.isdigit() for c in text)),
    ]
    if not extended:
        return row
    syllables = [_syllables(token) for token in lower]
    complex_words = sum(s >= 3 for s in syllables)
    per_sentence, per_word = n / n_sent, sum(syllables) / n
    lengths = [len(words(part)) for part in parts]
    row += [
        np.sqrt(len(text)),
        206.835 - 1.015 * per_sentence - 84.6 * per_word,
        0.39 * per_sentence + 11.8 * per_word - 15.59,
        5.88 * letters / n - 29.6 * n_sent / n - 15.8,
        4.71 * letters / n + 0.5 * per_sentence - 21.43,
        per_sentence + 100.0 * sum(len(token) > 6 for token in tokens) / n,
        0.4 * (per_sentence + 100.0 * complex_words / n),
        per_word,
        float(np.std(lengths)),
        float(max(lengths)),
        sum(part[:1].isupper() for part in parts) / n_sent,
        np.log1p(sum(len(token) > 1 and token.isupper() for token in tokens)),
        float(" i " in f" {text} "),
        np.log1p(sum(text.count(c) for c in '"“”')),
        np.log1p(text.count("(") + text.count("[")),
        np.log1p(len(re.findall(r"https?:|www\.", text))),
        np.log1p(text.count("\n")),
        np.log1p(len(re.findall(r"\.\.+|…", text))),
        np.log1p(len(re.findall(r"([A-Za-z!?])\1\1", text))),
        np.log1p(text.count(";")),
        np.log1p(text.count(":") + text.count("-")),
        np.log1p(sum(w in ("most", "least", "best", "worst") or (w.endswith("est") and len(w) > 5) for w in lower)),
        sum(w.endswith("ed") for w in lower) / n,
        sum(w.endswith("ing") for w in lower) / n,
        np.log1p(text.count("'") + text.count("’")),
        float(text.rstrip()[-1:] in ".!?"),
        sum(len(token) > 10 for token in tokens) / n,
        sum(a == b for a, b in pairwise(lower)) / n,
    ]
    row += [sum(w in members for w in lower) / n for members in _LISTS.values()]
    if sentiment is not None:
        scores = sentiment.polarity_scores(text)
        row += [scores["pos"], scores["neg"], scores["neu"], scores["compound"]]
    if known is not None:
        for word in lower:
            if word not in cache:
                cache[word] = bool(known(word, lang="en"))
        row.append(sum(not cache[word] for word in lower) / n)
    return row


_CLOSED = {
    "DET": _bag("the a an this that these those each every some any no all both"),
    "PRO": _bag("i you he she it we they me him her us them my your his its our their who which what"),
    "ADP": _bag("of in on at by for with about against between into through during before after to from up down"),
    "CON": _bag("and or but nor so yet because although though if while since unless whereas"),
    "AUX": _bag("be am is are was were been being do does did have has had"),
    "MOD": _bag("can could may might must shall should will would ought"),
    "NEG": _bag("not no never n't cannot"),
}
_TAG_OF = {word: tag for tag, members in _CLOSED.items() for word in members}
_SUFFIXES = (
    ("ADV", ("ly",)),
    ("VBG", ("ing",)),
    ("VBD", ("ed",)),
    ("NN", ("tion", "sion", "ment", "ness", "ity", "ism", "ist", "ance", "ence", "ship", "hood")),
    ("ADJ", ("ous", "ful", "less", "able", "ible", "ive", "al", "ic", "ish")),
    ("NNS", ("s",)),
)


def coarse_tags(text: str) -> list[str]:
    """Coarse word classes by closed lists and suffixes, with punctuation marks as tags of their own."""
    tags = []
    for token in re.findall(r"[A-Za-z]+(?:['’][A-Za-z]+)?|\d+|[.,!?;:]", text):
        lower = token.lower()
        if lower in _TAG_OF:
            tags.append(_TAG_OF[lower])
        elif not token[0].isalpha():
            tags.append("NUM" if token[0].isdigit() else token)
        elif token[0].isupper() and len(token) > 1 and tags and tags[-1] not in ".!?":
            tags.append("NNP")
        else:
            tags.append(next((tag for tag, ends in _SUFFIXES if lower.endswith(ends) and len(lower) > 4), "W"))
    return tags
