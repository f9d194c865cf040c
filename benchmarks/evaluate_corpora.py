"""Does ``accord evaluate`` say what the corpora's own test texts say?

``python benchmarks/evaluate_corpora.py [threads] [aspects] [--groups 150] [--draws 4]`` draws training groups of a
corpus, has them evaluated by cross-validation as any project is, and fits the same default to as many groups as one
fold learns from, drawn again and again, to be scored on the corpus's own test groups, as ``accord reproduce`` does.
The two figures answer the same question, so that their 95 % intervals should overlap. Needs the corpora ``cqa`` and
``multiaspect`` in ACCORD_DATA.
"""

import argparse

import numpy as np
import pandas as pd

from accord.data.corpora import cqa, multiaspect
from accord.data.project import ITEMS, JUDGEMENTS, Project, with_schema
from accord.threads.paper.tables import binary
from accord.workflows.evaluate import ACCORD, evaluate
from accord.workflows.kinds import task_of

N_FOLDS, N_TEST = 5, 300


def quiet(what, done, total):
    return None


def threads_project(threads):
    """Threads with their labels as a project."""
    frame = threads.to_table()
    asked = frame.drop_duplicates("group_id")
    items = {
        "item_id": [*asked["group_id"], *frame["item_id"]],
        "text": [*asked["question"], *frame["text"]],
        "group_id": [*asked["group_id"], *frame["group_id"]],
        "author_id": [*asked["asker_id"], *frame["author_id"]],
    }
    judged = {"kind": ["label"] * len(frame), "item_id": list(frame["item_id"]), "value": list(frame["label"])}
    return Project("threads", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


def threads(rng):
    """Training threads by number, and P(right) of comments of the test threads."""
    train, test = binary(cqa.load("2015/train")), binary(cqa.load("2015/test"))
    test = test.subset(rng.permutation(test.n_threads)[:N_TEST])
    truth = np.asarray(test.labels, dtype=str)

    def score(project):
        task = task_of("threads")
        bare = threads_project(test)
        bare = Project("threads", bare.item_table, bare.judgement_table.slice(0, 0))
        found = task.predict(task.train(project, {}, quiet), bare).set_index("item_id")
        right = found.loc[test.comment_ids, "label"].to_numpy(str) == truth
        return right.astype(float), test.thread_of

    return train.n_threads, lambda rows: threads_project(train.subset(rows)), score, "accuracy"


def aspects_project(ratings, rows):
    """Some texts with their scores as a project."""
    items = {"item_id": list(ratings.items.ids[rows].astype(str)), "text": list(ratings.items.texts[rows])}
    row, aspect = np.nonzero(ratings.ranks[rows])
    judged = {
        "kind": ["score"] * len(row),
        "item_id": [items["item_id"][place] for place in row],
        "aspect": [ratings.aspects[place] for place in aspect],
        "value": [str(int(rank)) for rank in ratings.ranks[rows][row, aspect]],
    }
    return Project("aspects", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


def aspects(rng):
    """Training texts by number, and how many ranks off the scores of test texts are."""
    corpus = multiaspect.load()
    ratings, train = corpus.ratings, np.flatnonzero(corpus.split == "train")
    test = rng.permutation(np.flatnonzero(corpus.split == "test"))[:N_TEST]
    tested = aspects_project(ratings, test)
    bare = Project("aspects", tested.item_table, tested.judgement_table.slice(0, 0))

    def score(project):
        task = task_of("aspects")
        found = task.predict(task.train(project, {}, quiet), bare).set_index(["item_id", "aspect"])
        given = tested.frames()["judgements"]
        p = found.loc[pd.MultiIndex.from_frame(given[["item_id", "aspect"]]), [f"p.{rank}" for rank in range(1, 6)]]
        median = 1 + (np.cumsum(p.to_numpy(float), axis=1) < 0.5).sum(axis=1).clip(max=4)
        return np.abs(median - given["value"].to_numpy(float)), pd.factorize(given["item_id"])[0]

    return len(train), lambda rows: aspects_project(ratings, train[rows]), score, "ranks off"


def drawn_again(values, groups, rng, n=1000):
    """The 95 % interval of the mean when draws and groups are drawn again; values have shape (n_draws, n_cases)."""
    n_groups = groups.max() + 1
    means = []
    for _ in range(n):
        weight = rng.multinomial(n_groups, np.full(n_groups, 1.0 / n_groups))[groups]
        rows = rng.integers(len(values), size=len(values))
        means.append(np.average(values[rows].mean(axis=0), weights=weight))
    return np.quantile(means, [0.025, 0.975])


def main(kinds, n_groups, n_draws):
    for kind in kinds:
        rng = np.random.default_rng(0)
        n, project_of, score, metric = {"threads": threads, "aspects": aspects}[kind](rng)
        found = evaluate(project_of(rng.permutation(n)[:n_groups]), n_folds=N_FOLDS)
        row = found.rows[(found.rows["method"] == ACCORD) & (found.rows["metric"] == metric)].iloc[0]
        seen = n_groups * (N_FOLDS - 1) // N_FOLDS
        draws = [score(project_of(rng.permutation(n)[:seen])) for _ in range(n_draws)]
        values = np.array([own for own, _ in draws])
        low, high = drawn_again(values, draws[0][1], rng)
        overlap = row["low"] <= high and low <= row["high"]
        print(
            f"{kind}, {metric}: evaluate {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f}), test groups "
            f"{values.mean():.3f} ({low:.3f} to {high:.3f}) over {n_draws} draws of {seen} groups: "
            f"{'they agree' if overlap else 'THEY DISAGREE'}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=["threads", "aspects"])
    parser.add_argument("--groups", type=int, default=150, help="how many training groups are evaluated")
    parser.add_argument(
        "--draws", type=int, default=4, help="how often the training groups of one fold are drawn again"
    )
    sent = parser.parse_args()
    main(sent.kinds, sent.groups, sent.draws)
