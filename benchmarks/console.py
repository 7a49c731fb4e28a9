"""The console in Chromium, by its own clock: first load, ten thousand jobs, 64 nodes over a day, a pan over all cells.

Floor: an empty page of the same server. The home is made for this and thrown away: its jobs are rows, nothing runs.
"""

import argparse
import gzip
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from playwright.sync_api import Page, sync_playwright

from benchmarks.table import Goal, Result, machine, publish
from headway.domain.attempt import Attempt
from headway.domain.events import AttemptPlaced, AttemptStarted, JobSubmitted
from headway.domain.ids import AttemptId, JobId
from headway.domain.job import Job, JobKind, JobSpec
from headway.domain.lifecycle import AttemptState, JobState
from headway.domain.resources import Maker, Node, Placement, Request
from headway.server.access import Role
from headway.server.app import create_app
from headway.server.bootstrap import prepare
from headway.server.console import FOLDER
from headway.server.operations.people.directory import (
    Change,
    create_department,
    create_project,
    create_user,
    grant_role,
    issue_token,
)
from headway.server.platform import Platform, open_platform
from headway.server.settings import Settings
from headway.store import attempts, facts, jobs, nodes
from headway.store.readings import Reading

CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
JOBS, NODES, CARDS, WIDE = 10_000, 1_024, 8, 64
DAY = timedelta(days=1)
SETTLED_MS = 3000  # the stream of facts stays open: the network is never idle
PAN = """async () => {
  const box = document.querySelector('[role=img]');
  const frames = [];
  await new Promise((done) => {
    let before = performance.now(), way = 1;
    const turn = (at) => {
      frames.push(at - before); before = at;
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) way = -1;
      if (box.scrollTop === 0) way = 1;
      box.scrollTop += 40 * way;
      frames.length < 240 ? requestAnimationFrame(turn) : done();
    };
    requestAnimationFrame(turn);
  });
  return frames.slice(5);
}"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="visits of each page; their median counts")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    here = machine()
    with served(_fill) as (url, (token, wide)), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        context = browser.new_context(locale="en-US", base_url=url, viewport={"width": 1440, "height": 900})
        context.add_init_script(f"localStorage.setItem('headway.token', '{token}')")
        context.set_default_timeout(120_000)
        goals = _measured(context.new_page(), wide.job, options.rounds)
        browser.close()
    rows = [("what", "measured", "target"), *((g.what, f"{g.value:,.0f}", f"{g.target:,.0f}") for g in goals)]
    publish(Result("console", "the console in Chromium, without a GPU", rows, goals[1:]), options.json, here)


def _measured(page: Page, wide: JobId, rounds: int) -> list[Goal]:
    size = _first_load(page)
    floor = _shown(page, "/api/v1/health", "body", rounds)
    return [
        Goal("an answer without a page, the floor, ms", floor, "at most", 0),
        Goal("first load, kB gzip", size / 1000, "at most", 500),
        Goal(f"list of {JOBS:,} jobs, ms", _shown(page, "/jobs", "a[href^='/jobs/j-']", rounds), "at most", 1000),
        Goal(
            f"job page of {WIDE} nodes × 24 h, ms",
            _shown(page, f"/jobs/{wide}", f"button:has-text('{WIDE}')", rounds),
            "at most",
            1500,
        ),
        Goal(f"pan over {NODES * CARDS:,} cells, P95 of a frame, ms", _pan(page), "at most", 33),
    ]


def _first_load(page: Page) -> int:
    """Bytes of everything the first page takes, each file as gzip makes it."""
    page.goto("/")
    page.wait_for_selector("h1")
    page.wait_for_selector("table")
    page.wait_for_timeout(SETTLED_MS)
    names = page.evaluate("performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)")
    files = [FOLDER / "index.html", *(FOLDER / name.lstrip("/") for name in names if name.startswith("/assets/"))]
    return sum(len(gzip.compress(path.read_bytes(), 6)) for path in dict.fromkeys(files) if path.is_file())


def _shown(page: Page, address: str, wanted: str, rounds: int) -> float:
    """From the navigation until what is wanted is on the page; the median of some visits, by the page's clock."""
    times = []
    for _ in range(rounds):
        page.goto(address, wait_until="commit")
        page.wait_for_selector(wanted)
        times.append(float(page.evaluate("performance.now()")))
    return median(times)


def _pan(page: Page) -> float:
    page.goto("/cluster")
    page.wait_for_selector("[role=img] canvas")
    frames = sorted(float(length) for length in page.evaluate(PAN))
    return frames[int(0.95 * len(frames))]


@contextmanager
def served(fill: Callable[[Platform], tuple[str, Attempt]]) -> Iterator[tuple[str, tuple[str, Attempt]]]:
    """A server on a made home; its address, and what filling it told: a token and the wide job's attempt."""
    with tempfile.TemporaryDirectory() as folder:
        listening = socket.create_server(("127.0.0.1", 0))
        platform = open_platform(Settings(home=Path(folder), engines="fake"), Path(folder, "agent.pyz"))
        told = fill(platform)
        app = create_app(platform, with_loops=False)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", told
        finally:
            server.should_exit = True
            thread.join()


def _fill(platform: Platform) -> tuple[str, Attempt]:
    token, wide = wide_job(platform)
    now = datetime.now(UTC)
    with platform.database.write() as c:
        for number in range(JOBS):
            at = now - timedelta(minutes=number + 1)
            ended: dict[str, Any] = {
                "state": JobState.SUCCEEDED,
                "ended_at": at + timedelta(seconds=30),
                "step": 100,
                "total": 100,
            }
            jobs.insert(c, Job(JobId(f"j-{number:08}"), _spec(f"job-{number}", 1), "bench", submitted_at=at, **ended))
    platform.readings.add(_readings(wide, now))
    return token, wide


def wide_job(platform: Platform) -> tuple[str, Attempt]:
    """Nodes, a user with a token, and one job of many nodes that has run for a day."""
    prepare(platform)
    now = datetime.now(UTC)
    change = Change("bench", now)
    with platform.database.write() as c:
        nodes.put(c, [Node(f"n{n:04}", "fake", "h800", CARDS, Maker.NVIDIA) for n in range(NODES)], now)
        create_department(c, change, "research")
        create_project(c, change, "llm", "research")
        create_user(c, change, "bench", None, None)
        grant_role(c, change, "bench", Role.ADMIN, None)
        return issue_token(c, change, "bench"), _wide(c, now)


def _spec(name: str, count: int) -> JobSpec:
    request = Request(nodes=count, devices_per_node=CARDS, ranks_per_node=CARDS)
    return JobSpec(name, "llm", JobKind.TRAINING, template="command@1", command=("train",), request=request)


def _wide(c: Any, now: datetime) -> Attempt:
    id, began = JobId("j-wide0000"), now - DAY
    state: dict[str, Any] = {"state": JobState.RUNNING, "attempts": 1, "step": 1440, "total": 10_000}
    jobs.insert(c, Job(id, _spec("wide", WIDE), "bench", submitted_at=began, **state))
    placed = tuple(Placement(f"n{n:04}", tuple(range(CARDS))) for n in range(WIDE))
    attempt = Attempt(AttemptId(f"{id}.1"), id, 1, "fake", "h800", placed, AttemptState.RUNNING, began, began)
    attempts.insert(c, attempt, "digest")
    facts.append(
        c,
        JobSubmitted(at=began, by="bench", job=id, project="llm", name="wide", devices=WIDE * CARDS),
        AttemptPlaced(
            at=began,
            by="server",
            job=id,
            attempt=attempt.id,
            project="llm",
            device_type="h800",
            placements=placed,
            basis="occupancy",
        ),
        AttemptStarted(at=began, by="agent:n0000", job=id, attempt=attempt.id),
    )
    return attempt


def _readings(attempt: Attempt, now: datetime) -> list[Reading]:
    """A step and a loss a minute, and of each card how busy it was."""
    found = []
    for minute in range(24 * 60):
        at = now - DAY + timedelta(minutes=minute)
        for name, value in (("step", float(minute)), ("loss", 10 / (1 + minute / 100))):
            found.append(Reading(attempt.id, "n0000", 0, None, name, at, value))
        for placement in attempt.placements:
            for card in placement.devices:
                busy = 90.0 + (minute * card) % 7
                found.append(Reading(attempt.id, placement.node, None, card, "device_utilisation_percent", at, busy))
    return found


if __name__ == "__main__":
    main()
