"""The dual classifier after its classifiers, against enumeration, Platt and data with known truth."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logit

from accord.errors import InputError
from accord.fitting.calibration import fit_platt
from accord.links.content import Content, fit_calibration
from accord.links.cut import fit_cut
from accord.links.dual import (
    RAW,
    Coupling,
    DualModel,
    Evidence,
    beside_shares,
    densities,
    fit_agreement,
    fit_coupling,
    fit_fusion,
    fuse,
    unreached,
)
from accord.links.joint import train_jointly
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
    return scores, codes, groups, Evidence(ends, told[:, None], np.ones(len(ends)))


def fit_dual(
    scores, codes, evidence, n_labels, *, engine="mean_field", scales=((0.0, 0.5, 1.0),), folds=None, units=None
):
    calibration = fit_calibration(scores, codes, n_labels=n_labels, is_ridge=False)
    agreements = tuple(fit_agreement(e.features, codes[e.ends[:, 0]] == codes[e.ends[:, 1]]) for e in evidence)
    raw = Coupling((1.0,) * len(evidence), RAW)
    model = DualModel(calibration, agreements, raw, raw, engine)
    content = Content("own", None, calibration, scores)
    held_out = content.held_out(codes, folds if folds is not None else codes, known=folds is not None)
    found = fit_coupling(model, held_out, codes, evidence, scales=scales, units=units)
    return replace(model, free=found, among_known=found)


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


def test_unknown_engines_are_refused():
    with pytest.raises(InputError, match="mean_field"):
        linked_beliefs(np.zeros((1, 2)), np.empty((0, 2), dtype=int), np.empty(0), engine="guess")


def test_agreement_of_one_score_is_platts_sigmoid():
    _, codes, _, links = planted()
    same = codes[links.ends[:, 0]] == codes[links.ends[:, 1]]
    model = fit_agreement(links.features, same, strength=0.0)
    slope, offset = fit_platt(links.features[:, 0], same.astype(int))[:, 0]
    assert_allclose(model.log_odds(links.features), slope * links.features[:, 0] + offset, atol=1e-3)


def test_a_link_without_words_has_the_base_rate_of_agreement():
    rng = np.random.default_rng(0)
    same = rng.random(500) < 0.84
    told = np.where(same, 1.0, -1.0)[:, None] + rng.normal(size=(500, 1))
    told[::2] = np.nan
    model = fit_agreement(told, same)
    assert_allclose(model.log_odds(np.array([[np.nan]]))[0], logit(same.mean()), atol=0.05)
    # Nothing seen: links are expected to agree, for want of anything better.
    assert fit_agreement(np.empty((0, 1)), np.empty(0, dtype=bool)).base == pytest.approx(logit(0.75))


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
@pytest.mark.parametrize("engine", ["mean_field", "lbp"])
@pytest.mark.parametrize("n_labels", [2, 3])
def test_links_raise_accuracy_and_lower_log_loss_on_new_debates(engine, n_labels):
    scores, codes, _, links = planted(n_labels=n_labels)
    model = fit_dual(scores, codes, [links], n_labels, engine=engine)
    new_scores, truth, _, new_links = planted(seed=1, n_labels=n_labels)
    log_p = model.calibration.log_p(new_scores)
    content, beliefs = np.exp(log_p), model.beliefs(log_p, [new_links])
    rows = np.arange(len(truth))
    assert np.mean(beliefs.argmax(axis=1) == truth) > np.mean(content.argmax(axis=1) == truth) + 0.02
    assert -np.log(beliefs[rows, truth]).mean() < -np.log(content[rows, truth]).mean()
    assert model.free.loss < model.free.content_loss


@pytest.mark.parametrize("among", [False, True])
def test_links_that_say_nothing_are_left_out(among):
    rng = np.random.default_rng(0)
    scores, codes, _, links = planted()
    noise = Evidence(rng.permutation(len(codes))[links.ends], rng.normal(size=(len(links.ends), 1)), links.weights)
    noise = Evidence(noise.ends[noise.ends[:, 0] != noise.ends[:, 1]], noise.features, noise.weights)
    folds = np.arange(len(codes)) % 5 if among else None
    model = fit_dual(scores, codes, [noise], 2, folds=folds)
    assert model.free.loss <= model.free.content_loss + 0.002


def test_the_gain_of_links_must_be_seen_in_several_debates():
    scores, codes, groups, links = planted(n_debates=6, seed=5)
    told = links.features.copy()
    assert fit_dual(scores, codes, [links], 2, units=groups).free.scales != (0.0,)
    # The same links, all in one debate: it cannot be known whether they help in another.
    assert fit_dual(scores, codes, [links], 2, units=np.zeros_like(groups)).free.scales == (0.0,)
    # Links that help in the first debate alone, and mislead in the others a little: no clear gain.
    told[groups[links.ends[:, 0]] > 0] *= -0.1
    mixed = Evidence(links.ends, told, links.weights)
    by_texts = fit_dual(scores, codes, [mixed], 2).free
    by_debates = fit_dual(scores, codes, [mixed], 2, units=groups).free
    assert by_texts.scales != (0.0,)
    assert by_debates.scales == (0.0,)


def test_two_labelled_groups_leave_half_of_the_certainty_and_many_leave_all():
    codes = np.array([0, 0, 0, 1] * 5)
    log_p = np.log([[0.99, 0.01], [0.2, 0.8]])
    shares = np.array([20.0, 10.0]) / 30.0
    given = Coupling(scales=(1.0,), fusion=RAW)
    drawn = beside_shares(given, codes, 2, 2).drawn(log_p)
    assert_allclose(logit(np.exp(drawn[:, 1])), (logit([0.01, 0.8]) + logit(shares[1])) / 2)
    assert_allclose(np.exp(drawn).sum(axis=1), 1.0)
    assert_allclose(beside_shares(given, codes, 2, 40).drawn(log_p), log_p, atol=1e-9)
    assert beside_shares(given, codes, 2, 1) is given


def test_weights_count_and_a_weight_of_zero_is_no_link():
    scores, codes, _, links = planted()
    model = fit_dual(scores, codes, [links], 2, scales=((1.0,),))
    log_p = model.calibration.log_p(scores)
    none = replace(links, weights=np.zeros(len(links.ends)))
    assert_allclose(
        model.gains([replace(links, weights=2.0 * links.weights)], (1.0,))[0], 2 * model.gains([links], (1.0,))[0]
    )
    assert not model.pull(log_p, [none], None, model.free).any()


def test_links_beyond_twice_as_many_a_text_as_in_training_count_with_the_root_of_their_number():
    scores, codes, _, links = planted()
    model = fit_dual(scores, codes, [links], 2, scales=((1.0,),))
    log_p, seen = model.calibration.log_p(scores), densities([links], len(codes))
    as_dense, half = (replace(model, density=share * seen).pull(log_p, [links], None, model.free) for share in (1, 0.5))
    assert_allclose(as_dense, model.pull(log_p, [links], None, model.free))
    assert_allclose(half, as_dense)
    none = replace(links, ends=links.ends[:0], features=links.features[:0], weights=links.weights[:0])
    assert_allclose(replace(model, density=0.1 * seen).link_shares([none], len(codes)), 1.0)
    for part in (8, 32):  # a quarter and a sixteenth of what may count fully
        thin = replace(model, density=seen / part)
        assert_allclose(thin.link_shares([links], len(codes)), np.sqrt(2 / part))
        expected = model.pull(log_p, [links], None, replace(model.free, scales=(np.sqrt(2 / part),)))
        assert_allclose(thin.pull(log_p, [links], None, model.free), expected)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_the_gradient_of_the_fusion_matches_differences(n_labels):
    rng = np.random.default_rng(3)
    n = 60
    log_p = np.log(rng.dirichlet(np.ones(n_labels), n))
    degree, codes = rng.integers(0, 9, n), rng.integers(0, n_labels, n)
    pull = rng.normal(size=(n, n_labels)) + np.eye(n_labels)[codes]
    weights, value = fit_fusion(log_p, pull, degree, codes)

    def loss(w):
        fused = fuse(w, log_p, pull, degree)
        away = (w - [1.0, 0.15, 0.0]) / [0.3, 0.4, 0.2]
        return -fused[np.arange(n), codes].sum() + 0.5 * away @ away

    assert_allclose(loss(weights), value, rtol=1e-9)
    for step in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
        inside = weights + step
        if (inside[:2] >= 0.0).all():
            assert loss(inside) >= value - 1e-9


def test_beliefs_are_calibrated_at_every_degree():
    # Texts of many links, whose neighbours say the same thing again and again.
    rng = np.random.default_rng(0)

    def drawn():
        n = 3000
        codes = rng.integers(0, 2, n)
        scores = 1.2 * (2 * codes - 1) + rng.normal(size=n) * 2.0
        popular = rng.choice(n, 3 * n, p=np.arange(1, n + 1) / (n * (n + 1) / 2))
        other = rng.integers(0, n, 3 * n)
        ends = np.unique(np.sort(np.column_stack([popular, other]), axis=1), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]]
        agree = codes[ends[:, 0]] == codes[ends[:, 1]]
        ends = ends[rng.random(len(ends)) < np.where(agree, 0.6, 0.3)]
        return scores, codes, Evidence(ends, np.full((len(ends), 1), np.nan), np.ones(len(ends)))

    scores, codes, links = drawn()
    model = fit_dual(scores, codes, [links], 2)
    scores, codes, links = drawn()
    p = model.beliefs(model.calibration.log_p(scores), [links])
    degree = np.bincount(links.ends.ravel(), minlength=len(codes))
    for low, high in ((0, 1), (1, 2), (2, 4), (4, 7), (7, 100)):
        part = (degree >= low) & (degree < high)
        if part.sum() > 200:
            assert abs(p[part].max(axis=1).mean() - np.mean(p[part].argmax(axis=1) == codes[part])) < 0.05


def test_long_chains_are_settled_exactly():
    # A chain of texts that agree with their neighbours nine times in ten, and content that is right six times in ten.
    rng = np.random.default_rng(0)
    n = 600
    codes = np.cumsum(rng.random(n) < 0.1) % 2
    told = np.where(rng.random(n) < 0.6, codes, 1 - codes)
    log_p = np.log(np.where(told[:, None] == np.arange(2), 0.6, 0.4))
    ends, gains = np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.full(n - 1, logit(0.9))
    forward = log_p.copy()
    backward = np.zeros((n, 2))
    move = np.log([[0.9, 0.1], [0.1, 0.9]])
    for i in range(1, n):
        forward[i] += np.logaddexp.reduce(forward[i - 1][:, None] + move, axis=0)
        backward[-1 - i] = np.logaddexp.reduce(move + (log_p[-i] + backward[-i])[None], axis=1)
    expected = forward + backward
    expected = np.exp(expected - np.logaddexp.reduce(expected, axis=1, keepdims=True))
    found, _ = linked_beliefs(log_p, ends, gains, engine="auto")
    assert_allclose(found, expected, atol=1e-6)
    ring = np.vstack([ends, [[0, 2]]])
    both, _ = linked_beliefs(log_p, ring, np.append(gains, 1.0), engine="auto")
    assert_allclose(both, linked_beliefs(log_p, ring, np.append(gains, 1.0), engine="mean_field")[0], atol=1e-9)


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("objective", ["marginals", "likelihood"])
def test_joint_training_stays_good_on_new_debates_and_lowers_its_own_loss(objective, n_labels):
    scores, codes, _, links = planted(n_debates=25, n_labels=n_labels)
    dual = fit_dual(scores, codes, [links], n_labels, engine="lbp", scales=((1.0,),))
    raw = Coupling((1.0,), RAW)
    calibration, agreements = train_jointly(
        scores, codes, [links], dual.calibration, dual.agreements, objective=objective, engine="lbp", strength=1e-3
    )
    apart = replace(dual, free=raw)
    joint = replace(apart, calibration=calibration, agreements=agreements)
    rows = np.arange(len(codes))

    def loss(model, at, truth, linked):
        return -np.log(model.beliefs(model.calibration.log_p(at), [linked])[rows, truth]).mean()

    if objective == "marginals":
        assert loss(joint, scores, codes, links) <= loss(apart, scores, codes, links) + 1e-9
    new_scores, truth, _, new_links = planted(seed=1, n_debates=25, n_labels=n_labels)
    assert loss(joint, new_scores, truth, new_links) < loss(apart, new_scores, truth, new_links) + 0.05


@pytest.mark.parametrize("n_labels", [2, 3])
def test_joint_training_held_tight_changes_nothing(n_labels):
    scores, codes, _, links = planted(n_debates=5, n_labels=n_labels)
    dual = fit_dual(scores, codes, [links], n_labels)
    calibration, agreements = train_jointly(
        scores, codes, [links], dual.calibration, dual.agreements, objective="likelihood", strength=1e6
    )
    assert_allclose(calibration.log_p(scores), dual.calibration.log_p(scores), atol=1e-3)
    assert_allclose(agreements[0].log_odds(links.features), dual.agreements[0].log_odds(links.features), atol=1e-3)


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


def test_agreement_is_not_learnt_from_words_that_neighbours_share():
    # Chains of eight texts, 80 % of whose links join equal labels; the content of a text is the mean of its chain's
    # neighbours and its own, so that the beliefs of linked texts agree more often than their labels.
    rng, n = np.random.default_rng(0), 800
    codes = rng.integers(0, 2, n)
    for i in range(1, n):
        codes[i] = codes[i - 1] if i % 8 and rng.random() < 0.6 else codes[i]
    ends = np.array([(i - 1, i) for i in range(1, n) if i % 8])
    own = 2.0 * codes - 1.0 + rng.normal(scale=1.5, size=n)
    near, count = own.copy(), np.ones(n)
    for a, b in (ends.T, ends.T[::-1]):
        np.add.at(near, a, own[b])
        np.add.at(count, a, 1.0)
    links = Evidence(ends, np.full((len(ends), 1), np.nan), np.ones(len(ends)))
    model = fit_dual(near / count, codes, [links], 2)
    log_p, known = model.calibration.log_p(near / count), np.where(np.arange(n) % 20 == 0, codes, -1)
    found = [replace(model, mixed=mixed).blocks(log_p, links, known).same.mean() for mixed in (False, True)]
    share = np.mean(codes[ends[:, 0]] == codes[ends[:, 1]])
    assert abs(found[1] - share) < abs(found[0] - share) - 0.02


def test_texts_in_pieces_without_a_known_label_have_weights_of_their_own():
    links = Evidence(np.array([(0, 1), (1, 2), (3, 4)]), np.full((3, 1), np.nan), np.ones(3))
    known = np.array([-1, -1, 0, -1, -1, -1])
    # The piece of 0 to 2 has a label, that of 3 and 4 none, and 5 has no link.
    assert unreached(links, known).tolist() == [False, False, False, True, True, False]
    near, far = np.array([1.0, 0.8, 0.0]), np.array([1.0, 0.2, 0.0])
    found = Coupling((1.0,), near, apart=far).weights([links], known, 6)
    assert_allclose(found, [near, near, near, far, far, near])
    assert_allclose(Coupling((1.0,), near).weights([links], known, 6), np.tile(near, (6, 1)))
    log_p, pull = np.log(np.full((6, 2), 0.5)), np.tile([1.0, 0.0], (6, 1))
    odds = fuse(found, log_p, pull, np.ones(6)) @ [1.0, -1.0]
    assert_allclose(odds, [0.8, 0.8, 0.8, 0.2, 0.2, 0.8])
