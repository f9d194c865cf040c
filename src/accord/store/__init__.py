"""What is kept on disk: models and, later, the database."""
