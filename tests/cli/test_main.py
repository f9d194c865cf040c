"""The frame of the command: help, exit codes and one-sentence errors."""

import json
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

from accord import __version__
from accord.cli import main as frame
from accord.cli.main import COMMANDS, main
from accord.evaluation.tables import Paper, Row, mean_row
from accord.workflows import kinds


def run(*arguments):
    return subprocess.run([sys.executable, "-m", "accord", *arguments], capture_output=True, text=True, check=False)


def test_help_lists_every_command_and_imports_nothing_heavy():
    script = (
        "import sys; from accord.cli.main import main; main(['--help']); "
        "print('heavy', sorted({'numpy', 'pandas', 'sklearn', 'typer', 'pyarrow'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert all(f"  {name} " in out for name in COMMANDS)
    assert out.endswith("heavy []\n")


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"accord {__version__}\n"


SAMPLES = Path(__file__).parents[1] / "data" / "formats" / "samples"


@pytest.mark.parametrize("name", [name for name, (file, _) in COMMANDS.items() if find_spec(f"accord.cli.{file}")])
def test_every_command_has_help(name, capsys):
    assert main([name, "--help"]) == 0
    assert f"accord {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["--nonsense"],
        ["rank", "--nonsense"],
        ["train"],
        ["train", "letters", "nowhere", "--model", "m"],
        ["train", "pairs", "nowhere", "--model", "m"],
        ["predict", "nowhere", "nowhere"],
        ["explain", "nowhere", "nowhere", "--item", "a"],
        ["rank", "--example", "nowhere"],
        ["ask", "nowhere"],
        ["simulate", "nowhere"],
        ["export", "nowhere", "--out", "x"],
        ["studio", "--label-studio-model", "model.accord"],
        ["reproduce", "letters"],
        ["reproduce", "pairs", "--workers", "0"],
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("accord: ")
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def _command(action):
    import typer

    app = typer.Typer(add_completion=False)
    app.command()(action)
    return types.SimpleNamespace(app=app)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(32, "Broken pipe"), 141),
        (PermissionError(13, "Permission denied"), 2),
    ],
)
def test_interrupts_pipes_and_files_have_their_exit_codes(error, code, monkeypatch, capsys):
    def fail() -> None:
        raise error

    monkeypatch.setattr(frame, "_command_module", lambda name: _command(fail))
    monkeypatch.setattr(frame, "_silence_stdout", lambda: None)
    assert main(["rank"]) == code
    assert capsys.readouterr().err.count("\n") == int(code != 141)  # nothing is wrong where nobody reads on


def test_a_bug_is_not_dressed_up_as_bad_input(monkeypatch):
    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(frame, "_command_module", lambda name: _command(fail))
    with pytest.raises(ZeroDivisionError):
        main(["rank"])


@pytest.mark.parametrize("arguments", ["--help", f"import {SAMPLES}/doccano/labels.jsonl --dry-run"])
def test_a_closed_pipe_ends_quietly(arguments):
    command = f"{sys.executable} -m accord {arguments} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() in ("0", "141")  # 0 where everything was written before the reader left


def run_in_shell(command):
    return subprocess.run(["bash", "-c", f"{sys.executable} -m accord {command}"], capture_output=True, text=True)


def test_closed_standard_output_is_one_sentence():
    for arguments in ("--version", "rank --example arguments"):
        done = run_in_shell(f"{arguments} >&-")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "standard output is closed" in done.stderr


def test_closed_standard_error_keeps_the_exit_code():
    assert run_in_shell("rank nowhere 2>&-").returncode == 2
    assert run_in_shell("--version 2>&-").stdout.startswith("accord ")


def test_a_full_device_is_one_sentence():
    done = run_in_shell("--version > /dev/full")
    assert (done.returncode, done.stderr) == (2, "accord: No space left on device.\n")


def test_a_model_of_pairs_on_plain_texts_is_one_sentence(tmp_path, capsys):
    texts, votes, model = (tmp_path / name for name in ("texts.csv", "votes.csv", "m"))
    texts.write_text("item_id,text\na,hello there\nb,good bye\n")
    votes.write_text("left,right,winner\na,b,a\nb,c,b\na,c,a\n")
    assert main(["train", "pairs", str(votes), "--model", str(model)]) == 0
    capsys.readouterr()
    assert main(["predict", str(model), str(texts)]) == 2
    assert "there are no votes here" in capsys.readouterr().err


@pytest.mark.parametrize("written", ["seeds=x", "n_labels=-1", "batch=2.5", "seeds=null"])
def test_wrong_settings_of_a_simulation_are_one_sentence(written, capsys):
    assert main(["simulate", "example:arguments", "--set", written]) == 2
    assert "of a simulation must be a whole number of at least 1" in capsys.readouterr().err


@pytest.fixture
def experiment(monkeypatch):
    def reproduce(*, quick, progress, workers=1):
        progress("folds", 1, 2)
        assert (quick, workers) == (True, 2)
        return [
            mean_row("strict", "gppl", "accuracy", [0.7, 0.8, 0.9], paper=0.8),
            Row("rank", "gppl", "kendall", None, 0.5, 0.5, 0.5, 1),
            mean_row("strict", "svm", "accuracy", [0.6, 0.7]),
        ]

    monkeypatch.setitem(kinds._PAPERS, "pairs", lambda: Paper(reproduce))


def test_reproduce_keeps_its_json_contract(experiment, capsys):
    assert main(["reproduce", "pairs", "--quick", "--workers", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) == {"kind", "quick", "seconds", "rows"}
    assert (result["kind"], result["quick"]) == ("pairs", True)
    assert set(result["rows"][0]) == {"table", "row", "metric", "paper", "ours", "low", "high", "n"}
    assert result["rows"][0]["ours"] == pytest.approx(0.8)
    assert result["rows"][1]["paper"] is None


def test_reproduce_shows_the_papers_figure_beside_ours(experiment, capsys, tmp_path):
    page = tmp_path / "results" / "pairs.md"
    assert main(["reproduce", "pairs", "--quick", "--workers", "2", "--results", str(page)]) == 0
    assert "pairs: strict" in capsys.readouterr().out
    lines = page.read_text().splitlines()
    assert lines[0] == "# Results: pairs"
    assert "| gppl | 0.8000 ± 0.2484 | 0.8 | 3 |" in lines
    assert lines.index("## strict") < lines.index("| svm | 0.6500 ± 0.6353 | – | 2 |")
    assert lines.index("| svm | 0.6500 ± 0.6353 | – | 2 |") < lines.index("## rank")
