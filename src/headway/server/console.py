"""The web console's built files, served at `/` beside the API. Decides only which file an address means; it never reads
anything outside its folder, and no page it serves takes anything from another host.

An address that is no file is a page of the console, which finds its own way: it gets `index.html`. Files under
`assets/` carry their digest in their name and may be kept for ever; `index.html` is asked for anew each time. What the
build packed is sent packed to whoever takes that.
"""

from mimetypes import guess_type
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from headway.domain.errors import PlatformError
from headway.server.problems import respond

router = APIRouter(include_in_schema=False)
FOLDER = Path(__file__).parent / "web"
PACKED = ".gz"
FOREVER = "public, max-age=31536000, immutable"
# Ant Design writes its styles into the page; everything else is our own file, and the API is our own host.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


@router.get("/{address:path}")
def console(address: str, request: Request) -> Response:
    """A file of the console, or its first page. Unknown addresses of the API stay errors of the API."""
    if address == "api" or address.startswith("api/"):
        return respond(request, PlatformError("not-found", what="address", value=f"/{address}", near="/api/v1/docs"))
    if not (FOLDER / "index.html").is_file():
        return respond(request, PlatformError("console-not-built"))
    found = file_of(FOLDER, address)
    if found is None and address.startswith("assets/"):
        return respond(request, PlatformError("not-found", what="address", value=f"/{address}", near="/"))
    kept = FOREVER if found is not None and address.startswith("assets/") else "no-cache"
    return _sent(found or FOLDER / "index.html", request.headers.get("accept-encoding", ""), kept)


def _sent(file: Path, accepted: str, kept: str) -> Response:
    """The file, or the build's gzip of it under the same name and type."""
    headers = {**HEADERS, "Cache-Control": kept, "Vary": "Accept-Encoding"}
    packed = file.with_name(file.name + PACKED)
    if takes_gzip(accepted) and packed.is_file():
        kind, _ = guess_type(file.name)
        return FileResponse(packed, media_type=kind, headers={**headers, "Content-Encoding": "gzip"})
    return FileResponse(file, headers=headers)


def takes_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` allows gzip by its name: a weight of nought forbids it."""
    for offer in accepted.lower().split(","):
        name, *weights = (part.strip() for part in offer.split(";"))
        if name == "gzip":
            return not any(weight.startswith("q=") and not weight[2:].strip("0.") for weight in weights)
    return False


def file_of(folder: Path, address: str) -> Path | None:
    """The file an address means; None for a page, and for whatever lies outside of the folder."""
    if not address or "\0" in address:
        return None
    found = (folder / address).resolve()
    return found if found.is_relative_to(folder.resolve()) and found.is_file() else None
