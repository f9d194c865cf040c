"""Offsets in code points and in UTF-16 code units."""

from hypothesis import given
from hypothesis import strategies as st

from accord.data.reading.offsets import from_utf16, place_span
from oracles import to_utf16

TEXTS = st.text(alphabet="aé\u0301😀𝔸\r\n\t", max_size=12)


@given(text=TEXTS, data=st.data())
def test_there_and_back(text, data):
    offset = data.draw(st.integers(0, len(text)))
    units = [unit for sign in text[:offset] for unit in range(2 if ord(sign) > 0xFFFF else 1)]
    assert to_utf16(text, offset) == len(units)
    assert from_utf16(text, len(units)) == offset


def test_half_a_sign_and_beyond_the_end_are_nowhere():
    assert from_utf16("😀", 1) is None
    assert from_utf16("😀", 3) is None
    assert from_utf16("a", -1) is None


@given(text=TEXTS.filter(len), data=st.data())
def test_the_quote_decides_the_unit(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    for given_start, given_end in ((start, end), (to_utf16(text, start), to_utf16(text, end))):
        first, last = place_span(text, given_start, given_end, quote, utf16=False)
        assert text[first:last] == quote
    assert place_span(text, to_utf16(text, start), to_utf16(text, end), None, utf16=True) == (start, end)
    assert place_span(text, start, end, None, utf16=False) == (start, end)
