"""Ridge regression of the words of texts and of their neighbours, against a plain solution with explicit features."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from accord.links import views
from accord.links.content import VIEWS, mixing
from accord.links.ridge import indicator_targets
from accord.links.views import fit_contents

STRENGTH = 1.0


def linked_texts(n=60, n_labelled=24, n_labels=3, seed=0):
    """Counts of words, mixing along random links, and the labels of some texts."""
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(rng.poisson(0.5, size=(n, 12)).astype(float))
    ends = np.column_stack([rng.integers(0, n // 2, n), rng.integers(n // 2, n, n)])
    codes = np.where(np.arange(n) < n_labelled, np.arange(n) % n_labels, -1)
    return X, mixing(X, ends, np.ones(n)), codes


def fitted(X, mix, codes, view, **settings):
    n_labels, each = int(codes.max()) + 1, np.arange(len(codes))
    [found] = fit_contents(X, mix, codes, each, each, views=[view], n_labels=n_labels, **settings)
    return found


def plain(X, mix, codes, view, kept, n_labels):
    """Scores of all texts by weights of centred features, trained on some of them beside a bias."""
    own, mixed = VIEWS[view]
    parts = [each for each, held in ((X.toarray(), own), ((mix @ X).toarray(), mixed)) if held]
    Z = np.column_stack(parts)
    Z = np.column_stack([Z - Z.mean(axis=0), np.ones(len(Z))])
    targets = indicator_targets(codes[kept], n_labels)
    weights = np.linalg.solve(Z[kept].T @ Z[kept] + STRENGTH * np.eye(Z.shape[1]), Z[kept].T @ targets)
    scores = Z[:, :-1] @ weights[:-1]
    return scores[:, 0] if scores.shape[1] == 1 else scores


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("view", VIEWS)
def test_left_out_scores_equal_training_without_each_text(view, n_labels, monkeypatch):
    monkeypatch.setattr(views, "STRENGTHS", (STRENGTH,))
    X, mix, codes = linked_texts(n_labels=n_labels)
    labelled = np.flatnonzero(codes >= 0)
    found = fitted(X, mix, codes, view)
    expected = plain(X, mix, codes, view, labelled, n_labels)
    assert_allclose(found.model.scores(X, mix), expected, atol=1e-9)
    for row in labelled:
        without = plain(X, mix, codes, view, np.setdiff1d(labelled, row), n_labels)
        assert_allclose(found.scores[row], without[row], atol=1e-9)


@pytest.mark.parametrize("view", VIEWS)
def test_many_texts_have_the_weights_of_few(view, monkeypatch):
    monkeypatch.setattr(views, "STRENGTHS", (STRENGTH,))
    X, mix, codes = linked_texts()
    folds = np.where(codes >= 0, np.arange(len(codes)) % 5, -1)
    dual, primal = (fitted(X, mix, codes, view, max_gram=most, folds=folds) for most in (4000, 0))
    assert_allclose(primal.model.scores(X, mix), dual.model.scores(X, mix), atol=1e-4)
    assert_allclose(primal.by_fold, dual.by_fold, atol=1e-4)


def test_what_all_texts_have_in_common_is_no_evidence():
    X, mix, codes = linked_texts()
    shifted = sp.csr_matrix(X.toarray() + 3.0)
    assert_allclose(fitted(shifted, mix, codes, "own").log_p, fitted(X, mix, codes, "own").log_p, atol=1e-6)


@pytest.mark.parametrize("view", VIEWS)
def test_labels_of_unequal_number_leave_the_mean_score_at_nothing(view):
    X, mix, codes = linked_texts(n_labels=2)
    codes[1:20:2] = 0  # 22 of 24 labelled texts have the first label
    assert_allclose(fitted(X, mix, codes, view).model.scores(X, mix).mean(axis=0), 0.0, atol=1e-9)
