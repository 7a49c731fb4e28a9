"""The guide to the queue, followed word for word: lending, taking back, grants and windows on a real server."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.docs.markdown import Command, SavedFile, sections
from tests.docs.test_guide import DOCS, Reader

GUIDES = {"en": DOCS / "queue.en.md", "zh": DOCS / "queue.zh.md"}


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", GUIDES)
def test_a_reader_who_follows_the_guide_to_the_queue_sees_what_it_shows(language: str) -> None:
    """Slow: devices are lent and come back between real jobs, in about half a minute."""
    folder = Path(tempfile.mkdtemp(prefix="headway-guide-"))
    reader = Reader(language, folder)
    try:
        reader.follow([step for steps in sections(GUIDES[language]).values() for step in steps])
    finally:
        reader.leave()
        shutil.rmtree(folder)


def test_both_guides_to_the_queue_have_the_same_commands_and_files() -> None:
    english, chinese = (
        [
            (step.name, step.text) if isinstance(step, SavedFile) else step.text
            for steps in sections(GUIDES[language]).values()
            for step in steps
        ]
        for language in ("en", "zh")
    )
    assert len(english) > 40
    for mine, theirs in zip(english, chinese, strict=True):
        assert mine == theirs or (isinstance(mine, str) and mine.startswith("until "))
    assert any(isinstance(step, Command) for steps in sections(GUIDES["en"]).values() for step in steps)
