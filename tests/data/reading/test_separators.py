"""How cells are separated and quoted is seen in the file itself."""

import pytest

from accord.data.reading.separators import Dialect, dialect_of


@pytest.mark.parametrize(
    ("text", "usual", "dialect"),
    [
        ('id,text\n1,"He said \\"hi\\" ok"\n2,"a, \\"b\\""\n', ",", Dialect(",", "\\")),
        ('id;text\n1;"He said \\"hi; x\\" ok"\n', ",", Dialect(";", "\\")),
        ('id,text\n1,"a cell may end in \\"\n2,"and another"\n', ",", Dialect(",")),
        ('id\ttext\n1\t"\\"\n2\t"say ""x"""\n', "\t", Dialect("\t")),
        ('id,text\n1,"say ""x"""\n', ",", Dialect(",")),
    ],
    ids=["escaped", "semicolons", "ends in a backslash", "a backslash alone", "doubled"],
)
def test_a_backslash_escapes_only_where_nothing_else_fits(text, usual, dialect, tmp_path):
    (tmp_path / "table").write_text(text, encoding="utf-8")
    assert dialect_of(tmp_path / "table", usual) == dialect
