"""Items and Links pass whole through scikit-learn's cross-validation."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GroupKFold, cross_validate

import synthetic
from accord.data import Items

SEEN = []


class Spy(ClassifierMixin, BaseEstimator):
    """Says the majority; notes what it was given."""

    def fit(self, X, y, items=None, links=None, weight=None):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.majority_ = self.classes_[counts.argmax()]
        SEEN.append((X, items, links, weight))
        return self

    def predict(self, X):
        return np.full(len(X), self.majority_)


@pytest.fixture
def seen():
    SEEN.clear()
    return SEEN


def test_records_are_not_sliced_and_rows_are(seen):
    made = synthetic.linked_texts(4, 6)
    X = pd.DataFrame({"id": made.items.ids})
    weight = np.arange(len(X))
    with config_context(enable_metadata_routing=True):
        model = Spy().set_fit_request(items=True, links=True, weight=True)
        result = cross_validate(
            model,
            X,
            made.labels.astype(str),
            cv=GroupKFold(4),
            params={"items": made.items, "links": made.links, "weight": weight, "groups": made.items.groups},
        )
    assert len(result["test_score"]) == len(seen) == 4
    for rows, items, links, sliced in seen:
        assert items is made.items
        assert links is made.links
        assert len(rows) == len(sliced) == 18
        np.testing.assert_array_equal(items.positions(rows["id"]), sliced)
        kept, source, target = links.among(rows["id"])
        # Links stay inside groups, so those of the training groups are all kept.
        assert kept.n_links == np.isin(links.source, rows["id"]).sum()
        np.testing.assert_array_equal(rows["id"].to_numpy(object)[source], kept.source)
        np.testing.assert_array_equal(rows["id"].to_numpy(object)[target], kept.target)


def test_records_are_not_array_like():
    items = Items(["a", "b"])
    for name in ("__len__", "shape", "__getitem__", "__array__", "__iter__"):
        assert not hasattr(items, name)
        assert not hasattr(synthetic.linked_texts(1, 4).links, name)
