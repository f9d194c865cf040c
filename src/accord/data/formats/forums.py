"""Forums: dumps of Stack Exchange, topics of Discourse and listings of Reddit. Questions and answers become threads."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from accord.data.formats.registry import Format, Glimpse
from accord.data.reading.html import plain_text
from accord.data.reading.json_stream import records, rows_of, whole
from accord.data.reading.rows import Buffer, Context, Rows
from accord.errors import InputError

__all__ = ["DISCOURSE", "REDDIT", "STACK_EXCHANGE"]

# -- Stack Exchange ----------------------------------------------------------------------------------------------


def _is_stack_exchange(seen: Glimpse) -> str | None:
    if seen.path.suffix.lower() == ".xml" and seen.path.is_file():
        with seen.path.open("rb") as file:
            start = file.read(2000)
        return "it has rows with PostTypeId" if b"<row" in start and b"PostTypeId=" in start else None
    return "its columns have PostTypeId and Body" if seen.has("Id", "PostTypeId", "Body") else None


def _stack_exchange(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source="stack-exchange")
        accepted: set[str] = set()
        answers: list[tuple[int, str]] = []
        for row, post in _xml_rows(path) if path.suffix.lower() == ".xml" else rows_of(path):
            name, kind = str(post.get("Id") or ""), str(post.get("PostTypeId") or "")
            if kind not in ("1", "2"):
                context.lost["posts that are neither a question nor an answer are not read"] += 1
                continue
            title = f"{post['Title']}\n" if post.get("Title") else ""
            buffer.item(
                row,
                name,
                title + plain_text(str(post.get("Body") or "")),
                group_id=name if kind == "1" else post.get("ParentId"),
                author_id=post.get("OwnerUserId") or post.get("OwnerDisplayName"),
                timestamp=post.get("CreationDate"),
                meta={"votes": post.get("Score"), "tags": post.get("Tags")},
            )
            if kind == "2":
                answers.append((row, name))
            elif post.get("AcceptedAnswerId"):
                accepted.add(str(post["AcceptedAnswerId"]))
            yield from buffer.ready()
        context.assumed["an answer is labelled accepted or other; the votes on it are kept beside it"] += 1
        for row, name in answers if accepted else ():
            buffer.judgement(row, "label", name, value="accepted" if name in accepted else "other")
        yield from buffer.rest()


def _xml_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    row = 0
    try:
        for _, element in iterparse(path):
            if element.tag == "row":
                row += 1
                yield row, dict(element.attrib)
                element.clear()
    except DefusedXmlException:
        raise InputError(f"XML may not define entities; {path} does. Write it without them.") from None
    except (ParseError, LookupError) as error:  # the second where it names an encoding that there is not
        raise InputError(f"{path} is not readable as XML: {error}. Write it again.") from None


# -- Discourse ---------------------------------------------------------------------------------------------------


def _is_discourse(seen: Glimpse) -> str | None:
    found = isinstance(seen.record, dict) and isinstance(seen.record.get("post_stream"), dict)
    return "it has a post_stream" if found else None


def _discourse(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path, topic in ((one, topic) for one in paths for _, topic in records(one, dict[str, Any])):
        buffer = Buffer(path, context, source="discourse")
        posts = [post for post in _list(_dict(topic.get("post_stream")).get("posts")) if isinstance(post, dict)]
        solved = any(post.get("accepted_answer") for post in posts)
        for row, post in enumerate(posts, start=1):
            group = f"{post.get('topic_id', topic.get('id', 'topic'))}"
            first = post.get("post_number") == 1
            name = group if first else f"{group}-{post.get('post_number', row)}"
            parent = post.get("reply_to_post_number")
            title = f"{topic['title']}\n" if first and topic.get("title") else ""
            buffer.item(
                row,
                name,
                title + plain_text(str(post.get("cooked") or post.get("raw") or "")),
                group_id=group,
                author_id=post.get("username"),
                timestamp=post.get("created_at"),
                reply_to=None if first else group if parent in (None, 1) else f"{group}-{parent}",
            )
            if solved and not first:
                buffer.judgement(row, "label", name, value="accepted" if post.get("accepted_answer") else "other")
        yield from buffer.rest()


# -- Reddit ------------------------------------------------------------------------------------------------------


def _is_reddit(seen: Glimpse) -> str | None:
    record = seen.record[0] if isinstance(seen.record, list) and seen.record else seen.record
    return "it is a listing" if isinstance(record, dict) and record.get("kind") == "Listing" else None


def _reddit(paths: Sequence[Path], context: Context) -> Iterator[Rows]:
    for path in paths:
        buffer = Buffer(path, context, source="reddit")
        listings = whole(path, Any)
        row = 0
        for thing in _things(listings):
            row += 1
            about = _dict(thing.get("data"))
            if thing.get("kind") not in ("t1", "t3"):
                context.lost["comments that the listing leaves out ('more') are not read"] += 1
                continue
            parts = [about["body"]] if about.get("body") else [about.get("title"), about.get("selftext")]
            text = "\n".join(str(part) for part in parts if part)
            link = str(about.get("link_id") or f"t3_{about.get('id')}")
            buffer.item(
                row,
                f"{thing['kind']}_{about.get('id')}",
                text,
                group_id=link,
                author_id=about.get("author"),
                timestamp=about.get("created_utc"),
                reply_to=about.get("parent_id"),
                meta={"votes": about.get("score")},
            )
        context.assumed["the votes on a post are kept beside it; they are no judgements by known people"] += 1
        yield from buffer.rest()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _things(value: Any) -> Iterator[dict[str, Any]]:
    """The posts and comments of listings, each before its replies."""
    waiting = list(value) if isinstance(value, list) else [value]
    while waiting:
        thing = waiting.pop(0)
        if not isinstance(thing, dict):
            continue
        about = _dict(thing.get("data"))
        if thing.get("kind") == "Listing":
            waiting = [*_list(about.get("children")), *waiting]
            continue
        yield thing
        if isinstance(about.get("replies"), dict):
            waiting = [about["replies"], *waiting]


STACK_EXCHANGE = Format("stack-exchange", "posts of Stack Exchange", _is_stack_exchange, _stack_exchange)
DISCOURSE = Format("discourse", "a topic of Discourse", _is_discourse, _discourse)
REDDIT = Format("reddit", "a listing of Reddit", _is_reddit, _reddit)
