"""One node's directory on the share: what the engine puts there before the start, and what it reads there afterwards.

The directory belongs to the submitter, under whose account the agent runs, and the one above it to the server, so that
nobody puts a link in its place; nothing here follows a link made inside. Where the server is not root the submitter
shares it with the server's group (`engines/become.py`); nobody else gets in, so that files there may be open.
"""

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.domain.ids import AttemptId
from headway.engines.become import hand_over, needs_sudo
from headway.engines.leftovers import is_told
from headway.engines.protocol import WITHDRAWN, UnixUser

Json = dict[str, Any]
# Ranks pass through, and list nothing.
MODE = 0o711
LARGEST = 16 << 20
# Of files that we make where only the submitter and we get in: who of us two made it does not matter.
OURS = 0o666


def share_out(share: Path, attempt: AttemptId, nodes: Sequence[str], user: UnixUser | None) -> None:
    """Make the folder of an attempt and, where only the user can, those of its nodes. Raises `cannot-become`."""
    folder = share / attempt
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(MODE)
    if user is not None and needs_sudo(user):
        hand_over(user, folder, nodes)


class Place:
    """`<share>/<attempt>/<node>/`."""

    def __init__(self, share: Path, attempt: AttemptId, node: str) -> None:
        self.path = share / attempt / node
        self.node = node

    @property
    def has_begun(self) -> bool:
        """Whether an agent came as far as ranks, or as far as finding that it cannot start any."""
        return self.has("begun") or self.has("final.json")

    def has(self, name: str) -> bool:
        return os.path.lexists(self.path / name)

    def final(self) -> Json:
        """The agent's last word; {} while there is none."""
        found = self._read("final.json")
        return found if isinstance(found, dict) else {}

    def prepare(self, order: Json, token: str, user: UnixUser | None) -> None:
        """Make the directory and write the order once; a token may be new after a crash of the server."""
        if not self.path.is_dir():
            self.path.mkdir(mode=0o700, exist_ok=True)
        if not self.has("order.json"):
            self._write("order.json", json.dumps(order, separators=(",", ":")), user)
        self._write("token", token, user)
        if needs_sudo(user):
            return
        if user:
            os.chown(self.path, user.uid, user.gid)
        self.path.chmod(MODE)

    def withdraw(self, at: float, user: UnixUser | None) -> bool:
        """Make sure that no agent ever starts ranks here; False when one has, or is just about to."""
        with self.locked() as mine:
            if not mine or (self.has_begun and not self._is_withdrawn()):
                return False
            self._write("begun", WITHDRAWN, user)
            if not self.has("final.json"):
                self._end(at, WITHDRAWN, [], user, delivered=True)
            return True

    def bury(self, at: float, user: UnixUser | None) -> bool:
        """Write the last word of an agent that died on its node; False while one lives, or nothing is known.

        An agent would do it too, but it would kill what is left *here*, by process ids of another machine.
        """
        with self.locked() as mine:
            if not mine:
                return False
            if not self.has("final.json"):
                self._end(at, "agent-lost", self._exits(at), user, delivered=False)
            return True

    def held_until(self, at: float, user: UnixUser | None) -> None:
        """Have an agent that left with something untold go when its job was over: until then Slurm's devices were held.

        Between its last word and that lies what it takes to end a process, a step and a job, on a busy node seconds.
        """
        with self.locked() as mine:
            final = self.final()
            if mine and final.get("left") and final["at"] < at:
                self._write("final.json", json.dumps(final | {"at": at}, separators=(",", ":")), user)

    def is_locked(self) -> bool:
        """Whether an agent lives. Only for directories that have begun: a first agent that met this would give up."""
        with self.locked() as mine:
            return mine is False

    @contextmanager
    def locked(self) -> Iterator[bool | None]:
        """Take the agent's lock. True: taken; False: an agent has it; None: there is no lock file, or it was made."""
        try:
            fd = os.open(self.path / "agent.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            yield None
            return
        try:
            parent, ours = os.stat(self.path), os.fstat(fd).st_uid == os.geteuid()
            if ours and parent.st_uid != os.geteuid():
                os.fchown(fd, parent.st_uid, parent.st_gid) if not os.geteuid() else os.fchmod(fd, OURS)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(fd)

    @property
    def is_finished(self) -> bool:
        """Whether no agent is there and nothing is left to tell; so it is where there is no directory."""
        if not self.path.is_dir():
            return True
        return bool(self.final().get("delivered")) and is_told(self.path) and not self.is_locked()

    def tail(self, limit: int = 300) -> str | None:
        """The last words of the agent's own output."""
        text = self.piece("agent.out", 0, limit, from_end=True).decode(errors="replace").strip()
        return text or None

    def piece(self, name: str, offset: int, limit: int, *, from_end: bool = False) -> bytes:
        """At most `limit` bytes of a plain file; nothing where there is none."""
        try:
            fd = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return b""
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                return b""
            return os.pread(fd, limit, max(0, status.st_size - limit) if from_end else offset)
        finally:
            os.close(fd)

    def _is_withdrawn(self) -> bool:
        return self.piece("begun", 0, 64).decode(errors="replace") == WITHDRAWN

    def _exits(self, at: float) -> list[Json]:
        """What the dead agent saw, and for ranks whose end nobody saw neither code nor signal."""
        seen, started = self._read("exits.json") or [], self._read("ranks.json") or []
        known = {record["rank"] for record in seen}
        unseen = {"at": at, "code": None, "signal": None, "signal_name": None, "core": False, "oom_kill": False}
        lost = [entry["rank"] for entry in started if entry["rank"] not in known]
        return [*seen, *({"rank": rank, **unseen, "stopped_by_us": False, "error": None} for rank in lost)]

    def _end(self, at: float, reason: str, exits: list[Json], user: UnixUser | None, *, delivered: bool) -> None:
        end = {"at": at, "reason": reason, "detail": None, "logs": {}, "exits": exits, "delivered": delivered}
        self._write("final.json", json.dumps(end, separators=(",", ":")), user)

    def _read(self, name: str) -> Any:
        try:
            return json.loads(self.piece(name, 0, LARGEST) or b"null")
        except ValueError:
            return None

    def _write(self, name: str, text: str, user: UnixUser | None) -> None:
        draft = self.path / f".{name}.engine"
        draft.unlink(missing_ok=True)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            if needs_sudo(user):
                os.fchmod(file.fileno(), OURS)
            elif user:
                os.fchown(file.fileno(), user.uid, user.gid)
        os.replace(draft, self.path / name)
