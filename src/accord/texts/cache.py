"""Arrays kept on disk under a hash of everything they were made from."""

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from platformdirs import user_cache_dir

from accord.typing import AnyArray

__all__ = ["cached_arrays", "content_key", "default_cache_dir"]


def default_cache_dir() -> Path:
    """The folder named by ``ACCORD_CACHE``, else this user's cache folder."""
    return Path(os.environ.get("ACCORD_CACHE") or user_cache_dir("accord"))


def content_key(*parts: Any) -> str:
    """A hash of arrays, texts and settings; equal content gives an equal key on every machine."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        elif isinstance(part, np.ndarray):
            missing = pd.isna(part)
            digest.update(f"object{part.shape}".encode())
            for value, absent in zip(part.ravel(), missing.ravel(), strict=True):
                encoded = b"" if absent else str(value).encode("utf-8", "surrogatepass")
                digest.update(b"%d:%d:" % (absent, len(encoded)) + encoded)
        else:
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
        digest.update(b"\x00")
    return digest.hexdigest()


def cached_arrays(
    folder: Path | None, key: str, compute: Callable[[], Mapping[str, AnyArray]]
) -> Mapping[str, AnyArray]:
    """The arrays stored under ``key``, computed and stored first if they are not there.

    With no folder they are computed every time. Writing goes through a temporary name, so that a reader never sees
    half a file.
    """
    if folder is None:
        return compute()
    path = folder / f"{key}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    arrays = compute()
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{key}.{os.getpid()}.partial.npz"
    np.savez(partial, allow_pickle=False, **{name: np.asarray(values) for name, values in arrays.items()})
    partial.replace(path)
    return arrays
