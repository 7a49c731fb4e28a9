"""The Slurm engine passes the contract on a real Slurm of four nodes with two types of devices."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.contract import Contract
from tests.engines.slurm_site import SlurmSubject

pytestmark = pytest.mark.live


@pytest.fixture
def subject(slurm: SlurmSubject) -> Iterator[SlurmSubject]:
    yield slurm


class TestSlurm(Contract):
    pass
