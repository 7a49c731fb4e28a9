"""P7: log lines a second made durable on one core, against a bare zstd append of the same bytes with an fsync a second.

Both sides get the same chunks in the same order on one thread and make the end durable before the clock stops. Rounds
alternate; the figure is the median of the rounds' ratios. `python -m benchmarks.logs [--json] [--rounds N] [--mib N]`.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import zstandard

from headway.store.logs import LogBook
from headway.store.logs.frame import LEVEL

FLUSH_SECONDS = 1.0
NOW = datetime(2026, 12, 1, tzinfo=UTC)
CHUNKS = {"4 KiB": 4096, "64 KiB": 65536, "1 MiB": 1048576}
TARGET = 0.3
MIB = 1024 * 1024
LINE = (
    b"[2026-12-01 08:%02d:%02d,%03d] [rank %d] step %7d | loss %.4f | lr %.3e "
    b"| grad norm %.3f | %.1f tokens/s | mem %.2f GiB\n"
)


@dataclass(frozen=True)
class Row:
    """One chunk size: durable lines a second of either side and the median ratio with its quartiles."""

    chunk: str
    floor_lines_per_s: float
    headway_lines_per_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    floor_bytes: int
    headway_bytes: int


@dataclass(frozen=True)
class Windows:
    """Reading 64 KiB somewhere in 1 GiB of log after a restart."""

    segments: int
    unpack_all_ms: float
    median_ms: float
    worst_ms: float


def lines(count: int, seed: int = 7) -> bytes:
    """Training output as frameworks print it: about 120 bytes a line, figures that change."""
    draw = random.Random(seed)
    return b"".join(
        LINE
        % (
            step // 60 % 60, step % 60, draw.randrange(1000), draw.randrange(8), step, 9 * draw.random(),
            3e-4 * draw.random(), draw.random(), 9e4 * draw.random(), 80 * draw.random(),
        )
        for step in range(count)
    )  # fmt: skip


def bare(chunks: list[bytes], folder: Path) -> int:
    """The floor: one zstd stream appended to one file, fsynced once a second and at the end; returns bytes on disk."""
    path = folder / "bare.zst"
    with path.open("wb", buffering=0) as file:
        packer = zstandard.ZstdCompressor(level=LEVEL).compressobj()
        due = time.monotonic() + FLUSH_SECONDS
        for chunk in chunks:
            file.write(packer.compress(chunk))
            if time.monotonic() >= due:
                file.write(packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
                os.fsync(file.fileno())
                due = time.monotonic() + FLUSH_SECONDS
        file.write(packer.flush())
        os.fsync(file.fileno())
    return path.stat().st_size


def through_the_book(chunks: list[bytes], folder: Path) -> int:
    """The same bytes through `LogBook.append`, with `flush` once a second and at the end; returns bytes on disk."""
    book = LogBook(folder)
    offset = 0
    due = time.monotonic() + FLUSH_SECONDS
    for chunk in chunks:
        offset = book.append("j-bench.1", 0, offset, chunk, NOW, NOW).received
        if time.monotonic() >= due:
            book.flush()
            due = time.monotonic() + FLUSH_SECONDS
    book.flush()
    return sum(path.stat().st_size for path in folder.rglob("*.zst"))


def timed(side: Callable[[list[bytes], Path], int], chunks: list[bytes]) -> tuple[float, int]:
    """Run one side in a fresh folder; seconds and bytes on disk."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        begun = time.perf_counter()
        size = side(chunks, Path(folder))
        return time.perf_counter() - begun, size


def measure(name: str, text: bytes, rounds: int) -> Row:
    """Alternate the two sides, whichever begins changing each round."""
    chunks = [text[at : at + CHUNKS[name]] for at in range(0, len(text), CHUNKS[name])]
    count = text.count(b"\n")
    floor, ours, floor_bytes, our_bytes = [], [], 0, 0
    for number in range(rounds):
        for side in (bare, through_the_book) if number % 2 else (through_the_book, bare):
            seconds, size = timed(side, chunks)
            if side is bare:
                floor.append(count / seconds)
                floor_bytes = size
            else:
                ours.append(count / seconds)
                our_bytes = size
    low, middle, high = statistics.quantiles((a / b for a, b in zip(ours, floor, strict=True)), n=4)
    return Row(
        name, statistics.median(floor), statistics.median(ours), middle, low, high, floor_bytes, our_bytes
    )  # fmt: skip


def windows(text: bytes, count: int = 20) -> Windows:
    """Time windows of 64 KiB at random places of 1 GiB, each by a book just opened, against unpacking it all."""
    draw, size = random.Random(3), 1 << 30
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as folder:
        book, offset = LogBook(Path(folder)), 0
        while offset < size:
            offset = book.append("j-bench.1", 0, offset, text[: size - offset][:MIB], NOW, NOW).received
        book.close()
        files = list(Path(folder).rglob("*.zst"))
        begun = time.perf_counter()
        for path in files:
            with path.open("rb") as file:
                reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
                while reader.read(MIB):
                    pass
        whole = time.perf_counter() - begun
        times = []
        for _ in range(count):
            place = draw.randrange(size - 65536)
            begun = time.perf_counter()
            found = LogBook(Path(folder)).read("j-bench.1", 0, place, 65536)
            times.append(time.perf_counter() - begun)
            assert found == (text[:MIB] * 2)[place % MIB :][:65536]
    return Windows(len(files), whole * 1000, statistics.median(times) * 1000, max(times) * 1000)


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = "| chunk | bare zstd, lines/s | LogBook, lines/s | ratio (quartiles) | bytes on disk, ratio |"
    body = [
        f"| {r.chunk} | {r.floor_lines_per_s:,.0f} | {r.headway_lines_per_s:,.0f} "
        f"| {r.ratio:.2f} ({r.ratio_low:.2f}–{r.ratio_high:.2f}) | {r.headway_bytes / r.floor_bytes:.2f} |"
        for r in rows
    ]
    return "\n".join([head, "|---|---|---|---|---|", *body])


def main() -> None:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--mib", type=int, default=256)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    once = lines(500_000)
    text = (once * (1 + options.mib * MIB // len(once)))[: options.mib * MIB]
    rows = [measure(name, text, options.rounds) for name in CHUNKS]
    worst = min(row.ratio for row in rows)
    seen = windows(text)
    if options.json:
        print(
            json.dumps(
                {"rows": [asdict(row) for row in rows], "worst_ratio": worst, "target": TARGET, "windows": asdict(seen)}
            )
        )
    else:
        print(table(rows))
        print(f"\nworst ratio {worst:.2f}, target at least {TARGET}")
        print(
            f"64 KiB anywhere in 1 GiB ({seen.segments} segments), just opened: {seen.median_ms:.1f} ms, "
            f"worst {seen.worst_ms:.1f} ms; unpacking it all {seen.unpack_all_ms:,.0f} ms"
        )


if __name__ == "__main__":
    main()
