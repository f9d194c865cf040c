"""Records with objects and lists in them, as exports of web services have them, as rows of a table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from accord.data.reading.names import IDENTITY, PERSON
from accord.data.reading.profiles import plain_name

__all__ = ["flattened", "has_inner"]

_DEEPEST = 5  # objects within objects; what is deeper stays JSON
_SHORT = 40  # characters of a label
_RATED = ("rating", "ratings", "score", "scores", "aspects", "stars")
_WHO = ("login", "username", "user_name", "handle", "id", "user_id", "name", "display_name")
_PEOPLE = ("author", "user", "owner", "from", "sender", "creator", *PERSON["annotator_id"])
_SAID = (("role", "content"), ("from", "value"), ("author", "text"), ("speaker", "text"))


def has_inner(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of some records has an object or a list in it."""
    return any(isinstance(value, dict | list) for record in records for value in record.values())


def flattened(record: Mapping[str, Any]) -> dict[str, Any]:
    """The same record without objects and with few lists in it.

    Parts of an object are named ``object.part``, and scores of an object of ratings ``score.part``. Whoever wrote or
    judged is named by a login or an id. A list of labels is one label or ``a; b``; the turns of a conversation are one
    text.

    Examples
    --------
    >>> flattened({"id": 1, "user": {"login": "ann", "site": "x"}, "ratings": {"food": 4, "service": 2}})
    {'id': 1, 'user': 'ann', 'user.site': 'x', 'score.food': 4, 'score.service': 2}
    >>> flattened({"labels": [{"name": "bug"}, {"name": "web"}], "turns": [{"role": "user", "content": "Hello?"}]})
    {'labels': 'bug; web', 'turns': 'user: Hello?'}
    """
    row: dict[str, Any] = {}
    for name, value in record.items():
        _put(row, name, value, 0)
    return row


def _put(row: dict[str, Any], name: str, value: Any, depth: int) -> None:
    if isinstance(value, list):
        row[name] = _listed(plain_name(name), value)
    elif not isinstance(value, dict) or depth >= _DEEPEST:
        row[name] = value
    elif plain_name(name) in _RATED and value and all(_is_number(part) for part in value.values()):
        row.update({f"score.{part}": number for part, number in value.items()})
    else:
        who = next((key for key in value if plain_name(key) in _WHO), None) if _is_person(name) else None
        if who is not None:
            who = min((key for key in value if plain_name(key) in _WHO), key=lambda key: _WHO.index(plain_name(key)))
            row[name] = value[who]
        for part, inner in value.items():
            if part != who:
                _put(row, f"{name}.{part}", inner, depth + 1)


def _is_person(name: str) -> bool:
    return plain_name(name.rpartition(".")[2]) in _PEOPLE


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _listed(name: str, entries: Sequence[Any]) -> Any:
    """A list as one cell where it is one thing; any other as it is."""
    if not entries:
        return None
    if all(isinstance(entry, str) for entry in entries):
        if len(entries) == 1:
            return entries[0]
        if name in ("quote", *IDENTITY["quote"]):
            return entries
        return ("; " if all(len(entry) <= _SHORT for entry in entries) else "\n").join(entries)
    if all(isinstance(entry, dict) for entry in entries):
        for who, what in _SAID:
            if all(isinstance(entry.get(who), str) and isinstance(entry.get(what), str) for entry in entries):
                return "\n".join(f"{entry[who]}: {entry[what]}" for entry in entries)
        if all(isinstance(entry.get("name"), str) for entry in entries):
            return "; ".join(entry["name"] for entry in entries)
    parts = [entry.get("text") if isinstance(entry, dict) else entry for entry in entries]
    words = [part for part in parts if isinstance(part, str)]
    if any(isinstance(entry, str) for entry in entries) and len(words) == len(parts):
        return "".join(words)  # a text with marked-up parts
    return entries
