"""Gold questions: their right answer is known, and they are mixed in among the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, insert, or_, select

from accord.store.people import now
from accord.store.tables import gold, items, judgements

__all__ = ["Gold", "add_gold", "gold_about", "gold_rows", "list_gold", "remove_gold", "unasked"]


@dataclass(frozen=True)
class Gold:
    """A question with its right answer (``value``, ``labels`` or ``scores``) and why it is right."""

    id: int
    item: int
    other: int | None
    right: Mapping[str, Any]
    reason: str


def _gold(row: Any) -> Gold:
    return Gold(row.id, row.item, row.other, row.right, row.reason)


def _about(item: int, other: int | None) -> Any:
    if other is None:
        return and_(gold.c.item == item, gold.c.other.is_(None))
    return or_(
        and_(gold.c.item == item, gold.c.other == other),
        and_(gold.c.item == other, gold.c.other == item),
    )


def add_gold(
    connection: Connection,
    project_id: int,
    *,
    item: int,
    other: int | None,
    right: Mapping[str, Any],
    reason: str,
    created_by: int,
) -> None:
    """Say the right answer of a question; an earlier one about the same texts is replaced."""
    connection.execute(delete(gold).where(gold.c.project_id == project_id, _about(item, other)))
    connection.execute(
        insert(gold).values(
            project_id=project_id, item=item, other=other, right=dict(right), reason=reason, created_by=created_by,
            created_at=now(),
        )
    )  # fmt: skip


def remove_gold(connection: Connection, project_id: int, key: int) -> bool:
    """Take a gold question out; returns whether there was one."""
    return connection.execute(delete(gold).where(gold.c.project_id == project_id, gold.c.id == key)).rowcount > 0


def list_gold(connection: Connection, project_id: int, *, limit: int = 200) -> list[Gold]:
    """The gold questions of a project, newest first."""
    query = select(gold).where(gold.c.project_id == project_id).order_by(gold.c.id.desc()).limit(limit)
    return [_gold(row) for row in connection.execute(query)]


def gold_about(connection: Connection, project_id: int, item: int, other: int | None) -> Gold | None:
    """The gold question about some texts, or ``None``."""
    row = connection.execute(select(gold).where(gold.c.project_id == project_id, _about(item, other))).first()
    return None if row is None else _gold(row)


def gold_rows(connection: Connection, project_id: int) -> list[dict[str, Any]]:
    """The right answers by the ids that people gave the texts."""
    other = items.alias("other_")
    query = (
        select(items.c.item_id, other.c.item_id.label("other_id"), gold.c.right)
        .join(items, items.c.id == gold.c.item)
        .outerjoin(other, other.c.id == gold.c.other)
        .where(gold.c.project_id == project_id)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def unasked(connection: Connection, project_id: int, person_id: int) -> Gold | None:
    """A gold question that the person has not answered, one at random, or ``None``."""
    same = or_(
        and_(judgements.c.item == gold.c.item, judgements.c.other.is_not_distinct_from(gold.c.other)),
        and_(judgements.c.item == gold.c.other, judgements.c.other == gold.c.item),
    )
    answered = exists().where(judgements.c.person_id == person_id, same)
    query = select(gold).where(gold.c.project_id == project_id, ~answered).order_by(func.random()).limit(1)
    row = connection.execute(query).first()
    return None if row is None else _gold(row)
