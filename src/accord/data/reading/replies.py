"""Texts that answer each other: the links between them, the threads they make, and the order they were written in."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from accord.data.links import opening_words
from accord.data.project import LINKS, with_schema

__all__ = ["links_of_replies", "threads_of_replies", "without_prefix"]


def without_prefix(parent: str | None, known: Mapping[str, int]) -> str | None:
    """The id of the text that is answered; forums write the type of a thing before its id (``t1_abc``)."""
    if parent is None or parent in known:
        return parent
    kind, sign, rest = parent.partition("_")
    return rest if sign and rest in known and len(kind) == 2 and kind[0] == "t" and kind[1].isdigit() else parent


def links_of_replies(items: pa.Table, known: Mapping[str, int], lost: Counter[str]) -> pa.Table:
    """A link from every text to the one that it answers, with the first words of the reply."""
    rows = zip(*(items.column(name).to_pylist() for name in ("item_id", "reply_to", "text")), strict=True)
    found = [(name, without_prefix(parent, known), text) for name, parent, text in rows if parent is not None]
    inside = [
        (name, parent, opening_words(text or "")) for name, parent, text in found if parent in known and parent != name
    ]
    if len(inside) < len(found):
        lost["replies to texts that are not in the files make no link"] += len(found) - len(inside)
    ends: Iterable[Sequence[str | None]] = zip(*inside, strict=True) if inside else ((), (), ())
    columns = {
        name: pa.array(part, pa.string()) for name, part in zip(("src_id", "dst_id", "context"), ends, strict=True)
    }
    return with_schema({**columns, "kind": pa.array(["reply"] * len(inside), pa.string())}, LINKS)


def threads_of_replies(items: pa.Table, known: Mapping[str, int], assumed: Counter[str]) -> pa.Table:
    """The texts with the thread of each (that of the text at its root), in the order of their times."""
    ids = items.column("item_id").to_pylist()
    groups = [None if group is None else str(group) for group in items.column("group_id").to_pylist()]
    parents = [without_prefix(parent, known) for parent in items.column("reply_to").to_pylist()]
    if None in groups and any(parent is not None for parent in parents):
        above = dict(zip(ids, parents, strict=True))
        roots: dict[str, str] = {}
        for name in ids:
            path, at = [], name
            while at not in roots and above.get(at) in known and at not in path:
                path.append(at)
                at = str(above[at])
            for one in (*path, name):
                roots[one] = roots.get(at, at)
        groups = [roots[name] if group is None else group for name, group in zip(ids, groups, strict=True)]
        assumed["the thread of a comment is the text that its replies lead to"] += 1
    else:
        groups = [without_prefix(group, known) for group in groups]
    items = items.set_column(items.schema.get_field_index("group_id"), "group_id", pa.array(groups, pa.string()))
    return _in_order(items, assumed)


def _in_order(items: pa.Table, assumed: Counter[str]) -> pa.Table:
    """Comments of one thread by their times, if all of them have one that can be read."""
    times = pd.to_datetime(
        pd.Series(items.column("timestamp").to_pylist(), dtype=object), errors="coerce", utc=True, format="ISO8601"
    )
    if not len(times) or times.isna().any():
        return items
    group = pd.factorize(pd.Series(items.column("group_id").to_pylist(), dtype=object))[0]
    order = pd.DataFrame({"group": group, "time": times}).sort_values(["group", "time"], kind="stable").index.to_numpy()
    if (order == range(len(order))).all():
        return items
    assumed["comments of a thread are put in the order of their times"] += 1
    return items.take(pa.array(order))
