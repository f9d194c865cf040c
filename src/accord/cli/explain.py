"""``accord explain``: why a model judges a text as it does."""

from pathlib import Path
from typing import Annotated

import typer

from accord.cli.frame import (
    OTHER_MODEL,
    Json,
    command_app,
    opened_project,
    print_json,
    print_table,
    records,
    shortened,
)

app = command_app()
_MOST_REASONS = 15
_TITLE = 40  # characters of a text in a title
_EFFECT = "An effect above 0 speaks for this answer, one below 0 against it."
_EFFECTS = {
    "pairs": "An effect above 0 raises the score of the text, one below 0 lowers it.",
    "aspects": "An effect is how many ranks a reason adds to the score of its aspect, or takes away if it is below 0.",
}


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="A model that 'accord train' saved.")],
    project: Annotated[str, typer.Argument(help="The project's folder, example:NAME, or a raw table.")],
    item: Annotated[str, typer.Option("--item", "-i", help="The id of the text, or the words it begins with.")],
    json: Json = False,
) -> None:
    """Say why a model judges a text as it does."""
    from accord.store.models import load_model
    from accord.workflows.collecting.judges import judge_reasons
    from accord.workflows.explain import explain as run
    from accord.workflows.explain import given_label, named_text

    saved = load_model(model)
    opened = opened_project(project, saved.kind, cure=OTHER_MODEL)
    named, item = shortened(item, _TITLE), named_text(opened, item)
    table = run(saved, opened, item)
    label, of_judges, given = table.attrs.get("label"), judge_reasons(opened, item), given_label(opened, item)
    if json:
        beside: dict[str, object] = {} if of_judges is None else {"judges": records(of_judges)}
        beside |= {} if given is None else {"given": given}
        print_json({"kind": saved.kind, "item": item, "label": label, "rows": records(table), **beside})
    else:
        print_table(
            table.head(_MOST_REASONS), title=f"Why {named} is judged {'so' if label is None else repr(str(label))}"
        )
        typer.echo(_EFFECTS.get(saved.kind, _EFFECT))
        if given is not None and label is not None and given != str(label):
            typer.echo(f"People say {given!r}, which stays; these are reasons for what the model would say by itself.")
        if len(table) > _MOST_REASONS:
            typer.echo(f"Not shown: {len(table) - _MOST_REASONS:,} weaker reasons. See all with --json.")
        if of_judges is not None and len(of_judges):
            print_table(
                of_judges.head(_MOST_REASONS).rename(columns={"annotator": "judge", "covariate": "because of"}),
                title="What judges like or dislike of it, beyond the mean text, with 90 % intervals",
            )
            typer.echo("The model learns from people alone; these effects of judges are not in its reasons.")
