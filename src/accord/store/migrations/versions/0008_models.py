"""Models and evaluations: what reasons are asked of, and how good the model was when an owner last asked."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _of_project(table: str) -> list[sa.schema.SchemaItem]:
    return [
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f(f"fk_{table}_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f(f"pk_{table}")),
    ]


def upgrade() -> None:
    op.create_table(
        "models",
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("model", sa.LargeBinary(), nullable=False),
        *_of_project("models"),
    )
    op.create_table(
        "evaluations",
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("evaluated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        *_of_project("evaluations"),
    )
