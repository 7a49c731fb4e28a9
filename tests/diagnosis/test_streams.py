"""Bytes become lines with the right rank and offset, in linear time whatever they are."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis import examine
from headway.diagnosis.evidence import LogTail
from headway.diagnosis.examine import LONGEST_TEXT
from headway.diagnosis.lines import read
from headway.diagnosis.verdict import Fault
from tests.diagnosis.builders import BAD_LABEL, an_evidence, an_exit

FOUR_MB = 4 << 20
SECONDS = 10


def texts(data, rank=0, local_ranks=(), offset=0):
    found = read(LogTail(rank, offset, data), local_ranks)
    return {each: [line.text for line in lines] for each, lines in found.items()}


def test_colours_carriage_returns_and_bad_bytes_are_read_through():
    data = b"\x1b[31mred\x1b[0m\r\n 10%\r 20%\rdone \xff\xfe\n\x1b]0;title\x07shown\n"
    assert texts(data) == {0: ["red", " 10%", " 20%", "done \ufffd\ufffd", "shown"]}


def test_prefixes_give_lines_to_their_ranks_and_keep_the_indentation_of_frames():
    data = b'[rank3]:   File "t.py", line 3\n[default1]:[rank5]: x\n[default1]:y\n\x1b[36m[rank3]:\x1b[0m z\nmine\n'
    assert texts(data, rank=4, local_ranks=(4, 7)) == {
        3: ['  File "t.py", line 3', "z"],
        5: ["x"],
        7: ["y"],
        4: ["mine"],
    }


@given(
    lines=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60), max_size=30),
    ends=st.sampled_from(["\n", "\r", "\r\n"]),
    offset=st.integers(0, 1 << 40),
)
def test_an_offset_is_where_the_line_stands_in_the_stream(lines, ends, offset):
    data = ends.join(lines).encode()
    for rank, found in read(LogTail(0, offset, data)).items():
        for line in found:
            whole = data[line.offset - offset :].split(ends.encode())[0].decode()
            assert whole.rstrip().endswith(line.text)
            assert rank != 0 or whole.rstrip() == line.text or whole.startswith("[")


@given(st.binary(max_size=3000), st.integers(-9, 255))
def test_any_bytes_give_a_verdict_with_short_lines_inside_the_stream(data, code):
    verdict = examine(an_evidence(an_exit(0, code=code), logs={0: data}, nodes={0: "n0"}))
    assert 0 <= verdict.confidence <= 1
    assert all(0 <= line.offset < len(data) and len(line.text) <= LONGEST_TEXT for line in verdict.lines)


PIECES = [
    "Traceback (most recent call last):\n",
    '  File "a.py", line 1, in f\n',
    "ValueError: x\n",
    "[rank1]: ",
    "\r",
    "\x1b[31m",
    "Failures:\n",
    "Root Cause (first observed failure):\n",
    "[0]:\n",
    "  rank      : 1 (x)\n",
    "  exitcode  : -9 (pid: 1)\n",
    "  time      : 2026-11-03_20:00:01\n",
    "Connection closed by peer\n",
    "=" * 60,
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from([1, 2, -9, 0]))
def test_any_pile_of_known_pieces_gives_a_verdict(log, code):
    verdict = examine(an_evidence(an_exit(0, code=code), logs={0: log}))
    assert verdict.fault in Fault


HOSTILE = {
    "one line": b"a" * FOUR_MB,
    "newlines": b"\n" * FOUR_MB,
    "short lines": b"a\n" * (FOUR_MB // 2),
    "brackets": b"[\n" * (FOUR_MB // 2),
    "prefixes": b"[rank1]:" * (FOUR_MB // 8),
    "prefixed lines": b"[rank1]: x\n" * (FOUR_MB // 11),
    "escapes": b"\x1b[" * (FOUR_MB // 2),
    "long escape": b"\x1b[" + b"0;" * (FOUR_MB // 2),
    "escaped lines": b"\x1b[31mx\x1b[0m\n" * (FOUR_MB // 11),
    "tracebacks": b"Traceback (most recent call last):\n" * (FOUR_MB // 35),
    "frames": b'  File "' * (FOUR_MB // 8),
    "asserts": b"Assertion `" * (FOUR_MB // 11),
    "loaders": b"DataLoader worker (pid " + b"1, " * (FOUR_MB // 3),
    "summaries": b"Failures:\n[0]:\n  rank      : 1\n" * (FOUR_MB // 31),
    "dots": b"a." * (FOUR_MB // 2),
    "returns": b"x\r" * (FOUR_MB // 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_four_megabytes_of_anything_are_read_in_seconds(name):
    began = process_time()
    verdict = examine(an_evidence(an_exit(0, code=1), logs={0: HOSTILE[name]}, nodes={0: "n0"}))
    assert verdict.fault in (Fault.UNKNOWN, Fault.CODE_ERROR)
    assert process_time() - began < SECONDS


def test_an_error_after_four_megabytes_is_found_at_its_place():
    before = b"step 1 loss 2.0\n" * (FOUR_MB // 16)
    verdict = examine(an_evidence(an_exit(1, code=1), logs={1: before + BAD_LABEL.encode()}, nodes={1: "n1"}))
    place = (before + BAD_LABEL.encode()).index(b"[rank1]: ValueError")
    assert (verdict.location, verdict.lines[0].offset) == ("/home/ann/data.py:10", place)
