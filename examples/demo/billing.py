"""Chapter 8: the month's statements, and whether their totals are their intervals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from examples.demo.cluster import Cluster
from examples.demo.story import Story

from headway.sdk.client import Client

ZONE = ZoneInfo("Asia/Shanghai")


def statements(story: Story, cluster: Cluster) -> tuple[int, int]:
    """Print both projects' statements; device-seconds by the statements, and by the intervals they open into."""
    month = datetime.now(ZONE).strftime("%Y-%m")
    stated = opened = 0
    for project, client in (("nlp", cluster.ann), ("vision", cluster.bob)):
        found = client.statement(project, month)
        story.say(f"{project}, {found['month']} ({found['timezone']}): {found['device_seconds']} device-seconds")
        for line in found["lines"]:
            basis = "training by occupancy" if line["basis"] == "occupancy" else "serving by resident time"
            story.say(f"    {line['job']}  {line['device_seconds']:>6} device-s  {line['device_type']}  {basis}")
        for wait in found["waiting"]:
            story.say(f"    {wait['job']}  {0:>6} device-s  waited {wait['wait_seconds']} s in the queue")
        stated += found["device_seconds"]
        opened += sum(_seconds(interval) for interval in client.intervals(project))
    story.say(f"statements {stated} = intervals {opened} device-seconds" if stated == opened else "totals differ!")
    return stated, opened


def settled(cluster: Cluster) -> Callable[[], bool | None]:
    """Whether every interval has closed: what still runs would be counted up to two different moments."""

    def all_closed(client: Client, project: str) -> bool:
        return all(interval["end"] for interval in client.intervals(project))

    return lambda: (all_closed(cluster.ann, "nlp") and all_closed(cluster.bob, "vision")) or None


def _seconds(interval: dict[str, str | int]) -> int:
    """Whole seconds between whole seconds, times devices: as the ledger counts."""
    start, end = (datetime.fromisoformat(str(interval[key])).replace(microsecond=0) for key in ("start", "end"))
    return int((end - start).total_seconds()) * int(interval["devices"])
