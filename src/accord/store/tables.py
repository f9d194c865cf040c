"""The tables of the studio's database.

Judgements are appended and never changed: an undo is a row of its own that names what it takes back. Texts, links and
projects change seldom; questions and scores are derived and may be thrown away and made anew.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)

__all__ = [
    "annotators",
    "audit",
    "connections",
    "evaluations",
    "failures",
    "gold",
    "invites",
    "items",
    "judgements",
    "links",
    "memberships",
    "metadata",
    "models",
    "people",
    "projects",
    "questions",
    "results",
    "scores",
    "secrets",
    "sessions",
]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only where the key is a plain INTEGER.
_Key = BigInteger().with_variant(Integer, "sqlite")
_Time = DateTime(timezone=True)

people = Table(
    "people",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("password_hash", String(300)),
    Column("is_admin", Boolean, nullable=False, default=False),
    Column("created_at", _Time, nullable=False),
    Column("is_guest", Boolean, nullable=False, default=False, server_default=false()),  # of a demonstration
    Column("may_create", Boolean, nullable=False, default=False, server_default=false()),  # projects
)

# What signs the pages' tokens; it outlives a restart, so that open pages stay good.
secrets = Table(
    "secrets",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("person_id", ForeignKey("people.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
)

projects = Table(
    "projects",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("question", Text, nullable=False, default=""),
    Column("guidelines", Text, nullable=False, default=""),
    Column("settings", JSON, nullable=False),
    Column("created_by", ForeignKey("people.id")),
    Column("created_at", _Time, nullable=False),
    Column("is_ready", Boolean, nullable=False, default=True, server_default=true()),  # all of its import is stored
    Column("state", String(10), nullable=False, default="active", server_default="active"),  # or paused, archived
)

memberships = Table(
    "memberships",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("person_id", ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("role", String(10), nullable=False),
    Column("joined_at", _Time, nullable=False),
    Column("invite", String(64)),  # the hash of the link by which the person came
)

invites = Table(
    "invites",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    Column("role", String(10), nullable=False),
    Column("created_by", ForeignKey("people.id")),
    Column("created_at", _Time, nullable=False),
    Column("expires_at", _Time, nullable=False),
    Column("uses_left", Integer, nullable=False),
    Column("person_id", _Key),  # a link for one person, who may set a new password by it
)

items = Table(
    "items",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("item_id", String(500), nullable=False),
    Column("position", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("group_id", String(500)),
    Column("reply_to", String(500)),
    Column("author_id", String(500)),
    Column("timestamp", String(60)),
    Column("meta", JSON, nullable=False),
    UniqueConstraint("project_id", "item_id"),
    Index(None, "project_id", "position"),
    Index(None, "project_id", "group_id"),
)

links = Table(
    "links",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("src_id", String(500), nullable=False),
    Column("dst_id", String(500), nullable=False),
    Column("kind", String(100)),
    Column("weight", Float),
    Column("context", Text),
)

# Who judged besides the studio's own people; programs are judges, which cannot sign in.
annotators = Table(
    "annotators",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("annotator_id", String(500), primary_key=True),
    Column("kind", String(10), nullable=False),
    Column("family", String(200)),
    Column("model", String(200)),
    Column("cost", Float),
)

_UNDOES = text("undoes IS NOT NULL")
judgements = Table(
    "judgements",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    # One answer may be several rows (a label and three spans). The browser names the answer; a resent one is refused
    # by the unique constraint, so that nothing is lost and nothing is stored twice.
    Column("request_id", String(64), nullable=False),
    Column("part", Integer, nullable=False, default=0),
    Column("kind", String(10), nullable=False),
    Column("item", ForeignKey("items.id", ondelete="CASCADE")),
    Column("other", ForeignKey("items.id", ondelete="CASCADE")),
    Column("aspect", String(200)),
    Column("value", Float),
    Column("label", String(200)),
    Column("start", Integer),
    Column("end", Integer),
    Column("quote", Text),
    Column("person_id", ForeignKey("people.id")),
    Column("annotator_id", String(500)),
    Column("shown_left", ForeignKey("items.id", ondelete="CASCADE")),
    Column("created_at", _Time, nullable=False),
    Column("response_ms", Integer),
    Column("status", String(20), nullable=False),
    Column("skip_reason", String(200)),
    Column("strategy", String(40)),
    Column("propensity", Float),
    Column("model_version", Integer),
    Column("source", String(200), nullable=False),
    Column("undoes", String(64)),
    Column("person_propensity", Float),  # of this person being asked, where the question was meant for them
    UniqueConstraint("project_id", "request_id", "part"),
    Index(None, "project_id", "person_id", "id"),
    # Few rows undo others; an index of all would be walked from end to end for those that do not.
    Index(None, "project_id", "undoes", sqlite_where=_UNDOES, postgresql_where=_UNDOES),
    Index(None, "person_id", "item", "other"),
    Index(None, "item"),
    Index(None, "other"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), nullable=False),
    Column("other", ForeignKey("items.id", ondelete="CASCADE")),
    Column("strategy", String(40), nullable=False),
    Column("propensity", Float),
    Column("model_version", Integer, nullable=False),
    Column("order_key", Float, nullable=False),
    Column("leased_by", ForeignKey("people.id")),
    Column("leased_until", _Time),
    Column("asks", String(40)),  # label, where highlights are not asked for; else everything that the kind asks
    Column("meant_for", _Key),  # the person whose question it is, if anybody's
    Column("person_propensity", Float),
    Index(None, "project_id", "order_key"),
    Index(None, "project_id", "leased_by"),
)

scores = Table(
    "scores",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("model_version", Integer, nullable=False),
    Column("n_judgements", Integer, nullable=False),
    Column("last_judgement", BigInteger, nullable=False),
    Column("fitted_at", _Time, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("result", JSON, nullable=False),
)

# One row a text, as the pages show it, of the model version that the scores name.
results = Table(
    "results",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("model_version", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("item", _Key),
    Column("row", JSON, nullable=False),
    Index(None, "project_id", "item"),
)

# The newest model of a project, as a model file, where it is small: reasons are asked of it.
models = Table(
    "models",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("model_version", Integer, nullable=False),
    Column("model", LargeBinary, nullable=False),
)

# How good the model was when an owner last asked.
evaluations = Table(
    "evaluations",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("evaluated_at", _Time, nullable=False),
    Column("result", JSON, nullable=False),
)

# Why the last fit of a project failed, and when it is tried again.
failures = Table(
    "failures",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("n_failures", Integer, nullable=False),
    Column("failed_at", _Time, nullable=False),
    Column("retry_at", _Time, nullable=False),
    Column("sentence", Text, nullable=False),
)

# Questions whose right answer an owner has said; they are mixed in among the others.
gold = Table(
    "gold",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("other", ForeignKey("items.id", ondelete="CASCADE"), index=True),
    Column("right", JSON, nullable=False),  # value, label, labels or scores, as in an answer
    Column("reason", Text, nullable=False, default=""),
    Column("created_by", ForeignKey("people.id")),
    Column("created_at", _Time, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), index=True),
    Column("person_id", ForeignKey("people.id")),
    Column("at", _Time, nullable=False),
    Column("action", String(60), nullable=False),
    Column("detail", JSON, nullable=False),
)

# A project that another program may ask for suggestions and send annotations to, and the model that it is served with.
connections = Table(
    "connections",
    metadata,
    Column("project_id", ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("created_by", ForeignKey("people.id")),
    Column("created_at", _Time, nullable=False),
    Column("model_version", String(60)),
    Column("model", LargeBinary),
)
