"""All nodes of an attempt over the same moments: each node's cards together, exactly what was measured."""

import random
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.store.readings import Grid, Reading, Readings, by_node
from headway.store.readings import sqlite as sqlite_file

START = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Readings]:
    store = Readings(tmp_path / "readings.sqlite")
    yield store
    store.close()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "CHUNK_ROWS", 16)
    monkeypatch.setattr(sqlite_file, "KEPT_ROWS", 4)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_reading(node: str, card: int | None, seconds: float, value: float, rank: int | None = None) -> Reading:
    return Reading("j-1.1", node, rank, card, "busy", after(seconds), value)


def test_a_nodes_cards_become_their_mean_at_each_moment(store: Readings) -> None:
    store.add([a_reading("n2", 0, 0, 5.0), a_reading("n1", 0, 0, 10.0), a_reading("n1", 1, 0, 30.0)])
    store.add([a_reading("n1", 0, 60, 20.0), a_reading("n1", 1, 60, 40.0), a_reading("n1", 1, 121, 90.0)])
    found = store.grid("j-1.1", "busy", points=3)
    assert [at - START for at in found.at] == [timedelta(0), timedelta(seconds=40.334), timedelta(seconds=80.668)]
    assert [(row.node, row.means) for row in found.nodes] == [("n1", (20.0, 30.0, 90.0)), ("n2", (5.0, None, None))]


def test_what_a_node_measures_comes_before_what_its_ranks_do(store: Readings) -> None:
    store.add([a_reading("n1", None, 0, 1.0, rank=0), a_reading("n1", None, 0, 3.0, rank=1)])
    assert store.grid("j-1.1", "busy").nodes[0].means == (2.0,)
    store.add([a_reading("n1", None, 0, 50.0)])
    assert store.grid("j-1.1", "busy").nodes[0].means == (50.0,)


def test_what_is_no_number_is_not_told_as_one(store: Readings) -> None:
    store.add([a_reading("n1", 0, 0, float("nan")), a_reading("n1", 1, 0, 7.0), a_reading("n2", 0, 0, 7.0)])
    assert [row.means for row in store.grid("j-1.1", "busy").nodes] == [(None,), (7.0,)]


def test_nothing_measured_is_an_empty_grid(store: Readings) -> None:
    assert store.grid("j-1.1", "busy") == Grid("busy", (), ())
    store.add([a_reading("n1", 0, 0, 1.0)])
    assert store.grid("j-1.1", "loss") == Grid("loss", (), ())


def _told(found: Grid, kept: list[Reading], points: int) -> None:
    """Every mean is that of all the node's readings from its moment until the next."""
    assert len(found.at) <= points
    assert [row.node for row in found.nodes] == sorted({one.node for one in kept})
    edges = [*found.at, datetime.max.replace(tzinfo=UTC)]
    for row in found.nodes:
        assert len(row.means) == len(found.at)
        for at, end, mean in zip(edges, edges[1:], row.means, strict=False):
            inside = [one.value for one in kept if one.node == row.node and at <= one.at < end]
            assert mean == (pytest.approx(sum(inside) / len(inside)) if inside else None)


@pytest.mark.usefixtures("small_chunks")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), pace=st.sampled_from([0.001, 1.0, 20.0, 300.0]))
def test_a_grid_says_what_the_readings_of_each_node_say(
    tmp_path_factory: pytest.TempPathFactory, seed: int, pace: float
) -> None:
    """Against a plain list, however much of it is rows, chunks, or sums of chunks."""
    draw = random.Random(seed)
    store = Readings(tmp_path_factory.mktemp("readings") / "r.sqlite")
    kept: list[Reading] = []
    now = 0.0
    for _ in range(draw.randrange(1, 8)):
        known = len(kept)
        for _ in range(draw.randrange(1, 30)):
            now = round(now + pace * draw.choice([1, 1, 2, 50]), 3)
            kept += [a_reading(node, card, now, draw.gauss(0, 1)) for node in ("n1", "n2") for card in (0, 1, None)]
        store.add(kept[known:])
        if draw.random() < 0.2:
            store.pack("j-1.1")
    for points in (1, 2, 7, 50, 1000):
        _told(store.grid("j-1.1", "busy", points=points), kept, points)
    store.close()


def _a_day(store: Readings, every: float) -> list[Reading]:
    seconds = [every * number for number in range(int(86_400 / every))]
    kept = [a_reading("n1", card, at, (at * 7 + card) % 11) for at in seconds for card in (0, 1)]
    store.add(kept)
    store.pack("j-1.1")
    return kept


@pytest.mark.parametrize("every", [2.0, 15.0])
def test_a_day_is_told_without_unpacking_what_cards_measured(
    store: Readings, every: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = _a_day(store, every)

    def refused(*_: object) -> None:
        raise AssertionError("unpacked")

    monkeypatch.setattr(by_node, "unpacked", refused)
    found = store.grid("j-1.1", "busy")
    assert 120 <= len(found.at) <= 240
    sums = [(sum(v), len(v)) for v in _values(found, kept)]
    assert found.nodes[0].means == tuple(pytest.approx(total / count) for total, count in sums)


def _values(found: Grid, kept: list[Reading]) -> list[list[float]]:
    values: list[list[float]] = [[] for _ in found.at]
    for one in kept:
        values[bisect_right(found.at, one.at) - 1].append(one.value)
    return values


def test_what_an_earlier_version_packed_is_told_too(store: Readings, tmp_path: Path) -> None:
    kept = _a_day(store, 60.0)
    store.close()
    with closing(sqlite3.connect(tmp_path / "readings.sqlite")) as c:
        c.executescript("DROP TABLE rolled; DROP TABLE place; DROP TABLE rolled_from")
    again = Readings(tmp_path / "readings.sqlite")
    again.add(more := [replace(one, at=one.at + timedelta(days=1)) for one in kept])
    again.pack("j-1.1")
    _told(again.grid("j-1.1", "busy", points=100), kept + more, 100)
    again.close()


def test_sums_are_pruned_with_what_they_are_of(store: Readings) -> None:
    _a_day(store, 60.0)
    store.prune(after(10 * 86_400))
    assert store.grid("j-1.1", "busy") == Grid("busy", (), ())
    store.add([a_reading("n1", 0, 0, 1.0)])
    assert store.grid("j-1.1", "busy").nodes[0].means == (1.0,)
