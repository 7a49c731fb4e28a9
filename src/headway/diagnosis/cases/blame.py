"""Which faults speak against a node or a card, and which look like the job's own doing.

Decides on faults already judged one by one; it never names a new cause.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from headway.domain.ids import AttemptId, JobId

TOGETHER = timedelta(minutes=2)
"""Faults of one attempt closer together than this happened at once."""
SPELL = timedelta(hours=1)
"""An idle node tells the same fault over and over: what follows sooner than this belongs to it."""
OF_PROGRAMS = frozenset({"oom_kill", "oom_reaped", "segfault", "hung_task", "memory_corrected"})
"""What a kernel tells of programs and of errors that were put right: no fault of the node."""
XIDS_OF_PROGRAMS = frozenset({13, 31, 43, 45})
"""Xids that a program brings about by itself, by the maker's own table."""


@dataclass(frozen=True, slots=True)
class Blame:
    """One fault on one node, at `at`; `device`: the card it was on, where that is known; `source` says who saw it.

    `job`, `attempt`: the work it hit, None on an idle node; `code`: the number of an Xid.
    """

    at: datetime
    node: str
    fault: str
    source: str
    device: int | None = None
    job: JobId | None = None
    attempt: AttemptId | None = None
    code: int | str | None = None

    @property
    def is_of_program(self) -> bool:
        """Whether a program did this, on a healthy node."""
        return self.fault in OF_PROGRAMS or (self.fault == "xid" and self.code in XIDS_OF_PROGRAMS)


@dataclass(frozen=True, slots=True)
class Counted:
    """A fault, and whether it counts against its node; if not, `why` is `at-once`, `repeated` or `program`."""

    blame: Blame
    counts: bool
    why: str | None = None


def weigh(blames: Iterable[Blame]) -> tuple[Counted, ...]:
    """Every fault in the order of time, with whether it counts.

    The same fault on several cards of one job at once is software (`at-once`): cards do not break together. What a node
    shows again in the same attempt, or idle within the `SPELL`, is still one fault (`repeated`).
    """
    ordered = sorted(blames, key=lambda blame: (blame.at, blame.node, -1 if blame.device is None else blame.device))
    at_once = _at_once(ordered)
    last: dict[tuple[object, ...], datetime] = {}
    counted = []
    for blame in ordered:
        spell = (blame.node, blame.attempt) if blame.attempt else (blame.node, blame.device, blame.fault)
        if blame.is_of_program or id(blame) in at_once:
            counted.append(Counted(blame, False, "program" if blame.is_of_program else "at-once"))
            continue
        is_new = spell not in last or (blame.attempt is None and blame.at - last[spell] > SPELL)
        counted.append(Counted(blame, is_new, None if is_new else "repeated"))
        last[spell] = blame.at
    return tuple(counted)


def _at_once(ordered: Sequence[Blame]) -> set[int]:
    """Identities of faults that another card of the same attempt had too, within `TOGETHER`."""
    alike: dict[tuple[AttemptId, str], list[Blame]] = defaultdict(list)
    for blame in ordered:
        if blame.attempt is not None:
            alike[blame.attempt, blame.fault].append(blame)
    found: set[int] = set()
    for group in alike.values():
        for one, other in pairwise(group):
            if other.at - one.at <= TOGETHER and (one.node, one.device) != (other.node, other.device):
                found |= {id(one), id(other)}
    return found
