import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import StandardScaler

from accord.aspects.features import PhraseFeatures, Units, as_matrix, is_matrix, phrase_counts
from accord.errors import InputError
from accord.texts.rows import as_texts

TEXTS = ["The food was good, but not the ambience.", "The food wasn't bad!", "good food good price $", "", "bad food"]


def test_features_are_those_of_scikit_learn_with_binary_counts():
    pattern = r"(?u)[^\W_]+(?:'[^\W_]+)*"
    peer = TfidfVectorizer(ngram_range=(1, 2), binary=True, min_df=2, token_pattern=pattern)
    ours = PhraseFeatures(min_texts=2)
    assert_allclose(ours.fit_transform(TEXTS).toarray(), peer.fit_transform(TEXTS).toarray(), atol=1e-12)
    assert list(ours.get_feature_names_out()) == list(peer.get_feature_names_out())
    assert_allclose(ours.transform(["good food"]).toarray(), peer.transform(["good food"]).toarray(), atol=1e-12)


def test_counts_give_the_same_features_as_their_texts():
    counts, names = phrase_counts(TEXTS)
    by_counts = PhraseFeatures(min_texts=2).fit(counts)
    assert_allclose(by_counts.transform(counts).toarray(), PhraseFeatures(min_texts=2).fit_transform(TEXTS).toarray())
    assert "food" in by_counts.get_feature_names_out(names)
    with pytest.raises(InputError, match="columns, as in training"):
        by_counts.transform(counts[:, :3])


def test_an_empty_text_has_no_features_and_rare_phrases_are_kept_if_there_are_no_others():
    features = PhraseFeatures(min_texts=3).fit(["one two", "three four"])
    assert features.transform(["", "one"]).sum(axis=1).tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match="must hold words"):
        PhraseFeatures().fit(["", "   "])


def test_forms_of_input_are_told_apart():
    assert is_matrix(np.zeros((2, 2)))
    assert is_matrix(sp.csr_array((2, 2)))
    assert is_matrix([[1.0], [2.0]])
    assert not is_matrix(["a", "b"])
    assert not is_matrix(np.array(["a"], dtype=object))
    assert_array_equal(as_matrix([[1.0, 0.0]]).toarray(), [[1.0, 0.0]])
    with pytest.raises(InputError, match="finite; row 2 has nan in column 1"):
        as_matrix([[1.0], [np.nan]])
    with pytest.raises(InputError, match="finite; 'r2' has nan in 'length'"):
        as_matrix(pd.DataFrame({"length": [1.0, np.nan]}, index=["r1", "r2"]))
    with pytest.raises(InputError, match="texts or a matrix"):
        as_matrix([[None, "a"]])
    with pytest.raises(InputError, match="row 2 is NoneType"):
        as_texts(["a", None])


def test_measurements_are_counted_from_their_means_in_standard_deviations():
    x = np.random.default_rng(0).normal(size=(50, 4))
    x[:, 3] = 7.0  # says nothing
    moved = x * [1.0, 1000.0, 0.01, 1.0] + [0.0, 40.0, -3.0, 5.0]
    found = Units.of(as_matrix(moved)).convert(as_matrix(moved)).toarray()
    peer = StandardScaler().fit_transform(x) / np.sqrt(3)
    assert_allclose(found, peer, atol=1e-9)
    again = Units.of(as_matrix(moved[::-1]))
    assert_array_equal(again.centre, Units.of(as_matrix(moved)).centre)


def test_words_and_vectors_of_texts_keep_the_sizes_of_their_columns():
    words = sp.csr_array(np.array([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 3.0, 0.0, 0.0]]))
    found = Units.of(words).convert(words).toarray()
    assert_allclose(found, words.toarray() / np.sqrt(14 / 3))
    vectors = np.random.default_rng(0).normal(size=(20, 3)) + 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert_allclose(Units.of(as_matrix(vectors)).convert(as_matrix(vectors)).toarray(), vectors)
    nothing = as_matrix(np.zeros((3, 2)))
    assert_array_equal(Units.of(nothing).convert(nothing).toarray(), np.zeros((3, 2)))
