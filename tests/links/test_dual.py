"""The dual classifier after its classifiers, against enumeration, Platt and data with known truth."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime

from accord.errors import InputError
from accord.fitting.calibration import fit_platt
from accord.links.choice import fit_chosen
from accord.links.cut import fit_cut
from accord.links.dual import Evidence, calibrated, fit_agreement, fit_dual, fit_temperature
from accord.links.joint import fit_joint
from accord.links.linked_graph import linked_beliefs, same_label_gains


def planted(n_debates=40, size=12, seed=0, n_labels=2):
    """Debates of texts with weak content scores and link scores that know more."""
    rng = np.random.default_rng(seed)
    n = n_debates * size
    codes = rng.integers(0, n_labels, n)
    noise = rng.normal(size=(n, n_labels))
    scores = 0.8 * np.eye(n_labels)[codes] + noise
    if n_labels == 2:
        scores = scores[:, 1] - scores[:, 0]
    groups = np.repeat(np.arange(n_debates), size)
    ends = np.array([sorted(rng.choice(size, 2, replace=False) + size * g) for g in groups])
    ends = np.unique(ends, axis=0)
    same = codes[ends[:, 0]] == codes[ends[:, 1]]
    told = np.where(same, 2.0, -2.0) + rng.normal(size=len(ends))
    return scores, codes, groups, Evidence(ends, told[:, None])


@pytest.mark.parametrize("n_labels", [2, 3])
def test_beliefs_of_a_tree_equal_enumeration(n_labels):
    rng = np.random.default_rng(4)
    log_p = np.log(rng.dirichlet(np.ones(n_labels), 4))
    ends, log_odds = np.array([[0, 1], [1, 2]]), np.array([1.3, -0.7])
    agree = 1 / (1 + np.exp(-log_odds))
    joint = np.zeros((n_labels,) * 4)
    for y in np.ndindex(joint.shape):
        p = np.exp(sum(log_p[i, y[i]] for i in range(4)))
        for (i, j), a in zip(ends, agree, strict=True):
            p *= a if y[i] == y[j] else (1 - a) / (n_labels - 1)
        joint[y] = p
    joint /= joint.sum()
    expected = np.array([joint.sum(axis=tuple(j for j in range(4) if j != i)) for i in range(4)])
    for engine in ("lbp", "exact"):
        found, _ = linked_beliefs(log_p, ends, same_label_gains(log_odds, n_labels), engine=engine)
        assert_allclose(found, expected, atol=1e-5)


def test_known_labels_hold_and_inform_their_neighbours():
    log_p = np.log(np.full((3, 2), 0.5))
    ends, gains = np.array([[0, 1]]), np.array([2.0])
    found, labels = linked_beliefs(log_p, ends, gains, engine="lbp", known=np.array([1, -1, -1]))
    assert_allclose(found, [[0, 1], [1 / (1 + np.e**2), 1 / (1 + np.e**-2)], [0.5, 0.5]], atol=1e-6)
    assert labels[0] == 1


def test_rounding_noise_is_no_evidence():
    rng = np.random.default_rng(0)
    similarity, same = 1.0 + 1.1e-16 * rng.integers(-1, 2, (200, 1)), rng.random(200) < 0.5
    told = fit_agreement(similarity, same).log_odds(np.array([[0.5], [1.0]]))
    assert_allclose(told, np.log(same.mean() / (1 - same.mean())), atol=0.01)


@pytest.mark.parametrize("objective", ["marginals", "likelihood"])
def test_scores_that_differ_by_rounding_give_no_steep_slope(objective):
    rng = np.random.default_rng(0)
    scores, codes = 0.3 + 5.6e-17 * rng.integers(-1, 2, 100), rng.integers(0, 2, 100)
    assert fit_platt(scores, codes)[0, 0] < 10.0
    joint = fit_joint(scores, codes, [Evidence(np.array([[0, 1]]), np.zeros((1, 1)))], objective=objective)
    assert abs(joint.sigmoids[0, 0]) < 10.0


def test_unknown_engines_are_refused():
    with pytest.raises(InputError, match="mean_field"):
        linked_beliefs(np.zeros((1, 2)), np.empty((0, 2), dtype=int), np.empty(0), engine="guess")


def test_agreement_of_one_score_is_platts_sigmoid():
    _, codes, _, links = planted()
    same = codes[links.ends[:, 0]] == codes[links.ends[:, 1]]
    model = fit_agreement(links.features, same, strength=0.0)
    slope, offset = fit_platt(links.features[:, 0], same.astype(int))[:, 0]
    assert_allclose(model.log_odds(links.features), slope * links.features[:, 0] + offset, atol=1e-3)


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")  # one of forty graphs is frustrated
@pytest.mark.parametrize("engine", ["mean_field", "lbp"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_links_raise_accuracy_and_lower_log_loss_on_new_debates(engine, n_labels):
    scores, codes, _, links = planted(n_labels=n_labels)
    model = fit_dual(scores, codes, [links], n_labels=n_labels, engine=engine)
    new_scores, truth, _, new_links = planted(seed=1, n_labels=n_labels)
    content, beliefs = np.exp(model.content(new_scores)), model.beliefs(new_scores, [new_links])
    rows = np.arange(len(truth))
    assert np.mean(beliefs.argmax(axis=1) == truth) > np.mean(content.argmax(axis=1) == truth) + 0.02
    assert -np.log(beliefs[rows, truth]).mean() < -np.log(content[rows, truth]).mean()


def test_the_best_scale_is_chosen_on_the_training_texts():
    scores, codes, _, links = planted()
    noise = Evidence(links.ends[::-1], np.random.default_rng(0).normal(size=(len(links.ends), 1)))
    model = fit_dual(scores, codes, [links, noise], n_labels=2, scales=[(0.0, 1.0), (0.0,)])
    assert model.scales == (1.0, 0.0)


def test_temperature_undoes_sharpening_and_moves_no_label():
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 4000)
    codes = (rng.random(4000) < p).astype(int)
    true = np.column_stack([1 - p, p])
    sharp = true**3 / (true**3).sum(axis=1, keepdims=True)
    temperature, _ = fit_temperature(sharp, codes)
    assert_allclose(temperature, 3.0, rtol=0.1)
    assert_allclose(calibrated(sharp, 3.0), true, atol=1e-9)


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("objective", ["marginals", "likelihood"])
def test_joint_training_lowers_its_own_loss_and_stays_good_on_new_debates(objective, n_labels):
    n_debates = 25 if n_labels == 2 else 40
    scores, codes, _, links = planted(n_debates=n_debates, n_labels=n_labels)
    model = fit_joint(scores, codes, [links], n_labels=n_labels, objective=objective, engine="lbp", strength=1e-3)
    new_scores, truth, _, new_links = planted(seed=1, n_debates=n_debates, n_labels=n_labels)
    content = np.exp(model.content(new_scores))
    beliefs = model.beliefs(new_scores, [new_links])
    assert np.mean(beliefs.argmax(axis=1) == truth) > np.mean(content.argmax(axis=1) == truth) + 0.02
    if objective == "marginals":
        dual = fit_dual(scores, codes, [links], n_labels=n_labels, engine="lbp", recalibrate=False)
        rows = np.arange(len(codes))
        before, after = (-np.log(m.beliefs(scores, [links])[rows, codes]).mean() for m in (dual, model))
        assert after <= before + 1e-9


def test_joint_training_refuses_what_it_cannot_do():
    scores, codes, _, links = planted(n_debates=3)
    with pytest.raises(InputError, match="objective"):
        fit_joint(scores, codes, [links], objective="luck")


@pytest.mark.parametrize("n_labels", [2, 3])
def test_joint_training_held_tight_is_the_dual_classifier(n_labels):
    scores, codes, _, links = planted(n_debates=5, n_labels=n_labels)
    dual = fit_dual(scores, codes, [links], n_labels=n_labels, recalibrate=False)
    held = fit_joint(scores, codes, [links], n_labels=n_labels, objective="likelihood", strength=1e6)
    assert_allclose(held.beliefs(scores, [links]), dual.beliefs(scores, [links]), atol=1e-3)


def test_the_way_to_train_is_the_one_that_labels_left_out_groups_better(monkeypatch):
    scores, codes, groups, links = planted(n_debates=10)
    dual = fit_dual(scores, codes, [links], n_labels=2)
    wrong = replace(dual, sigmoids=-dual.sigmoids)
    new_scores, _, _, new = planted(n_debates=4, seed=1)
    for worse in ("fit_dual", "fit_joint"):
        with monkeypatch.context() as patch:
            patch.setattr(f"accord.links.choice.{worse}", lambda *args, **settings: wrong)
            found = fit_chosen(scores, codes, [links], groups)
            assert found is not wrong
            assert_allclose(found.beliefs(new_scores, [new]).sum(axis=1), 1.0)
    one = fit_chosen(scores, codes, [links], np.zeros(len(codes)))
    assert_allclose(one.sigmoids, dual.sigmoids)


@pytest.mark.parametrize("cut", ["min_cut", "set_to", "inc_by"])
def test_cuts_use_links_and_hold_known_labels(cut):
    scores, codes, groups, links = planted()
    model = fit_cut(scores, codes, groups, links.ends, links.features[:, 0], cut=cut, beta=0.6)
    new_scores, truth, groups, new = planted(seed=1)
    labels = model.labels(new_scores, groups, new.ends, new.features[:, 0])
    assert np.mean(labels == truth) > np.mean((new_scores > 0) == truth)
    known = np.where(np.arange(len(truth)) < 100, 1 - labels, -1)
    held = model.labels(new_scores, groups, new.ends, new.features[:, 0], known=known)
    assert (held[:100] == 1 - labels[:100]).all()


def test_temperature_gradient_matches_differences():
    # The loss is rebuilt here from its definition; its minimum must be where the fit says.
    rng = np.random.default_rng(3)
    beliefs = rng.dirichlet([0.3, 0.3, 0.3], 200)
    codes = np.array([rng.choice(3, p=0.5 * b + 0.5 / 3) for b in beliefs])
    temperature, value = fit_temperature(beliefs, codes)

    def loss(t):
        p = calibrated(beliefs, float(t[0]))
        return -np.log(p[np.arange(200), codes]).mean()

    assert_allclose(loss([temperature]), value, rtol=1e-9)
    assert abs(approx_fprime([temperature], loss, 1e-6)[0]) < 1e-4
