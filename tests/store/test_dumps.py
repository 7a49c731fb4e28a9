"""A snapshot goes to JSON and comes back equal, and so does the plan made of it."""

from datetime import timedelta

import pytest

from headway.domain.errors import PlatformError
from headway.domain.ids import JobId
from headway.domain.quota import Branch, Budget, Entry, Grant, QuotaTree
from headway.scheduler.cycle import schedule
from headway.scheduler.snapshot import Runtimes, Snapshot, Window
from headway.store.dumps import dump, read
from tests.builders import HOUR, NOW, a_hold, a_node, a_queued, a_running


def a_full_snapshot() -> Snapshot:
    """One with something in every field."""
    entry = Entry(8, None, 4, 2.0, 6, Budget(1.5, None))
    return Snapshot(
        version=7,
        now=NOW,
        nodes=(a_node("n1"), a_node("n2", labels={"switch": "s1"})),
        running=(a_running("j-r", {"n1": (0, 1)}, saved_at=NOW - HOUR, limit=2 * HOUR),),
        queued=(
            a_queued("j-1", 8, excluded=frozenset({"n1"}), remaining=timedelta(seconds=1.5), after=(JobId("j-0"),)),
            a_queued("j-2", 8, 2, types=("h200",), not_before=NOW + HOUR),
        ),
        quotas={("vision", "h200"): 8},
        holds=(a_hold("j-2", {"n2": (0,)}),),
        tree=QuotaTree({"vision": Branch("vision", None, True, {"h200": entry})}),
        grants=(Grant("vision", "h200", 2, NOW, NOW + HOUR, "评测", "bob"),),
        usage={("vision", "h200"): 1.25},
        spent={("vision", "h200"): 2.5},
        finished={JobId("j-0"): True},
        windows=(Window("power", NOW + HOUR, NOW + 2 * HOUR, frozenset({"n2"})),),
        runtimes=Runtimes({"t@1": (1.0, 2.0)}, {("size", "8"): (3.0,), ("all",): (4.0, 5.0)}),
    )


def test_a_snapshot_comes_back_equal() -> None:
    assert read(dump(a_full_snapshot())) == a_full_snapshot()


def test_the_plan_of_a_dumped_snapshot_is_the_same() -> None:
    assert schedule(read(dump(a_full_snapshot()))) == schedule(a_full_snapshot())


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"version": "x"}'])
def test_what_is_no_dump_is_refused(text: str) -> None:
    with pytest.raises(PlatformError) as refused:
        read(text)
    assert refused.value.code == "dump-unreadable"
