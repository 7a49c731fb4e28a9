"""Throughput and memory: a large case of many ranks, examined by the command on one core.

On a busy machine the CPU seconds are what one free core would take. The logs are training output with changing figures,
warnings now and then, and one rank that runs out of memory.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import Goal, Result

LONGEST_S = 60.0
MOST_MIB = 500.0
FAULTY = 37
MIB = 1 << 20


def result(mib: int, files: int) -> Result:
    """Write the case, examine it once in a process of its own, and say what it took."""
    with tempfile.TemporaryDirectory(prefix="headway-bench-") as name:
        folder = Path(name)
        for rank in range(files):
            (folder / f"rank-{rank}.log").write_bytes(log(rank, mib * MIB // files))
        begun = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "headway.cli.main", "examine", str(folder), "--json"],
            check=True, capture_output=True, preexec_fn=_one_core,
        )  # fmt: skip
        seconds = time.perf_counter() - begun
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, used = spent.ru_maxrss / 1024, spent.ru_utime + spent.ru_stime
    found = json.loads(done.stdout)
    said = f"{found['cause_class']} on rank {found['first_rank']}"
    rows = [
        ["MiB", "files", "seconds", "CPU seconds", "peak MiB", "found"],
        [str(mib), str(files), f"{seconds:.1f}", f"{used:.1f}", f"{peak:.0f}", said],
    ]
    goals = [Goal("CPU seconds", used, "at most", LONGEST_S), Goal("peak MiB", peak, "at most", MOST_MIB)]
    goals.append(Goal("found the rank", float(found["first_rank"] == FAULTY % files), "at least", 1.0))
    return Result(
        "diagnosis",
        "a large case on one core",
        rows,
        goals,
        figures={"seconds": seconds, "cpu_seconds": used, "peak_mib": peak},
    )


def log(rank: int, size: int, seed: int = 7) -> bytes:
    """One rank's log of about `size` bytes."""
    draw = random.Random(seed * 1000 + rank)
    line = (
        b"[2026-12-01 %02d:%02d:%02d,%03d] [rank%d]: step %7d | loss %.4f | lr %.3e | grad norm %.3f | %.1f tokens/s\n"
    )
    parts, written, step = [], 0, 0
    while written < size:
        step += 1
        at = (step // 3600 % 24, step // 60 % 60, step % 60, draw.randrange(1000))
        text = line % (*at, rank, step, 9 * draw.random(), 3e-4 * draw.random(), draw.random(), 9e4 * draw.random())
        if step % 500 == 0:
            name = bytes(draw.choices(range(97, 123), k=24))
            text += b"[rank%d]: UserWarning: batch %d took %.2f s, %s\n" % (rank, step, draw.random(), name)
        parts.append(text)
        written += len(text)
    parts.append(_end(rank))
    return b"".join(parts)


def _end(rank: int) -> bytes:
    if rank == FAULTY:
        return b"[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" % rank
    return (
        b"[rank%d]:[E1201 10:22:33.120 ProcessGroupNCCL.cpp:629] [Rank %d] "
        b"Watchdog caught collective operation timeout: "
        b"WorkNCCL(SeqNum=812, OpType=ALLREDUCE, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000) ran for 600031 "
        b"milliseconds before timing out.\n" % (rank, rank)
    )


def _one_core() -> None:
    """Hold the examined process to one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
