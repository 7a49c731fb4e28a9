"""The Slurm engine passes the contract on a real Slurm of four nodes with two types of devices."""

import pytest

from tests.engines.contract import Contract
from tests.engines.slurm_site import SlurmSubject

pytestmark = pytest.mark.live


@pytest.fixture
def subject(slurm: SlurmSubject) -> SlurmSubject:
    return slurm


class TestSlurm(Contract):
    pass
