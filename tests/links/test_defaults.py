"""The default classifier of links on graphs, labels and scripts that no corpus has shown it."""

import warnings
from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from accord import CollectiveClassifier, IterativeClassifier, Links
from accord.data.corpora import convote
from accord.errors import InputError


def graph(n=400, n_labels=3, homophily=0.85, topic=0.3, seed=0):
    """Texts as counts of words, and links most of which join equal labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, n)
    first = rng.integers(0, n, 2 * n)
    same = rng.random(2 * n) < homophily
    label = np.where(same, y[first], (y[first] + rng.integers(1, n_labels, 2 * n)) % n_labels)
    second = np.array([rng.choice(np.flatnonzero(y == each)) for each in label])
    base, topics = rng.dirichlet(np.full(200, 0.5)), rng.dirichlet(np.full(200, 0.1), n_labels)
    counts = np.array([rng.multinomial(20, (1 - topic) * base + topic * topics[each]) for each in y], dtype=float)
    ids = np.array([f"t{i}" for i in range(n)], dtype=object)
    kept = first != second
    return (
        counts,
        np.array([f"label {each}" for each in y], dtype=object),
        ids,
        Links(ids[first[kept]], ids[second[kept]]),
    )


def debates_with_words_of_their_own(n_debates, size=10, seed=0):
    """Texts of debates in which words of the debate go with a side there, and with no side elsewhere; links agree."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_debates), size)
    y = rng.integers(0, 2, len(group))
    words = rng.integers(0, 60, (n_debates, 2, 6))  # those of each side, which other debates share out anew
    counts = np.zeros((len(y), 60))
    for row, (debate, side) in enumerate(zip(group, y, strict=True)):
        told = words[debate, side if rng.random() < 0.9 else 1 - side]
        np.add.at(counts[row], rng.choice(told, 8), 1.0)
    same = (group[:, None] == group) & (y[:, None] == y)
    ends = [(i, rng.choice(np.flatnonzero(same[i]))) for i in range(len(y))]
    ids = np.array([f"t{i}" for i in range(len(y))], dtype=object)
    links = Links(*(ids[[pair[side] for pair in ends if pair[0] != pair[1]]] for side in (0, 1)))
    return counts, np.array(["no", "yes"], dtype=object)[y], ids, links, group.astype(str)


def test_what_a_few_debates_say_by_chance_is_not_believed_in_others():
    loss = []
    for seed in range(10):
        X, y, ids, links, groups = debates_with_words_of_their_own(n_debates=13, seed=seed)
        known, new = np.flatnonzero(groups.astype(int) < 3), np.flatnonzero(groups.astype(int) >= 3)
        model = CollectiveClassifier().fit(
            X[known], y[known], links=links.among(ids[known])[0], ids=ids[known], groups=groups[known]
        )
        p = model.predict_proba(X[new], links=links.among(ids[new])[0], ids=ids[new], groups=groups[new])
        loss.append(-np.mean(np.log(p[np.arange(len(new)), (y[new] == "yes").astype(int)])))
    assert np.mean(loss) < 0.75
    assert np.max(loss) < 1.0


def debates_that_agree_or_quarrel(seed, n_debates=40, size=20):
    """Texts of debates; in three of four of them links join equal labels, in the others unequal ones."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_debates), size)
    y = rng.integers(0, 2, len(group))
    agree = np.where(rng.random(n_debates) < 0.75, 0.95, 0.15)[group]
    first = rng.permutation(np.tile(np.arange(len(y)), 2))
    inside = [group == each for each in range(n_debates)]
    second = np.array([
        rng.choice(np.flatnonzero(inside[group[i]] & ((y == y[i]) == (rng.random() < agree[i])))) for i in first
    ])  # fmt: skip
    X = rng.poisson(np.where(np.eye(2)[y].repeat(20, axis=1) > 0, 0.7, 0.4)).astype(float)
    ids, kept = np.array([f"t{i}" for i in range(len(y))], dtype=object), first != second
    return (
        X,
        np.array(["no", "yes"], dtype=object)[y],
        ids,
        Links(ids[first[kept]], ids[second[kept]]),
        group.astype(str),
    )


def test_what_a_tenth_of_a_graph_says_of_its_links_is_not_overdone_in_the_whole_graph():
    # Texts that are drawn from a graph have lost most of their links: trained on alone, they say little of links.
    loss, alone = [], []
    for seed in range(6):
        X, y, ids, links, groups = debates_that_agree_or_quarrel(seed)
        labelled = np.random.default_rng(seed).permutation(len(y)) < 80
        model = CollectiveClassifier().fit(
            X[labelled], y[labelled], links=links, ids=ids[labelled], groups=groups[labelled]
        )
        asked = {"X": X, "links": links, "ids": ids, "groups": groups}
        rest, truth = np.flatnonzero(~labelled), (y[~labelled] == "yes").astype(int)
        with pytest.warns(UserWarning, match="fit on all of its texts"):
            p = model.predict_proba(**asked, known=np.where(labelled, y, None))
        loss.append(-np.mean(np.log(p[rest, truth])))
        alone.append(-np.mean(np.log(model.content_proba(**asked)[rest, truth])))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.predict(X[labelled], links=links, ids=ids[labelled], groups=groups[labelled])
            model.predict(X, links=links.among([])[0], ids=ids, groups=groups)  # no links are not too many
    assert np.mean(loss) < np.mean(alone)  # before, .63 against .35


def part(y, share, seed=0):
    known = y.copy()
    known[np.random.default_rng(seed).random(len(y)) >= share] = None
    return known


@pytest.mark.parametrize("model", [CollectiveClassifier, IterativeClassifier])
def test_every_setting_has_a_rule(model):
    assert set(model.SETTINGS) == set(signature(model).parameters)


def test_texts_without_labels_take_part_in_training():
    X, y, ids, links = graph()
    known = part(y, 0.1)
    seen = ~pd.isna(known)
    whole = CollectiveClassifier().fit(X, known, links=links, ids=ids)
    alone = CollectiveClassifier(neighbour_words="own", coupling=0.0).fit(X, known, links=links, ids=ids)
    right = np.mean(whole.predict(X, links=links, ids=ids, known=known)[~seen] == y[~seen])
    assert right > np.mean(alone.predict(X, links=links, ids=ids)[~seen] == y[~seen]) + 0.05
    found = whole.model_.among_known
    assert found.loss < found.content_loss
    # Labelled rows alone, then the whole graph with known labels: links pull there too.
    rows = CollectiveClassifier().fit(X[seen], y[seen], links=links, ids=ids[seen])
    with pytest.warns(UserWarning, match="fit on all of its texts"):
        told = rows.predict(X, links=links, ids=ids, known=known)
    assert np.mean(told[~seen] == y[~seen]) > 0.6


def test_a_dozen_labels_reach_a_graph_without_words():
    _, y, ids, links = graph(n=600, n_labels=3, homophily=0.9, seed=3)
    known = y.copy()
    known[12:] = None
    table = pd.DataFrame({"item_id": ids})
    model = CollectiveClassifier().fit(table, known, links=links)
    assert model.model_.among_known.blocks
    assert np.mean(model.predict(table, links=links, known=known)[12:] == y[12:]) > 0.85
    plain = CollectiveClassifier(inference="mean_field").fit(table, known, links=links)
    assert not plain.model_.among_known.blocks


@pytest.mark.parametrize("seed", [0, 1])
def test_held_out_texts_are_as_hard_as_texts_without_a_label(seed):
    # The words of neighbours must not tell the label of a text that is held out.
    X, y, ids, links = graph(n=800, n_labels=5, homophily=0.5, topic=0.25, seed=seed)
    known = part(y, 0.12, seed)
    free = pd.isna(known)
    codes = np.unique(y, return_inverse=True)[1][free]
    for view in ("own", "both", "mixed"):
        model = CollectiveClassifier(neighbour_words=view).fit(X, known, links=links, ids=ids)
        p = model.predict_proba(X, links=links, ids=ids, known=known)[free]
        loss = -np.log(p[np.arange(len(codes)), codes]).mean()
        assert abs(model.model_.among_known.loss - loss) < 0.25
        # Without labels the loss is that of a graph that was not trained on, which is harder than the trained one.
        p = model.predict_proba(X, links=links, ids=ids)[free]
        assert model.model_.free.loss > -np.log(p[np.arange(len(codes)), codes]).mean() - 0.25


@pytest.mark.parametrize("text", [None, ""])
def test_links_alone_are_enough(text):
    _, y, ids, links = graph(homophily=0.9)
    table = pd.DataFrame({"item_id": ids} if text is None else {"item_id": ids, "text": text})
    known = part(y, 0.2)
    model = CollectiveClassifier().fit(table, known, links=links)
    free = pd.isna(known)
    assert np.mean(model.predict(table, links=links, known=known)[free] == y[free]) > 0.8
    with pytest.raises(InputError, match=r"a column 'text' or columns of numbers|words to learn from"):
        CollectiveClassifier().fit(table, known)


def test_useless_links_do_no_harm():
    X, y, ids, links = graph(homophily=1 / 3)
    known = part(y, 0.5)
    free = pd.isna(known)
    p = [
        CollectiveClassifier(**settings).fit(X, known, links=links, ids=ids)
        .predict_proba(X, links=links, ids=ids, known=known)[free]
        for settings in ({}, {"neighbour_words": "own", "coupling": 0.0, "recalibrate": False})
    ]  # fmt: skip
    codes = np.unique(y, return_inverse=True)[1][free]
    loss = [-np.log(each[np.arange(len(codes)), codes]).mean() for each in p]
    assert loss[0] < loss[1] + 0.03


@pytest.mark.parametrize(("n_labels", "most"), [(2, 0.05), (3, 0.12)])
def test_little_is_believed_where_nothing_can_be_learnt(n_labels, most):
    # Words and links that know no label: twenty labels agree with some of them by chance.
    gaps = []
    for seed in range(6):
        rng = np.random.default_rng([n_labels, seed])
        codes, ids = rng.integers(0, n_labels, 300), np.arange(300).astype(str)
        names, common = np.array([f"word{k}" for k in range(300)]), rng.dirichlet(np.full(300, 0.5))
        texts = [" ".join(rng.choice(names, rng.integers(4, 20), p=common)) for _ in codes]
        linked = rng.integers(0, 300, (600, 2))
        linked = linked[linked[:, 0] != linked[:, 1]].astype(str)
        known = np.where(np.arange(300) < 20, codes.astype(str), None)
        links = Links(linked[:, 0], linked[:, 1])
        model = CollectiveClassifier().fit(texts, known, links=links, ids=ids)
        p = model.predict_proba(texts, links=links, ids=ids, known=known)[20:]
        shares = (np.bincount(codes[:20], minlength=n_labels) + 2) / (20 + 2 * n_labels)
        gaps.append(-np.log(p[np.arange(280), codes[20:]]).mean() + np.log(shares[codes[20:]]).mean())
    assert np.mean(gaps) < most


def test_a_few_labelled_texts_are_read_as_well_as_by_logistic_regression():
    # Most word pairs stand in one text only. They make all scores small, and without one of a dozen texts its label is
    # rarer; neither may keep the model from believing what the words say.
    gaps = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 2, 300)
        common, topics = rng.dirichlet(np.full(200, 0.3)), rng.dirichlet(np.full(200, 0.05), 2)
        names = np.array([f"word{k}" for k in range(200)])
        texts = [" ".join(rng.choice(names, 12, p=0.75 * common + 0.25 * topics[code])) for code in codes]
        words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
        linked = np.column_stack([rng.integers(0, 150, 600), rng.integers(150, 300, 600)]).astype(str)
        links, ids = Links(linked[:, 0], linked[:, 1]), np.arange(300).astype(str)
        known = np.where(np.arange(300) < 20, codes.astype(str), None)
        model = CollectiveClassifier().fit(texts, known, links=links, ids=ids)
        plain = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0, 100.0]}, scoring="neg_log_loss")
        plain = plain.fit(words[:20], codes[:20])
        found = model.predict_proba(texts, links=links, ids=ids, known=known), plain.predict_proba(words)
        rest = np.arange(20, 300)
        ours, theirs = (-np.log(p[rest, codes[rest]]).mean() for p in found)
        gaps.append(ours - theirs)
    assert np.mean(gaps) < 0.02


def pieces_of_a_graph(seed, n_pieces=10, size=60):
    """Texts in pieces of a graph, 20 labels in the first four of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, n_pieces * size)
    ends = []
    for start in range(0, len(codes), size):
        first = rng.integers(0, size, 2 * size)
        wanted = np.where(rng.random(2 * size) < 0.85, codes[start + first], 1 - codes[start + first])
        inside = codes[start : start + size]
        second = np.array([rng.choice(np.flatnonzero(inside == each)) for each in wanted])
        ends.append(start + np.column_stack([first, second])[first != second])
    common, topics = rng.dirichlet(np.full(300, 0.5)), rng.dirichlet(np.full(300, 0.05), 2)
    names = np.array([f"word{k}" for k in range(300)])
    texts = [" ".join(rng.choice(names, rng.integers(4, 20), p=0.7 * common + 0.3 * topics[code])) for code in codes]
    known = np.full(len(codes), None, dtype=object)
    seen = rng.choice(4 * size, 20, replace=False)
    known[seen] = codes[seen].astype(str)
    ids, ends = np.arange(len(codes)).astype(str), np.concatenate(ends)
    return texts, codes, known, ids, Links(ids[ends[:, 0]], ids[ends[:, 1]])


def test_links_count_less_in_pieces_of_a_graph_where_no_label_is_known():
    texts, _, known, ids, links = pieces_of_a_graph(1)
    model = CollectiveClassifier().fit(texts, known, links=links, ids=ids)
    found = model.model_.among_known
    assert found.apart is not None
    assert not np.allclose(found.apart, found.fusion)
    beliefs = model.predict_proba(texts, links=links, ids=ids, known=known)
    told = model.explain(ids[-1], texts, links=links, ids=ids, known=known)
    assert told.attrs["label"] == model.classes_[beliefs[-1].argmax()]
    # Where all labels stand in one piece, nothing tells what links count in the others.
    alone = np.where(np.arange(len(ids)) < 60, known, None)
    alone[:4] = ["0", "1", "0", "1"]
    apart = CollectiveClassifier().fit(texts, alone, links=links, ids=ids)
    assert_allclose(apart.model_.among_known.apart, [1.0, 0.0, 0.0])
    local, joint = (
        apart.content_proba(texts, links=links, ids=ids),
        apart.predict_proba(texts, links=links, ids=ids, known=alone),
    )
    linked = np.isin(ids, np.concatenate([links.source, links.target])) & (np.arange(len(ids)) >= 60)
    drawn = apart.model_.among_known.drawn(np.log(local))
    assert_allclose(joint[linked], np.exp(drawn[linked]), atol=1e-9)
    assert np.abs(joint[4:60] - local[4:60]).max() > 0.01


def test_one_debate_does_not_tell_what_links_count_in_another():
    """The texts of a debate are right or wrong together: one debate may be an exception, and another its opposite."""
    losses = []
    for seed in range(3):
        X, y, ids, links = graph(n=80, n_labels=2, homophily=0.95, topic=0.15, seed=seed)
        model = CollectiveClassifier().fit(X, y, links=links, ids=ids, groups=np.full(80, "first"))
        rng = np.random.default_rng(seed)
        new = Links(ids[rng.integers(0, 40, 160)], ids[rng.integers(40, 80, 160)])  # links that say nothing
        told = {"links": new, "ids": ids, "groups": np.full(80, "second")}
        codes = np.unique(y, return_inverse=True)[1]
        for p in (model.predict_proba(X, **told), model.content_proba(X, **told)):
            losses.append(-np.log(p[np.arange(80), codes]).mean())
    joint, local = np.reshape(losses, (3, 2)).T
    assert np.all(joint < local + 0.02)


def test_links_that_differ_help_too():
    X, y, ids, links = graph(n_labels=2, homophily=0.1, topic=0.15)
    known = part(y, 0.5)
    free = pd.isna(known)
    model = CollectiveClassifier().fit(X, known, links=links, ids=ids)
    right = np.mean(model.predict(X, links=links, ids=ids, known=known)[free] == y[free])
    assert right > np.mean(model.classes_[model.content_proba(X, links=links, ids=ids).argmax(axis=1)][free] == y[free])


def test_a_link_of_weight_zero_is_no_link():
    X, y, ids, links = graph()
    more = Links(
        np.append(links.source, ids[:50]), np.append(links.target, ids[50:100]),
        weights=np.append(np.ones(links.n_links), np.zeros(50)),
    )  # fmt: skip
    p = [
        CollectiveClassifier().fit(X, y, links=each, ids=ids).predict_proba(X, links=each, ids=ids)
        for each in (links, more)
    ]
    assert_allclose(p[0], p[1], atol=1e-9)
    heavy = Links(links.source, links.target, weights=np.full(links.n_links, 7.0))
    p.append(CollectiveClassifier().fit(X, y, links=heavy, ids=ids).predict_proba(X, links=heavy, ids=ids))
    assert_allclose(p[0], p[2], atol=1e-9)


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_given_features_are_scaled(factor):
    X, y, ids, links = graph()
    seen = np.arange(len(y)) < 300
    counts = CollectiveClassifier().fit(factor * X[seen], y[seen], links=links, ids=ids[seen])
    assert np.mean(counts.predict(factor * X[~seen], links=links, ids=ids[~seen]) == y[~seen]) > 0.75
    shifted = factor * (X + 5.0) * np.linspace(0.1, 10.0, X.shape[1])
    dense = CollectiveClassifier().fit(shifted[seen], y[seen], links=links, ids=ids[seen])
    assert np.mean(dense.predict(shifted[~seen], links=links, ids=ids[~seen]) == y[~seen]) > 0.7
    assert not sp.issparse(shifted)


def test_scores_of_cross_validation_include_the_links():
    X, y, ids, links = graph(n=300, topic=0.1)
    counts = pd.DataFrame(X, columns=[f"word {i}" for i in range(X.shape[1])]).assign(item_id=ids)
    with sklearn.config_context(enable_metadata_routing=True):
        model = CollectiveClassifier().set_fit_request(links=True).set_score_request(links=True)
        joint = cross_val_score(model, counts, y, params={"links": links}, cv=2).mean()
        bare = Links([], [])
        local = cross_val_score(model, counts, y, params={"links": bare}, cv=2).mean()
        assert joint > local + 0.03
        # Words of neighbours help only where both fit and score are given the links.
        grid = {"coupling": [0.0], "neighbour_words": ["own", "both"]}
        search = GridSearchCV(model, grid, cv=2).fit(counts, y, links=links)
        assert search.best_params_["neighbour_words"] == "both"
        line = make_pipeline(FunctionTransformer(), model)
        assert cross_val_score(line, counts, y, params={"links": links}, cv=2).mean() == pytest.approx(joint)


def test_a_score_counts_the_texts_whose_label_was_not_given():
    X, y, ids, links = graph(n=200)
    model = CollectiveClassifier().fit(X, part(y, 0.5), links=links, ids=ids)
    known, truth = part(y, 0.5), y.copy()
    truth[:20] = None
    asked = pd.isna(known) & ~pd.isna(truth)
    told = model.predict(X, links=links, ids=ids, known=known)
    found = model.score(X, truth, links=links, ids=ids, known=known)
    assert found == pytest.approx(np.mean(told[asked] == y[asked]))
    assert found < 1.0
    with pytest.raises(InputError, match="not given in known"):
        model.score(X, y, links=links, ids=ids, known=y)


@pytest.mark.parametrize(("n_labels", "homophily"), [(5, 0.6), (2, 0.85)])
def test_links_among_new_texts_count_no_more_than_they_say(n_labels, homophily):
    """Neighbours of training texts were trained on, those of new texts were not."""
    losses = []
    for seed in range(3):
        X, y, ids, links = graph(n=400, n_labels=n_labels, homophily=homophily, topic=0.1, seed=seed)
        old, new = np.arange(200), np.arange(200, 400)
        truth = np.unique(y, return_inverse=True)[1][new]
        alone = {"coupling": 0.0, "neighbour_words": "own", "implicit": 0}
        for settings in ({}, alone):
            model = CollectiveClassifier(**settings).fit(X[old], y[old], links=links, ids=ids[old])
            p = model.predict_proba(X[new], links=links, ids=ids[new])
            losses.append(-np.log(p[np.arange(200), truth]).mean())
    joint, local = np.reshape(losses, (3, 2)).T
    assert joint.mean() < local.mean() + 0.005


@pytest.mark.parametrize("worded", [True, False])
def test_partly_labelled_texts_in_any_order_and_of_any_name_give_the_same_beliefs(worded):
    X, y, ids, links = graph(n=150, n_labels=2)
    rng = np.random.default_rng(0)
    words = rng.choice(["I agree with", "I object to", "as said by"], links.n_links)
    links = Links(links.source, links.target, contexts=words if worded else None)
    known = part(y, 0.6)
    first = CollectiveClassifier().fit(X, known, links=links, ids=ids)
    order, moved = rng.permutation(150), links.subset(rng.permutation(links.n_links))
    named = np.array([None if each is None else {"label 0": "z", "label 1": "a"}[each] for each in known], dtype=object)
    called = np.array([f"q{i}" for i in rng.permutation(150)], dtype=object)
    place = dict(zip(ids, called, strict=True))
    moved = Links([place[i] for i in moved.source], [place[i] for i in moved.target], contexts=moved.contexts)
    second = CollectiveClassifier().fit(X[order], named[order], links=moved, ids=called[order])
    for a, b in ((None, None), (known, named[order])):
        expected = first.predict_proba(X, links=links, ids=ids, known=a)[order, ::-1]
        assert_allclose(second.predict_proba(X[order], links=moved, ids=called[order], known=b), expected, atol=1e-6)


def test_equal_pieces_of_a_graph_without_words_may_change_places():
    ends = np.array([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)])
    ends = np.concatenate([ends + 5 * piece for piece in range(8)])
    label = np.array([0, 0, 1, 1, -1] * 8)
    found = []
    for order in (np.arange(40), np.random.default_rng(0).permutation(40)):
        names = np.array([f"t{i:02d}" for i in order], dtype=object)  # of text i
        y = np.array([("a", "b", None)[each] for each in label], dtype=object)
        at = np.argsort(order)
        links = Links(names[ends[:, 0]], names[ends[:, 1]])
        rows = pd.DataFrame({"item_id": names[at]})
        p = CollectiveClassifier().fit(rows, y[at], links=links).predict_proba(rows, links=links, known=y[at])
        found.append(p[order])
    assert_allclose(found[1], found[0], atol=1e-6)


def test_texts_without_ids_may_come_in_any_order():
    texts = np.array([f"{'we agree' if k % 3 else 'they object'} {k % 7} {k}" for k in range(60)], dtype=object)
    y, order = np.where(np.arange(60) % 2, "yes", "no"), np.random.default_rng(0).permutation(60)
    expected = CollectiveClassifier().fit(texts, y).predict_proba(texts)
    shuffled = CollectiveClassifier().fit(texts[order], y[order]).predict_proba(texts[order])
    assert_allclose(shuffled, expected[order], atol=1e-6)


SAMPLES = {
    "Chinese": "很好吃，我喜欢|味道很好|非常喜欢这里|服务很好|太难吃了|味道很差|不会再来|服务很差",
    "Japanese": "とてもおいしい|店が良い|大好きです|また来たい|まずいです|店が悪い|大嫌いです|二度と来ない",
    "German": "sehr gut|das Essen war gut|gerne hier|schöner Abend|sehr übel|nie wieder|kalt und teuer|üble Küche",
    "Hindi": "खाना अच्छा था|अच्छी सेवा|पसंद आया|अच्छा अनुभव|खाना बुरा था|खराब सेवा|पसंद नहीं|बुरा अनुभव",
    "emoji": "👍🏽 good|😀😀|love 👍🏽|😀 yes|👎 bad|😡😡|hate 👎|😡 no",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_texts_of_every_script_train_predict_and_explain(language):
    texts, labels = SAMPLES[language].split("|") * 3, (["good"] * 4 + ["bad"] * 4) * 3
    ids = [f"t{i}" for i in range(24)]
    table = pd.DataFrame({"item_id": ids, "text": texts})
    links = Links(ids[:-8], ids[8:], contexts=[text.split()[0] for text in texts[:-8]])
    model = CollectiveClassifier().fit(table.iloc[:20], labels[:20], links=links)
    assert np.mean(model.predict(table.iloc[20:], links=links) == np.array(labels[20:])) >= 0.75
    told = model.explain("t20", table, links=links)
    words = told.loc[told["kind"] == "word", "reason"]
    assert any(word in texts[20].lower() for word in words)


def test_vectors_stand_beside_words():
    _, y, ids, links = graph(n=120, n_labels=2)
    texts = pd.DataFrame({"item_id": ids, "text": [f"the {i % 7}" for i in range(120)]})

    def encode(given):
        return np.array(
            [[1.0, float(len(text)), float(int(text.split()[-1]) if text[-1].isdigit() else 0)] for text in given]
        )

    model = CollectiveClassifier(vectors=encode).fit(texts, y, links=links)
    assert (
        model.content_.own is None or model.content_.own.shape[1] == len(model.vectoriser_.get_feature_names_out()) + 3
    )
    model.vectors = None
    with pytest.raises(InputError, match="give the same function again"):
        model.predict(texts, links=links)


@pytest.mark.corpora
def test_shuffled_and_renamed_debates_have_the_same_beliefs(accord_data):
    items, labels, links = convote.load(accord_data).graph("two")
    debates = np.asarray(items.groups)
    some = np.unique(debates)[:14]
    train, test = np.flatnonzero(np.isin(debates, some[:10])), np.flatnonzero(np.isin(debates, some[10:]))
    table = pd.DataFrame({"item_id": items.ids, "text": items.texts, "group_id": debates})
    rng = np.random.default_rng(0)
    settings = {"coupling": 1.0, "neighbour_words": "own"}
    first = CollectiveClassifier(**settings).fit(table.iloc[train], labels[train], links=links)
    a = first.predict_proba(table.iloc[test], links=links)
    train, order = rng.permutation(train), rng.permutation(len(test))
    links = links.subset(rng.permutation(links.n_links))
    names = np.where(labels == "Y", "against", "for")
    called = dict(zip(items.ids, [f"speech {k}" for k in rng.permutation(len(items.ids))], strict=True))
    table["item_id"], table["group_id"] = table["item_id"].map(called), [f"debate {g[::-1]}" for g in debates]
    links = replace(links, **{end: np.array([called[i] for i in getattr(links, end)]) for end in ("source", "target")})
    second = CollectiveClassifier(**settings).fit(table.iloc[train], names[train], links=links)
    b = second.predict_proba(table.iloc[test[order]], links=links)
    assert_allclose(b[:, 0], a[order, 1], atol=1e-6)


def test_texts_alone_and_links_in_a_table_are_what_a_table_and_a_record_are():
    texts = [f"{'we agree' if k % 2 else 'they object'} on point {k}" for k in range(40)]
    labels, ids = np.where(np.arange(40) % 2, "yes", "no"), [f"t{k}" for k in range(40)]
    table, ends = pd.DataFrame({"item_id": ids, "text": texts}), pd.DataFrame({"src_id": ids[:38], "dst_id": ids[2:]})
    record = CollectiveClassifier().fit(table, labels, links=Links.from_table(ends))
    given = CollectiveClassifier().fit(texts, labels, links=ends, ids=ids)
    expected = record.predict_proba(table, links=Links.from_table(ends))
    np.testing.assert_array_equal(given.predict_proba(texts, links=ends, ids=ids), expected)
    assert CollectiveClassifier().fit(texts, labels).predict(texts).shape == (40,)
    with pytest.raises(InputError, match="item_id"):
        CollectiveClassifier().fit(texts, labels, links=ends)
