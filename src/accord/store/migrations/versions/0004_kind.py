"""The kind of judgement of a project is called its kind."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.alter_column("projects", "word", new_column_name="kind")


def downgrade() -> None:
    op.alter_column("projects", "kind", new_column_name="word")
