import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score

from accord.data.corpora import cqa
from accord.data.threads import Threads
from accord.evaluation.metrics import (
    accuracy,
    expected_calibration_error,
    mean_average_precision,
    mean_reciprocal_rank,
    precision_recall_f1,
)
from accord.threads import ThreadClassifier
from accord.threads.features.edges import ThreadEdges
from accord.threads.paper.picture import draw_thread
from accord.threads.paper.scores import Outcome, macro_row, mean_outcome, mrr_row, ratio_row, score_rows
from accord.threads.paper.tables import (
    CRFS,
    JOINT,
    N_DRAWS,
    PRINTED,
    ROWS,
    Features,
    binary,
    joined,
    outcomes_given,
    overlaps,
    pair_rows,
    three_labels,
)


def some_outcome(seed=0):
    rng = np.random.default_rng(seed)
    thread = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    truth = rng.integers(0, 2, len(thread))
    p = np.clip(0.5 + 0.3 * (truth - 0.5) + rng.normal(scale=0.2, size=len(thread)), 0, 1)
    return Outcome(thread, truth, (p > 0.5).astype(np.int64), p)


def test_figures_equal_the_metrics_and_lie_in_their_intervals():
    o = some_outcome()
    rows = {row.metric: row for row in score_rows("t", "r", o, paper={"f1": 81.5})}
    p, r, f1 = precision_recall_f1(o.truth, o.predicted)
    expected = {
        "p": p,
        "r": r,
        "f1": f1,
        "accuracy": accuracy(o.truth, o.predicted),
        "ece": expected_calibration_error(o.truth, o.probability),
        "map": mean_average_precision(o.thread, o.truth, o.probability),
    }
    for metric, value in expected.items():
        assert_allclose(rows[metric].ours, 100 * value, err_msg=metric)
        assert rows[metric].low < rows[metric].high
    assert rows["f1"].paper == 81.5
    assert rows["accuracy"].low < rows["accuracy"].ours < rows["accuracy"].high
    assert_allclose(mrr_row("t", "r", o).ours, 100 * mean_reciprocal_rank(o.thread, o.truth, o.probability))
    for row in (*score_rows("t", "r", o, all_threads=True), mrr_row("t", "r", o, all_threads=True)):
        if row.metric in ("map", "mrr"):
            measure = mean_average_precision if row.metric == "map" else mean_reciprocal_rank
            assert_allclose(row.ours, 100 * measure(o.thread, o.truth, o.probability, without="zero"))


def test_macro_f1_is_the_mean_over_labels():
    rng = np.random.default_rng(3)
    thread = np.repeat(np.arange(30), 5)
    truth, said = rng.choice(["Good", "Bad", "Potential"], size=(2, 150), p=[0.5, 0.4, 0.1])
    assert_allclose(macro_row("t", "r", thread, truth, said).ours, 100 * f1_score(truth, said, average="macro"))


def test_bootstrap_interval_is_that_of_resampled_threads():
    o = some_outcome(1)
    row = ratio_row("t", "r", "accuracy", o.thread, o.right)
    rng = np.random.default_rng(7)
    means = []
    for _ in range(1000):
        drawn = np.concatenate([np.flatnonzero(o.thread == t) for t in rng.integers(0, 40, 40)])
        means.append(100 * o.right[drawn].mean())
    assert_allclose([row.low, row.high], np.percentile(means, [2.5, 97.5]), atol=1.5)


def test_models_speak_together_by_the_mean_of_their_probabilities():
    one, other = some_outcome(0), some_outcome(0)
    other = Outcome(other.thread, other.truth, other.predicted, 1.0 - other.probability**2)
    both = mean_outcome([one, other])
    assert_allclose(both.probability, (one.probability + 1.0 - one.probability**2) / 2)
    assert_array_equal(both.predicted, both.probability > 0.5)
    assert_array_equal(mean_outcome([one]).predicted, one.predicted)


def small_threads(prefix, questions):
    n = len(questions)
    return Threads(
        thread_ids=[f"{prefix}{k}" for k in range(n)],
        offsets=2 * np.arange(n + 1),
        comment_ids=[f"{prefix}{k}c{c}" for k in range(n) for c in range(2)],
        texts=["one", "two"] * n,
        questions=questions,
        askers=["a"] * n,
        categories=["x"] * n,
        authors=["a", "b"] * n,
        labels=np.array(["Good", "Dialogue"] * n, dtype=object),
    )


def test_parts_are_joined_and_overlapping_questions_found():
    first, second = small_threads("p", ["Where is oil?", "Who?"]), small_threads("q", ["WHERE, is -- oil", "What?"])
    both = joined([first, second])
    assert both.n_threads == 4
    assert_array_equal(both.offsets, [0, 2, 4, 6, 8])
    assert_array_equal(overlaps(first, second), [True, False])
    assert set(binary(both).labels) == {"Good", "Bad"}
    assert set(three_labels(both).labels) == {"Good", "Bad"}  # a dialogue is no answer


def test_every_row_of_the_paper_is_a_choice():
    assert set(ROWS) | {"majority"} == set(PRINTED)
    for settings in ROWS.values():
        ThreadClassifier(**settings)._settings()
    assert set(CRFS) < set(JOINT) < set(ROWS)


def test_given_labels_are_scored_on_the_same_other_comments():
    rng = np.random.default_rng(0)
    thread = np.repeat(np.arange(60), 6)
    lean = rng.integers(0, 2, 60)
    truth = np.where(rng.random(360) < 0.85, lean[thread], 1 - lean[thread])
    X = pd.DataFrame(rng.normal(size=(360, 2)) + 0.3 * truth[:, None], index=[f"c{k}" for k in range(360)])
    y = np.where(truth == 1, "Good", "Bad").astype(object)
    edges = ThreadEdges(np.array(X.index), 6 * np.arange(61), np.zeros((60 * 15, 0)), ())
    data = Features(X, edges, y, thread)
    joint = outcomes_given(ThreadClassifier().fit(X, y, groups=thread), data)
    local = outcomes_given(ThreadClassifier(model="local").fit(X, y, groups=thread), data)
    assert all(len(found.truth) == N_DRAWS * 180 for found in joint)
    assert_array_equal(local[0].predicted, local[3].predicted)
    assert joint[3].right.mean() > local[3].right.mean() + 0.05


def test_the_edge_classifier_is_right_where_labels_of_a_thread_agree():
    rng = np.random.default_rng(0)
    thread = np.repeat(np.arange(60), 5)
    truth = np.repeat(rng.integers(0, 2, 60), 5)  # all labels of a thread are equal
    X = pd.DataFrame(rng.normal(size=(300, 2)) + truth[:, None], index=[f"c{k}" for k in range(300)])
    y = np.where(truth == 1, "Good", "Bad").astype(object)
    edges = ThreadEdges(np.array(X.index), 5 * np.arange(61), np.zeros((600, 0)), ())
    model = ThreadClassifier(**ROWS["li_me_lbp"]).fit(X, y, groups=thread, edges=edges)
    assert pair_rows("t", model, Features(X, edges, y, thread))[0].ours == 100.0
    half = y.copy()
    half[::2] = "Good"
    found = pair_rows("t", model, Features(X, edges, half, thread))[0].ours
    same = [half[i] == half[j] for t in range(60) for i in range(5 * t, 5 * t + 5) for j in range(i + 1, 5 * t + 5)]
    assert_allclose(found, 100 * np.mean(same))


def test_a_thread_is_drawn(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.array(["Good", "Bad"] * 30)
    model = ThreadClassifier().fit(x, y, groups=np.arange(60) // 4)
    path = draw_thread(model.explain(x[:4]), model.predict_proba(x[:4], groups=np.zeros(4))[:, 1], tmp_path / "t.svg")
    assert path.read_text().startswith("<?xml")


@pytest.mark.corpora
def test_real_threads_are_learned_from_and_beat_the_majority(accord_data):
    train = binary(cqa.load("2015/train", accord_data)).subset(np.arange(250))
    dev = binary(cqa.load("2015/dev", accord_data))
    model = ThreadClassifier(features="paper").fit(train)
    hits = np.mean(model.predict(dev) == dev.labels)
    assert hits > max(np.mean(dev.labels == "Good"), np.mean(dev.labels == "Bad")) + 0.1
