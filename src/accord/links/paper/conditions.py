"""The two conditions of the debates, with every matrix that no label is needed for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from accord.data.corpora.convote import ConVote
from accord.data.documents import Items
from accord.data.links import Links
from accord.links.features.stance import StanceNgrams, text_features
from accord.links.features.words import (
    LinkedPairs,
    linked_pairs,
    meta_features,
    nearest_pairs,
    pair_similarity,
    pair_texts,
    unit_rows,
)
from accord.typing import AnyArray, FloatArray, IntArray, ObjectArray

__all__ = ["Condition", "full_record", "paper_data"]

# The corpus is tokenised: words stand between blanks.
TOKENS = r"\S+"
STANCE_WEIGHT = 0.5
N_NEAREST = 5


@dataclass(frozen=True, eq=False)
class Condition:
    """One way to read the debates. Vocabularies come from all texts, without labels."""

    codes: IntArray  # (n_texts,) 1 = yes
    debates: ObjectArray  # (n_texts,)
    speakers: ObjectArray  # (n_texts,) for reporting only, never a feature
    pairs: LinkedPairs
    words: sp.csr_matrix  # (n_texts, n_words) presence of words
    windows: sp.csr_matrix  # (n_pairs, n_window_words) presence of words in the windows of a pair
    plain_gram: FloatArray  # (n_texts, n_texts) weighted words and word pairs
    stance_gram: FloatArray  # (n_texts, n_texts) the same and stance n-grams
    window_gram: FloatArray  # (n_pairs, n_pairs) words and word pairs of windows
    link_meta: FloatArray  # (n_pairs, n_meta)
    near: IntArray  # (n_near, 2) implicit links of texts without a link
    near_similarity: FloatArray  # (n_near, 1)

    @property
    def same(self) -> AnyArray:
        """Whether the two texts of each pair have the same label."""
        return self.codes[self.pairs.ends[:, 0]] == self.codes[self.pairs.ends[:, 1]]


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
    ids, debates = items.ids, np.asarray(items.groups)
    kept, source, target = links.among(ids)
    pairs = linked_pairs(source, target, n_texts=len(ids))
    contexts = pair_texts(kept.contexts, pairs) if kept.contexts is not None else np.empty(0, dtype=object)
    weighted = text_features(token_pattern=TOKENS).set_params(min_df=2).fit_transform(texts)
    stance = StanceNgrams(token_pattern=TOKENS).fit_transform(items.texts)
    plain = (weighted @ weighted.T).toarray()
    unigrams, phrases = (
        CountVectorizer(binary=True, token_pattern=TOKENS, ngram_range=(1, longest), dtype=np.float64)
        for longest in (1, 2)
    )
    windows = unit_rows(phrases.fit_transform(contexts))
    near = nearest_pairs(weighted, debates, k=N_NEAREST, lonely=~pairs.connected)
    return Condition(
        codes=(labels == "Y").astype(np.int64),
        debates=debates,
        speakers=np.asarray(items.authors),
        pairs=pairs,
        words=CountVectorizer(binary=True, token_pattern=TOKENS, dtype=np.float64).fit_transform(texts),
        windows=unigrams.fit_transform(contexts),
        plain_gram=plain,
        stance_gram=plain + STANCE_WEIGHT * (stance @ stance.T).toarray(),
        window_gram=(windows @ windows.T).toarray(),
        link_meta=meta_features(pairs, pair_similarity(weighted, pairs.ends)),
        near=near,
        near_similarity=pair_similarity(weighted, near)[:, None],
    )
