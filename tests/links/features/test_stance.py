"""Words and phrases around stance words."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import clone

from accord.links.features.stance import StanceNgrams, stance_text


def test_stance_ngrams_are_those_that_hold_a_stance_word():
    texts = ["I will vote against it today", "we vote against it", "nothing here"]
    model = StanceNgrams(shortest=2, longest=2, min_df=1).fit(texts)
    assert set(model.vectoriser_.vocabulary_) == {"will_vote", "vote_against", "against_it", "we_vote"}
    rows = model.transform(texts)
    assert_allclose(np.sqrt(rows.multiply(rows).sum(axis=1)).ravel(), [[1.0, 1.0, 0.0]])


def test_ngrams_never_leave_the_text():
    assert StanceNgrams(shortest=3, longest=4, min_df=1).fit(["vote no"]).vectoriser_ is None


def test_texts_without_stance_words_have_empty_features():
    model = StanceNgrams().fit(["a b", "c d"])
    assert model.transform(["vote against"]).nnz == 0


def test_text_features_clone_and_weigh_the_stance_block():
    texts = ["we support the bill", "we support the rule", "no"]
    whole = clone(stance_text(stance_weight=0.25)).fit_transform(texts)
    # The words have squared length 1, the stance n-grams ¼ where there are any.
    assert_allclose(np.asarray(whole.multiply(whole).sum(axis=1)).ravel(), [1.25, 1.25, 1.0])
