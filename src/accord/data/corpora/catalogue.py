"""What the public corpora are, where they are looked for, how to get them, and whether they are whole."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from accord.data.corpora import convarg, convote, cqa, multiaspect, rationales, we8there
from accord.data.corpora.checksums import SHA256
from accord.data.corpora.locate import Root, corpus_folder, search_path
from accord.errors import InputError, MissingDataError

__all__ = ["CORPORA", "Corpus", "Report", "check", "count"]

Counts = dict[str, int]


@dataclass(frozen=True)
class Corpus:
    """One public corpus.

    Attributes
    ----------
    name : str
        The name of its folder and of its reader.
    title : str
    kind : str
        The kind of judgement.
    source : str
        Where it comes from and how to get it.
    licence : str
        The terms stated there.
    citation : str
    counts : mapping of what is counted to the published count
    reader : function of a root
        Counts the same things in the files.
    """

    name: str
    title: str
    kind: str
    source: str
    licence: str
    citation: str
    counts: Counts
    reader: Callable[[Root], Counts]

    @property
    def files(self) -> dict[str, str]:
        """The corpus's files and their SHA-256 sums."""
        return SHA256[self.name]

    def places(self, root: Root = None) -> list[Path]:
        """The folders in which the corpus is looked for, in order."""
        return [folder / self.name for folder in search_path(root)]


@dataclass(frozen=True)
class Report:
    """Whether a corpus is there and whole.

    Attributes
    ----------
    name : str
    folder : Path or None
        Where it was found.
    counts : mapping of what is counted to (found, published)
    problems : tuple of str
        One sentence each; none if all is well.
    """

    name: str
    folder: Path | None
    counts: dict[str, tuple[int | None, int]]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the corpus is there, readable and counted right."""
        return not self.problems


def _count_convarg(root: Root) -> Counts:
    corpus = convarg.load(root)
    return {
        "arguments": corpus.items.n_items,
        "folds": len(set(corpus.folds)),
        "strict votes": corpus.strict.n_votes,
        "all votes": corpus.all.n_votes,
        "undecided of all": int((corpus.all.value == 0.5).sum()),
        "crowd sample votes": corpus.crowdsample.n_votes,
        "crowd votes": corpus.crowd_full.n_votes,
        "workers": len(corpus.annotators),
    }


def _count_cqa(root: Root) -> Counts:
    counts: Counter[str] = Counter()
    for name in cqa.FILES:
        threads = cqa.load(name, root)
        counts[f"{name} questions"] = threads.n_threads
        counts[f"{name} comments"] = threads.n_comments
    return dict(counts)


def _count_we8there(root: Root) -> Counts:
    ratings = we8there.load(root)
    return {
        "reviews": ratings.n_items,
        "complete reviews": int((ratings.ranks > 0).all(axis=1).sum()),
        "terms": ratings.items.features.shape[1],
        "bigrams": int(ratings.items.features.sum()),
    }


def _count_multiaspect(root: Root) -> Counts:
    corpus = multiaspect.load(root)
    splits = Counter(corpus.split)
    return {
        **{f"{name} reviews": splits[name] for name in ("train", "dev", "test")},
        "aspects": len(multiaspect.ASPECTS),
    }


def _count_convote(root: Root) -> Counts:
    corpus = convote.load(root)
    items, votes, links = corpus.graph()
    return {
        "segments": len(corpus.segments),
        "segments with markers": len(corpus.segments_refs),
        "citations": len(corpus.citations),
        "speakers": items.n_items,
        "speakers for": int((votes == "Y").sum()),
        "usable citations": links.n_links,
    }


def _count_rationales(root: Root) -> Counts:
    corpus = rationales.load(root)
    record = corpus.rationales()
    return {
        "reviews": len(corpus.reviews),
        "tokens": sum(map(len, corpus.reviews["tokens"])),
        "annotated reviews": int(record.annotated.sum()) if record.annotated is not None else 0,
        "rationales": record.n_spans,
        "vocabulary": len(corpus.vocab),
        "second annotation": len(corpus.eraser),
    }


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            name="convarg",
            title="UKPConvArg: which of two web arguments is more convincing",
            kind="pairs",
            source="GitHub: UKPLab/acl2016-convincing-arguments and UKPLab/tacl2018-preference-convincing",
            licence="CC BY 4.0 (data); kind vectors PDDL 1.0; sentence vectors Apache-2.0",
            citation="Habernal & Gurevych, ACL 2016, pp. 1589–1599; Simpson & Gurevych, TACL 2018",
            counts={
                "arguments": 1052,
                "folds": 32,
                "strict votes": 11642,
                "all votes": 16081,
                "undecided of all": 3289,
                "crowd sample votes": 16927,
                "crowd votes": 84445,
                "workers": 3815,
            },
            reader=_count_convarg,
        ),
        Corpus(
            name="cqa",
            title="Qatar Living threads: which comments answer the question",
            kind="threads",
            source="SemEval 2015 and 2016, task 3, subtask A (English), from the task's organisers",
            licence="free for general research use; no licence stated for redistribution",
            citation="Nakov & al., SemEval 2015 and 2016, task 3",
            counts={
                "2015/train questions": 2600,
                "2015/train comments": 16541,
                "2015/dev questions": 300,
                "2015/dev comments": 1645,
                "2015/test questions": 329,
                "2015/test comments": 1976,
                "2016/train questions": 379,
                "2016/train comments": 3790,
                "2016/dev questions": 244,
                "2016/dev comments": 2440,
                "2016/test questions": 327,
                "2016/test comments": 3270,
            },
            reader=_count_cqa,
        ),
        Corpus(
            name="we8there",
            title="we8there: restaurant reviews as bigram counts, with five ranks",
            kind="aspects",
            source="R package textir 2.0-5, data set we8there (CRAN; GitHub mirror cran/textir)",
            licence="GPL-3 (the package); the review site's terms are not stated",
            citation="Mauá & Cozman, ENIA 2009; Taddy, JASA 2013",
            counts={"reviews": 6166, "complete reviews": 6117, "terms": 2640, "bigrams": 69592},
            reader=_count_we8there,
        ),
        Corpus(
            name="multiaspect",
            title="TripAdvisor hotel reviews: texts with six ranks",
            kind="aspects",
            source="a sample of GitHub: WillGardella/hotels, folder json",
            licence="none stated: research only, not to be redistributed",
            citation="Wang, Lu & Zhai, KDD 2010 and KDD 2011",
            counts={"train reviews": 10000, "dev reviews": 1000, "test reviews": 1000, "aspects": 6},
            reader=_count_multiaspect,
        ),
        Corpus(
            name="convote",
            title="ConVote v1.1: congressional speeches for or against a bill",
            kind="links",
            source="convote_v1.1, the Cornell NLP page of Lillian Lee (convote)",
            licence="none stated; the authors ask for citation",
            citation="Thomas, Pang & Lee, EMNLP 2006, pp. 327–335; Burfoot, Bird & Baldwin, ACL 2011",
            counts={
                "segments": 3857,
                "segments with markers": 8121,
                "citations": 4283,
                "speakers": 1699,
                "speakers for": 874,
                "usable citations": 2229,
            },
            reader=_count_convote,
        ),
        Corpus(
            name="rationales",
            title="Movie reviews with annotator rationales",
            kind="rationales",
            source="polarity v2.0 (NLTK data: movie_reviews), annotator A0's tagged files, and the ERASER benchmark",
            licence="polarity v2.0: CC BY 4.0; none stated for the spans: research only",
            citation="Pang & Lee, ACL 2004; Zaidan, Eisner & Piatko, NAACL 2007; DeYoung & al., ACL 2020",
            counts={
                "reviews": 2000,
                "tokens": 1487776,
                "annotated reviews": 1800,
                "rationales": 15397,
                "vocabulary": 17744,
                "second annotation": 250,
            },
            reader=_count_rationales,
        ),
    )
}


def corpus_of(name: str) -> Corpus:
    """The corpus of a name."""
    if name not in CORPORA:
        raise InputError(f"the corpora are {', '.join(CORPORA)}; there is no {name!r}. Choose one of them.")
    return CORPORA[name]


def count(name: str, root: Root = None) -> Counts:
    """Read a corpus and count what is in it."""
    return corpus_of(name).reader(root)


def check(name: str, root: Root = None, *, sums: bool = True) -> Report:
    """Whether a corpus is there, its files are the known ones, and it is counted right.

    Parameters
    ----------
    name : str
    root : path, optional
        The folder that holds the corpus.
    sums : bool
        Compare the files' SHA-256 sums as well. ``original.tar.xz`` may be missing.
    """
    corpus = corpus_of(name)
    nothing: dict[str, tuple[int | None, int]] = {what: (None, n) for what, n in corpus.counts.items()}
    try:
        folder = corpus_folder(name, root)
    except MissingDataError as error:
        return Report(name, None, nothing, (str(error),))
    problems = [f"the file {file} is missing." for file in corpus.files if not _present(folder / file)]
    if sums:
        problems += [
            f"the file {file} is not the known one (SHA-256 {_sha256(folder / file)[:16]}…, known {known[:16]}…)."
            for file, known in corpus.files.items()
            if (folder / file).is_file() and _sha256(folder / file) != known
        ]
    try:
        found = count(name, root)
    except InputError as error:
        return Report(name, folder, nothing, (*problems, str(error)))
    problems += [
        f"{what} must number {n:,}; there are {found[what]:,}." for what, n in corpus.counts.items() if found[what] != n
    ]
    return Report(name, folder, {what: (found[what], n) for what, n in corpus.counts.items()}, tuple(problems))


def _present(path: Path) -> bool:
    return path.is_file() or path.name == "original.tar.xz"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
