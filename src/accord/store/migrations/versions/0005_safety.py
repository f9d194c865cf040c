"""Safety: lasting secrets, links for one person, guests, unfinished imports, failed fits, results by row."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _project(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["project_id"], ["projects.id"], name=op.f(f"fk_{table}_project_id"), ondelete="CASCADE"
    )


def upgrade() -> None:
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "failures",
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("n_failures", sa.Integer(), nullable=False),
        sa.Column("failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        _project("failures"),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_failures")),
    )
    op.create_table(
        "results",
        sa.Column("project_id", _KEY, nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("item", _KEY, nullable=True),
        sa.Column("row", sa.JSON(), nullable=False),
        _project("results"),
        sa.PrimaryKeyConstraint("project_id", "model_version", "place", name=op.f("pk_results")),
    )
    op.create_index(op.f("ix_results_project_id_item"), "results", ["project_id", "item"], unique=False)
    op.add_column("invites", sa.Column("person_id", _KEY, nullable=True))
    op.add_column("memberships", sa.Column("invite", sa.String(length=64), nullable=True))
    op.add_column("people", sa.Column("is_guest", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("projects", sa.Column("is_ready", sa.Boolean(), nullable=False, server_default=sa.true()))
    # Guests of a demonstration judge; they used to own what they could see.
    op.execute("UPDATE people SET is_guest = true WHERE password_hash IS NULL AND name LIKE 'Guest %'")
    op.execute("UPDATE memberships SET role = 'judge' WHERE person_id IN (SELECT id FROM people WHERE is_guest)")
    op.execute("DELETE FROM invites WHERE created_by IN (SELECT id FROM people WHERE is_guest)")
    op.execute("DELETE FROM connections WHERE created_by IN (SELECT id FROM people WHERE is_guest)")
    # Annotations of Label Studio have names that no judge can send.
    for column in ("request_id", "undoes"):
        op.execute(
            f"UPDATE judgements SET {column} = 'ls:' || substr({column}, 4) "
            f"WHERE {column} LIKE 'ls-%' AND person_id IS NULL"
        )
    # Results are kept by row from now on; the worker makes them anew.
    op.execute("UPDATE scores SET last_judgement = -1, result = '{}'")
