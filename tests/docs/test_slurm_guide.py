"""The guide to a Slurm site, followed word for word on a real Slurm."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.markdown import Command, sections
from tests.docs.test_guide import DOCS, Reader
from tests.engines.slurm_testbed import Testbed, running

GUIDES = {"en": DOCS / "slurm.en.md", "zh": DOCS / "slurm.zh.md"}

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def site(shared: Path) -> Iterator[Testbed]:
    """Two nodes of eight devices."""
    with running(shared, ("--types", "h200:2", "--accounting", "--isolation", "net")) as testbed:
        yield testbed


@pytest.mark.parametrize("language", GUIDES)
def test_a_reader_who_follows_the_guide_to_slurm_sees_what_it_shows(site: Testbed, language: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="headway-guide-"))
    folder.chmod(0o755)
    reader = Reader(language, folder)
    steps = [step for steps in sections(GUIDES[language]).values() for step in steps]
    known = {"SHARE": str(folder), "ADDRESS": site.host, "SLURM_CONF": str(site.conf), "NODE": min(site.states())}
    try:
        reader.follow(steps, **known)
    finally:
        reader.leave()
        site.mend()
        shutil.rmtree(folder)


def test_both_guides_to_slurm_have_the_same_commands_in_the_same_order() -> None:
    english, chinese = (
        [step.text for steps in sections(GUIDES[language]).values() for step in steps if isinstance(step, Command)]
        for language in ("en", "zh")
    )
    assert english == chinese
    assert len(english) > 10
