"""The public corpora as data frames, one function a corpus.

``accord datasets`` lists them and says how to get them. Each function returns pandas frames by name; ``root`` is the
folder of the corpora, by default the one that ``ACCORD_DATA`` names.
"""

import pandas as pd

from accord.data.corpora import convarg, convote, cqa, multiaspect, rationales, we8there
from accord.data.corpora.locate import Root

__all__ = ["fetch_convarg", "fetch_convote", "fetch_cqa", "fetch_multiaspect", "fetch_rationales", "fetch_we8there"]

Frames = dict[str, pd.DataFrame]


def fetch_convarg(root: Root = None) -> Frames:
    """Arguments with their votes: ``items``, ``strict``, ``all``, ``crowdsample``, ``crowd_full``, ``annotators``."""
    corpus = convarg.load(root)
    items = corpus.items.to_table().assign(topic=corpus.topics, stance=corpus.stances, pagerank=corpus.pagerank)
    votes = {name: getattr(corpus, name).to_table() for name in ("strict", "all", "crowdsample", "crowd_full")}
    return {"items": items, **votes, "annotators": corpus.annotators}


def fetch_cqa(name: str, root: Root = None) -> Frames:
    """The ``comments`` of a part of the corpus, such as ``2015/train``, with their questions and labels."""
    return {"comments": cqa.load(name, root).to_table()}


def fetch_multiaspect(root: Root = None) -> Frames:
    """Reviews of restaurants: ``items`` with their part of the corpus, and their ``scores`` one a row."""
    corpus = multiaspect.load(root)
    return {"items": corpus.ratings.items.to_table().assign(split=corpus.split), "scores": corpus.ratings.to_table()}


def fetch_we8there(root: Root = None) -> Frames:
    """Reviews of restaurants by counts of phrases: ``items`` and their ``scores`` one a row."""
    ratings = we8there.load(root)
    return {"items": ratings.items.to_table(), "scores": ratings.to_table()}


def fetch_convote(root: Root = None) -> Frames:
    """Debates of the House: ``segments``, ``segments_refs``, ``citations``, ``speakers``, ``official_scores``."""
    corpus = convote.load(root)
    names = ("segments", "segments_refs", "citations", "speakers", "official_scores")
    return {name: getattr(corpus, name) for name in names}


def fetch_rationales(root: Root = None) -> Frames:
    """Reviews of films with the words that decide them: ``reviews``."""
    return {"reviews": rationales.load(root).reviews}
