"""A text with its highlights as a picture: SVG, drawn without any library."""

from collections.abc import Sequence
from html import escape

from accord.errors import InputError
from accord.typing import BoolArray, FloatArray

__all__ = ["highlighted_svg"]

_SIZE, _ADVANCE, _LINE, _MARGIN = 13.0, 7.83, 24.0, 16.0  # font size, width of a monospaced letter, line, border


def highlighted_svg(
    tokens: Sequence[str],
    probabilities: FloatArray,
    marked: BoolArray | None = None,
    *,
    title: str = "",
    columns: int = 96,
) -> str:
    """Tokens on a ground as dark as they are likely to be highlighted; what a person marked is underlined.

    Parameters
    ----------
    tokens : sequence of str of length n
    probabilities : array of shape (n,)
    marked : bool array of shape (n,), optional
    title : str
        Stands above the text and describes the picture to those who cannot see it.
    columns : int
        Letters a line.

    Returns
    -------
    svg : str
    """
    if len(tokens) != len(probabilities) or (marked is not None and len(marked) != len(tokens)):
        raise InputError(f"every token needs a probability and a mark; there are {len(tokens)} tokens.")
    places, line, column = [], 0, 0
    for token in tokens:
        if column and column + len(token) > columns:
            line, column = line + 1, 0
        places.append((line, column))
        column += len(token) + 1
    top = _MARGIN + (_LINE if title else 0.0)
    width, height = 2 * _MARGIN + columns * _ADVANCE, top + (line + 1) * _LINE + _MARGIN / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" font-family="monospace" font-size="{_SIZE:g}">',
        f"<title>{escape(title or 'Highlighted text')}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    if title:
        parts.append(f'<text x="{_MARGIN}" y="{_MARGIN + 4}" font-weight="bold" fill="#222222">{escape(title)}</text>')
    for place, (token, (row, start)) in enumerate(zip(tokens, places, strict=True)):
        x, y, w = _MARGIN + start * _ADVANCE, top + row * _LINE, len(token) * _ADVANCE
        # The ground reaches over the space to the next token of the line, so that a highlight is one band.
        follows = place + 1 < len(tokens) and places[place + 1][0] == row
        p = float(probabilities[place])
        if p >= 0.02:
            band = w + (_ADVANCE if follows else 0.0)
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{band:.1f}" height="19" fill="#e8a200" fill-opacity="{p:.2f}"/>'
            )
        if marked is not None and marked[place]:
            both = follows and bool(marked[place + 1])
            end = x + w + (_ADVANCE if both else 0.0)
            parts.append(f'<path d="M{x:.1f} {y + 19:.1f}H{end:.1f}" stroke="#1f4e8c" stroke-width="2"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{y + 14:.1f}" textLength="{w:.1f}" lengthAdjust="spacingAndGlyphs" '
            f'fill="#222222">{escape(token)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])
