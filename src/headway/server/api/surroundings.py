"""What stood beside an attempt."""

from fastapi import APIRouter

from headway.server.api.asking import AskerHere
from headway.server.api.logs import choose
from headway.server.operations.evidence.beside import Beside, beside

router = APIRouter(tags=["jobs"])


@router.get("/jobs/{job}/beside")
def show_beside(job: str, asker: AskerHere, attempt: int | None = None) -> Beside:
    """Neighbours on its nodes, what these nodes' kernels said, and their links and mounts, in the attempt's time."""
    chosen = choose(asker, job, attempt)
    with asker.platform.database.read() as c:
        return beside(asker.platform, c, chosen, asker.projects)
