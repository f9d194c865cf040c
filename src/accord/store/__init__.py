"""What is kept on disk: models and the database. All SQL is here."""
