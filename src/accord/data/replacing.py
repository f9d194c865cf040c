"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from accord.errors import InputError

__all__ = ["check_place", "replacing"]


def check_place(path: str | Path, *, endings: Sequence[str] = ()) -> None:
    """Refuse a place where nothing can be written, or a name that ends otherwise, before long work is done for it."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise InputError(f"a file is wanted; {path} is a folder. Give the file's name.")
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe
        return
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"the file's name must end in {', '.join(endings)}; got {path.name!r}. Rename it.")
    above = next(folder for folder in path.parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: {above} may not be written to. Choose another place.")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A name to write to, which takes the place of ``path`` when everything is written.

    If anything fails, or the process is killed, the old file stays, or there is none. Folders above it are made. What
    is no ordinary file (``/dev/stdout``, a pipe) is written to as it is; a link is followed.

    Examples
    --------
    >>> with replacing(folder / "table.csv") as part:  # doctest: +SKIP
    ...     part.write_text("...")
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        yield path
        return
    # The ending stays, because writers look at it.
    part = path.with_name(f".{secrets.token_hex(8)}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be written: {said}. Choose another place.") from None
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # else the new name may reach the disk before the content
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
