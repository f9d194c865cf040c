"""The page docs/benchmarks.md, written whole from the results."""

from itertools import groupby
from operator import itemgetter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `make bench` from `benchmarks/results.json`; not edited by hand. Times are CPU seconds of one thread unless a
note says otherwise, the best of several calls after the first, which compiles; the table has the median over the runs.
A ratio is the peer's time over ours, above 1 where Accord is faster, with the least and the largest of the runs in
brackets. Estimators run with their **default settings**, except where the name of a row says otherwise. A ratio says
nothing about quality: where the two do not compute the same, the note tells, and where the peer is faster it says why.
Each section names its machine; where other programs ran on it at the same time it says so, and such times are longer,
ours and the peer's alike, and the ratios less steady than on a quiet machine.

`make bench` measures everything again. `make bench-peers` adds the peers that need torch, JAX or a compiled library:
each gets an environment of its own, and none of them is needed to use Accord.
"""

TITLES = {"asking_speed": "Choosing questions", "bradley_terry": "Bradley–Terry"}

# Why a row has no peer, by the words its name has; the first that fits.
NO_PEER = (
    ("Good Grief", "no other implementation is published"),
    ("field over", "no package fits a field over ordinal aspects"),
    ("prediction given", "a rate, not a comparison"),
    ("10^7 links", "growth, not a comparison"),
    ("reproduce", "the time of a command, not a comparison"),
    ("one graph of", "growth, not a comparison"),
    ("edges in all", "growth, not a comparison"),
    ("reading both ends", "what any engine must do at least"),
    ("belief propagation", "PGMax needs JAX: `make bench-peers`"),
    ("chain, ", "no package gives marginals of chains with a table at each place"),
    ("exact", "enumeration; the peers would enumerate too"),
    ("CRF training", "no maintained package trains fully connected CRFs over threads"),
    ("one thread of", "no maintained package predicts with fully connected CRFs"),
    ("features", "the features are Accord's own"),
    ("objective and gradient", "the model of highlights has no other implementation"),
    ("a whole fit", "the model of highlights has no other implementation"),
)


# Why Accord takes longer than a peer, by words of the name of the row and of the peer; the first that fits.
SLOWER = (
    ("spam", "", "a rate of random answers is learnt for each voter as well"),
    ("pairs", "logistic", "the peer is one linear model at a given strength, without intervals or voters"),
    ("pairs", "", "the peer reads no texts: one number for each item, without intervals"),
    (
        "links",
        "words",
        "the peer reads no links; ours also fits the links and their weights, on texts left out in folds",
    ),
    (
        "links",
        "graph",
        "the peer is one linear model; ours also fits the links and their weights, on texts left out in folds",
    ),
    ("links", "spreading", "the peer reads no words and learns nothing: it adds up the labels of neighbours"),
    (
        "train",
        "LogisticRegression",
        "ours chooses its penalty and the pull between comments on threads left out in five folds",
    ),
    ("predict", "LogisticRegression", "ours decides all labels of a thread together; the peer multiplies one matrix"),
    (
        "chain CRF",
        "crfsuite",
        "ours also fits what each fold of threads says of itself left out, and its transitions have features",
    ),
    ("cluster", "", "so few threads are done before messages between processes have arrived"),
)


def slower(row: dict) -> str:
    """Why the peer of a row is faster, or nothing if it is not or no reason is known."""
    if row["ratio"] is None or row["ratio"] >= 1.0:
        return ""
    return next((why for name, peer, why in SLOWER if name in row["name"] and peer in row["peer"]), "")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _ratio(row: dict) -> str:
    if row["ratio"] is None:
        return "–"
    spread = row["ratios"]
    between = f" ({spread[0]:.2g}–{spread[-1]:.2g})" if len(spread) > 1 else " (one run)"
    return f"{row['ratio']:.2g}{between}"


def _peer(row: dict) -> str:
    if row["peer"] not in ("", "none"):
        return row["peer"]
    return "none: " + next((why for words, why in NO_PEER if words in row["name"]), "no package does the same")


def write(results: list[dict]) -> None:
    """Write the page."""
    versions = {
        max(group, key=itemgetter("date"))["versions"] for _, group in groupby(results, itemgetter("benchmark"))
    }
    same = len(versions) == 1
    lines = [HEAD, *([f"Versions: {versions.pop()}.", ""] if same else [])]
    for name, group in groupby(results, key=itemgetter("benchmark")):
        rows = list(group)
        latest = max(rows, key=lambda row: (row["date"], len(row["runs"])))
        n_runs = len(latest["runs"])
        runs = "one run" if n_runs == 1 else f"{n_runs} runs"
        lines += [f"## {TITLES.get(name, name.replace('_', ' ').capitalize())}", ""]
        busy = (latest.get("load") or 0.0) > 1.5  # a benchmark alone has a load of 1
        where = latest["machine"] + (f", shared with other work (load up to {latest['load']:.0f})" if busy else "")
        said = "" if same else f"; {latest['versions']}"
        lines += [f"`python benchmarks/run.py {name}`, {latest['date']}, {runs}; {where}{said}.", ""]
        lines += ["| task | ours | peer | peer's time | ratio | note |", "|---|---:|---|---:|---:|---|"]
        for row in rows:
            earlier = "" if row["date"] == latest["date"] else f"measured {row['date']} on {row['machine']}"
            why = slower(row)
            note = "; ".join(filter(None, (row["note"], f"why slower: {why}" if why else "", earlier)))
            cells = (row["name"], _time(row["ours_s"]), _peer(row), _time(row["peer_s"]), _ratio(row), note)
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    lines += ["## Picture of growth", ""]
    lines += [
        "Belief propagation on one random graph with ten edges a node, 20 sweeps. The benchmark `growth` draws it.",
        "",
    ]
    lines += ["![CPU seconds against edges, both axes logarithmic](_static/engines-growth.svg)", ""]
    PAGE.write_text("\n".join(lines), encoding="utf-8")
