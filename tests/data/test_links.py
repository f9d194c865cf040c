"""Links: tables in and out, restriction to the rows present, refusals."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.data import Links
from accord.data.links import opening_words
from accord.data.project import ITEMS, with_schema
from accord.data.reading.replies import links_of_replies
from accord.errors import InputError
from tables import FORMS, one_sentence

names = st.sampled_from(["a", "b", "c", "d"])
ends = st.lists(st.tuples(names, names).filter(lambda pair: pair[0] != pair[1]), min_size=1, max_size=8)


@given(ends, st.sampled_from(sorted(FORMS)))
def test_a_table_comes_back(pairs, form):
    frame = pd.DataFrame(pairs, columns=["src_id", "dst_id"])
    frame["kind"] = ["cites", None][len(pairs) % 2]
    frame["weight"] = np.arange(len(pairs)) / 2
    frame["context"] = [f"words {i}" for i in range(len(pairs))]
    links = Links.from_table(FORMS[form](frame))
    back = links.to_table()
    for name in frame.columns:
        expected = [None if pd.isna(value) else value for value in frame[name]]
        assert back[name].astype(object).where(back[name].notna(), None).tolist() == expected
    pd.testing.assert_frame_equal(Links.from_table(back).to_table(), back)


@given(ends, st.lists(names, unique=True))
def test_the_links_among_some_texts_have_both_ends_there(pairs, present):
    links = Links([s for s, _ in pairs], [t for _, t in pairs], contexts=[str(i) for i in range(len(pairs))])
    kept, source, target = links.among(present)
    expected = [i for i, (s, t) in enumerate(pairs) if s in present and t in present]
    assert kept.contexts.tolist() == [str(i) for i in expected]
    assert [present[i] for i in source] == [pairs[i][0] for i in expected]
    assert [present[i] for i in target] == [pairs[i][1] for i in expected]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Links(["a"], ["a"]), "row 1 links 'a' to itself"),
        (lambda: Links(["a"], ["b", "c"]), "1 sources and 2 targets"),
        (lambda: Links(["a"], [None]), "every link target needs an id; row 1"),
        (lambda: Links(["a"], ["b"], weights=[-1]), "row 1 is -1"),
        (lambda: Links(["a"], ["b"], weights=["much"]), "row 1 is 'much'"),
        (lambda: Links(["a"], ["b"], contexts=[]), "contexts must have one entry a link"),
        (lambda: Links.from_table({"src_id": ["a"]}), "dst_id is missing"),
    ],
)
def test_refusals_are_one_sentence(make, words):
    with pytest.raises(InputError, match=words) as caught:
        make()
    assert one_sentence(caught.value)


def test_replies_are_links_with_their_first_words():
    texts = [
        "Build it here.",
        "> Build it here.\nI agree,   and soon.",
        "Not so fast: " + "money " * 30,
        "好" * 100,
        None,
    ]
    table = pd.DataFrame({"item_id": list("abcde"), "text": texts, "reply_to": [None, "a", "b", "gone", "a"]})
    links = Links.from_replies(table)
    assert links.source.tolist() == ["b", "c", "e"]
    assert links.target.tolist() == ["a", "b", "a"]
    assert links.kinds.tolist() == ["reply"] * 3
    first, second, third = links.contexts
    assert (first, third) == ("I agree, and soon.", "")
    assert second == "Not so fast: " + " ".join(["money"] * 8)  # 60 characters
    imported, lost = with_schema(table.to_dict("list"), ITEMS), Counter()
    found = links_of_replies(imported, {name: place for place, name in enumerate("abcde")}, lost)
    assert found.column("context").to_pylist() == [first, second, third]
    assert sum(lost.values()) == 1
    assert len(opening_words("好" * 100)) == 60
    assert Links.from_replies(table.drop(columns="text")).contexts is None


def test_replies_of_numbered_texts_are_found_beside_missing_ones():
    table = pd.DataFrame({"item_id": [1, 2, 3], "reply_to": [None, 1, 2]})
    assert table["reply_to"].dtype == float
    links = Links.from_replies(table)
    assert (links.source.tolist(), links.target.tolist()) == (["2", "3"], ["1", "2"])


def test_long_ids_that_lost_their_last_digits_are_refused_and_not_joined_to_others():
    ids = [1780000000000000000 + i for i in range(4)]
    table = pd.DataFrame({"item_id": ids, "reply_to": [None, ids[0], ids[1], ids[2]]})
    assert table["reply_to"].dtype == float  # as pandas reads them, where three ids are one number
    with pytest.raises(InputError, match=r"has to be exact; row 2 has .* dtype='Int64'"):
        Links.from_replies(table)
    exact = Links.from_replies(table.assign(reply_to=pd.array([None, *ids[:3]], dtype="Int64")))
    assert exact.target.tolist() == [str(name) for name in ids[:3]]
    with pytest.raises(InputError, match="id of a link target has to be exact"):
        Links.from_table({"src_id": ids[1:], "dst_id": np.array(ids[:3], dtype=float)})
