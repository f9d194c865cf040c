"""Does asking help? Learning curves of every way of asking, from a cold start, on the public corpora.

    python benchmarks/asking.py KIND FILE [--splits 0-9] [--seeds 0,1,2] [--ways information,random] [--minutes 9]
                                          [--texts 2000]
    python benchmarks/asking.py report FILE

Each replay (:func:`accord.workflows.simulate.replay`) is one line of FILE, and those that are there are not run again.
Each split draws 2,000 texts of the corpus, or all that it has (threads and debates whole), and holds out 30 % of them.
A replay begins with twenty random answers; the model is fitted again after each number of ``FITTED``, and for random
questions and coverage, which do not ask it, after those of ``SIZES`` alone. It is the default one but for what
``SETTINGS`` names, which saves time, and each text is read once (``benchmarks/remembered.py``). Splits 100 and above
are for development; what is published has splits 0 to 9.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t as student

from accord.data.corpora import convote, cqa, multiaspect
from accord.data.corpora import rationales as movies
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.workflows.simulate import replay
from corpus_projects import rationales_project
from remembered import forget, remember

SIZES = (50, 100, 200, 400)
FITTED = (50, 75, 100, 150, 200, 250, 300, 400)
WAYS = ("random", "information", "accuracy", "uncertainty", "coverage")
N_TEXTS, BATCH = 2000, 20
SETTINGS = {"threads": {}, "links": {}, "aspects": {"model": "ordinal"}, "rationales": {}, "highlights": {}}


def threads(rng, n_texts):
    """Threads of SemEval 2015, labels Good or not."""
    table = cqa.load("2015/train").to_table()
    names = rng.permutation(table["group_id"].unique())
    size = table["group_id"].value_counts()
    table = table[table["group_id"].isin(names[: int(np.argmax(size[names].cumsum().to_numpy() >= n_texts)) + 1])]
    asked = table.drop_duplicates("group_id")
    items = {
        "item_id": [*asked["group_id"], *table["item_id"]],
        "text": [*asked["question"], *table["text"]],
        "group_id": [*asked["group_id"], *table["group_id"]],
        "author_id": [*asked["asker_id"], *table["author_id"]],
    }
    value = np.where(table["label"] == "Good", "Good", "Bad")
    return Project("threads", with_schema(items, ITEMS), _judgements("label", table["item_id"], value))


def links(rng, n_texts):
    """Speakers of ConVote, for or against the bill."""
    items, labels, cited = convote.load().graph()
    names = rng.permutation(np.unique(items.groups.astype(str)))
    size = pd.Series(items.groups.astype(str)).value_counts()
    n = int(np.argmax(np.append(size[names].cumsum().to_numpy() >= n_texts, True))) + 1
    kept = np.isin(items.groups.astype(str), names[:n])
    ids = items.ids[kept]
    inside = np.isin(cited.source, ids) & np.isin(cited.target, ids)
    pairs = {"src_id": cited.source[inside], "dst_id": cited.target[inside], "context": cited.contexts[inside]}
    texts = {"item_id": ids, "text": items.texts[kept], "group_id": items.groups[kept]}
    judged = _judgements("label", ids, labels[kept])
    return Project("links", with_schema(texts, ITEMS), judged, with_schema(pairs, LINKS))


def aspects(rng, n_texts):
    """Hotel reviews with six ranks."""
    ratings = multiaspect.load().ratings
    rows = rng.permutation(ratings.items.n_items)[:n_texts]
    ids, names = ratings.items.ids[rows], [str(name) for name in ratings.aspects]
    judged = _judgements("score", np.repeat(ids, len(names)), ratings.ranks[rows].ravel(), names * len(ids))
    return Project("aspects", _texts(ids, ratings.items.texts[rows]), judged, settings={"n_ranks": 5})


def rationales(rng, n_texts):
    """Film reviews, positive or negative."""
    corpus = movies.load()
    rows = rng.permutation(np.flatnonzero(corpus.reviews["folds"] < 9))[:n_texts]
    ids, value = corpus.items.ids[rows], np.where(corpus.reviews["labels"].to_numpy()[rows] > 0, "pos", "neg")
    return Project("rationales", _texts(ids, corpus.items.texts[rows]), _judgements("label", ids, value))


def highlights(rng, n_texts):
    """The same film reviews, whose labels come with the words that annotator A0 marked."""
    corpus = movies.load()
    rows = rng.permutation(np.flatnonzero(corpus.reviews["folds"] < 9))[:n_texts]
    return rationales_project(corpus, rows)


KINDS = {"threads": threads, "links": links, "aspects": aspects, "rationales": rationales, "highlights": highlights}


def _texts(ids, texts):
    return with_schema({"item_id": ids, "text": texts}, ITEMS)


def _judgements(kind, ids, values, aspects=None):
    rows = {"judgement_id": [str(i) for i in range(len(ids))], "kind": [kind] * len(ids), "item_id": list(ids)}
    rows |= {"value": [str(value) for value in values]} | ({} if aspects is None else {"aspect": aspects})
    return with_schema(rows, JUDGEMENTS)


def read(path):
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def measure(kind, path, splits, seeds, ways, minutes, n_texts):
    """Add the replays that are missing, as long as the time lasts."""
    warnings.simplefilter("ignore")
    remember()
    done = {(row["kind"], row["split"], row["seed"], row["way"]) for row in read(path)}
    for split in splits:
        wanted = [(seed, way) for seed in seeds for way in ways if (kind, split, seed, way) not in done]
        project = KINDS[kind](np.random.default_rng([split, 1]), n_texts) if wanted else None
        forget()
        for seed, way in wanted:
            if time.process_time() > 60 * minutes:
                return
            start = time.process_time()
            at = SIZES if way in ("random", "coverage") else FITTED
            curve = replay(project, way, split=split, seed=seed, batch=BATCH, at=at, settings=SETTINGS[kind])
            row = {"kind": kind, "split": split, "seed": seed, "way": way}
            row["curve"] = {n: round(score, 6) for n, score in curve.items()}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**row, "seconds": round(time.process_time() - start, 2)}) + "\n")


def report(rows):
    """Means, and what each way is better by than random questions, on the splits and seeds that both were replayed on.

    Seeds of a split share its texts: its mean over seeds is one value of the interval.
    """
    table = pd.DataFrame([
        {**{name: row[name] for name in ("kind", "split", "seed", "way")}, "n": int(n), "score": score}
        for row in rows for n, score in row["curve"].items()
    ])  # fmt: skip
    for kind, part in table.groupby("kind"):
        sign = -1.0 if kind == "aspects" else 1.0
        whole = part.pivot_table(index=["split", "seed"], columns=["way", "n"], values="score")
        print(f"\n{kind}\n| way | splits, replays | {' | '.join(map(str, SIZES))} | as good as 400 random after |")
        print("|---|---:|" + "---:|" * 5)
        for way in dict.fromkeys(["random", *whole.columns.get_level_values(0)]):
            cells = whole[["random", *({way} - {"random"})]].dropna()
            told = []
            for n in SIZES:
                gain = sign * (cells[way, n] - cells["random", n]).groupby("split").mean()
                half = student.ppf(0.975, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
                more = "" if way == "random" else f" ({gain.mean():+.3f} ± {half:.3f})"
                told.append(f"{cells[way, n].mean():.3f}{more}")
            size = f"{cells.index.get_level_values(0).nunique()}, {len(cells)}"
            print(f"| {way} | {size} | " + " | ".join(told) + f" | {needed(cells, way, sign):.0f} |")


def needed(cells, way, sign):
    """Answers with which a way is as good as 400 random ones, on the mean curve; infinite where it never is."""
    curve = np.maximum.accumulate(sign * cells[way].mean().sort_index())
    goal = sign * cells["random", SIZES[-1]].mean()
    if curve.iloc[-1] < goal - 1e-12:
        return np.inf
    at = int(np.argmax(curve.to_numpy() >= goal - 1e-12))
    x, y = curve.index.to_numpy(float), curve.to_numpy()
    return x[at] if at == 0 else x[at - 1] + (x[at] - x[at - 1]) * (goal - y[at - 1]) / (y[at] - y[at - 1])


def numbers(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if last else [int(word) for word in text.split(",")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=[*KINDS, "report"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--splits", type=numbers, default=list(range(10)))
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--texts", type=int, default=N_TEXTS)
    options = parser.parse_args()
    if options.kind == "report":
        report(read(options.file))
    else:
        chosen = options.splits, options.seeds, options.ways
        measure(options.kind, options.file, *chosen, options.minutes, options.texts)
