"""The public corpora as frames."""

import pandas as pd
import pytest

import accord.datasets
from accord.errors import MissingDataError

CALLS = [(name, ("2015/dev",) if name == "fetch_cqa" else ()) for name in accord.datasets.__all__]


@pytest.mark.corpora
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_every_corpus_comes_as_frames_that_hold_something(accord_data, name, arguments):
    frames = getattr(accord.datasets, name)(*arguments, root=accord_data)
    assert frames
    assert all(isinstance(frame, pd.DataFrame) and len(frame) for frame in frames.values())


@pytest.mark.corpora
def test_votes_name_items_that_are_there(accord_data):
    frames = accord.datasets.fetch_convarg(accord_data)
    assert set(frames["strict"]["left"]) | set(frames["strict"]["right"]) <= set(frames["items"]["item_id"])
    assert frames["items"]["topic"].nunique() == 16


@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_corpus_that_is_not_there_is_said_in_one_sentence(tmp_path, monkeypatch, name, arguments):
    monkeypatch.delenv("ACCORD_DATA", raising=False)
    with pytest.raises(MissingDataError):
        getattr(accord.datasets, name)(*arguments, root=tmp_path)
