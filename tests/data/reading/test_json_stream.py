"""JSON files of any length, record by record."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.data.reading.json_stream import records, whole
from accord.errors import InputError

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("chunk", [1, 7, 4 << 20])
@pytest.mark.parametrize("lines", [False, True])
@settings(max_examples=25)
@given(values=st.lists(VALUES, max_size=5), indent=st.sampled_from([None, 1]), plain=st.booleans())
def test_records_come_whole_wherever_the_file_is_cut(tmp_path_factory, chunk, lines, values, indent, plain):
    path = tmp_path_factory.mktemp("json") / "x.json"
    if lines:
        values = [{"v": value} for value in values]
        text = "\n".join(json.dumps(value, ensure_ascii=plain) for value in values)
    else:
        text = json.dumps(values, indent=indent, ensure_ascii=plain)
    path.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accord.data.reading.json_stream._CHUNK", chunk)
        assert list(records(path, Any)) == list(enumerate(values, start=1))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[1, 2", "ends inside row 3"),
        (b'[{"a": 1}, {"a": tru}]', "row 2"),
        (b'[{"a": 1}] x', "nothing may follow"),
        (b'[{"a": "\\ud800"}]', "row 1"),
        (b'[{"a": NaN}]', "row 1"),
        (b'[{"a": 1},\n {"b": "caf\xe9"}]', "UTF-8; line 2"),
        (b"[" + b'{"a":' * 200_000 + b"1" + b"}" * 200_000 + b"]", "nested"),
        (b"[" * 200_000 + b"]" * 200_000, "nested"),
        (b'{"a": 1}\n{"a": }', "row 2"),
        (b"[" + b"9" * 10_000 + b"]", "row 1"),
    ],
)
def test_what_is_not_json_is_said_in_one_sentence(tmp_path, content, said):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        list(records(path, Any))
    assert "\n" not in str(error.value)


def test_deep_values_in_one_piece_are_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[" * 100_000)
    with pytest.raises(InputError, match="nested"):
        whole(path, Any)


def test_a_record_of_the_wrong_type_is_named(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"a": 1}, [2]]')
    with pytest.raises(InputError, match=r"row 2 of .*expected `object`, got `array`"):
        list(records(path, dict[str, Any]))
