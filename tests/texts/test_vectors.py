"""Encoders are found by function, file or folder, and known again when a model is used."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from accord.errors import InputError
from accord.texts.vectors import FittedVectors, open_vectors


def lengths(texts):
    return np.array([[len(text), 1.0] for text in texts])


def test_a_function_is_an_encoder_and_must_be_given_again():
    fitted = FittedVectors.of(lengths)
    rows = fitted.encode(lengths, ["aaa", ""])
    assert_allclose(rows, [[3 / np.sqrt(10), 1 / np.sqrt(10)], [0.0, 1.0]])
    with pytest.raises(InputError, match="same function again"):
        fitted.encode(None, ["aaa"])


def test_a_file_of_word_vectors_is_opened_again_by_its_name(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("fox 1 0\none 0 1\n")
    fitted = FittedVectors.of(str(path))
    assert_allclose(fitted.encode(None, ["A FOX!", "nothing known"]), [[1.0, 0.0], [0.0, 0.0]])
    path.write_text("fox 0 1\none 1 1\n")
    with pytest.raises(InputError, match="differ from them"):
        fitted.encode(None, ["a fox"])


@pytest.mark.parametrize("bad", [3, None, ["a"]])
def test_what_is_no_encoder_is_refused(bad):
    with pytest.raises(InputError, match="name, folder or file"):
        open_vectors(bad)


def test_a_name_without_its_library_is_refused():
    with pytest.raises(InputError, match="write model2vec:some-model"):
        open_vectors("some-model")


def test_an_unknown_folder_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot open the model"):
        open_vectors(f"model2vec:{tmp_path}")


@pytest.mark.parametrize("encode", [lambda texts: np.ones(len(texts)), lambda texts: np.full((len(texts), 2), np.nan)])
def test_an_encoder_that_gives_no_rows_of_numbers_is_refused(encode):
    with pytest.raises(InputError, match="one row of finite numbers a text"):
        FittedVectors.of(encode)


# Before 0.10 the library leaves the files that it reads and writes open.
@pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning")
def test_a_model2vec_folder_is_read(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "good": 1, "bad": 2}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    rows = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    model2vec.StaticModel(rows, tokenizer).save_pretrained(str(tmp_path / "small"))
    encode = open_vectors(str(tmp_path / "small"))
    assert_allclose(encode(["good", "bad"]), [[1.0, 0.0], [0.0, 1.0]], atol=1e-6)
