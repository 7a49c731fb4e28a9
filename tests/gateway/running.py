"""A real `headway-gateway` in a directory of its own, and what a client and the server see of it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
DEADLINE_S = 60.0
Split = tuple[str, int, list[str]]


def until(found: Callable[[], T | None], what: str) -> T:
    """Wait for something to be there; fails loudly after a minute."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        value = found()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {DEADLINE_S:g} s: {what}")


def service(splits: list[Split], name: str = "chat", project: str = "nlp") -> dict[str, Any]:
    listed = [{"version": version, "weight": weight, "endpoints": ends} for version, weight, ends in splits]
    return {"name": name, "project": project, "splits": listed}


class Running:
    """The files and the port of a gateway process."""

    def __init__(self, directory: Path, process: subprocess.Popen[bytes]) -> None:
        self.directory = directory
        self.process = process

    def status(self) -> dict[str, Any]:
        """The status written by this very process; empty before that."""
        found = self._json("status.json")
        return found if found.get("gateway_pid") == self.process.pid else {}

    def stats(self) -> dict[str, Any]:
        return self._json("stats.json")

    @property
    def port(self) -> int:
        return int(str(self.status()["listener"]).rpartition(":")[2])

    def write(self, text: str) -> None:
        """Move a routes file into place as the server does."""
        write_routes(self.directory, text)

    def serve(self, generation: int, *services: dict[str, Any]) -> None:
        """Write routes and wait until they are acknowledged."""
        self.write(json.dumps({"generation": generation, "services": services}))
        until(lambda: self.status().get("generation") == generation, f"generation {generation}: {self.status()}")

    def await_serving(self) -> None:
        until(lambda: self.status().get("listener"), f"a listener: {self.status()}")

    def await_error(self) -> dict[str, Any]:
        return until(lambda: self.status().get("error"), "an error in the status")

    def get(self, path: str = "/s/nlp/chat/v1/models", **headers: str) -> tuple[int, dict[str, Any]]:
        """One request on a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_S)
        try:
            return ask(connection, path, **headers)
        finally:
            connection.close()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)

    def _json(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.directory / name).read_text())
        except FileNotFoundError:
            return {}
        return found


def write_routes(directory: Path, text: str) -> None:
    beside = directory / "routes.json.by-the-test"
    beside.write_text(text)
    os.replace(beside, directory / "routes.json")


def ask(connection: HTTPConnection, path: str, **headers: str) -> tuple[int, dict[str, Any]]:
    """One request; underscores in header names stand for dashes."""
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@contextmanager
def running(directory: Path, *options: str) -> Iterator[Running]:
    """Start a gateway, wait until it serves, and end it afterwards."""
    with started(directory, *options) as gateway:
        gateway.await_serving()
        yield gateway


@contextmanager
def started(directory: Path, *options: str) -> Iterator[Running]:
    """Start a gateway and end it afterwards."""
    command = [sys.executable, "-m", "headway.gateway.main", "run", "--dir", str(directory), "--port", "0", *options]
    with open(directory / "gateway.log", "ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    try:
        yield Running(directory, process)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(DEADLINE_S)


class Clients:
    """Threads that ask without pause, each on a kept connection, and count who answered and what failed."""

    def __init__(self, port: int, threads: int = 4, path: str = "/s/nlp/chat/x") -> None:
        self._port = port
        self._path = path
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self.answers: Counter[str] = Counter()
        self.failures: list[str] = []
        self._threads = [threading.Thread(target=self._ask) for _ in range(threads)]

    def __enter__(self) -> "Clients":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def await_more(self, count: int) -> Counter[str]:
        """Wait for this many further answers and return them by who gave them."""
        with self._lock:
            before = self.answers.copy()

        def enough() -> Counter[str] | None:
            with self._lock:
                more = self.answers - before
            return more if more.total() >= count or self.failures else None

        return until(enough, f"{count} more answers")

    def _ask(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=DEADLINE_S)
        while not self._stop.is_set():
            try:
                code, body = ask(connection, self._path)
                failed = None if code == 200 else f"{code} {body}"
            except (OSError, ValueError) as error:
                code, body, failed = 0, {}, repr(error)
            with self._lock:
                if failed is None:
                    self.answers[body["from"]] += 1
                else:
                    self.failures.append(failed)
        connection.close()
