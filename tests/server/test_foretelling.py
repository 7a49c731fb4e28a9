"""Start-time ranges are told as earlier ones of their size turned out, and their hit rate is published."""

from dataclasses import replace
from datetime import datetime, timedelta

from fastapi.testclient import TestClient

from headway.domain.ids import JobId
from headway.scheduler.plan import Forecast
from headway.server.operations.queue.calibration import calibrate
from headway.server.operations.queue.foretelling import FURTHEST, learnt, told
from headway.store.predictions import Prediction
from tests.builders import NOW, a_queued, a_snapshot


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def made(number: int, said: float, late: float, came: float, devices: int = 8, project: str = "nlp") -> Prediction:
    """A prediction of `said` seconds, at most `late`, whose job started after `came`."""
    job = JobId(f"j-{number:04}")
    return Prediction(job, project, devices, NOW, after(said), after(said), after(late), after(came))


def test_ranges_learn_from_what_came() -> None:
    past = [made(n, 3600, 4000, 7200) for n in range(60)]
    snapshot = a_snapshot(queued=[a_queued("j-1", 8)])
    drawn = Forecast(JobId("j-1"), NOW, after(3600), after(4000))
    (range_,) = told([drawn], snapshot, learnt(past))
    assert range_.p50 is not None
    assert range_.p90 is not None
    assert after(7000) <= range_.p50 <= range_.p90 <= after(7400)


def test_who_can_still_be_passed_is_told_a_later_start() -> None:
    snapshot = a_snapshot(queued=[a_queued("j-1", 8), a_queued("j-2", 8)])
    drawn = [
        Forecast(JobId("j-1"), NOW, after(3600), after(4000)),
        Forecast(JobId("j-2"), NOW, after(3600), after(4000), passable=timedelta(days=1)),
    ]
    first, second = told(drawn, snapshot, learnt([]))
    assert first.p50 == after(3600)
    assert second.p50 is not None
    assert after(4000) < second.p50 < after(3 * 3600)
    never_passed = [replace(made(n, 3600, 4000, 3600), passable=86400.0) for n in range(100)]
    _, taught = told(drawn, snapshot, learnt(never_passed))
    assert taught.p50 is not None
    assert taught.p50 < second.p50


def test_what_is_unknown_stays_unknown() -> None:
    snapshot = a_snapshot(queued=[a_queued("j-1", 8)])
    unknown = Forecast(JobId("j-1"), NOW, unknown="no-history")
    assert told([unknown], snapshot, learnt([])) == [unknown]


def test_a_start_in_the_farthest_year_does_not_stop_the_ranges_of_others() -> None:
    """Ranges that learnt to be late lengthen each wait, also one that is as long as time can be written."""
    past = [made(n, 3600, 4000, 720_000) for n in range(60)]
    snapshot = a_snapshot(queued=[a_queued("j-1", 8), a_queued("j-2", 8)])
    far = datetime(9999, 12, 31, tzinfo=NOW.tzinfo)
    drawn = [Forecast(JobId("j-1"), NOW, far, far), Forecast(JobId("j-2"), NOW, after(3600), after(4000))]
    first, second = told(drawn, snapshot, learnt(past))
    assert first.p50 is not None
    assert first.p50 == first.p90 == NOW + FURTHEST
    assert second.p50 is not None
    assert second.p50 > after(3600)


def test_hit_rates_are_told_by_project_and_size() -> None:
    past = [made(1, 60, 120, 30), made(2, 60, 120, 90), made(3, 60, 120, 600, devices=64, project="vision")]
    groups = {(group.project, group.size): group for group in calibrate(past)}
    whole = groups[None, None]
    assert (whole.predictions, round(whole.within_p50, 2), round(whole.within_p90, 2)) == (3, 0.33, 0.67)
    assert (groups["nlp", "8"].within_p90, groups["vision", "33+"].within_p90) == (1.0, 0.0)
    assert (groups["nlp", None].median_error_s, groups["vision", None].median_error_s) == (30, 540)


def test_everybody_may_read_the_hit_rate(http: TestClient, admin: dict[str, str]) -> None:
    told = http.get("forecast/calibration", params={"days": 7}, headers=admin).json()
    assert told == {"since": "2026-10-27T08:00:00Z", "groups": []}
    assert http.get("forecast/calibration", params={"days": 0}, headers=admin).status_code == 422
