"""Movie reviews with rationales. The expected counts are those of the README beside the files and of [ZE08]."""

from collections import Counter

import numpy as np
import pytest

from accord.data.corpora import rationales
from accord.data.corpora.locate import corpus_file, read_json_lines
from accord.data.rationales import inside_tags, whitespace_tokens
from accord.errors import InputError

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def corpus(accord_data):
    return rationales.load(accord_data)


def test_reviews_are_counted_as_published(corpus):
    reviews = corpus.reviews
    cells = Counter(zip(reviews["folds"], reviews["labels"], strict=True))
    assert cells == {(fold, label): 100 for fold in range(10) for label in (-1, 1)}
    assert sum(map(len, reviews["tokens"])) == 1487776
    assert int(reviews["edited"].sum()) == 48


def test_the_vocabulary_is_the_papers(corpus):
    # [ZE08] section 5: 17,744 types that occur four times or more.
    counts = Counter(token for tokens in corpus.reviews["tokens"] for token in tokens)
    assert len(counts) == 50721
    assert corpus.vocab == sorted(token for token, n in counts.items() if n >= 4)
    assert len(corpus.vocab) == 17744


def test_the_edited_texts_matter_for_the_vocabulary(corpus, accord_data):
    raw = read_json_lines(corpus_file("rationales", "polarity_v2_edited.jsonl.gz", accord_data))
    original = {review["id"]: review["tokens"].split(" ") for review in raw}
    reviews = corpus.reviews
    assert set(original) == set(reviews.loc[reviews["edited"], "ids"])
    tokens = (original.get(name, own) for name, own in zip(reviews["ids"], reviews["tokens"], strict=True))
    counts = Counter(token for text in tokens for token in text)
    assert sum(n >= 4 for n in counts.values()) == 17783


def test_spans_are_counted_as_published(corpus):
    by_fold = Counter()
    for fold, spans in zip(corpus.reviews["folds"], corpus.reviews["spans"], strict=True):
        by_fold[fold] += len(spans or [])
    assert [by_fold[f] for f in range(9)] == [1886, 1847, 1979, 1828, 1693, 1577, 1498, 1572, 1517]
    assert by_fold[9] == 0


def test_nothing_marked_differs_from_not_annotated(corpus):
    spans = dict(zip(corpus.reviews["ids"], corpus.reviews["spans"], strict=True))
    assert spans["pos/cv161"] == []
    assert [name for name, marked in spans.items() if marked == []] == ["pos/cv161"]
    blind = corpus.reviews["folds"] == 9
    assert all(marked is None for marked in corpus.reviews.loc[blind, "spans"])
    record = corpus.rationales()
    np.testing.assert_array_equal(record.annotated, ~blind)


def test_character_spans_hold_the_tokens_of_the_token_spans(corpus):
    record = corpus.rationales()
    assert record.n_spans == 15397
    inside = 0
    for place, spans in enumerate(record.per_item()):
        if not record.annotated[place]:
            continue
        tokens, places = whitespace_tokens(record.items.texts[place])
        assert tokens == corpus.reviews["tokens"][place]
        tags = inside_tags(spans, places)
        expected = np.zeros(len(tokens), dtype=bool)
        for first, last in corpus.reviews["spans"][place]:
            expected[first:last] = True
        np.testing.assert_array_equal(tags, expected)
        inside += tags.sum()
    assert inside == 111744  # the README; [ZE08] says about 8 % of the tokens


def test_the_second_annotation_covers_two_folds(corpus):
    folds = dict(zip(corpus.reviews["ids"], corpus.reviews["folds"], strict=True))
    assert Counter(folds[name] for name in corpus.eraser) == {8: 50, 9: 200}
    record = corpus.rationales("ERASER")
    assert int(record.annotated.sum()) == 250
    with pytest.raises(InputError, match="'A0' or 'ERASER'"):
        corpus.rationales("A1")
