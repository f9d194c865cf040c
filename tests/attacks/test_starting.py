"""Whatever the studio is started on, it says one sentence and ends with code 2."""

import os
import sqlite3
import subprocess
import sys

import pytest

from accord.store.database import open_database


def start(*arguments, **options):
    command = [sys.executable, "-m", "accord", "studio", "--port", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


def no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and no database.\n" * 100)
    return f"sqlite:///{path}", "file is not a database"


def newer(tmp_path):
    path = tmp_path / "newer.db"
    open_database(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    return f"sqlite:///{path}", "newer version of Accord"


def other_program(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    return f"sqlite:///{path}", "cannot be opened"


CASES = [
    no_database,
    newer,
    other_program,
    lambda _: ("sqlite://", "names none"),
    lambda _: ("sqlite:///:memory:", "names none"),
    lambda _: ("", "named by a URL"),
    lambda path: (f"sqlite:///{path}", "cannot be opened"),
]


@pytest.mark.parametrize("make", CASES)
def test_a_database_that_is_none_is_one_sentence(tmp_path, make):
    url, sentence = make(tmp_path)
    done = start("--database", url)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_standard_output_is_no_traceback(tmp_path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "accord", "studio", "--database", f"sqlite:///{tmp_path / 's.db'}", "--port", "1"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    os.close(write)
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
