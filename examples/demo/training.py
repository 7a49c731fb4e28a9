"""Chapters 3 to 5: a training is queued, watched, broken on purpose and resumed, while a second job waits its turn."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from examples.demo.cluster import TINY_GPT, Cluster
from examples.demo.story import Story

from headway.sdk.client import Client

STEPS = 120
KILL_AFTER = 50
DRILLED_RANK = 1
ENDED = ("succeeded", "failed", "stopped")


@dataclass(frozen=True)
class Training:
    """What came of the training: its job, the drill's bill and verdict."""

    job: str
    second: str
    bill: dict[str, Any]
    verdict: dict[str, Any]


def submit(story: Story, cluster: Cluster) -> tuple[str, str]:
    """Ann's training takes every slot; Bob's job waits behind it and is told why and until when."""
    training = cluster.ann.submit(
        {
            "name": "tiny-gpt",
            "project": "nlp",
            "template": "tiny-gpt",
            "priority": "high",
            "parameters": {"dataset": cluster.dataset, "steps": STEPS, "min_step_ms": 100},
            "resources": {"nodes": 2, "devices_per_node": 2, "ranks_per_node": 1},
            "source": str(TINY_GPT),
            "commit": commit(),
        }
    )["id"]
    story.say(f"ann submitted {training}: 2 nodes × 1 rank, two slots each, project nlp, priority high")
    story.wait("the training's place", lambda: None if _state(cluster.ann, training) == "queued" else True)
    second = cluster.bob.submit(
        {
            "name": "lzma-baseline",
            "project": "vision",
            "template": "command",
            "priority": "low",
            "parameters": {"command": f"{sys.executable} {TINY_GPT}/baseline.py {cluster.home}/data/stdlib"},
        }
    )["id"]
    waits = story.wait("why the second job waits", lambda: cluster.bob.job(second)["waits"])
    story.say(f"bob submitted {second}: position {waits['position']}, {waits['sentence']}")
    return training, second


def watch(story: Story, cluster: Cluster, job: str, second: str) -> None:
    """Step, rate, loss and time left move; logs of each rank follow; readings arrive; the second job gets a range."""
    story.wait("the first step", lambda: cluster.ann.job(job)["job"]["step"])
    for step in range(KILL_AFTER // 3, KILL_AFTER + 1, KILL_AFTER // 3):
        story.say(_progress(story.wait(f"step {step}", lambda least=step: _moved(cluster.ann, job, least))))
    for rank, size in sorted(cluster.ann.log_ranks(job).items()):
        newest = cluster.ann.log_window(job, rank=int(rank), offset=-200)[0].decode().strip().splitlines()[-1]
        story.say(f"rank {rank} has written {size} bytes, last: {newest}")
    cpu = story.wait("a reading", lambda: cluster.ann.readings(job, "cpu_percent") or None)
    story.say(f"{len(cpu)} series of cpu_percent, newest {cpu[0]['points'][-1]['mean']:.0f} %")
    forecast = story.wait("a start range", lambda: _range(cluster.bob, second))
    story.say(f"the second job is expected to start {forecast['p50'][11:19]}–{forecast['p90'][11:19]} UTC (P50–P90)")


def drill(story: Story, cluster: Cluster, job: str, second: str) -> Training:
    """Rank 1 is killed without warning; the job resumes by itself and says what it cost."""
    cluster.ann.drill(job, DRILLED_RANK)
    verdict = story.wait("the verdict", lambda: _view(cluster.ann, job, "verdict"))
    story.say(f"verdict: {cluster.ann.job(job)['verdict_text']}")
    decided = story.wait("the decision", lambda: cluster.ann.facts(job=job, kind="recovery-decided") or None)[-1]
    held = decided["data"]["held_until"]
    story.say(f"its slots are held for it until {held[11:19]}" if held else "it goes on at once on the slots it had")
    story.say(f"{second} is still {_state(cluster.bob, second)}")
    bill = story.wait("the first step after the resume", lambda: _measured(cluster.ann, job))
    found = bill["bill"]
    story.say(f"resumed from step {found['resumed_step']}: {bill['lost_steps']} steps lost")
    story.say(
        f"loss bill: {found['device_seconds_lost']} device-seconds, "
        f"{bill['kill_to_first_step_s']:.1f} s from the kill to the first new step"
    )
    return Training(job, second, bill, verdict)


def finish(story: Story, cluster: Cluster, training: Training) -> None:
    """Both jobs come to their end."""
    for client, job in ((cluster.ann, training.job), (cluster.bob, training.second)):
        state = story.wait(f"the end of {job}", lambda c=client, j=job: _ended(c, j), within_s=150)
        story.say(f"{job} {state}")
        if state != "succeeded":
            raise RuntimeError(f"{job} {state}: {client.job(job)['verdict_text']}")


def commit() -> str | None:
    """The commit these examples are at, if they are in a repository."""
    command = ["git", "-C", str(TINY_GPT), "rev-parse", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _state(client: Client, job: str) -> str:
    return str(client.job(job)["job"]["state"])


def _ended(client: Client, job: str) -> str | None:
    state = _state(client, job)
    return state if state in ENDED else None


def _moved(client: Client, job: str, step: int) -> dict[str, Any] | None:
    view: dict[str, Any] = client.job(job)
    is_there = (view["job"]["step"] or 0) >= step and view["rate"] is not None
    return view if is_there else None


def _progress(view: dict[str, Any]) -> str:
    job = view["job"]
    left = "—" if view["left_s"] is None else f"{view['left_s']:.0f} s left"
    return f"step {job['step']}/{job['total']}  loss {view['loss']:.3f}  {view['rate']:.1f} steps/s  {left}"


def _range(client: Client, job: str) -> dict[str, Any] | None:
    waits = client.job(job)["waits"]
    forecast = waits["forecast"] if waits else None
    return forecast if forecast and forecast["p50"] and forecast["p90"] else None


def _view(client: Client, job: str, key: str) -> Any:
    return client.job(job)[key]


def _measured(client: Client, job: str) -> dict[str, Any] | None:
    bills = client.bills(job)
    return bills[-1] if bills and bills[-1]["kill_to_first_step_s"] is not None else None
