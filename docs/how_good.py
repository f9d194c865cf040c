"""The README's table "How good it is", from the pages of results.

python docs/how_good.py            says whether the README shows what the pages of results say
python docs/how_good.py --write    writes it anew
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README, RESULTS = ROOT / "README.md", ROOT / "docs" / "results"
START, END = "<!-- how good it is -->\n", "<!-- end -->"


@dataclass(frozen=True)
class Shown:
    """One kind's line: where its figures stand, and where its joint part adds nothing."""

    kind: str
    what: str
    paper: tuple[str, str, str]  # table, row, metric
    simple: tuple[str, tuple[str, str, str]]  # what people would take instead, and its place
    ours: tuple[str, str, str]
    not_when: str


LINES = (
    Shown(
        "pairs",
        "arguments of a debate left out, % right",
        ("strict", "gppl_mlii", "accuracy"),
        ("logistic regression", ("strict", "logistic_diff", "accuracy")),
        ("strict", "gppl", "accuracy"),
        "texts are new and many votes are there to learn from",
    ),
    Shown(
        "threads",
        "comments, % right",
        ("text", "fccrf", "accuracy"),
        ("each comment alone", ("shipped", "alone", "accuracy")),
        ("shipped", "default", "accuracy"),
        "no label of the thread is known beforehand",
    ),
    Shown(
        "aspects",
        "restaurants, ranks off",
        ("we8there", "gg", "loss"),
        ("ridge and thresholds", ("we8there", "ridge_thresholds", "loss")),
        ("we8there", "default", "loss"),
        "aspects are only looked at one by one",
    ),
    Shown(
        "links",
        "speeches, % right",
        ("collective", "mean_field", "all"),
        ("words alone", ("collective", "content", "all")),
        ("collective", "best", "all"),
        "linked texts agree no more often than others",
    ),
    Shown(
        "rationales",
        "film reviews, 100 of them highlighted, % right",
        ("f9", "rationales@100", "accuracy"),
        ("without highlights", ("f9", "log_linear@100", "accuracy")),
        ("f9", "default@100", "accuracy"),
        "labels are cheap: a highlight takes longer than a label",
    ),
)


def section(page: str, table: str) -> str:
    """The part of a page about one table."""
    return page.split(f"\n## {table}\n", 1)[1].split("\n## ", 1)[0]


def cells(page: str, place: tuple[str, str, str]) -> tuple[str, str]:
    """Our figure and the paper's, as the page has them; a dash where there is none."""
    table, row, metric = place
    part, (name, _, size) = section(page, table), row.partition("@")
    if size:  # sizes stand side by side, each metric in a table of its own
        part, metric = re.split(rf"^{metric}, n", part, flags=re.MULTILINE)[1].split("\n\n|", 1)[1], f"@{size}"
        part = part.split("\n\n")[0]
    lines = [line.strip("| ").split(" | ") for line in part.splitlines() if " | " in line and "---" not in line]
    header = lines[0]
    own = next(line for line in lines if line[0] == name)
    at = header.index(metric)
    paper = own[at + 1] if header[at + 1 : at + 2] == ["paper"] else "–"
    return own[at], paper


def per_cent(cell: str, kind: str) -> str:
    """Shares as per cent with one decimal; losses of aspects as they are."""
    if cell == "–":
        return cell
    figures = [float(figure) for figure in cell.split(" ± ")]
    if kind == "aspects":
        return " ± ".join(f"{figure:.3f}" for figure in figures)
    scale = 100 if figures[0] <= 1 else 1
    return " ± ".join(f"{scale * figure:.1f}" for figure in figures)


def table() -> str:
    """The README's table, in Markdown."""
    out = [
        "| kind, measure | paper | simple model | Accord | the joint part adds nothing where |",
        "|---|---:|---:|---:|---|",
    ]
    for line in LINES:
        page = (RESULTS / f"{line.kind}.md").read_text(encoding="utf-8")
        simple, place = line.simple
        figures = cells(page, line.paper)[1], cells(page, place)[0], cells(page, line.ours)[0]
        paper, theirs, ours = (per_cent(cell, line.kind) for cell in figures)
        what = f"[{line.kind}](docs/results/{line.kind}.md): {line.what}"
        out.append(f"| {what} | {paper} | {theirs} ({simple}) | {ours} | {line.not_when} |")
    return "\n".join(out) + "\n"


def main() -> int:
    """Compare, or write."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START, 1)
    shown, after = rest.split(END, 1)
    if "--write" in sys.argv:
        README.write_text(f"{before}{START}{table()}{END}{after}", encoding="utf-8")
        return 0
    if shown != table():
        print("The README's table differs from the pages of results; python docs/how_good.py --write writes it anew.")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
