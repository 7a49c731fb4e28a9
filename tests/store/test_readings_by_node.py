"""All nodes of an attempt over the same moments: each node's cards together, exactly what was measured."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.store.readings import Grid, Reading, Readings, sqlite

START = datetime(2026, 11, 2, tzinfo=UTC)


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
    assert store.grid("j-1.1", "busy", since=after(1)) == Grid("busy", (), ())


@pytest.mark.usefixtures("small_chunks")
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_stretch_says_what_the_readings_of_each_node_say(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Against a plain list: every mean is that of all the node's readings from its moment until the next."""
    draw = random.Random(seed)
    store = Readings(tmp_path_factory.mktemp("readings") / "r.sqlite")
    kept: list[Reading] = []
    now = 0.0
    for _ in range(draw.randrange(1, 8)):
        known = len(kept)
        for _ in range(draw.randrange(1, 30)):
            now = round(now + draw.choice([0.001, 1.0, 2.0, 100.0]), 3)
            kept += [a_reading(node, card, now, draw.gauss(0, 1)) for node in ("n1", "n2") for card in (0, 1)]
        store.add(kept[known:])
        if draw.random() < 0.2:
            store.pack("j-1.1")
    since = draw.choice([None, after(draw.uniform(0, now))])
    until = draw.choice([None, after(draw.uniform(0, now))])
    points = draw.choice([1, 2, 7, 50, 1000])
    found = store.grid("j-1.1", "busy", since=since, until=until, points=points)
    store.close()
    wanted = [one for one in kept if (since is None or one.at >= since) and (until is None or one.at <= until)]
    assert len(found.at) <= points
    assert {row.node for row in found.nodes} == {one.node for one in wanted}
    edges = [*found.at, datetime.max.replace(tzinfo=UTC)]
    for row in found.nodes:
        assert len(row.means) == len(found.at)
        for at, end, mean in zip(edges, edges[1:], row.means, strict=False):
            inside = [one.value for one in wanted if one.node == row.node and at <= one.at < end]
            assert mean == (pytest.approx(sum(inside) / len(inside)) if inside else None)
