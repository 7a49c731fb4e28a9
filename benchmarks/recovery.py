"""P4: from the kill of a rank to the first new step, under Headway and under a bare `torchrun --max-restarts 1`.

Both run examples/tiny_gpt with two ranks and a checkpoint every 20 steps; rank 1 dies of SIGKILL (under Headway by a
drill) and the newest checkpoint is loaded. The figure is measured from outside, the same way on both sides: from the
moment the rank is gone to the time stamp of the first step any rank does afterwards. What Headway itself says, the
loss bill's `kill_to_first_step_s`, stands beside it.
`python -m benchmarks.recovery [--json] [--quick] [--pairs N]`.
"""

import argparse
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import training
from benchmarks.intervals import median_interval
from benchmarks.server import DEADLINE_S, Server, server, wait_for
from benchmarks.table import Goal, Result, machine, publish

TARGET = 1.25
KILL_AFTER = 25
FOR_EVER = 1_000_000
TORCHRUN = ("--standalone", "--nproc-per-node", "2", "--max-restarts", "1")
# With the store of the first start torch 2.13's gloo finds the addresses of the dead, and no restart succeeds.
OWN_STORE = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
# Facts in the order in which a recovery passes them, each as the end of what came before.
STAGES = ("rank-exited", "attempt-ended", "verdict-reached", "recovery-decided", "attempt-launched")
SAID = ("attached", "restored", "first step")


@dataclass(frozen=True)
class Recovery:
    """Seconds from the kill to the first new step; at which step the rank died; when each stage was over.

    `billed`, `phases`: what Headway itself says of it.
    """

    seconds: float
    step: int
    stages: dict[str, float]
    billed: float | None = None
    phases: dict[str, float] = field(default_factory=dict)


def bare(data: Path, step: int) -> Recovery:
    """The floor: torchrun restarts its ranks by itself, and they load the newest checkpoint."""
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as folder:
        said = [Path(folder) / f"events-{rank}.jsonl" for rank in range(2)]
        command = [sys.executable, "-m", "torch.distributed.run", *TORCHRUN, str(training.TINY_GPT / "train.py")]
        command += ["--data", str(data), "--steps", str(FOR_EVER)]
        env = training.by_hand(Path(folder), OWN_STORE)
        with (Path(folder) / "log").open("wb") as log:
            torchrun = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_for(lambda: training.step_reached(said[1], step), f"step {step}")
            victim = training.events(said[1], "attached")[-1]["pid"]
            died_at = death_of(victim, lambda: os.kill(victim, signal.SIGKILL))
            return measured(said, said, died_at)
        except TimeoutError as late:
            raise RuntimeError(f"{late}; torchrun said: {(Path(folder) / 'log').read_text()[-2000:]}") from None
        finally:
            end(torchrun, said)


def under_headway(here: Server, step: int) -> Recovery:
    """The same under Headway, by a drill."""
    job = training.submit(here, FOR_EVER)
    run = here.home / "run"
    first, second = ([run / f"{job}.{n}" / f"n{rank + 1}" / f"rank-{rank}" for rank in range(2)] for n in (1, 2))
    old, new = ([folder / "events.jsonl" for folder in folders] for folders in (first, second))
    wait_for(lambda: training.step_reached(old[1], step), f"step {step}")
    died_at = death_of(training.events(old[1], "attached")[-1]["pid"], lambda: here.client.drill(job, 1))
    outside = measured(old, new, died_at)
    bill = wait_for(lambda: _measured_bill(here, job), "the loss bill")
    stages = _stages(here, job, died_at) | outside.stages
    here.client.stop(job)
    wait_for(lambda: here.client.job(job)["job"]["ended_at"], "the end of the job")
    phases = {name: seconds for name, seconds in bill["phases"].items() if seconds is not None}
    return Recovery(outside.seconds, outside.step, stages, bill["kill_to_first_step_s"], phases)


def _measured_bill(here: Server, job: str) -> dict[str, Any] | None:
    bills = here.client.bills(job)
    return bills[-1] if bills and bills[-1]["kill_to_first_step_s"] is not None else None


def measured(old: Sequence[Path], new: Sequence[Path], died_at: float) -> Recovery:
    """Wait for the first new step and read the ranks' own time stamps."""
    said = wait_for(lambda: training.first_after(new, died_at, "progress"), "the first new step")
    if said["step"] <= 1:
        raise RuntimeError("no checkpoint was loaded: the training began again")
    died = [event["step"] for event in training.events(old[1], "progress") if event["t"] <= died_at]
    stages = {"first step": said["t"] - died_at}
    for kind in ("attached", "restored"):
        event = training.first_after(new, died_at, kind)
        if event is not None:
            stages[kind] = event["t"] - died_at
    return Recovery(said["t"] - died_at, died[-1], stages)


def death_of(pid: int, cause: Callable[[], object]) -> float:
    """When a process that is not ours to wait for has died of what `cause` does, told by the kernel through a pidfd."""
    watched = os.pidfd_open(pid)
    try:
        cause()
        if not select.select([watched], [], [], DEADLINE_S)[0]:
            raise TimeoutError(f"process {pid} did not die within {DEADLINE_S:g} s")
        return time.time()
    finally:
        os.close(watched)


def end(torchrun: subprocess.Popen[bytes], said: Sequence[Path]) -> None:
    """End torchrun and its ranks: by its process group, and each rank by the pid it told."""
    ranks = [event["pid"] for path in said for event in training.events(path, "attached")[-1:]]
    for pid in (*ranks, torchrun.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    torchrun.wait(DEADLINE_S)


def _stages(here: Server, job: str, died_at: float) -> dict[str, float]:
    """Seconds from the kill to the last fact of each kind after it."""
    seen = {}
    for fact in here.client.all_facts(job=job):
        at = datetime.fromisoformat(fact["at"]).timestamp() - died_at
        if fact["kind"] in STAGES and at > -0.5 and not fact["data"].get("stopped_by_us"):
            seen[fact["kind"]] = at
    return {kind: seen[kind] for kind in STAGES if kind in seen}


def measure(pairs: int) -> Result:
    """Alternate the sides; whichever begins changes with each pair."""
    floors, ours, step = [], [], KILL_AFTER
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as folder:
        data = training.prepare_data(Path(folder))
        with server("n1:2,n2:2", 4) as here:
            training.register(here, data)
            for number in range(pairs):
                if number % 2:
                    ours.append(under_headway(here, KILL_AFTER))
                    floors.append(bare(data, ours[-1].step))
                else:
                    floors.append(bare(data, step))
                    ours.append(under_headway(here, KILL_AFTER))
                step = ours[-1].step
    return result(floors, ours)


def result(floors: Sequence[Recovery], ours: Sequence[Recovery]) -> Result:
    """The table, the breakdown, and the ratio of each pair."""
    ratio = median_interval([one.seconds / floor.seconds for one, floor in zip(ours, floors, strict=True)])
    billed = [one.billed for one in ours if one.billed is not None]
    rows = [
        ("side", "kill to first new step, median", "each", "ratio (interval)"),
        ("torchrun --max-restarts 1", _median(floors), _each(floors), "1"),
        ("Headway, measured from outside", _median(ours), _each(ours), str(ratio)),
        ("Headway, by its loss bill", f"{statistics.median(billed):.2f} s", " ".join(f"{b:.2f}" for b in billed), ""),
    ]
    told = [name for name in ours[0].phases if all(name in one.phases for one in ours)]
    phases = {name: statistics.median(one.phases[name] for one in ours) for name in told}
    notes = [
        breakdown("torchrun", floors, SAID),
        breakdown("Headway", ours, (*STAGES, *SAID)),
        "Headway, by its loss bill: " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in phases.items()),
        *ratio.doubts(TARGET),
    ]
    figures = {
        "floor_s": statistics.median(one.seconds for one in floors),
        "headway_s": statistics.median(one.seconds for one in ours),
        "detect_s": phases.get("detect"),
        "phases": phases,
        "ratio": asdict(ratio),
        "floor": [asdict(one) for one in floors],
        "headway": [asdict(one) for one in ours],
    }
    title = f"kill of rank 1 of 2 to the first new step, {len(ours)} alternating pairs"
    return Result("P4", title, rows, [Goal("ratio", ratio.median, "at most", TARGET)], notes, figures)


def breakdown(side: str, seen: Sequence[Recovery], stages: Sequence[str]) -> str:
    """Where the seconds go: how long after the one before each stage was reached, medians."""
    shown, before = [], 0.0
    for stage in stages:
        at = [one.stages[stage] for one in seen if stage in one.stages]
        if at:
            shown.append(f"{stage} {abs(statistics.median(at) - before):.2f}")
            before = statistics.median(at)
    return f"{side}, seconds from stage to stage: {', '.join(shown)}: {before:.2f} in all"


def _median(seen: Sequence[Recovery]) -> str:
    return f"{statistics.median(one.seconds for one in seen):.2f} s"


def _each(seen: Sequence[Recovery]) -> str:
    return " ".join(f"{one.seconds:.2f}" for one in seen)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; `--quick` takes one pair."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="one pair: not a measurement")
    parser.add_argument("--pairs", type=int, help="pairs of runs (default 5)")
    given = parser.parse_args(arguments)
    given.pairs = given.pairs or (1 if given.quick else 5)
    return given


def main() -> None:
    """Run and print the table."""
    given, here = parse(), machine()
    publish(measure(given.pairs), given.json, here)


if __name__ == "__main__":
    main()
