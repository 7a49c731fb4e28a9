"""What the name of a file says about who wrote it: a rank, a node, a role. A name that says nothing says None."""

import re
from dataclasses import dataclass

_RANK = re.compile(
    r"(?:^|[/_.-])(?:global_?rank|std(?:out|err)?_?rank|rank|RANK|process|proc|task|replica)[_.:-]?(\d{1,6})(?=\D|"
    r"$)|(?:^|/)workerlog\.(\d{1,6})$|(?:^|/)device_?(\d{1,4})/|(?:^|/)worker_(\d{1,6})\.log$|"
    r"(?:^|/)attempt_\d{1,4}[/_](\d{1,6})(?=[/_])"
    r"|(?:^|/)(\d{1,6})[/_.](?:std(?:out|err)(?:\.log)?|error\.json|"
    r"log|out|err)$|(?:^|/)\d{1,12}_(?:log_)?(\d{1,6})(?:_log)?\.(?:out|err)$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:^|[/_.-])((?:env|reward|rollout|rm|critic|actor|inference|"
    r"vllm|sglang|api|policy|judge|sandbox)(?:[_-](?:server|worker|"
    r"engine|model))?|trainer|controller|learner|router)(?=[_.-]?\d{0,4}(?:[_.]|$))"
)
_ABOUT = re.compile(
    r"^(?:dmesg|syslog|messages|kern|kernel|journal|nvidia-smi|npu-smi|rocm-smi|ibstat|"
    r"node|host|kmsg|slurmd|console|messages)[_.-](?=[a-zA-Z]+[\w.-]{0,40}\d)|"
    r"[_.-](?:dmesg|syslog|messages|"
    r"kern|kernel|journal|kmsg|stdout|stderr|out|err|train|log|init|nvidia-smi(?:-q)?|npu-smi|rocm-smi|ibstat|df)$",
    re.IGNORECASE,
)
_NODE = re.compile(r"^[A-Za-z][A-Za-z0-9]{0,30}(?:[-.][A-Za-z0-9]{1,30}){0,6}$|^\d{1,3}(?:[.-]\d{1,3}){3}$")
_LETTERED = re.compile(r"(?:node|host|worker|server|machine|gpu|npu|box)[-_.]?[a-z]$", re.IGNORECASE)
_NO_NODE = re.compile(
    r"^(?:rank|attempt|epoch|step|run|job|log|train(?:ing)?[_-]?\d{4}|"
    r"slurm-?\d|pbs|lsf|exp|part|test|output|stdout|stderr|version|events?|error|trial|restart|"
    r"global_?rank|stack|pyspy|py-spy|plog|device|local)|^(?:gpu|npu)-?\d$",
    re.IGNORECASE,
)
_ENDINGS = re.compile(r"(?:\.(?:log|txt|out|err|json|jsonl|gz))+$")
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}$")
_KERNEL = re.compile(r"dmesg|syslog|kern(?:el)?\.|messages$|kmsg|journal", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileName:
    """`is_system`: the log of a machine rather than of a rank."""

    rank: int | None
    node: str | None
    role: str | None
    is_system: bool


def read_name(path: str) -> FileName:
    """What a path, relative to the folder, says."""
    base = path.rpartition("/")[2]
    stem = _ENDINGS.sub("", base)
    stem = stem if _ADDRESS.match(stem) else re.sub(r"(?:\.(?:log|txt|out|err|json|jsonl|gz|\d{1,3}))+$", "", stem)
    found = _RANK.search(path)
    rank = next((int(each) for each in found.groups() if each), None) if found else None
    node = _node_of(stem)
    if node is None and "/" in path:
        node = _node_of(path.rpartition("/")[0].rpartition("/")[2])
    role = _ROLE.search(base)
    return FileName(rank, node, role[1] if role else None, bool(_KERNEL.search(base)))


def _node_of(stem: str) -> str | None:
    name = _ABOUT.sub("", _ABOUT.sub("", stem))
    is_named = any(c.isdigit() for c in name) or _LETTERED.match(name)
    is_node = _NODE.match(name) and is_named and not _NO_NODE.match(name)
    return name if is_node else None
