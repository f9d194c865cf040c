"""ConVote. The expected counts are those of the README beside the files; some of them also of [BBB11]."""

from collections import Counter

import numpy as np
import pytest

from accord.data.corpora import convote
from accord.errors import InputError

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def corpus(accord_data):
    return convote.load(accord_data)


def by_split(frame):
    return [int((frame["split"] == name).sum()) for name in ("train", "dev", "test")]


def test_tables_are_counted_as_published(corpus):
    assert by_split(corpus.segments) == [2740, 257, 860]
    assert by_split(corpus.segments_refs) == [5660, 702, 1759]
    assert by_split(corpus.segments_refs[corpus.segments_refs["stage_two"]]) == [4189, 418, 1355]
    assert by_split(corpus.speakers) == [1175, 113, 411]
    assert by_split(corpus.speakers.drop_duplicates("debate")) == [38, 5, 10]
    assert len(corpus.citations) == 4283
    assert int((corpus.citations["stage_two"] == 1).sum()) == 2774
    assert int(corpus.citations["raw_score"].notna().sum()) == 764
    assert len(corpus.official_scores) == 1117
    assert int((~corpus.segments["stage_two"]).sum()) == 5


def test_the_graph_is_counted_as_published(corpus):
    items, votes, links = corpus.graph()
    assert items.n_items == 1699
    assert Counter(votes) == {"Y": 874, "N": 825}
    assert len(set(items.groups)) == 53
    assert links.n_links == 2229
    split = dict(zip(items.ids, items.meta["split"], strict=True))
    assert Counter(split[name] for name in links.source) == {"train": 1487, "dev": 135, "test": 607}
    connected = set(links.source) | set(links.target)
    assert len(connected) == 1171
    said = corpus.speakers["connected"].to_numpy() == 1
    np.testing.assert_array_equal([name in connected for name in items.ids], said)
    pairs = {frozenset(pair) for pair in zip(links.source, links.target, strict=True)}
    assert len(pairs) == 1549
    vote = dict(zip(items.ids, votes, strict=True))
    agree = np.mean([vote[s] == vote[t] for s, t in zip(links.source, links.target, strict=True)])
    assert agree == pytest.approx(0.797, abs=5e-4)


def test_citations_of_stage_one_are_more(corpus):
    items, votes, links = corpus.graph("one")
    assert links.n_links == 2919
    vote = dict(zip(items.ids, votes, strict=True))
    agree = np.mean([vote[s] == vote[t] for s, t in zip(links.source, links.target, strict=True)])
    assert agree == pytest.approx(0.741, abs=5e-4)
    assert len(set(links.source) | set(links.target)) / items.n_items == pytest.approx(0.726, abs=5e-4)
    with pytest.raises(InputError, match="'two' or 'one'"):
        corpus.graph("three")


def test_texts_are_the_segments_in_file_order(corpus):
    items, _, links = corpus.graph()
    tokens = np.array([len(text.split()) for text in items.texts])
    np.testing.assert_array_equal(tokens, corpus.speakers["n_tokens"])
    assert tokens.mean() == pytest.approx(735, abs=0.5)
    debate, speaker = items.ids[10].split("/")
    own = corpus.segments["text"][(corpus.segments["debate"] == debate) & (corpus.segments["speaker"] == speaker)]
    assert items.texts[10] == "\n".join(own)
    assert max(len(context.split()) for context in links.contexts) == 50  # 30 words before, 20 after


def test_windows_come_from_the_marked_texts(corpus):
    texts = corpus.segments_refs.set_index("segment_id")["text"]
    for row in corpus.citations.iloc[::200].itertuples():
        tokens = texts[row.source_segment].split()
        assert tokens[row.token_index] == f"xz{row.target_speaker}{row.target_digit}"
        plain = [token for token in tokens[: row.token_index] if not (token.startswith("xz") and len(token) == 9)]
        assert " ".join(plain[-30:]) == row.before
