"""The corpora as projects, as somebody would have imported them: texts, what people said about them, and links."""

import numpy as np

from accord.data.corpora import convarg, convote, cqa, multiaspect, rationales
from accord.data.project import ITEMS, JUDGEMENTS, LINKS, Project, with_schema
from accord.threads.paper.tables import binary

__all__ = ["PROJECTS", "aspects_project", "links_project", "pairs_project", "rationales_project", "threads_project"]


def pairs_project(corpus, votes):
    """Some votes of workers, and all arguments of the sides of debates that they are about."""
    sides = np.unique(corpus.folds[votes.left].astype(str))
    rows, ids = np.flatnonzero(np.isin(corpus.folds.astype(str), sides)), corpus.items.ids
    items = {
        "item_id": list(ids[rows]),
        "text": list(corpus.items.texts[rows]),
        "group_id": list(corpus.folds[rows].astype(str)),
    }
    judged = {
        "kind": ["pair"] * votes.n_votes,
        "item_id": list(ids[votes.left]),
        "other_id": list(ids[votes.right]),
        "value": [str(value) for value in votes.value],
        "annotator_id": list(votes.annotators[votes.annotator]),
    }
    return Project("pairs", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


def threads_project(threads):
    """Threads with their labels."""
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


def aspects_project(ratings, rows):
    """Some reviews with their scores."""
    items = {"item_id": list(ratings.items.ids[rows].astype(str)), "text": list(ratings.items.texts[rows])}
    row, aspect = np.nonzero(ratings.ranks[rows])
    judged = {
        "kind": ["score"] * len(row),
        "item_id": [items["item_id"][place] for place in row],
        "aspect": [ratings.aspects[place] for place in aspect],
        "value": [str(int(rank)) for rank in ratings.ranks[rows][row, aspect]],
    }
    return Project("aspects", with_schema(items, ITEMS), with_schema(judged, JUDGEMENTS))


def links_project(items, labels, cited, debates):
    """The speakers of some debates, how they voted, and who cites whom."""
    rows = np.flatnonzero(np.isin(items.groups.astype(str), debates))
    columns = {
        "item_id": list(items.ids[rows]),
        "text": list(items.texts[rows]),
        "group_id": list(items.groups[rows]),
        "author_id": list(items.authors[rows]),
    }
    judged = {"kind": ["label"] * len(rows), "item_id": columns["item_id"], "value": list(labels[rows])}
    table = cited.to_table()
    table = table[table["src_id"].isin(columns["item_id"]) & table["dst_id"].isin(columns["item_id"])]
    return Project(
        "links",
        with_schema(columns, ITEMS),
        with_schema(judged, JUDGEMENTS),
        with_schema({name: list(table[name]) for name in ("src_id", "dst_id", "kind", "context")}, LINKS),
    )


def rationales_project(corpus, rows):
    """Some film reviews with a label, and the words that annotator A0 marked where A0 read them."""
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


def pairs(rng, *, n_sides=4):
    """Every worker's vote on the arguments of some sides of debates."""
    corpus = convarg.load()
    sides = rng.choice(np.unique(corpus.folds.astype(str)), n_sides, replace=False)
    votes = corpus.crowd_full
    return pairs_project(corpus, votes.subset(np.isin(corpus.folds.astype(str), sides)[votes.left]))


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
    return links_project(items, labels, cited, np.unique(items.groups.astype(str)))


def notes(rng, *, n_texts=700):
    """Film reviews with a label and the words that annotator A0 marked; the blind fold is left alone."""
    corpus = rationales.load()
    return rationales_project(corpus, rng.permutation(np.flatnonzero(corpus.reviews["folds"] < 9))[:n_texts])


PROJECTS = {"pairs": pairs, "threads": threads, "aspects": aspects, "links": links, "rationales": notes}
