"""What is seen of a running attempt at one moment, and how patient to be with it. Decides nothing.

What nobody measures is None: an absent reading is never taken for a quiet one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

TRAIN = "train"
STARTUP = "startup"


@dataclass(frozen=True, slots=True)
class Activity:
    """One rank's processes and card. Percentages of one core, and of the card; watts; bytes a second to or from files.

    `stopped`: a process of it is stopped by a signal; `uninterruptible`: one waits in the kernel for a device;
    `remote`: for one that is no disk of its node.
    """

    cpu_percent: float | None = None
    stopped: bool = False
    uninterruptible: bool = False
    remote: bool = False
    file_bytes_per_s: float | None = None
    card_percent: float | None = None
    card_watts: float | None = None


@dataclass(frozen=True, slots=True)
class Signs:
    """An attempt at one moment. `heard`: every one of its agents has spoken lately.

    `steps`: progress told since the moment before, as (when, step), in order; `log_bytes`: printed in all by all ranks;
    `phase`: what the program says or is known to do now; network and disk: bytes a second of its nodes together.
    """

    at: datetime
    heard: bool = True
    steps: tuple[tuple[datetime, int], ...] = ()
    log_bytes: int = 0
    phase: str | None = None
    ranks: Mapping[int, Activity] = field(default_factory=dict)
    network_bytes_per_s: float | None = None
    disk_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long silence may last: `factor` times the slowest steps and at least `floor`; longer in phases without steps.

    `startup`: before a rhythm is learnt. `phases`: for named phases; `phase`: for any other that is not training.
    """

    factor: float = 5.0
    floor: timedelta = timedelta(seconds=60)
    startup: timedelta = timedelta(minutes=15)
    phase: timedelta = timedelta(minutes=30)
    phases: Mapping[str, timedelta] = field(default_factory=lambda: {"compile": timedelta(hours=1)})
