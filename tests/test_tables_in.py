"""pandas, polars and Arrow in: every estimator learns the same from each."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from accord import (
    AspectRanker,
    BradleyTerryRanker,
    CollectiveClassifier,
    PreferenceRanker,
    RationaleClassifier,
    ThreadClassifier,
)
from accord.data import Items, Links

# From a pandas frame or series to the same in another form.
TABLES = {
    "polars": lambda frame: pl.DataFrame({name: frame[name].tolist() for name in frame}),
    "arrow": lambda frame: pa.table({name: frame[name].tolist() for name in frame}),
}
COLUMNS = {
    "polars": lambda column: pl.Series(list(column)),
    "arrow": lambda column: pa.chunked_array([list(column)]),
}
FORMS = pytest.mark.parametrize(("table", "column"), [("polars", "polars"), ("arrow", "arrow")])

WORDS = ["good warm bread", "kind people", "cold soup", "slow and rude", "fresh cake, kind people", "stale, cold bread"]
TEXTS = pd.Series([f"{words} {k}" for k in range(4) for words in WORDS])
SIDES = pd.Series([("pro", "pro", "con", "con", "pro", "con")[k % 6] for k in range(24)])
VOTES = pd.DataFrame({"left": ["a", "b", "c", "a", "b"], "right": ["b", "c", "a", "c", "a"]})
WON = pd.Series([1.0, 1.0, 0.0, 1.0, 0.0])
WHO = pd.Series(["u", "v", "u", "v", "u"])


@FORMS
@pytest.mark.parametrize("ranker", [PreferenceRanker, BradleyTerryRanker])
def test_votes(ranker, table, column):
    plain = ranker().fit(VOTES, WON)
    other = ranker().fit(TABLES[table](VOTES), COLUMNS[column](WON))
    assert_allclose(other.predict_proba(TABLES[table](VOTES)), plain.predict_proba(VOTES), atol=1e-12)
    assert list(other.rank()["item_id"]) == list(plain.rank()["item_id"])


def test_a_column_of_arrow_in_one_piece():
    plain = BradleyTerryRanker().fit(VOTES, WON)
    other = BradleyTerryRanker().fit(pa.table({name: VOTES[name].tolist() for name in VOTES}), pa.array(WON.tolist()))
    assert_allclose(other.predict_proba(VOTES), plain.predict_proba(VOTES), atol=1e-12)


@FORMS
def test_votes_of_people_about_texts(table, column):
    items = pd.DataFrame({"item_id": ["a", "b", "c"], "text": WORDS[:3]})
    weight = pd.Series([1.0, 2.0, 1.0, 1.0, 1.0])
    settings = {"reliability": "learned"}
    plain = PreferenceRanker(**settings).fit(
        VOTES, WON, items=Items.from_table(items), annotator=WHO, sample_weight=weight
    )
    other = PreferenceRanker(**settings).fit(
        TABLES[table](VOTES),
        COLUMNS[column](WON),
        items=Items.from_table(TABLES[table](items)),
        annotator=COLUMNS[column](WHO),
        sample_weight=COLUMNS[column](weight),
    )
    assert_allclose(other.predict_proba(VOTES), plain.predict_proba(VOTES), atol=1e-12)


@FORMS
def test_comments(table, column):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(24, 3)), columns=["x", "y", "z"]).assign(
        x=lambda f: f["x"] + (SIDES == "pro")
    )
    groups = pd.Series(np.arange(24) // 6)
    known = pd.Series([None, "pro", None, None, None, None] * 4, dtype=object)
    plain = ThreadClassifier().fit(frame, SIDES, groups=groups)
    other = ThreadClassifier().fit(TABLES[table](frame), COLUMNS[column](SIDES), groups=COLUMNS[column](groups))
    assert_allclose(
        other.predict_proba(TABLES[table](frame), groups=COLUMNS[column](groups), known=COLUMNS[column](known)),
        plain.predict_proba(frame, groups=groups, known=known),
        atol=1e-9,
    )
    assert list(other.feature_names_) == ["x", "y", "z"]


@FORMS
def test_scores(table, column):
    scores = pd.DataFrame({"food": np.where(SIDES == "pro", 5, 1), "room": [1, 3, 5, 3] * 6})
    plain = AspectRanker(random_state=0).fit(TEXTS, scores)
    other = AspectRanker(random_state=0).fit(COLUMNS[column](TEXTS), TABLES[table](scores))
    assert list(other.aspects_) == ["food", "room"]
    assert np.array_equal(other.predict(COLUMNS[column](TEXTS)), plain.predict(TEXTS))
    counts = pd.DataFrame({"good": SIDES == "pro", "bad": SIDES == "con"}).astype(float)
    by_counts = AspectRanker(random_state=0).fit(TABLES[table](counts), TABLES[table](scores))
    assert np.array_equal(
        by_counts.predict(TABLES[table](counts)),
        AspectRanker(random_state=0).fit(counts.to_numpy(), scores).predict(counts.to_numpy()),
    )
    one = AspectRanker(random_state=0).fit(COLUMNS[column](TEXTS), COLUMNS[column](scores["food"]))
    assert one.predict(TEXTS).shape == (24,)


@FORMS
def test_linked_texts(table, column):
    frame = pd.DataFrame({"item_id": [f"t{k}" for k in range(24)], "text": TEXTS})
    ends = pd.DataFrame({"src_id": ["t0", "t2", "t4"], "dst_id": ["t1", "t3", "t6"]})
    groups = pd.Series(np.arange(24) % 4)
    plain = CollectiveClassifier().fit(frame, SIDES, links=Links.from_table(ends), groups=groups)
    links = Links.from_table(TABLES[table](ends))
    other = CollectiveClassifier().fit(
        TABLES[table](frame), COLUMNS[column](SIDES), links=links, groups=COLUMNS[column](groups)
    )
    known = pd.Series(["pro"] + [None] * 23, dtype=object)
    assert_allclose(
        other.predict_proba(TABLES[table](frame), links=links, known=COLUMNS[column](known)),
        plain.predict_proba(frame, links=links, known=known),
        atol=1e-9,
    )


@FORMS
def test_texts_with_highlights(table, column):
    spans = [[(0, 4)] if k % 2 else None for k in range(24)]
    who = pd.Series(["ada", "bo"] * 12)
    plain = RationaleClassifier().fit(list(TEXTS), SIDES, rationales=spans, annotator=who)
    other = RationaleClassifier().fit(
        COLUMNS[column](TEXTS), COLUMNS[column](SIDES), rationales=spans, annotator=COLUMNS[column](who)
    )
    assert_allclose(other.predict_proba(COLUMNS[column](TEXTS)), plain.predict_proba(list(TEXTS)), atol=1e-9)
