"""The local engine passes the contract with the real agent, as the zipapp that ships."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.agent.build import build_zipapp
from headway.engines.protocol import Sight
from tests.engines.contract import Contract, Plan
from tests.engines.machine import LocalSubject
from tests.engines.recorder import Recorder

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_zipapp(tmp_path_factory.mktemp("agent") / "headway-agent.pyz")


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder() as running:
        yield running


@pytest.fixture
def subject(tmp_path: Path, zipapp: Path, recorder: Recorder) -> Iterator[LocalSubject]:
    local = LocalSubject(tmp_path, zipapp)
    local.server_url = recorder.url
    yield local
    local.close()


class TestLocalWithTheAgent(Contract):
    pass


def test_what_a_killed_agent_knew_is_delivered_by_another(subject: LocalSubject, recorder: Recorder) -> None:
    order, handle = subject.launch_running(Plan.RUNS)
    subject.kill_agents(order.attempt)
    subject.until_seen(Sight.AGENT_LOST, handle)

    def is_delivered() -> bool:
        subject.observe(handle)
        return subject.place(order.attempt).has("closed.json")

    subject.until(is_delivered, "the directory to be closed")
    last = recorder.reports[order.attempt][-1]
    assert last["ended"]["reason"] == "agent-lost"  # type: ignore[index]
    assert subject.sights(handle) == [Sight.AGENT_LOST]


def test_an_order_that_the_agent_cannot_read_has_ended(subject: LocalSubject) -> None:
    order = subject.order(Plan.RUNS)
    place = subject.place(order.attempt)
    place.make()
    place.write("order.json", {"attempt": order.attempt})
    handle = subject.launch(order)
    subject.until_seen(Sight.ENDED, handle)
    (seen,) = subject.observe(handle)
    assert (seen.detail, seen.start_failure) == ("start-failed: job is missing", "job is missing")
    assert subject.starts(order.attempt) == 0
