import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import accord
from accord.data.threads import Threads
from accord.errors import InputError
from accord.threads import ThreadClassifier
from accord.threads.design import Scaler, ThreadRows, pair_features, pair_scores
from accord.threads.features.edges import ThreadEdges, complete_pairs

MODELS = {
    "fccrf": {},
    "fccrf joint": {"coupling": "joint"},
    "fccrf ising": {"edges": "ising", "edge_scale": "length"},
    "fccrf full": {"edges": "full", "edge_scale": "length"},
    "fccrf marginals": {"objective": "marginals"},
    "fccrf sgd": {"learner": "sgd", "n_epochs": 2},
    "local": {"model": "local"},
    "local sgd": {"model": "local", "learner": "sgd"},
    "local averaged": {"model": "local", "learner": "averaged"},
    "local voted": {"model": "local", "learner": "voted"},
    "local+cut": {"model": "local+cut", "edges": "ising", "edge_scale": "length"},
    "local+ilp": {"model": "local+ilp", "edges": "ising", "edge_scale": "length"},
    "local+lbp": {"model": "local+lbp", "edges": "ising", "edge_scale": "length"},
    "joint": {"model": "joint", "learner": "sgd", "n_epochs": 2},
    "joint averaged": {"model": "joint", "learner": "averaged", "n_epochs": 2},
    "chain": {"model": "chain", "edges": "full"},
    "chain 2": {"model": "chain", "order": 2},
    "chain 2 ising": {"model": "chain", "order": 2, "edges": "ising", "edge_scale": "length"},
}


def sample(n_threads=120, n_labels=2, seed=0, pull=1.5):
    """Threads with a leaning of their own: comments of one thread tend to have one label. Weak features."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 8, n_threads)
    thread = np.repeat(np.arange(n_threads), sizes)
    lean = rng.integers(0, n_labels, n_threads)
    own = rng.gumbel(size=(len(thread), n_labels)) + pull * (lean[thread][:, None] == np.arange(n_labels))
    y = own.argmax(axis=1)
    x = rng.normal(size=(len(thread), 3))
    x[:, 0] += 0.8 * y
    return x, np.array(["Bad", "Good", "Other", "P", "Q", "R"], dtype=object)[y], thread


@pytest.fixture(scope="module")
def trained():
    x, y, thread = sample()
    return {name: ThreadClassifier(**settings).fit(x, y, groups=thread) for name, settings in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_beats_the_majority_and_gives_probabilities(trained, name):
    x, y, thread = sample(seed=1)
    model = trained[name]
    p = model.predict_proba(x, groups=thread)
    assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()
    majority = max(np.mean(y == "Good"), np.mean(y == "Bad"))
    assert np.mean(model.predict(x, groups=thread) == y) > majority + 0.05


def test_joint_model_beats_the_local_one_where_threads_lean(trained):
    x, y, thread = sample(n_threads=400, seed=2)
    local, joint = (np.mean(trained[name].predict(x, groups=thread) == y) for name in ("local", "fccrf"))
    assert joint > local + 0.02


@pytest.mark.parametrize("name", ["fccrf", "local+lbp", "chain", "chain 2", "local+cut", "local"])
def test_known_labels_are_kept(trained, name):
    x, y, thread = sample(n_threads=30, seed=3)
    given = np.arange(len(y)) % 3 == 0
    known = np.where(given, y, None)
    assert_array_equal(trained[name].predict(x, groups=thread, known=known)[given], y[given])


@pytest.mark.parametrize("name", ["fccrf", "chain", "chain 2"])
def test_known_labels_pull_the_others(trained, name):
    x = np.zeros((3, 3))
    model = trained[name]
    free = model.predict_proba(x, groups=np.zeros(3))[2, 1]
    good = model.predict_proba(x, groups=np.zeros(3), known=["Good", "Good", None])[2, 1]
    bad = model.predict_proba(x, groups=np.zeros(3), known=["Bad", "Bad", None])[2, 1]
    assert bad < free < good


def test_two_given_labels_help_the_rest_of_the_thread(trained):
    x, y, thread = sample(n_threads=400, seed=4)
    turn = pd.Series(thread).groupby(thread).cumcount().to_numpy()
    known = np.where(turn < 2, y, None)
    rest = turn >= 2
    hits = [np.mean((trained["fccrf"].predict(x, groups=thread, known=k) == y)[rest]) for k in (None, known)]
    assert hits[1] > hits[0] + 0.02


def test_order_of_rows_does_not_matter_between_threads(trained):
    x, _, thread = sample(n_threads=20, seed=5)
    # All first comments, then all second ones, and so on.
    place = pd.Series(thread).groupby(thread).cumcount().to_numpy()
    mixed = np.lexsort((thread, place))
    expected = trained["fccrf"].predict_proba(x, groups=thread)
    assert_allclose(trained["fccrf"].predict_proba(x[mixed], groups=thread[mixed]), expected[mixed], atol=1e-9)


def test_rows_come_back_where_they_were():
    rows = ThreadRows.of(np.array(["b", "a", "b", "c", "a"]), 5)
    assert_array_equal(rows.order, [1, 4, 0, 2, 3])
    assert_array_equal(rows.offsets, [0, 2, 4, 5])
    assert_array_equal(rows.back(np.arange(5)), [2, 0, 3, 4, 1])


def test_three_labels_have_three_probabilities():
    x, y, thread = sample(n_labels=3)
    for settings in ({}, {"model": "local"}, {"edges": "full", "edge_scale": "length"}, {"model": "chain", "order": 2}):
        model = ThreadClassifier(**settings).fit(x, y, groups=thread)
        p = model.predict_proba(x, groups=thread)
        assert p.shape == (len(x), 3)
        assert_allclose(p.sum(axis=1), 1.0)
    assert set(model.explain(x[:4], label="Other")["kind"]) == {"evidence"}


def test_six_labels_are_learned_ranked_and_pulled():
    x, y, thread = sample(n_threads=300, n_labels=6)
    new, truth, where = sample(n_threads=300, n_labels=6, seed=1)
    place = pd.Series(where).groupby(where).cumcount().to_numpy()
    rest, known = place >= 2, np.where(place < 2, truth, None)
    hits = {}
    for name in ("local", "fccrf", "fccrf ising", "fccrf full", "chain", "local+lbp"):
        model = ThreadClassifier(**MODELS[name]).fit(x, y, groups=thread)
        p = model.predict_proba(new, groups=where, known=known)
        assert p.shape == (len(new), 6)
        assert_allclose(p.sum(axis=1), 1.0)
        hits[name] = np.mean((model.classes_[p.argmax(axis=1)] == truth)[rest])
    # Only a model with edges hears of the two labels that are given in each thread; a chain hears of the nearest one.
    assert min(hits["fccrf"], hits["fccrf ising"], hits["fccrf full"]) > hits["local"] + 0.03
    assert min(hits["chain"], hits["local+lbp"]) > hits["local"]
    assert model.rank(new, groups=where, positive="R")["probability"].between(0.0, 1.0).all()


@pytest.mark.parametrize(("n_labels", "n_vectors", "n_similarities"), [(2, 1, 3), (2, 4, 0), (6, 1, 2)])
def test_pair_scores_are_those_of_the_pair_features(n_labels, n_vectors, n_similarities):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9, 4))
    x[:, 1] = 1.0  # never varies, so the scaler drops its difference
    evidence = np.log(rng.dirichlet(np.ones(n_labels), size=9))
    left, right = complete_pairs(np.array([0, 5, 6, 9]))
    similarities = rng.normal(size=(len(left), n_similarities)) if n_similarities else None
    features = pair_features(x, evidence, left, right, similarities)
    scaler = Scaler.of(features[::2])
    weights = rng.normal(size=(n_vectors, len(scaler.keep) + 1))
    found = pair_scores(x, evidence, left, right, similarities, scaler, weights)
    assert_allclose(found, scaler(features) @ weights.T, atol=1e-10)


@pytest.mark.parametrize(("scale", "share"), [("none", 1.0), ("root", 0.5), ("length", 0.25)])
def test_edges_are_divided_by_the_length_of_their_thread(scale, share):
    x, y, thread = sample(n_threads=40)
    model = ThreadClassifier(edge_scale=scale).fit(x, y, groups=thread)
    gains = model._pose(x[:7], [0, 0, 0, 0, 0, 1, 1]).graphs.edge_scores
    pull = model.weights_.edges[0, 0]
    assert_allclose(gains, [pull * share] * 10 + [pull])  # threads of five comments and of two


def test_missing_labels_are_left_out_of_training():
    x, y, thread = sample()
    partly = y.copy()
    partly[::4] = None
    model = ThreadClassifier().fit(x, partly, groups=thread)
    assert_array_equal(model.classes_, ["Bad", "Good"])
    assert np.mean(model.predict(x, groups=thread) == y) > 0.6


def test_one_comment_has_the_probability_of_its_node_scores(trained):
    x = np.array([[1.0, 0.0, 0.0]])
    model = trained["fccrf"]
    margin = (model.scaler_(x) @ model.weights_.nodes.T)[0, 0]
    assert_allclose(model.predict_proba(x)[0, 1], 1 / (1 + np.exp(-margin)), atol=1e-9)


def test_explanation_adds_up_to_the_log_odds(trained):
    x, _, _ = sample(n_threads=5, seed=6)
    x = x[:6]
    for name in ("fccrf", "fccrf ising", "chain"):
        model = trained[name]
        p = model.predict_proba(x, groups=np.zeros(6))
        table = model.explain(x)
        sums = table.groupby("item_id")["effect"].sum().loc[[str(k) for k in range(6)]]
        assert_allclose(sums, np.log(p[:, 1] / p[:, 0]), atol=1e-3)
        assert {"evidence", "pull"} <= set(table["kind"])
        if name == "chain":
            assert "rest" not in set(table["kind"])
    one = trained["fccrf"].explain(x, target=2)
    assert set(one["item_id"]) == {"2"}
    with pytest.raises(InputError, match="no 'x'"):
        trained["fccrf"].explain(x, target="x")


def test_ranking_puts_the_most_probable_first(trained):
    x, _, thread = sample(n_threads=6, seed=7)
    table = trained["fccrf"].rank(x, groups=thread)
    assert len(table) == len(x)
    for _, part in table.groupby("thread"):
        assert_array_equal(part["rank"], np.arange(1, len(part) + 1))
        assert (np.diff(part["probability"]) <= 0).all()


@pytest.mark.parametrize("n_labels", [2, 3])
def test_calibration_makes_probabilities_of_separate_parts_true(n_labels):
    x, y, thread = sample(n_threads=300, n_labels=n_labels)
    new, truth, where = sample(n_threads=500, n_labels=n_labels, seed=1)
    settings = {"model": "local+lbp", "edges": "ising", "edge_scale": "none", "edge_penalty": 10.0}
    losses = {}
    for calibrate in (False, True):
        model = ThreadClassifier(**settings, calibrate=calibrate).fit(x, y, groups=thread)
        p = model.predict_proba(new, groups=where)
        assert_allclose(p.sum(axis=1), 1.0)
        losses[calibrate] = -np.log(p[np.arange(len(p)), np.searchsorted(model.classes_, truth)]).mean()
    assert losses[True] < losses[False] - 0.01
    known = np.where(np.arange(len(truth)) % 3 == 0, truth, None)
    p = model.predict_proba(new, groups=where, known=known)
    assert_array_equal(model.classes_[p.argmax(axis=1)][::3], truth[::3])
    assert_allclose(p[::3].max(axis=1), 1.0)


def test_edge_features_follow_a_table_through_a_split():
    x, y, thread = sample()
    ids = np.array([f"c{k}" for k in range(len(x))], dtype=object)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(thread))])
    left, right = complete_pairs(offsets)
    told = (y[left] == y[right]) ^ (np.random.default_rng(0).random(len(left)) < 0.2)
    edges = ThreadEdges(ids, offsets, told.astype(float)[:, None], ("told",))
    table = pd.DataFrame(x, index=ids, columns=["a/1", "a/2", "b/1"])
    half = thread < 60
    model = ThreadClassifier(edges="ising", edge_scale="length", edge_penalty=1.0)
    model.fit(table[half], y[half], groups=thread[half], edges=edges)
    plain = ThreadClassifier(edges="ising", edge_scale="length").fit(table[half], y[half], groups=thread[half])
    informed = np.mean(model.predict(table[~half], groups=thread[~half], edges=edges) == y[~half])
    assert informed > np.mean(plain.predict(table[~half], groups=thread[~half]) == y[~half]) + 0.03
    with pytest.raises(InputError, match="Give edges="):
        model.predict(table[~half], groups=thread[~half])
    assert {"a", "b", "bias"} <= set(plain.explain(table[:3])["reason"])


def test_rows_without_ids_meet_the_edge_record_by_their_place():
    rng = np.random.default_rng(5)
    thread = np.repeat(np.arange(60), rng.integers(2, 7, 60))  # threads of different lengths
    y = rng.integers(0, 2, len(thread))
    x = y[:, None] + rng.normal(0, 1.5, (len(y), 2))
    ids = np.array([f"c{k}" for k in range(len(x))], dtype=object)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(thread))])
    left, right = complete_pairs(offsets)
    edges = ThreadEdges(ids, offsets, (y[left] == y[right]).astype(float)[:, None], ("told",))
    model = ThreadClassifier(edges="ising", edge_scale="length", edge_penalty=1.0)
    named = model.fit(pd.DataFrame(x, index=ids), y, groups=thread, edges=edges)
    told = named.predict_proba(pd.DataFrame(x, index=ids), groups=thread, edges=edges)
    placed = model.fit(x, y, groups=thread, edges=edges).predict_proba(x, groups=thread, edges=edges)
    assert_allclose(placed, told, atol=1e-9)
    with pytest.raises(InputError, match="exactly the comments of the edge record"):
        model.predict_proba(x[:-1], groups=thread[:-1], edges=edges)


def test_conventions_of_scikit_learn():
    x, y, thread = sample(n_threads=30)
    model = ThreadClassifier(edges="ising", edge_scale="length", random_state=3)
    before = model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(x)
    assert model.fit(x, y, groups=thread) is model
    assert model.get_params() == before
    again = clone(model).fit(x, y, groups=thread)
    assert_allclose(again.predict_proba(x, groups=thread), model.predict_proba(x, groups=thread), rtol=0)
    restored = pickle.loads(pickle.dumps(model))
    assert_allclose(restored.predict_proba(x, groups=thread), model.predict_proba(x, groups=thread), rtol=0)
    assert accord.ThreadClassifier is ThreadClassifier


def test_bad_input_is_refused_in_one_sentence(trained):
    x, y, thread = sample(n_threads=5)
    with pytest.raises(InputError, match="two labels or more"):
        ThreadClassifier().fit(x, np.full(len(x), "Good"), groups=thread)
    with pytest.raises(InputError, match="one label a row"):
        ThreadClassifier().fit(x, y[:-1], groups=thread)
    with pytest.raises(InputError, match="groups must name the thread"):
        ThreadClassifier().fit(x, y, groups=thread[:-1])
    with pytest.raises(InputError, match="must be finite; row 1 has nan in column 2"):
        ThreadClassifier().fit(np.where(np.arange(3) == 1, np.nan, x), y, groups=thread)
    named = pd.DataFrame(x, columns=["a", "b", "c"], index=[f"c{row}" for row in range(len(x))])
    named.loc["c4", "b"] = np.inf
    with pytest.raises(InputError, match="must be finite; 'c4' has inf in 'b'"):
        ThreadClassifier().fit(named, y, groups=thread)
    with pytest.raises(InputError, match="3 features of training"):
        trained["fccrf"].predict(x[:, :2], groups=thread)
    with pytest.raises(InputError, match="known label must be one that was trained, Bad, Good; row 1 has 'Never'"):
        trained["fccrf"].predict(x[:1], groups=thread[:1], known=["Never"])


def test_threads_record_goes_in_whole():
    words = {"Good": "try the oil shop in doha", "Bad": "hello my friend how are you"}
    rng = np.random.default_rng(0)
    labels = np.array([("Good", "Bad")[k] for k in rng.integers(0, 2, 60)], dtype=object)
    threads = Threads(
        thread_ids=[f"t{k}" for k in range(20)],
        offsets=np.arange(21) * 3,
        comment_ids=[f"c{k}" for k in range(60)],
        texts=[words[label] for label in labels],
        questions=["where is good oil in doha"] * 20,
        labels=labels,
    )
    model = ThreadClassifier(features="text", edges="ising", edge_scale="length").fit(threads)
    assert np.mean(model.predict(threads) == labels) > 0.95
    assert model.rank(threads).iloc[0]["thread"] == "t0"
    reasons = model.explain(threads.subset([0]), target="c1")
    assert set(reasons["item_id"]) == {"c1"}
    assert {"c0", "c2", "similarity"} <= set(reasons["reason"])
    unlabelled = Threads(threads.thread_ids, threads.offsets, threads.comment_ids, threads.texts)
    with pytest.raises(InputError, match="no comment of these threads has a label"):
        ThreadClassifier().fit(unlabelled)
    with pytest.raises(InputError, match="one thread"):
        model.explain(threads)


def test_a_thread_of_two_thousand_comments_is_labelled():
    x, y, thread = sample()
    model = ThreadClassifier(edge_scale="length").fit(x, y, groups=thread)
    long = np.random.default_rng(0).normal(size=(2000, 3))
    assert len(model.predict(long, groups=np.zeros(2000))) == 2000
