"""Whether the logs are of one program alone: nothing in them tells of another rank, launcher, process or pod.

Such a program is rank 0. Never says so where a word hints at more than one.
"""

import re
from collections.abc import Sequence

from headway.diagnosis.reading.entry import Entry
from headway.diagnosis.reading.names import FileName

_PROGRAM = re.compile(r"Traceback \(most recent call last\)|^\s{0,8}File \"|(?i:\b(?:epoch|step|iter|loss)\b)")
_OTHERS = re.compile(
    r"(?i)\branks?[ :=#_]{0,3}\[?[1-9]|\bworkers?[ :=#_-]\d|\bnodes?[ :=#_-]?\d|\bpod\b|\bgpus?[ :=]{1,3}[2-9]|"
    r"[2-9] (?:gpus|npus|nodes|workers|processes|devices)|\bray\b|slurm|\borte|\b(?:open)?mpi|daemon|nnodes|"
    r"volcano|kubeflow|xla.{0,20}process|ChildFailedError|torch/distributed/|collective|tensor_parallel|"
    r"进程 ?\d|卡 ?[1-9]|节点"
)


def is_alone(entries: Sequence[Entry], names: Sequence[FileName]) -> bool:
    """Whether exactly one file is a program's, and no line of any file hints at a second program."""
    programs = {entry.file for entry in entries if not names[entry.file].is_system and _PROGRAM.search(entry.text)}
    hints = (entry.role or entry.pod or entry.pid or _OTHERS.search(entry.text) for entry in entries)
    return len(programs) == 1 and not any(hints)
