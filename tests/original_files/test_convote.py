"""convote_v1.1 as published, against the prepared files."""

import pandas as pd
import pytest

from accord.data.corpora import convote as prepared
from accord.errors import InputError
from original_files import convote


@pytest.mark.corpora
def test_all_tables_equal_the_prepared_ones(accord_data):
    published, ready = convote.load(accord_data), prepared.load(accord_data)
    for name in ("segments", "segments_refs", "citations", "speakers", "official_scores"):
        pd.testing.assert_frame_equal(getattr(published, name), getattr(ready, name), check_exact=True)
    # The README: this raw score is a slip of the corpus that is kept as found.
    first = published.official_scores.set_index("segment_id").loc["052_400011_0327014_DON"]
    assert first["individual_raw"] == -0.38605469


def test_a_name_says_who_spoke_where_and_how_they_voted():
    # The example of the corpus README: the 4th speech on page 1031.
    assert convote.parse_name("055_400144_1031004_DON.txt") == {
        "segment_id": "055_400144_1031004_DON",
        "debate": "055",
        "speaker": "400144",
        "page": 1031,
        "position": 4,
        "party": "D",
        "mentions_bill": False,
        "vote": "N",
    }
    with pytest.raises(InputError, match="named like"):
        convote.parse_name("notes.txt")


def test_sentences_come_back_without_markers_and_dropped_lines():
    lines = [["i", "yield", "."], ["thank", "mr.", "smith", "xz4001230", "."], ["no", "."]]
    assert convote.sentences(["thank", "mr.", "smith", ".", "no", "."], lines) == "thank mr. smith .\nno ."
    with pytest.raises(InputError, match="after token 2"):
        convote.sentences(["no", ".", "yes"], lines)


def test_the_window_leaves_other_markers_out():
    tokens = ["a", "xz4001230", "b", "xz4001240", "c"]
    assert convote.window(tokens, 3) == ("a b", "c")
    many = [str(i) for i in range(100)]
    before, after = convote.window(many, 50)
    assert before.split() == many[20:50]
    assert after.split() == many[51:71]


def test_a_folder_without_speeches_is_refused(tmp_path):
    with pytest.raises(InputError, match="data_stage_one"):
        convote.load(folder=tmp_path)
