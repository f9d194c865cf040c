import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from accord.aspects.logits import fit_calibration, fit_logits, logit_scores
from accord.fitting.optimise import minimise_lbfgs


def problem(seed=0, n=200, d=12, outputs=3, missing=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    y = (rng.random((n, outputs)) < expit(x @ rng.normal(size=(d, outputs)))).astype(int)
    return x, np.where(rng.random(y.shape) < missing, -1, y)


def by_lbfgs(x, y, penalty):
    """One output by another optimiser; the intercept is the base rate's plus a penalised correction."""
    known = y >= 0
    x, y = x[known], y[known]
    offset = logit((y.sum() + 0.5) / (len(y) + 1))

    def loss(w):
        z = x @ w[:-1] + w[-1] + offset
        return (np.logaddexp(0, z) - y * z).sum() + 0.5 * penalty * w @ w, np.append(
            x.T @ (expit(z) - y), (expit(z) - y).sum()
        ) + penalty * w

    w = minimise_lbfgs(loss, np.zeros(x.shape[1] + 1)).weights
    return w[:-1], w[-1] + offset


def test_the_fit_is_the_optimum_of_the_penalised_likelihood():
    for penalty, missing in ((0.1, 0.0), (1.0, 0.3), (0.03, 0.0)):
        x, y = problem(missing=missing)
        ours = fit_logits(sp.csr_array(x), y, penalty=penalty, rng=np.random.default_rng(1), tol=1e-8, max_iter=20_000)
        assert ours.convergence.converged
        for j in range(3):
            w, b = by_lbfgs(x, y[:, j], penalty)
            assert_allclose(ours.weights[:, j], w, atol=1e-3)
            assert_allclose(ours.bias[j], b, atol=1e-3)


def test_dual_variables_are_targets_less_probabilities_and_make_the_weights():
    x, y = problem()
    fitted = fit_logits(x, y, penalty=0.5, rng=np.random.default_rng(1), tol=1e-9, max_iter=2000)
    assert_allclose(fitted.dual, y - expit(logit_scores(fitted, x)), atol=1e-7)
    assert_allclose(fitted.weights, x.T @ fitted.dual / 0.5, atol=1e-9)


def test_a_start_from_a_similar_fit_saves_sweeps_and_ends_at_the_same_place():
    x, y = problem(n=400)
    whole = fit_logits(x, y, penalty=0.1, rng=np.random.default_rng(1), tol=1e-6, max_iter=5000)
    cold, warm = (
        fit_logits(x[:350], y[:350], penalty=0.1, rng=np.random.default_rng(2), tol=1e-6, max_iter=5000, start=start)
        for start in (None, whole.dual[:350])
    )
    assert_allclose(warm.weights, cold.weights, atol=1e-3)
    assert warm.convergence.n_iter <= cold.convergence.n_iter


def test_an_output_with_one_answer_only_stays_finite():
    x, y = problem()
    y[:, 0] = 1
    fitted = fit_logits(x, y, rng=np.random.default_rng(1))
    assert np.isfinite(logit_scores(fitted, x)).all()
    assert (logit_scores(fitted, x)[:, 0] > 0).all()


def test_calibration_is_the_optimum_and_survives_one_sided_targets():
    x, y = problem(missing=0.2)
    y[:, 2] = 0
    weights = fit_calibration(x, y, penalty=2.0)
    for j in range(2):
        known = y[:, j] >= 0
        f = np.column_stack([x, np.ones(len(x))])[known]
        middle = f.mean(axis=0)
        gradient = f.T @ (expit(f @ weights[:, j]) - y[known, j]) + np.append(2.0 * weights[:-1, j], 0.0)
        gradient += (expit(middle @ weights[:, j]) - 0.5) * middle
        assert_allclose(gradient, 0.0, atol=1e-6)
    assert np.isfinite(weights).all()
    assert weights[-1, 2] < -3
