"""What Slurm's accounting counts for Headway's attempts, read from `sacct`. Pure; compares nothing."""

import re
from collections import Counter

from headway.domain.ids import AttemptId
from headway.engines.protocol import Charge
from headway.engines.slurm.script import MARK

# Name and comment come last: they may hold anything.
BOOKS_FORMAT = "state,elapsedraw,alloctres,jobname,comment"
OPEN = frozenset({"PENDING", "RUNNING", "SUSPENDED", "COMPLETING"})


def read_books(text: str) -> tuple[Charge, ...]:
    """Device-seconds by attempt over every incarnation of its jobs; other people's jobs are left out."""
    seconds: Counter[str] = Counter()
    still_open = set()
    for line in text.splitlines():
        fields = line.split("|", 4)
        if len(fields) < 5:
            continue
        state, elapsed, tres, name, comment = fields
        if comment != MARK + name or not elapsed.isdecimal():
            continue
        seconds[name] += int(elapsed) * _devices(tres)
        if state.partition(" ")[0] in OPEN:
            still_open.add(name)
    return tuple(Charge(AttemptId(name), total, name in still_open) for name, total in seconds.items())


def _devices(tres: str) -> int:
    """`cpu=16,gres/gpu=4,gres/gpu:h200=4` → 4: each device is counted once, whatever it is called besides."""
    return sum(int(count) for count in re.findall(r"gres/(?:gpu|npu)=(\d+)", tres))
