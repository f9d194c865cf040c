"""How long it takes to choose the next 20 questions, with the model given: CPU seconds of one thread.

10,000 comments of threads, 20,000 texts with 100,000 links, 5,000 reviews with six ranks, 5,000 reviews with a label;
nearly all of them without a judgement. The line is .5 s. Texts are made up of words whose frequencies follow Zipf's
law, comments of about 40 words and reviews of about 150; the models are trained on a part of them.
"""

import time
import warnings
from dataclasses import replace

import numpy as np

from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.workflows.ask import ask_texts
from accord.workflows.kinds import task_of
from accord.workflows.looked_at import part_of

N_JUDGED, N_ASKED, RUNS = 200, 20, 3
WORDS = np.array([f"w{i}" for i in range(20_000)], dtype=object)


def run() -> list[dict]:
    """One row a kind."""
    warnings.simplefilter("ignore")
    projects = (_threads(10_000), _links(20_000, 100_000), _aspects(5_000), _rationales(5_000))
    return [_row(project) for project in projects]


def _row(project: Project) -> dict:
    task = task_of(project.kind)
    ids = np.array(project.item_table.column("item_id").to_pylist(), dtype=object)
    model = task.train(part_of(project, ids[:600]), {}, lambda what, done, total: None)
    ask_texts(model, project, 3, "information")
    spent = []
    for seed in range(RUNS):
        start = time.process_time()
        ask_texts(model, project, N_ASKED, "information", seed=seed)
        spent.append(time.process_time() - start)
    counts = project.counts
    note = f"{counts['items']:,} texts" + (f", {counts['links']:,} links" if counts["links"] else "")
    row = {"name": f"the next {N_ASKED} questions of {project.kind}", "peer": "", "ours_s": float(np.median(spent))}
    return {**row, "peer_s": float("nan"), "ratio": float("nan"), "note": note}


def _texts(n: int, length: int) -> tuple[list[str], np.ndarray]:
    """Texts of two sides, each with words of its own among the others."""
    rng = np.random.default_rng(0)
    p = 1.0 / np.arange(1, len(WORDS) + 1)
    side = rng.integers(0, 2, n)
    sizes = rng.geometric(1.0 / length, n)
    drawn = rng.choice(len(WORDS), sizes.sum(), p=p / p.sum())
    own = rng.random(sizes.sum()) < 0.1
    drawn[own] = 100 + 50 * np.repeat(side, sizes)[own] + rng.integers(0, 50, own.sum())
    return [" ".join(part) for part in np.split(WORDS[drawn], np.cumsum(sizes)[:-1])], side


def _judged(kind: str, ids: np.ndarray, values: np.ndarray, aspects: list[str] | None = None) -> object:
    rows = {"judgement_id": [str(i) for i in range(len(ids))], "kind": [kind] * len(ids), "item_id": list(ids)}
    rows |= {"value": [str(value) for value in values]} | ({} if aspects is None else {"aspect": aspects})
    return with_schema(rows, JUDGEMENTS)


def _plain(kind: str, n: int, length: int) -> Project:
    texts, side = _texts(n, length)
    ids = np.array([f"t{i:06d}" for i in range(n)], dtype=object)
    items = with_schema({"item_id": ids, "text": texts}, ITEMS)
    return Project(kind, items, _judged("label", ids[:N_JUDGED], side[:N_JUDGED]))


def _threads(n: int) -> Project:
    texts, side = _texts(n, 40)
    thread = np.arange(n) // 6
    names = [f"q{i:05d}" for i in range(thread[-1] + 1)]
    ids = np.array([f"c{i:06d}" for i in range(n)], dtype=object)
    rows = [(names[t], texts[6 * t], names[t]) for t in range(len(names))]
    rows += [(ids[i], texts[i], names[thread[i]]) for i in range(n)]
    rows.sort(key=lambda row: (row[2], row[0] != row[2]))
    columns = dict(zip(("item_id", "text", "group_id"), zip(*rows, strict=True), strict=True))
    items = with_schema({name: list(column) for name, column in columns.items()}, ITEMS)
    return Project("threads", items, _judged("label", ids[:N_JUDGED], side[:N_JUDGED]))


def _links(n: int, n_links: int) -> Project:
    project = _plain("links", n, 40)
    rng, ids = np.random.default_rng(1), np.array(project.item_table.column("item_id").to_pylist(), dtype=object)
    a = rng.integers(0, n, n_links)
    b = (a + rng.integers(1, 200, n_links)) % n
    return replace(project, link_table=with_schema({"src_id": ids[a], "dst_id": ids[b]}, LINKS))


def _aspects(n: int) -> Project:
    project = _plain("aspects", n, 150)
    ids = np.array(project.item_table.column("item_id").to_pylist()[:N_JUDGED], dtype=object)
    names = ["service", "rooms", "value", "place", "food", "overall"]
    side = _texts(n, 150)[1][:N_JUDGED]
    ranks = np.clip(2 + 2 * side[:, None] + np.random.default_rng(2).integers(-1, 2, (N_JUDGED, 6)), 1, 5)
    judged = _judged("score", np.repeat(ids, 6), ranks.ravel(), names * N_JUDGED)
    return replace(project, judgement_table=judged, settings={"n_ranks": 5})


def _rationales(n: int) -> Project:
    return _plain("rationales", n, 150)


if __name__ == "__main__":
    for row in run():
        print(f"{row['name']}: {row['ours_s']:.2f} s ({row['note']})", flush=True)
