"""Rankings of people and judges: judges help, and never drag the ranking away from people."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

from accord import AnchoredRanker
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.pairs.style import covariates_of, known_covariates, text_numbers
from synthetic.judges import judged_votes


def fitted(problem, *, covariates=(), only_people=False, **settings):
    votes = problem.votes
    if only_people:
        votes = votes.subset(votes.annotator < 6)
    table = votes.to_table()
    ranker = AnchoredRanker(covariates=covariates, **{"n_draws": 600, "burn_in": 200, **settings})
    return ranker.fit(
        *votes.xy(),
        items=votes.items,
        annotator=table["annotator_id"],
        judges=problem.judges,
        shown_left=table["shown_left_id"],
    )


def spearman(ranker, problem):
    return spearmanr(ranker.score_items(), problem.quality)[0]


def test_biased_judges_help_with_covariates_and_do_no_harm_without():
    problem = judged_votes()
    alone = spearman(fitted(problem, only_people=True), problem)
    ranker = fitted(problem, covariates=["meta.x"])
    assert spearman(ranker, problem) > alone + 0.03
    slopes = ranker.slopes_.set_index("annotator")
    assert slopes.loc[["judge-1", "judge-2"], "slope"].to_numpy() == pytest.approx([1.0, 1.0], abs=0.2)
    assert (slopes["low"] < slopes["slope"]).all()
    without = fitted(problem)
    assert spearman(without, problem) > alone - 0.01  # of votes pooled it falls to .4
    assert not without.judges_["used"].any()
    table = without.rank().set_index("item_id").loc[problem.votes.items.ids]
    truth = problem.quality - problem.quality.mean()
    assert np.mean((table["low"] < truth) & (truth < table["high"])) > 0.75


def test_unbiased_judges_help_and_their_votes_are_said():
    problem = judged_votes(share=1.0, length=0.0, position=0.8)
    ranker = fitted(problem, covariates=["position"])
    assert spearman(ranker, problem) > spearman(fitted(problem, only_people=True), problem) + 0.03
    slopes = ranker.slopes_.set_index("annotator")["slope"]
    assert slopes["judge-1"] == pytest.approx(0.8, abs=0.15)
    assert slopes["people"] == pytest.approx(0.0, abs=0.25)
    assert ranker.judges_["share"].to_numpy() == pytest.approx([1.0, 1.0], abs=0.4)
    assert (ranker.rank()["n_people"] < ranker.rank()["n_votes"]).all()


def test_swapping_left_and_right_changes_nothing_that_matters():
    votes = judged_votes(n_items=8, n_people=120, n_judged=300).votes
    swapped = Comparisons(
        votes.items, votes.right, votes.left, 1.0 - votes.value, votes.annotator, votes.annotators, shown=-votes.shown
    )
    one, other = (covariates_of(given, ["position", "meta.x"]).values for given in (votes, swapped))
    assert np.array_equal(one, -other)


def test_a_ranker_keeps_the_promises_of_estimators():
    problem = judged_votes(n_items=8, n_people=60, n_judged=120)
    ranker = fitted(problem, n_draws=400)
    again = clone(ranker)
    assert again.get_params() == ranker.get_params()
    assert np.array_equal(fitted(problem, n_draws=400).score_items(), ranker.score_items())
    p = ranker.predict_proba([("text1", "text2"), ("text2", "text1")])
    assert p[0, 1] == pytest.approx(p[1, 0])
    assert ranker.stability().settled >= 0.0


def test_people_are_missed_and_bad_input_is_refused_in_one_sentence():
    problem = judged_votes(n_items=6, n_people=10, n_judged=80)
    judged = problem.votes.subset(problem.votes.annotator >= 6)
    table = judged.to_table()
    with pytest.warns(UserWarning, match="no person voted"):
        AnchoredRanker(n_draws=400).fit(
            *judged.xy(), items=judged.items, annotator=table["annotator_id"], judges=problem.judges
        )
    with pytest.raises(InputError, match=r"no column 'meta\.y'"):
        fitted(problem, covariates=["meta.y"])
    with pytest.raises(InputError, match="a covariate is one of"):
        covariates_of(Comparisons(Items(["a", "b"], texts=["x", "y"]), [0], [1], [1.0]), ["colour"])
    with pytest.raises(InputError, match="whole votes; vote 1"):
        AnchoredRanker().fit([("a", "b")], [1], annotator=["m"], judges={"annotator_id": ["m"]}, sample_weight=[0.5])


def test_covariates_are_read_off_the_texts():
    texts = ["# Head\n\n- one\n- two\n1. three", "**Bold** and `code`.", "Plain text."]
    items = Items(["a", "b", "c"], texts=texts, authors=["m", "n", None])
    assert text_numbers(items, "lists").tolist() == [2.0, 0.0, 0.0]
    assert text_numbers(items, "markdown").tolist() == pytest.approx([1.0, np.log2(3), 0.0])
    assert text_numbers(items, "length")[2] == pytest.approx(np.log2(11))
    votes = Comparisons(items, [0, 0], [1, 2], [1.0, 0.0], [0, 1], ["judge", "ada"])
    assert covariates_of(votes, ["family"], {"judge": "n"}).values.tolist() == [[-1.0], [0.0]]
    assert known_covariates(votes, {"judge": "n"}) == ("length", "lists", "markdown", "family")
