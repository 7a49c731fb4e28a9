"""`headway-gateway`: the process that keeps inference traffic flowing.

Reads its arguments, takes the directory's lock and runs the loop. Decides nothing else.
"""

import argparse
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog

from headway.domain.errors import PlatformError
from headway.gateway import files
from headway.gateway.serve import Gateway, Settings

DONE, FAILED, REFUSED = 0, 1, 5
MIB = 1024 * 1024


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the gateway; exits 0 after SIGTERM, 5 when another one serves the directory, 1 when Envoy is missing."""
    settings = _settings(arguments)
    structlog.configure(
        processors=[
            structlog.processors.TimeStamper(fmt="iso", key="at"),
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    settings.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The admin socket is named relative to here: a Unix socket's path may not exceed 107 bytes.
    os.chdir(settings.directory)
    try:
        lock = files.take_lock(settings.directory)
        _serve(Gateway(settings))
        os.close(lock)
    except PlatformError as error:
        print(f"headway-gateway: {error}\n  {error.hint('en')}", file=sys.stderr)
        sys.exit(REFUSED if error.code == "gateway-running" else FAILED)
    sys.exit(DONE)


def _serve(gateway: Gateway) -> None:
    def stop(*_: object) -> None:
        gateway.stopping = True

    # Envoy inherits the limit and needs two descriptors a request.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    gateway.run()


def _settings(arguments: Sequence[str] | None) -> Settings:
    parser = argparse.ArgumentParser(prog="headway-gateway", description="Serve inference traffic by version share.")
    run = parser.add_subparsers(required=True, metavar="COMMAND").add_parser("run", help="serve until SIGTERM")
    run.add_argument("--dir", type=Path, required=True, help="where routes.json, status.json and stats.json live")
    run.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    run.add_argument("--port", type=_port, default=8471, help="port to listen on; 0: any (default %(default)s)")
    run.add_argument(
        "--admin-port", type=_port, help="Envoy's admin on this port of 127.0.0.1 (default: a Unix socket)"
    )
    run.add_argument("--concurrency", type=int, default=1, help="Envoy's worker threads (default %(default)s)")
    run.add_argument(
        "--access-log-mib", type=int, default=64, help="rotate at this size; 0: none (default %(default)s)"
    )
    given = parser.parse_args(arguments)
    return Settings(
        directory=given.dir.resolve(),
        host=given.host,
        port=given.port,
        admin_port=given.admin_port,
        concurrency=given.concurrency,
        access_log_bytes=given.access_log_mib * MIB,
    )


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return number


if __name__ == "__main__":
    main()
