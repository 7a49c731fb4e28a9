"""Who said a line and when, whatever stands before it; and whose file it is by its name."""

from datetime import UTC, datetime

import pytest

from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.names import read_name
from headway.diagnosis.reading.read import Source, read

NOON = datetime(2025, 11, 5, 12, 0, 1, tzinfo=UTC).timestamp()


def entries(text: str | bytes, path: str = "train.log") -> list[Entry]:
    return read([Source(path, [text if isinstance(text, bytes) else text.encode()])]).entries


def the_line(text: str | bytes) -> Entry:
    (entry,) = entries(text)
    return entry


@pytest.mark.parametrize(
    ("line", "rank"),
    [
        ("[rank3]: boom", 3),
        ("[default1]:[rank9]: boom", 9),
        ("[rank: 3] boom", 3),
        ("[RANK 3] boom", 3),
        ("Rank 3: boom", 3),
        ("rank=3 boom", 3),
        ("[1,3]<stderr>: boom", 3),
        ("[3]<stdout>: boom", 3),
        ("2025-11-05 12:00:01,120 [rank3]: boom", 3),
        ("[node-7] [rank3]: boom", 3),
        ("ERROR 11-05 12:00:01 [core.py:586] [rank3]: boom", 3),
        ('{"log": "[rank3]: boom\\n", "stream": "stderr", "time": "2025-11-05T12:00:01Z"}', 3),
        ('{"message": "boom", "rank": 3}', 3),
        ("2025-11-05T12:00:01.000000000Z stderr F [rank3]: boom", 3),
        ("\x1b[36m[rank3]:\x1b[0m boom", 3),
        ("boom", None),
        ("[2025] boom", None),
    ],
)
def test_a_rank_is_read_through_any_prefix(line: str, rank: int | None) -> None:
    entry = the_line(line + "\n")
    assert (entry.rank, entry.text.strip()) == (rank, "boom" if rank is not None else entry.text.strip())


def test_numbers_before_lines_are_ranks_where_a_file_is_numbered() -> None:
    numbered = entries("".join(f"{rank}: step {step} done\n" for step in range(3) for rank in range(4)))
    assert {entry.rank for entry in numbered} == {0, 1, 2, 3}
    assert the_line("3: a list of things\n").rank is None


@pytest.mark.parametrize(
    "line",
    [
        "2025-11-05 12:00:01,000 boom",
        "2025-11-05T12:00:01.000Z boom",
        "[2025-11-05 12:00:01] boom",
        "2025/11/05 12:00:01 boom",
        "11/05/2025 12:00:01 - INFO - boom",
        "[Wed Nov  5 12:00:01 2025] boom",
        "05/Nov/2025:12:00:01 +0000 boom",
        "2025年11月05日 12:00:01 boom",
        "[INFO|parser.py:344] 2025-11-05 12:00:01,000 >> boom",
        "1762344001.000 boom",
    ],
)
def test_clocks_of_many_programs_tell_the_same_time(line: str) -> None:
    assert the_line(line + "\n").at == NOON


def test_a_clock_without_a_year_goes_beside_one_that_has_it() -> None:
    lines = entries("2025-11-05 12:00:01 a\nE1105 12:00:02.500 1 x.py:1] b\nNov  5 12:00:03 n1 kernel: c\n")
    assert [entry.at for entry in lines] == [NOON, NOON + 1.5, NOON + 2]
    assert lines[2].node == "n1"


def test_clocks_that_disagree_are_brought_together_by_the_steps_they_share() -> None:
    def log(late: int) -> bytes:
        return b"".join(b"2025-11-05 12:00:%02d step %d loss 2.0\n" % (n + late, n) for n in range(8))

    reading = read([Source("node-1.log", [log(0)]), Source("node-2.log", [log(30)])])
    first, second = ([e.at for e in reading.entries if e.file == file] for file in (0, 1))
    assert first == second


def test_gbk_with_dos_line_ends_nuls_and_broken_bytes_are_read() -> None:
    assert the_line("进程 3 显存不足\r\n".encode("gbk")).text == "进程 3 显存不足"
    assert the_line(b"bo\x00om\x00\x00\n").text == "boom"
    assert "boom" in the_line(b"\xff\xfeboom\n").text


def test_a_process_known_to_be_a_rank_lends_its_lines_that_rank_and_node() -> None:
    lines = entries(
        "gpu-4:77:78 [2] NCCL INFO comm 0x1 rank 10 nranks 16 cudaDev 2 busId 1 - Init COMPLETE\n"
        "gpu-4:77:99 [2] NCCL WARN Cuda failure 'out of memory'\n"
    )
    assert (lines[1].rank, lines[1].node, lines[1].text) == (10, "gpu-4", "Cuda failure 'out of memory'")


@pytest.mark.parametrize(
    ("path", "rank", "node"),
    [
        ("rank-3.log", 3, None),
        ("logs/rank_12.out", 12, None),
        ("attempt_0/5/stderr.log", 5, None),
        ("attempt_0_5_error.json", 5, None),
        ("node-1.log", None, "node-1"),
        ("gpu-x1_syslog.log", None, "gpu-x1"),
        ("cn07/stdout.log", None, "cn07"),
        ("train.log", None, None),
        ("attempt-1.log", None, None),
        ("job-20251105.log", None, None),
    ],
)
def test_a_name_tells_whose_file_it_is(path: str, rank: int | None, node: str | None) -> None:
    name = read_name(path)
    assert (name.rank, name.node) == (rank, node)
