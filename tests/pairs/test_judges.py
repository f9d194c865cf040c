"""Rankings of people and judges: judges help, and never drag the ranking away from people."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.stats import spearmanr
from sklearn.base import clone

from accord import AnchoredRanker
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.pairs.judged_votes import without_copies
from accord.pairs.judges import slope_sentence
from accord.pairs.style import covariates_of, known_covariates, text_numbers, told_apart
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
    people = ranker.annotators_
    assert ((people["low"] <= people["error"]) & (people["error"] <= people["high"])).all()
    assert (people["high"] - people["low"] > 0.049).all()


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
    with pytest.raises(InputError, match=r"'meta\.same' is the same in both texts of every vote"):
        told_apart(covariates_of(Comparisons(Items(["a", "b"], meta={"same": [2, 2]}), [0], [1], [1.0]), ["meta.same"]))
    with pytest.raises(InputError, match=r"meta\.x of 'b' is 1e\+300"):
        text_numbers(Items(["a", "b"], meta={"x": [1.0, 1e300]}), "meta.x")
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


def read(table):
    X, y = table[["left", "right"]], table["value"]
    return Comparisons.from_xy(X, y, annotator=table["annotator_id"], shown_left=table["shown_left_id"])


def test_a_judge_that_copies_another_adds_nothing():
    table = judged_votes(n_items=12, n_people=60, n_judged=90, n_judges=1).votes.to_table()
    copied = table[table["annotator_id"] == "judge-1"].assign(annotator_id="judge-2")
    families = {"judge-1": "a", "judge-2": "b"}
    votes, (note,) = without_copies(read(pd.concat([table, copied])), families)
    assert "judge-2 gives the answer of judge-1 to every one of" in note
    assert_frame_equal(votes.to_table(), read(table).to_table())
    assert "judge-2" not in set(votes.annotators)
    swapped = copied.rename(columns={"left": "right", "right": "left"}).assign(value=1.0 - copied["value"])
    assert without_copies(read(pd.concat([table, swapped])), families)[0].n_votes == len(table)
    other = copied.assign(value=np.where(np.arange(len(copied)) == 3, 1.0 - copied["value"], copied["value"]))
    votes, notes = without_copies(read(pd.concat([table, other])), families)
    assert notes == []
    assert votes.n_votes == len(table) + len(copied)
    assert without_copies(read(pd.concat([table, copied])), {"judge-1": "a"})[1] == []  # a person may agree


def test_the_same_answers_again_count_once_unless_a_judge_ever_changes_its_mind():
    table = judged_votes(n_items=12, n_people=60, n_judged=90, n_judges=1).votes.to_table()
    judged = table[table["annotator_id"] == "judge-1"].drop_duplicates(["left", "right"])
    people = table[table["annotator_id"] != "judge-1"]
    votes, (note,) = without_copies(read(pd.concat([people, judged, judged])), {"judge-1": "a"})
    assert "always answered alike" in note
    assert votes.n_votes == len(people) + len(judged)
    changed = judged.assign(value=np.where(np.arange(len(judged)) == 0, 1.0 - judged["value"], judged["value"]))
    votes, notes = without_copies(read(pd.concat([people, judged, changed])), {"judge-1": "a"})
    assert notes == []
    assert votes.n_votes == len(people) + 2 * len(judged)


@pytest.mark.filterwarnings("ignore:the draws of the posterior")  # a short chain is enough to name them
def test_judges_that_tell_nothing_are_named():
    problem = judged_votes(n_items=10, n_people=60, n_judged=40, n_judges=1)
    X, y = problem.votes.xy()
    who = problem.votes.to_table()["annotator_id"]
    own = (who == "judge-1").to_numpy()
    settings = {"annotator": who, "judges": problem.judges, "items": problem.votes.items}
    with pytest.warns(UserWarning, match="every vote of judge-1 is a draw"):
        AnchoredRanker(covariates=[], n_draws=400).fit(X, np.where(own, 0.5, y), **settings)
    apart = pd.DataFrame({"left": np.where(own, "a", X["left"]), "right": np.where(own, "b", X["right"])})
    items = Items([*problem.votes.items.ids, "a", "b"])
    with pytest.warns(UserWarning, match="judge-1 and people voted on no text in common"):
        ranker = AnchoredRanker(covariates=[], n_draws=400).fit(apart, y, **{**settings, "items": items})
    assert not ranker.judges_["used"].any()
    with pytest.warns(UserWarning, match="judge-1 chooses the text that is named first in all of its 40 votes"):
        AnchoredRanker(covariates=[], n_draws=400).fit(X, np.where(own, 1.0, y), **settings)


def test_families_of_several_judges_are_their_own():
    assert slope_sentence("judges", "family", 0.9, 0.4, 1.4).startswith("judges prefer texts of their own family")


def test_a_file_of_a_judges_votes_that_was_written_twice_counts_once():
    table = judged_votes(n_items=12, n_people=60, n_judged=90, n_judges=1).votes.to_table()
    judged, people = (table[(table["annotator_id"] == "judge-1") == kind] for kind in (True, False))
    votes, (note,) = without_copies(read(pd.concat([people, judged, judged])), {"judge-1": "a"})
    assert "is there 2 times" in note
    counts = [part.groupby(["left", "right", "value"]).size() for part in (read(table).to_table(), votes.to_table())]
    pd.testing.assert_series_equal(*counts)
    once_more = pd.concat([people, judged, judged.head(60)])  # not all of it: these are votes of their own
    assert without_copies(read(once_more), {"judge-1": "a"})[1] == []


def test_what_judges_see_in_a_text_is_their_slope_times_how_far_it_is_from_the_mean():
    problem = judged_votes(n_items=12, n_people=60, n_judged=120)
    ranker = fitted(problem, covariates=("meta.x",))
    item = problem.votes.items.ids[int(np.argmax(problem.covariate))]
    table = ranker.explain(item).set_index("annotator")
    slope = ranker.slopes_.set_index("annotator")
    apart = problem.covariate.max() - problem.covariate.mean()
    assert set(table.index) == {"judge-1", "judge-2"}
    for name in table.index:
        assert table.loc[name, "effect"] == pytest.approx(apart * slope.loc[name, "slope"])
        assert table.loc[name, "low"] < table.loc[name, "effect"] < table.loc[name, "high"]
    with pytest.raises(InputError):
        ranker.explain("nobody wrote this")
