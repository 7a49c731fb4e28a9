"""Damaged and failing disks: what was durable is never lost silently, never returned wrong, and the rest is read on."""

import errno
import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.domain.errors import PlatformError
from headway.store.logs import Ack, LogBook, disk, stream
from headway.store.logs.frame import HEADER_BYTES

NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)
ATTEMPT = "j-7f3k2m9q.1"


def put(logs: LogBook, offset: int, content: bytes, final: bool = False) -> Ack:
    return logs.append(ATTEMPT, 0, offset, content, NOW, NOW, final)


def files_of(root: Path) -> list[Path]:
    return sorted((root / ATTEMPT / "0").iterdir())


def read_around_damage(logs: LogBook) -> dict[int, bytes]:
    """Every sound piece by its offset, going on where each error says."""
    pieces: dict[int, bytes] = {}
    offset = 0
    while offset < logs.size(ATTEMPT, 0):
        damage: dict[str, object] = {}
        try:
            pieces[offset] = logs.read(ATTEMPT, 0, offset, 700)
        except PlatformError as error:
            damage = {"code": error.code, **error.params}
        until = damage.get("until", offset + len(pieces.get(offset, b"")))
        assert isinstance(until, int)
        assert until > offset
        if damage:
            assert damage == {"code": "log-damaged", "attempt": ATTEMPT, "rank": 0, "offset": offset, "until": until}
        offset = until
    return pieces


def read_sound(logs: LogBook) -> dict[int, bytes]:
    """The same, where the log book itself goes on."""
    pieces: dict[int, bytes] = {}
    offset = 0
    while offset < logs.size(ATTEMPT, 0):
        start, piece = logs.read_sound(ATTEMPT, 0, offset, 700)
        if piece:
            pieces[start] = piece
        offset = start + len(piece)
    return pieces


def write_frames(root: Path, draw: random.Random, segment_bytes: int) -> tuple[bytes, int]:
    """A closed stream of several frames (and segments); its text and the size of its largest frame."""
    text, largest = bytearray(), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "SEGMENT_BYTES", segment_bytes)
        logs = LogBook(root)
        for _ in range(draw.randrange(1, 12)):
            piece = draw.randbytes(draw.randrange(1, 400)) + b"=" * draw.randrange(400)
            put(logs, len(text), piece)
            logs.flush()
            text += piece
            largest = max(largest, len(piece))
        logs.close()
    return bytes(text), largest


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), flip=st.integers(1, 255), segment_bytes=st.sampled_from([1_000, 10**9]))
def test_a_flipped_byte_anywhere_costs_one_frame_and_is_told(
    tmp_path_factory: pytest.TempPathFactory, seed: int, flip: int, segment_bytes: int
) -> None:
    draw, root = random.Random(seed), tmp_path_factory.mktemp("logs")
    text, largest = write_frames(root, draw, segment_bytes)
    victim = draw.choice(files_of(root))
    content = bytearray(victim.read_bytes())
    content[draw.randrange(len(content))] ^= flip
    victim.write_bytes(content)
    logs = LogBook(root)
    assert logs.size(ATTEMPT, 0) == len(text)
    pieces = read_around_damage(logs)
    assert read_sound(logs) == pieces
    assert all(text[offset : offset + len(piece)] == piece for offset, piece in pieces.items())
    assert len(text) - sum(map(len, pieces.values())) <= largest
    assert put(logs, len(text), b"and on", final=True).durable == len(text) + 6
    assert logs.read(ATTEMPT, 0, len(text), 99) == b"and on"
    logs.close()


def test_the_error_names_attempt_rank_and_offset_in_both_languages(tmp_path: Path) -> None:
    logs = LogBook(tmp_path)
    for offset in (0, 1000, 2000):
        put(logs, offset, random.Random(offset).randbytes(1000), final=True)
    (victim,) = files_of(tmp_path)
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    assert len(logs.read(ATTEMPT, 0, 0, 3000)) == 1000
    with pytest.raises(PlatformError) as damaged:
        logs.read(ATTEMPT, 0, 1500, 10)
    assert damaged.value.text("en") == f"the stored log of attempt {ATTEMPT}, rank 0 is damaged at byte 1500"
    assert damaged.value.text("zh") == f"尝试 {ATTEMPT} 进程 0 的日志在第 1500 字节处已损坏"
    assert "2000" in damaged.value.hint("en")
    assert "2000" in damaged.value.hint("zh")


@pytest.mark.parametrize("missing", [0, 1])
def test_a_segment_that_is_missing_is_told_like_damage(tmp_path: Path, missing: int) -> None:
    text, _ = write_frames(tmp_path, random.Random(4), 1)
    files = files_of(tmp_path)
    assert len(files) > 2
    files[missing].unlink()
    pieces = read_around_damage(LogBook(tmp_path))
    start, end = int(files[missing].stem), int(files[missing + 1].stem)
    assert b"".join(pieces.values()) == text[:start] + text[end:]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_after_a_power_cut_anything_behind_the_fsync_may_be_there_torn_or_garbage(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """What a file holds behind its last fsync is cut or overwritten at random, as a crashed machine may leave it."""
    draw, root = random.Random(seed), tmp_path_factory.mktemp("logs")
    text = b"".join(draw.randbytes(draw.randrange(1, 3_000)) + b"-" * 50 for _ in range(12))
    logs = LogBook(root)
    durable, safe, offset = 0, 0, 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "MAX_FRAME_BYTES", 2_000)
        while offset < len(text):
            offset = put(logs, offset, text[offset : offset + draw.randrange(1, 2_000)]).received
            if draw.random() < 0.2:
                logs.flush()
                durable, safe = offset, files_of(root)[0].stat().st_size
    (file,) = files_of(root)
    content = bytearray(file.read_bytes())
    torn = draw.randrange(safe, len(content) + 1)
    content[torn:] = draw.choice([b"", bytes(len(content) - torn), draw.randbytes(500)])
    file.write_bytes(content)

    reopened = LogBook(root)
    logs._claim_folder()
    os.close(logs._claim or 0)
    received = reopened.size(ATTEMPT, 0)
    assert durable <= received <= len(text)
    assert reopened.read(ATTEMPT, 0, 0, len(text)) == text[:received]
    assert put(reopened, received, text[received:], final=True) == Ack(len(text), len(text))
    reopened.close()
    assert LogBook(root).read(ATTEMPT, 0, 0, len(text) + 1) == text
    plain = zstandard.ZstdDecompressor().stream_reader(file.read_bytes(), read_across_frames=True)
    assert plain.read() == text, "what was cut must not lie behind what came after"


def test_a_log_that_prints_a_segment_file_is_not_mistaken_for_one(tmp_path: Path) -> None:
    logs = LogBook(tmp_path)
    put(logs, 0, random.Random(1).randbytes(5_000), final=True)
    (file,) = files_of(tmp_path)
    printed = file.read_bytes()
    put(logs, 5_000, printed, final=True)
    logs.close()
    content = bytearray(file.read_bytes())
    content[len(printed) + 3] ^= 255
    file.write_bytes(content)
    assert b"".join(read_around_damage(LogBook(tmp_path)).values()) == random.Random(1).randbytes(5_000)
    assert len(printed) > 5_000 + HEADER_BYTES


def test_a_failed_fsync_takes_back_what_it_did_not_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = LogBook(tmp_path)
    put(logs, 0, b"safe", final=True)
    put(logs, 4, b" lost")
    with monkeypatch.context() as patch:
        patch.setattr(stream, "fsync", failing(errno.EIO))
        with pytest.raises(ExceptionGroup, match="durable") as told:
            logs.flush()
    assert [error.errno for error in told.value.exceptions if isinstance(error, OSError)] == [errno.EIO]
    assert put(logs, 9, b" later") == Ack(received=4, durable=4)
    assert logs.read(ATTEMPT, 0, 0, 99) == b"safe"
    assert put(logs, 4, b" lost later", final=True) == Ack(received=15, durable=15)
    logs.close()
    assert LogBook(tmp_path).read(ATTEMPT, 0, 0, 99) == b"safe lost later"


@pytest.mark.parametrize("written", [0, 10, 70])
def test_a_full_disk_refuses_and_later_goes_on_without_a_seam(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    """The disk takes some bytes of a record and then no more."""
    logs = LogBook(tmp_path)
    text = random.Random(2).randbytes(900_000)
    put(logs, 0, text[:1_000], final=True)
    size = files_of(tmp_path)[0].stat().st_size

    def pwrite(descriptor: int, content: bytes, position: int, real: Callable[..., int] = os.pwrite) -> int:
        if position > size + 10 or not written:
            raise OSError(errno.ENOSPC, "no space")
        return real(descriptor, content[:written], position)

    taken = 1_000
    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "pwrite", pwrite)
        for _ in range(5):
            with pytest.raises(OSError, match="no space"):
                put(logs, taken, text[taken : taken + 300_000])
            taken = logs.size(ATTEMPT, 0)
        with pytest.raises(ExceptionGroup):
            logs.flush()
        assert taken <= 301_000, "what cannot be written must not pile up in memory"
        assert logs.read(ATTEMPT, 0, 0, taken) == text[:taken]
    put(logs, taken, text[taken:], final=True)
    logs.close()
    assert LogBook(tmp_path).read(ATTEMPT, 0, 0, len(text) + 1) == text


def test_one_failing_stream_does_not_keep_others_from_being_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = LogBook(tmp_path)
    for rank in range(3):
        logs.append(ATTEMPT, rank, 0, b"text", NOW, NOW)

    def fsync(path: Path, real: Callable[[Path], None] = stream.fsync) -> None:
        if path.parent.name == "1":
            raise OSError(errno.EIO, "broken")
        real(path)

    monkeypatch.setattr(stream, "fsync", fsync)
    with pytest.raises(ExceptionGroup):
        logs.flush()
    acks = [logs.append(ATTEMPT, rank, 0, b"", NOW, NOW) for rank in (0, 2)]
    assert acks == [Ack(4, 4), Ack(4, 4)]
    assert logs.size(ATTEMPT, 1) == 0


def failing(number: int) -> Callable[[Path], None]:
    def fail(path: Path) -> None:
        raise OSError(number, os.strerror(number), str(path))

    return fail
