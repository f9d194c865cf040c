import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.svm import LinearSVC

from accord import MaskingSVMClassifier
from accord.errors import InputError
from accord.rationales.baselines import MASKING_GRID, contrasts, unit_rows
from accord.rationales.features import Vocabulary, read_tokens
from accord.rationales.highlights import MatchedSpans

TEXTS = ["good fun film", "dull bad film", "good old plot", "bad old plot", "fun film", "dull plot"] * 3
LABELS = np.array(["+", "-"] * 9)


def spans():
    cues = ("good", "fun", "bad", "dull")
    return [[(t.index(w), t.index(w) + len(w)) for w in cues if w in t] for t in TEXTS]


def test_a_contrast_is_the_words_of_one_rationale_in_units_of_the_text():
    tokens = read_tokens(["good fun film film", "bad"])
    vocabulary = Vocabulary(np.array(["bad", "film", "fun", "good"], dtype=object))
    marks = [MatchedSpans(0, "", "+", np.array([[0, 8], [9, 13]])), MatchedSpans(1, "", "-", np.zeros((0, 2), int))]
    lost, text = contrasts(tokens, vocabulary, marks)
    assert text.tolist() == [0, 0]
    assert_allclose(lost.toarray(), np.array([[0, 0, 1, 1], [0, 1, 0, 0]]) / np.sqrt(3))


def test_without_rationales_it_is_a_linear_svm():
    fitted = MaskingSVMClassifier(C=1.0).fit(TEXTS, LABELS)
    presence = Vocabulary(fitted.vocabulary_).presence([t.split() for t in TEXTS])
    peer = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-3, max_iter=20000, random_state=0)
    peer.fit(unit_rows(presence), LABELS)
    assert_allclose(fitted.coef_, peer.coef_, atol=1e-2)


def test_masked_words_gain_weight():
    plain = MaskingSVMClassifier(min_count=1).fit(TEXTS, LABELS)
    masked = MaskingSVMClassifier(min_count=1, mu=3.0, contrast_weight=1.0).fit(TEXTS, LABELS, rationales=spans())
    good = plain.vocabulary_.tolist().index("good")

    def share(weights):
        return abs(weights[good]) / np.abs(weights).sum()

    assert share(masked.coef_[0]) > share(plain.coef_[0])
    assert (masked.predict(TEXTS) == LABELS).all()


def test_auto_chooses_from_the_grid_and_clones():
    fitted = clone(MaskingSVMClassifier(min_count=1, n_inner_folds=3)).fit(TEXTS, LABELS, rationales=spans())
    assert fitted.mu_ in (0.03, 0.1, 0.3)
    assert fitted.mu == "auto"


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="two classes"):
        MaskingSVMClassifier(min_count=1).fit(TEXTS[:3], ["a", "b", "c"])
    few = MaskingSVMClassifier().fit(TEXTS[:4], LABELS[:4], rationales=spans()[:4])  # too few to leave any out
    assert (few.mu_, few.contrast_weight_) in MASKING_GRID
    with pytest.raises(InputError, match="10 texts and 3 classes"):
        MaskingSVMClassifier(min_count=1).fit(TEXTS[:10], LABELS[:3])


def test_one_of_two_strengths_may_be_given():
    fitted = MaskingSVMClassifier(min_count=1, mu=7.0).fit(TEXTS, LABELS, rationales=spans())
    assert fitted.mu_ == 7.0
    assert fitted.contrast_weight_ in {weight for _, weight in MASKING_GRID}
