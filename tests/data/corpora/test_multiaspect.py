"""TripAdvisor reviews. The expected figures are those of the README beside the files."""

import numpy as np
import pytest

from accord.data.corpora import multiaspect
from accord.errors import InputError

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def corpus(accord_data):
    return multiaspect.load(accord_data)


def test_reviews_are_counted_as_published(corpus):
    assert corpus.ratings.n_items == 12000
    assert [int((corpus.split == name).sum()) for name in ("train", "dev", "test")] == [10000, 1000, 1000]
    assert len(set(corpus.ratings.items.groups)) == 1404
    hotels = {name: set(corpus.part(name).items.groups) for name in ("train", "test")}
    assert (len(hotels["test"]), len(hotels["test"] & hotels["train"])) == (707, 700)


def test_no_rank_is_missing_and_losses_are_as_published(corpus):
    ranks = corpus.ratings.ranks
    assert ranks.min() == 1
    np.testing.assert_allclose((5 - ranks).mean(axis=0), [1.163, 0.984, 1.227, 1.347, 0.856, 1.275], atol=6e-4)
    assert np.abs(ranks - 4).mean() == pytest.approx(0.963, abs=6e-4)
    assert len(np.unique(ranks, axis=0)) == 1914


def test_a_part_is_the_first_reviews_of_its_split(corpus):
    part = corpus.part("dev", 500)
    assert part.n_items == 500
    assert list(part.items.ids) == list(corpus.ratings.items.ids[corpus.split == "dev"][:500])
    with pytest.raises(InputError, match="dev, test, train"):
        corpus.part("validation")
