"""Logs: a line of JSON for each request, for programs that watch the studio; no secret and no text is in it."""

import json
import logging
import re
import sys
import time
from datetime import UTC, datetime

from accord.errors import InputError
from accord.studio.gate import App, Message, Receive, Scope, Send

__all__ = ["RequestLog", "start_log"]

_LOG = logging.getLogger("accord.requests")
# Addresses that are secrets: whoever reads the log must not get in.
_SECRET = re.compile(r"^(/join/|/reset/|/api/label-studio/\d+/)[^/]+")


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"at": moment, "level": record.levelname.lower(), "logger": record.name, **getattr(record, "fields", {})}
        if record.name != _LOG.name:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_log(place: str | None) -> None:
    """Write a line for each request and each warning to a file, or to stderr; by default nothing is written."""
    if place is None:
        return
    try:
        handler = logging.StreamHandler(sys.stderr) if place == "-" else logging.FileHandler(place, encoding="utf-8")
    except OSError as error:
        raise InputError(f"the log cannot be written: {error}. Give another file with --log.") from None
    handler.setFormatter(_Lines())
    for name in (_LOG.name, "accord", "uvicorn.error"):
        logging.getLogger(name).addHandler(handler)
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False


class RequestLog:
    """ASGI middleware: notes method, path, status and time of each request, if a log is written."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _LOG.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            client = scope.get("client")
            fields = {
                "method": scope["method"],
                "path": _SECRET.sub(r"\1…", scope["path"]),
                "status": status,
                "ms": round(1000 * (time.perf_counter() - started), 1),
                "from": client[0] if client else None,
            }
            _LOG.info("request", extra={"fields": fields})
