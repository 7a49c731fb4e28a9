"""A real server whose jobs run on a real Slurm: the platform of the other live tests, with a testbed under it."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headway.engines.protocol import UnixUser
from headway.server import engines
from headway.server.settings import Settings
from tests.engines.slurm_testbed import Testbed
from tests.live.api import Api
from tests.live.jobs import TEMPLATE, Work
from tests.live.platform import Platform, wait_until

TYPE = "h200"
BOOKS = "jobname,state,elapsedraw,alloctres"
WAITING = {
    "name": "waiting",
    "kind": "training",
    "command": [
        "/bin/sh",
        "-c",
        "echo $RANK >> $LIVE_DIR/$HEADWAY_ATTEMPT.starts; until [ -e $LIVE_DIR/finish ]; do sleep 0.2; done",
    ],
    "resources": {"nodes": 1, "devices_per_node": 1, "ranks_per_node": 1},
    "recovery": {"retries": 0, "grace_s": 5},
}

PERSISTENT = WAITING | {"name": "persistent", "recovery": {"retries": 3, "grace_s": 5}}


@dataclass(frozen=True)
class Site:
    """A platform on a testbed."""

    platform: Platform
    testbed: Testbed

    def work(self, program: str, nodes: int = 1, devices: int = 1, **submission: Any) -> Work:
        """A job of one rank a node, on the first type of devices."""
        wanted = {"nodes": nodes, "devices_per_node": devices, "ranks_per_node": 1, "device_types": [TYPE]}
        return Work(self.platform, program, resources=wanted, **submission)

    def waiting(self, number: int, template: str = "waiting") -> list["Work"]:
        """So many jobs of one device that mark their start and wait for `finish`, all in one folder."""
        first = self.work("ticking", template=template)
        first.body.pop("source")
        works = [first, *(self.like(first, index) for index in range(1, number))]
        return [work.submit() for work in works]

    def foreign(self, nodes: str, devices: int, minutes: int, qos: str = "normal") -> str:
        """Somebody else's job on these nodes; its id."""
        words = [f"--nodelist={nodes}", f"--nodes={len(nodes.split(','))}", f"--gpus-per-node={devices}", "--mem=10M"]
        words += ["--ntasks-per-node=1", "--cpus-per-task=1", f"--time={minutes}", "--output=/dev/null", "--parsable"]
        words.append(f"--qos={qos}")
        number = self.testbed.run("sbatch", *words, stdin="#!/bin/sh\nexec sleep 600\n").strip()
        self.testbed.until(
            lambda: self.testbed.run("squeue", "-h", "-j", number, "-o", "%T") == "RUNNING\n", "it to run"
        )
        return number

    def node(self, name: str) -> dict[str, Any]:
        """A node as the API shows it."""
        return next(row for row in self.platform.api.call("GET", "nodes") if row["node"]["name"] == name)

    def charged(self, since: datetime) -> dict[str, int]:
        """Card-seconds of every job that is over, by attempt, as accounting has them."""
        words = ("--noheader", "--allocations", "--duplicates", "--parsable2", f"--format={BOOKS}")
        start = since.astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        found: dict[str, int] = {}
        for line in self.testbed.run("sacct", *words, f"--starttime={start}").splitlines():
            name, state, elapsed, tres = line.split("|")
            if state in ("PENDING", "RUNNING", "COMPLETING"):
                continue
            cards = next((int(word.partition("=")[2]) for word in tres.split(",") if word.startswith("gres/gpu=")), 0)
            found[name] = found.get(name, 0) + int(elapsed) * cards
        return found

    def clear(self) -> None:
        """Stop what a story has left, and mend what it broke."""
        self.testbed.tool("up")
        states = ("queued", "starting", "running", "recovering")
        for view in self.platform.api.call("GET", "jobs", params={"state": states})["items"]:
            self.platform.api.call("POST", f"jobs/{view['job']['id']}/stop", json={})
        self.testbed.run("scancel", "--quiet", "--user=root", check=False)
        self.testbed.mend()
        wait_until(self._is_up, "all nodes to be up again", self.platform.log_tail)

    def _is_up(self) -> bool:
        return all(row["node"]["state"] == "up" for row in self.platform.api.call("GET", "nodes"))

    def like(self, first: Work, index: int) -> Work:
        """The same job again under another name, in the same folder."""
        twin = Work.__new__(Work)
        twin.__dict__.update(first.__dict__)
        twin.name = f"{first.name}-{index}"
        twin.body = first.body | {"name": twin.name}
        return twin


def furnish(api: Api) -> None:
    """A department, the project `nlp` with plenty of quota, the templates."""
    api.call("POST", "departments", json={"name": "research"})
    api.call("POST", "projects", json={"name": "nlp", "department": "research"})
    api.call("PUT", f"projects/nlp/quotas/{TYPE}", json={"devices": 64})
    for template in (TEMPLATE, WAITING, PERSISTENT):
        api.call("POST", "templates", json={"content": template})


def python_of(account: UnixUser) -> list[str]:
    """The words that start a Python with Headway in it as this account, which may not reach this test's own Python."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    python = shutil.which(version, path="/usr/local/bin:/usr/bin:/bin")
    if python is None:
        pytest.skip(f"absent: a system Python: no {version} that another user could run")
    become = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--init-groups", "env"]
    return [*become, f"HOME={account.home}", f"PYTHONPATH={':'.join(filter(None, sys.path))}", python]


@contextmanager
def opened(
    testbed: Testbed, *, is_furnished: bool = True, account: UnixUser | None = None, **options: str
) -> Iterator[Site]:
    """A server on the testbed, with a project to submit to if `is_furnished`; the testbed is afterwards as it was.

    `account`: whose process the server is.
    """
    home = Path(tempfile.mkdtemp(prefix="headway-slurm-"))
    home.chmod(0o711)
    platform = Platform(home, host="0.0.0.0", engines="slurm")
    given = {"share": str(home / "share"), "slurm_conf": str(testbed.conf), "python": "/usr/bin/python3"}
    given |= {"server_url": f"http://{testbed.host}:{platform.port}", "partition": "main"} | options
    engines.add(Settings(home=home), "slurm", given)
    if account is not None:
        subprocess.run(["chown", "-R", f"{account.uid}:{account.gid}", str(home)], check=True)
        platform.python = python_of(account)
    try:
        platform.start()
        platform.wait_until_up()
        api = platform.api
        if is_furnished:
            furnish(api)
        wait_until(lambda: api.call("GET", "nodes"), "nodes to be shown", platform.log_tail)
        yield Site(platform, testbed)
    finally:
        testbed.tool("up")
        testbed.run("scancel", "--quiet", "--user=root", check=False)
        platform.close()
        testbed.mend()
        shutil.rmtree(home)
