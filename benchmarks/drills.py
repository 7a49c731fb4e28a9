"""Live drills: real torch ranks under a real server meet real trouble; what is said of it, how soon, and whether right.

`python -m benchmarks.drills [--json] [--kind K] [--times N]`. Three ranks over gloo, each on a node of its own; the
fault happens to a rank chosen by turns. Needs root (namespaces, loop mounts, memory groups) and Debian's nftables and
iproute2 for the two network faults. Detection is measured from outside: from the strike, or from the rank's own death,
until the fact can be read from the API.
"""

import argparse
import json
import os
import select
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import drill_network
from benchmarks.drill_disks import dead_mount, small_disk
from benchmarks.drill_faults import (
    DEAD,
    DISK,
    EXIT,
    KINDS,
    NETWORK,
    RANKS,
    SLOW,
    STALL,
    THROTTLED,
    Kind,
    Running,
    fresh_folder,
)
from benchmarks.drill_network import spaces
from benchmarks.server import PROJECT, Server, server, wait_for
from benchmarks.table import Goal, Result, machine, publish
from headway.domain.errors import PlatformError

PROGRAM = Path(__file__).parent / "programs" / "drilled.py"
NODES = ",".join(f"n{number + 1}:1" for number in range(RANKS))
STEPS_BEFORE = 15
EXIT_SEEN_S = 2.0
FLOOR_S = 10.0
DEADLINE_S = 240.0
FACTS = {EXIT: "rank-exited", STALL: "stalled", SLOW: "rank-slow"}


@dataclass(frozen=True)
class Drill:
    """One drill: who was struck; when it was noticed and within which limit; what was said."""

    kind: str
    struck: int
    seconds: float | None
    limit_s: float | None
    rank: int | None
    node: str | None
    cause: str | None
    owner: str | None
    detail: str | None = None
    problem: str | None = None

    @property
    def in_time(self) -> bool:
        return self.seconds is not None and (self.limit_s is None or self.seconds <= self.limit_s)

    @property
    def is_right(self) -> tuple[bool, bool, bool]:
        """Rank (with its node), class, owner."""
        kind = KINDS[self.kind]
        rank = self.rank == self.struck and self.node == f"n{self.struck + 1}"
        return rank, self.cause in kind.causes, self.owner == kind.owner


class Job:
    """A training that is about to be struck."""

    def __init__(self, here: Server, folder: Path, template: str, env: dict[str, str]) -> None:
        self._here, self.folder = here, folder
        body = {
            "name": "drill",
            "project": PROJECT,
            "template": template,
            "source": str(PROGRAM),
            "env": {"DRILL_DIR": str(folder), "OMP_NUM_THREADS": "1", **env},
        }
        self.id = str(here.client.submit(body)["id"])
        self.attempt = f"{self.id}.1"

    def directory(self, rank: int) -> Path:
        return self._here.home / "run" / self.attempt / f"n{rank + 1}"

    def wait_for_step(self, step: int) -> None:
        def reached() -> bool | None:
            attempt = self._here.client.job(self.id)["attempt"]
            return True if attempt and (attempt["step"] or 0) >= step else None

        wait_for(reached, f"step {step}", every_s=0.2, deadline_s=DEADLINE_S)

    def running(self, network: Any) -> Running:
        pids, groups = {}, {}
        for rank in range(RANKS):
            pids[rank] = int(json.loads((self.directory(rank) / "ranks.json").read_text())[0]["pid"])
            groups[rank] = json.loads((self.directory(rank) / "order.json").read_text())["cgroup"] or []
        return Running(self.folder, pids, groups, network)

    def facts(self, kind: str) -> list[dict[str, Any]]:
        return [
            fact["data"] | {"at": fact["at"]}
            for fact in self._here.client.all_facts(job=self.id)
            if fact["kind"] == kind
        ]

    def first(self, kind: str, matches: Callable[[dict[str, Any]], bool]) -> tuple[dict[str, Any], float]:
        """A fact, and when it could first be read."""
        found = wait_for(
            lambda: next((fact for fact in self.facts(kind) if matches(fact)), None),
            f"a fact {kind}", every_s=0.05, deadline_s=DEADLINE_S,
        )  # fmt: skip
        return found, time.time()

    def verdict(self) -> dict[str, Any]:
        """The verdict on the first attempt."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] | None = self._here.client.attempts(self.id)[0]["verdict"]
            return found

        return wait_for(look, "a verdict", every_s=0.2, deadline_s=DEADLINE_S)

    def end(self) -> None:
        with suppress(Exception):
            self._here.client.stop(self.id)
        wait_for(
            lambda: self._here.client.job(self.id)["job"]["ended_at"], "the end", every_s=0.2, deadline_s=DEADLINE_S
        )


def drill(here: Server, kind: Kind, struck: int, number: int) -> Drill:
    """One drill from the start of its job to its end."""
    folder = fresh_folder(here.home)
    with ExitStack() as stack:
        network, env = None, dict[str, str]()
        if kind.needs == NETWORK:
            network = stack.enter_context(spaces(RANKS))
        elif kind.needs == DISK:
            disk = stack.enter_context(small_disk(folder))
            (disk / "shard.bin").write_bytes(b"x")
            env["DRILL_DISK"] = str(disk)
        elif kind.needs == DEAD:
            env["DRILL_DEAD"] = str(stack.enter_context(dead_mount(folder)))
        if kind.name == "data from a FIFO":
            env["DRILL_WORKERS"] = str(number % 2)
        if kind.at_start:
            kind.strike(Running(folder, {}, {}), struck)
        job = Job(here, folder, "drill-network" if network else "drill", env)
        stack.callback(job.end)
        return _observed(job, kind, struck, network)


def _observed(job: Job, kind: Kind, struck: int, network: Any) -> Drill:
    gone: dict[int, float] = {}
    if not kind.at_start:
        job.wait_for_step(STEPS_BEFORE)
        running = job.running(network)
        with watched(running.pids[struck]) as death:
            at = time.time()
            kind.strike(running, struck)
            if kind.shows == EXIT:
                gone[struck] = death()
                at = gone[struck]
    fact, seen_at = job.first(FACTS[kind.shows], lambda fact: kind.shows != EXIT or fact["rank"] == struck)
    if kind.at_start:  # the kernel's word is the agent's own: when it reaped the rank
        at = datetime.fromisoformat(fact["at"]).timestamp()
    if kind.shows == SLOW:
        return Drill(kind.name, struck, seen_at - at, None, fact["rank"], fact["node"], "THERMAL_SLOW", "operator")
    limit = EXIT_SEEN_S if kind.shows == EXIT else max(60.0, float(fact["threshold_s"]))
    verdict = job.verdict()
    cause = verdict.get("cause") or verdict["fault"]
    told = (verdict["rank"], verdict["node"], cause, verdict["owner"], verdict["detail"])
    return Drill(kind.name, struck, seen_at - at, limit, *told)


@contextmanager
def watched(pid: int) -> Iterator[Callable[[], float]]:
    """Tells when a process has died, by the kernel."""
    descriptor = os.pidfd_open(pid)

    def death() -> float:
        if not select.select([descriptor], [], [], DEADLINE_S)[0]:
            raise TimeoutError(f"process {pid} did not die")
        return time.time()

    try:
        yield death
    finally:
        os.close(descriptor)


@contextmanager
def house(floor_s: float) -> Iterator[Server]:
    """A server with the templates of the drills."""
    with server(NODES, RANKS) as here:
        program = ["{python}", "{source}"]
        recovery = {"retries": 0, "grace_s": 2, "stall_after_s": floor_s}
        size = {"nodes": RANKS, "devices_per_node": 1, "ranks_per_node": 1}
        for name, command in (("drill", program), ("drill-network", drill_network.command(program))):
            here.client.add_template({"name": name, "command": command, "resources": size, "recovery": recovery})
        yield here
    with suppress(OSError):
        THROTTLED.rmdir()


def measure(kinds: Sequence[str], times: int, floor_s: float, minutes: float) -> Result:
    """Every kind so often, by turns, each on another rank; no new turn after so many minutes."""
    done: list[Drill] = []
    until = time.monotonic() + 60 * minutes
    with house(floor_s) as here:
        for number in range(times):
            if time.monotonic() > until:
                break
            for name in kinds:
                struck = (number + 1) % RANKS
                done.append(_tried(here, KINDS[name], struck, number))
                print(_line(done[-1]), flush=True)
    return result(done, floor_s)


def _tried(here: Server, kind: Kind, struck: int, number: int) -> Drill:
    try:
        return drill(here, kind, struck, number)
    except (TimeoutError, RuntimeError, OSError, PlatformError) as error:
        return Drill(kind.name, struck, None, None, None, None, None, None, problem=f"{type(error).__name__}: {error}")


def _line(one: Drill) -> str:
    seconds = "never" if one.seconds is None else f"{one.seconds:.2f} s"
    right = "".join("+" if good else "-" for good in one.is_right)
    said = f"{one.rank} {one.cause} {one.owner}: {one.problem or one.detail}"
    return f"{one.kind}: rank {one.struck} struck, noticed in {seconds}; {right} {said}"


def result(done: Sequence[Drill], floor_s: float) -> Result:
    """The table."""
    heads = ("fault", "times", "noticed in, median / worst", "in time", "right rank", "right class", "right owner")
    rows: list[tuple[str, ...]] = [heads]
    names = dict.fromkeys(one.kind for one in done)
    rows += [_row([one for one in done if one.kind == name]) for name in names]
    share = [sum(one.is_right[part] for one in done) / len(done) for part in range(3)]
    goals = [
        Goal("noticed in time, share", sum(one.in_time for one in done) / len(done), "at least", 1),
        Goal("right rank, share", share[0], "at least", 1),
        Goal("right class, share", share[1], "at least", 0.92),
        Goal("right owner, share", share[2], "at least", 0.97),
    ]
    notes = [
        f"in time: exits within {EXIT_SEEN_S:g} s, stalls within max(5 x P99 step, 60 s)",
        f"the policy here calls a silence of {floor_s:g} s a stall",
    ]
    notes += [_line(one) for one in done if not (one.in_time and all(one.is_right))]
    title = f"{RANKS} real torch ranks over gloo, a node each, under a real server"
    return Result("drills", title, rows, goals, notes, {"drills": [vars(one) for one in done]})


def _row(done: Sequence[Drill]) -> tuple[str, ...]:
    seen = [one.seconds for one in done if one.seconds is not None]
    noticed = f"{statistics.median(seen):.2f} / {max(seen):.2f} s" if seen else "never"
    parts = [sum(one.is_right[part] for one in done) for part in range(3)]
    counts = [sum(one.in_time for one in done), *parts]
    return (done[0].kind, str(len(done)), noticed, *(f"{count}/{len(done)}" for count in counts))


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object last")
    parser.add_argument("--quick", action="store_true", help="two kinds, once each: to see that it works")
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="these only")
    parser.add_argument("--times", type=int, help="so often each (default 10)")
    parser.add_argument(
        "--floor", type=float, default=FLOOR_S, help=f"the policy's least silence, s (default {FLOOR_S:g})"
    )
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no new turn after so many minutes")
    given, here = parser.parse_args(), machine()
    kinds = given.kind or (["exception", "SIGSTOP"] if given.quick else list(KINDS))
    usable = [name for name in kinds if KINDS[name].needs != NETWORK or shutil.which("nft")]
    publish(measure(usable, given.times or (1 if given.quick else 10), given.floor, given.minutes), given.json, here)


if __name__ == "__main__":
    main()
