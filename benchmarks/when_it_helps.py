"""When does the joint model help? The default beside simple models, by how much there is to learn from.

    python benchmarks/when_it_helps.py [KIND ...] [--draws 5] [--keep FILE] [--page docs/results/when-it-helps.md]

For each draw, some groups of a corpus (threads, debates, texts, pairs of texts) are set aside for testing, and every
method of ``accord evaluate`` learns from more and more of the others. ``--keep`` is a file of finished parts, so that a
run that was cut off goes on; ``--page`` writes tables and pictures. Needs the corpora in ACCORD_DATA.
"""

import argparse
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from accord.evaluation.table_picture import draw_table
from accord.evaluation.tables import mean_row
from accord.workflows.evaluate import case_losses
from accord.workflows.left_out import ACCORD, METHODS, Fold
from accord.workflows.reproduce import wide_table
from corpus_projects import PROJECTS

# Numbers of groups to learn from, and how many are set aside.
SIZES = {
    "pairs": ((50, 200, 800), 300),
    "threads": ((20, 60, 200), 150),
    "aspects": ((24, 60, 200, 600), 250),
    "links": ((5, 15, 40), 12),
    "rationales": ((20, 60, 200), 250),
}
START, END = "<!-- tables: written by benchmarks/when_it_helps.py -->", "<!-- end of tables -->"


def one_draw(kind, seed):
    """Figures of every method at every size, by name, size and metric."""
    rng = np.random.default_rng([seed, len(kind)])
    project = PROJECTS[kind](rng)
    cases = METHODS[kind].cases(project)
    names = rng.permutation(np.unique(cases.group.astype(str)))
    group = cases.group.astype(str)
    sizes, n_test = SIZES[kind]
    test = np.flatnonzero(np.isin(group, names[:n_test]))
    found = {}
    for size in sizes:
        train = np.flatnonzero(np.isin(group, names[n_test : n_test + size]))
        for name, method in METHODS[kind].named().items():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p = method(project, cases, Fold(train, test), {})
            for metric, values in case_losses(cases.truth[test], p, ordered=cases.ordered).items():
                found[f"{name}@{size}|{metric}"] = float(values.mean())
            print(kind, seed, name, size, f"{time.process_time() - start:.1f} s", file=sys.stderr, flush=True)
    return found


def rows_of(kind, draws):
    """One row a method, size and metric, with its interval over draws, and how much better Accord is."""
    rows = []
    for key in draws[0]:
        row, metric = key.split("|")
        rows.append(mean_row(kind, row, metric, [draw[key] for draw in draws]))
        name, size = row.rsplit("@", 1)
        if name != ACCORD and metric != "accuracy":
            gained = [draw[key] - draw[f"{ACCORD}@{size}|{metric}"] for draw in draws]
            rows.append(mean_row(kind, row, f"{metric}, how much lower Accord's is", gained))
    return rows


def write(page, kept, kinds):
    """The tables between the marks of the page, and a picture a kind beside it."""
    lines = [START]
    for kind in kinds:
        rows = rows_of(kind, list(kept[kind].values()))
        picture = page.with_name(f"{page.stem}-{kind}.svg")
        drawn = [row for row in rows if "Accord's" not in row.metric]
        draw_table(drawn, picture)
        lines += [
            "",
            f"## {kind}",
            "",
            f"![{kind}: figures by number of groups]({picture.name})",
            "",
            *wide_table(rows),
        ]
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    page.write_text(before + "\n".join([*lines, "", END]) + rest.partition(END)[2], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(SIZES))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    kept = json.loads(asked.keep.read_text()) if asked.keep and asked.keep.exists() else {}
    for seed in range(asked.draws):
        for kind in asked.kinds:
            own = kept.setdefault(kind, {})
            if str(seed) not in own:
                own[str(seed)] = one_draw(kind, seed)
                if asked.keep:
                    asked.keep.write_text(json.dumps(kept, indent=1))
    for kind in asked.kinds:
        print("\n".join(["", f"## {kind}", "", *wide_table(rows_of(kind, list(kept[kind].values())))]))
    if asked.page:
        write(asked.page, kept, asked.kinds)


if __name__ == "__main__":
    main()
