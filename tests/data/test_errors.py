"""Errors say one line, whatever they quote."""

import pickle

import pytest

from accord.errors import InputError, MissingDataError


@pytest.mark.parametrize("kind", [InputError, MissingDataError])
@pytest.mark.parametrize("character", ["\n", "\r", "\x0b", "\x1b", "\x85", "\u2028", "\u2029"])
def test_what_ends_a_line_or_steers_a_terminal_is_escaped(kind, character):
    error = kind(f"a name is short; got a{character}b ü. Shorten it.")
    assert len(str(error).splitlines()) == 1
    assert character not in str(error)
    assert "ü" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_message_that_quotes_too_much_keeps_its_rule_and_its_cure():
    said = str(InputError(f"a file has votes; got {', '.join(['x' * 90] * 50)}. Name the columns with --map."))
    assert said.startswith("a file has votes; got xxx")
    assert said.endswith("Name the columns with --map.")
    assert len(said) < 1000
