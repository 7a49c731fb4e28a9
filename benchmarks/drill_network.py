"""Three network namespaces on one bridge for the drills: each rank's own network, which can be cut or made to drop."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

BRIDGE = f"hw{os.getpid()}"
SUBNET = "10.77.9"


@dataclass(frozen=True)
class Spaces:
    """The namespaces of the ranks, by number."""

    names: tuple[str, ...]

    def cut(self, rank: int) -> None:
        """The rank's link loses its carrier."""
        _run("ip", "link", "set", f"{BRIDGE}-{rank}", "down")

    def drop(self, rank: int) -> None:
        """Every packet to or from the rank is dropped, the link stays up."""
        for hook in ("input", "output"):
            rules = f"add table inet d; add chain inet d {hook} {{ type filter hook {hook} priority 0; policy drop; }}"
            _run("ip", "netns", "exec", self.names[rank], "nft", rules)

    def mend(self, rank: int) -> None:
        """The rank's network is whole again."""
        _run("ip", "netns", "exec", self.names[rank], "nft", "flush ruleset")
        _run("ip", "link", "set", f"{BRIDGE}-{rank}", "up")


@contextmanager
def spaces(ranks: int) -> Iterator[Spaces]:
    """The namespaces, gone afterwards."""
    made = Spaces(tuple(f"{BRIDGE}-{rank}" for rank in range(ranks)))
    _remove(made.names)
    try:
        _run("ip", "link", "add", BRIDGE, "type", "bridge")
        _run("ip", "link", "set", BRIDGE, "up")
        for rank, name in enumerate(made.names):
            _run("ip", "netns", "add", name)
            _run("ip", "link", "add", f"{BRIDGE}-{rank}", "type", "veth", "peer", "name", "eth0", "netns", name)
            _run("ip", "link", "set", f"{BRIDGE}-{rank}", "master", BRIDGE, "up")
            within = ("ip", "-n", name)
            _run(*within, "addr", "add", f"{address(rank)}/24", "dev", "eth0")
            _run(*within, "link", "set", "eth0", "up")
            _run(*within, "link", "set", "lo", "up")
        yield made
    finally:
        _remove(made.names)


def address(rank: int) -> str:
    """A rank's address in its namespace."""
    return f"{SUBNET}.{rank + 1}"


def command(program: Sequence[str]) -> list[str]:
    """The words that start a rank in its own namespace, where its peers find the first rank."""
    inner = f'MASTER_ADDR={address(0)} GLOO_SOCKET_IFNAME=eth0 exec ip netns exec {BRIDGE}-$RANK "$@"'
    return ["sh", "-c", inner, "rank", *program]


def _remove(names: Sequence[str]) -> None:
    for rank, name in enumerate(names):
        for words in (("ip", "netns", "del", name), ("ip", "link", "del", f"{BRIDGE}-{rank}")):
            subprocess.run(words, stderr=subprocess.DEVNULL, check=False)
    subprocess.run(("ip", "link", "del", BRIDGE), stderr=subprocess.DEVNULL, check=False)


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
