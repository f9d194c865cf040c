"""Agreement, against published examples."""

import numpy as np
import pytest

from accord.errors import InputError
from accord.evaluation.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha

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
    assert fleiss_kappa([[3, 0], [3, 0]]) == 1.0
    with pytest.raises(InputError, match="krippendorff_alpha"):
        fleiss_kappa([[2, 0], [1, 0]])


def test_cohen_of_the_published_example():
    # Wikipedia, "Cohen's kappa": 20 both yes, 5 only the first, 10 only the second, 15 both no: κ = 0.4.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)
    assert cohen_kappa(["a", "a"], ["a", "a"]) == 1.0


def test_a_single_row_is_not_a_table():
    with pytest.raises(InputError, match="table of items"):
        fleiss_kappa([1, 2])
    with pytest.raises(InputError, match="table of annotators"):
        krippendorff_alpha([1, 2])
