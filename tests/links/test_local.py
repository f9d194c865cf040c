"""Training of local classifiers, on small graphs whose labels are known."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from accord.links.features.neighbours import Neighbours
from accord.links.features.words import linked_pairs
from accord.links.local import choose_scale, fit_local, joined_features


def pairs_of_texts(n_groups=20, size=6, seed=0):
    """Texts whose one word says little and whose neighbour in the ring has the same label."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(rng.integers(0, 2, n_groups * size // 2), 2)
    words = np.eye(2)[np.where(rng.random(len(codes)) < 0.7, codes, 1 - codes)]
    first = np.arange(0, len(codes), 2)
    pairs = linked_pairs(first, first + 1, n_texts=len(codes))
    groups = np.repeat(np.arange(n_groups), size)
    return sp.csr_matrix(words), codes, groups, Neighbours("count", pairs, n_labels=2), words.argmax(axis=1)


def test_several_labellings_are_one_training_set_of_the_same_weight():
    content, codes, _, neighbours, noisy = pairs_of_texts()
    true, other = neighbours.matrix(codes), neighbours.matrix(noisy)
    machine = LogisticRegression(tol=1e-8)
    assert_allclose(
        fit_local(machine, content, [true, true], codes).coef_,
        fit_local(machine, content, [true], codes).coef_,
        atol=1e-5,
    )
    both = fit_local(machine, content, [true, other], codes, scale=2.0)
    by_hand = LogisticRegression(C=0.5, tol=1e-8).fit(
        sp.vstack([joined_features(content, 2.0 * true), joined_features(content, 2.0 * other)]), np.tile(codes, 2)
    )
    assert_allclose(both.coef_, by_hand.coef_, atol=1e-5)


def test_a_classifier_without_weights_is_trained_on_every_copy():
    content, codes, _, neighbours, noisy = pairs_of_texts()
    fitted = fit_local(KNeighborsClassifier(3), content, [neighbours.matrix(codes), neighbours.matrix(noisy)], codes)
    assert fitted.n_samples_fit_ == 2 * len(codes)


def test_labels_met_in_training_weigh_less_when_they_are_wrong():
    content, codes, _, neighbours, noisy = pairs_of_texts()
    true, other = neighbours.matrix(codes), neighbours.matrix(noisy)
    machine = LogisticRegression()

    def reliance(local):
        word, neighbour = local.coef_[0, 1] - local.coef_[0, 0], local.coef_[0, 3] - local.coef_[0, 2]
        return neighbour / word

    assert reliance(fit_local(machine, content, [true, other], codes)) < reliance(
        fit_local(machine, content, [true], codes)
    )


@pytest.mark.parametrize(("informative", "chosen"), [(True, 8.0), (False, 1e-3)])
def test_the_scale_suits_what_neighbours_tell(informative, chosen):
    content, codes, groups, neighbours, noisy = pairs_of_texts(n_groups=40)
    if not informative:  # neighbours' labels are noise: the truth is in the words
        codes = noisy
        start = np.random.default_rng(1).integers(0, 2, len(codes))
    else:  # first labels are right, words say nothing
        content, start = sp.csr_matrix(np.ones(content.shape)), codes
    scale = choose_scale(
        LogisticRegression(),
        content,
        neighbours,
        [codes] if informative else [codes, start],
        codes,
        groups,
        start=start,
        free=np.ones(len(codes), dtype=bool),
        scales=(1e-3, 8.0),
    )
    assert scale == chosen


def test_with_one_group_nothing_can_be_tried():
    content, codes, groups, neighbours, noisy = pairs_of_texts()
    every = np.ones(len(codes), dtype=bool)
    settings = {"start": noisy, "free": every, "scales": (3.0, 1.0)}
    assert choose_scale(None, content, neighbours, [codes], codes, np.zeros_like(groups), **settings) == 3.0
