"""Alembic migrations of the studio's database."""
