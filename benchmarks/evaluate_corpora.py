"""Does ``accord evaluate`` say what the corpora's own test texts say?

``python benchmarks/evaluate_corpora.py [KIND ...] [--groups 150] [--draws 4] [--seed 0]`` draws training groups of a
corpus, has them evaluated by cross-validation as any project is, and fits the same default to as many groups as one
fold learns from, drawn again and again, to be scored on groups of the corpus that are never learnt from. Those are the
corpus's own test groups, as ``accord reproduce`` takes them; for pairs, of which ``evaluate`` leaves out pairs and not
whole debates, they are half of the pairs of each side. The two figures answer the same question, so that their 95 %
intervals should overlap. Needs the corpora in ACCORD_DATA.
"""

import argparse

import numpy as np
import pandas as pd

from accord.data.corpora import convarg, convote, cqa, multiaspect, rationales
from accord.data.project import Project
from accord.threads.paper.tables import binary
from accord.workflows.evaluate import ACCORD, evaluate
from accord.workflows.kinds import task_of
from corpus_projects import aspects_project, links_project, pairs_project, rationales_project, threads_project

N_FOLDS, N_TEST, N_SIDES = 5, 300, 2


def quiet(what, done, total):
    return None


def without_judgements(project):
    """The texts of a project and their links alone."""
    return Project(project.kind, project.item_table, project.judgement_table.slice(0, 0), project.link_table)


def labels_right(tested, groups):
    """What scores a project of training groups: is each label of the tested project right, and the group of each."""
    judged = tested.frames()["judgements"]
    judged = judged[judged["kind"] == "label"]
    bare = without_judgements(tested)

    def score(project):
        task = task_of(project.kind)
        found = task.predict(task.train(project, {}, quiet), bare).set_index("item_id")
        right = found.loc[judged["item_id"], "label"].to_numpy(str) == judged["value"].to_numpy(str)
        return right.astype(float), pd.factorize(groups.loc[judged["item_id"]])[0]

    return score


def groups_of(project):
    """The group of each text of a project."""
    return project.frames()["items"].set_index("item_id")["group_id"]


def threads(rng):
    """Training threads by number, and whether comments of the test threads get the right label."""
    train, test = binary(cqa.load("2015/train")), binary(cqa.load("2015/test"))
    tested = threads_project(test.subset(rng.permutation(test.n_threads)[:N_TEST]))
    score = labels_right(tested, groups_of(tested))
    return train.n_threads, lambda rows: threads_project(train.subset(rows)), score, "accuracy"


def links(rng):
    """Training debates by number, and whether speakers of the test debates get the right vote."""
    items, labels, cited = convote.load().graph()
    splits = pd.Series(items.meta["split"], index=items.groups.astype(str)).groupby(level=0).first()
    train, test = splits.index[splits == "train"].to_numpy(str), splits.index[splits == "test"].to_numpy(str)
    tested = links_project(items, labels, cited, test)
    score = labels_right(tested, groups_of(tested))
    return len(train), lambda rows: links_project(items, labels, cited, train[rows]), score, "accuracy"


def notes(rng):
    """Training reviews by number, and whether reviews of the blind fold get the right label."""
    corpus = rationales.load()
    folds = corpus.reviews["folds"].to_numpy()
    train, tested = np.flatnonzero(folds < 9), rationales_project(corpus, np.flatnonzero(folds == 9))
    names = pd.Series(corpus.items.ids, index=corpus.items.ids)
    score = labels_right(tested, names)
    return len(train), lambda rows: rationales_project(corpus, train[rows]), score, "accuracy"


def aspects(rng):
    """Training texts by number, and how many ranks off the scores of test texts are."""
    corpus = multiaspect.load()
    ratings, train = corpus.ratings, np.flatnonzero(corpus.split == "train")
    test = rng.permutation(np.flatnonzero(corpus.split == "test"))[:N_TEST]
    tested = aspects_project(ratings, test)
    bare = without_judgements(tested)

    def score(project):
        task = task_of("aspects")
        found = task.predict(task.train(project, {}, quiet), bare).set_index(["item_id", "aspect"])
        given = tested.frames()["judgements"]
        p = found.loc[pd.MultiIndex.from_frame(given[["item_id", "aspect"]]), [f"p.{rank}" for rank in range(1, 6)]]
        median = 1 + (np.cumsum(p.to_numpy(float), axis=1) < 0.5).sum(axis=1).clip(max=4)
        return np.abs(median - given["value"].to_numpy(float)), pd.factorize(given["item_id"])[0]

    return len(train), lambda rows: aspects_project(ratings, train[rows]), score, "ranks off"


def pairs(rng):
    """Half of the pairs of some sides by number, and whether the votes on the other half are foreseen."""
    corpus = convarg.load()
    sides = rng.choice(np.unique(corpus.folds.astype(str)), N_SIDES, replace=False)
    votes = corpus.crowd_full
    votes = votes.subset(np.isin(corpus.folds.astype(str), sides)[votes.left])
    ends = np.sort(np.column_stack([votes.left, votes.right]), axis=1)
    pair = pd.factorize(pd.MultiIndex.from_arrays(ends.T))[0]
    order = rng.permutation(pair.max() + 1)
    train, held_out = np.array_split(order, 2)
    tested = votes.subset(np.isin(pair, held_out) & (votes.value != 0.5))
    group = pd.factorize(pair[np.isin(pair, held_out) & (votes.value != 0.5)])[0]
    ids = corpus.items.ids
    asked = pd.DataFrame({"left": ids[tested.left], "right": ids[tested.right]})

    def score(project):
        task = task_of("pairs")
        p = task.compare(task.train(project, {}, quiet), project, asked)["p.left"].to_numpy(float)
        return ((p > 0.5) == (tested.value == 1.0)).astype(float), group

    return len(train), lambda rows: pairs_project(corpus, votes.subset(np.isin(pair, train[rows]))), score, "accuracy"


KINDS = {"pairs": pairs, "threads": threads, "aspects": aspects, "links": links, "rationales": notes}


def drawn_again(values, groups, rng, n=1000):
    """The 95 % interval of the mean when draws and groups are drawn again; values have shape (n_draws, n_cases)."""
    n_groups = groups.max() + 1
    means = []
    for _ in range(n):
        weight = rng.multinomial(n_groups, np.full(n_groups, 1.0 / n_groups))[groups]
        rows = rng.integers(len(values), size=len(values))
        means.append(np.average(values[rows].mean(axis=0), weights=weight))
    return np.quantile(means, [0.025, 0.975])


def main(kinds, n_groups, n_draws, seed):
    for kind in kinds:
        rng = np.random.default_rng(seed)
        n, project_of, score, metric = KINDS[kind](rng)
        size = min(n, n_groups)
        found = evaluate(project_of(np.sort(rng.permutation(n)[:size])), n_folds=N_FOLDS)
        row = found.rows[(found.rows["method"] == ACCORD) & (found.rows["metric"] == metric)].iloc[0]
        seen = size * (N_FOLDS - 1) // N_FOLDS
        draws = [score(project_of(np.sort(rng.permutation(n)[:seen]))) for _ in range(n_draws)]
        values = np.array([own for own, _ in draws])
        low, high = drawn_again(values, draws[0][1], rng)
        overlap = row["low"] <= high and low <= row["high"]
        print(
            f"{kind}, {metric}: evaluate {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f}) of {size} groups, "
            f"test groups ({draws[0][1].max() + 1}) {values.mean():.3f} ({low:.3f} to {high:.3f}) over {n_draws} "
            f"draws of {seen} groups: {'they agree' if overlap else 'THEY DISAGREE'}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help=f"of {', '.join(KINDS)}; all unless named")
    parser.add_argument("--groups", type=int, default=150, help="how many training groups are evaluated")
    parser.add_argument(
        "--draws", type=int, default=4, help="how often the training groups of one fold are drawn again"
    )
    parser.add_argument("--seed", type=int, default=0, help="which groups are drawn")
    sent = parser.parse_args()
    main(sent.kinds, sent.groups, sent.draws, sent.seed)
