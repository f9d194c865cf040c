"""Features of linked texts, against counting by hand and by dense loops."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from accord.data.links import Links
from accord.errors import InputError
from accord.links.features.words import (
    kind_features,
    linked_pairs,
    linked_texts,
    meta_features,
    neighbour_counts,
    neighbour_presence,
    neighbour_windows,
    pair_texts,
    pair_words,
)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 7))
    possible = [(i, j) for i in range(n) for j in range(n) if i != j]
    links = draw(st.lists(st.sampled_from(possible), max_size=12)) if possible else []
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    labels = rng.integers(-1, 3, n)
    words = (rng.random((len(links), 4)) < 0.4).astype(float)
    return n, links, labels, words


def _pairs(n, links):
    source, target = (np.array([link[end] for link in links], dtype=int) for end in (0, 1))
    return linked_pairs(source, target, n_texts=n)


@given(graphs())
def test_pairs_hold_each_unordered_pair_once_and_know_their_links(graph):
    n, links, _, _ = graph
    pairs = _pairs(n, links)
    assert [tuple(end) for end in pairs.ends] == sorted({(min(link), max(link)) for link in links})
    for link, pair, forward in zip(links, pairs.pair_of_link, pairs.forward, strict=True):
        assert tuple(pairs.ends[pair]) == (min(link), max(link))
        assert forward == (link[0] < link[1])
    assert_array_equal(pairs.connected, [any(i in link for link in links) for i in range(n)])


@given(graphs())
def test_neighbour_features_equal_loops_over_neighbours(graph):
    n, links, labels, words = graph
    pairs = _pairs(n, links)
    of_pair = pair_words(sp.csr_matrix(words), pairs) if links else sp.csr_matrix((0, 4))
    counts, windows = np.zeros((n, 3)), np.zeros((n, 3, 4))
    for p, (i, j) in enumerate(pairs.ends):
        seen = words[[row for row, link in enumerate(links) if {*link} == {i, j}]].max(axis=0)
        assert_array_equal(of_pair[[p]].toarray()[0], seen)
        for text, other in ((i, j), (j, i)):
            if labels[other] >= 0:
                counts[text, labels[other]] += 1
                windows[text, labels[other]] = np.maximum(windows[text, labels[other]], seen)
    assert_array_equal(neighbour_counts(labels, pairs, n_labels=3).toarray(), counts)
    assert_array_equal(neighbour_presence(labels, pairs, n_labels=3).toarray(), counts > 0)
    assert_array_equal(neighbour_windows(labels, pairs, of_pair, n_labels=3).toarray(), windows.reshape(n, -1))


def test_a_text_that_links_itself_is_refused():
    with pytest.raises(InputError, match="two different texts"):
        linked_pairs(np.array([0, 2]), np.array([1, 2]), n_texts=3)


def test_meta_features_count_links_and_directions():
    pairs = linked_pairs(np.array([0, 1, 2, 2]), np.array([1, 0, 1, 1]), n_texts=3)
    assert_allclose(meta_features(pairs, np.array([0.5, 0.25])), [[np.log(2), 1, 0.5], [np.log(2), 0, 0.25]])


def test_contexts_of_a_pair_become_one_text():
    pairs = linked_pairs(np.array([0, 1, 1]), np.array([1, 0, 2]), n_texts=3)
    assert pair_texts(np.array(["a", "b", "c"], dtype=object), pairs).tolist() == ["a\nb", "c"]


def test_kinds_are_counted_and_unknown_ones_left_out():
    pairs = linked_pairs(np.array([0, 1, 1]), np.array([1, 0, 2]), n_texts=3)
    told = kind_features(np.array(["reply", "reply", "nod"], dtype=object), pairs, ["quote", "reply"])
    assert_allclose(told, np.log1p([[0, 2], [0, 0]]))


def test_links_to_texts_that_are_not_there_are_left_out():
    links = Links(["a", "a", "b"], ["b", "x", "a"], contexts=["one", "two", "three"])
    texts = linked_texts({"item_id": ["b", "a"], "text": ["B", "A"]}, links=links)
    assert texts.pairs.ends.tolist() == [[0, 1]]
    assert texts.contexts.tolist() == ["one", "three"]


def test_features_without_ids_are_refused():
    with pytest.raises(InputError, match="ids="):
        linked_texts(np.ones((2, 2)), links=None)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"speaker": ["17", "18"]}, "'speaker' holds"),
        ({"when": pd.to_datetime(["2020-01-01", "2020-01-02"])}, "'when' holds datetime64"),
        ({"author_id": [1, 2]}, "a column 'text' or columns of numbers"),
        ({"x": [1.0, None]}, "'b' has nan in 'x'"),
    ],
)
def test_columns_that_cannot_be_features_are_refused(columns, sentence):
    with pytest.raises(InputError, match=sentence):
        linked_texts(pd.DataFrame({"item_id": ["a", "b"], **columns}), links=None)


def test_columns_of_numbers_are_features_whatever_their_type():
    table = pd.DataFrame(
        {"item_id": ["a", "b"], "x": [1, 2], "y": [True, False], "z": np.array([0.5, 1], dtype=object)}
    )
    texts = linked_texts(table, links=None)
    assert texts.names.tolist() == ["x", "y", "z"]
    assert_array_equal(texts.content, [[1.0, 1.0, 0.5], [2.0, 0.0, 1.0]])


def test_an_array_of_texts_is_a_table_of_texts_and_one_of_other_things_is_refused():
    texts = linked_texts(np.array(["one", "two"]), links=None, ids=["a", "b"])
    assert texts.content.tolist() == ["one", "two"]
    with pytest.raises(InputError, match="every text must be a string; row 2"):
        linked_texts(np.array(["one", None]), links=None, ids=["a", "b"])
