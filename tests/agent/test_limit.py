"""The limiter as a pure function of bytes and a clock."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.agent.order import LogLimits
from headway.agent.output.limit import Kept, Limiter

SAID = re.compile(rb"\n?\[headway\] dropped (\d+) bytes \((\d+) lines\): over \d+ bytes (a second|in all)\n")

lines = st.lists(st.integers(0, 400), min_size=1, max_size=30).map(
    lambda sizes: b"".join(b"x" * n + b"\n" for n in sizes)
)
ragged = st.binary(max_size=600).map(lambda raw: raw.replace(b"[", b"("))
feeds = st.lists(st.tuples(lines | ragged, st.floats(0.0, 3.0)), max_size=25)
limits = st.builds(
    lambda rate, burst, most: LogLimits({"bytes_per_s": rate, "burst_bytes": burst, "max_bytes": most}),
    st.integers(50, 2000),
    st.integers(100, 4000),
    st.integers(1000, 20000),
)


def run(bounds: LogLimits, chunks: list[tuple[bytes, float]]) -> list[tuple[float, Kept]]:
    """Everything kept, with the time it was kept at; the stream is closed at the end."""
    limiter, now = Limiter(bounds, 0.0), 0.0
    out: list[tuple[float, Kept]] = []
    for chunk, passed in chunks:
        now += passed
        out += [(now, kept) for kept in limiter.feed(chunk, now)]
    return out + [(now, kept) for kept in limiter.close()]


@settings(deadline=None)
@given(limits, feeds)
def test_every_byte_is_kept_in_order_or_counted_in_its_place(
    bounds: LogLimits, chunks: list[tuple[bytes, float]]
) -> None:
    written = b"".join(chunk for chunk, _ in chunks)
    at = 0
    for _, kept in run(bounds, chunks):
        if kept.drop is None:
            assert written[at : at + len(kept.data)] == kept.data
            at += len(kept.data)
        else:
            gone = written[at : at + kept.drop.bytes]
            assert len(gone) == kept.drop.bytes > 0
            assert gone.count(b"\n") == kept.drop.lines
            at += kept.drop.bytes
    assert at == len(written)


@settings(deadline=None)
@given(limits, feeds)
def test_the_line_says_what_was_dropped(bounds: LogLimits, chunks: list[tuple[bytes, float]]) -> None:
    for _, kept in run(bounds, chunks):
        if kept.drop is not None:
            said = SAID.fullmatch(kept.data)
            assert said is not None
            assert (int(said[1]), int(said[2])) == (kept.drop.bytes, kept.drop.lines)
            assert said[3] == (b"a second" if kept.drop.why == "rate" else b"in all")


@settings(deadline=None)
@given(limits, feeds)
def test_no_span_of_time_keeps_more_than_the_burst_and_the_rate(
    bounds: LogLimits, chunks: list[tuple[bytes, float]]
) -> None:
    kept = [(at, len(one.data)) for at, one in run(bounds, chunks) if one.drop is None]
    for first in range(len(kept)):
        sent = 0
        for at, size in kept[first:]:
            sent += size
            assert sent <= bounds.burst_bytes + (at - kept[first][0]) * bounds.bytes_per_s + 4096


@settings(deadline=None)
@given(limits, feeds)
def test_the_ceiling_in_all_holds(bounds: LogLimits, chunks: list[tuple[bytes, float]]) -> None:
    assert sum(len(kept.data) for _, kept in run(bounds, chunks) if kept.drop is None) <= bounds.max_bytes


@settings(deadline=None)
@given(limits, st.lists(st.tuples(lines, st.floats(0.0, 3.0)), max_size=25))
def test_lines_that_arrive_whole_are_kept_or_dropped_whole(
    bounds: LogLimits, chunks: list[tuple[bytes, float]]
) -> None:
    for _, kept in run(bounds, chunks):
        assert kept.data.endswith(b"\n")
        assert kept.drop is None or not kept.data.startswith(b"\n")


@settings(deadline=None)
@given(feeds)
def test_within_the_limits_nothing_changes(chunks: list[tuple[bytes, float]]) -> None:
    generous = LogLimits({"bytes_per_s": 1 << 20, "burst_bytes": 1 << 20, "max_bytes": 1 << 30})
    assert b"".join(kept.data for _, kept in run(generous, chunks)) == b"".join(chunk for chunk, _ in chunks)


@settings(deadline=None)
@given(st.integers(10, 60))
def test_a_steady_flood_is_spoken_of_about_once_a_second(seconds: int) -> None:
    bounds = LogLimits({"bytes_per_s": 1000, "burst_bytes": 2000, "max_bytes": 10**9})
    chunks = [((b"x" * 99 + b"\n") * 2, 0.02)] * (seconds * 50)
    said = [kept for _, kept in run(bounds, chunks) if kept.drop is not None]
    assert seconds / 3 <= len(said) <= seconds + 2


def test_a_giant_line_is_cut_and_not_lost_whole() -> None:
    bounds = LogLimits({"bytes_per_s": 100_000, "burst_bytes": 200_000, "max_bytes": 10**9})
    out = run(bounds, [(b"x" * 1_000_000, 0.0), (b"x" * 1000, 2.0), (b"\nend\n", 0.0)])
    assert len(out[0][1].data) == 200_000
    assert out[-1][1].data.endswith(b"end\n")


def test_silence_after_a_flood_still_says_what_was_dropped() -> None:
    bounds = LogLimits({"bytes_per_s": 100, "burst_bytes": 100, "max_bytes": 10**9})
    limiter = Limiter(bounds, 0.0)
    limiter.feed(b"x" * 50 + b"\n" + b"y" * 80 + b"\n", 0.0)
    (said,) = limiter.feed(b"", 2.0)
    assert said.data == b"[headway] dropped 81 bytes (1 lines): over 100 bytes a second\n"
