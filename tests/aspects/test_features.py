import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer

from accord.aspects.features import PhraseFeatures, as_matrix, is_matrix, phrase_counts
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
    with pytest.raises(InputError, match="finite"):
        as_matrix([[np.nan]])
    with pytest.raises(InputError, match="texts or a matrix"):
        as_matrix([[None, "a"]])
    with pytest.raises(InputError, match="row 2 is NoneType"):
        as_texts(["a", None])
