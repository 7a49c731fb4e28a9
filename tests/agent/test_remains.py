"""What an attempt left behind is known by its pid and its start, never by the pid alone."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from headway.agent.ranks import processes, remains
from headway.agent.ranks.processes import Process


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "600"])
    yield child
    child.kill()
    child.wait()


@pytest.fixture(params=["pidfd", "without"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels and Pythons with and without pidfd_open."""
    if request.param == "without":
        monkeypatch.setattr(remains, "_hold", lambda _pid: None)


def seen(pid: int) -> Process:
    found = processes.read_process(pid)
    assert found is not None
    return found


@pytest.mark.usefixtures("kernel")
def test_a_process_is_signalled(stranger: subprocess.Popen[bytes]) -> None:
    remains.send(seen(stranger.pid), signal.SIGKILL)
    assert stranger.wait(60) == -signal.SIGKILL


@pytest.mark.usefixtures("kernel")
def test_who_has_the_pid_of_a_process_that_is_gone_is_left_alone(stranger: subprocess.Popen[bytes]) -> None:
    gone = seen(stranger.pid)
    gone.start_ticks -= 1
    remains.send(gone, signal.SIGKILL)
    remains.send(seen(stranger.pid), signal.SIGTERM)
    assert stranger.wait(60) == -signal.SIGTERM


@pytest.mark.usefixtures("kernel")
def test_who_is_gone_is_no_error(stranger: subprocess.Popen[bytes]) -> None:
    gone = seen(stranger.pid)
    stranger.kill()
    stranger.wait()
    remains.send(gone, signal.SIGKILL)
    assert processes.read_process(stranger.pid) is None
