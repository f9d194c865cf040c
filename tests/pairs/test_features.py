import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from accord.data.documents import Items
from accord.errors import InputError, MissingDataError
from accord.pairs.feature_groups import FeatureGroups, hstack_groups
from accord.pairs.features import ArgumentFeatures, NGrams
from accord.texts.surface import coarse_tags, sentences, surface_features, surface_names
from accord.texts.vectors import CachedEncoder, WordVectors

TEXTS = ["The cat sat. It was happy!", "Dogs bark LOUDLY because they can, don't they?", "", "The cat barked 42 times."]


def test_surface_features_count_what_they_say():
    table = dict(zip(surface_names(), surface_features(TEXTS).T, strict=True))
    assert_allclose(table["log_words"], np.log1p([6, 8, 0, 4]))
    assert_allclose(table["log_sentences"], np.log1p([2, 1, 1, 1]))
    assert_allclose(table["exclamations"], np.log1p([1, 0, 0, 0]))
    assert_allclose(table["connectives"], [0, 1 / 8, 0, 0])
    assert_allclose(table["shouted_words"], np.log1p([0, 1, 0, 0]))
    assert surface_features(TEXTS, extended=False).shape == (4, 12)
    assert np.isfinite(surface_features(TEXTS)).all()


def test_sentences_and_tags():
    assert sentences("One. Two!  Three") == ["One.", "Two!", "Three"]
    assert coarse_tags("The government should quickly act, John.") == ["DET", "NN", "MOD", "ADV", "W", ",", "NNP", "."]


@pytest.mark.parametrize("features", ["ext", "base", "ling", "surface"])
def test_groups_cover_the_columns_and_new_texts_get_the_same_ones(features):
    maker = ArgumentFeatures(features=features, min_count=1)
    matrix = maker.fit_transform(TEXTS)
    assert sum(part.stop - part.start for part in maker.groups_.values()) == matrix.shape[1]
    assert len(maker.get_feature_names_out()) == matrix.shape[1]
    assert_allclose(maker.transform(TEXTS).toarray(), matrix.toarray())
    assert maker.transform(["unheard of"]).shape[1] == matrix.shape[1]


def test_lengths_are_a_group_of_their_own_and_odd_texts_are_cut_off():
    rng = np.random.default_rng(0)
    texts = [" ".join(["word"] * int(n)) for n in rng.integers(20, 40, 50)]
    maker = ArgumentFeatures(features="surface").fit(texts)
    names = maker.get_feature_names_out()
    assert list(names[maker.groups_["length"]]) == ["log_characters", "log_words", "log_sentences", "root_characters"]
    known = maker.transform(texts).toarray()[:, names == "log_words"]
    (odd,) = maker.transform(["word " * 10_000]).toarray()[:, names == "log_words"]
    assert_allclose(odd, known.mean() + 3.0 * known.std())
    assert ArgumentFeatures(features="surface").fit_transform([]).shape[0] == 0


def test_lemma_presence_is_binary_and_n_grams_are_complete():
    maker = ArgumentFeatures(features="ling", min_count=1)
    matrix = maker.fit_transform(["cat cat cat", "dog"])
    assert matrix[0, list(maker.get_feature_names_out()).index("lemmas:cat")] == 1.0
    assert NGrams("words", 2)("a b c") == ["a", "b", "c", "a b", "b c"]


def test_texts_without_words_leave_a_group_out():
    assert ArgumentFeatures().fit_transform(["", ""]).shape[0] == 2


def test_vectors_are_a_group_and_items_keep_theirs():
    maker = ArgumentFeatures(features="surface", vectors={"length": lambda texts: np.array([[len(t)] for t in texts])})
    items = maker.fit(TEXTS).items(Items(["a", "b", "c", "d"], texts=TEXTS))
    assert_allclose(items.features[:, items.feature_groups["length"]].toarray().ravel(), [len(t) for t in TEXTS])
    with pytest.raises(InputError, match="these items have none"):
        maker.items(Items(["a"]))
    with pytest.raises(InputError, match="features must be one of"):
        ArgumentFeatures(features="all").fit(TEXTS)


def test_word_vectors_are_means_of_known_words(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("2 2\ncat 1 0\nsat 0 2\n", encoding="utf-8")
    assert_allclose(WordVectors.from_file(file)(["The cat SAT", "unknown"]), [[0.5, 1.0], [0.0, 0.0]])
    np.savez(tmp_path / "v.npz", words=np.array(["cat"]), vectors=np.ones((1, 3)))
    assert_allclose(WordVectors.from_file(tmp_path / "v.npz")(["cat"]), [[1, 1, 1]])
    with pytest.raises(MissingDataError, match="there is no"):
        WordVectors.from_file(tmp_path / "none.txt")
    file.write_text("cat one two\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        WordVectors.from_file(file)


def test_cached_vectors_are_computed_once_for_the_same_texts(tmp_path):
    calls = []

    def encode(texts):
        calls.append(len(texts))
        return np.array([[float(len(text))] for text in texts])

    cached = CachedEncoder(encode, tmp_path, name="length")
    assert_allclose(cached(["a", "bb"]), cached(["a", "bb"]))
    cached(["ab", "b"])  # the same characters, other texts
    assert calls == [2, 2]
    assert not list(tmp_path.glob("*.part"))


def test_groups_standardise_dense_parts_and_leave_sparse_ones():
    rng = np.random.default_rng(0)
    dense, sparse = 5 + 3 * rng.normal(size=(50, 3)), sp.random_array((50, 200), density=0.05, rng=rng, format="csr")
    matrix, spans = hstack_groups({"dense": dense, "sparse": sparse})
    groups = FeatureGroups.of(matrix, spans)
    first, second = groups.parts(matrix)
    assert_allclose(first.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(first.std(axis=0), 1.0)
    assert sp.issparse(second)
    assert_allclose(second.toarray(), sparse.toarray())
    with pytest.raises(InputError, match="cover every column once"):
        FeatureGroups.of(matrix, {"dense": slice(0, 3)})
    with pytest.raises(InputError, match="must be finite"):
        FeatureGroups.of(np.array([[1.0, np.nan]]), None)
