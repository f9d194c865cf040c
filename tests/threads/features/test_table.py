from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from accord.data.threads import Threads
from accord.errors import InputError
from accord.fitting.folds import group_folds
from accord.texts.cache import cached_arrays, content_key
from accord.threads.features.context import thread_context
from accord.threads.features.cues import STYLE_CUES, THREAD_CUES, comment_cues, dialogue_parts, style_cues, thread_cues
from accord.threads.features.edges import ThreadEdges, complete_pairs, n_pairs
from accord.threads.features.stacking import StackedLogits
from accord.threads.features.table import ThreadFeatures


def make_threads(lengths, **columns):
    n = sum(lengths)
    defaults = {
        "thread_ids": [f"t{k}" for k in range(len(lengths))],
        "offsets": np.concatenate([[0], np.cumsum(lengths)]),
        "comment_ids": [f"c{k}" for k in range(n)],
        "texts": [f"comment number {k} about oil" for k in range(n)],
    }
    return Threads(**(defaults | columns))


def objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


THREAD = make_threads(
    [5, 1],
    texts=objects(["Try the oil shop.", "Which shop?", "The one in Doha", "thanks a lot", "", "hello"]),
    questions=objects(["Where is good oil?", None]),
    askers=objects(["ann", None]),
    authors=objects(["bob", "ann", "bob", "ann", None, None]),
    categories=objects(["Shopping", None]),
    labels=objects(["Good", "Bad", "Good", "Bad", "Bad", "Good"]),
)


def column(threads, name):
    return thread_cues(threads)[:, THREAD_CUES.index(name)]


def test_nearness_falls_by_a_tenth_a_comment_and_stops_at_the_thread():
    talk = make_threads(
        [5, 2],
        texts=objects(["a", "b", "thanks", "c", "Where?", "d", "e"]),
        askers=objects(["ann", "bob"]),
        authors=objects(["bob", "cy", "ann", "bob", "ann", "cy", "cy"]),
    )
    assert_allclose(column(talk, "later_asker_thanks"), [0.9, 1.0, 0, 0, 0, 0, 0])
    assert_allclose(column(talk, "later_asker_asks"), [0, 0, 0, 1.0, 0, 0, 0])


def test_only_the_nearest_comment_of_the_asker_counts():
    assert_allclose(column(THREAD, "later_asker_thanks"), [0, 0, 1.0, 0, 0, 0])
    assert_allclose(column(THREAD, "later_asker_asks"), [1.0, 0, 0, 0, 0, 0])
    assert_allclose(column(THREAD, "earlier_asker_asks"), [0, 0, 1.0, 0, 0, 0])


def test_dialogue_has_one_start_and_one_end_for_each_pair():
    parts = dialogue_parts(np.array([0, 5]), np.array([1, 0, 1, 0, -1]), np.array([0]))
    assert_allclose(parts[:, :3], [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert not parts[:, 3:].any()


def test_unknown_users_write_alone_and_are_never_the_asker():
    assert_allclose(column(THREAD, "user_writes_again"), [1, 1, 1, 1, 0, 0])
    assert_allclose(comment_cues(THREAD)[:, 0], [0, 1, 0, 1, 0, 0])


def test_complete_pairs_are_all_combinations_in_order():
    left, right = complete_pairs(np.array([0, 4, 4, 5, 7]))
    expected = [*combinations(range(4), 2), (5, 6)]
    assert list(zip(left, right, strict=True)) == expected
    assert_array_equal(n_pairs(np.array([0, 4, 4, 5, 7])), [6, 0, 0, 1])


def test_edges_follow_the_rows_that_are_present():
    offsets = np.array([0, 4, 6])
    left, right = complete_pairs(offsets)
    edges = ThreadEdges(objects(list("abcdef")), offsets, (10.0 * left + right)[:, None], ("pair",))
    assert_allclose(edges.aligned(objects(["f", "e", "d", "a", "b"]), np.array([0, 2, 5]))[:, 0], [45, 3, 13, 1])
    assert edges.aligned(None, offsets) is edges.values
    with pytest.raises(InputError, match="'x' is not"):
        edges.aligned(objects(["x"]), np.array([0, 1]))
    with pytest.raises(InputError, match="inside one thread"):
        edges.aligned(objects(["a", "f"]), np.array([0, 2]))


@pytest.mark.parametrize("features", ["text", "paper"])
def test_features_of_odd_threads_are_finite_and_in_order(features):
    transformer = ThreadFeatures(features=features)
    table = transformer.fit_transform(THREAD)
    assert list(table.index) == list(THREAD.comment_ids)
    assert np.isfinite(table.to_numpy()).all()
    assert_allclose(transformer.transform(THREAD), table)
    alone = transformer.transform(THREAD.subset([1]))
    assert_allclose(alone.to_numpy(), table.iloc[5:].to_numpy())
    assert transformer.edges(THREAD.subset([1])).values.shape[0] == 0


def test_threads_without_question_author_and_category_have_features():
    bare = make_threads([2, 1])
    assert np.isfinite(ThreadFeatures(features="paper").fit_transform(bare).to_numpy()).all()


def test_a_comment_like_the_question_is_more_similar_than_another():
    table = ThreadFeatures().fit_transform(THREAD)
    assert table["similarity/cosine_11"].iloc[0] > table["similarity/cosine_11"].iloc[3]


def test_features_are_cached_by_content(tmp_path):
    transformer = ThreadFeatures(cache_dir=tmp_path)
    first = transformer.fit_transform(THREAD)
    transformer.edges(THREAD)
    stored = sorted(path.name for path in (tmp_path / "threads").iterdir())
    assert len(stored) == 2
    assert_allclose(ThreadFeatures(cache_dir=tmp_path).fit_transform(THREAD), first)
    assert sorted(path.name for path in (tmp_path / "threads").iterdir()) == stored
    ThreadFeatures(cache_dir=tmp_path).fit_transform(THREAD.subset([0]))
    assert len(list((tmp_path / "threads").iterdir())) == 3


def test_cache_computes_once_and_keys_tell_missing_from_empty(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"a": np.arange(3)}

    key = content_key(objects(["x", None]), {"n": 1})
    assert key != content_key(objects(["x", ""]), {"n": 1})
    assert key != content_key(objects(["x", None]), {"n": 2})
    for _ in range(2):
        assert_array_equal(cached_arrays(tmp_path, key, compute)["a"], np.arange(3))
    assert len(calls) == 1


def test_stacked_logits_never_see_their_own_thread():
    # Each thread has its own word and a random label: within the fold the word gives the label away.
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    y = np.where(rng.random(60) < 0.5, "Good", "Bad")[groups]
    texts = objects([f"secret{g} secret{g} word" for g in groups])
    dense = groups[:, None] % 7 * 1.0
    logits = StackedLogits(n_folds=3).fit_transform(texts, dense, y, groups, vectors=np.eye(60)[groups])
    assert logits.shape == (240, 5)
    for name, values in zip(("words", "characters", "vectors", "trees", "blend"), logits.T, strict=True):
        hit = np.mean((values > np.median(values)) == (y == "Good"))
        assert hit < 0.75, name


def test_no_label_of_a_fold_reaches_its_stacked_logits():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    folds = group_folds(groups, n_folds=3)
    y = np.where(rng.random(240) < 0.5, "Good", "Bad")
    other = np.where((folds == 1) & (y == "Good"), "Bad", np.where((folds == 1), "Good", y))
    texts = objects([f"{label} word{k % 7}" for k, label in enumerate(y)])
    dense = rng.normal(size=(240, 3)) + (y == "Good")[:, None]
    first, second = (StackedLogits(n_folds=3).fit_transform(texts, dense, given, groups) for given in (y, other))
    assert_allclose(second[folds == 1], first[folds == 1])
    assert (np.abs(second - first)[folds != 1].max(axis=0) > 0.1).all()


def test_two_folds_or_one_label_in_a_fold_are_stacked_too():
    groups = np.repeat(np.arange(6), 2)
    texts, dense = objects(["some words here"] * 12), np.arange(12.0)[:, None]
    y = np.where(groups == 3, "Good", "Bad")
    assert StackedLogits(n_folds=2).fit_transform(texts, dense, y, groups).shape == (12, 3)
    logits = StackedLogits(n_folds=3).fit_transform(texts, dense, y, groups)
    assert logits.shape == (12, 4)
    # Classifiers that saw one label alone tell nothing about a comment.
    assert_allclose(logits[groups == 3], 0.0)


def test_full_features_have_one_column_a_label_beyond_two_and_need_labels():
    rng = np.random.default_rng(1)
    labels = objects([("Good", "Bad", "Other")[k] for k in rng.integers(0, 3, 60)])
    threads = make_threads([2] * 30, labels=labels, texts=objects([f"{label} words here" for label in labels]))
    transformer = ThreadFeatures(features="full", n_folds=2)
    table = transformer.fit_transform(threads)
    stacked = [name for name in table if name.startswith("words/")]
    assert stacked == ["words/words=Bad", "words/words=Good", "words/words=Other"]
    best = table[stacked].to_numpy().argmax(axis=1)
    assert np.mean(np.array(["Bad", "Good", "Other"])[best] == labels) > 0.9
    assert list(transformer.transform(threads.subset([0])).columns) == list(table.columns)
    with pytest.raises(InputError, match="labelled comments"):
        ThreadFeatures(features="full").fit(make_threads([2] * 30))


def test_style_is_read_from_the_text():
    talk = make_threads([3], texts=objects(["LOL :) you!!", "", "Try the shop near Road 12, I did."]))
    found = dict(zip(STYLE_CUES, style_cues(talk).T, strict=True))
    assert_allclose(found["laughter"], [1, 0, 0])
    assert_allclose(found["advice"], [0, 0, 1])
    assert_allclose(found["first_person"], [0, 0, 1])
    assert_allclose(found["exclamations"], [2, 0, 0])
    assert_allclose(found["capitals"], [3 / 12, 0, 3 / 33])
    assert_allclose(found["very_short"], [1, 1, 0])
    assert np.isfinite(style_cues(talk)).all()


def test_stacked_classifiers_may_learn_finer_labels():
    rng = np.random.default_rng(0)
    texts = objects([f"word{k} " * 3 + f"other{rng.integers(4)}" for k in rng.integers(0, 3, 60)])
    finer = objects([f"label {text[4]}" for text in texts])
    threads = make_threads([2] * 30, texts=texts, labels=objects(["Good", "Bad"] * 30))
    made = ThreadFeatures(features="full", n_folds=3).fit_transform(threads, finer)
    assert {"words/words=label 0", "words/words=label 1", "words/words=label 2"} <= set(made.columns)
    best = made[[f"words/words=label {k}" for k in range(3)]].to_numpy().argmax(axis=1)
    assert np.mean(best == [int(label[-1]) for label in finer]) > 0.9


def test_unknown_feature_set_is_refused_with_the_choices():
    with pytest.raises(InputError, match="'text', 'paper', 'words' or 'full'"):
        ThreadFeatures(features="best").fit(THREAD)


def test_vectors_must_come_back_at_prediction():
    threads = make_threads([2] * 10, labels=objects(["Good", "Bad"] * 10))
    ids = objects([*threads.thread_ids, *threads.comment_ids])
    vectors = (ids, np.random.default_rng(0).normal(size=(30, 4)))
    transformer = ThreadFeatures(features="full", n_folds=2)
    assert "vector/cosine" in transformer.fit_transform(threads, vectors=vectors)
    assert "vector_cosine" in transformer.edges(threads, vectors=vectors).names
    with pytest.raises(InputError, match="give vectors="):
        transformer.transform(threads)


def test_context_is_what_stands_around_a_comment():
    threads = make_threads([3, 1], questions=objects(["Why? Who?", None]))
    asker, length = np.array([0.0, 1.0, 0.0, 0.0]), np.array([3.0, 5.0, 7.0, 9.0])
    made = thread_context(threads, {"comment/by_asker": asker, "style/log_length": length})
    assert made.shape == (4, 9 + 2 * 5 + 1)
    assert_array_equal(made[:, 0], [3, 3, 3, 1])  # comments in the thread
    assert_array_equal(made[:, 2:4], [[0, 2], [1, 1], [2, 0], [0, 0]])  # comments before and after
    assert_array_equal(made[:, 6], [2, 2, 2, 0])  # question marks of the question
    assert_array_equal(made[:, 7:9], [[0, 1], [0, 0], [1, 0], [0, 0]])  # of the asker, before and after
    # Two and one before, one and two after, the mean of the others, the rank.
    expected = [[0, 0, 5, 7, 6, 1 / 3], [0, 3, 7, 0, 5, 2 / 3], [3, 5, 0, 0, 4, 1], [0, 0, 0, 0, 0, 1]]
    assert_allclose(made[:, [*range(14, 19), 19]], expected)
