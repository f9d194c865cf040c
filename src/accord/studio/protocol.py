"""The wire: bounds on the head of a request, before there is a request that anything else could refuse."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from accord.studio.security import HEADERS

__all__ = ["BoundedProtocol"]

_MOST_HEAD = 64 * 1024  # bytes of a request's line and headers
_SECONDS = 20.0  # in which they must be there


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose headers are too long or never end."""

    _head = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A new connection: its first request must come soon."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Count what comes before the headers are complete."""
        if self._head >= 0:
            if self._timer is None:
                self._expect()
            self._head += len(data)
        super().data_received(data)
        if self._head > _MOST_HEAD:
            self._refuse("the head of a request has at most 65,536 bytes; this one is longer.")

    def on_headers_complete(self) -> None:
        """The head is there; the body has bounds of its own."""
        self._head = -1
        self._cancel()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next request of this connection starts with a head again; nobody need send one."""
        self._head = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse("this is not a request of HTTP.")

    def _expect(self) -> None:
        self._timer = self.loop.call_later(_SECONDS, self._refuse, "the head of a request must come within 20 seconds.")

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, sentence: str) -> None:
        self._cancel()
        if self.transport.is_closing():
            return
        body = f'{{"detail":"{sentence}"}}'.encode()
        head = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *HEADERS,
        ]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in head)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + lines + b"\r\n" + body)
        self.transport.close()
