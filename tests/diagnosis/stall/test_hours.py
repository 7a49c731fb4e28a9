"""A tenth of the simulated hours of `python -m benchmarks.stalls`: not one healthy run is called stalled."""

from benchmarks.stalls import RUN_HOURS, hang, healthy

RUNS = range(100, 108)
HANGS = range(40)


def test_a_hundred_simulated_hours_of_healthy_runs_hold_no_stall() -> None:
    runs = [healthy(seed, RUN_HOURS) for seed in RUNS]
    assert sum(run.hours for run in runs) >= len(RUNS) * RUN_HOURS
    assert [run for run in runs if run.false] == []
    assert sum(run.by_silence for run in runs) > len(RUNS), "the runs are too kind to tell anything"


def test_simulated_hangs_are_called_within_their_limit() -> None:
    hung = [hang(seed) for seed in HANGS]
    assert [one for one in hung if one.seconds is None or one.seconds > one.limit_s] == []
