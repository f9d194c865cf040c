"""One tokeniser for all scripts: what is a word, where it stands, and that no text takes it long."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.texts.words import WordAnalyser, token_spans, tokens

SAMPLES = {
    "Don't go, I’m OK": ["don't", "go", "i'm", "ok"],
    "10,000 people, 3.5 km; e-mail foo_bar": ["10,000", "people", "3.5", "km", "e", "mail", "foo_bar"],
    "Größe und Maß": ["größe", "und", "maß"],
    "किताब अच्छी है": ["किताब", "अच्छी", "है"],
    "العربية لغة": ["العربية", "لغة"],
    "我喜欢。": ["我", "喜", "欢"],
    "ラーメンがうまい": ["ラーメン", "が", "う", "ま", "い"],
    "👍🏽 👨‍👩‍👧 🇩🇪🇫🇷": ["👍🏽", "👨‍👩‍👧", "🇩🇪", "🇫🇷"],
    "cafe\u0301 café": ["café", "café"],
    "": [],
    " \n\t": [],
}


@pytest.mark.parametrize("text", SAMPLES)
def test_words_of_any_script(text):
    assert tokens(text) == SAMPLES[text]


@given(st.text(max_size=60), st.booleans())
def test_tokens_stand_in_order_and_cover_every_letter(text, marks):
    spans = token_spans(text, marks=marks)
    assert all(a < b for a, b in spans)
    assert all(b <= c for (_, b), (c, _) in pairwise(spans))
    covered = {place for a, b in spans for place in range(a, b)}
    assert all(place in covered for place, sign in enumerate(text) if sign.isalnum())
    if marks:
        assert all(place in covered for place, sign in enumerate(text) if not sign.isspace())
    assert len(tokens(text, marks=marks)) == len(spans)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_plain_letters_give_the_same_with_and_without_other_letters_in_the_text(text):
    assert tokens(f"{text} é")[:-1] == tokens(f"{text} e")[:-1]


@pytest.mark.parametrize("piece", ["a", "é", "'", "a'", "é’", "1.", "好", "\u200d", "👨\u200d", "é1,", "́"])
def test_long_runs_of_anything_are_read_in_steps_that_grow_with_their_length(piece):
    # A search that is worse than linear would need hours for this text, not a part of a second.
    assert len(token_spans(piece * 300_000)) <= 300_000


def test_n_grams_of_characters_stand_for_words_where_there_are_no_spaces():
    assert WordAnalyser()("好吃 good food") == ["好", "吃", "good", "food", "好吃"]
    assert WordAnalyser(1, 2)("good food") == ["good", "food", "good food"]
    assert WordAnalyser(2, 2)("one") == []
