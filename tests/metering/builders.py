"""Intervals, facts and zones as the tests of metering want them."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from headway.domain.attempt import Outcome
from headway.domain.events import AttemptEnded, AttemptPlaced
from headway.domain.ids import AttemptId, JobId
from headway.domain.resources import Placement
from headway.metering.entries import OCCUPANCY, RESIDENT, Interval

SHANGHAI = ZoneInfo("Asia/Shanghai")
ZONES = [
    "UTC",
    "Asia/Shanghai",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Asuncion",
    "America/Sao_Paulo",
    "Asia/Amman",
    "Asia/Kathmandu",
    "Pacific/Apia",
    "Africa/Casablanca",
]
NOVEMBER = datetime(2026, 11, 3, tzinfo=UTC)


def an_interval(start=NOVEMBER, seconds=60.0, *, job="j-22222222", number=1, devices=2, **more) -> Interval:
    """`seconds` None: still open."""
    end = None if seconds is None else start + timedelta(seconds=seconds)
    values = {"project": "llm", "device_type": "cpu", "basis": OCCUPANCY, **more}
    return Interval(
        job=JobId(job), attempt=AttemptId(f"{job}.{number}"), devices=devices, start=start, end=end, **values
    )


def placed(interval: Interval) -> AttemptPlaced:
    return AttemptPlaced(
        at=interval.start,
        by="server",
        job=interval.job,
        attempt=interval.attempt,
        project=interval.project,
        device_type=interval.device_type,
        placements=(Placement("n1", tuple(range(interval.devices))),),
        basis=interval.basis,
    )


def ended(interval: Interval) -> AttemptEnded:
    assert interval.end is not None
    return AttemptEnded(
        at=interval.end, by="server", job=interval.job, attempt=interval.attempt, outcome=Outcome.SUCCEEDED
    )


moments = st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
zones = st.sampled_from(ZONES).map(ZoneInfo)
lengths = st.one_of(st.floats(0, 5), st.floats(0, 200 * 86400))


@st.composite
def interval_lists(draw, *, may_be_open=True):
    """Intervals of a few jobs of two projects around the turn of one month."""
    found = []
    for number in range(draw(st.integers(0, 8))):
        start = datetime(2026, 10, 25, tzinfo=UTC) + timedelta(seconds=draw(st.floats(0, 12 * 86400)))
        seconds = draw(st.one_of(st.none(), st.floats(0, 40 * 86400)) if may_be_open else st.floats(0, 40 * 86400))
        found.append(
            an_interval(
                start,
                seconds,
                job=f"j-{draw(st.integers(1, 3))}",
                number=number,
                devices=draw(st.integers(1, 9)),
                project=draw(st.sampled_from(["llm", "rl"])),
                device_type=draw(st.sampled_from(["cpu", "h800"])),
                basis=draw(st.sampled_from([OCCUPANCY, RESIDENT])),
            )
        )
    return found
