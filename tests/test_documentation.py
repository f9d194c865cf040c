"""The documentation is whole: pages are found, links lead somewhere, snippets name nothing undefined, and run."""

import importlib.util
import inspect
import re
import shlex
import tomllib
from collections import deque
from importlib import import_module
from pathlib import Path

import pytest
import typer

import accord
from accord import open_example
from accord.cli.main import COMMANDS
from accord.engines.table import ENGINES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *(DOCS / "results").glob("*.md")])
TEXTS = [*PAGES, *sorted(ROOT.glob("*.md"))]
SCRIPTS = sorted((ROOT / "examples").glob("t*/plot_*.py"))
# Those that fit a model of a kind run in `make docs`.
QUICK = ("agreement", "coming-from", "engines", "projects", "tutorial")


def module_of(name: str):
    """A module of the documentation's own folder."""
    spec = importlib.util.spec_from_file_location(f"documentation_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


run_snippets = module_of("run_snippets")


def links_of(page: Path) -> list[str]:
    """The internal links of a Markdown page, relative to its folder, with those of its toctrees and cards."""
    found, fence = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fence = None if fence is not None else line.removeprefix("```")
        elif fence is not None:
            found += [line] if fence == "{toctree}" and line and not line.startswith(":") else []
        else:
            found += re.findall(r"\]\(([^)\s]+)\)|^:link: (\S+)$", re.sub(r"`[^`]*`", "", line))
    links = [link if isinstance(link, str) else link[0] or link[1] for link in found]
    return [link.partition("#")[0] for link in links if "://" not in link and not link.startswith(("#", "mailto:"))]


def target_of(page: Path, link: str) -> Path:
    """The source of what a link shows: pages of the gallery are made from scripts."""
    path = (page.parent / link).resolve()
    if made := re.search(r"/docs/gallery/(tutorials|tasks)/(\w+)$", path.as_posix()):
        return ROOT / "examples" / made[1] / ("README.txt" if made[2] == "index" else f"{made[2]}.py")
    return path if path.suffix or path.is_dir() else path.with_suffix(".md")


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_internal_link_leads_to_a_file(page):
    missing = [link for link in links_of(page) if not target_of(page, link).exists()]
    assert missing == []


def test_every_page_is_in_a_table_of_contents():
    listed = {
        target_of(page, link) for page in (DOCS / "index.md", DOCS / "results" / "index.md") for link in links_of(page)
    }
    assert [page.name for page in PAGES if page not in listed and page.name != "index.md"] == []


def test_every_answer_is_two_clicks_from_the_first_page():
    distance, queue = {DOCS / "index.md": 0}, deque([DOCS / "index.md"])
    while queue:
        page = queue.popleft()
        for link in links_of(page) if page.suffix == ".md" else []:
            target = target_of(page, link)
            if target not in distance:
                distance[target] = distance[page] + 1
                queue.append(target)
    questions = DOCS / "questions.md"
    rows = [line for line in questions.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    assert all("](" in row for row in rows)
    assert max(distance[target_of(questions, link)] for link in links_of(questions)) <= 2


@pytest.mark.parametrize(
    "words",
    [
        "rank my votes", "got *Bad*", "how many more votes", "my own embeddings", "on a cluster", "GPT",
        "write files for Label Studio", "which words mattered", "logistic regression on my data", "cite Accord",
        "the licence, or which versions", "in pandas", "ties", "add votes", "two annotators", "my own model", "Chinese",
        "the same figures twice", "how long it takes", "since the last version", "leave my machine", "*tier*",
        "keep a model", "several files", "one person answered", "gave different ones", "several labels", "just came in",
        "A beats B", "did not converge", "which side", "answers of the studio", "on a server", "Windows",
    ],
)  # fmt: skip
def test_a_question_that_strangers_ask_has_a_row(words):
    rows = [line for line in (DOCS / "questions.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len([row for row in rows if words in row.split("|")[1]]) == 1


@pytest.mark.parametrize("page", [page for page in TEXTS if run_snippets.snippets(page)], ids=lambda page: page.name)
def test_no_snippet_names_something_undefined(page):
    assert run_snippets.undefined_names("\n".join(run_snippets.snippets(page))) == set()


def test_an_undefined_name_is_found():
    assert run_snippets.undefined_names("from a import b\nfor c in b: print(c, d)") == {"d"}


def test_every_formula_can_be_drawn_without_a_network():
    formulas = [
        found for page in PAGES for found in re.findall(r"\$\$(.+?)\$\$", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    assert len(formulas) >= 6
    assert all(module_of("mathml").markup(formula, block=True).startswith("<math") for formula in formulas)


@pytest.mark.parametrize("name", QUICK)
def test_the_snippets_of_a_page_run(name):
    run_snippets.run_page(DOCS / f"{name}.md")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_of_the_gallery_is_whole(script):
    code = script.read_text(encoding="utf-8")
    assert re.match(r'"""\n[^\n]+\n=+\n\n', code), "it begins with a title"
    assert "plt.subplots" in code, "it shows a picture"
    assert run_snippets.undefined_names(code) == set()
    assert script.stem in module_of("gallery_order").ORDER


def test_the_gallery_has_a_story_a_kind_and_at_least_twelve_examples():
    assert len(SCRIPTS) >= 12
    stories = {script.stem.removeprefix("plot_") for script in SCRIPTS if script.parent.name == "tutorials"}
    assert stories == {"pairs", "threads", "aspects", "links", "rationales"}


def test_the_reference_has_every_exported_name():
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^   ([\w.]+)$", page, re.MULTILINE)
    assert set(accord.__all__) - {"__version__"} <= set(listed)
    for name in listed:
        module, _, attribute = f"accord.{name}".rpartition(".")
        assert hasattr(import_module(module), attribute)


LISTED = re.findall(r"^   ([\w.]+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_reference_has_every_engine():
    assert {f"engines.{engine.__module__.rpartition('.')[2]}.{name}" for name, engine in ENGINES.items()} <= set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_every_reference_in_a_docstring_leads_to_a_page(name):
    """What `make docs` refuses as well, but takes minutes to say."""
    module, _, attribute = f"accord.{name}".rpartition(".")
    found = getattr(import_module(module), attribute)
    ours = [
        member
        for key, member in (inspect.getmembers(found) if inspect.isclass(found) else [])
        if not key.startswith("_") and str(getattr(member, "__module__", "")).startswith("accord")
    ]
    docs = [inspect.getdoc(one) or "" for one in [found, *ours]]
    links = {link for doc in docs for link in re.findall(r":(?:func|class|meth|exc):`~?([\w.]+)`", doc)}
    beside = module.removeprefix("accord").removeprefix(".")
    for link in links:
        # As Sphinx looks: by its whole name, in the class, beside it.
        names = [link.removeprefix("accord.")] if link.startswith("accord.") else [f"{name}.{link}", f"{beside}.{link}"]
        names = [one.removeprefix(".") for one in names]
        assert any(one in LISTED or one.rpartition(".")[0] in LISTED for one in names), link


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_module_that_a_page_names_exists(page):
    named = set(re.findall(r"`(accord(?:\.\w+)+)`", page.read_text(encoding="utf-8")))
    for dotted in named - {"accord.formats"}:  # a group of entry points
        module, _, attribute = dotted.rpartition(".")
        assert hasattr(import_module(module), attribute) or importlib.util.find_spec(dotted) is not None, dotted


def undocumented(name: str, found: object) -> set[str]:
    """The parameters of a function, or of the making of a class, that its docstring does not explain."""
    from numpydoc.docscrape import ClassDoc, FunctionDoc

    doc = ClassDoc(found, config={"show_class_members": False}) if inspect.isclass(found) else FunctionDoc(found)
    told = {one.strip().lstrip("*") for entry in doc["Parameters"] for one in entry.name.split(",")}
    return {f"{name}({key})" for key in inspect.signature(found).parameters if key != "self"} - {
        f"{name}({one})" for one in told
    }


@pytest.mark.parametrize("name", [name for name in accord.__all__[1:] if not name.endswith(("Error", "Warning"))])
def test_every_parameter_of_an_exported_name_and_its_methods_is_explained(name):
    found = getattr(accord, name)
    missing = undocumented(name, found)
    for method, _ in inspect.getmembers(found) if inspect.isclass(found) else []:
        # Bound to the class where it is a class method, so that ``cls`` is no parameter.
        function = getattr(found, method)
        ours = inspect.isroutine(function) and str(getattr(function, "__module__", "")).startswith("accord")
        if ours and not method.startswith("_") and not method.endswith("_request"):
            missing |= undocumented(f"{name}.{method}", function)
    assert missing == set()


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_every_command_target_and_extra_on_a_page_exists(page):
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    named = {extra for group in re.findall(r"accord-learn\[([\w,]+)\]", text) for extra in group.split(",")}
    assert named <= set(extras)
    scripts = re.findall(r"python ((?:benchmarks|docs|tests|examples)/[\w/]+\.py)", text)
    assert [script for script in scripts if not (ROOT / script).is_file()] == []
    for block in re.findall(r"^```\{accord-run\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                program, name, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
                assert program == "accord"
                command = typer.main.get_command(import_module(f"accord.cli.{COMMANDS[name][0]}").app)
                command.make_context(f"accord {name}", arguments)


def test_the_table_of_examples_has_their_sizes():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| \w+ \| (\d.*) \|$", page, re.MULTILINE))
    sizes = {name: open_example(name) for name in rows}
    threads = sizes["cafe-threads"].threads()
    expected = {
        "arguments": [sizes["arguments"].counts["items"], sizes["arguments"].counts["judgements"]],
        "answers": [sizes["answers"].counts["items"]],
        "cafe-threads": [threads.n_threads, threads.n_comments],
        "cafe-reviews": [sizes["cafe-reviews"].counts["items"]],
        "cafe-statements": [sizes["cafe-statements"].counts["items"], sizes["cafe-statements"].counts["links"]],
        "cafe-notes": [sizes["cafe-notes"].counts["items"]],
    }
    assert {
        name: [int(n) for n in re.findall(r"\d+", row)][: len(expected[name])] for name, row in rows.items()
    } == expected
