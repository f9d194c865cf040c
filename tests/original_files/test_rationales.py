"""Tagged movie reviews, against the prepared files."""

import pytest

from accord.data.corpora import rationales as prepared
from accord.errors import InputError
from original_files import rationales


@pytest.mark.corpora
def test_reviews_equal_the_prepared_ones(accord_data):
    published, ready = rationales.load(accord_data), prepared.load(accord_data)
    for name in ("ids", "labels", "folds", "tokens", "spans"):
        assert published.reviews[name].tolist() == ready.reviews[name].tolist(), name
    assert published.vocab == ready.vocab
    assert published.rationales().n_spans == ready.rationales().n_spans


def test_tags_become_token_spans():
    tokens, spans = rationales.parse_tags("<NEG> a b </NEG> c <NEG> d </NEG> <NEG> e </NEG>", label=-1)
    assert tokens == ["a", "b", "c", "d", "e"]
    assert spans == [(0, 2), (3, 4), (4, 5)]  # two spans that touch stay two


@pytest.mark.parametrize("text", ["<NEG> a </NEG>", "<POS> a <POS>", "a </POS>", "<POS> a </NEG>"])
def test_tags_that_do_not_fit_are_refused(text):
    with pytest.raises(InputError, match="agree with its label"):
        rationales.parse_tags(text, label=1)


def test_an_open_tag_is_refused():
    with pytest.raises(InputError, match="after token 1 open"):
        rationales.parse_tags("a <POS> b", label=1, name="x.txt")


def test_a_folder_without_reviews_is_refused(tmp_path):
    with pytest.raises(InputError, match="withRats_pos"):
        rationales.load(folder=tmp_path)
