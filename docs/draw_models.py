"""Draw what each model joins: python docs/draw_models.py writes docs/_static/models/*.svg.

Circles are unknown, filled circles were seen, squares are the parts of the model that join what they touch.
"""

from html import escape
from itertools import combinations, pairwise
from pathlib import Path

FOLDER = Path(__file__).parent / "_static" / "models"
INK, SEEN, JOIN = "#24292f", "#cfe3f7", "#c2571a"


class Picture:
    """A picture that grows from the back: lines first, then nodes and words."""

    def __init__(self, width: int, height: int, says: str) -> None:
        self.size, self.says = (width, height), says
        self.lines: list[str] = []
        self.nodes: list[str] = []

    def line(self, a: tuple[float, float], b: tuple[float, float], *, dashed: bool = False) -> None:
        """A line between two places."""
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self.lines.append(f'<path d="M{a[0]} {a[1]}L{b[0]} {b[1]}" stroke="{INK}" stroke-width="1.3"{dash}/>')

    def node(self, at: tuple[float, float], name: str, *, seen: bool = False) -> tuple[float, float]:
        """A circle with its name."""
        fill = SEEN if seen else "#fff"
        self.nodes.append(f'<circle cx="{at[0]}" cy="{at[1]}" r="21" fill="{fill}" stroke="{INK}" stroke-width="1.3"/>')
        self.word((at[0], at[1] + 5), name, size=15, italic=True)
        return at

    def text(self, at: tuple[float, float], words: str, width: int = 104) -> tuple[float, float]:
        """A text: a box, which was seen."""
        x, y = at[0] - width / 2, at[1] - 16
        self.nodes.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="32" rx="4" '
            f'fill="{SEEN}" stroke="{INK}" stroke-width="1.3"/>'
        )
        self.word((at[0], at[1] + 4.5), words)
        return at

    def join(
        self, at: tuple[float, float], name: str = "", *, to: tuple[tuple[float, float], ...], dx: int = 14
    ) -> None:
        """A part of the model and what it joins."""
        for end in to:
            self.line(at, end)
        self.nodes.append(f'<rect x="{at[0] - 7}" y="{at[1] - 7}" width="14" height="14" fill="{JOIN}"/>')
        if name:
            self.word((at[0] + dx, at[1] + 4.5), name, anchor="start" if dx > 0 else "end", colour=JOIN)

    def word(
        self,
        at: tuple[float, float],
        words: str,
        *,
        size: int = 13,
        anchor: str = "middle",
        italic: bool = False,
        colour: str = INK,
    ) -> None:
        """Words in the picture."""
        style = ' font-style="italic"' if italic else ""
        self.nodes.append(
            f'<text x="{at[0]}" y="{at[1]}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{style}>'
            f"{escape(words)}</text>"
        )

    def write(self, name: str) -> None:
        """The file, on white, so that it can be read on dark pages."""
        width, height = self.size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        )
        head += 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img">'
        parts = [
            head,
            f"<title>{escape(self.says)}</title>",
            f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>',
        ]
        (FOLDER / f"{name}.svg").write_text("\n".join([*parts, *self.lines, *self.nodes, "</svg>\n"]), encoding="utf-8")


def pairs() -> None:
    """Texts, scores, votes and voters."""
    p = Picture(
        640, 250, "Scores of texts are joined by a kernel over their words; a vote depends on two scores and its voter"
    )
    scores = [p.node((150 + 170 * k, 110), name) for k, name in enumerate(("f₁", "f₂", "f₃"))]
    texts = [p.text((150 + 170 * k, 35), f"text {k + 1}") for k in range(3)]
    for text, score in zip(texts, scores, strict=True):
        p.line(text, score)
    p.line(scores[0], scores[2], dashed=True)
    votes = [p.node((235 + 170 * k, 215), name, seen=True) for k, name in enumerate(("1≻2", "3≻2"))]
    for k, (vote, voter) in enumerate(zip(votes, ("ann", "ben"), strict=True)):
        at = (235 + 170 * k, 162)
        person = p.node((235 + 170 * k - 85 + 170 * k, 215), "ε", seen=False)
        p.join(at, "", to=(scores[k], scores[k + 1], vote, person))
        p.word((person[0], person[1] - 27), voter, size=12)
    p.word((575, 105), "kernel K", colour=JOIN)
    p.word((575, 122), "over all texts", colour=JOIN)
    p.word((320, 162 + 5), "Φ((fᵢ − fⱼ)/√2)", colour=JOIN)
    p.write("pairs")


def threads() -> None:
    """Every comment with its text, and every two comments with each other."""
    p = Picture(
        640,
        250,
        "Each label depends on its comment; every two labels of the thread pull each other; one label is given",
    )
    labels = [(120.0, 120.0), (250.0, 50.0), (390.0, 50.0), (520.0, 120.0)]
    for a, b in combinations(labels, 2):
        p.join(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), to=(a, b))
    for k, at in enumerate(labels):
        p.node(at, f"y{'₁₂₃₄'[k]}", seen=k == 1)
        text = p.text((at[0], 215), f"comment {k + 1}")
        p.line(text, at, dashed=True)
    p.word((176, 34), "given by a person", size=12)
    p.word((575, 60), "w · φ(yᵢ, yⱼ, x)", colour=JOIN)
    p.word((575, 170), "v · φ(yᵢ, x)", colour=INK)
    p.write("threads")


def aspects() -> None:
    """One text, several ranks."""
    p = Picture(640, 230, "All ranks depend on the words of one text, and every two ranks pull each other")
    ranks = [(150.0, 90.0), (320.0, 45.0), (490.0, 90.0)]
    text = p.text((320, 195), "“Lovely food, rude waiter.”", width=220)
    for at in ranks:
        p.line(text, at, dashed=True)
    for a, b in combinations(ranks, 2):
        p.join(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), to=(a, b))
    for at, name in zip(ranks, ("food", "service", "price"), strict=True):
        p.node(at, {"food": "5", "service": "?", "price": "?"}[name], seen=name == "food")
        p.word((at[0] + (-62 if at[0] < 300 else 62), at[1] + 5), name)
    p.word((240, 118), "ψ", colour=JOIN, size=15)
    p.word((540, 150), "φ: words → each rank", size=12)
    p.write("aspects")


def links() -> None:
    """Texts, citations, and the words around each."""
    p = Picture(
        640, 240, "Each label depends on its own words; linked labels agree or differ, by the words around the link"
    )
    places = [(120.0, 70.0), (320.0, 120.0), (520.0, 70.0)]
    p.join((220, 95), "", to=(places[0], places[1]))
    p.join((420, 95), "", to=(places[1], places[2]))
    p.word((220, 78), "“as my friend said”", size=12)
    p.word((220, 120), "agree", colour=JOIN, size=12)
    p.word((430, 78), "“I must object”", size=12)
    p.word((425, 120), "differ", colour=JOIN, size=12)
    for k, at in enumerate(places):
        p.node(at, ("for", "?", "?")[k], seen=k == 0)
        text = p.text((at[0], 205), f"speech {k + 1}")
        p.line(text, at, dashed=True)
    p.word((120, 38), "label that is known", size=12)
    p.write("links")


def rationales() -> None:
    """Words, the class, and which words were highlighted."""
    p = Picture(
        700,
        240,
        "The words decide the class by their weights; the same weights and the class decide what is highlighted",
    )
    words = ("dull", "from", "start", "to", "end")
    y = p.node((70, 125), "y", seen=True)
    p.word((70, 88), "class", size=12)
    tags = [(180.0 + 100 * k, 60.0) for k in range(5)]
    for a, b in pairwise(tags):
        p.join(((a[0] + b[0]) / 2, 60), to=(a, b))
    for k, (at, word) in enumerate(zip(tags, words, strict=True)):
        text = p.text((at[0], 205), word, width=70)
        p.join((at[0], 125), "", to=(at, text, y))
        p.node(at, "I" if k == 0 else "O", seen=True)
    p.word((380, 24), "highlighted (I) or not (O): a chain", size=12)
    p.word((598, 122), "weight θ", colour=JOIN, size=12, anchor="start")
    p.word((598, 138), "of the word", colour=JOIN, size=12, anchor="start")
    p.write("rationales")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for draw in (pairs, threads, aspects, links, rationales):
        draw()
