"""What the default thread classifier promises on other people's data: any order, any language, few and long threads."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accord.data.corpora import cqa
from accord.data.threads import Threads
from accord.threads import ThreadClassifier
from accord.threads.paper.tables import Features, binary, fitted, outcome

# Helpful answers and chatter about where to buy bread, in five languages and in emoji.
TALK = {
    "zh": (
        ["市中心的面包店很好吃", "去老城区那家面包店买", "地铁站旁边有新鲜面包"],
        ["哈哈你好朋友", "我也不知道啊", "今天天气真好"],
    ),
    "ja": (
        ["駅前のパン屋がおすすめです", "市場のパンは新鮮です", "旧市街のパン屋に行ってください"],
        ["こんにちは友達", "全然わかりません", "今日は暑いですね"],
    ),
    "de": (
        [
            "Der Bäcker am Markt hat Brot",
            "Frisches Brot gibt es beim Bäcker",
            "Geh zum Bäcker in der Altstadt",
        ],
        ["Hallo mein Freund", "Keine Ahnung, ehrlich", "Schönes Wetter heute"],
    ),
    "hi": (
        ["बाज़ार की दुकान में ताज़ी रोटी मिलती है", "पुराने शहर की दुकान अच्छी है", "दुकान से ताज़ी रोटी लो"],
        ["नमस्ते मेरे दोस्त", "मुझे नहीं पता भाई", "आज मौसम अच्छा है"],
    ),
    "emoji": (["👍🥖 🏪", "🥖🥖 👍", "🏪 ➡️ 🥖"], ["😂😂", "🤷 😅", "😂 🌞"]),
}


def talk(language, n_threads=24, seed=0):
    rng = np.random.default_rng(seed)
    good, bad = TALK[language]
    label = rng.random(3 * n_threads) < 0.5
    return pd.DataFrame(
        {
            "item_id": [f"c{k:03d}" for k in range(len(label))],
            "group_id": [f"t{k // 3:03d}" for k in range(len(label))],
            "text": [(good if one else bad)[rng.integers(3)] for one in label],
            "question": "🥖?",
            "label": np.where(label, "Good", "Bad"),
        }
    )


def leaning(n_threads=150, seed=0, size=6):
    """Threads that lean to one label, with weak features: what only a joint model can use."""
    rng = np.random.default_rng(seed)
    thread = np.repeat(np.arange(n_threads), size)
    truth = (rng.random(len(thread)) < np.where(rng.random(n_threads) < 0.5, 0.9, 0.1)[thread]).astype(int)
    return rng.normal(size=(len(thread), 2)) + 0.9 * truth[:, None], np.array(["no", "yes"])[truth], thread


@pytest.mark.parametrize("language", TALK)
def test_every_script_is_learnt_and_explained_by_its_own_words(language):
    train, new = talk(language), talk(language, n_threads=8, seed=1)
    model = ThreadClassifier().fit(train)
    assert model.score(new.drop(columns="label"), new["label"]) > 0.9
    one = new[new["group_id"] == "t000"]
    reasons = model.explain(one.drop(columns="label"), target="c000")
    text = one["text"].iloc[0].lower()
    words = reasons.loc[reasons["kind"] == "word", "reason"]
    assert len(words)
    assert all(part in text for word in words for part in word.split())


def test_rows_in_any_order_and_threads_and_labels_of_any_name_give_the_same_probabilities():
    train, new = talk("de"), talk("de", n_threads=8, seed=1)
    for table in (train, new):
        table["timestamp"] = [f"2024-01-01T00:00:{k % 60:02d}" for k in range(len(table))]
    expected = ThreadClassifier().fit(train).predict_proba(new)
    order = np.random.default_rng(5).permutation(len(train))
    shuffled = ThreadClassifier().fit(train.iloc[order])
    mixed = np.random.default_rng(6).permutation(len(new))
    assert_allclose(shuffled.predict_proba(new.iloc[mixed]), expected[mixed], atol=1e-6)
    renamed = ThreadClassifier().fit(renamed_threads(train.iloc[order]))
    assert_allclose(renamed.predict_proba(new)[:, ::-1], expected, atol=1e-6)


def renamed_threads(table):
    """Other names of threads, comments and labels, in another order of the alphabet."""
    rng = np.random.default_rng(7)
    groups = pd.unique(table["group_id"])
    called = dict(zip(groups, [f"q{k}" for k in rng.permutation(len(groups))], strict=True))
    return table.assign(
        group_id=table["group_id"].map(called),
        item_id=[f"c{k}" for k in rng.permutation(len(table))],
        label=table["label"].map({"Good": "a", "Bad": "z"}),
    )


@pytest.mark.parametrize("calibrate", [False, True])
def test_features_in_any_order_of_threads_of_any_name_give_the_same_probabilities(calibrate):
    x, y, thread = leaning()
    known = np.where(np.arange(len(y)) % 3 == 0, y, None)
    expected = (
        ThreadClassifier(calibrate=calibrate).fit(x, y, groups=thread).predict_proba(x, groups=thread, known=known)
    )
    rng = np.random.default_rng(3)
    order, names = rng.permutation(len(y)), rng.permutation(thread.max() + 1)
    other = ThreadClassifier(calibrate=calibrate).fit(x[order], y[order], groups=names[thread[order]])
    assert_allclose(other.predict_proba(x, groups=thread, known=known), expected, atol=1e-6)


@pytest.mark.corpora
def test_real_threads_in_any_order_and_of_any_name_give_the_same_probabilities(accord_data):
    train = binary(cqa.load("2015/train", accord_data)).subset(np.arange(80))
    test = binary(cqa.load("2015/dev", accord_data)).subset(np.arange(40))
    expected = ThreadClassifier().fit(train).predict_proba(test)
    order = np.random.default_rng(0).permutation(train.n_threads)
    assert_allclose(ThreadClassifier().fit(train.subset(order)).predict_proba(test), expected, atol=1e-6)
    other = Threads.from_table(renamed_threads(train.subset(order).to_table()))
    assert_allclose(ThreadClassifier().fit(other).predict_proba(test)[:, ::-1], expected, atol=1e-6)


def test_comments_stand_in_order_of_time():
    table = pd.DataFrame({"item_id": list("abcd"), "text": list("abcd"), "group_id": ["x", "x", "y", "y"]})
    table["timestamp"] = ["2024-03-01", "2024-02-01", "9", "10"]
    assert list(Threads.from_table(table).comment_ids) == ["b", "a", "c", "d"]
    table["timestamp"] = ["2024-03-01", None, 10, 9]
    assert list(Threads.from_table(table).comment_ids) == ["a", "b", "d", "c"]


def test_partly_labelled_threads_are_learnt_from():
    train, new = talk("de", n_threads=40), talk("de", n_threads=8, seed=1)
    some = train["label"].where(np.arange(len(train)) % 2 == 0, None)
    for features in ("words", "full"):
        model = ThreadClassifier(features=features, n_folds=3).fit(train.drop(columns="label"), some)
        assert model.score(new.drop(columns="label"), new["label"]) > 0.9


@pytest.mark.parametrize("n_labels", [2, 4])
def test_a_pull_that_helps_is_used_and_one_that_does_not_is_nothing(n_labels):
    x, y, thread = leaning()
    if n_labels == 4:
        x = np.column_stack([x, np.random.default_rng(1).normal(size=len(x))])
        y = np.char.add(y.astype(str), np.where(x[:, 2] > 0, "+", "-"))
    joint = ThreadClassifier().fit(x, y, groups=thread)
    assert joint.coupling_.pull > 0.5
    assert joint.coupling_.log_loss_coupled < joint.coupling_.log_loss_alone
    assert joint.coupling_.given_loss_coupled < joint.coupling_.given_loss_alone
    broken = np.random.default_rng(2).permutation(thread)
    alone = ThreadClassifier().fit(x, y, groups=broken)
    local = ThreadClassifier(model="local").fit(x, y, groups=broken)
    gap = np.abs(alone.predict_proba(x, groups=broken) - local.predict_proba(x, groups=broken))
    assert abs(alone.coupling_.pull) < 0.3
    assert gap.max() < 0.06


def faint(n_threads, seed, words_of=None, words=150, kinds=6):
    """Threads that lean a little to one of six labels, and words of which some are more frequent under one label."""
    rng = np.random.default_rng(seed)
    often = np.arange(1, kinds + 1) ** -0.5
    share = np.arange(1, words + 1) ** -0.7 * np.exp(
        np.random.default_rng(seed if words_of is None else words_of).normal(scale=0.6, size=(kinds, words))
    )
    thread = np.repeat(np.arange(n_threads), rng.integers(1, 9, n_threads))
    lean = rng.choice(kinds, n_threads, p=often / often.sum())[thread]
    truth = np.where(rng.random(len(thread)) < 0.3, lean, rng.choice(kinds, len(thread), p=often / often.sum()))
    said = [rng.choice(words, 8, p=share[one] / share[one].sum()) for one in truth]
    return pd.DataFrame(
        {
            "item_id": [f"c{k}" for k in range(len(thread))],
            "group_id": [f"t{k}" for k in thread],
            "text": [" ".join(f"w{word}" for word in some) for some in said],
            "label": [f"label {one}" for one in truth],
        }
    )


def test_a_pull_of_few_threads_hardly_changes_how_sure_comments_are_of_six_labels():
    # Where comments that were held out know little, what a pull is fitted beside is no measure of those that predict.
    train, new = faint(20, seed=7118), faint(100, seed=57118, words_of=7118)
    joint, local = (ThreadClassifier(model=model).fit(train) for model in ("fccrf", "local"))
    code = pd.Categorical(new["label"], categories=joint.classes_).codes
    p, alone = (model.predict_proba(new.drop(columns="label")) for model in (joint, local))
    assert joint.coupling_.pull != 0.0
    assert -np.log(p[np.arange(len(code)), code]).mean() < -np.log(alone[np.arange(len(code)), code]).mean() + 0.01


def one_comment_each(n, seed, words=300):
    """Threads of one comment whose words say nothing."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "item_id": [f"c{k:03d}" for k in range(n)],
            "group_id": [f"t{k:03d}" for k in range(n)],
            "text": [" ".join(f"w{word}" for word in rng.integers(0, words, 12)) for _ in range(n)],
            "label": np.where(rng.random(n) < 0.5, "Good", "Bad"),
        }
    )


def test_single_comments_that_say_nothing_are_near_the_prior():
    # Log-odds held out of few comments speak against the true label; weights that learnt so were .046 above the prior.
    above = []
    for seed in range(6):
        train, new = one_comment_each(20, seed), one_comment_each(200, 100 + seed)
        share, good = np.mean(train["label"] == "Good"), new["label"].to_numpy() == "Good"
        p = ThreadClassifier().fit(train).predict_proba(new.drop(columns="label"))[:, 1]
        loss, prior = (-np.mean(np.log(np.where(good, each, 1 - each))) for each in (p, np.full(len(p), share)))
        above.append(loss - prior)
    assert np.mean(above) < 0.025


def test_what_short_threads_teach_holds_in_long_ones():
    x, y, thread = leaning(n_threads=200)
    new, truth, where = leaning(n_threads=20, seed=3, size=40)
    losses = {}
    for model in ("fccrf", "local"):
        p = ThreadClassifier(model=model).fit(x, y, groups=thread).predict_proba(new, groups=where)
        losses[model] = -np.log(p[np.arange(len(p)), (truth == "yes").astype(int)]).mean()
    assert losses["fccrf"] < losses["local"] + 0.005


def test_cross_validation_and_pipelines_use_the_threads():
    x, y, thread = leaning()
    with sklearn.config_context(enable_metadata_routing=True):
        folds, where = GroupKFold(3), {"groups": thread}
        joint = cross_val_score(ThreadClassifier(), x, y, cv=folds, params=where)
        local = cross_val_score(ThreadClassifier(model="local"), x, y, cv=folds, params=where)
        assert joint.mean() > local.mean() + 0.03
        piped = cross_val_score(make_pipeline(StandardScaler(), ThreadClassifier()), x, y, cv=folds, params=where)
        assert_allclose(piped, joint)
        grid = GridSearchCV(ThreadClassifier(), {"model": ["local", "fccrf"]}, cv=folds).fit(x, y, groups=thread)
        assert grid.best_params_ == {"model": "fccrf"}
    with pytest.warns(UserWarning, match="groups was not given"):
        ThreadClassifier().fit(x, y, groups=thread).predict(x)
    with pytest.warns(UserWarning, match="nothing is learnt about threads"):
        ThreadClassifier().fit(x, y)
    texts = pd.Series(np.where(y == "yes", "try the park", "no idea"))
    with pytest.warns(UserWarning, match="nothing is learnt about threads"):
        ThreadClassifier().fit(texts, y)


def test_texts_are_cross_validated_as_a_table():
    table = talk("de", n_threads=30)
    X, y, groups = table.drop(columns="label"), table["label"], table["group_id"]
    found = cross_val_score(ThreadClassifier(n_folds=3), X, y, groups=groups, cv=GroupKFold(3))
    assert found.min() > 0.9


def test_vectors_stand_beside_words():
    def encode(texts):
        return np.array([["Bäcker" in text or "Brot" in text, len(text) % 3, 1] for text in texts], dtype=float)

    train, new = talk("de"), talk("de", n_threads=8, seed=1)
    model = ThreadClassifier(vectors=encode).fit(train)
    assert {"vector/cosine", "stacked/vectors"} <= set(model.feature_names_)
    assert model.score(new.drop(columns="label"), new["label"]) > 0.9
    assert not any(value is encode for value in vars(model).values() if value is not model.vectors)


def test_a_row_of_the_experiment_is_the_exported_class():
    x, y, thread = leaning()
    X = pd.DataFrame(x, index=[f"c{k}" for k in range(len(x))])
    y = np.where(y == "yes", "Good", "Bad").astype(object)
    some = thread < 100
    data = Features(X, None, y, thread)
    found = outcome(fitted({"coupling": "joint", "node_penalty": 18.0}, data.rows(some)), data.rows(~some))
    model = ThreadClassifier(coupling="joint", node_penalty=18.0).fit(X[some], y[some], groups=thread[some])
    assert_allclose(found.probability, model.predict_proba(X[~some], groups=thread[~some])[:, 1], atol=1e-9)


def test_texts_alone_are_what_a_table_of_texts_is():
    texts = [f"{'Try the park' if k % 3 else 'No idea'} at {k}." for k in range(40)]
    labels, groups = np.where(np.arange(40) % 3, "Good", "Bad"), np.repeat(np.arange(10), 4)
    table = pd.DataFrame({"text": texts})
    expected = ThreadClassifier().fit(table, labels, groups=groups).predict_proba(table, groups=groups)
    for X in (texts, np.array(texts), pd.Series(texts)):
        model = ThreadClassifier().fit(X, labels, groups=groups)
        np.testing.assert_array_equal(model.predict_proba(X, groups=groups), expected)
