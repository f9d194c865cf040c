"""Settings: what is asked and who is asked, changed while people judge; and whether a project takes answers now."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from accord.errors import InputError
from accord.store import judgements as kept
from accord.store.database import Connection
from accord.store.projects import StoredProject

__all__ = ["COLOURS", "STATES", "ClosedError", "changed_settings", "check_open", "closed_because", "looks_of"]

STATES = ("active", "paused", "archived")
# Colours that people tell apart, in light and in dark; a page draws a mark in the colour beside the label's name.
COLOURS = ("none", "blue", "green", "red", "yellow", "purple", "orange", "teal", "grey")
# Keys that the judging pages use for something else.
_TAKEN_KEYS = frozenset("usxcnjk")


class ClosedError(InputError):
    """The project takes no answer now; the answer itself breaks no rule."""


def closed_because(project: StoredProject, *, role: str, n_done: int, moment: datetime | None = None) -> str | None:
    """Why a person is asked nothing in a project now; ``None`` where questions are asked."""
    settings = project.settings
    if project.state == "archived":
        return "this project is archived."
    if project.state == "paused":
        return "an owner has paused this project; come back later."
    if settings.get("who") == "owners" and role != "owner":
        return "only the owners judge in this project now; come back later."
    deadline = settings.get("deadline")
    if deadline and (moment or datetime.now(UTC)) > _moment(deadline):
        return f"judging ended on {_moment(deadline):%Y-%m-%d %H:%M} UTC. Thank you."
    quota = settings.get("quota")
    if quota and n_done >= quota:
        return f"you have given all {quota:,} answers that are asked of one person. Thank you."
    return None


def check_open(project: StoredProject, *, role: str, n_done: int) -> None:
    """Refuse an answer while the project takes none."""
    reason = closed_because(project, role=role, n_done=n_done)
    if reason is not None:
        raise ClosedError(reason)


def looks_of(project: StoredProject) -> list[dict[str, str]]:
    """The labels in their order, each with its colour and the key that gives it."""
    looks = project.settings.get("looks", {})
    return [
        {
            "name": label,
            "colour": looks.get(label, {}).get("colour", "none"),
            "key": looks.get(label, {}).get("key") or (str(place) if place <= 9 else ""),
        }
        for place, label in enumerate(project.settings.get("labels", []), start=1)
    ]


def changed_settings(connection: Connection, project: StoredProject, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with some of them changed; what judgements already use is kept.

    A setting that is sent empty (``None``) is taken away; labels, aspects and the highest score cannot be.
    """
    settings = dict(project.settings)
    used = kept.choices_used(connection, project.id)
    for name, value in sent.items():
        if value is None and name in ("labels", "aspects", "n_ranks"):
            raise InputError(
                f"{name} can be changed, not taken away; none were sent. Leave the field out to keep them."
            )
        if name == "labels":
            _set_labels(settings, value, used["labels"])
        elif name == "aspects":
            _set_aspects(settings, value, used["aspects"])
        elif name == "n_ranks":
            if value < used["highest"]:
                raise InputError(f"the highest score is at least {used['highest']}, which was given; {value} was sent.")
            settings["n_ranks"] = value
        elif name == "deadline":
            _put(settings, name, _moment(value).isoformat() if value else None)
        elif name == "scale":
            _put(settings, name, [entry.strip() for entry in value] if value and any(value) else None)
        else:
            _put(settings, name, value)
    scale = settings.get("scale")
    if scale and len(scale) != settings.get("n_ranks", 5):
        raise InputError(
            f"each score has a name or none has; there are {settings.get('n_ranks', 5)} scores and {len(scale)} names."
        )
    return settings


def _put(settings: dict[str, Any], name: str, value: Any) -> None:
    if value is None or value is False:
        settings.pop(name, None)
    else:
        settings[name] = value


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"a deadline is written as in 2026-01-31T18:00; {text[:40]!r} is not.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _set_labels(settings: dict[str, Any], sent: Sequence[Mapping[str, Any]], used: Sequence[str]) -> None:
    names = _names([entry["name"] for entry in sent], used, "label", least=2, most=30)
    keys = [str(entry.get("key") or "").lower() for entry in sent]
    given = [key for key in keys if key]
    if len(set(given)) < len(given) or _TAKEN_KEYS & set(given) or any(len(key) != 1 for key in given):
        raise InputError(
            "a key is one character, each label has its own, and u, s, x, c, n, j and k mean something else; "
            f"{', '.join(given)} were sent. Choose others."
        )
    settings["labels"] = names
    looks: dict[str, dict[str, str]] = {}
    for name, key, entry in zip(names, keys, sent, strict=True):
        look = {"colour": str(entry.get("colour") or "none"), "key": key}
        if look["colour"] not in COLOURS:
            raise InputError(f"a colour is one of {', '.join(COLOURS)}; {look['colour']!r} is not.")
        looks[name] = look
    settings["looks"] = looks


def _set_aspects(settings: dict[str, Any], sent: Sequence[str], used: Sequence[str]) -> None:
    settings["aspects"] = _names(sent, used, "aspect", least=1, most=20)


def _names(sent: Sequence[str], used: Sequence[str], what: str, *, least: int, most: int) -> list[str]:
    names = [name.strip() for name in sent]
    if not all(names) or len(set(names)) < len(names) or not least <= len(names) <= most:
        raise InputError(
            f"a project has {least} to {most} {what}s, each with a name of its own; {len(names)} were sent: "
            f"{', '.join(names)[:200]}."
        )
    gone = [name for name in used if name not in names]
    if gone:
        raise InputError(
            f"a {what} that answers use stays; {', '.join(gone)[:200]} would be gone. Keep it, or begin a new project "
            "with a copy of this one."
        )
    return names
