"""An index by which a person's own questions are found among all that wait."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_NAME = "ix_questions_project_id_leased_by"


def upgrade() -> None:
    op.create_index(op.f(_NAME), "questions", ["project_id", "leased_by"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f(_NAME), table_name="questions")
