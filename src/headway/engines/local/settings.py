"""What can be set for the local engine. Values only: nothing here looks at the machine."""

import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name

# The server's own environment holds its secrets: agents and ranks inherit these alone.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class VirtualNode:
    """A part of this machine that is scheduled as a node; `device_type` None: the type of what was discovered."""

    name: str
    devices: int
    device_type: str | None = None


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Where node directories go, how an agent is started, and how the machine is divided.

    `agent`: the agent's zipapp, started by `python`, or the words before `run <directory>`. `nodes` empty: one node,
    named as the host, with all devices. `ports`: where attempts listen; outside the kernel's range for outgoing
    connections, or somebody's connection may sit on a port between choice and use. `cgroup_root` None: no cgroups.
    `starting`: how long after a launch an agent may still come up unseen. `kill_after`: what a stop waits beyond its
    grace.
    """

    run_dir: Path
    agent: Path | tuple[str, ...]
    python: str = sys.executable
    nodes: tuple[VirtualNode, ...] = ()
    ca_file: str | None = None
    host: str = "127.0.0.1"
    ports: range = range(20000, 32000)
    cgroup_root: Path | None = Path("/sys/fs/cgroup")
    inherited: tuple[str, ...] = INHERITED
    readings: timedelta = timedelta(seconds=2)
    report: timedelta = timedelta(seconds=1)
    starting: timedelta = timedelta(seconds=10)
    kill_after: timedelta = timedelta(seconds=5)

    def agent_argv(self, directory: Path) -> tuple[str, ...]:
        """The words that start the agent on a node directory."""
        start = self.agent if isinstance(self.agent, tuple) else (self.python, str(self.agent))
        return (*start, "run", str(directory))


def parse_nodes(text: str) -> tuple[VirtualNode, ...]:
    """Read `n1:2,n2:2` or, with a device type, `n1:2:cpu`. Raises `invalid-field`, `invalid-name`."""
    nodes = tuple(_parse_node(entry.strip()) for entry in text.split(",") if entry.strip())
    if len({node.name for node in nodes}) != len(nodes):
        raise PlatformError("invalid-field", field="nodes", value=text, rule="rule-each-once")
    return nodes


def _parse_node(entry: str) -> VirtualNode:
    name, _, rest = entry.partition(":")
    count, _, device_type = rest.partition(":")
    if not count.isdecimal() or int(count) < 1:
        raise PlatformError("invalid-field", field="nodes", value=entry, rule="name:devices | name:devices:type")
    if device_type:
        check_name("nodes", device_type)
    return VirtualNode(check_name("nodes", name), int(count), device_type or None)
