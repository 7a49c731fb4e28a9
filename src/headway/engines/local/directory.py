"""The node directory on disk, as `docs/protocol.md` §1 has it, and the engine's own files in it.

The engine's own: `handle.json` (first node: what `launch` answers), `launch.json` (the agent started last), `stop.json`
(asked to stop), `swept.json` (nothing of the attempt is left), `closed.json` (finished with, and the sight it keeps).

Files are replaced whole, without fsync: when the machine itself goes down no process survives that they would have to
tell of, and what keeps ranks from starting twice, `begun`, is the agent's. An unreadable file counts as absent.
"""

import fcntl
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.domain.ids import AttemptId
from headway.engines.leftovers import FOREIGN, is_told
from headway.engines.local.process import Process

Json = dict[str, Any]
DIRECTORY_MODE = 0o711


class NodeDirectory:
    """`<run>/<attempt>/<node>/`."""

    def __init__(self, run_dir: Path, attempt: AttemptId, node: str) -> None:
        self.attempt, self.node = attempt, node
        self.path = run_dir / attempt / node

    @property
    def exists(self) -> bool:
        return self.path.is_dir()

    def make(self) -> None:
        """Make the directory; ranks of other users pass through it, and list nothing."""
        for folder in (self.path.parent, self.path):
            if not folder.is_dir():
                folder.mkdir(exist_ok=True)
                folder.chmod(DIRECTORY_MODE)

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return (self.path / name).exists()

    def read(self, name: str) -> Json:
        """A JSON object; {} when there is none that can be read as one."""
        try:
            value = json.loads((self.path / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def write(self, name: str, value: Json | str) -> None:
        """Replace a file whole (mode 0600): a JSON object, or text as it is."""
        os.replace(self._draft(name, value), self.path / name)

    def write_first(self, name: str, value: Json) -> Json:
        """Write a JSON object unless one is there already; return the one that is there afterwards."""
        draft = self._draft(name, value)
        try:
            os.link(draft, self.path / name)
        except FileExistsError:
            if known := self.read(name):
                return known
            os.replace(draft, self.path / name)
            return value
        finally:
            draft.unlink(missing_ok=True)
        return value

    def _draft(self, name: str, value: Json | str) -> Path:
        text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        draft = self.path / f".{name}.{os.getpid()}.{threading.get_ident()}"
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
        return draft

    def is_locked(self) -> bool:
        """Whether an agent holds the lock.

        Only for directories that have begun: a first agent that met this test would give up.
        """
        with self._flock(os.O_RDONLY, fcntl.LOCK_SH) as mine:
            return mine is False

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Take the agent's lock if nobody has it, so that no agent begins or delivers meanwhile; True when taken."""
        with self._flock(os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) as mine:
            yield mine is True

    @contextmanager
    def _flock(self, flags: int, kind: int) -> Iterator[bool | None]:
        """True: taken; False: another has it; None: there is no lock file."""
        try:
            fd = os.open(self.path / "agent.lock", flags | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            yield None
            return
        try:
            try:
                fcntl.flock(fd, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(fd)

    @property
    def is_finished(self) -> bool:
        """Whether no agent is there and nothing is left to tell."""
        told = self.has("closed.json") and bool(self.read("final.json").get("delivered")) and is_told(self.path)
        return told and not self.is_locked()

    def agent(self) -> Process | None:
        """The living agent by the lock's own words, else by the last launch."""
        for name in ("agent.lock", "launch.json"):
            process = _process(self.read(name))
            if process and process.is_alive:
                return process
        return None

    def launched(self) -> Process | None:
        """The agent started last, if it lives."""
        process = _process(self.read("launch.json"))
        return process if process and process.is_alive else None

    @property
    def groups(self) -> list[str]:
        """The cgroups made for it."""
        return list(self.read("order.json").get("cgroup") or ())

    def tail(self, limit: int = 300) -> str | None:
        """The last words of the agent's own output."""
        try:
            text = (self.path / "agent.out").read_bytes()[-limit:].decode(errors="replace").strip()
        except OSError:
            return None
        return text or None


def _process(value: Json) -> Process | None:
    pid, ticks = value.get("pid"), value.get("start_ticks")
    return Process(pid, ticks) if isinstance(pid, int) and isinstance(ticks, int) else None


def directories(run_dir: Path) -> Iterator[NodeDirectory]:
    """Every node directory of a run directory."""
    for attempt in _folders(run_dir):
        yield from directories_of(run_dir, AttemptId(attempt.name))


def directories_of(run_dir: Path, attempt: AttemptId) -> list[NodeDirectory]:
    """Those of one attempt; none where it has none."""
    try:
        return [NodeDirectory(run_dir, attempt, node.name) for node in _folders(run_dir / attempt)]
    except FileNotFoundError:
        return []


def _folders(path: Path) -> list[Path]:
    with os.scandir(path) as entries:
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [Path(entry.path) for entry in folders if not entry.name.startswith(FOREIGN)]
