"""P5: how long a save holds the training up, on two ranks with a sharded state, the same bytes saved in every way.

`python -m benchmarks.checkpoint [--mib N] [--rounds N] [--quick] [--json]`. Ways take turns within one
run: a warm memory copy (the floor), Headway in the background, `torch.save` with fsync, torch's `dcp.async_save` on a
group of its own; then the newest checkpoint is loaded with torch alone and restored with Headway, which verifies it. A
round counts as its slower rank. The first round pays for memory and is told apart. DLRover's flash checkpoint is not
among the ways: its figure is null with the reason.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.table import Goal, Result, machine, publish

RANKS = 2
DEADLINE_S = 1500
WAYS = {
    "copy": "warm memory copy",
    "headway": "Headway, in the background",
    "torch_save": "torch.save and fsync",
    "dcp_async": "dcp.async_save",
    "load": "load with torch alone",
    "restore": "restore, verified",
}
NO_FLASH = "dlrover 0.6.1 in a process of its own on CPU copied to memory and never committed: 0 of 1 shards were ready"


def ranks_said(options: Namespace, folder: Path) -> list[dict[str, Any]]:
    """What both ranks measured; RuntimeError with their output when one did not come to its end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "benchmarks.programs.saving_rank", str(folder)]
    command += ["--mib", str(options.mib), "--rounds", str(options.rounds)]
    shared = {"WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    logs = [folder / f"rank-{rank}.log" for rank in range(RANKS)]
    programs = []
    for rank, log in enumerate(logs):
        with log.open("wb") as errors:
            env = {**kept, **shared, "RANK": str(rank)}
            programs.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=env, text=True))
    try:
        outputs = [program.communicate(timeout=DEADLINE_S)[0] for program in programs]
    finally:
        for program in programs:
            program.kill()
            program.wait()
    if any(program.returncode != 0 for program in programs):
        raise RuntimeError("\n".join(log.read_text()[-2000:] for log in logs))
    return [json.loads(output.splitlines()[-1]) for output in outputs]


def slower(said: Sequence[dict[str, Any]], way: str) -> list[tuple[float, float]]:
    """Seconds and CPU seconds of each round, of the rank that took longer."""
    return [(max(wall for wall, _ in turn), max(cpu for _, cpu in turn))
            for turn in zip(*(rank["seconds"][way] for rank in said), strict=True)]  # fmt: skip


def ratio(rounds: dict[str, list[tuple[float, float]]], over: str, under: str, what: int) -> float:
    """The median over later rounds of one way's seconds (`what` 0) or CPU seconds (1) over another's of that round."""
    pairs = zip(rounds[over][1:], rounds[under][1:], strict=True)
    return statistics.median(one[what] / max(other[what], 1e-9) for one, other in pairs)


def measured(options: Namespace) -> Result:
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-", dir=options.where) as folder:
        said = ranks_said(options, Path(folder))
    rounds = {way: slower(said, way) for way in WAYS}
    rows = [["way", "first, s", "later, s (median)", "CPU, s", "of a warm copy"]]
    for way, title in WAYS.items():
        later = [statistics.median(turn[what] for turn in rounds[way][1:]) for what in (0, 1)]
        said_ratio = f"{ratio(rounds, way, 'copy', 0):.2f}" if way not in ("load", "restore") else ""
        rows.append([title, f"{rounds[way][0][0]:.3f}", f"{later[0]:.3f}", f"{later[1]:.3f}", said_ratio])
    size = sum(rank["bytes"] for rank in said)
    verify = ratio(rounds, "restore", "load", 0) - 1
    return Result(
        name="checkpoint (P5)",
        title=f"seconds a save of {size / 2**20:.0f} MiB on {RANKS} ranks holds the training up",
        rows=rows,
        goals=[
            Goal("stall over a warm copy", ratio(rounds, "headway", "copy", 0), "at most", 1.5),
            Goal("stall over torch.save and fsync", ratio(rounds, "headway", "torch_save", 0), "at most", 0.2),
            Goal("stall over dcp.async_save", ratio(rounds, "headway", "dcp_async", 0), "at most", 1.0),
            Goal("verification over a warm load", verify, "at most", 1.0),
        ],
        notes=[f"{options.rounds} rounds after the first; ratios are medians of the rounds' own", f"flash: {NO_FLASH}"],
        figures=figures(rounds, verify, size),
    )


def figures(rounds: dict[str, list[tuple[float, float]]], verify: float, size: int) -> dict[str, Any]:
    """Medians for programs, by wall clock and by CPU, and the first save apart."""
    names = {"headway": "headway_stall", "copy": "copy", "torch_save": "torch_save", "dcp_async": "dcp_async_stall"}
    found: dict[str, Any] = {"bytes": size, "verify_ratio": verify, "flash_stall_s": None, "flash_reason": NO_FLASH}
    for way, name in names.items():
        found[f"{name}_s"] = statistics.median(wall for wall, _ in rounds[way][1:])
        found[f"{name}_cpu_s"] = statistics.median(cpu for _, cpu in rounds[way][1:])
        found[f"first_{name}_s"] = rounds[way][0][0]
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.checkpoint", description=__doc__)
    parser.add_argument("--mib", type=int, default=1024, help="bytes of state on all ranks together (default 1 GiB)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after the first (default 5)")
    parser.add_argument("--where", type=Path, help="where to save (default: the system's temporary folder)")
    parser.add_argument("--quick", action="store_true", help="24 MiB and two rounds: to see that it works")
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    options = parser.parse_args(arguments)
    if options.quick:
        options.mib, options.rounds = 24, 2
    here = machine()
    publish(measured(options), options.json, here)


if __name__ == "__main__":
    main()
