"""ConVote: congressional speeches for or against a bill, and who cites whom (Thomas, Pang & Lee 2006; [BBB11])."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from accord.data.corpora.locate import Root, corpus_file, read_csv, read_json_lines
from accord.data.documents import Items
from accord.data.links import Links
from accord.errors import InputError
from accord.typing import ObjectArray

__all__ = ["SCORES", "ConVote", "load"]

SCORES = ["raw_score", "norm_full", "edge_full", "norm_hp", "edge_hp"]


@dataclass(frozen=True, eq=False)
class ConVote:
    """The corpus as tables.

    Attributes
    ----------
    segments : DataFrame
        One row a speech segment that is classified (stage three): ``segment_id``, ``debate``, ``speaker``, ``page``,
        ``position``, ``party``, ``mentions_bill``, ``vote``, ``split``, ``stage_two``, ``text`` (no citation markers).
        The party must not be a feature.
    segments_refs : DataFrame
        One row a segment of stage one, with ``stage_three``; its ``text`` keeps the markers of citations.
    citations : DataFrame
        One row a marker of stage one, with the words ``before`` (30) and ``after`` (20) it; scores that were not
        published are NaN, and ``agree`` is NaN where the target did not speak.
    speakers : DataFrame
        One row a speaker of a debate: ``debate``, ``speaker``, ``split``, ``party``, ``vote``, ``n_segments``,
        ``n_tokens``, ``connected``.
    official_scores : DataFrame
        The published scores of the development and test segments.
    """

    segments: pd.DataFrame
    segments_refs: pd.DataFrame
    citations: pd.DataFrame
    speakers: pd.DataFrame
    official_scores: pd.DataFrame

    def graph(self, stage: Literal["two", "one"] = "two") -> tuple[Items, ObjectArray, Links]:
        """The speakers of the debates, how they voted, and who cites whom.

        Parameters
        ----------
        stage : {"two", "one"}
            Take the citations of the segments of stage two, as [BBB11], or of all segments.

        Returns
        -------
        items : Items
            One a speaker of a debate, ``debate/speaker``; the text is that speaker's segments in file order, joined
            by line ends; the group is the debate; ``meta`` has ``split``.
        labels : array of shape (n_items,)
            ``Y`` or ``N``.
        links : Links
            One a citation between two speakers of a debate; its context is the words before and after it.
        """
        if stage not in ("two", "one"):
            raise InputError(f"citations are taken of stage 'two' or 'one'; this is {stage!r}.")
        instance = self.segments["debate"] + "/" + self.segments["speaker"]
        texts = self.segments.groupby(instance, sort=False)["text"].agg("\n".join)
        ids = (self.speakers["debate"] + "/" + self.speakers["speaker"]).to_numpy(object)
        items = Items(
            ids,
            texts=texts.loc[ids].to_numpy(object),
            groups=self.speakers["debate"].to_numpy(object),
            authors=self.speakers["speaker"].to_numpy(object),
            meta={"split": self.speakers["split"].to_numpy(object)},
        )
        cited = self.citations
        usable = (cited["source_in_graph"] == 1) & (cited["target_in_graph"] == 1) & (cited["self"] == 0)
        if stage == "two":
            usable &= cited["stage_two"] == 1
        cited = cited[usable]
        links = Links(
            (cited["debate"] + "/" + cited["source_speaker"]).to_numpy(object),
            (cited["debate"] + "/" + cited["target_speaker"]).to_numpy(object),
            kinds=np.full(len(cited), "citation", dtype=object),
            contexts=(cited["before"] + " " + cited["after"]).str.strip().to_numpy(object),
        )
        return items, self.speakers["vote"].to_numpy(object), links


def load(root: Root = None) -> ConVote:
    """Read the corpus.

    Parameters
    ----------
    root : path, optional
        The folder that holds ``convote``; see :func:`~accord.data.corpora.locate.search_path`.
    """
    text = dict.fromkeys(["debate", "speaker", "source_speaker", "target_speaker", "target_digit"], str)
    citations = read_csv(
        corpus_file("convote", "citations.csv.gz", root), dtype={**text, "before": str, "after": str, "agree": str}
    )
    for name in ["agree", *SCORES]:
        citations[name] = pd.to_numeric(citations[name])
    return ConVote(
        segments=pd.DataFrame(read_json_lines(corpus_file("convote", "segments.jsonl.gz", root))),
        segments_refs=pd.DataFrame(read_json_lines(corpus_file("convote", "segments_refs.jsonl.gz", root))),
        citations=citations,
        speakers=read_csv(corpus_file("convote", "speakers.csv.gz", root), dtype=text),
        official_scores=read_csv(corpus_file("convote", "official_scores.csv.gz", root)),
    )
