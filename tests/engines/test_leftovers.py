"""What is left of ended attempts is removed whole, once nothing in it is left to tell."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.domain.ids import AttemptId
from headway.engines import leftovers
from headway.engines.protocol import LaunchOrder, Sight
from tests.engines.contract import Plan
from tests.engines.machine import LocalSubject


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[LocalSubject]:
    subject = LocalSubject(tmp_path)
    yield subject
    subject.close()


def until_closed(subject: LocalSubject, order: LaunchOrder) -> None:
    """Launch it, and look until the engine has finished with it."""
    handle = subject.launch(order)
    subject.until_seen(Sight.ENDED, handle)

    def is_closed() -> bool:
        asyncio.run(subject.engine.observe([handle]))
        return all(place.has("closed.json") for place in subject.places(order.attempt))

    subject.until(is_closed, "the attempt to be closed")


def test_an_attempt_that_runs_is_kept_and_one_that_has_told_everything_goes(subject: LocalSubject) -> None:
    runs, ends = subject.order(Plan.RUNS), subject.order(Plan.SUCCEEDS)
    subject.launch(runs)
    until_closed(subject, ends)
    assert set(asyncio.run(subject.engine.kept())) == {runs.attempt, ends.attempt}
    assert asyncio.run(subject.engine.clear(runs.attempt)) is None
    freed = asyncio.run(subject.engine.clear(ends.attempt))
    assert freed is not None
    assert freed > 0
    assert list(asyncio.run(subject.engine.kept())) == [runs.attempt]
    assert subject.places(runs.attempt)
    assert not subject.places(ends.attempt)


@pytest.mark.parametrize("untold", ["output", "end"])
def test_what_was_not_delivered_keeps_the_folder(subject: LocalSubject, untold: str) -> None:
    ends = subject.order(Plan.SUCCEEDS)
    until_closed(subject, ends)
    (place, *_) = subject.places(ends.attempt)
    piece = place.path / "spool/rank-0/00000000000000000000.log"
    if untold == "output":
        piece.parent.mkdir(parents=True)
        piece.write_text("loss 1.0\n")
    else:
        place.write("final.json", place.read("final.json") | {"delivered": False})
    assert asyncio.run(subject.engine.clear(ends.attempt)) is None
    assert place.exists
    piece.unlink(missing_ok=True)
    place.write("final.json", place.read("final.json") | {"delivered": True})
    assert asyncio.run(subject.engine.clear(ends.attempt)) is not None


def test_a_removal_that_was_cut_short_is_finished_and_is_no_attempt_meanwhile(subject: LocalSubject) -> None:
    run_dir = subject.settings.run_dir
    cut = run_dir / (leftovers.HIDDEN + "j-a.1") / "n1"
    cut.mkdir(parents=True)
    (cut / "order.json").write_text(json.dumps({}))
    subject.reopen()
    assert not subject.places("j-a.1")
    assert list(asyncio.run(subject.engine.kept())) == ["j-a.1"]
    assert asyncio.run(subject.engine.clear(AttemptId("j-a.1"))) == 2
    assert list(run_dir.iterdir()) == []


def test_nothing_is_followed_out_of_a_folder(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "weights").write_text("x" * 1000)
    rank = tmp_path / "run/j-a.1/n1/rank-0"
    rank.mkdir(parents=True)
    (rank / "data").symlink_to(precious)
    (rank / "file").symlink_to(precious / "weights")
    (rank / "events.jsonl").write_text("{}\n")
    assert leftovers.remove(tmp_path / "run", AttemptId("j-a.1")) < 1000
    assert (precious / "weights").read_text() == "x" * 1000
    assert list((tmp_path / "run").iterdir()) == []
