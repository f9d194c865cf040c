"""One tokeniser for all kinds of judgement and all scripts: words with their places, and bags of words.

Words are runs of letters, marks and digits, with apostrophes inside words and points inside numbers. Scripts that are
written without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) give one token a character with its marks, and
their n-grams stand for words; a run of katakana is a word. An emoji with its modifiers is one token.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import normalize

import regex

__all__ = ["WordAnalyser", "is_unspaced", "token_spans", "tokens"]

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_LETTER = rf"[[\p{{L}}\p{{N}}\p{{M}}_\u200c\u200d]--[{_UNSPACED}]]"
_PICTURE = r"[\p{Extended_Pictographic}--[\p{N}#*©®™]]"
_FLAG = r"\p{Regional_Indicator}{1,2}+\p{M}*+"  # not \X, which looks back through all flags before it
_WORD = rf"{_LETTER}+(?:(?:['’ʼ](?=\p{{L}})|(?<=\p{{N}})[.,](?=\p{{N}})){_LETTER}+)*"
# Each alternative begins with another character, and no part can give back what it took: the search is linear.
_TOKENS = regex.compile(rf"(?V1)(?:{_FLAG}|(?={_PICTURE})\X|[{_UNSPACED}][\p{{M}}\u200d]*+|{_WORD})")
_TOKENS_AND_MARKS = regex.compile(rf"(?V1)(?:{_FLAG}|(?={_PICTURE})\X|[{_UNSPACED}][\p{{M}}\u200d]*+|{_WORD}|[^\s])")
_ASCII = re.compile(r"[A-Za-z0-9_]+(?:(?:'(?=[A-Za-z])|(?<=[0-9])[.,](?=[0-9]))[A-Za-z0-9_]+)*")
_ASCII_AND_MARKS = re.compile(rf"{_ASCII.pattern}|[^\s]")
_ONE_UNSPACED = regex.compile(rf"(?V1)[{_UNSPACED}]")
_APOSTROPHES = str.maketrans("’ʼ", "''")


def token_spans(text: str, *, marks: bool = False) -> list[tuple[int, int]]:
    """The places of the tokens of a text, as character offsets (start, end).

    Parameters
    ----------
    text : str
    marks : bool
        Whether other characters than spaces (punctuation, signs) are tokens too, one each.

    Examples
    --------
    >>> token_spans("Don't go!")
    [(0, 5), (6, 8)]
    >>> token_spans("好吃!", marks=True)
    [(0, 1), (1, 2), (2, 3)]
    """
    return [match.span() for match in _found(text, marks)]


def tokens(text: str, *, marks: bool = False) -> list[str]:
    """The tokens of a text, in lower case, composed (NFKC) and with plain apostrophes.

    Examples
    --------
    >>> tokens("It’s 3.5 km, naïve 👍🏽")
    ["it's", '3.5', 'km', 'naïve', '👍🏽']
    >>> tokens("किताब अच्छी है")
    ['किताब', 'अच्छी', 'है']
    """
    if text.isascii():
        return [match[0].lower() for match in _found(text, marks)]
    return [normalize("NFKC", match[0].lower()).translate(_APOSTROPHES) for match in _found(text, marks)]


def is_unspaced(token: str) -> bool:
    """Whether a token is a character of a script that is written without spaces.

    Examples
    --------
    >>> is_unspaced("好"), is_unspaced("good")
    (True, False)
    """
    return _ONE_UNSPACED.match(token) is not None


def _found(text: str, marks: bool) -> "Iterator[re.Match[str] | regex.Match[str]]":
    if text.isascii():
        return (_ASCII_AND_MARKS if marks else _ASCII).finditer(text)
    return (_TOKENS_AND_MARKS if marks else _TOKENS).finditer(text)


@dataclass(frozen=True)
class WordAnalyser:
    """Words and n-grams of a text, to be the ``analyzer`` of scikit-learn's vectorisers.

    N-grams of words are joined by a space, those of characters of unspaced scripts by nothing. Characters of such
    scripts form n-grams up to ``longest``, because two or three of them make a word.

    Parameters
    ----------
    lowest, highest : int
        Shortest and longest n-grams of words.
    marks : bool
        Whether punctuation marks are words too.

    Examples
    --------
    >>> WordAnalyser(1, 2)("Very good food")
    ['very', 'good', 'food', 'very good', 'good food']
    >>> WordAnalyser()("好吃的")
    ['好', '吃', '的', '好吃', '吃的', '好吃的']
    """

    lowest: int = 1
    highest: int = 1
    marks: bool = False

    longest: ClassVar[int] = 3

    def __call__(self, text: str) -> list[str]:
        """The n-grams of one text, shorter ones first."""
        words = tokens(text, marks=self.marks)
        unspaced = [False] * len(words) if text.isascii() else [is_unspaced(word) for word in words]
        if not any(unspaced):
            return [
                word if n == 1 else " ".join(words[start : start + n])
                for n in range(self.lowest, self.highest + 1)
                for start, word in enumerate(words[: len(words) - n + 1])
            ]
        grams = []
        for n in range(self.lowest, max(self.highest, self.longest) + 1):
            for start in range(len(words) - n + 1):
                kinds = unspaced[start : start + n]
                if all(kinds):
                    grams.append("".join(words[start : start + n]))
                elif n <= self.highest:
                    grams.append(" ".join(words[start : start + n]))
        return grams
