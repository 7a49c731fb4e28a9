"""What Headway costs and gains over a real Slurm: jobs of `true`, questions to the controller, a node's power cut.

`bare` are the same jobs by `sbatch`, of a script in which `srun` starts a Python that imports what any agent needs and
runs the same command. Each job's shell notes the time when it starts, so that both sides are measured alike. The power
cut is measured against Slurm's own requeue of the same gang, from the cut to the first new step.
`python -m benchmarks.slurm [--json] [--quick]`. Needs root, Slurm's packages and the tool of `slurm_site.py`.
"""

import argparse
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.server import PROJECT, wait_for
from benchmarks.slurm_site import TYPE, Slurm, serving, testbed
from benchmarks.table import Goal, Result, machine, publish
from headway.sdk.client.client import Client

NODES = ("--types", "h200:3,ascend910b:1", "--slurmd-timeout", "5", "--requeue-delay", "10")
DEVICES = 24
ACCOUNTED = "--accounting"
WITNESS = "import subprocess, threading, http.client; subprocess.run({argv!r})"
ASK = ("--nodes=1", "--ntasks-per-node=1", "--gpus-per-node=h200:1", "--cpus-per-task=1", "--mem=100M", "--time=10")
COMMANDS = {"SUBMIT_BATCH_JOB", "KILL_JOB", "CANCEL_JOB_STEP", "UPDATE_JOB", "UPDATE_NODE", "CREATE_RESERVATION"}
OWN = "STATS_INFO"
STEPS = "while :; do echo $(date +%s.%N) {run} >> {file}; sleep 0.1; done"


@dataclass(frozen=True)
class Load:
    """Jobs a second from the first submission to the last end; seconds from submission to start, the median."""

    jobs_per_s: float
    median_start_s: float


def note(folder: Path, name: str) -> str:
    """A shell line that notes when it ran, in a file of its own."""
    return f"date +%s.%N > {folder}/{name}; true"


def timed(count: int, threads: int, submit: Callable[[int], str], folder: Path, ended: Callable[[], object]) -> Load:
    """Submit so many jobs; `submit` returns the name of the file in which the job notes its start."""
    submitted: dict[str, float] = {}

    def one(number: int) -> None:
        at = time.time()
        submitted[submit(number)] = at

    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, range(count)))
    ended()
    wall = time.perf_counter() - began
    starts = [float((folder / name).read_text()) - at for name, at in submitted.items()]
    return Load(count / wall, statistics.median(starts))


def bare(slurm: Slurm, count: int, threads: int) -> Load:
    """The floor: `sbatch`, `srun`, a bare Python."""
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as place:
        folder = Path(place)

        def submit(number: int) -> str:
            argv = ["/bin/sh", "-c", note(folder, str(number))]
            script = f"#!/bin/sh\nsrun python3 -I -c '{WITNESS.format(argv=argv).replace(chr(39), chr(34))}'\n"
            slurm.run("sbatch", "--parsable", "--output=/dev/null", *ASK, stdin=script)
            return str(number)

        def ended() -> None:
            wait_for(lambda: True if len(list(folder.iterdir())) == count else None, "the starts", deadline_s=300)
            wait_for(slurm.is_empty, "the last end", every_s=0.1, deadline_s=120)

        return timed(count, threads, submit, folder, ended)


def headway(slurm: Slurm, count: int, threads: int) -> Load:
    """The same jobs through Headway's queue."""
    with serving(slurm, DEVICES) as (home, client):
        folder = home / "starts"
        folder.mkdir()

        def submit(number: int) -> str:
            client.submit(_job(f"n{number}", note(folder, str(number))))
            return str(number)

        return timed(count, threads, submit, folder, lambda: _ends(client, count))


def _job(name: str, command: str, nodes: int = 1, **more: Any) -> dict[str, Any]:
    wanted = {"nodes": nodes, "device_types": [TYPE]}
    body = {"name": name, "project": PROJECT, "template": "command", "parameters": {"command": command}}
    return {**body, "resources": wanted, **more}


def _ends(client: Client, count: int) -> None:
    """Wait until so many jobs have ended. Raises RuntimeError when one did not succeed."""
    seen, place = 0, 0

    def look() -> bool | None:
        nonlocal seen, place
        for fact in client.facts(place, project=PROJECT, kind="job-ended", limit=1000):
            if fact["data"]["state"] != "succeeded":
                raise RuntimeError(f"{fact['data']['job']} ended {fact['data']['state']}: {fact['data']['reason']}")
            seen, place = seen + 1, fact["seq"]
        return True if seen >= count else None

    wait_for(look, f"the end of {count} jobs", every_s=0.1, deadline_s=600)


def requeue(slurm: Slurm) -> float:
    """Seconds from the power cut to the first new step of a gang that Slurm requeues by itself."""
    with tempfile.TemporaryDirectory(prefix="headway-benchmark-") as place:
        file = Path(place, "steps")
        steps = STEPS.format(run="${SLURM_RESTART_COUNT:-0}", file=file)
        script = f"#!/bin/sh\nsrun /bin/sh -c '{steps}'\n"
        words = [word for word in ASK if not word.startswith("--nodes")]
        number = slurm.run(
            "sbatch", "--parsable", "--requeue", "--nodes=2", "--output=/dev/null", *words, stdin=script
        ).strip()
        wait_for(lambda: _first(file, "0"), "the first step")
        time.sleep(1)
        lost = slurm.run("squeue", "-h", "-j", number, "-o", "%N").strip()
        node = slurm.run("scontrol", "show", "hostnames", lost).split()[1]
        cut = time.time()
        slurm.tool("kill", node)
        first = wait_for(lambda: _first(file, "1"), "the first step after the requeue")
        slurm.run("scancel", number)
        mend(slurm)
        return first - cut


def resumed(slurm: Slurm) -> float:
    """The same gang under Headway."""
    with serving(slurm, DEVICES) as (home, client):
        file = home / "steps"
        client.add_template(_gang(STEPS.format(run="${HEADWAY_ATTEMPT##*.}", file=file)))
        job = client.submit({"name": "gang", "project": PROJECT, "template": "gang"})["id"]
        wait_for(lambda: _first(file, "1"), "the first step")
        time.sleep(1)
        node = client.job(job)["attempt"]["placements"][1]["node"]
        cut = time.time()
        slurm.tool("kill", node)
        first = wait_for(lambda: _first(file, "2"), "the first step of the second attempt")
        found = client.attempts(job)[0]["verdict"]
        if (found["fault"], found["node"]) != ("node-down", node):
            raise RuntimeError(f"the verdict is {found}")
        client.stop(job)
        wait_for(lambda: client.job(job)["job"]["ended_at"], "the end of the job")
    mend(slurm)
    return first - cut


def _gang(steps: str) -> dict[str, Any]:
    return {
        "name": "gang",
        "kind": "training",
        "command": ["/bin/sh", "-c", steps.replace("{", "{{").replace("}", "}}")],
        "resources": {"nodes": 2, "devices_per_node": 1, "ranks_per_node": 1, "device_types": [TYPE]},
        "recovery": {"retries": 3, "grace_s": 5},
    }


def _first(file: Path, run: str) -> float | None:
    """When the first step of a run was made."""
    lines = file.read_text().splitlines() if file.exists() else []
    found = [line.split() for line in lines if len(line.split()) == 2]
    return min((float(at) for at, which in found if which == run), default=None)


def mend(slurm: Slurm) -> None:
    """Everything up and idle again."""
    slurm.tool("up")
    wait_for(slurm.is_empty, "the queue to be empty")
    wait_for(lambda: True if set(slurm.run("sinfo", "-h", "-o", "%T").split()) == {"idle"} else None, "idle nodes")


def questions(jobs: int, seconds: float) -> float:
    """RPCs a minute from Headway alone while so many jobs of its own run: agent-less `sleep`, only looked at."""
    with testbed((*NODES, "--cpus", "512")) as slurm, serving(slurm, DEVICES) as (home, client):
        _adopt(slurm, home, client, jobs)
        time.sleep(20)  # until it has settled at its pace
        before = _asked(slurm)
        time.sleep(seconds)
        return (_asked(slurm) - before) * 60 / seconds


def _adopt(slurm: Slurm, home: Path, client: Client, jobs: int) -> None:
    """Jobs that run beside a live attempt of Headway's, so that every turn looks at all of them."""
    client.submit(_job("sleeper", "exec sleep 600"))
    array = f"--array=1-{jobs}"
    words = ("--ntasks=1", "--cpus-per-task=1", "--mem=1M", "--time=30", "--output=/dev/null")
    slurm.run("sbatch", array, *words, stdin="#!/bin/sh\nexec sleep 900\n")
    wait_for(lambda: True if _running(slurm) > jobs else None, f"{jobs} jobs to run", every_s=1.0, deadline_s=300)


def _running(slurm: Slurm) -> int:
    return len(slurm.run("squeue", "-h", "-r", "-t", "running", "-o", "%i").split())


def _asked(slurm: Slurm) -> int:
    """How many RPCs of commands slurmctld has served so far: the nodes' own and this question are left out."""
    found = re.findall(r"^\s*REQUEST_(\w+)\s.*count:(\d+)", slurm.run("sdiag"), re.MULTILINE)
    return sum(int(count) for kind, count in found if kind in COMMANDS or (kind.endswith("_INFO") and kind != OWN))


def measure(jobs: int, threads: int, running: int, seconds: float) -> Result:
    """All sides in one run."""
    with testbed((*NODES, ACCOUNTED)) as slurm:
        floor = bare(slurm, jobs, threads)
        ours = headway(slurm, jobs, threads)
    with testbed(NODES) as slurm:
        by_slurm, by_headway = requeue(slurm), resumed(slurm)
    asked = questions(running, seconds)
    rows = [
        ("side", "jobs/s", "median start", "cut to first new step"),
        ("Slurm alone", f"{floor.jobs_per_s:.2f}", f"{floor.median_start_s:.2f} s", f"{by_slurm:.1f} s"),
        ("Headway", f"{ours.jobs_per_s:.2f}", f"{ours.median_start_s:.2f} s", f"{by_headway:.1f} s"),
    ]
    goals = [
        Goal("jobs/s of bare", ours.jobs_per_s / floor.jobs_per_s, "at least", 0.7),
        Goal("median start, s", ours.median_start_s, "at most", 1.2 * floor.median_start_s + 0.5),
        Goal("cut to first new step, of Slurm's requeue", by_headway / by_slurm, "at most", 0.5),
        Goal(f"RPCs a minute with {running} jobs running", asked, "at most", 12),
    ]
    figures = {
        "bare": vars(floor),
        "headway": vars(ours),
        "node_loss": {"slurm_requeue_s": by_slurm, "headway_s": by_headway},
        "queries_per_minute": asked,
    }
    return Result("slurm", f"{jobs} jobs of `true`, a power cut, {running} running jobs", rows, goals, (), figures)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; `--quick` runs a few jobs to see that everything works."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="few jobs: not a measurement")
    parser.add_argument("--threads", type=int, default=4, help="client threads (default 4)")
    given = parser.parse_args(arguments)
    given.jobs, given.running, given.seconds = (8, 20, 10.0) if given.quick else (200, 1000, 120.0)
    return given


def main() -> None:
    """Run and print the table."""
    given, here = parse(), machine()
    publish(measure(given.jobs, given.threads, given.running, given.seconds), given.json, here)


if __name__ == "__main__":
    main()
