"""A peer of the same kind: gpualert from PyPI, run by an interpreter that has it. The project does not depend on it.

It gives a label to one program's output; the labels stand for our classes. It names no rank, node, owner or retry: the
owner and retry here are those usual for its class.
"""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from benchmarks.diagnosis.cases import Case
from headway.diagnosis.cause import Cause, usual_owner, usual_retry
from headway.diagnosis.examine_files import ACTORS

LONGEST_S = 120.0
_PROGRAM = (
    "import json, sys\n"
    "from gpualert.parse_errors import parse_errors\n"
    "print(json.dumps([parse_errors(text, text, 1) for text in json.load(sys.stdin)]))"
)
_LABELS: tuple[tuple[str, Cause], ...] = (
    ("GPU out-of-memory", Cause.DEVICE_OOM),
    ("NCCL", Cause.COMM_TIMEOUT),
    ("CUDA runtime error", Cause.CUDA_ILLEGAL_ACCESS),
    ("System out-of-memory", Cause.HOST_OOM),
    ("Segmentation fault", Cause.NATIVE_CRASH),
    ("File not found", Cause.PATH_PERM),
    ("Permission denied", Cause.PATH_PERM),
    ("Missing Python module", Cause.DEP_IMPORT),
    ("isk", Cause.DISK_FULL),
    ("NaN", Cause.NUMERIC_NAN),
    ("time limit", Cause.TIME_LIMIT),
    ("ancelled", Cause.USER_CANCEL),
    ("onnection", Cause.REMOTE_DATA),
)


def findings(python: str, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """What the peer says of every case, all files of a case as one output."""
    texts = [b"\n".join(case.logs.values()).decode(errors="replace") for case in cases]
    done = subprocess.run(
        [python, "-c", _PROGRAM], input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=LONGEST_S
    )
    return [_found(label) for label in json.loads(done.stdout)]


def _found(label: str) -> dict[str, Any]:
    cause = next((cause for words, cause in _LABELS if words in label), Cause.USER_CODE_EXC)
    return {"cause_class": str(cause), "actor": ACTORS[usual_owner(cause)], "retry": str(usual_retry(cause))}
