"""What may be set, and what must be refused."""

from collections.abc import Callable
from typing import Any

import numpy as np

from accord.aspects.ordinal import NODES, median_ranks, mode_ranks
from accord.errors import InputError
from accord.fitting.workers import is_number, is_whole
from accord.typing import FloatArray, IntArray

__all__ = ["DECODERS", "ORDINALS", "PERCEPTRONS", "check_settings"]

PERCEPTRONS = ("prank", "sim", "good_grief", "good_grief_decode")
ORDINALS = ("ordinal", "ordinal_crf")
DECODERS: dict[str, Callable[[FloatArray], IntArray]] = {"median": median_ranks, "mode": mode_ranks}


def check_settings(ranker: Any) -> None:
    """Refuse parameters of an AspectRanker that mean nothing."""
    for name, allowed in (
        ("model", (*PERCEPTRONS, *ORDINALS)),
        ("nodes", NODES),
        ("training", ("two_stage", "joint")),
        ("decoding", tuple(DECODERS)),
    ):
        if getattr(ranker, name) not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {getattr(ranker, name)!r}.")
    for name, least in (("n_ranks", 2), ("min_texts", 1), ("n_epochs", 1), ("n_orders", 1), ("n_folds", 2)):
        if not is_whole(getattr(ranker, name), least):
            raise InputError(f"{name} must be a whole number of at least {least}; it is {getattr(ranker, name)!r}.")
    if ranker.passes is not None and not (is_whole(ranker.passes, 1) and ranker.passes <= ranker.n_epochs):
        raise InputError(f"passes must be in 1..n_epochs, which is {ranker.n_epochs}; it is {ranker.passes!r}.")
    if ranker.alpha is not None and not is_number(ranker.alpha, 0.0):
        raise InputError(f"alpha must be a finite number of at least 0, or None; it is {ranker.alpha!r}.")
    if not (is_number(ranker.development_fraction, 0.0, 1.0) and 0 < ranker.development_fraction < 1):
        raise InputError(f"development_fraction must be between 0 and 1; it is {ranker.development_fraction!r}.")
    penalties = ranker.penalty if np.ndim(ranker.penalty) else [ranker.penalty]
    if not all(is_number(value, 0.0) and value > 0 for value in penalties):
        raise InputError(f"penalty must be above 0; it is {ranker.penalty!r}.")
    for name in ("stack_penalty", "edge_penalty"):
        if not is_number(getattr(ranker, name), 0.0):
            raise InputError(f"{name} must be a finite number of at least 0; it is {getattr(ranker, name)!r}.")
