"""Why jobs wait and when they may start: replaced whole, read one by one."""

from dataclasses import fields
from typing import get_args

import pytest
from sqlalchemy import Connection

from headway.domain.ids import JobId
from headway.scheduler.plan import BehindOthers, CapacityShort, Forecast, Reason, Waits
from headway.store import plans, world
from tests.store.rows import JOB, NOW, later

REASONS = get_args(Reason)
OTHER = JobId("j-bbbbbbbb")


def an_example(of: type) -> Reason:
    """A reason with a different number in each field."""
    values = {
        f.name: NOW if "datetime" in str(f.type) else n if f.type is int else float(n) if f.type is float else f"x{n}"
        for n, f in enumerate(fields(of))
    }
    reason: Reason = of(**values)
    return reason


@pytest.mark.parametrize("of", REASONS)
def test_every_reason_comes_back_as_it_was(c: Connection, of: type) -> None:
    wait = Waits(JOB, 3, an_example(of), ahead=(OTHER,), reserved_at=later(9))
    plans.put_waits(c, [wait], NOW)
    read = plans.waits(c, JOB)
    assert read == wait
    assert type(read.reason) is of if read else False


def test_waits_are_replaced_whole_and_leave_the_world_as_it_is(c: Connection) -> None:
    version = world.version(c)
    plans.put_waits(c, [Waits(JOB, 1, BehindOthers(OTHER, None)), Waits(OTHER, 2, BehindOthers(JOB, NOW))], NOW)
    replaced = Waits(OTHER, 1, CapacityShort("cpu", 4, 2, 1, 0))
    plans.put_waits(c, [replaced], later(1))
    assert plans.waits(c, JOB) is None
    assert plans.waits(c, OTHER) == replaced
    plans.put_waits(c, [], later(2))
    assert plans.waits(c, OTHER) is None
    assert world.version(c) == version


def test_forecasts_are_replaced_whole(c: Connection) -> None:
    known, unknown = Forecast(JOB, NOW, later(60), later(600)), Forecast(OTHER, NOW, unknown="no-history")
    plans.put_forecasts(c, [known, unknown])
    assert [plans.forecast(c, JOB), plans.forecast(c, OTHER)] == [known, unknown]
    plans.put_forecasts(c, [unknown])
    assert plans.forecast(c, JOB) is None
    plans.put_forecasts(c, [])
    assert plans.forecast(c, OTHER) is None
