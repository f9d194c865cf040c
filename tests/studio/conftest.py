"""A studio on a fresh database, and people in it."""

from studios import studio  # noqa: F401
