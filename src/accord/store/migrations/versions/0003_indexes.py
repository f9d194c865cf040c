"""Indexes: a person's own questions, and the few judgements that undo others."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_HELD, _UNDOES = "ix_questions_project_id_leased_by", "ix_judgements_project_id_undoes"


def upgrade() -> None:
    op.create_index(op.f(_HELD), "questions", ["project_id", "leased_by"], unique=False)
    op.drop_index(op.f(_UNDOES), table_name="judgements")
    few = sa.text("undoes IS NOT NULL")
    op.create_index(
        op.f(_UNDOES), "judgements", ["project_id", "undoes"], unique=False, sqlite_where=few, postgresql_where=few
    )


def downgrade() -> None:
    op.drop_index(op.f(_UNDOES), table_name="judgements")
    op.create_index(op.f(_UNDOES), "judgements", ["project_id", "undoes"], unique=False)
    op.drop_index(op.f(_HELD), table_name="questions")
