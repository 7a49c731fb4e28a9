"""Errors over HTTP: problem+json (RFC 9457) in the reader's language, with the code and its parameters for programs."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import MAX_BODY_SIZE_SCOPE_KEY
from starlette.types import ASGIApp, Receive, Scope, Send

from headway.domain.errors import Language, PlatformError, status_of

log = structlog.get_logger("headway.api")
MEDIA = "application/problem+json"
SHOWN = 80
SIGNS = {"≥": "ge", ">": "gt", "≤": "le", "<": "lt"}
LENGTHS = {"rule-shortest": "min_length", "rule-longest": "max_length"}
RULES = {
    "int": "rule-integer",
    "float": "rule-number",
    "finite": "rule-number",
    "string": "rule-text",
    "bool": "true | false",
    "dict": "rule-table",
    "model": "rule-table",
    "list": "rule-list",
    "datetime": "rule-moment",
    "timezone": "rule-moment",
}


def language_of(request: Request) -> Language:
    """zh when the reader prefers Chinese, else en."""
    return "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"


def problem(error: PlatformError, language: Language) -> dict[str, Any]:
    """The body of an error."""
    return {
        "type": f"https://headway.invalid/errors/{error.code}",
        "title": error.code,
        "status": status_of(error.code),
        "detail": error.text(language),
        "hint": error.hint(language),
        "code": error.code,
        "params": error.params,
    }


class DeclaredTooLarge:
    """Refuses a body by its declared length, in words; the application's own limit cuts off one that declares none."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope) if scope["type"] == "http" else None
        declared = request.headers.get("content-length", "") if request else ""
        if request and declared.isdecimal() and int(declared) > self.limit and not is_agent(request.url.path):
            error = PlatformError("body-too-large", bytes=int(declared), limit=self.limit)
            await respond(request, error)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def is_agent(path: str) -> bool:
    """Agents send more at once than people; their routes set limits of their own."""
    return "/api/v1/agent/" in path


def install(app: FastAPI) -> None:
    """Render every error of the application as a problem."""
    app.add_exception_handler(PlatformError, _platform_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


async def _platform_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, PlatformError)
    return respond(request, error)


def respond(request: Request, error: PlatformError) -> JSONResponse:
    """The response for an error."""
    body = problem(error, language_of(request))
    return JSONResponse(body, status_code=body["status"], media_type=MEDIA)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """Our own fault: told without its insides, which go to the log under the same number."""
    number = uuid4().hex[:12]
    log.error("request failed", number=number, method=request.method, path=request.url.path, exc_info=error)
    return respond(request, PlatformError("internal-error", number=number))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return respond(request, from_validation(error.errors()[0]))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        found = PlatformError("not-found", what="address", value=request.url.path, near="/api/v1/docs")
    elif error.status_code == 413:
        limit = request.scope.get(MAX_BODY_SIZE_SCOPE_KEY, request.app.state.platform.settings.body_limit_bytes)
        found = PlatformError("body-too-large", bytes=f"> {limit}", limit=limit)
    else:
        found = PlatformError("invalid-json", detail="rule-json-object")
    return respond(request, found)


def from_validation(first: Mapping[str, Any]) -> PlatformError:
    """A validation error as one of ours: the field, the value and the rule."""
    kind = str(first.get("type"))
    field = ".".join(str(part) for part in first.get("loc", ()) if part not in ("body", "query", "path")) or "body"
    value = str(first.get("input"))[:SHOWN]
    if field == "body" and kind.startswith("model"):
        return PlatformError("invalid-json", detail="rule-json-object")
    if kind == "json_invalid":
        return PlatformError("invalid-json", detail=str(first.get("ctx", {}).get("error", "")))
    if kind == "missing":
        return PlatformError("missing-field", field=field)
    limits = first.get("ctx", {})
    for rule, name in LENGTHS.items():
        if name in limits:
            return PlatformError("invalid-field", field=field, value=value, rule=rule, limit=limits[name])
    return PlatformError("invalid-field", field=field, value=value, rule=_rule(kind, limits, first))


def _rule(kind: str, limits: Mapping[str, Any], first: Mapping[str, Any]) -> str:
    """A rule in signs every reader knows, or the code of one that is said in the reader's language."""
    for sign, name in SIGNS.items():
        if name in limits:
            return f"{sign} {limits[name]}"
    if kind in ("enum", "literal_error"):
        return str(limits.get("expected")).replace("'", "").replace(" or ", ", ").replace(", ", " | ")
    return RULES.get(kind.partition("_")[0], str(first.get("msg")))
