"""UKPConvArg from its published tables (tab-separated) and XML."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import numpy as np
import pandas as pd
from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from accord.data.corpora.convarg import comparisons
from accord.data.corpora.locate import Root
from accord.data.documents import Items
from accord.data.pairs import Comparisons
from accord.errors import InputError
from accord.typing import FloatArray
from original_files.archive import decoded, published_files

__all__ = ["PublishedConvArg", "load", "parse_pairs", "parse_ranking", "parse_xml"]

LABELS = {"a1": 2, "equal": 1, "a2": 0}
_TABLES = {
    "UKPConvArgStrict-new-CSV": "strict",
    "UKPConvArgAll-new-CSV": "all",
    "UKPConvArgCrowdSample-new-CSV": "crowdsample",
    "UKPConvArg1-Ranking-CSV": "rank",
}
# The sources spell one debate in three ways.
_SPELLING = {"comnong-good": "common-good", "commond-good": "common-good"}


@dataclass(frozen=True, eq=False)
class PublishedConvArg:
    """What the published files hold.

    Attributes
    ----------
    items : Items
        The arguments of the rankings, whose texts have their line ends turned to spaces; the group is the fold.
    strict, all, crowdsample : Comparisons
    pagerank : float array of shape (n_items,)
        Lower is more convincing.
    arguments : DataFrame
        One row an argument of the XML files at hand: ``arg``, ``fold``, ``topic``, ``stance``, ``source``, ``text``.
    crowd : DataFrame
        One row a worker's vote of the XML files at hand: ``fold``, ``arg1``, ``arg2``, ``k``, ``annotator``, ``label``,
        ``annotator_stance``, ``reason``, ``mace_competence``, ``source_rank``.
    gold : DataFrame
        One row a pair of the XML files at hand that has a gold label: ``fold``, ``arg1``, ``arg2``, ``label``.
    """

    items: Items
    strict: Comparisons
    all: Comparisons
    crowdsample: Comparisons
    pagerank: FloatArray
    arguments: pd.DataFrame
    crowd: pd.DataFrame
    gold: pd.DataFrame


def load(root: Root = None, *, folder: Root = None) -> PublishedConvArg:
    """Read the published tables and the XML files at hand."""
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in _TABLES.values()}
    arguments: list[pd.DataFrame] = []
    crowd: list[pd.DataFrame] = []
    gold: list[pd.DataFrame] = []
    for name, content in sorted(published_files("convarg", root, folder=folder)):
        path = PurePosixPath(name)
        kind = _TABLES.get(path.parent.name)
        if kind == "rank":
            tables[kind].append(parse_ranking(name, content))
        elif kind is not None:
            tables[kind].append(parse_pairs(name, content))
        elif path.parent.name == "UKPConvArg1-full-XML" and path.suffix == ".xml":
            for found, rows in zip((arguments, crowd, gold), parse_xml(name, content), strict=True):
                found.append(rows)
    lacking = [folder_name for folder_name, kind in _TABLES.items() if not tables[kind]]
    if lacking:
        raise InputError(f"the published tables of UKPConvArg need the folder {lacking[0]}; it is not there. Add it.")
    ranks = pd.concat(tables["rank"], ignore_index=True)
    items = Items(
        ranks["arg"].to_numpy(object), texts=ranks["text"].to_numpy(object), groups=ranks["fold"].to_numpy(object)
    )
    votes = {kind: comparisons(pd.concat(tables[kind]), items) for kind in ("strict", "all", "crowdsample")}
    return PublishedConvArg(
        items=items,
        pagerank=ranks["pagerank"].to_numpy(np.float64),
        arguments=_joined(arguments).drop_duplicates("arg", ignore_index=True),
        crowd=_joined(crowd),
        gold=_joined(gold),
        **votes,
    )


def parse_pairs(name: str, content: bytes) -> pd.DataFrame:
    """The pairs of one table: ``fold``, ``arg1``, ``arg2``, ``label``, and ``annotator`` where a worker voted."""
    rows = []
    for number, cells in _cells(name, content, n=5):
        ids = cells[0].split("_")
        if len(ids) != 2 or cells[2] not in LABELS:
            raise InputError(
                f"a line of {name} must start with two ids joined by _, who voted, and a1, a2 or equal; "
                f"line {number} has {cells[:3]}. Correct it."
            )
        rows.append((fold_of(name), *ids, LABELS[cells[2]], cells[1]))
    frame = pd.DataFrame(rows, columns=["fold", "arg1", "arg2", "label", "annotator"])
    return frame.drop(columns="annotator") if (frame["annotator"] == "goldLabel").all() else frame


def parse_ranking(name: str, content: bytes) -> pd.DataFrame:
    """The arguments of one ranking: ``fold``, ``arg``, ``pagerank``, ``text``."""
    rows = [(fold_of(name), cells[0], cells[1], cells[2]) for _, cells in _cells(name, content, n=3)]
    frame = pd.DataFrame(rows, columns=["fold", "arg", "pagerank", "text"])
    return frame.assign(pagerank=pd.to_numeric(frame["pagerank"]))


def parse_xml(name: str, content: bytes) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The arguments, the workers' votes and the gold votes of one XML file."""
    try:
        tree = fromstring(content)
    except (ParseError, DefusedXmlException) as error:
        raise InputError(f"{name} must be the XML of UKPConvArg; {error}. Get it again.") from error
    arguments: list[dict[str, Any]] = []
    crowd: list[dict[str, Any]] = []
    gold: list[dict[str, Any]] = []
    fold = fold_of(name)
    for pair in tree.iter("annotatedArgumentPair"):
        title, site = pair.findtext("debateMetaData/title"), pair.findtext("debateMetaData/url") or ""
        for side in ("arg1", "arg2"):
            arguments.append(
                {
                    "arg": _required(pair, f"{side}/id", name),
                    "fold": fold,
                    "topic": title,
                    "stance": pair.findtext(f"{side}/stance"),
                    "source": "createdebate" if "createdebate" in site else "convinceme",
                    "text": _required(pair, f"{side}/text", name).strip(),
                }
            )
        ids = {"fold": fold, "arg1": arguments[-2]["arg"], "arg2": arguments[-1]["arg"]}
        label = pair.findtext("goldLabel")
        if label in LABELS:
            gold.append({**ids, "label": LABELS[label]})
        for k, vote in enumerate(pair.iter("mTurkAssignment")):
            crowd.append(
                {
                    **ids,
                    "k": k,
                    "annotator": vote.findtext("turkID"),
                    "label": LABELS[_required(vote, "value", name)],
                    "annotator_stance": vote.findtext("workerStance") or "",
                    "reason": " ".join((vote.findtext("reason") or "").split()),
                    "mace_competence": float(_required(vote, "turkCompetence", name)),
                    "source_rank": int(_required(vote, "turkRank", name)),
                }
            )
    return pd.DataFrame(arguments), pd.DataFrame(crowd), pd.DataFrame(gold)


def fold_of(name: str) -> str:
    """The fold that a file holds, in the one spelling used."""
    fold = PurePosixPath(name).stem
    for wrong, right in _SPELLING.items():
        fold = fold.replace(wrong, right)
    return fold


def _cells(name: str, content: bytes, *, n: int) -> Iterable[tuple[int, list[str]]]:
    # Only "\n" ends a line here: some texts hold other signs that str.splitlines would take for one.
    for number, line in enumerate(decoded(name, content).split("\n"), start=1):
        if not line or line.startswith("#"):
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) != n:
            raise InputError(f"a line of {name} must have {n} cells; line {number} has {len(cells)}. Correct it.")
        yield number, cells


def _required(element: Element, path: str, name: str) -> str:
    text = element.findtext(path)
    if text is None:
        raise InputError(f"every {element.tag} of {name} needs {path}; one has none. Get the file again.")
    return text


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
