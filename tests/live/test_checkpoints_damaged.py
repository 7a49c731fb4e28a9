"""A checkpoint that was damaged after it was verified is not trusted: the one before is used, or none; it is said."""

from pathlib import Path

import pytest

from headway.sdk.job.manifest import MANIFEST
from tests.live.jobs import TEMPLATE, Work
from tests.live.platform import Platform, wait_until

pytestmark = pytest.mark.live
STATE = "state.pickle"
NEWEST, BEFORE = 30, 20


def _flip_a_byte(checkpoint: Path) -> None:
    content = bytearray((checkpoint / STATE).read_bytes())
    content[len(content) // 2] ^= 1
    (checkpoint / STATE).write_bytes(content)


def _remove_a_file(checkpoint: Path) -> None:
    (checkpoint / STATE).unlink()


def _remove_the_manifest(checkpoint: Path) -> None:
    (checkpoint / MANIFEST).unlink()


DAMAGES = {"wrong-hash": _flip_a_byte, "missing-file": _remove_a_file, "no-manifest": _remove_the_manifest}


@pytest.fixture(scope="module")
def thrifty(house: Platform) -> str:
    """A template whose programs keep two checkpoints."""
    content = TEMPLATE | {"name": "thrifty", "checkpoint": {"keep": 2}}
    house.api.call("POST", "templates", json={"content": content})
    return "thrifty"


def _saved(house: Platform, **submission: str) -> Work:
    """A job whose first attempt has saved at 10, 20 and 30, all of it verified, and waits."""
    work = Work(house, "saving", **submission).submit()

    def is_verified() -> bool:
        known = {row["step"]: row["state"] for row in work.api.call("GET", f"jobs/{work.id}/checkpoints")}
        return known.get(NEWEST) == known.get(BEFORE) == "verified"

    wait_until(is_verified, "the checkpoints are verified", work.story)
    return work


def _folder(work: Work, step: int) -> Path:
    return work.platform.home / "checkpoints" / work.id / f"step-{step:08d}"


def _drill_to_the_end(work: Work) -> None:
    work.api.call("POST", f"jobs/{work.id}/drills", json={"rank": 0})
    assert work.end() == "succeeded", work.story()


def _check_resumed_from(work: Work, step: int) -> None:
    """Decided, launched and restored alike."""
    path = str(_folder(work, step)) if step else None
    decided = work.api.facts(work.id, "recovery-decided")[0]["data"]
    assert (decided["resume"], decided["resume_step"], decided["resume_from"]) == (True, step, path), work.story()
    second = work.api.attempts(work.id)[1]["attempt"]
    assert (second["resume_step"], second["resume_from"]) == (step, path), work.story()
    restored = work.api.facts(work.id, "restored")[-1]["data"]
    assert (restored["attempt"], restored["step"], restored["path"]) == (f"{work.id}.2", step, path), work.story()


def _rejections(work: Work) -> list[tuple[int, str]]:
    found = [fact["data"] for fact in work.api.facts(work.id, "checkpoint-rejected")]
    return [(fact["step"], fact["reason"]) for fact in found]


@pytest.mark.parametrize("reason", DAMAGES)
def test_a_damaged_checkpoint_is_skipped_with_the_reason_and_the_one_before_is_used(
    house: Platform, reason: str
) -> None:
    work = _saved(house)
    DAMAGES[reason](_folder(work, NEWEST))
    _drill_to_the_end(work)
    assert _rejections(work) == [(NEWEST, reason)], work.story()
    _check_resumed_from(work, BEFORE)


def test_with_no_checkpoint_left_the_job_starts_from_step_0_and_says_so(house: Platform, thrifty: str) -> None:
    work = _saved(house, template=thrifty)
    wait_until(lambda: not _folder(work, 10).exists(), "the oldest is thinned", work.story)
    _remove_a_file(_folder(work, NEWEST))
    _flip_a_byte(_folder(work, BEFORE))
    _drill_to_the_end(work)
    assert sorted(set(_rejections(work))) == [(BEFORE, "wrong-hash"), (NEWEST, "missing-file")], work.story()
    _check_resumed_from(work, 0)
    assert b"training starts from step 0" in work.api.log(work.id, 0, attempt=2)
