"""The two classifiers of linked texts, on debates whose sides are known."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import accord
from accord.data.links import Links
from accord.errors import ConvergenceWarning, InputError
from accord.links import CollectiveClassifier, IterativeClassifier

NONE = Links([], [])
WORDS = {"yes": ["support", "good", "agree"], "no": ["oppose", "bad", "refuse"], "maybe": ["wait", "study", "unsure"]}


def debates(n_debates=12, size=8, seed=0, sides=("yes", "no")):
    """Texts of a few words, one in five from the other side, and citations that say who agrees with whom."""
    rng = np.random.default_rng(seed)
    rows, src, dst, contexts = [], [], [], []
    for debate in range(n_debates):
        label = rng.choice(list(sides), size)
        for i in range(size):
            side = label[i] if rng.random() < 0.75 else rng.choice(list(sides))
            words = [*rng.choice(WORDS[side], 3), *rng.choice(["the", "bill", "house", "time"], 6)]
            rows.append((f"{debate}-{i}", " ".join(words), f"d{debate}", label[i]))
        for _ in range(2 * size):
            i, j = rng.choice(size - 1, 2, replace=False)  # the last text of each debate has no link
            src.append(f"{debate}-{i}")
            dst.append(f"{debate}-{j}")
            contexts.append("i thank my friend" if label[i] == label[j] else "i reject what he said")
    frame = pd.DataFrame(rows, columns=["item_id", "text", "group_id", "label"])
    return frame.drop(columns="label"), frame["label"].to_numpy(object), Links(src, dst, contexts=contexts)


@pytest.mark.parametrize("inference", ["mean_field", "lbp", "exact", "min_cut", "set_to", "inc_by"])
def test_every_inference_beats_content_alone(inference):
    X, y, links = debates()
    new, truth, new_links = debates(seed=1)
    model = CollectiveClassifier(inference=inference).fit(X, y, links=links)
    alone = model.predict(new, links=NONE)
    together = model.predict(new, links=new_links)
    assert np.mean(together == truth) > np.mean(alone == truth)
    assert np.mean(together == truth) > 0.85


@pytest.mark.parametrize(
    "settings",
    [
        {"meta": True},
        {"training": "joint"},
        {"neighbour_words": "both"},
        {"coupling": 1.0},
        {"implicit": 0},
        {"recalibrate": False},
    ],
)
def test_every_way_to_train_gives_probabilities(settings):
    X, y, links = debates()
    new, truth, new_links = debates(seed=1)
    model = CollectiveClassifier(**settings).fit(X, y, links=links)
    p = model.predict_proba(new, links=new_links)
    assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(model.classes_[p.argmax(axis=1)] == truth) > 0.85


@pytest.mark.parametrize(
    "model",
    [
        CollectiveClassifier(inference="lbp"),
        CollectiveClassifier(),
        CollectiveClassifier(training="joint", objective="likelihood"),
        IterativeClassifier(features="count"),
    ],
)
def test_three_labels(model):
    X, y, links = debates(n_debates=30, sides=("yes", "no", "maybe"))
    new, truth, new_links = debates(seed=1, sides=("yes", "no", "maybe"))
    model.fit(X, y, links=links)
    assert np.mean(model.predict(new, links=new_links) == truth) > 0.75


@pytest.mark.parametrize("features", ["presence", "count", "window"])
def test_iterative_classifier_uses_neighbours(features):
    X, y, links = debates()
    new, truth, new_links = debates(seed=1)
    model = IterativeClassifier(features=features).fit(X, y, links=links)
    assert np.mean(model.predict(new, links=new_links) == truth) >= np.mean(model.predict(new, links=NONE) == truth)


@pytest.mark.parametrize("settings", [{"training": "true"}, {"scale": 3.0}, {"training": "true", "scale": 1.0}])
def test_every_way_to_train_the_iterative_classifier_beats_its_first_labels(settings):
    X, y, links = debates()
    new, truth, new_links = debates(seed=1)
    model = IterativeClassifier(**settings).fit(X, y, links=links)
    assert model.scale_ == settings.get("scale", model.scale_)
    assert np.mean(model.predict(new, links=new_links) == truth) > np.mean(model.predict(new, links=NONE) == truth)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"training": "joint"}, "'training' of IterativeClassifier must be"),
        ({"features": ["count"]}, "'features' of IterativeClassifier must be"),
        ({"scale": 0.0}, "'scale' of IterativeClassifier must be"),
        ({"scale": "x"}, "'scale' of IterativeClassifier must be"),
        ({"scale": np.inf}, "'scale' of IterativeClassifier must be"),
        ({"max_iter": None}, "'max_iter' of IterativeClassifier must be a whole number"),
        ({"max_iter": 1.5}, "'max_iter' of IterativeClassifier must be a whole number"),
        ({"content": LogisticRegression}, "'content' of IterativeClassifier must be a scikit-learn classifier"),
        ({"local": "svm"}, "'local' of IterativeClassifier must be a scikit-learn classifier"),
    ],
)
def test_settings_of_the_iterative_classifier_that_mean_nothing_are_refused(settings, sentence):
    X, y, links = debates(n_debates=2)
    with pytest.raises(InputError, match=sentence):
        IterativeClassifier(**settings).fit(X, y, links=links)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_iterative_classifier_takes_any_classifier(scale):
    X, y, links = debates()
    linear = IterativeClassifier(features="count", local=LogisticRegression(), scale=scale).fit(X, y, links=links)
    fast = linear.predict(X, links=links)
    hidden = linear.local_
    linear.local_ = type("Opaque", (), {"predict_proba": staticmethod(hidden.predict_proba)})()
    assert_array_equal(linear.predict(X, links=links), fast)


@pytest.mark.parametrize("kind", [CollectiveClassifier, IterativeClassifier])
def test_known_labels_hold_and_reach_their_neighbours(kind):
    X, y, links = debates()
    model = kind().fit(X, y, links=links)
    new, truth, new_links = debates(seed=1)
    known = np.full(len(truth), None, dtype=object)
    known[::2] = truth[::2]
    found = model.predict(new, links=new_links, known=known)
    assert_array_equal(found[::2], truth[::2])
    free = model.predict(new, links=new_links)
    assert np.mean(found[1::2] == truth[1::2]) >= np.mean(free[1::2] == truth[1::2])


def test_explanations_name_the_links_and_words_that_did_it():
    X, y, links = debates()
    model = CollectiveClassifier().fit(X, y, links=links)
    told = model.explain("0-0", X, links=links)
    assert set(told["kind"]) >= {"content", "word", "link"}
    assert told["effect"].abs().is_monotonic_decreasing
    ends = {t for s, t in zip(links.source, links.target, strict=True) if s == "0-0"}
    ends |= {s for s, t in zip(links.source, links.target, strict=True) if t == "0-0"}
    assert sum(told["kind"] == "link") == len(ends)
    # The last text of a debate has no link: it is tied to similar texts.
    assert "similar" in set(model.explain("0-7", X, links=links)["kind"])


@pytest.mark.parametrize("n_sides", [2, 3])
def test_an_explanation_adds_up_to_the_log_odds_of_the_label(n_sides):
    X, y, links = debates(sides=("yes", "no", "maybe")[:n_sides])
    model = CollectiveClassifier(neighbour_words="both").fit(X, y, links=links)
    told = model.explain("0-0", X, links=links, n_words=1000)
    log_p = np.log(model.predict_proba(X, links=links)[0])
    label = list(model.classes_).index(told.attrs["label"])
    assert label == log_p.argmax()
    effect = told.groupby("kind")["effect"].sum()
    whole = log_p[label] - np.delete(log_p, label).mean()
    assert_allclose(
        effect["content"] + effect.get("link", 0.0) + effect.get("similar", 0.0), whole, rtol=0.02
    )  # beliefs beyond 1 − 1e-9 are cut off
    # What is left is what the frequencies of the labels say, less what the words of the mean text do, and the shares of
    # the labels that the result is drawn to.
    middle = model.content_.middle
    middle = np.array([0.0, middle[0]]) if len(middle) == 1 else middle
    offsets = model.calibration_.offsets - model.calibration_.slopes * middle
    free = model.model_.free
    bias = free.trust * free.fusion[0] * (offsets[label] - np.delete(offsets, label).mean())
    bias += (1.0 - free.trust) * (free.shares[label] - np.delete(free.shares, label).mean())
    assert_allclose(effect["word"] + effect["neighbour_word"] + bias, effect["content"], atol=1e-9)


def test_an_explanation_among_few_known_labels_adds_up():
    X, y, links = debates()
    known = np.full(len(y), None, dtype=object)
    known[::9] = y[::9]
    model = CollectiveClassifier(coupling=1.0, implicit=0).fit(X, known, links=links)
    assert 0.0 < model.model_.among_known.trust < 1.0
    row = 1
    told = model.explain(X["item_id"][row], X, links=links, known=known)
    log_p = np.log(model.predict_proba(X, links=links, known=known)[row])
    label = list(model.classes_).index(told.attrs["label"])
    effect = told.groupby("kind")["effect"].sum()
    whole = log_p[label] - np.delete(log_p, label).mean()
    assert_allclose(effect["content"] + effect.get("link", 0.0), whole, rtol=0.02)


@pytest.mark.parametrize("make", [CollectiveClassifier, IterativeClassifier])
def test_the_promises_of_an_estimator(make):
    X, y, links = debates(n_debates=6)
    model = make()
    params = model.get_params()
    assert model.fit(X, y, links=links) is model
    assert model.get_params() == params
    first = model.predict(X, links=links)
    assert_array_equal(clone(model).fit(X, y, links=links).predict(X, links=links), first)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X, links=links), first)
    with pytest.raises(NotFittedError):
        make().predict(X, links=links)


@pytest.mark.parametrize("make", [CollectiveClassifier, IterativeClassifier])
def test_the_order_of_texts_and_links_and_the_names_of_labels_do_not_matter(make):
    X, y, links = debates(n_debates=6)
    rng = np.random.default_rng(0)
    order, other = rng.permutation(len(y)), links.subset(rng.permutation(links.n_links))
    ask = "predict_proba" if make is CollectiveClassifier else "predict"
    a = getattr(make().fit(X, y, links=links), ask)(X, links=links)
    b = getattr(make().fit(X.iloc[order], y[order], links=other), ask)(X.iloc[order], links=other)
    renamed = np.where(y == "yes", "a", "b").astype(object)
    c = getattr(make().fit(X, renamed, links=links), ask)(X, links=links)
    if ask == "predict":
        assert_array_equal(b, a[order])
        assert_array_equal(c == "a", a == "yes")
    else:
        assert_allclose(b, a[order], atol=1e-6)
        assert_allclose(c[:, 0], a[:, 1], atol=1e-6)


def test_sparse_features_equal_dense_ones():
    X, y, links = debates(n_debates=6)
    features = np.column_stack([X["text"].str.count(word) for words in WORDS.values() for word in words]).astype(float)
    p = [
        CollectiveClassifier()
        .fit(made, y, links=links, ids=X["item_id"], groups=X["group_id"])
        .predict_proba(made, links=links, ids=X["item_id"], groups=X["group_id"])
        for made in (features, sp.csr_matrix(features))
    ]
    assert_allclose(p[0], p[1])


@pytest.mark.parametrize("make", [CollectiveClassifier, IterativeClassifier])
def test_one_label_is_refused(make):
    X, y, links = debates(n_debates=2)
    with pytest.raises(InputError, match="two labels or more; all 16 texts are 'yes'"):
        make().fit(X, np.full(len(y), "yes"), links=links)


def test_no_links_no_groups_and_one_text_are_ordinary():
    X, y, _ = debates(n_debates=4)
    model = CollectiveClassifier().fit(X[["item_id", "text"]], y)
    assert model.predict(X.iloc[[0]]).shape == (1,)
    strange = Links(["0-0", "elsewhere"], ["nowhere", "0-0"], contexts=["a", "b"])
    assert model.predict(X.iloc[[0]], links=strange).shape == (1,)


def test_a_model_of_links_that_is_given_none_warns():
    X, y, links = debates(n_debates=4)
    model = CollectiveClassifier().fit(X, y, links=links)
    with pytest.warns(UserWarning, match="is given none now"):
        alone = model.predict_proba(X)
    assert_allclose(alone, model.predict_proba(X, links=NONE))


def test_links_without_words_still_count():
    X, y, links = debates()
    bare = Links(links.source, links.target)
    agree = [i for i, c in enumerate(links.contexts) if "friend" in c]
    model = CollectiveClassifier().fit(X, y, links=bare.subset(agree))
    p = model.predict_proba(X, links=bare.subset(agree))
    assert np.mean(model.classes_[p.argmax(axis=1)] == y) > 0.9


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"inference": "guess"}, "'inference' of CollectiveClassifier must be"),
        ({"training": "alone"}, "'training' of CollectiveClassifier must be"),
        ({"training": "joint", "inference": "min_cut"}, "graded beliefs"),
        ({"objective": "luck"}, "'objective' of CollectiveClassifier must be"),
        ({"alpha": "much"}, "'alpha' of CollectiveClassifier must be"),
        ({"theta": -1.0}, "'theta' of CollectiveClassifier must be"),
        ({"beta": 2.0}, "'beta' of CollectiveClassifier must be"),
        ({"implicit": -1}, "must be a whole number of at least 0"),
        ({"n_folds": 1}, "must be a whole number of at least 2"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, sentence):
    X, y, links = debates(n_debates=2)
    with pytest.raises(InputError, match=sentence):
        CollectiveClassifier(**settings).fit(X, y, links=links)


def test_cuts_of_three_labels_and_unknown_texts_are_refused():
    X, y, links = debates(n_debates=2)
    three = np.where(np.arange(len(y)) == 2, "maybe", y)
    with pytest.raises(InputError, match="a cut holds two"):
        CollectiveClassifier(inference="min_cut").fit(X, three, links=links)
    model = CollectiveClassifier().fit(X, y, links=links)
    with pytest.raises(InputError, match="not among"):
        model.explain("nobody", X, links=links)


@pytest.mark.parametrize("make", [CollectiveClassifier, IterativeClassifier])
def test_both_refuse_the_same_things(make):
    X, y, links = debates(n_debates=2)
    model = make().fit(X, y, links=links)
    known = np.full(len(y), None, dtype=object)
    known[1] = "perhaps"
    with pytest.raises(InputError, match=r"row 2 has 'perhaps'"):
        model.predict(X, links=links, known=known)
    with pytest.raises(InputError, match="one entry a text"):
        model.predict(X, links=links, known=known[:3])
    with pytest.raises(InputError, match="one label a text"):
        make().fit(X, y[:3], links=links)
    if make is IterativeClassifier:
        with pytest.raises(InputError, match="row 3 has none"):
            make().fit(X, np.where(np.arange(len(y)) == 2, None, y), links=links)
    with pytest.raises(InputError, match="fitted on texts"):
        model.predict(np.ones((2, 3)), ids=["a", "b"])


@pytest.mark.parametrize("make", [CollectiveClassifier, IterativeClassifier])
def test_texts_and_links_that_cannot_be_read_are_refused(make):
    X, y, links = debates(n_debates=2)
    with pytest.raises(InputError, match="texts must have words to learn from"):
        make().fit(X.assign(text=""), y, links=links if make is IterativeClassifier else None)
    with pytest.raises(InputError, match="every text must be a string; row 2 is int 3"):
        make().fit(X.assign(text=["a", 3, *X["text"][2:]]), y, links=links)
    with pytest.raises(InputError, match="every context must be a string; row 1 is NoneType"):
        Links(links.source, links.target, contexts=[None] * links.n_links)
    with pytest.raises(InputError, match=r"links must be a Links record or a table .* got list"):
        make().fit(X, y, links=[("a", "b")])
    model = make().fit(X, y, links=links)
    with pytest.raises(InputError, match=r"links must be a Links record or a table .* got list"):
        model.predict(X, links=[("a", "b")])
    assert_array_equal(model.predict(X, links=links.to_table()), model.predict(X, links=links))


def test_links_with_blank_contexts_are_links_without_words():
    X, y, links = debates(n_debates=4)
    blank, bare = Links(links.source, links.target, contexts=[" "] * links.n_links), Links(links.source, links.target)
    p = [CollectiveClassifier().fit(X, y, links=each).predict_proba(X, links=each) for each in (blank, bare)]
    assert_allclose(p[0], p[1])
    with pytest.raises(InputError, match="window features need words around the links"):
        IterativeClassifier().fit(X, y, links=blank)


def test_contexts_without_a_word_for_the_vectoriser_are_refused():
    X, y, links = debates(n_debates=4)
    signs = Links(links.source, links.target, contexts=["…"] * links.n_links)
    with pytest.raises(InputError, match="contexts of links must have words to learn from"):
        CollectiveClassifier(link_vectoriser=CountVectorizer()).fit(X, y, links=signs)


def feature_table(X):
    counts = {f"n_{word}": X["text"].str.count(word) for words in WORDS.values() for word in words}
    return pd.DataFrame({"item_id": X["item_id"], "group_id": X["group_id"], **counts})


MAKE_FOR_FEATURES = [CollectiveClassifier, lambda: IterativeClassifier(features="count")]


@pytest.mark.parametrize("make", MAKE_FOR_FEATURES)
def test_features_of_a_table_are_read_by_name(make):
    X, y, links = debates(n_debates=6)
    table = feature_table(X)
    model = make().fit(table, y, links=links)
    told = model.predict(table, links=links)
    assert_array_equal(model.predict(table[table.columns[::-1]], links=links), told)
    values = table.drop(columns=["item_id", "group_id"]).to_numpy(float)
    plain = model.predict(values, links=links, ids=table["item_id"], groups=table["group_id"])
    assert_array_equal(plain, told)
    with pytest.raises(InputError, match=r"missing: n_good; not of training: n_fine"):
        model.predict(table.rename(columns={"n_good": "n_fine"}), links=links)
    with pytest.raises(InputError, match=r"missing: none; not of training: n_fine"):
        model.predict(table.assign(n_fine=1.0), links=links)
    with pytest.raises(InputError, match=r"must be the 9 of training; there are 8 columns"):
        model.predict(values[:, 1:], links=links, ids=table["item_id"])


@pytest.mark.parametrize("make", MAKE_FOR_FEATURES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(make, bad):
    X, y, links = debates(n_debates=4)
    table = feature_table(X).astype({"n_good": float})
    model = make().fit(table, y, links=links)
    table.loc[1, "n_good"] = bad
    values = table.drop(columns=["item_id", "group_id"]).to_numpy(float)
    for given in (table, values, sp.csr_matrix(values)):
        ids = None if given is table else table["item_id"]
        with pytest.raises(
            InputError, match=rf"must be finite; '{table['item_id'][1]}' has {bad} in ('n_good'|column 2)"
        ):
            model.predict(given, links=links, ids=ids)
        with pytest.raises(InputError, match="must be finite"):
            make().fit(given, y, links=links, ids=ids)


def test_authors_and_labels_in_a_table_are_no_features():
    X, y, links = debates(n_debates=4)
    table = feature_table(X)
    model = CollectiveClassifier().fit(table, y, links=links)
    more = table.assign(author_id=np.arange(len(y)), timestamp=1.0, reply_to="a", label=y, asker_id=7)
    assert_allclose(model.predict_proba(more, links=links), model.predict_proba(table, links=links))
    same = CollectiveClassifier().fit(more, y, links=links)
    assert_array_equal(same.feature_names_, model.feature_names_)


def test_rounds_that_do_not_settle_are_warned_of():
    X, y, links = debates()
    model = IterativeClassifier().fit(X, y, links=links)
    new, _, new_links = debates(seed=1)
    model.max_iter = 1
    with pytest.warns(ConvergenceWarning, match=r"IterativeClassifier stopped after 1 steps .* Raise max_iter") as told:
        model.predict(new, links=new_links)
    assert told[0].filename == __file__


def test_both_stand_in_the_public_surface():
    assert accord.CollectiveClassifier is CollectiveClassifier
    assert accord.IterativeClassifier is IterativeClassifier


@pytest.mark.filterwarnings("ignore::accord.errors.ConvergenceWarning")  # what is far must travel far
def test_a_graph_in_one_piece_of_many_texts():
    rng = np.random.default_rng(0)
    n = 20_000
    y = np.where(rng.random(n) < 0.5, "a", "b")
    X = sp.csr_matrix(np.column_stack([(y == "a") + rng.normal(size=n), rng.normal(size=n)]))
    order = np.argsort(y, kind="stable")
    ids = np.arange(n).astype(str).astype(object)
    links = Links(ids[order[:-1]], ids[order[1:]])  # one chain through all texts
    model = CollectiveClassifier(implicit=0).fit(X, y, links=links, ids=ids)
    assert np.mean(model.predict(X, links=links, ids=ids) == y) > 0.85


def test_a_label_missing_from_a_list_is_no_label():
    texts = pd.DataFrame({"item_id": list("abcdef"), "text": ["yes", "yes good", "no", "no bad", "well", "hm"]})
    links = Links(["a", "b", "c", "e", "f"], ["b", "e", "d", "a", "c"])
    labels = ["for", "for", "against", "against", float("nan"), float("nan")]
    assert CollectiveClassifier().fit(texts, labels, links=links).classes_.tolist() == ["against", "for"]
    with pytest.raises(InputError, match="labels must be of one kind; they are of int, str"):
        CollectiveClassifier().fit(texts, ["for", 1, "for", 1, "for", 1], links=links)


def test_texts_without_a_group_are_groups_of_their_own():
    X, y, links = debates(n_debates=4)
    named = np.array([None if k % 3 == 0 else name for k, name in enumerate(X["group_id"])], dtype=object)
    own = np.array([f"own {k}" if name is None else name for k, name in enumerate(named)])
    p = CollectiveClassifier().fit(X, y, links=links, groups=own).predict_proba(X, links=links, groups=own)
    for given in (named, [float("nan") if name is None else name for name in named]):
        model = CollectiveClassifier().fit(X, y, links=links, groups=given)
        assert_allclose(model.predict_proba(X, links=links, groups=given), p, atol=1e-6)
