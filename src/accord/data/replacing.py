"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


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
    path.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays, because writers look at it.
    part = path.with_name(f".{secrets.token_hex(8)}.part{path.suffix}")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())  # else the new name may reach the disk before the content
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
