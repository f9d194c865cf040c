"""ConVote from convote_v1.1: three data stages, citation markers, and the published graph scores."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from accord.data.corpora.convote import SCORES, ConVote
from accord.data.corpora.locate import Root
from accord.errors import InputError
from original_files.archive import decoded, published_files

__all__ = ["load", "parse_name", "sentences", "window"]

N_BEFORE, N_AFTER = 30, 20  # [BBB11] section 3: the words around a citation that its classifier sees

_NAME = re.compile(r"(\d{3})_(\d{6})_(\d{4})(\d{3})_([DRIX])([MO])([YN])\.txt")
_MARKER = re.compile(r"xz(\d{6})(\d)")
_STAGES = {"data_stage_one": "one", "data_stage_two": "two", "data_stage_three": "three"}
_SPLITS = {"training_set": "train", "development_set": "dev", "test_set": "test"}


def load(root: Root = None, *, folder: Root = None) -> ConVote:
    """The same tables as :func:`accord.data.corpora.convote.load`, made from the published files."""
    texts: dict[str, dict[str, str]] = {stage: {} for stage in _STAGES.values()}
    split: dict[str, str] = {}
    scores: dict[str, pd.DataFrame] = {}
    for name, content in published_files("convote", root, folder=folder):
        path = PurePosixPath(name)
        if path.suffix == ".csv" and path.parent.name == "graph_edge_data":
            scores[path.name.split(".")[0]] = _score_table(decoded(name, content))
        elif len(path.parts) >= 3 and path.parts[-3] in _STAGES and path.parts[-2] in _SPLITS:
            texts[_STAGES[path.parts[-3]]][path.name] = decoded(name, content)
            split[path.name] = _SPLITS[path.parts[-2]]
    for stage, files in texts.items():
        if not files:
            raise InputError(f"convote_v1.1 needs its folder data_stage_{stage}; it is not there. Add it.")
    lines = {name: [line.split() for line in text.splitlines()] for name, text in texts["one"].items()}

    def in_order(stage: str) -> list[str]:
        return sorted(texts[stage], key=lambda name: (list(_SPLITS.values()).index(split[name]), name))

    refs = [
        {
            **parse_name(name),
            "split": split[name],
            "stage_two": name in texts["two"],
            "stage_three": name in texts["three"],
            "text": "\n".join(" ".join(line) for line in lines[name] if line),
        }
        for name in in_order("one")
    ]
    segments = [
        {
            **parse_name(name),
            "split": split[name],
            "stage_two": name in texts["two"],
            "text": sentences(texts["three"][name].split(), lines.get(name, []), name=name),
        }
        for name in in_order("three")
    ]
    segment_table, refs_table = pd.DataFrame(segments), pd.DataFrame(refs)
    citations = _with_scores(_citations(refs_table, segment_table), refs_table[refs_table["stage_two"]], scores)
    return ConVote(
        segments=segment_table,
        segments_refs=refs_table,
        citations=citations,
        speakers=_speakers(segment_table, citations),
        official_scores=_official_scores(scores),
    )


def parse_name(name: str) -> dict[str, Any]:
    """What a file's name says: debate, speaker, page, position, party, whether it names the bill, and the vote."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"a speech's file is named like 052_400011_0327014_DON.txt; this is {name!r}. Rename or remove it."
        )
    debate, speaker, page, position, party, mentions, vote = match.groups()
    return {
        "segment_id": name.removesuffix(".txt"),
        "debate": debate,
        "speaker": speaker,
        "page": int(page),
        "position": int(position),
        "party": party,
        "mentions_bill": mentions == "M",
        "vote": vote,
    }


def sentences(tokens: list[str], lines: Iterable[list[str]], *, name: str = "the speech") -> str:
    """The tokens of stage three, broken where the lines of stage one break.

    Stage three lost its line ends, the markers and some of the lines; a line that does not come next is one of those.
    """
    kept, place = [], 0
    for line in lines:
        plain = [token for token in line if not _MARKER.fullmatch(token)]
        if plain and tokens[place : place + len(plain)] == plain:
            kept.append(" ".join(plain))
            place += len(plain)
    if place != len(tokens):
        raise InputError(f"a speech of stage three must be lines of stage one; {name} has others after token {place}.")
    return "\n".join(kept)


def window(tokens: list[str], place: int) -> tuple[str, str]:
    """The words before and after a marker, other markers left out."""
    before = [token for token in tokens[:place] if not _MARKER.fullmatch(token)]
    after = [token for token in tokens[place + 1 :] if not _MARKER.fullmatch(token)]
    return " ".join(before[-N_BEFORE:]), " ".join(after[:N_AFTER])


def _citations(refs: pd.DataFrame, segments: pd.DataFrame) -> pd.DataFrame:
    """One row a marker, in the order of the files."""
    votes = dict(zip(zip(refs["debate"], refs["speaker"], strict=True), refs["vote"], strict=True))
    in_graph = set(zip(segments["debate"], segments["speaker"], strict=True))
    rows: list[dict[str, Any]] = []
    for segment in refs.itertuples():
        tokens = str(segment.text).split()
        for place, token in enumerate(tokens):
            marker = _MARKER.fullmatch(token)
            if marker is None:
                continue
            source, target = (segment.debate, segment.speaker), (segment.debate, marker[1])
            vote = votes.get(target, "")
            before, after = window(tokens, place)
            rows.append(
                {
                    "citation_id": f"c{len(rows) + 1:04d}",
                    "debate": segment.debate,
                    "split": segment.split,
                    "source_segment": segment.segment_id,
                    "source_speaker": segment.speaker,
                    "target_speaker": marker[1],
                    "target_digit": marker[2],
                    "token_index": place,
                    "stage_two": int(bool(segment.stage_two)),
                    "source_in_graph": int(source in in_graph),
                    "target_in_graph": int(target in in_graph),
                    "self": int(source == target),
                    "source_vote": segment.vote,
                    "target_vote": vote,
                    "agree": float(vote == segment.vote) if vote else np.nan,
                    "before": before,
                    "after": after,
                }
            )
    return pd.DataFrame(rows)


def _with_scores(citations: pd.DataFrame, stage_two: pd.DataFrame, scores: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The published scores, put by position: the references of the development, then of the test debates.

    Only references of stage two to somebody who speaks in stage two of the debate were scored.
    """
    full, precise = scores["edges_reference_set_full"], scores["edges_reference_set_high_precision"]
    speakers = set(stage_two["debate"] + "/" + stage_two["speaker"])
    spoke = citations[
        (citations["stage_two"] == 1) & (citations["debate"] + "/" + citations["target_speaker"]).isin(speakers)
    ]
    scored = spoke[spoke["split"] != "train"]
    said = [
        (f"{int(debate):03d}", str(source), str(target), float(agree > 0))
        for agree, debate, source, target in full[[0, 1, 2, 3]].itertuples(index=False)
    ]
    found = list(scored[["debate", "source_speaker", "target_speaker", "agree"]].itertuples(index=False, name=None))
    if said != found:
        raise InputError(
            f"the {len(said)} scored references must be those of the speeches in their order; {len(found)} are there, "
            "or in another order. Get graph_edge_data again."
        )
    table = pd.DataFrame(
        {
            "raw_score": full[4],
            "norm_full": full[5],
            "edge_full": full[6],
            "norm_hp": precise[5],
            "edge_hp": precise[6],
        },
        dtype=np.float64,
    ).set_index(scored.index)
    columns = list(citations.columns)
    columns[columns.index("before") : columns.index("before")] = SCORES
    return citations.join(table)[columns]


def _speakers(segments: pd.DataFrame, citations: pd.DataFrame) -> pd.DataFrame:
    counted = segments.assign(n_tokens=[len(text.split()) for text in segments["text"]])
    speakers = counted.groupby(["debate", "speaker"], sort=False, as_index=False).agg(
        split=("split", "first"),
        party=("party", "first"),
        vote=("vote", "first"),
        n_segments=("segment_id", "size"),
        n_tokens=("n_tokens", "sum"),
    )
    usable = citations.query("stage_two == 1 and source_in_graph == 1 and target_in_graph == 1 and self == 0")
    linked = {*zip(usable["debate"], usable["source_speaker"], strict=True)}
    linked |= {*zip(usable["debate"], usable["target_speaker"], strict=True)}
    pairs = zip(speakers["debate"], speakers["speaker"], strict=True)
    return speakers.assign(connected=[int(pair in linked) for pair in pairs])


def _official_scores(scores: dict[str, pd.DataFrame]) -> pd.DataFrame:
    names = ["segment_id", "raw", "norm", "source", "sink"]
    tables = []
    for file, prefix in (("edges_individual_document", "individual"), ("edges_concatenated_document", "concat")):
        frame = scores[file].set_axis(names, axis="columns")
        frame["segment_id"] = frame["segment_id"].str.removesuffix(".txt")
        tables.append(frame.rename(columns={name: f"{prefix}_{name}" for name in names[1:]}))
    return tables[0].merge(tables[1], on="segment_id", validate="one_to_one")


def _score_table(text: str) -> pd.DataFrame:
    rows = [line.split(",") for line in text.splitlines() if line]
    frame = pd.DataFrame(rows)
    for column in frame.columns:
        if not frame[column].str.endswith(".txt").any():
            frame[column] = pd.to_numeric(frame[column])
    return frame
