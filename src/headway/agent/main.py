"""The command `headway-agent`: `run` a node directory, or `check` that its order can be carried out."""

from __future__ import annotations

import os
import sys

USAGE = """usage: headway-agent run <node directory>     start its order's ranks, or deliver what is left
       headway-agent check <node directory>   say whether its order.json can be read
       headway-agent --version
"""


def main() -> int:
    """Run one verb; 0 done, 2 the words or the order are wrong. Ends the process itself after `run`."""
    words = sys.argv[1:]
    if words == ["--version"]:
        import headway

        sys.stdout.write(f"headway-agent {headway.__version__}\n")
        return 0
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


if __name__ == "__main__":
    sys.exit(main())
