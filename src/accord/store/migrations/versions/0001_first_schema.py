"""First schema: people, projects, texts, judgements, questions and scores."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("password_hash", sa.String(length=300), nullable=True),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("name", name=op.f("uq_people_name")),
    )
    op.create_table(
        "projects",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("word", sa.String(length=20), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_projects_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_sessions_person_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_person_id"), "sessions", ["person_id"], unique=False)
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.String(length=60), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_audit_person_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_audit_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index(op.f("ix_audit_project_id"), "audit", ["project_id"], unique=False)
    op.create_table(
        "invites",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("created_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["people.id"], name=op.f("fk_invites_created_by")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_invites_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_invites")),
    )
    op.create_index(op.f("ix_invites_project_id"), "invites", ["project_id"], unique=False)
    op.create_table(
        "items",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item_id", sa.String(length=500), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("group_id", sa.String(length=500), nullable=True),
        sa.Column("reply_to", sa.String(length=500), nullable=True),
        sa.Column("author_id", sa.String(length=500), nullable=True),
        sa.Column("timestamp", sa.String(length=60), nullable=True),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_items_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
        sa.UniqueConstraint("project_id", "item_id", name=op.f("uq_items_project_id_item_id")),
    )
    op.create_index(op.f("ix_items_project_id_group_id"), "items", ["project_id", "group_id"], unique=False)
    op.create_index(op.f("ix_items_project_id_position"), "items", ["project_id", "position"], unique=False)
    op.create_table(
        "links",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("src_id", sa.String(length=500), nullable=False),
        sa.Column("dst_id", sa.String(length=500), nullable=False),
        sa.Column("kind", sa.String(length=100), nullable=True),
        sa.Column("weight", sa.Float(), nullable=True),
        sa.Column("context", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_links_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_links")),
    )
    op.create_index(op.f("ix_links_project_id"), "links", ["project_id"], unique=False)
    op.create_table(
        "memberships",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_memberships_person_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_memberships_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "person_id", name=op.f("pk_memberships")),
    )
    op.create_index(op.f("ix_memberships_person_id"), "memberships", ["person_id"], unique=False)
    op.create_table(
        "scores",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("n_judgements", sa.Integer(), nullable=False),
        sa.Column("last_judgement", sa.BigInteger(), nullable=False),
        sa.Column("fitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_scores_project_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_scores")),
    )
    op.create_table(
        "judgements",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("other", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("aspect", sa.String(length=200), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("label", sa.String(length=200), nullable=True),
        sa.Column("start", sa.Integer(), nullable=True),
        sa.Column("end", sa.Integer(), nullable=True),
        sa.Column("quote", sa.Text(), nullable=True),
        sa.Column("person_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("annotator_id", sa.String(length=500), nullable=True),
        sa.Column("shown_left", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("response_ms", sa.Integer(), nullable=True),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("skip_reason", sa.String(length=200), nullable=True),
        sa.Column("strategy", sa.String(length=40), nullable=True),
        sa.Column("propensity", sa.Float(), nullable=True),
        sa.Column("model_version", sa.Integer(), nullable=True),
        sa.Column("source", sa.String(length=200), nullable=False),
        sa.Column("undoes", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_judgements_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["other"], ["items.id"], name=op.f("fk_judgements_other"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["person_id"], ["people.id"], name=op.f("fk_judgements_person_id")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_judgements_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["shown_left"], ["items.id"], name=op.f("fk_judgements_shown_left"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sa.UniqueConstraint("project_id", "request_id", "part", name=op.f("uq_judgements_project_id_request_id_part")),
    )
    op.create_index(
        op.f("ix_judgements_person_id_item_other"), "judgements", ["person_id", "item", "other"], unique=False
    )
    op.create_index(op.f("ix_judgements_item"), "judgements", ["item"], unique=False)
    op.create_index(op.f("ix_judgements_other"), "judgements", ["other"], unique=False)
    op.create_index(
        op.f("ix_judgements_project_id_person_id_id"), "judgements", ["project_id", "person_id", "id"], unique=False
    )
    op.create_index(op.f("ix_judgements_project_id_undoes"), "judgements", ["project_id", "undoes"], unique=False)
    op.create_table(
        "questions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("item", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("other", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("strategy", sa.String(length=40), nullable=False),
        sa.Column("propensity", sa.Float(), nullable=True),
        sa.Column("model_version", sa.Integer(), nullable=False),
        sa.Column("order_key", sa.Float(), nullable=False),
        sa.Column("leased_by", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["item"], ["items.id"], name=op.f("fk_questions_item"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["leased_by"], ["people.id"], name=op.f("fk_questions_leased_by")),
        sa.ForeignKeyConstraint(["other"], ["items.id"], name=op.f("fk_questions_other"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_questions_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
    )
    op.create_index(op.f("ix_questions_project_id_order_key"), "questions", ["project_id", "order_key"], unique=False)
