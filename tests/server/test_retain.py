"""What is not needed any more is let go of."""

import asyncio
import os
from datetime import datetime, timedelta

from fastapi.testclient import TestClient

from headway.domain.ids import AttemptId
from headway.engines.fake.engine import FakeEngine
from headway.engines.fake.world import World
from headway.server.loops.observe import Observe
from headway.server.loops.retain import retain
from headway.server.platform import Platform
from tests.server.conftest import Clock, Placed


def test_a_model_whose_registering_was_cut_off_is_removed_after_a_day(platform: Platform, clock: Clock) -> None:
    old, young, whole = (platform.models / "tiny" / name for name in (".new-m-old", ".new-m-young", "1"))
    for folder, age in ((old, timedelta(hours=25)), (young, timedelta(hours=23)), (whole, timedelta(days=900))):
        (folder / "hf").mkdir(parents=True)
        at = (clock.now() - age).timestamp()
        os.utime(folder, (at, at))
    asyncio.run(retain(platform))
    assert [folder.exists() for folder in (old, young, whole)] == [False, True, True]


def test_nothing_is_kept_in_memory_of_attempts_that_have_ended(
    http: TestClient, platform: Platform, placed: Placed
) -> None:
    said = '{"kind": "progress", "t": 1762156800.0, "step": 1}\n'
    placed.starts(http)
    placed.says(http, seq=2, events={"0": {"offset": 0, "data": said}})
    asyncio.run(retain(platform))
    assert list(platform.progress_facts) == [placed.attempt]
    placed.ends(http)
    asyncio.run(retain(platform))
    assert platform.progress_facts == {}


def test_what_was_seen_gone_is_forgotten_with_its_attempt(platform: Platform) -> None:
    platform.engines = {"local": FakeEngine(World(), "local")}
    observe = Observe(gone_since={(AttemptId("j-gone.1"), "n1"): datetime.now().astimezone()})
    asyncio.run(observe(platform))
    assert observe.gone_since == {}
