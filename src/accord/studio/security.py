"""Who gets in and what a page may do: passwords, request forgery, headers, limits of rate."""

import hmac
import threading
import time

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from accord.errors import InputError

__all__ = ["HEADERS", "Passwords", "RateLimit", "csrf_token", "same_token"]

# Everything comes from the studio itself, and no script stands inside a page.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# The interface's own documentation page needs the same, and nothing from elsewhere.
HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class Passwords:
    """Argon2 password hashes, at most two at a time: each takes 64 MB, and the others wait for their turn."""

    def __init__(self, *, fast: bool = False) -> None:
        self._turns = threading.BoundedSemaphore(2)
        # `fast` is for tests that make many accounts.
        self._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1) if fast else PasswordHasher()
        self._nobody = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        """The hash to store; short passwords are refused."""
        if not 10 <= len(password) <= 500:
            raise InputError(
                f"a password has at least 10 characters; this one has {len(password)}. Choose a longer one."
            )
        with self._turns:
            return self._hasher.hash(password)

    def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password fits; takes as long for somebody who does not exist."""
        try:
            with self._turns:
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
