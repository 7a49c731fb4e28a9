"""Chapters 6 and 7: weights become versions, two versions are served, and traffic moves under a running client."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from examples.demo.cluster import Cluster
from examples.demo.story import Story
from examples.demo.training import Training

MODEL = "tiny-gpt"
SERVICE = "chat"
PROJECT = "nlp"
FIRST, SECOND = f"{MODEL}@1", f"{MODEL}@2"
CLIENTS = 2
EACH_SPLIT = 180
BODY = json.dumps({"model": SERVICE, "max_tokens": 4, "messages": [{"role": "user", "content": "def main("}]})


@dataclass
class Load:
    """Requests of clients that never pause: how many, which version answered, which failed."""

    url: str
    answered: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def requests(self) -> int:
        return self.answered.total() + len(self.failed)

    def run(self) -> None:
        """One client: the next request as soon as the last is answered, each on a connection of its own kept alive."""
        address = urlsplit(self.url)
        connection = HTTPConnection(str(address.hostname), int(address.port or 80), timeout=60)
        while not self.stopping.is_set():
            outcome = self._ask(connection, address.path)
            with self.lock:
                if outcome.startswith("!"):
                    self.failed.append(outcome)
                else:
                    self.answered[outcome] += 1
        connection.close()

    def _ask(self, connection: HTTPConnection, path: str) -> str:
        """The version that answered, or `!` and what went wrong."""
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", f"{path}v1/chat/completions", BODY, headers)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200 or not json.loads(content)["choices"]:
                return f"!{answer.status} {content[:200]!r}"
            return str(answer.getheader("x-headway-version"))
        except (OSError, ValueError, KeyError) as problem:
            connection.close()
            return f"!{problem!r}"


def register(story: Story, cluster: Cluster, training: Training) -> None:
    """An earlier verified checkpoint becomes version 1, the final weights version 2."""
    verified = [row for row in cluster.ann.checkpoints(training.job) if row["state"] == "verified"]
    for step in (verified[-1]["step"], verified[0]["step"]):
        version = cluster.ann.register_model(MODEL, training.job, step)
        made = version["lineage"]
        story.say(
            f"{MODEL}@{version['number']}: step {made['step']} of {made['attempt']}, {version['bytes']} bytes, "
            f"sha256 {version['digest'][:12]}, data {made['dataset']}, template {made['template']}, "
            f"commit {(made['commit'] or '—')[:10]}, Python {made['environment'].get('python', '—')}"
        )


def serve(story: Story, cluster: Cluster) -> str:
    """Both versions as replicas behind one endpoint."""
    for version in (FIRST, SECOND):
        service = cluster.ann.deploy(SERVICE, PROJECT, version)
    story.wait("both replicas", lambda: _ready(cluster), within_s=150)
    story.wait("the gateway", lambda: _live(cluster))
    url = str(service["url"])
    story.say(f"{SERVICE} answers at {url}v1/chat/completions, all requests to {FIRST}")
    return url


def shift(story: Story, cluster: Cluster, url: str) -> Load:
    """90/10, then 0/100, then back, while clients keep asking."""
    load = Load(url)
    with _clients(load):
        for shares, why in (({FIRST: 90, SECOND: 10}, "canary"), ({FIRST: 0, SECOND: 100}, "all to the new one")):
            cluster.ann.shift(PROJECT, SERVICE, shares, why)
            _measure(story, cluster, load, f"split {_said(shares)}")
        cluster.ann.roll_back(PROJECT, SERVICE, "rolled back")
        _measure(story, cluster, load, "rolled back")
    story.say(f"{load.requests} requests, {len(load.failed)} failed")
    for split in cluster.ann.service_history(PROJECT, SERVICE):
        shares = {share["version"]: share["weight"] for share in split["shares"]}
        story.say(
            f"split {split['number']} at {split['at'][11:19]} by {split['by']}: {_said(shares)} ({split['reason']})"
        )
    return load


def stop(story: Story, cluster: Cluster) -> None:
    """Take the service off the gateway and wait for its jobs to end."""
    cluster.ann.stop_service(PROJECT, SERVICE)
    story.wait("the replicas' end", lambda: None if _serving_jobs(cluster) else True)


@contextmanager
def _clients(load: Load) -> Iterator[None]:
    threads = [threading.Thread(target=load.run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        load.stopping.set()
        for thread in threads:
            thread.join()


def _measure(story: Story, cluster: Cluster, load: Load, what: str) -> None:
    story.wait("the gateway's word", lambda: _live(cluster))
    time.sleep(0.2)  # requests already on their way were sent under the split before
    with load.lock:
        before = load.answered.copy()
    story.wait(f"{EACH_SPLIT} requests", lambda: load.answered.total() - before.total() >= EACH_SPLIT or None)
    with load.lock:
        since = load.answered - before
    story.say(f"{what}: " + ", ".join(f"{since[version]} by {version}" for version in sorted(since)))


def _ready(cluster: Cluster) -> bool | None:
    states = [replica["state"] for replica in cluster.ann.service(PROJECT, SERVICE)["replicas"]]
    return True if states.count("ready") == 2 else None


def _live(cluster: Cluster) -> bool | None:
    return True if cluster.ann.service(PROJECT, SERVICE)["live"] else None


def _serving_jobs(cluster: Cluster) -> list[Any]:
    ended = ("succeeded", "failed", "stopped")
    return [view for view in cluster.ann.jobs(project=PROJECT) if view["job"]["state"] not in ended]


def _said(shares: dict[str, int]) -> str:
    return ", ".join(f"{version} {weight} %" for version, weight in shares.items())
