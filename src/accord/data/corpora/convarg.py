"""UKPConvArg: which of two web arguments is more convincing ([HG16]; the samples of [SG18])."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from accord.data.columns import codes_of, frozen
from accord.data.corpora.locate import Root, corpus_file, read_csv, read_json_lines, read_lines
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.typing import FloatArray, ObjectArray

__all__ = ["ConvArg", "comparisons", "crowd_reasons", "load", "word_vectors"]


@dataclass(frozen=True, eq=False)
class ConvArg:
    """The corpus: arguments and five sets of votes between them.

    Attributes
    ----------
    items : Items
        1,052 arguments; the group of each is its fold. ``meta`` has ``source``, the site it comes from.
    topics, stances, folds : array of shape (n_items,)
        The question, the side taken, and both in one word: one fold is one side of one question.
    strict : Comparisons
        UKPConvArgStrict: gold votes, none undecided.
    all : Comparisons
        UKPConvArgAll: all pairs with a gold vote, undecided ones too.
    crowdsample : Comparisons
        UKPConvArgCrowdSample: one worker's vote a pair.
    crowd_full : Comparisons
        Every worker's vote.
    pagerank : float array of shape (n_items,)
        UKPConvArgRank scores as published. **Lower is more convincing**: use ``-pagerank`` as gold convincingness.
    vectors : mapping of name to float array of shape (n_items, n_dimensions)
        ``glove100``: mean word vectors. ``minilm384``: unit-length sentence vectors.
    annotators : DataFrame
        One row a worker: ``annotator``, ``n_labels``, ``mace_competence``, ``source_rank``.
    """

    items: Items
    topics: ObjectArray
    stances: ObjectArray
    folds: ObjectArray
    strict: Comparisons
    all: Comparisons
    crowdsample: Comparisons
    crowd_full: Comparisons
    pagerank: FloatArray
    vectors: Mapping[str, FloatArray]
    annotators: pd.DataFrame


def load(root: Root = None) -> ConvArg:
    """Read the corpus.

    Parameters
    ----------
    root : path, optional
        The folder that holds ``convarg``; see :func:`~accord.data.corpora.locate.search_path`.
    """
    arguments = pd.DataFrame(read_json_lines(corpus_file("convarg", "arguments.jsonl.gz", root)))
    folds = arguments["fold"].to_numpy(object)
    items = Items(
        arguments["id"].to_numpy(object),
        texts=arguments["text"].to_numpy(object),
        groups=folds,
        meta={"source": arguments["source"].to_numpy(object)},
    )

    def pairs(file: str) -> Comparisons:
        return comparisons(read_csv(corpus_file("convarg", file, root)), items)

    ranks = read_csv(corpus_file("convarg", "rank.csv.gz", root))
    pagerank = np.empty(items.n_items)
    pagerank[items.positions(ranks["arg"].to_numpy(object))] = ranks["pagerank"].to_numpy()
    return ConvArg(
        items=items,
        topics=frozen(arguments["topic"].to_numpy(object)),
        stances=frozen(arguments["stance"].to_numpy(object)),
        folds=frozen(folds),
        strict=pairs("strict.csv.gz"),
        all=pairs("all.csv.gz"),
        crowdsample=pairs("crowdsample.csv.gz"),
        crowd_full=pairs("crowd_full.csv.gz"),
        pagerank=frozen(pagerank),
        vectors={
            "glove100": _item_vectors("glove100_mean.npz", items, root),
            "minilm384": _item_vectors("minilm384.npz", items, root),
        },
        annotators=read_csv(corpus_file("convarg", "annotators.csv.gz", root)),
    )


def comparisons(frame: pd.DataFrame, items: Items) -> Comparisons:
    """Votes of a table with ``arg1``, ``arg2``, ``label`` (2 first, 1 undecided, 0 second) and maybe ``annotator``."""
    annotator = annotators = None
    if "annotator" in frame:
        annotator, annotators = codes_of(frame["annotator"].to_numpy(object))
    return Comparisons(
        items,
        items.positions(frame["arg1"].to_numpy(object), what="first argument"),
        items.positions(frame["arg2"].to_numpy(object), what="second argument"),
        frame["label"].to_numpy(np.float32) / 2.0,
        annotator,
        annotators,
    )


def _item_vectors(file: str, items: Items, root: Root) -> FloatArray:
    with np.load(corpus_file("convarg", file, root), allow_pickle=False) as arrays:
        ids, vectors = arrays["ids"].astype(object), arrays["X"]
    if not np.array_equal(ids, items.ids):
        raise InputError(f"the rows of {file} must be the arguments in their order; they are not. Get the file again.")
    return frozen(vectors.astype(np.float32))


def word_vectors(root: Root = None) -> tuple[ObjectArray, FloatArray]:
    """The words of the arguments, lower case, and their vectors, shape (n_words, 100)."""
    with np.load(corpus_file("convarg", "glove100_vocab.npz", root), allow_pickle=False) as arrays:
        return arrays["words"].astype(object), arrays["vectors"]


def crowd_reasons(root: Root = None) -> list[str]:
    """Why each worker voted so, in their own words: one entry a vote of ``crowd_full``."""
    return [line.decode() for line in read_lines(corpus_file("convarg", "crowd_reasons.txt.gz", root))]
