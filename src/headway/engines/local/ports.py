"""Ports for attempts: where ranks meet and where services listen.

A port is free when no living attempt of this engine has it and the kernel lets it be bound now. The choice is kept on
disk by the caller; this file only remembers what is taken.
"""

import socket
import threading
import zlib
from collections.abc import Iterable

from headway.domain.errors import PlatformError, say


class Ports:
    """The ports given to living attempts, out of a range."""

    def __init__(self, among: range, engine: str) -> None:
        self._among, self._engine = among, engine
        self._taken: dict[str, tuple[int, ...]] = {}
        self._guard = threading.Lock()

    def take(self, attempt: str, count: int) -> tuple[int, ...]:
        """Choose `count` ports; attempts begin their search at different places. Raises `engine-unreachable`."""
        start = zlib.crc32(attempt.encode()) % len(self._among)
        with self._guard:
            taken = {port for ports in self._taken.values() for port in ports}
            chosen: list[int] = []
            for step in range(len(self._among)):
                port = self._among[(start + step) % len(self._among)]
                if port not in taken and _is_free(port):
                    chosen.append(port)
                if len(chosen) == count:
                    self._taken[attempt] = tuple(chosen)
                    return tuple(chosen)
        raise PlatformError(
            "engine-unreachable", engine=self._engine, detail=say("no-free-port", ports=str(self._among))
        )

    def keep(self, attempt: str, ports: Iterable[int]) -> None:
        """Remember the ports that an attempt has by its handle."""
        with self._guard:
            self._taken[attempt] = tuple(ports)

    def release(self, attempt: str) -> None:
        """Forget an attempt's ports."""
        with self._guard:
            self._taken.pop(attempt, None)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
