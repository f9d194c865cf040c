"""Texts that were written as HTML: whether they are, and their words."""

import re
from html.parser import HTMLParser
from typing import Any

__all__ = ["holds_html", "plain_text"]

_BLOCKS = {"p", "br", "div", "li", "ul", "ol", "pre", "blockquote", "h1", "h2", "h3", "tr"}
_SIGN = re.compile(
    r"</?(?:p|br|div|span|b|i|u|em|strong|a|li|ul|ol|code|pre|blockquote|h[1-6])(?:\s[^<>]{0,300})?/?>"
    r"|&(?:nbsp|amp|lt|gt|quot|#\d{1,7});",
    re.IGNORECASE,
)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def plain_text(html: str) -> str:
    """The words of a piece of HTML, a line a paragraph.

    Examples
    --------
    >>> plain_text("<p>Use <b>both</b> hands.</p><p>Good luck &amp; thanks</p>")
    'Use both hands.\\nGood luck & thanks'
    """
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).splitlines())
    return "\n".join(line for line in lines if line)


def holds_html(text: str) -> bool:
    """Whether a text holds marks of HTML, which a model would read as words.

    Examples
    --------
    >>> holds_html("Two<br />lines"), holds_html("3 < 4 and 5 > 2"), holds_html("salt &amp; pepper")
    (True, False, True)
    """
    return _SIGN.search(text) is not None
