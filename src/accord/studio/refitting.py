"""What the worker and a process that refits say to each other.

The worker imports neither models nor readers: they are imported once, by the process from which refits are forked, so
that the first refit starts soon after the studio does.
"""

from dataclasses import dataclass

__all__ = ["Refitted", "refit_project"]


@dataclass(frozen=True)
class Refitted:
    """What a refit did, and the packed model for the next one to start from."""

    n_judgements: int
    seconds: float
    is_warm: bool
    packed: bytes | None


def refit_project(url: str, project_id: int, packed: bytes | None) -> Refitted | None:
    """Refit a project; ``None`` where it is gone."""
    from accord.studio.limited_work import refit_stored

    return refit_stored(url, project_id, packed)
