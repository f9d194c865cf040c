"""Ids that two files write in two ways are named with the way in which the items have them."""

import pytest

from accord.workflows.import_ import import_files


@pytest.mark.parametrize(("written", "known"), [("1.0", "1"), ("7", "007"), ("Ann ", "ann"), ("b", None)])
def test_an_unknown_id_is_named_beside_the_one_that_is_almost_the_same(tmp_path, written, known):
    items, votes = tmp_path / "items.csv", tmp_path / "votes.csv"
    items.write_text("id,text\n1,One\n007,Seven\nann,Ann\n")
    votes.write_text(f'left,right,winner\n1,007,left\n"{written}",other,left\n')
    items.write_text(items.read_text() + "other,Other\n")
    imported = import_files([items, votes], None)
    assert imported.counts["pair"] == 1
    assert imported.dropped == {"every judged text must be among the items": 1}
    said = str(imported.examples[0])
    assert (f"the items have {known!r}" in said and "Write ids alike" in said) == (known is not None)
    assert ("Add it to the items" in said) == (known is None)
