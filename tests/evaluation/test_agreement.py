"""Agreement, against published examples."""

import krippendorff
import numpy as np
import pytest
from statsmodels.stats import inter_rater as rater

from accord.errors import InputError
from accord.evaluation.agreement import (
    Answers,
    agreement_table,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    pairwise_kappas,
)

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", part C: four observers, twelve units, missing data.
_ = np.nan
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)
# Wikipedia, "Fleiss' kappa": fourteen raters, ten items, five categories.
FLEISS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)


# The same paper: .743, .815 and .849.
@pytest.mark.parametrize("level, published", [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level, published):
    assert krippendorff_alpha(KRIPPENDORFF, level=level) == pytest.approx(published, abs=5e-4)


def test_alpha_takes_labels_and_any_order():
    named = np.array([[None if v != v else f"label {v:g}" for v in row] for row in KRIPPENDORFF], dtype=object)
    expected = krippendorff_alpha(KRIPPENDORFF)
    assert krippendorff_alpha(named) == pytest.approx(expected)
    assert krippendorff_alpha(KRIPPENDORFF[::-1, ::-1]) == pytest.approx(expected)


def test_alpha_of_full_agreement_is_one():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1.0
    assert np.isnan(krippendorff_alpha([[1, 1], [1, 1]]))  # only one value: nothing to tell apart
    with pytest.raises(InputError, match="two annotators judged"):
        krippendorff_alpha([[1, _], [_, 2]])
    with pytest.raises(InputError, match="'nominal', 'ordinal' or 'interval'"):
        krippendorff_alpha(KRIPPENDORFF, level="ratio")


def test_fleiss_of_the_published_example():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)
    assert np.isnan(fleiss_kappa([[3, 0], [3, 0]]))  # only one label, as in other programs
    with pytest.raises(InputError, match="krippendorff_alpha"):
        fleiss_kappa([[2, 0], [1, 0]])


def test_cohen_of_the_published_example():
    # Wikipedia, "Cohen's kappa": 20 both yes, 5 only the first, 10 only the second, 15 both no: κ = 0.4.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert np.isnan(cohen_kappa(["a", "a"], ["a", "a"]))
    assert cohen_kappa(["a", "b"], ["a", "b"]) == 1.0


def test_a_single_row_is_not_a_table():
    with pytest.raises(InputError, match="table of items"):
        fleiss_kappa([1, 2])
    with pytest.raises(InputError, match="table of annotators"):
        krippendorff_alpha([1, 2])


def counts_of(values):
    names = sorted({v for row in values for v in row if v == v})
    return np.array([[sum(row[i] == name for row in values) for name in names] for i in range(len(values[0]))])


def test_ac1_of_the_published_example():
    # Gwet, "Handbook of Inter-Rater Reliability", 4th edition, table 2.9: the same four raters; AC1 = .77544.
    assert gwet_ac1(counts_of(KRIPPENDORFF)) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_another_program(level, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 6, (4, 30)).astype(float)
    values[:2] = np.where(rng.random((2, 30)) < 0.6, values[2], values[:2])
    values[rng.random(values.shape) < 0.3] = np.nan
    expected = krippendorff.alpha(values, level_of_measurement=level)
    assert krippendorff_alpha(values, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_kappas_equal_another_program(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (3, 25))
    values[1] = np.where(rng.random(25) < 0.7, values[0], values[1])
    counts = counts_of(values)
    assert fleiss_kappa(counts) == pytest.approx(rater.fleiss_kappa(counts), abs=1e-9)
    question, who = np.tile(np.arange(25), 3), np.repeat(np.arange(3), 25)
    table = pairwise_kappas(Answers(question, who, values.ravel(), [0, 1, 2]))
    for row in table.itertuples():
        joint = np.zeros((3, 3))
        np.add.at(joint, (values[row.first], values[row.second]), 1)
        assert row.value == pytest.approx(rater.cohens_kappa(joint).kappa, abs=1e-9)
        assert row.value == pytest.approx(cohen_kappa(values[row.first], values[row.second]), abs=1e-9)


def test_figures_of_the_table_are_those_of_the_functions_and_lie_in_their_intervals():
    who, question = np.nonzero(~np.isnan(KRIPPENDORFF))
    answers = Answers(question, who, KRIPPENDORFF[who, question].astype(int) - 1, [1, 2, 3, 4, 5])
    table = agreement_table(answers, level="ordinal").set_index("measure")
    assert table.loc["Krippendorff's α", "value"] == pytest.approx(krippendorff_alpha(KRIPPENDORFF, level="ordinal"))
    assert table.loc["Gwet's AC1", "value"] == pytest.approx(gwet_ac1(counts_of(KRIPPENDORFF)))
    assert "Fleiss's κ" not in table.index  # the number of answers varies
    assert ((table["low"] <= table["value"]) & (table["value"] <= table["high"])).all()
    assert (table["n"] == 11).all()


def test_a_weight_counts_as_that_many_equal_questions():
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 2, (3, 12)), rng.integers(1, 4, 12)
    question, who = np.tile(np.arange(12), 3), np.repeat(np.arange(3), 12)
    weighted = agreement_table(Answers(question, who, values.ravel(), [0, 1], np.arange(12), weight.astype(float)))
    again = np.repeat(values, weight, axis=1)
    assert weighted["value"][0] == pytest.approx(krippendorff_alpha(again))


def test_intervals_cover_the_agreement_of_all_texts():
    """Texts are easy or hard; the truth is α of a very large sample of them."""

    def draw(rng, n):
        label, easy = rng.integers(0, 3, n), rng.random(n) < 0.6
        noise = rng.integers(0, 3, (3, n))
        return np.where(rng.random((3, n)) < np.where(easy, 0.95, 0.5), label, noise)

    rng = np.random.default_rng(1)
    truth = krippendorff_alpha(draw(rng, 60_000))
    covered = []
    for seed in range(200):
        values = draw(np.random.default_rng([7, seed]), 60)
        question, who = np.tile(np.arange(60), 3), np.repeat(np.arange(3), 60)
        row = agreement_table(Answers(question, who, values.ravel(), [0, 1, 2]), random_state=seed).iloc[0]
        covered.append(row["low"] <= truth <= row["high"])
    assert 0.90 <= np.mean(covered) <= 0.98


def test_one_text_has_no_interval():
    table = agreement_table(Answers(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), ["a", "b"]))
    assert table[["low", "high"]].isna().all(axis=None)


def two_people(first, second, names=("no", "yes")):
    n = len(first)
    return Answers(np.tile(np.arange(n), 2), np.repeat([0, 1], n), np.concatenate([first, second]), list(names))


def test_full_agreement_on_a_few_questions_is_not_sure():
    few, many = (
        agreement_table(two_people(*[np.arange(n) % 2] * 2)).set_index("measure")[["value", "low", "high"]]
        for n in (4, 400)
    )
    assert (few["value"] == 1.0).all()
    assert (many["value"] == 1.0).all()
    assert few["high"].to_numpy() == pytest.approx(1.0)
    assert (few["low"] < 0.52).all()
    assert (many["low"] > 0.97).all()
    assert (many["low"] < 1.0).all()
    pair = pairwise_kappas(two_people(*[np.arange(4) % 2] * 2)).iloc[0]
    assert pair["value"] == 1.0
    assert pair["low"] < 0.1


def test_the_same_disagreement_everywhere_has_an_interval_too():
    table = agreement_table(two_people(np.arange(6) % 2, 1 - np.arange(6) % 2)).set_index("measure")
    assert table.loc["plain agreement", "value"] == 0.0
    assert (table["high"] > table["value"] + 0.3).all()


def test_one_label_has_agreement_but_none_beyond_chance():
    table = agreement_table(two_people(np.zeros(20, int), np.zeros(20, int), ["good"])).set_index("measure")
    assert table.loc[["Krippendorff's α", "Fleiss's κ"], ["value", "low", "high"]].isna().all(axis=None)
    assert table.loc["plain agreement", "value"] == 1.0
    assert table.loc["plain agreement", "low"] == pytest.approx(0.839, abs=1e-3)  # Wilson, 20 of 20


def test_intervals_hold_where_often_nobody_disagrees():
    rng, held = np.random.default_rng(0), []
    for _seed in range(100):
        first = rng.integers(0, 2, 25)
        second = np.where(rng.random(25) < 0.96, first, 1 - first)
        row = agreement_table(two_people(first, second)).set_index("measure").loc["plain agreement"]
        held.append(row["low"] <= 0.96 <= row["high"])
    assert np.mean(held) >= 0.95  # all agree in a third of the draws; intervals without width held .64
