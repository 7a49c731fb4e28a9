"""The throw-away platform of the demo: a real server on a home of its own, with people, quotas and a data set."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from headway.sdk.client import Client

TINY_GPT = Path(__file__).resolve().parent.parent / "tiny_gpt"
NODES = "n1:2,n2:2"


@dataclass(frozen=True)
class Cluster:
    """A running server, and clients of the people in the story."""

    home: Path
    url: str
    admin: Client
    ann: Client
    bob: Client
    dataset: str


def start(home: Path) -> tuple[str, str]:
    """Start the server; its address and the first administrator's token."""
    command = [sys.executable, "-m", "headway.server.main", "up", "--detach", "--home", str(home), "--nodes", NODES]
    command += ["--port", str(free_port()), "--gateway-port", str(free_port())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    access = json.loads((home / "client.json").read_text())
    return access["url"], access["token"]


def stop(home: Path) -> None:
    """End the server and the gateway."""
    command = [sys.executable, "-m", "headway.server.main", "down", "--home", str(home)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def populate(home: Path, url: str, token: str, device_type: str = "cpu") -> Cluster:
    """A department, two projects with quotas, two people, the training template and a data set version."""
    admin = Client(url, token)
    admin.create_department("research")
    for project, devices in (("nlp", 4), ("vision", 2)):
        admin.create_project(project, "research")
        admin.set_quota(project, device_type, devices)
    admin.create_user("ann")
    admin.grant_role("ann", "lead", "nlp")
    admin.create_user("bob")
    admin.grant_role("bob", "member", "vision")
    admin.add_template(tomllib.loads((TINY_GPT / "template.toml").read_text(encoding="utf-8")))
    ann = Client(url, admin.issue_token("ann")["token"])
    bob = Client(url, admin.issue_token("bob")["token"])
    return Cluster(home, url, admin, ann, bob, dataset=_dataset(home, ann))


def _dataset(home: Path, ann: Client) -> str:
    """Python's own standard library on this machine, as bytes."""
    folder = home / "data" / "stdlib"
    subprocess.run([sys.executable, str(TINY_GPT / "prepare.py"), str(folder)], check=True, stdout=subprocess.DEVNULL)
    version = ann.register_dataset("python-stdlib", str(folder), "Python's standard-library sources, one byte a token")
    return f"{version['name']}@{version['number']}"


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
