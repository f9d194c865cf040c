"""What the commands of the README print: a ```console block has its commands and, below, the output of the last.

    python docs/readme_output.py            says whether the README shows what is printed
    python docs/readme_output.py --write    writes it anew

A line that is only `…` stands for lines that are left out; when written anew, the same places are shown.
"""

import re
import sys
import tempfile
from pathlib import Path

from run_commands import run_command

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.compile(r"(```console\n)(?P<commands>(?:\$ [^\n]*\n)+)(?P<shown>(?!```).*?)(```)", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d*\.?\d+")


def printed(commands: str, folder: Path) -> list[str]:
    """The lines that the last command prints; the others run before it."""
    said = ""
    for line in commands.splitlines():
        said, code = run_command(line.removeprefix("$ "), folder)
        if code != 0:
            raise SystemExit(f"{line} ended with exit code {code}: {said}")
    return said.splitlines()


def shape(line: str) -> str:
    """A line without its figures and its borders, which another machine may round or set differently."""
    return re.sub(r"[\s─━┃│┏┓┗┛┡┩╇┳┻]+", " ", _NUMBER.sub("0", line)).strip()


def differences(shown: str, said: list[str]) -> list[str]:
    """Lines that are shown and were not printed, in that order; figures may differ a little between machines."""
    wrong, place = [], 0
    for line in (line for line in shown.splitlines() if line.strip() and line.strip() != "…"):
        while place < len(said) and not _same(line, said[place]):
            place += 1
        if place == len(said):
            wrong.append(line)
            place = 0
    return wrong


def _same(shown: str, said: str) -> bool:
    if shape(shown) != shape(said):
        return False
    pairs = zip(map(float, _NUMBER.findall(shown)), map(float, _NUMBER.findall(said)), strict=True)
    return all(abs(a - b) <= max(0.3, 0.15 * abs(a), 5.0 if abs(a) > 5 else 0.0) for a, b in pairs)


def rewritten(shown: str, said: list[str]) -> str:
    """The same places of the new output: the first lines up to `…`, and as many of the last as stood after it."""
    lines = shown.splitlines()
    if "…" not in lines:
        return "\n".join(said) + "\n"
    head, tail = lines.index("…"), len(lines) - lines.index("…") - 1
    return "\n".join([*said[:head], "…", *(said[-tail:] if tail else [])]) + "\n"


def main() -> int:
    """Compare, or write."""
    text, wrong = README.read_text(encoding="utf-8"), []
    with tempfile.TemporaryDirectory() as folder:

        def checked(block: re.Match[str]) -> str:
            said = printed(block["commands"], Path(folder))
            wrong.extend(differences(block["shown"], said))
            return block[1] + block["commands"] + rewritten(block["shown"], said) + block[4]

        new = BLOCKS.sub(checked, text)
    if "--write" in sys.argv:
        README.write_text(new, encoding="utf-8")
        return 0
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
