"""What the engine notes of an attempt on the server's own disk, where no job's user can write.

`<records>/<attempt>/slurm.json`, replaced whole and synced before Slurm is asked for anything, so that after any crash
one look at it and one at Slurm tell what was begun. Slurm's job ids are only noted for people: a controller that lost
its last seconds gives them out again, so jobs are known by name, comment and user.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from headway.domain.ids import AttemptId
from headway.engines.protocol import Handle, UnixUser

FILE = "slurm.json"


@dataclass(frozen=True, slots=True)
class Stop:
    """A wish to stop: by when, and when agents were told of it last (epoch seconds)."""

    at: float
    deadline: float
    told_at: float | None = None

    @property
    def is_at_once(self) -> bool:
        """Whether there was no grace: nobody is there any more who could use it."""
        return self.deadline <= self.at


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt. `nodes` are Headway's names, `hosts` Slurm's; times are epoch seconds.

    `tried_at`: when `sbatch` was begun last, `tries` how often; `job`: the id it answered. `missed_at`: since when
    Slurm has not known the job. `closed`: nodes whose part is over, and the sight, detail and cause they keep;
    `delivered`: those of which nothing is left to tell. `ends`: when its job was over, by Slurm.
    """

    attempt: AttemptId
    nodes: tuple[str, ...]
    hosts: tuple[str, ...]
    user: UnixUser | None
    owner: str
    master_port: int
    endpoint: str | None
    words: tuple[str, ...]
    script: str
    limit_s: float | None = None
    tried_at: float | None = None
    tries: int = 0
    job: str | None = None
    missed_at: float | None = None
    stop: Stop | None = None
    closed: Mapping[str, tuple[str, str | None, str | None]] = field(default_factory=dict)
    delivered: tuple[str, ...] = ()
    ends: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether every part has ended, though something may be left to deliver."""
        return set(self.closed) == set(self.nodes)

    @property
    def is_done(self) -> bool:
        """Whether there is nothing left to do."""
        return self.is_over and set(self.delivered) == set(self.nodes)

    def handle(self, engine: str) -> Handle:
        """How others find the attempt again."""
        return Handle(self.attempt, engine, self.nodes, self.endpoint, {"master_port": str(self.master_port)})


class Records:
    """Every attempt this engine has begun. Not a cache: each reading is from the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, attempt: AttemptId) -> Record | None:
        """The record, if the attempt was ever begun here."""
        try:
            value = json.loads(self._path(attempt).read_bytes())
        except FileNotFoundError:
            return None
        return _record(value)

    def unfinished(self) -> set[AttemptId]:
        """Every attempt with something left to do."""
        found = {AttemptId(entry.name) for entry in os.scandir(self._folder) if (Path(entry) / FILE).exists()}
        return {attempt for attempt in found if (record := self.read(attempt)) and not record.is_done}

    def write(self, record: Record) -> Record:
        """Replace a record, and return it once it is durable."""
        path = self._path(record.attempt)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.new")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(asdict(record), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
        return record

    def drop(self, attempt: AttemptId) -> None:
        """Forget an attempt that Slurm refused."""
        self._path(attempt).unlink(missing_ok=True)

    def _path(self, attempt: AttemptId) -> Path:
        return self._folder / attempt / FILE


def _record(value: dict[str, Any]) -> Record:
    user, stop = value["user"], value["stop"]
    record = Record(**value)
    return replace(
        record,
        nodes=tuple(record.nodes),
        hosts=tuple(record.hosts),
        words=tuple(record.words),
        delivered=tuple(record.delivered),
        user=UnixUser(**{**user, "groups": tuple(user["groups"])}) if user else None,
        stop=Stop(**stop) if stop else None,
    )
