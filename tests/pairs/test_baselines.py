import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import LogisticRegression

from accord.data.documents import Items
from accord.errors import InputError
from accord.pairs.baselines import (
    LogisticDifferenceRanker,
    LongerTextRanker,
    PageRankRanker,
    PairGaussianProcessClassifier,
    PairSupportVectorClassifier,
    ScoreRegressionRanker,
)


def problem(n=40, n_votes=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    f = 2.0 * x[:, 0]
    ids = np.array([f"t{k}" for k in range(n)], dtype=object)
    texts = ["w" * int(np.exp(3 + f[k] / 2)) for k in range(n)]
    items = Items(ids, texts=texts, features=x, groups=np.array([f"g{k % 4}" for k in range(n)], dtype=object))
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    y = (f[left] - f[right] + rng.normal(0, 1.4, n_votes) > 0).astype(float)
    return pd.DataFrame({"left": ids[left], "right": ids[right]}), y, items, f


MODELS = [
    LongerTextRanker(),
    PageRankRanker(),
    LogisticDifferenceRanker(),
    ScoreRegressionRanker(),
    ScoreRegressionRanker(scores="pagerank"),
    PairSupportVectorClassifier(n_landmarks=100),
    PairGaussianProcessClassifier(n_landmarks=100),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__ + getattr(model, "scores", ""))
def test_every_baseline_learns_and_is_antisymmetric(model):
    X, y, items, f = problem()
    model.fit(X, y, items=items)
    p = model.predict_proba(X, items=items)
    assert np.mean(model.predict(X, items=items) == y) > 0.7
    turned = X.rename(columns={"left": "right", "right": "left"})
    assert_allclose(p, model.predict_proba(turned, items=items)[:, ::-1], atol=1e-9)
    assert np.corrcoef(model.score_items(items), f)[0, 1] > 0.7


def test_the_gaussian_process_with_every_pair_as_a_landmark_is_that_of_scikit_learn():
    X, y, items, _ = problem()
    X, y = X[:60], y[:60]
    ours = PairGaussianProcessClassifier(n_landmarks=10_000).fit(X, y, items=items)
    z = ours._pca.transform(ours._features(items))
    left, right = items.positions(X["left"]), items.positions(X["right"])
    both = np.vstack([np.hstack([z[left], z[right]]), np.hstack([z[right], z[left]])])
    kernel = 4.0 * Matern(length_scale=ours._length, nu=1.5)
    theirs = GaussianProcessClassifier(kernel, optimizer=None).fit(both, np.concatenate([y == 1, y == 0]))
    there = theirs.predict_proba(both)[:, 1]
    assert_allclose(
        ours.predict_proba(X, items=items)[:, 1], 0.5 * (there[:60] + 1 - there[60:]), atol=1e-2
    )  # two approximations of the same mean


def test_classifiers_of_pairs_read_sparse_features_as_dense_ones():
    X, y, items, _ = problem()
    wide = np.random.default_rng(1).normal(size=(items.n_items, 200)) + items.features[:, :1]
    dense, sparse = (Items(items.ids, texts=items.texts, features=x) for x in (wide, sp.csr_array(wide)))
    for model in (PairSupportVectorClassifier, PairGaussianProcessClassifier):
        p = [model(n_components=20).fit(X, y, items=one).predict_proba(X, items=one) for one in (dense, sparse)]
        assert_allclose(p[0], p[1], atol=1e-3)


def test_logistic_regression_in_item_space_is_logistic_regression_on_differences():
    X, y, items, _ = problem()
    ours = LogisticDifferenceRanker(cs=(0.3,)).fit(X, y, items=items)
    x = ours._features(items)
    left, right = items.positions(X["left"]), items.positions(X["right"])
    theirs = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(x[left] - x[right], y)
    assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-2)


def test_baselines_say_what_they_need():
    X, y, items, _ = problem()
    bare = Items(items.ids)
    with pytest.raises(InputError, match="needs features"):
        LogisticDifferenceRanker().fit(X, y, items=bare)
    with pytest.raises(InputError, match="there are texts"):
        LongerTextRanker().fit(X, y, items=bare)
