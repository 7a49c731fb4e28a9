"""The command `headway-agent`: `run` a node directory, `check` its order, watch a `node`, or read one print-out."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = """usage: headway-agent run <node directory>     start its order's ranks, or deliver what is left
       headway-agent check <node directory>   say whether its order.json can be read
       headway-agent node --server URL --token-file FILE [--help]    watch this node: cards, machine, kernel
       headway-agent read-probe --maker M --tool T FILE              read a card tool's print-out as JSON
       headway-agent --version
"""


def main() -> int:
    """Run one verb; 0 done, 2 the words or the order are wrong. Ends the process itself after `run`."""
    words = sys.argv[1:]
    if words == ["--version"]:
        import headway

        sys.stdout.write(f"headway-agent {headway.__version__}\n")
        return 0
    if words == ["read-nvml"]:
        from headway.agent.probes.nvml import main as read_nvml

        return read_nvml()
    if words[:1] == ["read-exporter"]:
        from headway.agent.probes.exporter import main as read_exporter

        return read_exporter(words[1:])
    if words and words[0] in ("read-probe", "node"):
        return _read_probe(words[1:]) if words[0] == "read-probe" else _node(words[1:])
    if len(words) != 2 or words[0] not in ("run", "check"):
        asked = words in (["--help"], ["-h"])
        (sys.stdout if asked else sys.stderr).write(USAGE)
        return 0 if asked else 2
    return _check(words[1]) if words[0] == "check" else _run(words[1])


def _run(directory: str) -> int:
    from headway.agent.order import OrderError
    from headway.agent.run import run

    try:
        code = run(directory)
    except OrderError as error:
        sys.stderr.write(f"headway-agent: {error}\n")
        return 2
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # the courier's thread may be waiting, and taking the interpreter down costs milliseconds


def _check(directory: str) -> int:
    from headway.agent.order import OrderError, read_order

    try:
        order = read_order(directory)
    except OrderError as error:
        sys.stderr.write(f"headway-agent: {error}\n")
        return 2
    sys.stdout.write(f"{order.attempt} on {order.node}: {len(order.ranks)} of {order.world_size} ranks\n")
    return 0


def _read_probe(words: Sequence[str]) -> int:
    from headway.agent.probes.read import main as read_probe

    return read_probe(words)


def _node(words: Sequence[str]) -> int:
    from headway.agent.node.watch import main as watch

    return watch(words)


if __name__ == "__main__":
    sys.exit(main())
