"""The evidence of one attempt as one download."""

from collections.abc import Iterator
from typing import IO

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from headway.server.api.asking import AskerHere
from headway.server.api.logs import choose
from headway.server.operations.evidence.bundle import bundle
from headway.store import jobs

router = APIRouter(tags=["jobs"])
PIECE = 256 << 10


@router.get("/jobs/{job}/bundle", response_class=StreamingResponse)
def download(job: str, asker: AskerHere, attempt: int | None = None) -> StreamingResponse:
    """A zip of an attempt's logs, readings, stacks, facts and verdict, without secrets; by default of the newest."""
    chosen = choose(asker, job, attempt)
    with asker.platform.database.read() as c:
        found = jobs.get(c, chosen.job)
    assert found is not None
    name = f'attachment; filename="{chosen.id}.zip"'
    pieces = _pieces(bundle(asker.platform, found, chosen))
    return StreamingResponse(pieces, media_type="application/zip", headers={"Content-Disposition": name})


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece
