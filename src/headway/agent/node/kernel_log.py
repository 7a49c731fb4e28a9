"""Follows what the kernel says: `/dev/kmsg`, a file that grows, a pipe, or `journalctl`. Never blocks.

`place` is where to go on after a restart. It counts lines that were handed out, so whoever keeps it together with
what the lines told neither loses nor repeats one. A pipe has no place: what was read is gone.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHUNK = 64 << 10
_LONGEST_LINE = 16 << 10
_MOST_LINES = 20000
_JOURNAL = ("journalctl", "-k", "-f", "-n", "0", "-o", "short-unix", "--no-pager")


class KernelLog:
    """Lines as they come. `place`: None, or what an earlier `place` said."""

    def __init__(self, where: str, place: dict[str, Any] | None) -> None:
        self._where = where
        self._known = place or {}
        self._fd = -1
        self._kind = "none"
        self._rest = b""
        self._journal: subprocess.Popen[bytes] | None = None
        self.place: dict[str, Any] = {}
        self.problem: str | None = None
        if where != "none":
            self._open()

    @property
    def fd(self) -> int | None:
        """What becomes readable when there are lines; None where that cannot be waited for (a file)."""
        return self._fd if self._kind in ("kmsg", "pipe", "journal") and self._fd >= 0 else None

    def lines(self) -> list[str]:
        """What has come since the last call."""
        if self._kind == "kmsg":
            return self._records()
        if self._kind == "file":
            self._look_again()
        return self._text_lines()

    def close(self) -> None:
        """Let go of the source."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._journal is not None:
            self._journal.kill()
            self._journal.wait()

    def _open(self) -> None:
        where = "/dev/kmsg" if self._where == "auto" else self._where
        try:
            if where == "journal":
                return self._open_journal()
            self._fd = os.open(where, os.O_RDONLY | os.O_NONBLOCK)
            mode = os.fstat(self._fd).st_mode
            if stat.S_ISCHR(mode):
                self._kind = "kmsg"
                self.place = {"boot": boot_id(), "record": self._record_known()}
            elif stat.S_ISFIFO(mode):
                self._kind = "pipe"
            else:
                self._open_file()
        except OSError as error:
            self.problem = f"{where}: {error.strerror}"
            if self._where == "auto":
                self._open_journal()

    def _open_journal(self) -> None:
        try:
            self._journal = subprocess.Popen(
                _JOURNAL, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            self.problem = f"{self.problem or ''} journalctl: {error.strerror}".strip()
            return
        assert self._journal.stdout is not None
        self._fd = os.dup(self._journal.stdout.fileno())
        os.set_blocking(self._fd, False)
        self._kind, self.problem = "journal", None

    def _open_file(self) -> None:
        self._kind = "file"
        status = os.fstat(self._fd)
        same = self._known.get("inode") == status.st_ino and int(self._known.get("offset", 0)) <= status.st_size
        offset = int(self._known["offset"]) if same else 0
        os.lseek(self._fd, offset, os.SEEK_SET)
        self.place = {"inode": status.st_ino, "offset": offset}

    def _look_again(self) -> None:
        """A file that was replaced or cut is read from its beginning."""
        try:
            status = os.stat(self._where)
        except OSError:
            return
        if self._fd < 0 or status.st_ino != self.place.get("inode") or status.st_size < int(self.place["offset"]):
            if self._fd >= 0:
                os.close(self._fd)
            self._rest = b""
            self._fd = os.open(self._where, os.O_RDONLY | os.O_NONBLOCK)
            self._open_file()

    def _record_known(self) -> int:
        return int(self._known.get("record", -1)) if self._known.get("boot") == boot_id() else -1

    def _records(self) -> list[str]:
        """Records of `/dev/kmsg`, without those that were handed out before; one that was overwritten is skipped."""
        found: list[str] = []
        while len(found) < _MOST_LINES:
            try:
                record = os.read(self._fd, _LONGEST_LINE)
            except OSError as error:
                if error.errno == errno.EPIPE:
                    continue
                break
            line = record.decode("utf-8", "replace").partition("\n")[0]
            number = line.split(",", 3)[1:2]
            if not number or not number[0].isdigit() or int(number[0]) <= int(self.place["record"]):
                continue
            self.place = {**self.place, "record": int(number[0])}
            found.append(line)
        return found

    def _text_lines(self) -> list[str]:
        found: list[str] = []
        while self._fd >= 0 and len(found) < _MOST_LINES:
            try:
                chunk = os.read(self._fd, _CHUNK)
            except OSError:
                break
            if not chunk:
                if self._kind == "pipe":
                    self._open_again()
                break
            whole, newline, rest = (self._rest + chunk).rpartition(b"\n")
            self._rest = rest[-_LONGEST_LINE:]
            self._count(len(rest) - len(self._rest))
            if newline:
                self._count(len(whole) + 1)
                found += whole.decode("utf-8", "replace").split("\n")
        return found

    def _open_again(self) -> None:
        """Every writer has closed the pipe: an end of file would be readable for ever."""
        os.close(self._fd)
        self._fd = os.open(self._where, os.O_RDONLY | os.O_NONBLOCK)

    def _count(self, size: int) -> None:
        if self._kind == "file":
            self.place = {**self.place, "offset": int(self.place["offset"]) + size}


def boot_id() -> str:
    """Which start of the machine this is."""
    return (files.read_text("/proc/sys/kernel/random/boot_id") or "").strip()
