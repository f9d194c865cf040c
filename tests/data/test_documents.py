"""Items: ids, texts, features; refused input is named."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from accord.data import Items
from accord.errors import InputError
from tables import FORMS, one_sentence

ids = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_comes_back(form):
    frame = pd.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "text": ["one", "", "tschüß 🙂"],
            "group_id": ["g", None, "h"],
            "author_id": ["x", "y", None],
            "length": [1, 2, 3],
        }
    )
    items = Items.from_table(FORMS[form](frame))
    back = items.to_table()
    assert list(back.columns) == list(frame.columns)
    assert items.groups.tolist() == ["g", None, "h"]
    assert items.authors.tolist() == ["x", "y", None]
    assert items.texts.tolist() == ["one", "", "tschüß 🙂"]
    assert items.meta["length"].tolist() == [1, 2, 3]
    again = Items.from_table(back)
    pd.testing.assert_frame_equal(again.to_table(), back)


@given(ids)
def test_positions_invert_ids(names):
    items = Items(np.array(names, dtype=object))
    assert items.positions(names[::-1]).tolist() == list(range(len(names)))[::-1]
    assert items.positions(items.ids).tolist() == list(range(len(names)))
    assert all(name in items for name in names)


@given(ids, st.data())
def test_a_subset_keeps_its_order(names, data):
    rows = data.draw(st.lists(st.integers(0, len(names) - 1), unique=True))
    items = Items(np.array(names, dtype=object), texts=np.array(names, dtype=object), features=np.eye(len(names)))
    part = items.subset(np.array(rows, dtype=int))
    assert part.ids.tolist() == [names[i] for i in rows] == part.texts.tolist()
    assert part.features.shape == (len(rows), len(names))


def test_numbers_become_ids():
    items = Items([1, 2])
    assert items.ids.tolist() == ["1", "2"]
    assert items.positions([2, "1"]).tolist() == [1, 0]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Items(["a", "b", "a"]), "'a' stands in rows 1 and 3"),
        (lambda: Items(["a", None]), "row 2 has none"),
        (lambda: Items(["a", ""]), "row 2 has none"),
        (lambda: Items(["a", float("nan")]), "row 2 has none"),
        (lambda: Items(pd.array([1, None], dtype="Int64")), "row 2 has none"),
        (lambda: Items(["a"], texts=["x", "y"]), "1 rows and 2 entries"),
        (lambda: Items(["a"], texts=[3]), "row 1 is int 3"),
        (lambda: Items(["a"], groups=["x", "y"]), "groups must have one entry an item"),
        (lambda: Items(["a"], features=np.ones(3)), r"features must have shape"),
        (lambda: Items(["a", "b"], features=np.array([[1.0], [np.nan]])), "'b' has nan in column 1"),
        (lambda: Items(["a"], meta={"m": [1, 2]}), "meta column 'm' must have 1 entries"),
        (lambda: Items.from_table({"id": ["a"]}), "item_id is missing"),
        (lambda: Items.from_table(pd.DataFrame()), "it has: none"),
        (lambda: Items.from_table(3), "this is int"),
        (lambda: Items(["a"]).positions(["a", "z"]), "row 2 names 'z'"),
        (lambda: Items(["a"]).positions([None]), "row 1 names None"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)


def test_a_record_cannot_be_changed():
    features = np.ones((1, 2))
    items = Items(["a"], texts=["x"], features=features)
    for column in (items.ids, items.texts, items.features):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = "b"
    features[0] = 0.0  # the owner's array stays the owner's
    assert sp.issparse(Items(["a"], features=sp.csr_matrix([[1, 0]])).features)


def test_items_do_not_change_with_the_arrays_they_were_made_of():
    ids, texts, extra = (np.array(["a", "b"], dtype=object) for _ in range(3))
    meta = {"extra": extra}
    items = Items(ids, texts, groups=texts, authors=extra, meta=meta)
    for array in (ids, texts, extra):
        array[0] = "changed"
    meta["new"] = extra
    assert items.ids[0] == items.texts[0] == items.groups[0] == items.authors[0] == items.meta["extra"][0] == "a"
    assert list(items.meta) == ["extra"]
    for column in (items.ids, items.texts, items.groups, items.authors, items.meta["extra"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = "x"
