"""Who gets in and what a page may do: passwords, request forgery, headers, limits on size and rate."""

import contextlib
import hmac
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from accord.errors import InputError

__all__ = ["BodyLimit", "Passwords", "RateLimit", "SecurityHeaders", "csrf_token", "same_token"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Everything comes from the studio itself, and no script stands inside a page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# The interface's own documentation page needs the same, and nothing from elsewhere.
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class Passwords:
    """Argon2 password hashes."""

    def __init__(self, *, fast: bool = False) -> None:
        # `fast` is for tests that make many accounts.
        self._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1) if fast else PasswordHasher()
        self._nobody = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        """The hash to store; short passwords are refused."""
        if not 10 <= len(password) <= 500:
            raise InputError(
                f"a password has at least 10 characters; this one has {len(password)}. Choose a longer one."
            )
        return self._hasher.hash(password)

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password fits; takes as long for somebody who does not exist."""
        try:
            return self._hasher.verify(stored or self._nobody, password) and stored is not None
        except VerificationError:
            return False


def csrf_token(secret: bytes, session: str) -> str:
    """The token that a page must send back with every change, bound to its session."""
    return hmac.digest(secret, session.encode(), "sha256").hex()


def same_token(right: str, sent: str) -> bool:
    """Whether a token is the right one, in a time that does not tell how much of it is."""
    return hmac.compare_digest(right.encode(), sent.encode())


class RateLimit:
    """At most ``most`` events a key in ``seconds``, as a token bucket in memory."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._rate = float(most), most / seconds
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allows(self, key: str) -> bool:
        """Whether one more event is allowed now; it is counted if so."""
        moment = time.monotonic()
        with self._lock:
            if len(self._buckets) > 50_000:  # forget those that are full again
                self._buckets = {
                    k: (level, at)
                    for k, (level, at) in self._buckets.items()
                    if level + (moment - at) * self._rate < self._most
                }
            level, at = self._buckets.get(key, (self._most, moment))
            level = min(self._most, level + (moment - at) * self._rate)
            allowed = level >= 1.0
            self._buckets[key] = (level - 1.0 if allowed else level, moment)
            return allowed


class SecurityHeaders:
    """Adds the security headers to every answer."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in _HEADERS if h[0] not in present)]
            await send(message)

        await self._app(scope, receive, with_headers)


class BodyLimit:
    """Refuses a request whose body is larger than allowed, before it is read into memory.

    Uploads of texts may be larger than other requests; their paths are told by ``large_paths``.
    """

    def __init__(self, app: App, *, most: int, most_large: int, large_paths: tuple[str, ...]) -> None:
        self._app, self._most, self._most_large, self._large_paths = app, most, most_large, large_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_large if scope["path"] in self._large_paths else self._most
        length = dict(scope["headers"]).get(b"content-length", b"")
        if length.isdigit() and int(length) > most:
            await _refuse(send, most)
            return
        total, refused = 0, False

        async def limited() -> Message:
            nonlocal total, refused
            message = await receive()
            if message["type"] == "http.request":
                total += len(message.get("body", b""))
                if total > most:
                    refused = True
                    raise _TooLargeError
            return message

        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            if not refused:  # what the application makes of a cut-off request is not sent
                started = True
                await send(message)

        with contextlib.suppress(_TooLargeError):
            await self._app(scope, limited, watched)
        if refused and not started:
            await _refuse(send, most)


class _TooLargeError(Exception):
    pass


async def _refuse(send: Send, most: int) -> None:
    body = f'{{"detail":"a request has at most {most:,} bytes; this one is larger. Send less."}}'.encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
