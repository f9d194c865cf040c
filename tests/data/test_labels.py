import warnings

import numpy as np
import pytest

from accord.data.labels import doubted_labels, warn_of_alike


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["No", "no", "yes"], "'No' and 'no'"),
        (["no", " no", "no\u00a0", "yes"], "' no', 'no' and 'no\\xa0'"),
        (["ｎｏ", "no"], "'no' and 'ｎｏ'"),
        (["not sure", "not  Sure"], "'not  Sure' and 'not sure'"),
        (np.array(["A", "a", "B", "b"]), "'A' and 'a'; 'B' and 'b'"),
        ([c for k in range(5) for c in (f"x{k}", f"X{k}")], "'X0' and 'x0'; 'X1' and 'x1'; 'X2' and 'x2'; and 2 more"),
    ],
)
def test_labels_that_are_written_in_two_ways_are_named(labels, told):
    found = doubted_labels(labels)
    assert found == f"labels that differ only in case, spaces or width are different labels: {told}"
    with pytest.warns(UserWarning, match="Write them alike if they mean the same"):
        warn_of_alike(labels)


@pytest.mark.parametrize(
    "labels", [[], ["no", "yes"], [1, 2, 2.5], ["no", None, np.nan], ["a", "á", "b"], ["no", "no"]]
)
def test_other_labels_are_not_doubted(labels):
    assert doubted_labels(labels) == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_alike(labels)
