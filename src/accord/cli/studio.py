"""``accord studio``: the web page where people judge."""

from importlib.util import find_spec

from accord import __version__
from accord.cli.frame import command_app
from accord.errors import InputError

app = command_app()


@app.command()
def studio() -> None:
    """Open the web page where people judge."""
    if find_spec("accord.studio") is None:
        raise InputError(f"the studio is not part of this version of Accord ({__version__}).")
