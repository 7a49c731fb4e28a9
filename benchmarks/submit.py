"""P2: from submit to running, and jobs a second, of jobs that do nothing.

A real server on SQLite with 16 CPU slots of the local engine runs jobs of `true`, submitted by a few client threads.
The floors run as many processes, 16 at a time: `sh -c true`, and a bare Python that loads what any witness needs
before it runs `true`. Latency is taken from the facts: job-submitted to attempt-started, which is when the server has
heard that the rank runs; once with the queue full and once with one job at a time.
`python -m benchmarks.submit [--json] [--quick] [--jobs N]`.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from benchmarks.intervals import quantile
from benchmarks.server import PROJECT, Server, server, wait_for
from benchmarks.table import Goal, Result, machine, publish
from headway.sdk.client.client import Client

SLOTS = 16
TARGET = 20.0
WITNESS = "import subprocess, json, http.client; subprocess.run(['sh', '-c', 'true'])"
JOB = {"name": "nothing", "project": PROJECT, "template": "command", "parameters": {"command": "true"}}
MARKS = ("job-submitted", "attempt-started")


@dataclass(frozen=True)
class Load:
    """What a number of jobs took: jobs a second, seconds from submit to running, CPU milliseconds a job."""

    jobs_per_s: float
    to_running_s: tuple[float, ...]
    server_cpu_ms: float
    agent_cpu_ms: float


def floor(command: Sequence[str], count: int) -> float:
    """Processes a second, `SLOTS` at a time."""
    with ThreadPoolExecutor(SLOTS) as pool:
        began = time.perf_counter()
        for code in pool.map(lambda _: subprocess.run(command, check=False).returncode, range(count)):
            if code != 0:
                raise RuntimeError(f"{command[0]} ended with {code}")
        return count / (time.perf_counter() - began)


def full_queue(here: Server, count: int, threads: int) -> Load:
    """Submit all jobs at once; the clock stops when the last has ended."""
    before = here.cpu_seconds()
    after = _newest(here.client)
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: here.client.submit(JOB), range(count)))
    _await_ends(here.client, after, count)
    wall = time.perf_counter() - began
    spent = [1000 * (late - early) / count for early, late in zip(before, here.cpu_seconds(), strict=True)]
    return Load(count / wall, _to_running(here.client, after), spent[0], spent[1])


def one_at_a_time(here: Server, count: int) -> tuple[float, ...]:
    """Seconds from submit to running where nothing is in the way."""
    begin = _newest(here.client)
    for _ in range(count):
        after = _newest(here.client)
        here.client.submit(JOB)
        _await_ends(here.client, after, 1)
    return _to_running(here.client, begin)


def _await_ends(client: Client, after: int, count: int) -> None:
    """Wait until so many jobs have ended; raises RuntimeError when one did not succeed."""
    seen, place = 0, after

    def look() -> bool | None:
        nonlocal seen, place
        for fact in client.facts(place, project=PROJECT, kind="job-ended", limit=1000):
            if fact["data"]["state"] != "succeeded":
                raise RuntimeError(f"{fact['data']['job']} ended {fact['data']['state']}: {fact['data']['reason']}")
            seen, place = seen + 1, fact["seq"]
        return True if seen >= count else None

    wait_for(look, f"the end of {count} jobs", every_s=0.05, deadline_s=120 + count)


def _newest(client: Client) -> int:
    return max((fact["seq"] for fact in client.all_facts(project=PROJECT)), default=0)


def _to_running(client: Client, after: int) -> tuple[float, ...]:
    """Of every job submitted since: seconds from its submission to its first rank running."""
    begun: dict[str, datetime] = {}
    taken = []
    for fact in client.all_facts(project=PROJECT):
        if fact["seq"] <= after or fact["kind"] not in MARKS:
            continue
        at, job = datetime.fromisoformat(fact["at"]), fact["data"]["job"]
        if fact["kind"] == "job-submitted":
            begun[job] = at
        elif fact["kind"] == "attempt-started":
            taken.append((at - begun[job]).total_seconds())
    return tuple(taken)


def measure(jobs: int, alone: int, threads: int) -> Result:
    """All sides in one run."""
    plain = floor(["sh", "-c", "true"], jobs)
    witness = floor([sys.executable, "-c", WITNESS], jobs)
    with server(f"n1:{SLOTS}", SLOTS) as here:
        one_at_a_time(here, 2)
        load = full_queue(here, jobs, threads)
        quiet = one_at_a_time(here, alone)
    return Result(
        "P2",
        f"{jobs} jobs of `true` on {SLOTS} slots, submitted by {threads} threads",
        [
            ("side", "jobs/s", "of bare Python", "submit to running p50 / p95, full queue", "one at a time p50 / p95"),
            ("sh -c true", f"{plain:.1f}", f"{plain / witness:.2f}", "", ""),
            ("bare Python + true", f"{witness:.1f}", "1", "", ""),
            (
                "Headway",
                f"{load.jobs_per_s:.1f}",
                f"{load.jobs_per_s / witness:.2f}",
                _pair(load.to_running_s),
                _pair(quiet),
            ),
        ],
        [Goal("jobs/s", load.jobs_per_s, "at least", TARGET)],
        [f"CPU a job: server {load.server_cpu_ms:.1f} ms, agent and rank {load.agent_cpu_ms:.1f} ms"],
        {
            "jobs_per_s": load.jobs_per_s,
            "floor_sh_per_s": plain,
            "floor_python_per_s": witness,
            "ratio": load.jobs_per_s / witness,
            "server_cpu_ms": load.server_cpu_ms,
            "agent_cpu_ms": load.agent_cpu_ms,
            "to_running_s": {"p50": quantile(load.to_running_s, 0.5), "p95": quantile(load.to_running_s, 0.95)},
            "to_running_alone_s": {"p50": quantile(quiet, 0.5), "p95": quantile(quiet, 0.95)},
        },
    )


def _pair(seconds: Sequence[float]) -> str:
    return f"{quantile(seconds, 0.5):.3f} / {quantile(seconds, 0.95):.3f} s"


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line; `--quick` runs a few jobs to see that everything works."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="few jobs: not a measurement")
    parser.add_argument("--jobs", type=int, help="jobs with the queue full (default 200)")
    parser.add_argument("--threads", type=int, default=4, help="client threads (default 4)")
    given = parser.parse_args(arguments)
    given.jobs = given.jobs or (24 if given.quick else 200)
    given.alone = 3 if given.quick else 20
    return given


def main() -> None:
    """Run and print the table."""
    given, here = parse(), machine()
    publish(measure(given.jobs, given.alone, given.threads), given.json, here)


if __name__ == "__main__":
    main()
