"""Archives are read without unpacking, and unsafe ones are refused."""

import io
import tarfile

import pytest

from accord.errors import InputError, MissingDataError
from original_files.archive import decoded, published_files


def archive(folder, *members):
    (folder / "cqa").mkdir(exist_ok=True)
    with tarfile.open(folder / "cqa" / "original.tar.xz", "w:xz") as out:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))
    return folder


def test_an_archive_and_a_folder_give_the_same_files(tmp_path):
    root = archive(tmp_path, ("./a/one.txt", b"1"), ("./b.txt", b"2"))
    plain = tmp_path / "plain"
    (plain / "a").mkdir(parents=True)
    (plain / "a" / "one.txt").write_bytes(b"1")
    (plain / "b.txt").write_bytes(b"2")
    packed = dict(published_files("cqa", root))
    assert packed == {"a/one.txt": b"1", "b.txt": b"2"} == dict(published_files("cqa", folder=plain))


@pytest.mark.parametrize("name", ["../evil.txt", "/etc/evil.txt", "a/../../evil.txt", "..\\evil.txt"])
def test_a_name_outside_the_archive_is_refused(tmp_path, name):
    root = archive(tmp_path, (name, b"x"))
    with pytest.raises(InputError, match="below its own folder"):
        list(published_files("cqa", root))


def test_a_link_is_refused(tmp_path):
    link = tarfile.TarInfo("innocent.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    root = archive(tmp_path, (link, b""))
    with pytest.raises(InputError, match="link or a device"):
        list(published_files("cqa", root))


def test_an_archive_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("original_files.archive._LARGEST", 10)
    root = archive(tmp_path, ("a.txt", b"123456"), ("b.txt", b"123456"))
    with pytest.raises(InputError, match="at most"):
        list(published_files("cqa", root))


def test_a_cut_archive_is_named(tmp_path):
    root = archive(tmp_path, ("a.txt", bytes(range(256)) * 100))
    path = root / "cqa" / "original.tar.xz"
    path.write_bytes(path.read_bytes()[:150])
    with pytest.raises(InputError, match="whole tar archive"):
        list(published_files("cqa", root))


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="is none"):
        list(published_files("cqa", folder=tmp_path / "nowhere"))


def test_text_must_be_utf_8():
    with pytest.raises(InputError, match="UTF-8"):
        decoded("a.txt", b"\xff\xfe")
