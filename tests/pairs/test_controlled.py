"""Style control: coefficients and intervals against a logistic regression of another program, and coverage."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from accord.data.documents import Items
from accord.errors import InputError
from accord.pairs.bradley_terry import BradleyTerryRanker
from accord.pairs.controlled import ControlledRanker
from synthetic.judges import judged_votes


def votes_of_one_kind(seed, n_items=12, n_votes=2000, **settings):
    return judged_votes(n_items, 0, n_votes, share=1.0, length=0.7, position=0.4, random_state=seed, **settings)


def fitted(problem, covariates, **settings):
    votes = problem.votes
    shown = votes.to_table()["shown_left_id"]
    return ControlledRanker(covariates=covariates, **settings).fit(*votes.xy(), items=votes.items, shown_left=shown)


def test_it_equals_a_logistic_regression_with_robust_intervals():
    problem = votes_of_one_kind(0)
    ranker = fitted(problem, ["position", "meta.x"], alpha=1e-6, penalty=0.0)
    votes, n = problem.votes, problem.votes.items.n_items
    rows = np.arange(votes.n_votes)
    design = np.zeros((votes.n_votes, n + 1))
    design[rows, votes.left] += 1.0
    design[rows, votes.right] -= 1.0
    # One text is the anchor; x is the difference of meta.x, which scores could hold too, so that it needs the prior.
    design[:, n] = 1.0
    other = sm.Logit(votes.value, np.delete(design, 0, axis=1)).fit(disp=0, cov_type="HC0")
    position = ranker.coefficients_.set_index("covariate").loc["position"]
    assert position["coefficient"] == pytest.approx(other.params[-1], rel=1e-3)
    half = 1.6448536 * other.bse[-1]
    assert position["high"] - position["coefficient"] == pytest.approx(half, rel=1e-2)


def test_covariates_of_votes_equal_a_logistic_regression_with_robust_intervals():
    rng = np.random.default_rng(3)
    n, n_votes, slopes = 15, 3000, np.array([0.6, -0.4, 0.0])
    left = rng.integers(0, n, n_votes)
    right = (left + rng.integers(1, n, n_votes)) % n
    x, quality = rng.standard_normal((n_votes, 3)), rng.standard_normal(n)
    y = (quality[left] - quality[right] + x @ slopes + rng.logistic(size=n_votes) > 0).astype(float)
    ids = np.array([f"m{k:02d}" for k in range(n)], dtype=object)
    ranker = ControlledRanker(alpha=1e-6, penalty=0.0)
    ranker.fit(np.stack([ids[left], ids[right]], axis=1), y, context={f"x{k}": x[:, k] for k in range(3)})
    design = np.hstack([np.zeros((n_votes, n)), x])
    design[np.arange(n_votes), left] += 1.0
    design[np.arange(n_votes), right] -= 1.0
    other = sm.Logit(y, design[:, 1:]).fit(disp=0, cov_type="HC0")
    found = ranker.coefficients_.set_index("covariate").loc[["x0", "x1", "x2"]]
    assert_allclose(found["coefficient"], other.params[-3:], atol=1e-4)
    assert_allclose(found["high"] - found["low"], 2 * 1.6448536 * other.bse[-3:], rtol=1e-3)


def test_without_covariates_it_is_bradley_terry():
    problem = votes_of_one_kind(1)
    plain = BradleyTerryRanker().fit(*problem.votes.xy(), items=problem.votes.items)
    assert_allclose(fitted(problem, []).scores_, plain.scores_.mean, atol=1e-4)


def test_what_position_adds_is_taken_out_and_intervals_hold():
    held = []
    for seed in range(20):
        problem = votes_of_one_kind(seed)
        row = fitted(problem, ["position"]).coefficients_.iloc[0]
        truth = 0.4 * 1.702 / np.sqrt(2.0)  # the votes are probit
        held.append(row["low"] - 0.03 <= truth <= row["high"] + 0.03)
    assert np.mean(held) >= 0.75


def test_votes_on_different_texts_of_few_authors_are_controlled():
    """The items are authors whose votes each show another length: what length adds leaves the scores."""
    rng = np.random.default_rng(0)
    n, quality = 10, rng.standard_normal(10)
    wordy = quality + rng.standard_normal(n)
    texts = [(k, wordy[k] + rng.standard_normal()) for k in np.repeat(np.arange(n), 60)]
    items = Items([f"{k}-{i}" for i, (k, _) in enumerate(texts)], meta={"x": [x for _, x in texts]})
    assert text_scores(items, texts, quality, rng) > 0.8


def text_scores(items, texts, quality, rng):
    left = rng.integers(0, len(texts), 6000)
    right = (left + 1 + rng.integers(0, len(texts) - 1, 6000)) % len(texts)
    author, length = np.array([k for k, _ in texts]), np.array([x for _, x in texts])
    seen = quality[author[left]] - quality[author[right]] + 1.5 * (length[left] - length[right])
    y = (seen + rng.logistic(size=left.size) > 0).astype(float)
    X = np.stack([items.ids[left], items.ids[right]], axis=1)
    ranker = ControlledRanker(covariates=["meta.x"], alpha=2.0, penalty=1e-3).fit(X, y, items=items)
    means = np.array([ranker.scores_[author == k].mean() for k in range(len(quality))])
    return spearmanr(means, quality)[0]


def test_bad_input_is_refused_in_one_sentence():
    with pytest.raises(InputError, match="at least one vote"):
        ControlledRanker().fit(np.empty((0, 2), dtype=object), [])
    with pytest.raises(InputError, match="named twice"):
        fitted(votes_of_one_kind(0, n_votes=50), ["position", "position"])
