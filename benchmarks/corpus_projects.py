"""The corpora as projects, as somebody would have imported them: texts, what people said about them, and links."""

import numpy as np

from accord.data.corpora import convarg, convote, cqa, multiaspect, rationales
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.threads.paper.tables import binary
from evaluate_corpora import aspects_project, threads_project

__all__ = ["PROJECTS"]


def pairs(rng, *, n_sides=4):
    """Every worker's vote on the arguments of some sides of debates."""
    corpus = convarg.load()
    sides = rng.choice(np.unique(corpus.folds.astype(str)), n_sides, replace=False)
    inside = np.isin(corpus.folds.astype(str), sides)
    votes = corpus.crowd_full
    votes = votes.subset(inside[votes.left])
    ids, rows = corpus.items.ids, np.flatnonzero(inside)
    items = {
        "item_id": list(ids[rows]),
        "text": list(corpus.items.texts[rows]),
        "group_id": list(corpus.folds[rows].astype(str)),
    }
    judged = {
        "kind": ["pair"] * votes.n_votes,
        "item_id": list(ids[votes.left]),
        "other_id": list(ids[votes.right]),
        "value": [{1.0: "left", 0.0: "right", 0.5: "undecided"}[value] for value in votes.value],
        "annotator_id": list(votes.annotators[votes.annotator]),
    }
    return Project("pairs", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


def threads(rng, *, n_threads=400):
    """Comments of community question answering, good or bad."""
    corpus = binary(cqa.load("2015/train"))
    return threads_project(corpus.subset(rng.permutation(corpus.n_threads)[:n_threads]))


def aspects(rng, *, n_texts=900):
    """Hotel reviews with the scores of their writers."""
    corpus = multiaspect.load()
    rows = rng.permutation(np.flatnonzero(corpus.split == "train"))[:n_texts]
    return aspects_project(corpus.ratings, rows)


def links(rng):
    """Speakers of debates in Congress, how they voted, and who cites whom."""
    items, labels, cited = convote.load().graph()
    columns = {
        "item_id": list(items.ids),
        "text": list(items.texts),
        "group_id": list(items.groups),
        "author_id": list(items.authors),
    }
    judged = {"kind": ["label"] * items.n_items, "item_id": list(items.ids), "value": list(labels)}
    table = cited.to_table()
    return Project(
        "links",
        with_schema(columns, ITEMS),
        with_schema(judged, JUDGEMENTS),
        with_schema({name: list(table[name]) for name in ("src_id", "dst_id", "kind", "context")}, LINKS),
    )


def notes(rng, *, n_texts=700):
    """Film reviews with a label and the words that annotator A0 marked; the blind fold is left alone."""
    corpus = rationales.load()
    rows = rng.permutation(np.flatnonzero(corpus.reviews["folds"] < 9))[:n_texts]
    names, marks = corpus.items.ids, corpus.rationales()
    marked = np.isin(marks.item, rows)
    labels = np.where(corpus.reviews["labels"].to_numpy()[rows] > 0, "pos", "neg")
    spans = marks.item[marked]
    judged = {
        "kind": ["label"] * len(rows) + ["span"] * len(spans),
        "item_id": [*names[rows], *names[spans]],
        "value": [*labels, *[None] * len(spans)],
        "start": [*[None] * len(rows), *marks.start[marked].tolist()],
        "end": [*[None] * len(rows), *marks.end[marked].tolist()],
        "annotator_id": ["A0"] * (len(rows) + len(spans)),
    }
    items = {"item_id": list(names[rows]), "text": list(corpus.items.texts[rows])}
    return Project("rationales", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


PROJECTS = {"pairs": pairs, "threads": threads, "aspects": aspects, "links": links, "rationales": notes}
