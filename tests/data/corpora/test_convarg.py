"""UKPConvArg. The expected counts are those of table 1 of [SG18] and of the README beside the files."""

import numpy as np
import pytest

from accord.data.corpora import convarg
from accord.data.corpora.locate import corpus_file, read_csv

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def corpus(accord_data):
    return convarg.load(accord_data)


# [SG18] table 1: pairs and undecided pairs; the README: how many votes for the first and the second argument.
@pytest.mark.parametrize(
    "name, n_pairs, first, undecided, second",
    [
        ("strict", 11642, 5862, 0, 5780),
        ("all", 16081, 6398, 3289, 6394),
        ("crowdsample", 16927, 6623, 3698, 6606),
        ("crowd_full", 84445, 32849, 19105, 32491),
    ],
)
def test_votes_are_counted_as_published(corpus, name, n_pairs, first, undecided, second):
    votes = getattr(corpus, name)
    assert votes.n_votes == n_pairs
    assert [int((votes.value == v).sum()) for v in (1.0, 0.5, 0.0)] == [first, undecided, second]


def test_arguments_are_counted_as_published(corpus):
    # [SG18] table 1: 1,052 arguments; [HG16]: 16 topics with two stances each, 32 folds.
    assert corpus.items.n_items == 1052
    assert len(set(corpus.topics)) == 16
    assert len(set(corpus.folds)) == 32
    _, sizes = np.unique(corpus.folds.astype(str), return_counts=True)
    assert (sizes.min(), sizes.max()) == (25, 35)  # the README
    # The README: 13 texts stand under 27 ids, never in two folds.
    folds_of = {}
    for text, fold in zip(corpus.items.texts, corpus.folds, strict=True):
        folds_of.setdefault(text, []).append(fold)
    repeated = [folds for folds in folds_of.values() if len(folds) > 1]
    assert (len(repeated), sum(map(len, repeated))) == (13, 27)
    assert all(len(set(folds)) == 1 for folds in repeated)


def test_a_vote_stays_inside_a_fold(corpus):
    for votes in (corpus.strict, corpus.all, corpus.crowdsample, corpus.crowd_full):
        assert (corpus.folds[votes.left] == corpus.folds[votes.right]).all()


def test_lower_pagerank_is_more_convincing(corpus):
    votes = corpus.strict
    winner = np.where(votes.value == 1.0, votes.left, votes.right)
    loser = np.where(votes.value == 1.0, votes.right, votes.left)
    gap = corpus.pagerank[loser] - corpus.pagerank[winner]
    # The README: the winner has the lower score in 10,797 pairs, the higher in 837; 8 ties.
    assert [int((gap > 0).sum()), int((gap < 0).sum()), int((gap == 0).sum())] == [10797, 837, 8]


def test_workers_are_counted_as_published(corpus):
    # The README: 3,815 workers, at most 4,218 labels each, 1,442 of them in the sample.
    assert len(corpus.annotators) == len(corpus.crowd_full.annotators) == 3815
    assert len(corpus.crowdsample.annotators) == 1442
    labels = np.bincount(corpus.crowd_full.annotator)
    assert labels.max() == 4218
    said = corpus.annotators.set_index("annotator")["n_labels"].loc[list(corpus.crowd_full.annotators)]
    np.testing.assert_array_equal(labels, said)


def test_the_sample_is_the_first_label_of_each_pair(corpus):
    full, sample = corpus.crowd_full, corpus.crowdsample
    pair = full.left.astype(np.int64) * corpus.items.n_items + full.right
    _, first = np.unique(pair, return_index=True)
    seen = {(full.left[i], full.right[i], full.value[i], full.annotators[full.annotator[i]]) for i in first}
    sampled = zip(sample.left, sample.right, sample.value, sample.annotators[sample.annotator], strict=True)
    assert seen == set(sampled)


def test_vectors_belong_to_the_arguments(corpus):
    assert corpus.vectors["glove100"].shape == (1052, 100)
    assert corpus.vectors["minilm384"].shape == (1052, 384)
    np.testing.assert_allclose(np.linalg.norm(corpus.vectors["minilm384"], axis=1), 1.0, atol=2e-3)


def test_words_and_reasons_belong_to_their_rows(corpus, accord_data):
    words, vectors = convarg.word_vectors(accord_data)
    assert vectors.shape == (len(words), 100) == (4853, 100)  # the README
    assert len(convarg.crowd_reasons(accord_data)) == corpus.crowd_full.n_votes
    crowd = read_csv(corpus_file("convarg", "crowd_full.csv.gz", accord_data))
    assert set(crowd["annotator_stance"]) == {"same", "opposite", "none", ""}


def test_the_longer_text_wins_as_often_as_the_readme_says(corpus):
    votes = corpus.strict
    length = np.array([len(text) for text in corpus.items.texts])
    gap = np.sign(length[votes.left] - length[votes.right])
    right = np.where(gap == 0, 0.5, (gap > 0) == (votes.value == 1.0))
    assert right.mean() == pytest.approx(0.773, abs=5e-4)  # the README: 0.773
