"""Readings: what was added is found again, down-sampled truly, once, after kills and from many threads."""

import math
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.store.readings import Reading, Readings, ReadingStore, chunk, sqlite

START = datetime(2026, 12, 1, 8, tzinfo=UTC)
ATTEMPT = "j-7f3k2m9q.1"
DEADLINE = 60


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Readings]:
    store = Readings(tmp_path / "readings.sqlite")
    yield store
    store.close()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "CHUNK_ROWS", 16)
    monkeypatch.setattr(sqlite, "KEPT_ROWS", 4)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_reading(seconds: float, value: float, name: str = "loss", *, node: str = "n1", rank: int | None = 0) -> Reading:
    return Reading(ATTEMPT, node, rank, None, name, after(seconds), value)


def values(store: ReadingStore, name: str = "loss", points: int = 100_000) -> list[float]:
    return [point.mean for series in store.series(ATTEMPT, name, points=points) for point in series.points]


def test_readings_come_back_one_by_one_with_their_place_and_time(store: Readings) -> None:
    store.add([a_reading(2, 0.5), a_reading(1, 0.75), Reading(ATTEMPT, "n1", None, 3, "util_percent", after(1.5), 93)])
    (loss,) = store.series(ATTEMPT, "loss")
    assert (loss.attempt, loss.node, loss.rank, loss.device, loss.name) == (ATTEMPT, "n1", 0, None, "loss")
    assert [(p.at, p.minimum, p.mean, p.maximum, p.count) for p in loss.points] == [
        (after(1), 0.75, 0.75, 0.75, 1),
        (after(2), 0.5, 0.5, 0.5, 1),
    ]
    (card,) = store.series(ATTEMPT, "util_percent")
    assert (card.rank, card.device, card.points[0].at) == (None, 3, after(1.5))
    assert store.names(ATTEMPT) == ["loss", "util_percent"]
    assert store.names("j-other.1") == []
    assert store.series("j-other.1", "loss") == []


def test_nodes_and_ranks_are_told_apart(store: Readings) -> None:
    store.add([a_reading(1, rank, node=node, rank=rank) for node in ("n1", "n2") for rank in (0, 1)])
    assert [(s.node, s.rank) for s in store.series(ATTEMPT, "loss")] == [("n1", 0), ("n1", 1), ("n2", 0), ("n2", 1)]
    assert [(s.node, s.rank) for s in store.series(ATTEMPT, "loss", node="n2")] == [("n2", 0), ("n2", 1)]
    assert [(s.node, s.rank) for s in store.series(ATTEMPT, "loss", rank=1)] == [("n1", 1), ("n2", 1)]


@pytest.mark.usefixtures("small_chunks")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_stretch_down_sampled_says_what_the_readings_say(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Against a plain list: nothing is lost or counted twice, and every bucket holds exactly its readings."""
    draw = random.Random(seed)
    store = Readings(tmp_path_factory.mktemp("readings") / "r.sqlite")
    kept: dict[datetime, float] = {}
    now = 0.0
    for _ in range(draw.randrange(1, 12)):
        rows = []
        for _ in range(draw.randrange(1, 30)):
            now += draw.choice([0.001, 1.0, 2.0, 100.0])
            rows.append(a_reading(round(now, 3), draw.choice([draw.gauss(0, 1), 1e12, -5.0])))
        store.add(rows)
        kept |= {row.at: row.value for row in rows}
        if draw.random() < 0.1:
            store.pack(ATTEMPT)
    since = draw.choice([None, after(draw.uniform(0, now))])
    until = draw.choice([None, after(draw.uniform(0, now))])
    points = draw.choice([1, 2, 7, 50, 1000])
    wanted = {at: v for at, v in kept.items() if (since is None or at >= since) and (until is None or at <= until)}
    found = [p for s in store.series(ATTEMPT, "loss", since=since, until=until, points=points) for p in s.points]
    assert len(found) <= points
    assert sum(point.count for point in found) == len(wanted)
    edges = [*(point.at for point in found), datetime.max.replace(tzinfo=UTC)][1:]
    for point, edge in zip(found, edges, strict=True):
        inside = [value for at, value in wanted.items() if point.at <= at < edge]
        assert (point.minimum, point.maximum, point.count) == (min(inside), max(inside), len(inside))
        assert point.mean == pytest.approx(statistics.fmean(inside), rel=1e-9, abs=1e-3)
    if len(wanted) <= points:
        assert [(point.at, point.mean) for point in found] == sorted(wanted.items())
    store.close()


@pytest.mark.usefixtures("small_chunks")
def test_a_report_that_is_sent_again_changes_nothing(store: Readings) -> None:
    for number in range(40):
        report = [a_reading(number, number)]
        store.add(report)
        store.add(report)
    assert values(store) == list(range(40))


def test_the_newest_reading_of_each_series_is_known_also_when_packed(store: Readings) -> None:
    store.add([a_reading(second, second, name) for second in range(3) for name in ("loss", "step")])
    store.pack(ATTEMPT)
    store.add([a_reading(9, math.nan, "step")])
    loss, step = store.latest(ATTEMPT)
    assert loss == a_reading(2, 2.0)
    assert (step.name, step.at) == ("step", after(9))
    assert math.isnan(step.value)
    assert store.latest("j-other.1") == []


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("packed", [False, True])
def test_a_loss_that_is_not_a_number_stays_visible(store: Readings, packed: bool) -> None:
    store.add([a_reading(0, 1.0), a_reading(1, math.nan), a_reading(2, 3.0), a_reading(3, math.inf)])
    if packed:
        store.pack(ATTEMPT)
    (series,) = store.series(ATTEMPT, "loss", points=1)
    (point,) = series.points
    assert (point.minimum, point.maximum, point.count) == (1.0, math.inf, 4)
    assert math.isnan(point.mean)
    assert [math.isnan(value) for value in values(store)] == [False, True, False, False]


def test_old_readings_are_pruned_and_the_file_shrinks(store: Readings, tmp_path: Path) -> None:
    for name in ("loss", "step"):
        store.add([a_reading(second, random.random(), name) for second in range(20_000)])
    store.add([a_reading(50_000, 1.0)])
    size = _pages(tmp_path)
    store.prune(after(30_000))
    assert store.names(ATTEMPT) == ["loss"]
    assert values(store) == [1.0]
    assert _pages(tmp_path) < size / 2
    store.add([a_reading(50_001, 2.0), a_reading(50_001, 3.0, "step")])
    assert (values(store), values(store, "step")) == ([1.0, 2.0], [3.0])


def test_packed_readings_take_a_quarter_of_rows(store: Readings, tmp_path: Path) -> None:
    draw = random.Random(3)
    for call in range(300):
        seconds = [2 * number + draw.random() / 200 for number in range(100 * call, 100 * call + 100)]
        store.add([a_reading(second, draw.randrange(40, 60)) for second in seconds])
    assert _pages(tmp_path) * 4096 / 30_000 < 5


def test_a_failed_write_leaves_nothing_behind(store: Readings) -> None:
    with pytest.raises(ValueError, match="no number"):
        store.add([a_reading(1, 1.0), a_reading(2, "no number", "bad")])  # type: ignore[arg-type]
    store.add([a_reading(3, 3.0, "bad"), a_reading(3, 3.0)])
    assert (values(store), values(store, "bad")) == ([3.0], [3.0])


@pytest.mark.usefixtures("small_chunks")
def test_threads_add_and_ask_at_once(store: Readings) -> None:
    failures: list[BaseException] = []
    done = threading.Event()

    def add(rank: int) -> None:
        try:
            for number in range(200):
                store.add([a_reading(number, number, rank=rank)])
        except BaseException as error:
            failures.append(error)

    def ask() -> None:
        try:
            while not done.is_set():
                for series in store.series(ATTEMPT, "loss"):
                    assert [point.mean for point in series.points] == list(range(len(series.points)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=add, args=(rank,)) for rank in range(4)]
    asker = threading.Thread(target=ask)
    for thread in (asker, *threads):
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    done.set()
    asker.join(DEADLINE)
    assert failures == []
    assert [len(series.points) for series in store.series(ATTEMPT, "loss")] == [200] * 4


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(st.integers(0, 10**9), min_size=1, max_size=50),
    numbers=st.lists(st.floats(), min_size=50, max_size=50),
)
def test_a_chunk_unpacks_to_what_was_packed(steps: list[int], numbers: list[float]) -> None:
    times = [sum(steps[: count + 1]) for count in range(len(steps))]
    found_times, found = chunk.unpack(chunk.pack(times, numbers[: len(steps)]))
    assert found_times == times
    assert repr(found) == repr(numbers[: len(steps)])


@pytest.mark.usefixtures("small_chunks")
def test_every_reading_acknowledged_before_a_kill_is_there_once(tmp_path: Path) -> None:
    """Killed at 8 seeded moments, the child adds five readings a call and prints the count after each."""
    draw = random.Random(5)
    kept = 0
    for _ in range(8):
        kept = _run_and_kill(tmp_path / "readings.sqlite", kept, draw.randrange(1, 60))
        store = Readings(tmp_path / "readings.sqlite")
        found = values(store)
        store.close()
        assert len(found) >= kept
        assert found == list(range(len(found)))
        kept = len(found)


def _run_and_kill(path: Path, start: int, calls: int) -> int:
    command = [sys.executable, "-m", __name__, str(path), str(start)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    kept = start
    for _ in range(calls):
        kept = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGKILL)
    child.wait(DEADLINE)
    printed = [line for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    child.stdout.close()
    return int(printed[-1]) if printed else kept


def _add_until_killed(arguments: Sequence[str]) -> None:
    sqlite.CHUNK_ROWS, sqlite.KEPT_ROWS = 16, 4
    store, number = Readings(Path(arguments[0])), int(arguments[1])
    while True:
        store.add([a_reading(each, each) for each in range(number, number + 5)])
        number += 5
        print(number, flush=True)


def _pages(folder: Path) -> int:
    c = sqlite3.connect(folder / "readings.sqlite")
    (count,) = c.execute("PRAGMA page_count").fetchone()
    c.close()
    return int(count)


if __name__ == "__main__":
    _add_until_killed(sys.argv[1:])
