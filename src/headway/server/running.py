"""Run the control plane: take the home's lock, prepare what it needs once, serve until told to stop.

The gateway is a process of its own that outlives this one; so are the agents.
"""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import structlog
import uvicorn
from fastapi import FastAPI

from headway.domain.errors import PlatformError
from headway.server import gateway_process, locks
from headway.server.app import PREFIX, create_app
from headway.server.bootstrap import prepare
from headway.server.collector import relax
from headway.server.home import LOCK, is_served
from headway.server.platform import AGENT, Platform, open_platform
from headway.server.settings import Settings
from headway.server.showcase.home import refuse

log = structlog.get_logger("headway.server")
OUTPUT = "server.log"
START_S = 60.0
STOP_S = 30.0
POLL_S = 0.1


def run(settings: Settings) -> None:
    """Serve until SIGTERM. Raises `server-running` when another has this home, `showcase-home` for a played one."""
    configure_logs()
    refuse(settings.home)
    settings.home.mkdir(parents=True, exist_ok=True)
    lock = locks.take(settings.home / LOCK)
    if lock is None:
        raise PlatformError("server-running", home=str(settings.home))
    with os.fdopen(lock, "rb"), _listen(settings) as listening:
        settings = settings.model_copy(update={"port": listening.getsockname()[1]})
        platform = open_platform(settings, build_agent(settings.home))
        prepare(platform)
        gateway_process.ensure(settings)
        _tell(platform)
        relax()
        uvicorn.Server(_serving(settings, create_app(platform))).run(sockets=[listening])


def _serving(settings: Settings, app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
    )


def start_detached(settings: Settings, arguments: Sequence[str]) -> str:
    """Start the same command in a session of its own and wait until the API answers; returns its address."""
    refuse(settings.home)
    if is_served(settings):
        raise PlatformError("server-running", home=str(settings.home))
    settings.home.mkdir(parents=True, exist_ok=True)
    kept = [word for word in arguments if word != "--detach"]
    with open(settings.home / OUTPUT, "ab", opener=_open_private) as output:
        child = subprocess.Popen(
            [sys.executable, "-m", "headway.server.main", *kept],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and child.poll() is None:
        told = _read_told(settings.home)
        if told is not None and told["pid"] == child.pid and _answers(told["url"], settings.ca_file):
            return str(told["url"])
        time.sleep(POLL_S)
    _end_child(child)
    raise PlatformError("server-start-failed", log=str(settings.home / OUTPUT))


def _end_child(child: "subprocess.Popen[bytes]") -> None:
    """A server that was told not to have started must not come up later."""
    child.terminate()
    try:
        child.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def stop(settings: Settings) -> list[str]:
    """End the server and the gateway of a home, and wait until both are gone; returns those that ran."""
    held = {"server": settings.home / LOCK, "gateway": settings.home / "gateway" / gateway_process.LOCK}
    return [name for name, lock in held.items() if _end(lock)]


def build_agent(home: Path) -> Path:
    """The zipapp that engines launch, built by this version's own sources."""
    target = home / AGENT
    target.parent.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "headway.agent.build", str(target)], check=True, stdout=subprocess.DEVNULL)
    return target


def configure_logs() -> None:
    """One JSON line an event, on stderr."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _listen(settings: Settings) -> socket.socket:
    try:
        return socket.create_server((settings.host, settings.port), backlog=2048)
    except OSError as error:
        raise PlatformError("port-taken", field="port", value=settings.port, detail=error.strerror) from None


def _tell(platform: Platform) -> None:
    """Write where this server is, for the command line and for `down`."""
    told = {"url": platform.url, "pid": os.getpid(), "gateway_port": platform.settings.gateway_port}
    temporary = platform.home / "server.json.new"
    temporary.write_text(json.dumps(told))
    os.replace(temporary, platform.home / "server.json")
    log.info("up", **told)


def _read_told(home: Path) -> dict[str, Any] | None:
    return _read_json(home / "server.json")


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found


def _answers(url: str, ca_file: str | None) -> bool:
    trusted = ssl.create_default_context(cafile=ca_file) if ca_file else True
    try:
        return httpx.get(f"{url}{PREFIX}/health", timeout=2.0, trust_env=False, verify=trusted).status_code == 200
    except httpx.HTTPError:
        return False


def _end(lock: Path) -> bool:
    """Ask whoever holds a lock to end, and wait until it is free; whether anybody held it."""
    deadline = time.monotonic() + STOP_S
    asked: int | None = None
    while locks.is_held(lock):
        if time.monotonic() > deadline:
            raise PlatformError("stop-timeout", value=asked, seconds=int(STOP_S))
        if asked is None and (asked := locks.holder(lock)) is not None:
            os.kill(asked, signal.SIGTERM)
        time.sleep(POLL_S)
    return asked is not None
