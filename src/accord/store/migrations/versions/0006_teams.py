"""Teams: who may make projects, projects that are paused or archived, gold questions."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("people", sa.Column("may_create", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("projects", sa.Column("state", sa.String(length=10), nullable=False, server_default="active"))
    op.execute(
        "UPDATE people SET may_create = true WHERE is_admin OR id IN "
        "(SELECT person_id FROM memberships WHERE role = 'owner')"
    )
    op.create_table(
        "gold",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("item", _KEY, nullable=False),
        sa.Column("other", _KEY, nullable=True),
        sa.Column("right", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", _KEY, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_gold_{name}"), ondelete=rule)
            for name, table, rule in (
                ("project_id", "projects", "CASCADE"),
                ("item", "items", "CASCADE"),
                ("other", "items", "CASCADE"),
                ("created_by", "people", None),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gold")),
    )
    for name in ("project_id", "item", "other"):
        op.create_index(op.f(f"ix_gold_{name}"), "gold", [name], unique=False)
