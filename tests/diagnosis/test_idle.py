"""A held card is idle only where readings show it, from the first quiet one on; without fresh ones it is unknown."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis.idle import FRESH, PATIENCE, QUIET, Activity, Doing, judge

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def minutes_ago(*values: float) -> list[tuple[datetime, float]]:
    """One reading a minute, the last now."""
    return [(NOW - (len(values) - 1 - n) * MINUTE, value) for n, value in enumerate(values)]


def test_a_card_that_went_quiet_is_idle_since_then() -> None:
    seen = minutes_ago(90.0, 80.0, *[0.0] * 15)
    assert judge(seen, NOW, NOW) == Activity(Doing.IDLE, NOW - 14 * MINUTE)


def test_a_card_that_never_worked_is_idle_since_its_first_reading() -> None:
    assert judge(minutes_ago(*[0.0] * 30), NOW, NOW) == Activity(Doing.IDLE, NOW - 29 * MINUTE)


def test_a_short_rest_is_work() -> None:
    assert judge(minutes_ago(90.0, *[0.0] * 10), NOW, NOW).doing is Doing.WORKING
    assert judge(minutes_ago(*[0.0] * 30, 50.0), NOW, NOW).doing is Doing.WORKING


def test_without_fresh_readings_nothing_is_known() -> None:
    assert judge([], None, NOW) == Activity(Doing.UNKNOWN)
    last = NOW - FRESH - MINUTE
    assert judge([(NOW - timedelta(hours=1), 0.0), (last, 0.0)], last, NOW) == Activity(Doing.UNKNOWN, last)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_what_is_idle_was_quiet_all_the_time_since_then(values: list[float]) -> None:
    seen = minutes_ago(*values)
    found = judge(seen, NOW, NOW)
    quiet = [at for at, busy in seen if found.since is not None and at >= found.since and busy < QUIET]
    if found.doing is Doing.IDLE:
        assert found.since is not None
        assert quiet == [at for at, _ in seen if at >= found.since]
        assert NOW - found.since >= PATIENCE
    else:
        assert any(busy >= QUIET for at, busy in seen if at >= NOW - PATIENCE) or len(seen) <= PATIENCE // MINUTE
