"""Folders of attempts that ended days ago are removed, each removal a fact; all others stay."""

import asyncio
from collections.abc import Collection
from datetime import timedelta

import pytest

from headway.domain.attempt import Outcome
from headway.domain.errors import PlatformError
from headway.domain.events import RunFilesRemoved
from headway.domain.ids import AttemptId
from headway.domain.lifecycle import AttemptState
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import World
from headway.engines.protocol import Capability
from headway.server.loops.clear import clear
from headway.server.platform import Platform
from headway.store import attempts, facts, jobs
from tests.builders import a_job
from tests.server.conftest import Clock
from tests.store.rows import an_attempt


class Keeping(FakeEngine):
    """Has files of attempts; those in `untold` it does not let go."""

    can = frozenset({Capability.CLEARS})

    def __init__(self, files: dict[str, int]) -> None:
        super().__init__(World(), "local")
        self.files, self.untold, self.is_away = {AttemptId(id): size for id, size in files.items()}, set[str](), False

    async def kept(self) -> Collection[AttemptId]:
        if self.is_away:
            raise PlatformError("engine-unreachable", engine=self.name, detail="cut off")
        return list(self.files)

    async def clear(self, attempt: AttemptId) -> int | None:
        return None if attempt in self.untold else self.files.pop(attempt)


@pytest.fixture
def engine(platform: Platform, clock: Clock) -> Keeping:
    """One attempt ended long ago, one lately, one runs; a folder is of nobody known."""
    engine = Keeping({"j-old.1": 100, "j-new.1": 200, "j-runs.1": 300, "stranger": 400})
    platform.engines["local"] = engine
    days = platform.settings.run_files_days
    ended = {"j-old": clock.at - timedelta(days=days), "j-new": clock.at - timedelta(days=days - 1), "j-runs": None}
    with platform.database.write() as c:
        for name, at in ended.items():
            jobs.insert(c, a_job(name))
            attempts.insert(c, an_attempt(name, state=AttemptState.RUNNING), f"digest-{name}")
            if at is not None:
                attempts.move(c, an_attempt(name).id, AttemptState.ENDED, at=at, outcome=Outcome.FAILED)
    return engine


def removed(platform: Platform) -> list[RunFilesRemoved]:
    with platform.database.read() as c:
        found = facts.since(c, 0, kinds={RunFilesRemoved.kind})
    return [recorded.fact for recorded in found if isinstance(recorded.fact, RunFilesRemoved)]


def test_only_attempts_that_ended_long_enough_ago_lose_their_files_and_it_is_recorded(
    platform: Platform, engine: Keeping, clock: Clock
) -> None:
    asyncio.run(clear(platform))
    assert list(engine.files) == ["j-new.1", "j-runs.1", "stranger"]
    (said,) = removed(platform)
    assert (said.job, said.attempt, said.engine, said.bytes) == ("j-old", "j-old.1", "local", 100)
    clock.move(timedelta(days=1))
    asyncio.run(clear(platform))
    asyncio.run(clear(platform))
    assert list(engine.files) == ["j-runs.1", "stranger"]
    assert [each.attempt for each in removed(platform)] == ["j-old.1", "j-new.1"]


def test_what_is_untold_stays_until_it_is_told_and_an_engine_that_is_away_is_asked_again(
    platform: Platform, engine: Keeping
) -> None:
    engine.untold.add("j-old.1")
    asyncio.run(clear(platform))
    engine.untold.clear()
    engine.is_away = True
    asyncio.run(clear(platform))
    assert ("j-old.1" in engine.files, removed(platform)) == (True, [])
    engine.is_away = False
    asyncio.run(clear(platform))
    assert ("j-old.1" in engine.files, len(removed(platform))) == (False, 1)
