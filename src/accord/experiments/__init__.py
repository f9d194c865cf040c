"""The papers' tables, one module a word."""
