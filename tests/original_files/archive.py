"""Published files, from a folder or straight from an archive."""

import lzma
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from accord.data.corpora.locate import Root, corpus_file
from accord.errors import InputError, MissingDataError

__all__ = ["decoded", "published_files"]

# No published corpus comes near this; an archive that claims more is not one of them.
_LARGEST = 1 << 30


def published_files(corpus: str, root: Root = None, *, folder: Root = None) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of a published corpus.

    Parameters
    ----------
    corpus : str
    root : path, optional
        Where the corpora are; its ``<corpus>/original.tar.xz`` is read.
    folder : path, optional
        A folder with the files as they were downloaded and unpacked, read instead of the archive.

    Yields
    ------
    name : str
        The path below the folder or inside the archive, with slashes.
    content : bytes
    """
    if folder is None:
        yield from _archived(corpus_file(corpus, "original.tar.xz", root))
        return
    base = Path(folder)
    if not base.is_dir():
        raise MissingDataError(f"the published files of {corpus!r} must be a folder; {base} is none. Name another.")
    for path in sorted(base.rglob("*")):
        if path.is_file():
            yield path.relative_to(base).as_posix(), path.read_bytes()


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    left = _LARGEST
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts or "\\" in member.name:
                    raise InputError(
                        f"an archive must hold files below its own folder; {path} has {member.name!r}. Do not use it."
                    )
                if member.isdir():
                    continue
                if not member.isfile():
                    raise InputError(
                        f"an archive must hold plain files; {member.name!r} in {path} is a link or a device. "
                        "Do not use it."
                    )
                left -= member.size
                if left < 0:
                    raise InputError(
                        f"an archive must unpack to at most {_LARGEST >> 20} MB; {path} has more. Do not use it."
                    )
                content = archive.extractfile(member)
                yield name.as_posix(), content.read() if content is not None else b""
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise InputError(f"{path} must be a whole tar archive; {error}. Get it again.") from error


def decoded(name: str, content: bytes) -> str:
    """The text of a file in UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} must be text in UTF-8; {error}. Convert it or get it again.") from error
