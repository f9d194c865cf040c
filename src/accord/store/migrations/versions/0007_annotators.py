"""Annotators: which of those who judged are programs, of which family, and what they cost."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "annotators",
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("annotator_id", sa.String(length=500), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("family", sa.String(length=200), nullable=True),
        sa.Column("model", sa.String(length=200), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_annotators_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "annotator_id", name=op.f("pk_annotators")),
    )
