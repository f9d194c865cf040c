"""Uploaded files: kept in a folder of ours under harmless names, unpacked within bounds, and gone afterwards."""

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fastapi import UploadFile

from accord.data.formats.registry import detect
from accord.data.reading.unpacking import READABLE
from accord.errors import InputError

__all__ = ["Received", "received"]

_MOST_UNPACKED = 2**30
_MOST_FILES = 2_000
_CHUNK = 2**20
_READ = set(READABLE) - {".xml", ".zip", ".gz"}
_HIDDEN = re.compile(r"(^|/)(\.[^./]|__MACOSX/|not-exported\.txt$)")  # what archivers, and exports, put in
_UNHARMFUL = re.compile(r"[^\w.()+ -]")


@dataclass(frozen=True)
class Received:
    """Files and folders to read, and the tool's own description of the task, if there is one."""

    paths: tuple[Path, ...]
    config: Path | None


@contextmanager
def received(files: Sequence[UploadFile], config: UploadFile | None = None) -> Iterator[Received]:
    """The uploaded files on disk; archives are unpacked. Errors name the files as their sender does."""
    with tempfile.TemporaryDirectory(prefix="accord-upload-") as work:
        root = Path(work)
        try:
            kept = _Folder(root / "files")
            for file in files:
                kept.take(file)
            described = None
            if config is not None and config.filename:
                described = _Folder(root / "config").take(config)
            yield _sorted_out(root / "files", described)
        except InputError as error:
            sentence = str(error).replace(f"{root / 'files'}/", "").replace(f"{root / 'files'}", "the upload")
            raise type(error)(sentence) from None


@dataclass
class _Folder:
    """A folder of uploaded files, with bounds on what archives may bring into it, all together."""

    root: Path
    n_bytes: int = 0
    n_files: int = 0

    def take(self, file: UploadFile) -> Path | None:
        """Keep a file; returns where, or ``None`` for an archive, of which the content is kept."""
        path = self._place(file.filename or "upload")
        with path.open("wb") as out:
            shutil.copyfileobj(file.file, out, _CHUNK)
        if path.suffix != ".zip":
            return path
        try:
            self._unpack(path)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise InputError(f"this is not an archive that can be unpacked: {error}. Pack it again.") from None
        path.unlink()
        return None

    def _place(self, name: str) -> Path:
        """Where a file of this name goes: inside the folder, whatever the name says."""
        parts = [part for part in re.split(r"[/\\]", name) if part.strip(". ")]
        safe = [_short(_UNHARMFUL.sub("_", part).lstrip(". ")) for part in parts[-5:]]
        path = self.root.joinpath(*(safe or ["upload"]))
        path = path.with_suffix(path.suffix.lower())
        taken = path.exists()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:  # a file has the name of the folder
            taken = True
        if taken:
            raise InputError(
                f"each file of an upload has a name of its own; two are called {name[-100:]!r}. Rename one."
            )
        return path

    def _unpack(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            members = [entry for entry in archive.infolist() if not entry.is_dir()]
            self.n_files += len(members)
            if self.n_files > _MOST_FILES:
                raise InputError(f"archives have at most {_MOST_FILES:,} files; these have {self.n_files:,}.")
            for member in (entry for entry in members if not _HIDDEN.search(entry.filename)):
                with archive.open(member) as packed, self._place(member.filename).open("wb") as out:
                    while chunk := packed.read(_CHUNK):
                        self.n_bytes += len(chunk)  # what is there counts, not what the archive says
                        if self.n_bytes > _MOST_UNPACKED:
                            raise InputError(
                                f"archives have at most {_MOST_UNPACKED:,} bytes when unpacked; these have more. "
                                "Split them."
                            )
                        out.write(chunk)


def _short(name: str) -> str:
    """The end of a name, as many characters as a file system takes (in bytes)."""
    return name.encode()[-200:].decode(errors="ignore")


def _sorted_out(root: Path, config: Path | None) -> Received:
    """What the readers are given: the folder of a tool that has one, else its files and folders."""
    while len(entries := sorted(root.iterdir())) == 1 and entries[0].is_dir():
        root = entries[0]
    described = [path for path in entries if path.suffix == ".xml"]
    if config is None and len(described) == 1:
        config = described[0]
    if any(path.suffix in _READ for path in entries) and detect([root]) is not None:
        return Received((root,), config)
    paths = [path for path in entries if path.is_dir() or path.suffix in _READ]
    if not paths:
        known = ", ".join(sorted(_READ))
        raise InputError(f"an upload has files that end in {known}, or is a zip of them; none of these does.")
    return Received(tuple(paths), config)
