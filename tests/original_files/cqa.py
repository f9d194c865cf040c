"""Qatar Living threads from the XML files of SemEval 2015 and 2016, task 3."""

from pathlib import PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from accord.data.corpora.locate import Root
from accord.errors import InputError
from original_files.archive import published_files

__all__ = ["FILES", "load_raw", "parse"]

FILES = {
    "CQA-QL-train.xml": "2015/train",
    "CQA-QL-devel.xml": "2015/dev",
    "CQA-QL-test.xml": "2015/test",
    "SemEval2016-Task3-CQA-QL-train-part2-subtaskA.xml": "2016/train",
    "SemEval2016-Task3-CQA-QL-dev-subtaskA.xml": "2016/dev",
    "SemEval2016-Task3-CQA-QL-test-subtaskA.xml": "2016/test",
}


def load_raw(root: Root = None, *, folder: Root = None) -> dict[str, list[dict[str, Any]]]:
    """The threads of each published part at hand, as :func:`accord.data.corpora.cqa.load_raw` gives them.

    The parts of 2016 have no ``body_raw``: that text comes from other files.
    """
    parts = {}
    for name, content in published_files("cqa", root, folder=folder):
        part = FILES.get(PurePosixPath(name).name)
        if part is not None:
            parts[part] = parse(name, content)
    return parts


def parse(name: str, content: bytes) -> list[dict[str, Any]]:
    """The threads of one XML file of 2015 (``Question``) or 2016 (``Thread``)."""
    try:
        tree = fromstring(content)
    except (ParseError, DefusedXmlException) as error:
        raise InputError(f"{name} must be the XML of SemEval task 3; {error}. Get it again.") from error
    threads = [_thread_2015(question) for question in tree.iter("Question")]
    threads += [_thread_2016(thread) for thread in tree.iter("Thread")]
    if not threads:
        raise InputError(f"{name} must hold elements Question (2015) or Thread (2016); it has none. Name another file.")
    return threads


def _thread_2015(question: Element) -> dict[str, Any]:
    return {
        "id": question.get("QID"),
        "category": question.get("QCATEGORY"),
        "subject": _text(question, "QSubject"),
        "body": _text(question, "QBody"),
        "user": question.get("QUSERID"),
        "date": question.get("QDATE"),
        "type": question.get("QTYPE"),
        "gold_yn": question.get("QGOLD_YN"),
        "comments": [
            {
                "id": comment.get("CID"),
                "user": comment.get("CUSERID"),
                "subject": _text(comment, "CSubject"),
                "body": _text(comment, "CBody"),
                "label": comment.get("CGOLD"),
                "label_yn": comment.get("CGOLD_YN"),
            }
            for comment in question.iter("Comment")
        ],
    }


def _thread_2016(thread: Element) -> dict[str, Any]:
    question = thread.find("RelQuestion")
    if question is None:
        raise InputError(f"every Thread needs a RelQuestion; {thread.get('THREAD_SEQUENCE')!r} has none.")
    return {
        "id": question.get("RELQ_ID"),
        "category": question.get("RELQ_CATEGORY"),
        "subject": _text(question, "RelQSubject"),
        "body": _text(question, "RelQBody"),
        "user": question.get("RELQ_USERID"),
        "date": question.get("RELQ_DATE"),
        "type": None,
        "comments": [
            {
                "id": comment.get("RELC_ID"),
                "user": comment.get("RELC_USERID"),
                "date": comment.get("RELC_DATE"),
                "subject": "",
                "body": _text(comment, "RelCText"),
                "label": comment.get("RELC_RELEVANCE2RELQ"),
                "label_yn": None,
            }
            for comment in thread.iter("RelComment")
        ],
    }


def _text(element: Element, tag: str) -> str:
    return (element.findtext(tag) or "").strip()
