"""Go on with a job that has ended, here or in another pool, and say beforehand what that carries over."""

from fastapi import APIRouter

from headway.domain.errors import message
from headway.domain.job import Job
from headway.server.access import Verb
from headway.server.api.asking import Asker, AskerHere, OnceHere
from headway.server.api.bodies import ResumeJob
from headway.server.api.jobs import find
from headway.server.api.showing import LanguageHere
from headway.server.api.views import CarryView, MoveView
from headway.server.operations.jobs.resuming import Move, Wish, prepare, resume, when

router = APIRouter(tags=["jobs"])


@router.post("/jobs/{job}/resume", status_code=201)
def resume_job(job: str, body: ResumeJob, asker: AskerHere, once: OnceHere) -> Job:
    """A new job like one that has ended, from its newest checkpoint that verifies or from the one that is named."""
    moves: list[Move] = []
    made = once(
        body,
        Job,
        lambda c: resume(asker.platform, c, moves[0], asker.name),
        before=lambda: moves.append(_prepared(job, body, asker)),
    )
    asker.platform.wake("schedule")
    return made


@router.post("/jobs/{job}/resume/dry-run")
def try_resume(job: str, body: ResumeJob, asker: AskerHere, language: LanguageHere) -> MoveView:
    """What would be created, what is carried over and what cannot be, and when it would start; nothing is created."""
    move = _prepared(job, body, asker)
    with asker.platform.database.read() as c:
        expected = when(asker.platform, c, move, asker.name)
    carries = [
        CarryView(each.what, each.carried, each.code, message(each.code, each.params, language))
        for each in move.carries
    ]
    return MoveView(move.spec, move.origin.step, move.origin.path, carries, expected)


def _prepared(job: str, body: ResumeJob, asker: Asker) -> Move:
    """The move, if the asker may read the old job and submit ones like it."""
    with asker.platform.database.read() as c:
        found = find(c, asker, job)
    asker.check(Verb.CREATE, "job", found.spec.project)
    asker.check(Verb.CREATE, f"{found.spec.priority} priority", found.spec.project)
    return prepare(asker.platform, found, Wish(**body.model_dump()), asker.name)
