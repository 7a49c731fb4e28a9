"""Live: a gateway's start, stop, death and bad days, with a real Envoy."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from headway.gateway import files, process
from headway.gateway.serve import DRAIN_S
from tests.gateway.running import (
    DEADLINE_S,
    Clients,
    Running,
    ask,
    running,
    service,
    started,
    until,
    write_routes,
)
from tests.gateway.upstream import Upstream

pytestmark = pytest.mark.live


def routes(generation: int, *services: dict[str, Any]) -> str:
    return json.dumps({"generation": generation, "services": services})


def is_gone(pid: int) -> bool:
    """Whether all threads of a process have ended; that nobody has asked for its exit code does not matter."""
    tasks = Path("/proc", str(pid), "task")
    try:
        names = os.listdir(tasks)
    except (FileNotFoundError, ProcessLookupError):
        return True
    return all(_has_ended(tasks / name) for name in names)


def _has_ended(task: Path) -> bool:
    """A thread that goes between the listing and the reading has ended; its brothers may still hold the port."""
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


def asking(gateway: Running, path: str, answers: list[tuple[int, dict[str, Any]]]) -> threading.Thread:
    """Send one request and return the thread that reads its answer."""
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=DEADLINE_S)
    connection.connect()

    def read() -> None:
        answers.append(ask(connection, path))
        connection.close()

    thread = threading.Thread(target=read)
    thread.start()
    return thread


def test_routes_already_there_are_served_from_the_start(tmp_path: Path) -> None:
    with Upstream("one") as one:
        write_routes(tmp_path, routes(7, service([("v1", 100, [one.endpoint])])))
        with running(tmp_path) as gateway:
            until(lambda: gateway.status()["generation"] == 7, "generation 7")
            assert gateway.get()[0] == 200
            status = gateway.status()
            assert status["error"] is None
            assert status["envoy_pid"] != gateway.process.pid


def test_bad_routes_are_refused_and_the_former_are_served_on(tmp_path: Path) -> None:
    with Upstream("one") as one, running(tmp_path) as gateway:
        good = service([("v1", 100, [one.endpoint])])
        gateway.serve(1, good)
        bad = {
            "{": "routes-unreadable",
            routes(2, service([("v1", 90, [one.endpoint])])): "routes-refused",
            routes(2, {**good, "color": "red"}): "routes-refused",
            routes(2, good, good): "routes-refused",
            routes(2, service([("v1", 100, [])])): "routes-refused",
            "[" * 100_000: "routes-unreadable",
        }
        for text, code in bad.items():
            gateway.write(text)
            error = gateway.await_error()
            assert error["code"] == code
            assert gateway.status()["generation"] == 1
            assert gateway.get()[0] == 200
            gateway.write(routes(1, good))
            until(lambda: gateway.status()["error"] is None, "the error to go with good routes")


def test_bad_routes_met_at_the_start_leave_the_last_good_ones_served(tmp_path: Path) -> None:
    with Upstream("one") as one:
        with running(tmp_path) as gateway:
            gateway.serve(3, service([("v1", 100, [one.endpoint])]))
            assert gateway.stop() == 0
        write_routes(tmp_path, "{}")
        with running(tmp_path) as gateway:
            assert gateway.await_error()["code"] == "routes-refused"
            assert gateway.status()["generation"] == 3
            assert gateway.get()[0] == 200


def test_sigterm_lets_a_request_in_flight_finish_and_takes_no_new_one(tmp_path: Path) -> None:
    with Upstream("one") as one, running(tmp_path) as gateway:
        gateway.serve(1, service([("v1", 100, [one.endpoint])]))
        port, envoy_pid = gateway.port, gateway.status()["envoy_pid"]
        answers: list[tuple[int, dict[str, Any]]] = []
        thread = asking(gateway, "/s/nlp/chat/slow", answers)
        until(lambda: one.slow == 1, "the slow request at the upstream")
        gateway.process.send_signal(signal.SIGTERM)
        until(lambda: not accepts(port), "the port to close")
        thread.join(DEADLINE_S)
        assert answers == [(200, {"from": "one", "path": "/slow"})]
        assert gateway.process.wait(DEADLINE_S) == 0
        assert is_gone(envoy_pid)
        status = gateway.status()
        assert (status["listener"], status["envoy_pid"], status["generation"]) == (None, None, None)


def test_sigterm_waits_no_longer_than_the_drain_for_an_endless_stream(tmp_path: Path) -> None:
    with Upstream("one", chunks=10_000) as one, running(tmp_path) as gateway:
        gateway.serve(1, service([("v1", 100, [one.endpoint])]))
        connection = HTTPConnection("127.0.0.1", gateway.port, timeout=DEADLINE_S)
        connection.request("GET", "/s/nlp/chat/stream")
        answer = connection.getresponse()
        assert answer.readline() == b"data: one 0\n"
        asked_at = time.monotonic()
        assert gateway.stop() == 0
        assert DRAIN_S <= time.monotonic() - asked_at < 4 * DRAIN_S
        connection.close()


def test_a_killed_gateway_leaves_no_envoy_and_its_successor_serves_on_the_same_port(tmp_path: Path) -> None:
    with Upstream("one") as one:
        with running(tmp_path) as gateway:
            gateway.serve(1, service([("v1", 100, [one.endpoint])]))
            port, envoy_pid = gateway.port, gateway.status()["envoy_pid"]
            gateway.process.kill()
            gateway.process.wait(DEADLINE_S)
            until(lambda: is_gone(envoy_pid), "Envoy to die with its gateway")
            assert not accepts(port)
        with running(tmp_path, "--port", str(port)) as successor:
            until(lambda: successor.status()["generation"] == 1, "generation 1 again")
            assert successor.port == port
            assert successor.get()[0] == 200


def test_a_killed_envoy_is_started_again_with_the_same_routes_on_the_same_port(tmp_path: Path) -> None:
    with Upstream("one") as one, running(tmp_path) as gateway:
        gateway.serve(4, service([("v1", 100, [one.endpoint])]))
        before = gateway.status()
        os.kill(before["envoy_pid"], signal.SIGKILL)
        until(lambda: gateway.status()["envoy_pid"] not in (None, before["envoy_pid"]), "another Envoy")
        until(lambda: gateway.status()["generation"] == 4, "generation 4 again")
        assert gateway.status()["listener"] == before["listener"]
        assert gateway.get()[0] == 200
        gateway.serve(5)
        assert gateway.get()[1]["code"] == "no-such-service"


def test_a_second_gateway_in_the_directory_is_refused(tmp_path: Path) -> None:
    with running(tmp_path) as gateway, started(tmp_path) as second:
        assert second.process.wait(DEADLINE_S) == 5
        assert f"pid {gateway.process.pid}" in (tmp_path / "gateway.log").read_text()
        assert gateway.get("/")[0] == 404


def test_a_lock_held_for_a_moment_by_somebody_asking_is_waited_for(tmp_path: Path) -> None:
    with open(tmp_path / "gateway.lock", "w") as asking:
        fcntl.flock(asking, fcntl.LOCK_EX)
        threading.Timer(0.3, fcntl.flock, (asking, fcntl.LOCK_UN)).start()
        held = files.take_lock(tmp_path)
    assert (tmp_path / "gateway.lock").read_text() == f"{os.getpid()}\n"
    os.close(held)


def test_a_taken_port_is_an_error_until_it_is_free(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with started(tmp_path, "--port", str(port)) as gateway:
            error = gateway.await_error()
            assert error["code"] == "envoy-refused"
            assert "in use" in error["detail"]
            taken.close()
            gateway.await_serving()
            assert gateway.port == port
            assert gateway.status()["error"] is None


def test_the_access_log_names_service_and_version_and_is_rotated(tmp_path: Path) -> None:
    with Upstream("one") as one, running(tmp_path, "--access-log-mib", "1") as gateway:
        gateway.serve(1, service([("v1", 100, [one.endpoint])]))
        with Clients(gateway.port):
            until(lambda: (tmp_path / "access.log.1").exists(), "a rotated log")
            until(lambda: (tmp_path / "access.log").exists(), "a new log")
        line = json.loads((tmp_path / "access.log.1").read_text().splitlines()[0])
    assert (line["project"], line["service"], line["version"], line["code"]) == ("nlp", "chat", "v1", 200)
    assert line["request_id"]
    assert line["duration_ms"] >= 0


def test_without_an_access_log_none_is_written(tmp_path: Path) -> None:
    with running(tmp_path, "--access-log-mib", "0") as gateway:
        assert gateway.get("/")[0] == 404
        assert gateway.stop() == 0
    assert not (tmp_path / "access.log").exists()


def test_admin_answers_on_a_port_when_one_is_given(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running(tmp_path, "--admin-port", str(port)) as gateway:
        assert gateway.status()["admin"] == f"127.0.0.1:{port}"
        assert accepts(port)


def test_a_missing_envoy_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(process.PlatformError) as caught:
        process.find_envoy()
    assert caught.value.code == "envoy-missing"
    assert "headway[server]" in caught.value.hint("en")


def test_the_gateway_loads_nothing_of_the_server() -> None:
    unwanted = "{'fastapi', 'sqlalchemy', 'headway.server'}"
    code = f"import sys, headway.gateway.main; print(sorted({unwanted} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"
