"""Equations as MathML, which browsers draw by themselves: no script is fetched, and the colours follow the page."""

from docutils import nodes
from docutils.utils.math.latex2mathml import MathError, tex2mathml
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.writers.html5 import HTML5Translator


def markup(tex: str, *, block: bool) -> str:
    """The MathML of a formula; a command that is not known stops the build."""
    if r"\sqrt" in tex:
        raise SphinxError(f"{tex} has a root, which browsers without a font for formulas do not draw; write \\surd.")
    try:
        return tex2mathml(tex, as_block=block)
    except MathError as error:
        raise SphinxError(f"{tex} is no formula that can be drawn: {error}") from error


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """A formula in a line."""
    self.body.append(markup(node.astext(), block=False))
    raise nodes.SkipNode


def display(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula of its own."""
    self.body.append(f'<div class="equation">{markup(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
