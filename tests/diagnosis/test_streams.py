"""Bytes become lines with the right rank and offset, in linear time whatever they are."""

from dataclasses import replace
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.diagnosis import examine
from headway.diagnosis.evidence import LogTail
from headway.diagnosis.examine import LONGEST_TEXT
from headway.diagnosis.verdict import Fault
from tests.diagnosis.builders import BAD_LABEL, an_evidence, an_exit

FOUR_MB = 4 << 20
SECONDS = 10


def test_colours_carriage_returns_and_bad_bytes_are_read_through():
    data = b"\x1b[31mx\x1b[0m\r\n 10%\r 20%\rdone \xff\xfe\nKeyError: \x00'lr'\n\x1b]0;title\x07shown\n"
    verdict = examine(an_evidence(an_exit(0, code=1), logs={0: data}, nodes={0: "n0"}))
    assert (verdict.fault, verdict.detail) == (Fault.CODE_ERROR, "KeyError: 'lr'")


def test_a_launchers_stream_gives_lines_to_the_ranks_of_its_node_alone():
    said = "".join(f"[default1]:{line}\n" for line in BAD_LABEL.replace("[rank1]: ", "").splitlines())
    nodes = {0: "n0", 1: "n0", 2: "n1", 3: "n1"}
    verdict = examine(an_evidence(an_exit(2, code=1, node="n1"), logs={2: said}, nodes=nodes))
    assert (verdict.rank, verdict.node, verdict.location) == (3, "n1", "/home/ann/data.py:10")


def test_the_stacks_that_a_dying_process_dumps_do_not_bury_what_it_died_of():
    thread = (
        "Thread 0x00007f{n:08x} (most recent call first):\n"
        + '  File "/usr/lib/python3/queue.py", line 180 in get\n' * 9
    )
    dump = "Fatal Python error: Aborted\n" + "".join(thread.format(n=n) for n in range(40))
    said = "RuntimeError: CUDA error: device-side assert triggered\n" + dump
    verdict = examine(an_evidence(an_exit(0, signal=6), logs={0: said}, nodes={0: "n0"}))
    assert verdict.cause == "DEVICE_ASSERT"
    chatter = "".join(f"request {n} answered\n" for n in range(400))
    verdict = examine(an_evidence(an_exit(0, signal=6), logs={0: said + chatter}, nodes={0: "n0"}))
    assert verdict.cause != "DEVICE_ASSERT"


def test_a_rank_cannot_put_words_into_the_mouth_of_another():
    exits = an_exit(0, at=0, code=1), an_exit(1, at=9, code=3)
    verdict = examine(an_evidence(*exits, logs={0: BAD_LABEL, 1: "step 9\n"}))
    assert (verdict.rank, verdict.node, verdict.fault) == (0, "n0", Fault.CODE_ERROR)
    assert [line.rank for line in verdict.lines[:1]] == [0]


@given(
    lines=st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=60), max_size=30),
    ends=st.sampled_from(["\n", "\r", "\r\n"]),
    offset=st.integers(0, 1 << 40),
)
def test_an_offset_is_where_the_line_stands_in_the_stream(lines, ends, offset):
    data = ends.join([*lines, "ValueError: odd"]).encode()
    tail = LogTail(0, offset, data)
    verdict = examine(replace(an_evidence(an_exit(0, code=1), nodes={0: "n0"}), logs={0: tail}))
    for line in verdict.lines:
        whole = data[line.offset - offset :].split(ends.encode())[0].decode()
        assert line.text in whole


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
