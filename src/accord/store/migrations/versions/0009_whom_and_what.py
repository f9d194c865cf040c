"""Questions for one person, and of one kind: whom a question is meant for, how probable that was, and what it asks."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("questions", sa.Column("asks", sa.String(length=40), nullable=True))
    op.add_column("questions", sa.Column("meant_for", _KEY, nullable=True))
    op.add_column("questions", sa.Column("person_propensity", sa.Float(), nullable=True))
    op.add_column("judgements", sa.Column("person_propensity", sa.Float(), nullable=True))
