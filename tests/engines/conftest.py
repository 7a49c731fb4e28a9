"""A local engine with the stand-in agent; a real Slurm, and an engine on it with the real agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.agent.build import build_zipapp
from headway.engines.slurm import deliver
from tests.engines.machine import LocalSubject
from tests.engines.recorder import Recorder
from tests.engines.slurm_site import SlurmSubject
from tests.engines.slurm_testbed import Testbed, running


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSubject]:
    subject = LocalSubject(tmp_path)
    yield subject
    subject.close()


@pytest.fixture(scope="session")
def testbed(shared: Path) -> Iterator[Testbed]:
    """Four nodes of eight devices, two types, a network of their own and accounting."""
    words = ("--types", "h200:2,ascend910b:2", "--accounting", "--isolation", "net", "--leaf", "2")
    with running(shared, words) as testbed:
        yield testbed


@pytest.fixture(scope="session")
def agent_zipapp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agent as it ships."""
    return build_zipapp(tmp_path_factory.mktemp("agent") / "headway-agent.pyz")


@pytest.fixture
def recorder(testbed: Testbed) -> Iterator[Recorder]:
    """The server's side, at the bridge's address."""
    with Recorder(testbed.host) as running:
        yield running


@pytest.fixture
def slurm(tmp_path: Path, testbed: Testbed, agent_zipapp: Path, recorder: Recorder) -> Iterator[SlurmSubject]:
    """An engine on the testbed; afterwards the testbed is as it was."""
    yield SlurmSubject(tmp_path, testbed, agent_zipapp, recorder)
    for child in deliver.running.values():
        child.kill()
        child.wait()
    deliver.running.clear()
    testbed.mend()
