"""``accord completion``: what the Tab key offers in a shell."""

from importlib import import_module
from typing import Annotated

import typer

from accord.cli.frame import command_app
from accord.errors import InputError
from accord.typing import KINDS

app = command_app()
_SHELLS = ("bash", "zsh", "fish")


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"One of {', '.join(_SHELLS)}.")],
) -> None:
    """Print what makes the Tab key complete commands and options: eval "$(accord completion bash)"."""
    if shell not in _SHELLS:
        raise InputError(f"completion is for {', '.join(_SHELLS)}; got {shell!r}.")
    typer.echo(_fish() if shell == "fish" else _bash(zsh=shell == "zsh"))


def _words() -> dict[str, list[str]]:
    """What may follow each command: its options, and the kinds where it takes one."""
    from accord.cli.main import COMMANDS

    words = {}
    for name, (module, _) in COMMANDS.items():
        command = typer.main.get_command(import_module(f"accord.cli.{module}").app)
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        takes_kind = any("KIND" in (parameter.metavar or "") for parameter in command.params)
        words[name] = [*(KINDS if takes_kind else ()), *sorted(options), "--help"]
    return words


def _bash(*, zsh: bool) -> str:
    words = _words()
    cases = "\n".join(f"    {name}) words='{' '.join(after)}';;" for name, after in words.items())
    start = "autoload -U +X bashcompinit && bashcompinit\n" if zsh else ""
    return f"""{start}_accord() {{
  local words='{" ".join(words)} --help --version'
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _accord accord"""


def _fish() -> str:
    lines = [f"complete -c accord -n __fish_use_subcommand -a '{' '.join(_words())}'"]
    for name, after in _words().items():
        seen = f"complete -c accord -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{seen} -l {word[2:]}" for word in after if word.startswith("--")]
        kinds = " ".join(word for word in after if not word.startswith("--"))
        lines += [f"{seen} -a '{kinds}'"] if kinds else []
    return "\n".join(lines)
