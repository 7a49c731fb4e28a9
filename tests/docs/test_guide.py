"""The guides, followed word for word: every command is run in order, and what it prints is what the guide shows."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headway.server import running
from headway.server.settings import Settings
from tests.docs.markdown import Command, SavedFile, Step, sections
from tests.docs.shell import Shell
from tests.live.platform import Platform, free_port

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDES = {"en": DOCS / "guide.en.md", "zh": DOCS / "guide.zh.md"}
PORTS = ("8470", "8471")


class Reader:
    """Somebody who follows a guide in a folder of their own, on other ports than the guide's."""

    def __init__(self, language: str, folder: Path) -> None:
        self.folder = folder
        self.ports = dict(zip(PORTS, (str(free_port()), str(free_port())), strict=True))
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY")}
        own = {
            "HEADWAY_LANG": language,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
        }
        own |= {"HEADWAY_SERVER_PORT": self.ports["8470"], "HEADWAY_SERVER_GATEWAY_PORT": self.ports["8471"]}
        self.environment = kept | own

    def follow(self, steps: list[Step], **variables: str) -> None:
        """Save each file, run each command."""
        with closing(Shell(self.folder, self.environment | variables)) as shell:
            for step in steps:
                if isinstance(step, SavedFile):
                    (self.folder / step.name).write_text(step.text, encoding="utf-8")
                else:
                    self._type(shell, step)

    def _type(self, shell: Shell, command: Command) -> None:
        code, output = shell.run(self._with_ports(command.text))
        expected = self._with_ports("\n".join(command.printed))
        said = f"line {command.line}: $ {command.text}\n--- shown\n{expected}\n--- printed ({code})\n{output}"
        assert code == 0, said
        assert Command(command.line, command.text, tuple(expected.splitlines())).fits(output), said

    def _with_ports(self, text: str) -> str:
        for shown, real in self.ports.items():
            text = text.replace(shown, real)
        return text

    def leave(self) -> None:
        """End whatever a guide that broke off has left."""
        for lock in self.folder.glob("*/server.lock"):
            running.stop(Settings(home=lock.parent))
            Platform(lock.parent).close()


@pytest.fixture(params=GUIDES)
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    """A reader of each language; Unix socket paths are limited, so not under pytest's own folder."""
    folder = Path(tempfile.mkdtemp(prefix="headway-guide-"))
    found = Reader(request.param, folder)
    yield found
    found.leave()
    shutil.rmtree(folder)


def steps_of(reader: Reader, *, postgresql: bool) -> list[Step]:
    guide = GUIDES[reader.environment["HEADWAY_LANG"]]
    return [
        step for heading, steps in sections(guide).items() if ("PostgreSQL" in heading) == postgresql for step in steps
    ]


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_reader_who_follows_the_guide_sees_what_it_shows(reader: Reader) -> None:
    """Slow: an hour of a newcomer's life in about a minute, training, serving and waiting included."""
    reader.follow(steps_of(reader, postgresql=False))


@pytest.mark.live
def test_a_reader_who_follows_the_guide_to_postgresql_sees_what_it_shows(reader: Reader, postgresql_url: str) -> None:
    reader.follow(steps_of(reader, postgresql=True), DATABASE_URL=postgresql_url)


def test_both_guides_have_the_same_commands_and_files_in_the_same_order() -> None:
    english, chinese = (
        [
            [(step.name, step.text) if isinstance(step, SavedFile) else step.text for step in steps]
            for steps in guide.values()
        ]
        for guide in (sections(GUIDES["en"]), sections(GUIDES["zh"]))
    )
    assert english == chinese


@pytest.mark.parametrize("language", GUIDES)
def test_every_command_shows_what_it_prints_or_prints_nothing(language: str) -> None:
    steps = [step for steps in sections(GUIDES[language]).values() for step in steps]
    assert sum(isinstance(step, Command) for step in steps) > 40
    assert {step.name for step in steps if isinstance(step, SavedFile)} >= {"train.py", "line.toml", "serve.py"}
