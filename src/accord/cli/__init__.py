"""The ``accord`` command, one file a command."""
