"""The gateway's loop: keep Envoy alive, follow `routes.json`, report, measure, leave in peace.

One thread, one step every 50 ms. Talks to Envoy and to files in its directory, never to the server: what was last
applied is served on while the server is away.
"""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from headway.domain.errors import PlatformError
from headway.gateway import envoy, files, measure, routes
from headway.gateway.admin import Admin
from headway.gateway.apply import Discovery, Serving
from headway.gateway.process import EnvoyProcess

POLL_S = 0.05
AFTER_FAILURE_S = 1.0
MEASURE_S = 2.0
DRAIN_S = 5.0
ENVOY_LOG_BYTES = 4 * 1024 * 1024

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to listen and what to keep. `port` 0: the kernel chooses once; `access_log_bytes` 0: no access log."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 8471
    admin_port: int | None = None
    concurrency: int = 1
    access_log_bytes: int = 64 * 1024 * 1024


class Gateway:
    """One Envoy and the files it is led by. `stopping` may be set from a signal handler."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._directory = settings.directory
        self._admin = Admin(envoy.ADMIN_SOCKET, settings.admin_port)
        self._envoy = EnvoyProcess(self._directory, settings.concurrency)
        self._serving = Serving(Discovery(self._directory, self._admin, self._envoy.is_alive))
        self._window = measure.Window()
        self._port = settings.port
        self._envoy_since: float | None = None
        self._next_measure = 0.0
        self._seen: files.Signature | None = None
        self._generation: int | None = None
        self._routes_error: PlatformError | None = None
        self._envoy_error: PlatformError | None = None
        self.stopping = False

    def run(self) -> None:
        """Serve until `stopping`; raises `envoy-missing`. Envoy has ended when this returns."""
        self._resume()
        try:
            while not self.stopping:
                time.sleep(self._step_or_wait())
            self._drain()
        finally:
            self._envoy.stop()
            self._envoy_since = None
            self._report()
            log.info("gateway-stopped")

    def _step_or_wait(self) -> float:
        """One step; returns the seconds to the next. A full disk must not take the traffic down with it."""
        try:
            self._step()
        except OSError as error:
            with suppress(OSError):
                log.warning("step-failed", error=repr(error))
            return AFTER_FAILURE_S
        return POLL_S

    def _step(self) -> None:
        self._keep_envoy()
        if self._envoy_since is None:
            return
        self._follow_routes()
        if time.monotonic() >= self._next_measure:
            self._next_measure = time.monotonic() + MEASURE_S
            with suppress(OSError):
                self._measure()
                self._bound_logs()
            self._report()

    def _resume(self) -> None:
        # Begin with what was last acknowledged: a bad routes file after a restart still leaves something served.
        with suppress(OSError, PlatformError):
            self._serving.routes = routes.parse((self._directory / files.APPLIED).read_bytes())
            self._generation = self._serving.routes.generation

    def _keep_envoy(self) -> None:
        code = self._envoy.ended_with()
        if code is not None:
            self._lost(PlatformError("envoy-stopped", exit_code=code))
        if self._envoy.is_alive() or not self._envoy.may_start():
            return
        settings = self._settings
        access_log = files.ACCESS_LOG if settings.access_log_bytes else None
        files.write_json(self._directory / "boot.json", envoy.bootstrap(settings.admin_port))
        self._serving.prepare(envoy.listener(settings.host, self._port, access_log))
        self._envoy.start()
        try:
            self._serving.await_start()
            self._port = self._admin.listener_port()
        except (PlatformError, OSError) as error:
            self._envoy.stop()
            self._lost(error if isinstance(error, PlatformError) else PlatformError("envoy-stopped", exit_code=None))
            return
        self._envoy_since = time.time()
        self._envoy_error = None
        self._window = measure.Window()
        log.info("envoy-serving", pid=self._envoy.pid, host=settings.host, port=self._port)
        self._report()

    def _lost(self, error: PlatformError) -> None:
        self._envoy_since = None
        self._envoy_error = error
        log.warning("envoy-lost", code=error.code, detail=str(error))
        self._report()

    def _follow_routes(self) -> None:
        path = self._directory / files.ROUTES
        found = files.signature(path)
        if found is None or found == self._seen:
            return
        try:
            text = path.read_bytes()
            wanted = routes.parse(text)
            self._serving.change(wanted)
        except PlatformError as error:
            if not self._envoy.is_alive():
                return  # not the routes' fault: tried again when Envoy is back
            self._routes_error = error
            log.warning("routes-refused", code=error.code, detail=str(error))
        else:
            files.write_bytes(self._directory / files.APPLIED, text)
            self._generation = wanted.generation
            self._routes_error = None
            log.info("routes-applied", generation=wanted.generation, services=len(wanted.services))
        self._seen = found
        self._report()

    def _measure(self) -> None:
        names = self._serving.cluster_names
        readings = measure.read(self._admin.stats(measure.PATTERN), names)
        self._window.add(time.monotonic(), readings)
        draining = [name for name in names if self._serving.is_draining(name)]
        document = {
            "at": time.time(),
            "since": self._envoy_since,
            "generation": self._generation,
            "services": measure.by_service(readings, self._window, draining),
        }
        files.write_json(self._directory / files.STATS, document)
        with suppress(PlatformError):
            self._serving.drop_drained({name: reading.in_flight for name, reading in readings.items()})

    def _bound_logs(self) -> None:
        access_log = self._directory / files.ACCESS_LOG
        if 0 < self._settings.access_log_bytes < files.size(access_log):
            os.replace(access_log, access_log.with_name(access_log.name + ".1"))
            self._admin.tell("/reopen_logs")
        if files.size(self._directory / files.ENVOY_LOG) > ENVOY_LOG_BYTES:
            os.truncate(self._directory / files.ENVOY_LOG, 0)

    def _drain(self) -> None:
        """Take no new connection, let what is in flight finish, at most `DRAIN_S`."""
        deadline = time.monotonic() + DRAIN_S
        in_flight = f"http.{envoy.ROUTE_CONFIG}.downstream_rq_active"
        with suppress(OSError):
            self._admin.tell("/healthcheck/fail")  # answers on kept connections now say `connection: close`
            self._admin.tell("/drain_listeners")
            while time.monotonic() < deadline and self._admin.values(f"^{in_flight}$").get(in_flight):
                time.sleep(POLL_S)

    def _report(self) -> None:
        serves = self._envoy_since is not None
        error = self._envoy_error or self._routes_error
        status: dict[str, Any] = {
            "generation": self._generation if serves else None,
            "at": time.time(),
            "listener": f"{self._settings.host}:{self._port}" if serves else None,
            "admin": self._admin.address,
            "envoy_pid": self._envoy.pid,
            "gateway_pid": os.getpid(),
            "error": error and {"code": error.code, "detail": error.text("en"), "params": error.params},
        }
        files.write_json(self._directory / files.STATUS, status)
