"""The command line against a stub server, in a known zone and language."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headway.cli.main import run
from tests.sdk.stub import Stub, serving


@dataclass(frozen=True)
class Ran:
    """What a command ended with and said."""

    code: int
    out: str
    err: str


Headway = Callable[..., Ran]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A home of its own, a zone eight hours east, English, and nothing of the tester's own settings."""
    for name in (
        "HEADWAY_URL",
        "HEADWAY_TOKEN",
        "HEADWAY_CA_FILE",
        "HEADWAY_LANG",
        "LC_ALL",
        "LC_MESSAGES",
        "LANG",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEADWAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def headway(stub: Stub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Headway:
    """Runs one command, logged in to the stub."""
    monkeypatch.setenv("HEADWAY_URL", stub.url)
    monkeypatch.setenv("HEADWAY_TOKEN", "hw_secret")
    monkeypatch.setattr("headway.cli.follow.LOOK_S", 0.01)

    def call(*words: str, language: str = "en") -> Ran:
        monkeypatch.setenv("HEADWAY_LANG", language)
        code = run(words)
        said = capfd.readouterr()
        return Ran(code, said.out, said.err)

    return call
