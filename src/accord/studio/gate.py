"""What is decided about a request before its body is read: where it was sent, by which page, how much of it is taken.

Each class is ASGI middleware. From outside in: :class:`SecurityHeaders`, :class:`SameSite`, :class:`BodyLimit`.
"""

import asyncio
import contextlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from accord.studio.security import HEADERS

__all__ = ["BodyLimit", "SameSite", "SecurityHeaders"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_CHANGES = {"POST", "PUT", "PATCH", "DELETE"}
_STALLED = 30.0  # seconds in which the next piece of a body must come


class SecurityHeaders:
    """Adds the security headers to every answer, those of our own faults among them."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in HEADERS if h[0] not in present)]
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except Exception:
            if not started:
                sentence = "something went wrong in the studio; nothing was stored. The log of the server says what."
                is_page = scope["method"] == "GET" and not scope["path"].startswith("/api/")
                await (_apologise if is_page else _refuse)(with_headers, 500, sentence)
            raise


class SameSite:
    """Refuses requests under a name that is not the studio's, and changes that another site's page sends.

    A page of another site can make a name of its own point to this machine (DNS rebinding) and would then be taken for
    ours; an address in numbers cannot be made to point elsewhere.
    """

    def __init__(self, app: App, *, hosts: Collection[str] = ()) -> None:
        self._app, self._hosts = app, {"localhost", *(host.lower().rstrip(".") for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            host = headers.get(b"host", "")
            if not self._is_ours(host):
                name = host[:200]
                await _refuse(send, 421, f"this studio is not called '{name}'. Start it with --allow-host NAME.")
                return
            if scope["method"] in _CHANGES and not _is_same(headers, host):
                await _refuse(send, 403, "changes are taken from the studio's own pages; this came from another site.")
                return
        await self._app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name.rstrip(".") in self._hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _is_same(headers: dict[bytes, str], host: str) -> bool:
    """Whether a change was not sent by a page of another site; programs that are no browser send neither header."""
    origin = headers.get(b"origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == host.lower()
    return headers.get(b"sec-fetch-site", "none") in {"none", "same-origin"}


class BodyLimit:
    """Refuses a body that is larger than allowed, that stops coming, or that a stranger sends, before it is read.

    Bodies of a few kilobytes are read to know who sends them; of larger ones, and of files, the sender is asked for
    first. Uploads of texts may be larger than other requests; their paths match ``large_paths``.
    """

    def __init__(
        self,
        app: App,
        *,
        most: int,
        most_large: int,
        large_paths: re.Pattern[str],
        is_known: Callable[[Scope], Awaitable[bool]],
        most_unasked: int = 16 * 1024,
    ) -> None:
        self._app, self._most, self._most_large, self._large_paths = app, most, most_large, large_paths
        self._is_known, self._most_unasked = is_known, most_unasked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _CHANGES:
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        most = self._most_large if self._large_paths.fullmatch(scope["path"]) else self._most
        length = headers.get(b"content-length", b"")
        said = int(length) if length.isdigit() and len(length) < 20 else None
        if said is not None and said > most:
            await _refuse(send, 413, _too_large(most))
            return
        # A body that says its length has no other; one that does not is chunked, or there is none.
        unasked = said is None and b"transfer-encoding" in headers
        unasked = unasked or (said or 0) > self._most_unasked or b"multipart" in headers.get(b"content-type", b"")
        if unasked and not await self._is_known(scope):
            await _refuse(send, 401, "this needs an account; sign in first.")
            return
        total, is_whole, started = 0, False, False
        refusal: tuple[int, str] | None = None

        async def limited() -> Message:
            nonlocal total, is_whole, refusal
            try:
                message = await asyncio.wait_for(receive(), None if is_whole else _STALLED)
            except TimeoutError:
                refusal = (408, f"the body of a request must keep coming; nothing came for {_STALLED:.0f} seconds.")
                raise _RefusedError from None
            if message["type"] == "http.request":
                total += len(message.get("body", b""))
                is_whole = not message.get("more_body", False)
                if total > most:
                    refusal = (413, _too_large(most))
                    raise _RefusedError
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            if refusal is None:  # what the application makes of a cut-off request is not sent
                started = True
                await send(message)

        with contextlib.suppress(_RefusedError):
            await self._app(scope, limited, watched)
        if refusal is not None and not started:
            await _refuse(send, *refusal)


class _RefusedError(Exception):
    pass


def _too_large(most: int) -> str:
    return f"a request has at most {most:,} bytes; this one is larger. Send less."


async def _apologise(send: Send, status: int, sentence: str) -> None:
    """The sentence as a page that needs nothing else to work."""
    body = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{status} · Accord</title><link rel="stylesheet" href="/static/style.css"><main><h1>'
        f'{sentence[:1].upper()}{sentence[1:]}</h1><p><a href="/">Back to the projects</a></p></main></html>'
    ).encode()
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *([(b"connection", b"close")] if status in {401, 408, 413} else []),  # the rest of the body is not wanted
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
