"""The studio as an ASGI application."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from accord import __version__
from accord.errors import InputError
from accord.store import people as people_store
from accord.store.database import Database, DatabaseGoneError
from accord.store.writer import Reader, Writer
from accord.studio.api import judge, label_studio, life, people, projects, quality, results, sessions
from accord.studio.context import StudioState, is_known
from accord.studio.gate import BodyLimit, SameSite, SecurityHeaders
from accord.studio.logs import RequestLog
from accord.studio.pages import answers as answer_pages
from accord.studio.pages import evaluation as evaluation_pages
from accord.studio.pages import home
from accord.studio.pages import judge as judge_pages
from accord.studio.pages import people as people_pages
from accord.studio.pages import pictures as picture_pages
from accord.studio.pages import quality as quality_pages
from accord.studio.pages import results as result_pages
from accord.studio.pages import settings as settings_pages
from accord.studio.pages.rendering import render
from accord.studio.security import Passwords
from accord.workflows.collecting.settings import ClosedError

__all__ = ["create_app"]

_STATIC = Path(__file__).parent / "static"
_MEBIBYTE = 2**20
_LARGE = re.compile(r"/api/(projects|uploads/look|projects/\d+/items)")  # where files are sent


def create_app(
    database: Database,
    *,
    hosts: Sequence[str] = (),
    secure_cookies: bool = False,
    demo: bool = False,
    passwords: Passwords | None = None,
    most_upload: int = 100 * _MEBIBYTE,
) -> FastAPI:
    """A studio on an open database.

    Parameters
    ----------
    database : Database
    hosts : sequence of str
        The names by which the studio may be called, besides ``localhost`` and addresses in numbers.
    secure_cookies : bool
        Send cookies over HTTPS only.
    demo : bool
        Say on the pages that this is the demonstration.
    passwords : Passwords, optional
    most_upload : int
        Largest upload, in bytes.
    """

    @asynccontextmanager
    async def lifetime(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.studio.writer.close()
        app.state.studio.reader.close()

    app = FastAPI(
        title="Accord studio",
        version=__version__,
        lifespan=lifetime,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    with database.write() as connection:
        secret = people_store.secret(connection, "pages")
    state = StudioState(
        secret=secret,
        database=database,
        writer=Writer(database),
        reader=Reader(database),
        passwords=passwords or Passwords(),
        secure_cookies=secure_cookies,
        demo=demo,
    )
    app.state.studio = state
    app.add_middleware(
        BodyLimit,
        most=2 * _MEBIBYTE,
        most_large=most_upload,
        large_paths=_LARGE,
        is_known=lambda scope: is_known(Request(scope)),
    )
    app.add_middleware(SameSite, hosts=hosts)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestLog)

    @app.exception_handler(InputError)
    def bad_input(request: Request, error: InputError) -> Response:
        return JSONResponse({"detail": str(error)}, status_code=422)

    @app.exception_handler(ClosedError)
    def closed(request: Request, error: ClosedError) -> Response:
        return JSONResponse({"detail": str(error)}, status_code=403)

    @app.exception_handler(RequestValidationError)
    def bad_request(request: Request, error: RequestValidationError) -> Response:
        # Without what was sent: it may be a number that JSON does not have, or half a character.
        detail = [{name: entry[name] for name in ("type", "loc", "msg")} for entry in error.errors()]
        body = json.dumps({"detail": detail}, default=str)
        return Response(body, status_code=422, media_type="application/json")

    @app.exception_handler(UnicodeEncodeError)
    def half_a_character(request: Request, error: UnicodeEncodeError) -> Response:
        detail = "a text is made of whole characters; this one has half of one (a lone surrogate). Remove it."
        return JSONResponse({"detail": detail}, status_code=422)

    @app.exception_handler(DatabaseGoneError)
    def database_gone(request: Request, error: DatabaseGoneError) -> Response:
        detail = "the database does not answer; nothing was stored. Try again in a moment."
        return JSONResponse({"detail": detail}, status_code=503, headers={"retry-after": "2"})

    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith("/api/") or request.method != "GET":
            return JSONResponse({"detail": error.detail}, status_code=error.status_code, headers=error.headers)
        if error.status_code == 401:
            return RedirectResponse("/", status_code=303)
        sentence = str(error.detail)
        return render(request, "problem.html", status=error.status_code, sentence=sentence[:1].upper() + sentence[1:])

    for module in (sessions, projects, life, judge, quality, results, people, label_studio):
        app.include_router(module.router, prefix="/api")
    app.include_router(label_studio.backend, prefix="/api/label-studio/{project_id}")
    app.include_router(label_studio.backend, prefix="/api/label-studio/{project_id}/{token}", include_in_schema=False)
    for page in (
        home,
        judge_pages,
        result_pages,
        people_pages,
        settings_pages,
        answer_pages,
        quality_pages,
        picture_pages,
        evaluation_pages,
    ):
        app.include_router(page.router)

    @app.get("/health", tags=["health"])
    def health() -> dict[str, str]:
        """Whether the studio and its database answer."""
        with database.read() as connection:
            connection.exec_driver_sql("SELECT 1")
        return {"status": "ok", "version": __version__}

    if _STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    return app
