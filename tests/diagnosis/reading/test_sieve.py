"""What is kept of a log, where it stands, and that reading takes work in proportion to what is read."""

import sys
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.diagnosis.reading.read import Source, read
from headway.diagnosis.reading.sieve import TAIL, Sieve
from headway.diagnosis.signs.table import Table

ANYTHING = st.binary(max_size=2000)
CHUNKS = st.lists(st.binary(max_size=60), max_size=40)
HOSTILE = [
    "a" * 40,
    "[" * 40,
    "((((" * 10,
    'File "' * 8,
    " : : : ",
    "Rank 1 rank 1 ",
    "2025-11-05 10:00:00",
    "Error: ",
    "=" * 40,
    "::1:1 [0] ",
    "\\" * 20,
]


def kept(*chunks: bytes) -> list[bytes]:
    return [line.data for line in Sieve().read(chunks)]


@given(CHUNKS)
def test_every_kept_line_stands_where_it_says(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    lines = Sieve().read(chunks)
    assert all(whole[line.offset : line.offset + len(line.data)] == line.data for line in lines)
    assert [line.number for line in lines] == sorted({line.number for line in lines})


@given(CHUNKS)
def test_how_a_log_is_cut_into_chunks_changes_nothing(chunks: list[bytes]) -> None:
    assert Sieve().read(chunks) == Sieve().read([b"".join(chunks)])


def test_a_progress_line_printed_a_thousand_times_is_kept_a_few_times_and_at_the_end() -> None:
    steps = b"".join(b"step %d loss 2.%d\n" % (n, n % 10) for n in range(1000))
    lines = kept(steps)
    assert lines[0] == b"step 0 loss 2.0"
    assert lines[-TAIL:] == steps.splitlines()[-TAIL:]
    assert len(lines) < TAIL + 10


def test_one_line_of_trouble_among_a_million_bytes_is_kept_with_what_follows_it() -> None:
    steps = b"".join(b"step %d\n" % n for n in range(50_000))
    trouble = b"ValueError: odd\n" + b"".join(b"detail %d\n" % n for n in range(5))
    lines = kept(steps, trouble, steps)
    at = lines.index(b"ValueError: odd")
    assert lines[at + 1 : at + 6] == trouble.splitlines()[1:]


def test_carriage_returns_end_lines_and_lines_without_an_end_are_bounded() -> None:
    assert kept(b" 10%|#\r 20%|##\rTraceback\r\n") == [b" 10%|#", b" 20%|##", b"Traceback"]
    assert max(map(len, kept(b"x" * (1 << 20)))) <= 1 << 16


@given(ANYTHING, ANYTHING)
@settings(max_examples=200, deadline=None)
def test_no_bytes_can_break_the_reading(one: bytes, other: bytes) -> None:
    reading = read([Source("rank-0.log", [one]), Source("dmesg", [other])])
    table = Table()
    assert all(entry.raw for entry in reading.entries)
    assert all(isinstance(table.matches(entry.text, entry.lower), list) for entry in reading.entries)


@given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE))
@settings(max_examples=40, deadline=None)
def test_a_line_twice_as_long_is_at_most_about_twice_the_work(one: str, other: str) -> None:
    """Work is counted in bytecode calls, not in seconds; patterns are bounded, so long lines cost no more."""
    table = Table()

    def work(text: str) -> int:
        return _calls(lambda: [table.matches(e.text, e.lower) for e in read([Source("a", [text.encode()])]).entries])

    short, long = work((one + other) * 40 + "\n"), work((one + other) * 80 + "\n")
    assert long <= 3 * short + 200


def _calls(action: Callable[[], object]) -> int:
    """How many Python and C functions an action calls."""
    count = 0

    def see(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
