"""The files for containers and systemd call the studio as it can be called."""

import json
import re
from pathlib import Path

import pytest
import typer

from accord.cli.studio import app

FOLDER = Path(__file__).parents[2] / "deploy"


@pytest.mark.parametrize("name", ["Dockerfile", "accord-studio.service", "accord-backup.service"])
def test_every_option_is_one_of_the_command(name):
    (command,) = [app] if not isinstance(app, typer.Typer) else [typer.main.get_command(app)]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    calls = [
        line
        for line in (FOLDER / name).read_text().splitlines()
        if re.search(r"accord.*studio", line) and not line.startswith(("#", "RUN", " "))
    ]
    used = {option for line in calls for option in re.findall(r"--[a-z][a-z-]+", line)}
    assert used
    assert used <= known | {"--create-home"}


def test_options_given_to_the_container_leave_the_database_in_its_volume():
    """What follows the name of a container takes the place of CMD, and is added to ENTRYPOINT."""
    lines = (FOLDER / "Dockerfile").read_text().splitlines()
    (volume,) = [line.split()[1] for line in lines if line.startswith("VOLUME ")]
    (entry,) = [json.loads(line.removeprefix("ENTRYPOINT ")) for line in lines if line.startswith("ENTRYPOINT ")]
    assert entry[entry.index("--database") + 1].startswith(f"sqlite:///{volume}/")
