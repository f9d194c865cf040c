"""Texts that answer each other: the links between them, the threads they make, and the order they were written in."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import pandas as pd
import pyarrow as pa

from accord.data.links import opening_words
from accord.data.project import LINKS, with_schema
from accord.data.reading.near_ids import WHOLE_NUMBER

__all__ = ["answered_id", "links_of_replies", "questions_with_labels", "threads_of_replies"]


def answered_id(parent: str | None, known: Mapping[str, int]) -> str | None:
    """The id of the text that is answered, as the texts have it.

    Forums write the type of a thing before its id (``t1_abc``), and pandas makes ``1.0`` of 1 in a column with gaps.
    """
    if parent is None or parent in known:
        return parent
    kind, sign, rest = parent.partition("_")
    if sign and rest in known and len(kind) == 2 and kind[0] == "t" and kind[1].isdigit():
        return rest
    whole = WHOLE_NUMBER.fullmatch(parent)
    return whole[1] if whole and whole[1] in known else parent


def links_of_replies(items: pa.Table, known: Mapping[str, int], lost: Counter[str]) -> pa.Table:
    """A link from every text to the one that it answers, with the first words of the reply."""
    rows = zip(*(items.column(name).to_pylist() for name in ("item_id", "reply_to", "text")), strict=True)
    found = [(name, answered_id(parent, known), text) for name, parent, text in rows if parent is not None]
    inside = [
        (name, parent, opening_words(text or "")) for name, parent, text in found if parent in known and parent != name
    ]
    itself = sum(parent == name for name, parent, _ in found)
    if itself:
        lost["texts that answer themselves make no link"] += itself
    if len(inside) + itself < len(found):
        lost["replies to texts that are not in the files make no link"] += len(found) - len(inside) - itself
    ends: Iterable[Sequence[str | None]] = zip(*inside, strict=True) if inside else ((), (), ())
    columns = {
        name: pa.array(part, pa.string()) for name, part in zip(("src_id", "dst_id", "context"), ends, strict=True)
    }
    return with_schema({**columns, "kind": pa.array(["reply"] * len(inside), pa.string())}, LINKS)


def threads_of_replies(items: pa.Table, known: Mapping[str, int], assumed: Counter[str]) -> pa.Table:
    """The texts with the thread of each (that of the text at its root), in the order of their times."""
    ids = items.column("item_id").to_pylist()
    groups = [None if group is None else str(group) for group in items.column("group_id").to_pylist()]
    parents = [answered_id(parent, known) for parent in items.column("reply_to").to_pylist()]
    if None in groups and any(parent is not None for parent in parents):
        roots = _roots(ids, parents, known)
        missing = sum(roots[name] not in known for name in ids)
        groups = [roots[name] if group is None else group for name, group in zip(ids, groups, strict=True)]
        assumed["the thread of a comment is the text that its replies lead to"] += 1
        if missing:
            assumed["comments that lead to one text that is not in the files are one thread, without a question"] += (
                missing
            )
    else:
        groups = [answered_id(group, known) for group in groups]
    items = items.set_column(items.schema.get_field_index("group_id"), "group_id", pa.array(groups, pa.string()))
    return _in_order(items, assumed)


def questions_with_labels(items: pa.Table, labelled: Collection[str], lost: Counter[str]) -> None:
    """Say how many labels models of threads do not learn from: those of texts that are questions, not comments."""
    pairs = zip(*(items.column(name).to_pylist() for name in ("item_id", "group_id")), strict=True)
    n = sum(name == group and name in labelled for name, group in pairs)
    if n:
        lost["labels of texts that are the questions of their threads are kept, but not learnt from"] += n


def _roots(ids: Sequence[str], parents: Sequence[str | None], known: Mapping[str, int]) -> dict[str, str]:
    """The id that the replies of each text lead to, which need not be among the texts; in a circle, one of them."""
    above = dict(zip(ids, parents, strict=True))
    roots: dict[str, str] = {}
    for name in ids:
        path = dict.fromkeys([name])
        at = name
        while at not in roots and at in known and (parent := above.get(at)) is not None and parent not in path:
            at = parent
            path[at] = None
        for one in path:
            roots[one] = roots.get(at, at)
    return roots


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
