"""A forecast made by a process of its own is the forecast."""

from headway.scheduler.forecast import forecast
from headway.scheduler.snapshot import Runtimes
from headway.server import apart
from tests.builders import HOUR, a_node, a_queued, a_running, a_snapshot


def test_a_forecast_apart_is_the_same_forecast() -> None:
    running = [a_running("r", {"n1": range(8)}, limit=3 * HOUR)]
    queued = [a_queued(f"j{n}", 8, limit=HOUR) for n in range(4)]
    snapshot = a_snapshot([a_node()], queued, running)
    told = apart.foretell_apart(snapshot)
    assert told == forecast(snapshot, Runtimes())
    assert told["j3"].p50 is not None
