"""Lines of the kernel that say a part of the node has failed: cards, switches, links, memory, disks.

Reads `dmesg` in all its clocks, `journalctl -k`, syslog and `/dev/kmsg`. What is no fault is left out; that two lines
tell of one kill is for `diagnosis` to see.
"""

from __future__ import annotations

import re

from headway.agent.probes.port import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PID = r"(?:.*?\bpid=['\"]?(?P<pid>\d+)?)?(?:.*?\bname=(?P<process>[^,<\s][^,]*))?"
_BUS = r"[0-9A-Fa-f]{4,}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.\d)?"
_NAMED = r"process (?P<pid>\d+) \((?P<process>[^)]*)\)"
_PATTERNS = (
    ("xid", rf"NVRM: (?:GPU\d* )?Xid \((?:PCI:)?(?P<device>[0-9A-Fa-f:.]+)\): (?P<code>\d+){_PID}"),
    ("sxid", r"SXid \((?:PCI:)?(?P<device>[0-9A-Fa-f:.]+)\): (?P<code>\d+)"),
    ("gpu_lost", rf"NVRM: GPU (?:at )?(?:PCI:)?(?P<device>{_BUS}):? .*has fallen off the bus"),
    ("oom_kill", r"oom-kill:.*\btask=(?P<process>[^,]+),pid=(?P<pid>\d+)"),
    ("oom_kill", rf"Kill(?:ed)? {_NAMED}"),
    ("oom_reaped", rf"oom_reaper: reaped {_NAMED}"),
    (
        "link_down",
        r"(?:\(slave (?P<device>[\w.-]+)\): )?link status definitely down(?: for interface (?P<bus>[\w.-]+))?",
    ),
    ("link_down", r"mlx5_core (?P<bus>[0-9a-f:.]+)(?: (?P<device>\w+))?: (?:Port: \d+ )?Link down"),
    ("link_down", rf"\w+ {_BUS} (?P<device>[\w.-]+): (?:NIC )?Link (?:is )?[Dd]own"),
    ("link_down", r"(?P<device>[A-Za-z][\w.-]*)(?: \([^)]*\))?:? (?:NIC )?Link (?:is )?[Dd]own"),
    (
        "nic_error",
        r"mlx5_core (?P<device>[0-9a-f:.]+)\S*:? .*"
        r"(?:health compromised|Fatal error|assert_var|firmware fatal|device's health)",
    ),
    ("io_error", r"(?:critical \w+ error|I/O error),? dev (?P<device>\w[\w.-]*)"),
    (
        "io_error",
        r"(?P<device>sd[a-z]+|nvme\d+(?:n\d+)?)\S*:? .*"
        r"(?:I/O (?:error|Cmd\(|\d+ .*timeout)|rejecting I/O|controller is down|Medium Error|Unrecovered read error)",
    ),
    (
        "fs_readonly",
        r"(?:EXT4-fs|XFS|BTRFS)[^(]*\((?:device )?(?P<device>[\w./-]+)\): .*[Rr]emounting filesystem read-only",
    ),
    (
        "fs_error",
        r"(?:XFS|BTRFS) ?\((?:device )?(?P<device>[\w./-]+)\):? .*(?:I/O error|[Cc]orruption|[Ss]hutting down)",
    ),
    ("fs_error", r"(?:EXT4-fs|BTRFS) error \(device (?P<device>[\w./-]+)\)"),
    ("mount_lost", r"nfs: server (?P<device>\S+) not responding"),
    ("mount_lost", r"(?:LustreError|libceph|beegfs)\b.*?(?:lost connection|socket closed|evicted|timed out)"),
    ("mce", r"\[Hardware Error\]: (?:Machine check events logged|CPU (?P<code>\d+): Machine Check)"),
    ("mce", r"mce: .*(?:CPU ?(?P<code>\d+)|Uncorrected|[Mm]achine [Cc]heck)"),
    ("memory_error", r"EDAC (?P<device>\w+): (?P<code>\d+) UE\b"),
    ("memory_error", r"Memory failure: (?P<device>0x[0-9a-f]+):"),
    ("memory_corrected", r"EDAC (?P<device>\w+): (?P<code>\d+) CE\b"),
    ("pcie_error", r"pcieport (?P<device>[0-9a-f:.]+): AER: .*(?:Uncorrect\w*|Fatal)"),
    ("pcie_error", rf"(?P<device>{_BUS}): PCIe Bus Error: severity=Uncorrected"),
    ("hung_task", r"INFO: task (?P<process>.+?):(?P<pid>\d+) blocked for more than (?P<code>\d+) seconds"),
    ("soft_lockup", r"BUG: soft lockup - CPU#(?P<code>\d+).*?\[(?P<process>[^\]]+):(?P<pid>\d+)\]"),
    ("hard_lockup", r"hard LOCKUP on cpu (?P<code>\d+)"),
    ("thermal", r"(?:CPU\d+|Core): .*temperature above threshold"),
    ("kernel_panic", r"Kernel panic - not syncing"),
    ("segfault", r"(?P<process>[^\s\[\]]+)\[(?P<pid>\d+)\]: segfault at"),
    (
        "npu_fault",
        r"\[(?:ascend|drv|devdrv|dms)\w*\].*?(?:dev_?id[=:( ]*(?P<device>\d+))?.*?"
        r"(?:event_?id|fault|error_?code)[=:( ]*(?P<code>0x[0-9A-Fa-f]{6,}|[0-9A-F]{8})",
    ),
    ("amdgpu_fault", r"amdgpu (?P<device>[0-9a-f:.]+): .*(?:GPU reset|ring .* timeout|uncorrectable|RAS)"),
)
PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
# A quick sieve, so that a quiet log costs little.
_SIEVE = re.compile(
    r"Xid|SXid|fallen off|oom|Kill|[Ll]ink|mlx5|I/O|[Ee]rror|XFS|BTRFS|EXT4|nfs|mce|[Mm]achine|EDAC|Memory failure|"
    r"AER|blocked for|lockup|LOCKUP|threshold|panic|segfault|ascend|drv|dms|amdgpu|libceph|beegfs"
)


def event_of(line: str) -> dict[str, Any] | None:
    """What one line tells: kind, code, device, pid, process; None for a line that tells of no fault."""
    line = line[:4096]
    if not _SIEVE.search(line):
        return None
    for kind, pattern in PATTERNS:
        found = pattern.search(line)
        if found is not None:
            said = {name: word for name, word in found.groupdict().items() if word}
            device = said.get("device") or said.get("bus")
            code = said.get("code")
            return {
                "kind": kind,
                "code": int(code) if code and code.isdigit() else code,
                "device": device.rstrip(":.") if device else None,
                "pid": int(said["pid"]) if "pid" in said else None,
                "process": said.get("process"),
            }
    return None


def read_lines(text: str) -> dict[str, Any]:
    """Every line that tells of a fault, with its number from 1."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        event = event_of(line)
        if event is not None:
            found.append({"line": number, **event})
    return {"events": found}


READERS = (
    Reader("dmesg", r"^\s*(?:<\d+>)?\[[^\]]+\] ", read_lines),
    Reader("kmsg", r"^(?:\w+\s*:\w+\s*: |\d+,\d+,\d+,)", read_lines),
    Reader("journal", r"\bkernel: |^\w{3}\s+\d+ \d\d:\d\d:\d\d |^\d{4}-\d\d-\d\dT", read_lines),
    Reader("lines", r"NVRM|oom|kernel", read_lines),
)
