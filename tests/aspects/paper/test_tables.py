from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from accord.aspects import AspectRanker, baselines
from accord.aspects.paper import tables as aspects
from accord.aspects.paper.figures import draw_figures
from accord.aspects.paper.tables import _splits
from accord.evaluation.metrics import ranking_loss
from accord.evaluation.resume import FinishedParts
from accord.evaluation.tables import Row
from synthetic import aspect_ratings


def test_splits_have_the_papers_sizes_and_disjoint_tests():
    splits = list(_splits(6166, 10))
    tests = np.concatenate([test for _, _, test in splits])
    assert len(np.unique(tests)) == 5000
    for train, dev, test in splits:
        assert (len(train), len(dev), len(test)) == (3488, 500, 500)
        assert len(np.unique(np.concatenate([train, dev, test]))) == 4488


def test_ridge_thresholds_have_the_least_loss_of_all_cuts():
    rng = np.random.default_rng(0)
    scores, ranks = rng.normal(size=12), rng.integers(1, 4, size=12)
    cuts = baselines._thresholds(scores, ranks, 3)
    ours = ranking_loss(ranks, 1 + np.searchsorted(cuts, scores))
    edges = np.concatenate([[-9.0], np.sort(scores)])
    every = [ranking_loss(ranks, 1 + np.searchsorted([a, b], scores)) for a in edges for b in edges if a <= b]
    assert ours == pytest.approx(min(every))


def test_baselines_beat_the_best_constant_and_leave_out_missing_scores():
    data = aspect_ratings(700, n_ranks=4, noise=0.3, missing=0.1, random_state=1)
    x, y = sp.csr_array(data.ratings.items.features), data.ratings.ranks.astype(np.int64)
    parts = (x[:400], y[:400], x[400:550], y[400:550], x[550:])
    truth = data.complete[550:]
    constant = ranking_loss(truth, np.full(truth.shape, 2))
    for baseline in (baselines.ridge, baselines.ordinal_logistic, baselines.multinomial):
        for ranks in baseline(*parts, n_ranks=4).values():
            assert ranking_loss(truth, ranks) < 0.8 * constant


def test_rows_of_the_paper_are_those_of_the_exported_class():
    data = aspect_ratings(400, n_ranks=5, noise=0.3, random_state=2)
    x, y = sp.csr_array(data.ratings.items.features), data.complete.astype(np.int64)
    parts = [slice(0, 250), slice(250, 320), slice(320, 400)]
    split = aspects._Split(tuple(x[p] for p in parts), tuple(y[p] for p in parts), ("a", "b", "c"), 3)
    found = aspects._run(split)
    truth = y[parts[2]]
    agreement = AspectRanker(model="good_grief", n_epochs=5, random_state=3).fit(*held(x, y)).agreement_
    for row in ("prank", "sim", "gg_joint", "gg_sim"):
        settings = {"n_epochs": 5, "agreement": agreement, "random_state": 3} | aspects.PERCEPTRON_ROWS[row]
        ranker = AspectRanker(**settings).fit(x[:250], y[:250], development=(x[250:320], y[250:320]))
        assert_array_equal(found.ranks[row], ranker.predict(x[320:]))
    default = AspectRanker(random_state=3).fit(x[:250], y[:250])
    assert_array_equal(found.ranks["default"], default.predict(x[320:]))
    nll = -default.log_likelihood(x[320:], truth).mean()
    assert found.figures["default", "joint_nll"] == pytest.approx(nll, abs=1e-9)


def held(x, y):
    return x[:250], y[:250]


@pytest.mark.corpora
def test_a_small_run_has_every_row_and_the_majority_figures_of_the_data(accord_data, monkeypatch, tmp_path):
    """Two tiny splits of we8there only: the rows are there, and constants have the known losses."""
    monkeypatch.setattr(aspects, "_SIZES", (300, 80, 200))
    rows = _we8there_only(tmp_path)
    monkeypatch.setattr(aspects, "_run", lambda split: pytest.fail("a finished split was run again"))
    assert _we8there_only(tmp_path) == rows
    assert {row.table for row in rows} == {"we8there", "figure_2/we8there", "figure_3/we8there"}
    names = {row.row for row in rows if row.metric == "loss"}
    assert {"majority_5", "majority_4", "prank", "sim", "sim_others", "gg_sim", "gg_decode", "gg",
            "gg_oracle", "ordinal_crf", "ridge",
            "ridge_thresholds", "ordinal_logistic", "multinomial", "default"} <= names  # fmt: skip
    value = {(row.row, row.metric): row for row in rows}
    # The data's README: always saying 5 costs 1.043 a score.
    assert value["majority_5", "loss"].ours == pytest.approx(1.043, abs=0.1)
    assert value["majority_5", "loss"].paper == 1.001
    assert value["default", "loss"].ours < value["majority_4", "loss"].ours
    assert value["default", "joint_nll"].ours < value["stacked", "joint_nll"].ours
    assert 0 <= value["gg", "sign_test_p/prank"].ours <= 1


def _we8there_only(folder):
    from accord.data.corpora import we8there

    ratings = we8there.load()
    ranks = ratings.ranks.astype(np.int64)
    jobs = [
        (
            "we8there",
            partial(aspects._prepared, ratings.items.features, ranks, parts, we8there.ASPECTS, i, min_texts=1),
        )
        for i, parts in enumerate(_splits(len(ranks), 2))
    ]
    seen = []
    kept = FinishedParts(folder)
    outcomes = aspects._outcomes(jobs, lambda *progress: seen.append(progress), 1, kept)["we8there"]
    assert_array_equal([done for _, done, _ in seen], [1, 2])
    rows = aspects._rows("we8there", outcomes, we8there.ASPECTS, paper=True)
    return rows + aspects._figure_rows("we8there", outcomes)


def test_figures_are_drawn_from_rows(tmp_path):
    rows = [
        Row("figure_2/we8there", name, f"loss@{i}", None, 0.6, 0.5, 0.7, 2) for name in ("prank", "gg") for i in (1, 2)
    ]
    rows += [Row("figure_3/we8there", "agreement", f"accuracy@{i}%", None, 80.0, 70.0, 90.0, 2) for i in (10, 100)]
    rows += [Row("we8there", "gg", "loss", None, 0.6, 0.5, 0.7, 2)]
    drawn = draw_figures(rows, tmp_path / "pictures")
    assert [path.name for path in drawn] == ["aspects-figure-2-we8there.svg", "aspects-figure-3-we8there.svg"]
    assert all("<svg" in path.read_text(encoding="utf-8") for path in drawn)
