"""`python -m headway.agent.checkpoints survey ROOT [KNOWN]` and `discard ROOT ORDERS`: one JSON line a checkpoint;
`inspect PATH`: one line of what is there.

Runs as the job's user beside its training: with the least priority, and with bounds on memory and processor time.
"""

from __future__ import annotations

import json
import os
import resource
import sys

from headway.agent.checkpoints.named import inspect
from headway.agent.checkpoints.survey import survey
from headway.agent.checkpoints.sweep import Kept, discard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 4 << 30
MOST_CPU_S = 600


def main(words: list[str]) -> int:
    """Do one of them; 2 where the words are not understood, 1 where the root cannot be read."""
    if len(words) < 2 or words[0] not in ("survey", "discard", "inspect"):
        print("survey ROOT [KNOWN] | discard ROOT ORDERS | inspect PATH", file=sys.stderr)
        return 2
    _be_modest()
    told = json.loads(words[2]) if len(words) > 2 else []
    try:
        lines = _lines(words[0], words[1], told)
    except OSError as error:
        print(f"{words[1]}: {error.strerror}", file=sys.stderr)
        return 1
    for line in lines:
        sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")
    return 0


def _lines(verb: str, path: str, told: list[Any]) -> list[dict[str, Any]]:
    if verb == "inspect":
        return [inspect(path)]
    return survey(path, told) if verb == "survey" else [_discard(path, order) for order in told]


def _discard(root: str, order: dict[str, object]) -> dict[str, object]:
    size = order.get("bytes")
    try:
        discard(root, str(order["path"]), size if isinstance(size, int) else None)
    except Kept as kept:
        return {**order, "kept": str(kept)}
    return {**order, "kept": None}


def _be_modest() -> None:
    os.nice(19)
    for what, most in ((resource.RLIMIT_AS, MOST_BYTES), (resource.RLIMIT_CPU, MOST_CPU_S)):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard < 0 else min(most, hard), hard))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
