"""What stood beside an attempt."""

import asyncio
from dataclasses import replace

from fastapi import APIRouter

from headway.domain.attempt import Attempt
from headway.server.api.asking import Asker, AskerHere
from headway.server.api.logs import choose
from headway.server.operations.evidence.beside import Beside, beside, engine_words

router = APIRouter(tags=["jobs"])


@router.get("/jobs/{job}/beside")
async def show_beside(job: str, asker: AskerHere, attempt: int | None = None) -> Beside:
    """Neighbours on its nodes and network mounts, what these nodes' kernels and its engine said, their links and
    mounts, in the attempt's time."""
    chosen, found = await asyncio.to_thread(_found, asker, job, attempt)
    return replace(found, engine=await engine_words(asker.platform, chosen))


def _found(asker: Asker, job: str, attempt: int | None) -> tuple[Attempt, Beside]:
    chosen = choose(asker, job, attempt)
    with asker.platform.database.read() as c:
        return chosen, beside(asker.platform, c, chosen, asker.projects)
