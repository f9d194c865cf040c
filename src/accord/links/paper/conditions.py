"""The two conditions of the debates: rows, links and every feature that no label is needed for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from accord.data.corpora.convote import ConVote
from accord.data.documents import Items
from accord.data.links import Links
from accord.links.features.stance import StanceNgrams, text_features
from accord.links.features.words import LinkedPairs, linked_pairs
from accord.typing import IntArray, ObjectArray

__all__ = ["TOKENS", "Condition", "full_record", "paper_data"]

# The corpus is tokenised: words stand between blanks.
TOKENS = r"\S+"
STANCE_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class Condition:
    """One way to read the debates. Vocabularies of texts come from all texts, without labels."""

    ids: ObjectArray  # (n_texts,)
    labels: ObjectArray  # (n_texts,) Y or N
    debates: ObjectArray  # (n_texts,)
    speakers: ObjectArray  # (n_texts,) for reporting only, never a feature
    links: Links
    pairs: LinkedPairs
    presence: sp.csr_matrix  # (n_texts, n_words) presence of words
    words: sp.csr_matrix  # (n_texts, n_features) weighted words and word pairs
    stance: sp.csr_matrix  # (n_texts, n_features) the same and stance n-grams

    def rows(self, features: sp.csr_matrix, at: IntArray) -> dict[str, Any]:
        """Arguments of the classifiers for some of the texts."""
        return {"X": features[at], "ids": self.ids[at], "groups": self.debates[at], "links": self.links}


def paper_data(corpus: ConVote) -> Condition:
    """The data of [BBB11]: speeches of stage three, citations of stage two."""
    items, labels, links = corpus.graph("two")
    return _condition(items, items.texts, labels, links)


def full_record(corpus: ConVote) -> Condition:
    """Everything that was said: words and citations of stage one, with the talk about amendments and procedure.

    Stance n-grams are still those of the speeches that are classified: a stance on an amendment is not one on the bill.
    """
    items, labels, links = corpus.graph("one")
    said = corpus.segments_refs
    whole = said["text"].str.replace(r"\bxz\d{7}\b", " ", regex=True)
    whole = whole.groupby(said["debate"] + "/" + said["speaker"], sort=False).agg("\n".join)
    texts = whole.loc[list(items.ids)].to_numpy(object)
    return _condition(items, texts, labels, links)


def _condition(items: Items, texts: Any, labels: ObjectArray, links: Links) -> Condition:
    _, source, target = links.among(items.ids)
    words = text_features(token_pattern=TOKENS).set_params(min_df=2).fit_transform(texts)
    stance = StanceNgrams(token_pattern=TOKENS).fit_transform(items.texts)
    return Condition(
        ids=items.ids,
        labels=labels,
        debates=np.asarray(items.groups),
        speakers=np.asarray(items.authors),
        links=links,
        pairs=linked_pairs(source, target, n_texts=len(items.ids)),
        presence=CountVectorizer(binary=True, token_pattern=TOKENS, dtype=np.float64).fit_transform(texts),
        words=words,
        stance=sp.hstack([words, STANCE_WEIGHT**0.5 * stance], format="csr"),
    )
