import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

import accord
from accord import RationaleClassifier
from accord.data import Items, Rationales
from accord.errors import ConvergenceWarning, InputError
from accord.rationales import PredictedRationale
from accord.rationales.baselines import TokenClassifier
from accord.rationales.design import Units
from accord.rationales.features import read_tokens

FILL = ["the", "of", "a", "film", "plot", "scene", "actor", "and", "with", "in", "on", "was", "is", "it", "that", "one"]
CUES = {"good": ["superb", "moving", "clever", "warm"], "bad": ["dull", "awful", "clumsy", "weak"]}


def reviews(n, seed=0, *, classes=("good", "bad"), cues=CUES, noise=0.15):
    """Texts of filler words with two cues, mostly of their own class; those of their class are highlighted."""
    rng = np.random.default_rng(seed)
    texts, labels = [], np.array(classes)[np.arange(n) % len(classes)]
    for i, label in enumerate(labels):
        words = list(rng.choice(FILL, 12))
        for place in rng.choice(12, 2, replace=False):
            source = classes[(i + 1) % len(classes)] if rng.random() < noise else label
            words[place] = str(rng.choice(cues[source]))
        texts.append(" ".join(words))
    return texts, labels, [_cue_spans(text, cues[label]) for text, label in zip(texts, labels, strict=True)]


def _cue_spans(text, cues):
    spans, at = [], 0
    for word in text.split(" "):
        if word in cues:
            spans.append((at, at + len(word)))
        at += len(word) + 1
    return spans


def model(**settings):
    return RationaleClassifier(**{"C": 0.1, "theta_variance": 0.1, "min_count": 1, **settings})


def test_it_is_in_the_public_package():
    assert accord.RationaleClassifier is RationaleClassifier


def test_highlights_help_where_texts_are_few():
    texts, labels, spans = reviews(14, seed=1)
    held_out, truth, _ = reviews(400, seed=2)
    alone = model().fit(texts, labels).score(held_out, truth)
    taught = model().fit(texts, labels, rationales=spans).score(held_out, truth)
    assert taught > alone + 0.02


@pytest.mark.parametrize("word_prior", ["flat", "idf"])
def test_without_rationales_it_is_logistic_regression(word_prior):
    texts, labels, _ = reviews(60)
    settings = {"theta_variance": 0.25, "tol": 1e-10, "value_tol": 1e-15, "max_iter": 5000}
    fitted = model(word_prior=word_prior, **settings).fit(texts, labels)
    presence = np.array([[float(w in t.split()) for w in fitted.columns_.words[0]] for t in texts])
    size = np.ones(presence.shape[1])
    if word_prior == "idf":  # of columns that are as many times as large as their weights may be
        size = 1 + np.log(61 / (1 + presence.sum(axis=0)))
        size *= np.sqrt(presence.sum() / ((presence * size) ** 2).sum())
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=5000).fit(presence * size, labels)
    assert_allclose(fitted.class_weights_[1] - fitted.class_weights_[0], peer.coef_[0] * size, atol=1e-6)
    assert_allclose(fitted.predict_proba(texts), peer.predict_proba(presence * size), atol=1e-6)


def test_weights_of_rare_words_may_be_larger_by_the_formula():
    texts = ["film plot", "film end", "film end end"]  # held by three, one and two of three texts
    fitted = model(fit_intercept=True).fit(texts, ["+", "-", "+"], features=np.full((3, 1), 5.0))
    columns, tokens = fitted.columns_, read_tokens(texts)
    assert columns.words[0].tolist() == ["end", "film", "plot"]
    ease = columns.ease(columns.design(tokens, texts, np.full((3, 1), 5.0), None))
    idf = np.array([1 + np.log(4 / 3), 1.0, 1 + np.log(2.0)])
    factor = np.sqrt(6 / (2 * idf[0] ** 2 + 3 + idf[2] ** 2))  # six words in all
    assert_allclose(ease, [*(factor * idf), 1.0, 1.0])


def test_repeated_words_count_once_or_by_their_logarithm():
    texts, labels, spans = reviews(60)
    once, by_log = (model(repeats=value).fit(texts, labels, rationales=spans) for value in (False, True))
    assert_allclose(*(once.decision_function([text]) for text in ("a superb plot", "a superb superb superb plot")))
    scores = by_log.decision_function(["superb", "superb superb superb"]) - by_log.decision_function([""])
    assert_allclose(scores[1], (1 + np.log(3)) * scores[0])
    assert abs(scores[0]) > 0.1
    text = "the superb plot was superb and dull , dull , dull"
    why = by_log.explain(text, label="good")
    log_odds = by_log.decision_function([text])[0]
    assert_allclose(why["effect"].sum(), log_odds if by_log.classes_[1] == "good" else -log_odds)
    assert why["reason"].is_unique


def test_predicted_rationales_are_the_cues():
    texts, labels, spans = reviews(80)
    fitted = model(C=0.3, theta_variance=1.0).fit(texts, labels, rationales=spans)
    new, truth, marked = reviews(30, seed=5)
    found = fitted.predict_rationales(new, truth)
    assert all(isinstance(one, PredictedRationale) for one in found)
    words = [new[i][a:b] for i, one in enumerate(found) for a, b in one.spans]
    cues = [new[i][a:b] for i, marks in enumerate(marked) for a, b in marks]
    assert len(words) >= 0.7 * len(cues)
    best = [new[i][a:b] for i, one in enumerate(found) for a, b in one.best_spans]
    assert np.mean([word.split()[0] in CUES["good"] + CUES["bad"] for word in best]) > 0.9
    assert np.mean([word.split()[0] in CUES["good"] + CUES["bad"] for word in words]) > 0.9
    first = found[0]
    assert first.probabilities.shape == (len(first.tokens),)
    assert ((first.probabilities >= 0) & (first.probabilities <= 1)).all()
    assert first.spans.tolist() == first.spans_above(fitted.threshold_).tolist()
    assert first.spans_above(0.0).tolist() == [[0, len(new[0])]]


def test_the_class_decides_what_is_highlighted():
    texts, labels, spans = reviews(80)
    fitted = model(C=0.3, theta_variance=1.0).fit(texts, labels, rationales=spans)
    text = "the superb plot was dull"
    as_good, as_bad = (fitted.predict_rationales([text], [label])[0].probabilities for label in ("good", "bad"))
    assert as_good[1] > as_bad[1]
    assert as_good[4] < as_bad[4]


def test_three_classes_and_several_annotators():
    classes = ("good", "bad", "odd")
    cues = {**CUES, "odd": ["strange", "weird", "surreal", "quirky"]}
    texts, labels, spans = reviews(90, classes=classes, cues=cues)
    who = ["ann", "bob"] * 45
    fitted = model(C=0.3).fit(texts, labels, rationales=spans, annotator=who)
    assert fitted.annotators_.tolist() == ["ann", "bob"]
    assert fitted.annotator_phi_.shape == (2, len(fitted.phi_names_))
    assert fitted.phi_.shape == (len(fitted.phi_names_),)
    assert fitted.predict_proba(texts).shape == (90, 3)
    assert_allclose(fitted.predict_proba(texts).sum(axis=1), 1.0)
    new, truth, _ = reviews(200, seed=9, classes=classes, cues=cues)
    assert fitted.score(new, truth) > 0.75
    assert len(fitted.predict_rationales(new[:2], annotator="bob")) == 2
    with pytest.raises(InputError, match="ann, bob"):
        fitted.predict_rationales(new[:1], annotator="eve")


def test_an_annotator_who_marks_more_has_another_phi():
    texts, labels, spans = reviews(80)
    wide = [[(0, len(text))] if i % 2 else marks for i, (text, marks) in enumerate(zip(texts, spans, strict=True))]
    fitted = model(C=0.3).fit(texts, labels, rationales=wide, annotator=["few", "all"] * 40)
    few, everything = (fitted.predict_rationales(texts[:1], annotator=who)[0].probabilities for who in ("few", "all"))
    assert everything.mean() > few.mean() + 0.3


def test_a_record_of_rationales_equals_spans_by_row():
    texts, labels, spans = reviews(30)
    spans = [None if i % 3 == 0 else marks for i, marks in enumerate(spans)]
    rows = [(i, a, b) for i, marks in enumerate(spans) for a, b in marks or []]
    item, start, end = np.array(rows).T
    items = Items(np.array([f"r{i}" for i in range(30)], dtype=object), texts=np.array(texts, dtype=object))
    annotated = np.array([marks is not None for marks in spans])
    record = Rationales(items, item, start, end, annotated=annotated)
    by_row = model().fit(texts, labels, rationales=spans)
    assert_allclose(model().fit(texts, labels, rationales=record).class_weights_, by_row.class_weights_)
    some = np.arange(4, 22)
    rows = {"item_id": items.ids[some], "text": items.texts[some]}
    part = model().fit(rows, labels[some], rationales=record)
    direct = model().fit([texts[i] for i in some], labels[some], rationales=[spans[i] for i in some])
    assert_allclose(part.class_weights_, direct.class_weights_)


def test_n_grams_and_given_features_stand_beside_words():
    texts, labels, spans = reviews(60)
    extra = np.random.default_rng(0).normal(size=(60, 3)) + 3 * (labels == "good")[:, None]
    fitted = model(max_ngram=2, fit_intercept=True).fit(texts, labels, rationales=spans, features=extra)
    n_words, n_pairs = map(len, fitted.columns_.words)
    assert n_pairs > 0
    assert fitted.class_weights_.shape == (2, n_words + n_pairs + 3 + 1)
    assert (fitted.predict(texts, features=extra) == labels).mean() > 0.9
    sparse = model(max_ngram=2, fit_intercept=True).fit(texts, labels, rationales=spans, features=sp.csr_matrix(extra))
    assert_allclose(sparse.class_weights_, fitted.class_weights_)
    assert {len(reason.split()) for reason in fitted.explain(texts[0])["reason"]} == {1, 2}
    with pytest.raises(InputError, match=r"shape \(60, 3\)"):
        fitted.predict(texts)
    extra[3, 1] = np.nan
    with pytest.raises(InputError, match="must be finite; row 4 has nan in column 2"):
        model().fit(texts, labels, features=extra)
    table = pd.DataFrame({"item_id": [f"t{row}" for row in range(60)], "text": texts})
    with pytest.raises(InputError, match="must be finite; 't3' has nan in 'b'"):
        fitted.predict(table, features=pd.DataFrame(extra, columns=["a", "b", "c"]))
    with pytest.raises(InputError, match="must be a matrix of numbers"):
        fitted.predict(texts, features=[["long"]] * 60)


def test_units_and_zero_points_of_given_features_do_not_matter():
    texts, labels, spans = reviews(60)
    rng = np.random.default_rng(0)
    seen = (rng.random(60) < np.where(labels == "good", 0.4, 0.1)) * rng.uniform(0.5, 1.5, 60)
    extra = np.column_stack([rng.normal(size=60) + (labels == "good"), seen])
    expected = model().fit(texts, labels, rationales=spans, features=extra)
    for size, added in ((np.array([1000.0, 1.0]), [0.0, 0.0]), (np.array([1e-3, 40.0]), [7.0, 0.0])):
        other = size * extra + added
        moved = model().fit(texts, labels, rationales=spans, features=other)
        assert_allclose(
            moved.predict_proba(texts, features=other), expected.predict_proba(texts, features=extra), atol=1e-6
        )
        assert_allclose(moved.explain(texts[0])["effect"], expected.explain(texts[0])["effect"], atol=1e-6)
    alone = model().fit(texts, labels, rationales=spans).predict_proba(texts)
    assert np.abs(expected.predict_proba(texts, features=extra) - alone).max() > 0.01
    with pytest.raises(InputError, match="there are 59 rows and 60 texts"):
        model().fit(texts, labels, features=extra[:59])


def test_given_features_that_are_there_or_not_and_vectors_of_one_length_keep_their_shape():
    rare = np.zeros((10, 2))
    rare[:3, 0], rare[4:6, 1] = 1.0, 50.0
    assert_allclose(Units.of(sp.csr_matrix(rare)).convert(rare).toarray(), rare / [1.0, 50.0])
    vectors = np.random.default_rng(0).normal(size=(10, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert_allclose(Units.of(sp.csr_matrix(7.0 * vectors)).convert(7.0 * vectors).toarray(), vectors)
    measured = np.random.default_rng(1).normal(5.0, 3.0, size=(10, 2))
    converted = Units.of(sp.csr_matrix(measured)).convert(measured).toarray()
    assert_allclose(converted.mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(converted.std(axis=0), 1.0)


def test_explain_lists_the_strongest_words_first():
    texts, labels, spans = reviews(80)
    fitted = model(C=0.3).fit(texts, labels, rationales=spans)
    why = fitted.explain("the superb plot was superb and dull", label="good").set_index("reason")
    assert why.index[0] in ("superb", "dull")
    assert why.loc["superb", "effect"] > 0 > why.loc["dull", "effect"]
    assert why.loc["superb", ["start", "end"]].tolist() == [4, 10]
    assert why.loc["superb", "p_highlight"] > why.loc["was", "p_highlight"]
    assert (np.diff(why["effect"].abs()) <= 0).all()
    assert fitted.explain("").empty
    assert why["kind"].unique().tolist() == ["word"]
    log_odds = fitted.decision_function(["the superb plot was superb and dull"])[0]
    assert_allclose(why["effect"].sum(), log_odds if fitted.classes_[1] == "good" else -log_odds)


def test_ask_prefers_texts_with_unseen_words_that_would_be_highlighted():
    texts, labels, spans = reviews(40)
    marks = [spans[i] if i < 10 else None for i in range(40)]
    fitted = model(C=0.3).fit(texts, labels, rationales=marks)
    asked = fitted.ask(5)
    assert len(asked) == 5
    assert set(asked["row"]) <= set(range(10, 40))
    assert (np.diff(asked["worth"]) <= 0).all()
    pool = ["the of a film", "superb awful clever clumsy plot"]
    assert fitted.ask(2, pool, ["good", "good"])["row"].tolist()[0] == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"emissions": "tied"},
        {"emissions": "free"},
        {"method": "alternating"},
        {"printed_prior": True, "phi_variance": 100.0},
        {"transitions": "plain"},
    ],
)
def test_every_setting_learns(settings):
    texts, labels, spans = reviews(40)
    new, truth, _ = reviews(200, seed=3)
    assert model(**settings).fit(texts, labels, rationales=spans).score(new, truth) > 0.8


def test_a_parser_may_describe_phrases():
    texts, labels, spans = reviews(30)
    fitted = model(transitions="syntax", parser=lambda tokens: [("S", 0, len(tokens)), ("NP", 0, 2)])
    fitted.fit(texts, labels, rationales=spans)
    assert "O-I/S=NP" in fitted.phi_names_
    assert fitted.phi_.shape == (len(fitted.phi_names_),)


def test_auto_chooses_inside_the_training_texts_and_says_what():
    texts, labels, spans = reviews(40, noise=0.3)
    fitted = RationaleClassifier(n_inner_folds=2).fit(texts, labels, rationales=spans)
    assert fitted.C_ > 0
    assert fitted.theta_variance_ > 0
    assert fitted.C == "auto"
    plain = RationaleClassifier(min_count=1, n_inner_folds=3).fit(texts, labels)
    assert plain.C_ == 0


def test_estimator_promises():
    texts, labels, spans = reviews(30)
    one = model()
    parameters = one.get_params()
    assert one.fit(texts, labels, rationales=spans) is one
    assert one.get_params() == parameters
    again = clone(one).fit(texts, labels, rationales=spans)
    assert_array_equal(again.class_weights_, one.class_weights_)
    assert_array_equal(pickle.loads(pickle.dumps(one)).predict(texts), one.predict(texts))
    with pytest.raises(NotFittedError):
        model().predict(texts)


def test_cross_validation_routes_the_rationales_of_each_row():
    texts, labels, spans = reviews(36)
    spans[0] = None
    with sklearn.config_context(enable_metadata_routing=True):
        routed = model().set_fit_request(rationales=True)
        scores = cross_val_score(routed, texts, labels, cv=3, params={"rationales": spans})
    rows = np.arange(36)
    folds = list(StratifiedKFold(3).split(rows, labels))
    direct = [
        model()
        .fit([texts[i] for i in train], labels[train], rationales=[spans[i] for i in train])
        .score([texts[i] for i in test], labels[test])
        for train, test in folds
    ]
    assert_allclose(scores, direct)


def test_bad_input_is_refused_in_one_sentence():
    texts, labels, spans = reviews(20)
    spans[3] = [(0, len(texts[3]) + 1)]
    with pytest.raises(InputError, match=r"inside its text.*row 4"):
        model().fit(texts, labels, rationales=spans)
    spans[3] = [(0, 3, "fair")]
    with pytest.raises(InputError, match="must be a reason for one of the classes"):
        model().fit(texts, labels, rationales=spans)
    with pytest.raises(InputError, match="two classes or more"):
        model().fit(texts, ["good"] * 20)
    with pytest.raises(InputError, match="20 texts and 3 classes"):
        model().fit(texts, labels[:3])
    with pytest.raises(InputError, match="'auto'"):
        model(C="much").fit(texts, labels)
    with pytest.raises(InputError, match="above 0"):
        model(theta_variance=0).fit(texts, labels)
    with pytest.raises(InputError, match="'joint' or 'alternating'"):
        model(method="magic").fit(texts, labels)
    with pytest.raises(InputError, match="this model saw none"):
        model().fit(texts, labels).predict_rationales(texts)
    with pytest.raises(InputError, match="bad, good"):
        model().fit(texts, labels, rationales=[[]] * 20).predict_rationales(texts[:1], ["fair"])


def test_overlapping_spans_count_once():
    texts, labels, spans = reviews(20)
    doubled = [[*marks, *marks] for marks in spans]
    once, twice = (model().fit(texts, labels, rationales=marks).class_weights_ for marks in (spans, doubled))
    assert_array_equal(once, twice)


def test_a_text_without_known_words_has_the_frequencies_of_the_classes():
    texts, labels, spans = reviews(21)
    texts[0], spans[0] = "", []
    fitted = model().fit(texts, labels, rationales=spans)
    share = (labels == "bad").mean()
    assert fitted.classes_.tolist() == ["bad", "good"]
    assert_allclose(fitted.predict_proba(["", "zzz"]), [[share, 1 - share]] * 2)
    assert fitted.predict_rationales([""])[0].spans.shape == (0, 2)


def test_a_class_with_one_text_is_learnt():
    texts, labels, spans = reviews(11)
    labels = np.array(["good"] * 10 + ["bad"])
    spans = [_cue_spans(text, CUES[label]) for text, label in zip(texts, labels, strict=True)]
    for settings in ({"C": 0.1, "theta_variance": 0.1}, {}):
        fitted = RationaleClassifier(**settings).fit(texts, labels, rationales=spans)
        assert fitted.classes_.tolist() == ["bad", "good"]
        assert fitted.choice_ is None  # nothing can be left out


def test_neither_the_order_of_rows_nor_names_of_classes_and_people_matter():
    texts, labels, spans = reviews(24)
    who = np.array(["ann", "bob", "eve", None], dtype=object)[np.arange(24) % 4]
    new = reviews(20, seed=9)[0]
    first = RationaleClassifier(C=0.3, n_inner_folds=2).fit(texts, labels, rationales=spans, annotator=who)
    order = np.random.default_rng(0).permutation(24)
    names, people = {"good": "a", "bad": "z"}, {"ann": "zoe", "bob": "al", "eve": "moe", None: None}
    other = RationaleClassifier(C=0.3, n_inner_folds=2).fit(
        [texts[i] for i in order],
        [names[labels[i]] for i in order],
        rationales=[spans[i] for i in order],
        annotator=[people[who[i]] for i in order],
    )
    assert_allclose(other.predict_proba(new)[:, ::-1], first.predict_proba(new), atol=1e-12)
    for one, two in (("ann", "zoe"), ("eve", "moe")):
        mine = first.predict_rationales(new, ["good"] * 20, annotator=one)
        theirs = other.predict_rationales(new, ["a"] * 20, annotator=two)
        for a, b in zip(mine, theirs, strict=True):
            assert_allclose(a.probabilities, b.probabilities, atol=1e-12)


def test_who_read_and_marked_nothing_is_no_annotator_of_their_own():
    texts, labels, spans = reviews(80)
    who = ["ann"] * 80
    few = model(C=0.3).fit(texts[:40], labels[:40], rationales=spans[:40], annotator=who[:40])
    more = model(C=0.3).fit(texts, labels, rationales=spans[:40] + [[]] * 40, annotator=["ann"] * 40 + [None] * 40)
    assert more.annotators_.tolist() == ["ann"]
    found = more.predict_rationales(texts[:40], labels[:40])
    assert sum(len(one.spans) for one in found) > 20  # and not nothing
    assert few.annotators_.tolist() == ["ann"]


def test_many_people_with_one_text_each_teach_as_much_as_one_person():
    texts, labels, spans = reviews(30, seed=1)
    held_out, truth, _ = reviews(400, seed=2)
    alone = model().fit(texts, labels).score(held_out, truth)
    one = model().fit(texts, labels, rationales=spans).score(held_out, truth)
    many = model().fit(texts, labels, rationales=spans, annotator=[f"p{i}" for i in range(30)])
    assert len(many.annotators_) == 30
    assert one > alone
    assert many.score(held_out, truth) >= alone + 0.5 * (one - alone)


def test_thresholds_are_each_annotators_own():
    texts, labels, spans = reviews(80)
    wide = [[(0, len(text))] if i % 4 > 1 else marks for i, (text, marks) in enumerate(zip(texts, spans, strict=True))]
    fitted = model(C=0.3).fit(texts, labels, rationales=wide, annotator=["few", "few", "all", "all"] * 20)
    assert fitted.annotators_.tolist() == ["all", "few"]
    everything, few = (fitted.predict_rationales(texts, labels, annotator=who) for who in ("all", "few"))
    n_tokens = sum(len(one.tokens) for one in few)
    marked = [
        sum(int((p.probabilities >= level).sum()) for p in found) / n_tokens
        for found, level in ((everything, fitted.annotator_thresholds_[0]), (few, fitted.annotator_thresholds_[1]))
    ]
    assert marked[0] > 0.9
    assert marked[1] < 0.5


def test_highlights_that_do_not_help_are_not_used():
    texts, labels, _ = reviews(60, noise=0.0)
    rng = np.random.default_rng(0)
    noise = []
    for text in texts:  # any stretch of words, whatever it says
        start = int(rng.integers(0, len(text) // 2))
        noise.append([(start, start + len(text) // 3)])
    fitted = RationaleClassifier().fit(texts, labels, rationales=noise)
    alone = RationaleClassifier().fit(texts, labels)
    new, truth, _ = reviews(300, seed=5, noise=0.0)
    p, q = fitted.predict_proba(new), alone.predict_proba(new)
    right = (truth == "good").astype(int)
    loss, other = (-np.log(one[np.arange(300), right]).mean() for one in (p, q))
    assert loss < other + 0.05


def test_vectors_stand_beside_words():
    texts, labels, spans = reviews(60)

    def encode(rows):
        return np.array([[float(any(w in CUES["good"] for w in row.split())), 1.0] for row in rows])

    fitted = model(vectors=encode).fit(texts, labels, rationales=spans)
    assert fitted.class_weights_.shape[1] == fitted.columns_.n_words + 2
    assert "vectors" in fitted.explain(texts[0])["kind"].tolist()
    assert (fitted.predict(texts) == labels).mean() > 0.9
    with pytest.raises(InputError, match="those given differ"):
        fitted.set_params(vectors=lambda rows: np.ones((len(rows), 2))).predict(texts)


# Texts with a place for praise or blame, the praise, and the blame.
SCRIPTS = {
    "Chinese": (["这家店很{}", "味道{}啊", "真的{}极了", "菜都{}"], "好吃", "难吃"),
    "Japanese": (["料理が{}です", "とても{}店", "{}スープ", "魚は{}"], "美味しい", "まずい"),
    "German": (["Das Essen war {}.", "{} gekocht!", "Ein {} süßes Dessert", "Suppe: {}"], "großartig", "scheußlich"),
    "Hindi": (["खाना {} था", "बहुत {} होटल", "सूप {} है", "चाय {}"], "अच्छा", "बुरा"),
    "emoji": (["the soup {}", "dinner {} tonight", "{} again", "ok {}"], "👍🏽", "💩"),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_trains_predicts_and_explains_with_real_words(script):
    frames, praise, blame = SCRIPTS[script]
    texts = [frame.format(word) for frame in frames for word in (praise, blame)]
    labels = ["+", "-"] * 4
    spans = [[(frame.index("{}"), frame.index("{}") + len(word))] for frame in frames for word in (praise, blame)]
    held = [0, 1]
    rest = [i for i in range(8) if i not in held]
    fitted = RationaleClassifier(C=0.3, theta_variance=1.0).fit(
        [texts[i] for i in rest], [labels[i] for i in rest], rationales=[spans[i] for i in rest]
    )
    assert fitted.predict([texts[i] for i in held]).tolist() == ["+", "-"]
    why = fitted.explain(texts[0])
    first = why["reason"][0]
    assert first in praise or praise in first
    assert texts[0][int(why["start"][0]) : int(why["end"][0])] == first


@pytest.mark.parametrize("kind", [RationaleClassifier, accord.MaskingSVMClassifier, TokenClassifier])
def test_every_setting_has_a_rule(kind):
    assert set(kind.SETTINGS) == set(inspect.signature(kind).parameters)
    for name, value in kind().get_params().items():
        assert kind.SETTINGS[name].allows(value), name


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_iter", -3), ("tol", -1), ("C", float("nan")), ("theta_variance", "abc"), ("min_count", 0), ("laziness", -1),
     ("relevance_thresholds", 3), ("n_inner_folds", 1), ("tokeniser", "letters"), ("transitions", "fancy"),
     ("word_prior", "rare"), ("repeats", 2)],
)  # fmt: skip
def test_a_setting_out_of_its_range_is_one_sentence(name, value):
    with pytest.raises(InputError, match=f"the setting '{name}' of RationaleClassifier must be"):
        model(**{name: value}).fit(["good film", "bad plot"], ["+", "-"])


def test_a_fit_that_is_cut_short_warns():
    texts, labels, spans = reviews(20)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model(max_iter=2).fit(texts, labels, rationales=spans)


def test_texts_that_share_no_word_are_refused():
    with pytest.raises(InputError, match="none occurs 4 times"):
        model(min_count=4).fit(["good film", "bad plot"], ["+", "-"])


@pytest.mark.parametrize(("y", "spans", "settings", "message"), [
    (["+", None], None, {}, "row 2 has none"), ([["+"], ["-"]], None, {}, r"shape is \(2, 1\)"),
    (["+", "-"], [(0, 4), None], {}, "whole characters; row 1 has 0"),
    (["+", "-"], [[(0.5, 4)], None], {}, "whole characters; row 1"),
])  # fmt: skip
def test_wrong_classes_spans_and_settings_are_refused(y, spans, settings, message):
    with pytest.raises(InputError, match=message):
        model(**settings).fit(["good film", "bad plot"], y, rationales=spans)


def test_one_string_is_not_a_list_of_texts():
    fitted = model().fit(["good film", "bad plot"], ["+", "-"])
    for wrong in (fitted.predict, lambda text: fitted.ask(1, text)):
        with pytest.raises(InputError, match="this is one string, 'good'"):
            wrong("good")
    with pytest.raises(InputError, match="n must be at least 0"):
        fitted.ask(-1)


def test_a_copy_with_the_habits_of_somebody_else_predicts_their_highlights_and_the_same_classes():
    texts, labels, spans = reviews(80)
    fitted = RationaleClassifier().fit(texts, labels, rationales=spans)
    new, classes, marks = reviews(80, seed=1)
    wide = [
        [(max(0, start - 8), min(len(text), end + 8)) for start, end in own]
        for text, own in zip(new, marks, strict=True)
    ]
    for theirs in (marks, wide):
        other = fitted.with_habits_of(new[:60], classes[:60], theirs[:60])
        n_marked = [sum(b - a for one in found.predict_rationales(new[60:], classes[60:]) for a, b in one.spans)
                    for found in (other, fitted)]  # fmt: skip
        truth = sum(b - a for own in theirs[60:] for a, b in own)
        assert n_marked[0] == pytest.approx(truth, rel=0.35)
        if theirs is wide:
            assert n_marked[0] > 1.5 * n_marked[1]
        assert_array_equal(other.predict_proba(new), fitted.predict_proba(new))
    with pytest.raises(InputError, match="saw none"):
        model().fit(texts, labels).with_habits_of(new, classes, marks).predict_rationales(new)


def test_a_class_missing_from_a_list_is_missing():
    texts = ["good film", "bad film", "good plot", "bad plot"]
    with pytest.raises(InputError, match="every text needs a class; row 4 has none"):
        RationaleClassifier().fit(texts, ["+", "-", "+", float("nan")])
    with pytest.raises(InputError, match="labels must be of one kind; they are of int, str"):
        RationaleClassifier().fit(texts, ["+", 0, "+", 0])


def test_features_of_a_table_are_met_by_their_names():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(24, 2)) * [1.0, 50.0], columns=["a", "b"])
    texts, y = ["some words"] * 24, np.where(x["a"] > 0, "+", "-")
    model = RationaleClassifier(C=0.1, theta_variance=10.0).fit(texts, y, features=x)
    p = model.predict_proba(texts, features=x)
    assert_allclose(model.predict_proba(texts, features=x[["b", "a"]]), p, atol=1e-12)
    assert model.score(texts, y, features=x[["b", "a"]]) == np.mean(model.predict(texts, features=x) == y)
    own, other = (model.explain(texts[0], features=x[columns][:1])["effect"] for columns in (["a", "b"], ["b", "a"]))
    assert_allclose(own, other, atol=1e-12)
    with pytest.raises(InputError, match="missing: b; not of training: z"):
        model.predict(texts, features=x.rename(columns={"b": "z"}))
