"""What a model was trained on, in a few words that are saved with it, and how the texts it is used on differ."""

from collections import Counter
from collections.abc import Mapping

import pandas as pd

from accord.data.project import Project
from accord.store.models import SavedModel
from accord.texts.words import tokens
from accord.typing import BoolArray

__all__ = ["notes_on", "trained_on"]

_MOST_TEXTS = 2_000  # whose words are counted
_MOST_WORDS = 100
_LEAST_TOKENS = 20  # below which nothing is said about the language
_OTHER_LANGUAGE = 0.4  # of the training texts' share of frequent words
# What a project may have besides its texts, the kinds whose models read it, and what is said where it is missing.
_PARTS = {
    "texts": (
        ("pairs", "threads", "aspects", "links", "rationales"),
        "the model was trained on texts, and these have none, so that their words say nothing",
    ),
    "links": (("links",), "there are no links between these texts, so that each is judged by its words alone"),
    "groups": (
        ("pairs", "links"),
        "the model was trained on texts in groups, and these have no group, so that all count as one group",
    ),
    "questions": (
        ("threads",),
        "the model was trained on comments with their questions, and these threads have no question",
    ),
    "authors": (("threads", "links"), "the model was trained on texts with their authors, and these have no author"),
}


def trained_on(project: Project) -> dict[str, str]:
    """The parts that a project has, its most frequent words, and how much of its texts they are."""
    words = _words(project)
    frequent = dict(words.most_common(_MOST_WORDS))
    return {
        "parts": " ".join(_parts(project)),
        "words": " ".join(frequent),
        "share": f"{sum(frequent.values()) / max(words.total(), 1):.3f}",
    }


def notes_on(saved: SavedModel, project: Project, table: pd.DataFrame) -> list[str]:
    """What to know about some predictions: one sentence for each thing that makes them less than they seem."""
    if not len(table):
        return []
    notes = []
    if "given" in table and table["given"].all():
        notes.append(
            "every judgement in this table was given by a person, so that nothing is predicted; give texts without them"
        )
    had, has = saved.about.get("parts", "texts links").split(), _parts(project)
    if saved.kind == "pairs" and "texts" not in has:  # names, which mean texts that the model has seen
        had = []
    notes += [said for part, (kinds, said) in _PARTS.items() if saved.kind in kinds and part in had and part not in has]
    notes += _unknown(saved, project)
    if saved.kind == "pairs" and "texts" not in has:
        notes += _strangers(saved, project)
    if saved.kind == "threads":
        threads = project.frames()["items"]["group_id"][_is_comment(project)]
        if threads.is_unique:
            notes.append("every thread has one comment, so that no comment is judged beside another")
    if _is_other_language(saved.about, project):
        notes.append(
            "these texts share few words with those that the model was trained on; they seem to be in another language "
            "or about something else"
        )
    return notes


def _parts(project: Project) -> list[str]:
    items = project.item_table
    has = {
        "texts": any(items.column("text").to_pylist()),
        "links": project.counts["links"] > 0,
        "groups": items.column("group_id").null_count < items.num_rows,
        "questions": not _is_comment(project).all(),
        "authors": items.column("author_id").null_count < items.num_rows,
    }
    return [name for name, there in has.items() if there]


def _is_comment(project: Project) -> BoolArray:
    """Texts that are not the question of their thread, which has the thread's name."""
    frame = project.frames()["items"][["item_id", "group_id"]].astype(object)
    return (frame["item_id"] != frame["group_id"]).to_numpy(bool)


def _unknown(saved: SavedModel, project: Project) -> list[str]:
    """Judgements of a project that the model was never shown the like of."""
    what, known, here = "labels", getattr(saved.model, "classes_", None), set[str]()
    if saved.kind == "aspects":
        what, known = "aspects", saved.model.aspects_
        here = {str(name) for name in project.judgement_table.column("aspect").to_pylist() if name is not None}
    elif saved.kind != "pairs":
        here = {str(label) for label in project.labels() if label is not None}
    if known is None or not (unknown := sorted(here - set(map(str, known)))):
        return []
    return [f"the model never saw the {what} {', '.join(unknown)}, and sets them aside; train it again to predict them"]


def _strangers(saved: SavedModel, project: Project) -> list[str]:
    """Texts that are names alone and that the model was never shown a vote on."""
    strangers = sorted(set(project.items().ids.tolist()) - set(saved.model.items_.ids.tolist()))
    if not strangers:
        return []
    some = ", ".join(strangers[:3]) + (" …" if len(strangers) > 3 else "")
    return [
        f"the model never saw {len(strangers):,} of these names ({some}), and they have no texts, so that nothing is "
        "known of them; train it again with votes on them"
    ]


def _words(project: Project) -> Counter[str]:
    texts = project.item_table.column("text").slice(0, _MOST_TEXTS).to_pylist()
    return Counter(word for text in texts if text for word in tokens(text))


def _is_other_language(about: Mapping[str, str], project: Project) -> bool:
    words = _words(project)
    if not about.get("words") or words.total() < _LEAST_TOKENS:
        return False
    frequent = set(about["words"].split())
    share = sum(n for word, n in words.items() if word in frequent) / words.total()
    return share < _OTHER_LANGUAGE * float(about["share"])
