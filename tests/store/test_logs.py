"""The log book: what is taken, what is answered, what is read, and that no stream waits for another's disk."""

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.store.logs import Ack, LogBook, book, stream, window

START = datetime(2026, 12, 1, 8, tzinfo=UTC)
ATTEMPT = "j-7f3k2m9q.1"
DEADLINE = 60


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[LogBook]:
    logs = LogBook(tmp_path / "logs")
    yield logs
    logs.close()


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SEGMENT_BYTES", 100_000)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def put(logs: LogBook, offset: int, content: bytes, rank: int = 0, final: bool = False) -> Ack:
    return logs.append(ATTEMPT, rank, offset, content, START, START, final)


def test_what_was_taken_is_read_back_before_and_after_it_is_durable(logs: LogBook) -> None:
    assert put(logs, 0, b"hello ") == Ack(received=6, durable=0)
    assert logs.read(ATTEMPT, 0, 0, 100) == b"hello "
    logs.flush()
    assert put(logs, 6, b"world") == Ack(received=11, durable=6)
    assert logs.read(ATTEMPT, 0, 3, 5) == b"lo wo"
    assert logs.size(ATTEMPT, 0) == 11
    assert logs.read(ATTEMPT, 0, 11, 5) == b""


def test_bytes_that_are_there_already_are_ignored(logs: LogBook) -> None:
    put(logs, 0, b"abcdef")
    assert put(logs, 2, b"cdefgh").received == 8
    assert put(logs, 0, b"abc").received == 8
    assert logs.read(ATTEMPT, 0, 0, 100) == b"abcdefgh"


def test_a_gap_takes_nothing_and_tells_where_to_go_on(logs: LogBook) -> None:
    put(logs, 0, b"abc")
    assert put(logs, 5, b"fgh") == Ack(received=3, durable=0)
    assert logs.read(ATTEMPT, 0, 0, 100) == b"abc"


def test_the_final_piece_is_durable_before_the_answer(logs: LogBook) -> None:
    assert put(logs, 0, b"the end", final=True) == Ack(received=7, durable=7)
    assert put(logs, 7, b"", final=True) == Ack(received=7, durable=7)


def test_a_stream_that_is_not_there_is_empty_and_leaves_no_trace(logs: LogBook, tmp_path: Path) -> None:
    assert logs.read(ATTEMPT, 5, 0, 10) == b""
    assert logs.size(ATTEMPT, 5) == 0
    assert logs.ranks(ATTEMPT) == []
    assert list((tmp_path / "logs").iterdir()) == []


def test_ranks_are_listed_in_order(logs: LogBook) -> None:
    for rank in (10, 2, 0):
        put(logs, 0, b"x", rank)
    assert logs.ranks(ATTEMPT) == [0, 2, 10]


@pytest.mark.parametrize(
    "name", ["", "..", ".", "../j-1.1", "a/b", "/etc", "a b", "j-1.1\n", "j\0", ".lock", "ü", "a" * 64]
)
def test_an_attempt_that_could_leave_the_folder_is_refused(logs: LogBook, tmp_path: Path, name: str) -> None:
    for act in (
        lambda: logs.append(name, 0, 0, b"x", START, START),
        lambda: logs.read(name, 0, 0, 1),
        lambda: logs.ranks(name),
        lambda: logs.remove(name),
    ):
        with pytest.raises(PlatformError) as refused:
            act()
        assert refused.value.code == "invalid-name"
    assert [path.name for path in (tmp_path / "logs").iterdir() if path.name != ".lock"] == []


@pytest.mark.parametrize("rank", [-1, 1_000_000, "0", "../1", 1.5, None])
def test_a_rank_that_is_no_whole_number_is_refused(logs: LogBook, rank: int) -> None:
    with pytest.raises(PlatformError) as refused:
        logs.append(ATTEMPT, rank, 0, b"x", START, START)
    assert refused.value.code == "invalid-field"
    assert refused.value.params["field"] == "rank"


def test_a_negative_offset_is_refused(logs: LogBook) -> None:
    for act in (
        lambda: put(logs, -1, b"x"),
        lambda: logs.read(ATTEMPT, 0, -1, 5),
        lambda: logs.read(ATTEMPT, 0, 0, -1),
    ):
        with pytest.raises(PlatformError, match="invalid-field"):
            act()


@pytest.mark.usefixtures("small_segments")
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_mix_of_pieces_flushes_and_reopenings_reads_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    draw = random.Random(seed)
    root = tmp_path_factory.mktemp("logs")
    logs, written = LogBook(root), bytearray()
    for _ in range(draw.randrange(1, 25)):
        piece = draw.randbytes(draw.choice([0, 1, 100, 40_000, 300_000])) + b"\n" * draw.randrange(5_000)
        overlap = min(len(written), draw.choice([0, 0, 7, 1000]))
        content = bytes(written[len(written) - overlap :]) + piece
        assert put(logs, len(written) - overlap, content).received == len(written) + len(piece)
        written += piece
        if draw.random() < 0.3:
            logs.flush()
        if draw.random() < 0.2:
            logs.close()
            logs = LogBook(root)
        offset = draw.randrange(len(written) + 1)
        limit = draw.choice([1, 5_000, 400_000])
        assert logs.read(ATTEMPT, 0, offset, limit) == written[offset : offset + limit]
    logs.close()
    assert LogBook(root).read(ATTEMPT, 0, 0, len(written) + 1) == written


@pytest.mark.usefixtures("small_segments")
def test_segments_roll_and_any_zstd_reader_reads_them(logs: LogBook, tmp_path: Path) -> None:
    text = random.Random(1).randbytes(1_000_000)
    for offset in range(0, len(text), 50_000):
        put(logs, offset, text[offset : offset + 50_000])
    logs.close()
    files = sorted((tmp_path / "logs" / ATTEMPT / "0").iterdir())
    assert len(files) == 4
    readers = [zstandard.ZstdDecompressor().stream_reader(path.read_bytes(), read_across_frames=True) for path in files]
    assert b"".join(reader.read() for reader in readers) == text


def test_a_window_far_into_a_stream_unpacks_only_what_it_needs(logs: LogBook, monkeypatch: pytest.MonkeyPatch) -> None:
    block = bytes(range(256)) * 4096
    for number in range(256):
        put(logs, number * len(block), block)
    logs.close()
    unpacked: list[int] = []

    def content(file: object, record: object, real=window.content) -> bytes | None:  # type: ignore[no-untyped-def]
        unpacked.append(record.length)  # type: ignore[attr-defined]
        return real(file, record)  # type: ignore[no-any-return]

    monkeypatch.setattr(window, "content", content)
    assert logs.read(ATTEMPT, 0, 200 * len(block) + 5, 1000) == block[5:1005]
    assert sum(unpacked) <= 2 * 256 * 1024


def test_a_removed_attempt_is_gone_and_others_stay(logs: LogBook) -> None:
    put(logs, 0, b"gone")
    logs.append("j-other.1", 0, 0, b"stays", START, START)
    logs.remove(ATTEMPT)
    logs.remove(ATTEMPT)
    assert (logs.size(ATTEMPT, 0), logs.ranks(ATTEMPT)) == (0, [])
    assert logs.read("j-other.1", 0, 0, 9) == b"stays"


def test_many_streams_hold_no_files_open_and_idle_ones_are_forgotten(
    logs: LogBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(logs, 0, b"x")
    before = len(os.listdir("/proc/self/fd"))
    for rank in range(300):
        put(logs, 0 if rank else 1, b"first", rank)
    logs.flush()
    assert len(os.listdir("/proc/self/fd")) <= before
    monkeypatch.setattr(book, "IDLE_SECONDS", -1.0)
    logs.flush()
    assert logs._streams == {}
    assert put(logs, 5, b" second", 299) == Ack(received=12, durable=5)
    assert logs.read(ATTEMPT, 299, 0, 99) == b"first second"


def test_a_slow_disk_under_one_stream_holds_up_neither_others_nor_its_own_appends(
    logs: LogBook, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(logs, 0, b"slow", 0, final=True)
    put(logs, 0, b"quick", 1, final=True)
    entered, release = threading.Event(), threading.Event()

    def fsync(path: Path) -> None:
        if path.parent.name == "0":
            entered.set()
            assert release.wait(DEADLINE)

    monkeypatch.setattr(stream, "fsync", fsync)
    put(logs, 4, b"er", 0)
    flusher = threading.Thread(target=logs.flush)
    flusher.start()
    assert entered.wait(DEADLINE)
    assert put(logs, 5, b"er", 1, final=True) == Ack(received=7, durable=7)
    assert put(logs, 6, b"!", 0) == Ack(received=7, durable=4)
    assert logs.read(ATTEMPT, 0, 0, 99) == b"slower!"
    release.set()
    flusher.join(DEADLINE)
    assert put(logs, 7, b"", 0) == Ack(received=7, durable=6)


def test_threads_writing_and_reading_many_streams_lose_nothing(logs: LogBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "IDLE_SECONDS", -1.0)
    texts = [random.Random(rank).randbytes(60_000) for rank in range(8)]
    done = threading.Event()
    failures: list[BaseException] = []

    def guarded(act) -> None:  # type: ignore[no-untyped-def]
        try:
            act()
        except BaseException as error:
            failures.append(error)

    def write(rank: int) -> None:
        offset = 0
        while offset < len(texts[rank]):
            offset = put(logs, offset, texts[rank][offset : offset + 997], rank).received
            assert logs.read(ATTEMPT, rank, offset - 10, 10) == texts[rank][offset - 10 : offset]

    def flush() -> None:
        while not done.is_set():
            logs.flush()

    flusher = threading.Thread(target=guarded, args=(flush,))
    writers = [threading.Thread(target=guarded, args=(lambda rank=rank: write(rank),)) for rank in range(8)]
    for thread in (flusher, *writers):
        thread.start()
    for thread in writers:
        thread.join(DEADLINE)
    done.set()
    flusher.join(DEADLINE)
    assert failures == []
    for rank, text in enumerate(texts):
        assert logs.read(ATTEMPT, rank, 0, 99_999) == text


def test_a_second_process_may_not_write_to_the_same_folder(logs: LogBook, tmp_path: Path) -> None:
    put(logs, 0, b"mine")
    program = (
        "import sys, datetime as d; from headway.store.logs import LogBook; n = d.datetime.now(d.UTC)\n"
        f"LogBook(sys.argv[1]).append({ATTEMPT!r}, 0, 4, b'theirs', n, n, True)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "logs")]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert refused.returncode == 1
    assert "logs-in-use" in refused.stderr
    logs.close()
    subprocess.run(command, check=True, timeout=DEADLINE)
    assert LogBook(tmp_path / "logs").read(ATTEMPT, 0, 0, 99) == b"minetheirs"
