"""Peels what stands before a line's own words: times, levels, ranks, nodes, processes, roles, in any order and number.

Every pattern is anchored where the last one ended and bounded in length, so a line is peeled in linear time.
"""

import re
from collections.abc import Callable

from headway.diagnosis.reading.clocks import read_clock
from headway.diagnosis.reading.entry import Entry

MOST_PREFIXES = 12
_HOST = r"[A-Za-z0-9][\w.-]{0,80}"

Taker = Callable[[Entry, re.Match[str]], bool]


def _rank(entry: Entry, found: re.Match[str]) -> bool:
    entry.rank = int(found["n"]) if entry.rank is None else entry.rank
    return True


def _rank_on_node(entry: Entry, found: re.Match[str]) -> bool:
    return _rank(entry, found) and _node(entry, found)


def _local(entry: Entry, found: re.Match[str]) -> bool:
    entry.local = int(found["n"]) if entry.local is None else entry.local
    return True


def _number(entry: Entry, found: re.Match[str]) -> bool:
    if entry.numbered is not None:
        return False
    entry.numbered = int(found["n"])
    return True


def _nccl(entry: Entry, found: re.Match[str]) -> bool:
    entry.node = found["host"] if not found["host"].isdigit() else entry.node
    entry.pid, entry.device = int(found["pid"]), int(found["gpu"])
    return True


def _crash(entry: Entry, found: re.Match[str]) -> bool:
    entry.node, entry.pid = found["host"], int(found["pid"])
    return True


def _actor(entry: Entry, found: re.Match[str]) -> bool:
    entry.role = found["role"] or entry.role
    entry.pid = int(found["pid"])
    entry.node = found["ip"] or entry.node
    if found["rank"]:
        entry.rank = int(found["rank"])
    if tensor := re.search(r"(?:TP|tp|Rank|rank)_?(\d{1,4})$", found["role"] or ""):
        entry.local = int(tensor[1])
    return True


def _node(entry: Entry, found: re.Match[str]) -> bool:
    entry.node = found["host"] if entry.node is None else entry.node
    return True


def _plausible_node(entry: Entry, found: re.Match[str]) -> bool:
    """A name before a colon is a node only if it looks like one: it holds a digit, and is no file and no exception."""
    name = found["host"]
    if (
        entry.node is not None
        or entry.level is not None
        or not any(c.isdigit() for c in name)
        or name.isdigit()
        or _NO_NODE.search(name)
    ):
        return False
    entry.node = name
    return True


def _pod(entry: Entry, found: re.Match[str]) -> bool:
    entry.pod = found["pod"]
    return True


def _level(entry: Entry, found: re.Match[str]) -> bool:
    entry.level = found["level"].upper()
    return True


def _nothing(_entry: Entry, _found: re.Match[str]) -> bool:
    return True


def _process(entry: Entry, found: re.Match[str]) -> bool:
    entry.pid = int(found["pid"])
    return True


def _syslog(entry: Entry, found: re.Match[str]) -> bool:
    entry.node = found["host"] if entry.node is None else entry.node
    return True


_NO_NODE = re.compile(
    r"\.(?:py|cc|cpp|cu|h|hpp|c|go|rs|json|yaml|log)$|Error|Exception|"
    r"^[A-Z]{1,3}\d{3,5}$|^(?:epoch|step|iter|rank|gpu|npu|"
    r"device|cuda|loss|[vV]?\d+(?:\.\d+){0,2}$|fp\d+|bf\d+|int\d+|float\d+|http|utf-?8|python|Xid|SXid|error|warning|"
    r"group|layer|worker_?\d*$|thread|process|task|shard|[a-z]+_\d+$)",
    re.IGNORECASE,
)
_PREFIXES: tuple[tuple[re.Pattern[str], Taker], ...] = tuple(
    (re.compile(pattern), taker)
    for pattern, taker in (
        (r"\[(?:rank|Rank|RANK)[ :_=-]{0,2}(?P<n>\d{1,6})\]:? ?", _rank),
        (
            r"[A-Za-z_][\w.-]{0,60}/\d{1,5} (?=\[|[EWIF]\d{4} |\d{4}-\d|Traceback \(|  File |"
            r"[\w.]{1,160}(?:Error|Exception|Interrupt|Exit)\b)",
            _nothing,
        ),
        (r"\[default(?P<n>\d{1,4})\]: ?", _local),
        (r"\[NeMo (?P<level>[IWEDF]) (?=\d{4}-)", _level),
        (r"[\w./-]{1,80}:\d{1,6}\] ?", _nothing),
        (r"\[\d{1,4},(?P<n>\d{1,6})\] ?<std(?:out|err|diag)>: ?", _rank),
        (r"\[(?P<n>\d{1,6})\] ?<std(?:out|err)>: ?", _rank),
        (r"\[\d{1,4},mpirank:(?P<n>\d{1,6}),(?P<host>[\w.-]{1,80})\]<std(?:out|err)>: ?", _rank_on_node),
        (r"(?:Rank|rank|RANK)[ =:_](?P<n>\d{1,6})(?:[:|]|\s*\|)\s{0,4}", _rank),
        (r"(?:\[\w{1,20}\] )?rank=(?P<n>\d{1,6})[,:]? ", _rank),
        (r"<(?:rank )?(?P<n>\d{1,6})>:? ?", _rank),
        (r"\[[\w./<>-]{1,160}\.(?:py|cc|cpp|cu|h|hpp|go|c)(?::\d{1,6})?(?::[\w<>.]{1,80})?\]:? ?", _nothing),
        (
            r"[\w./-]{1,160}\.(?:py|cc|cpp|cu|h|hpp|go):\d{1,6}(?:\]|:[\w.]{1,60}\])?:? (?:NCCL WARN |"
            r"-- |- |>> )?",
            _nothing,
        ),
        (r"[\w./-]{1,160}\.(?:cpp|cc):\d{1,6}\] ?", _nothing),
        (r"[A-Z_]{2,20}\((?P<pid>\d{1,8}),[\w./-]{1,60}(?:,[\w./-]{1,60})?\):", _process),
        (r"(?P<host>[\w.-]{1,80}):(?P<pid>\d{1,8}):\d{1,8} \[(?P<gpu>-?\d{1,3})\] ?", _nccl),
        (r"\[(?P<host>[\w.-]{1,80}):(?P<pid>\d{1,8})(?: ?:\d{1,3}:\d{1,8})?\] ?", _crash),
        (
            r"\((?P<role>[A-Za-z_][\w:.]{0,60})?(?: rank=(?P<rank>\d{1,6}))? ?pid=(?P<pid>\d{1,8})"
            r"(?:, ip=(?P<ip>[\w.:-]{1,64}))?(?:, [^()]{0,80})?\) ?",
            _actor,
        ),
        (r"\[pod/(?P<pod>[\w.-]{1,120})/[\w.-]{1,80}\] ?", _pod),
        (
            r"(?P<host>[\w.-]{1,80}) (?:kernel|systemd|dockerd|containerd|kubelet|"
            r"slurmd|slurmctld|slurmstepd|sshd|CRON|ntpd|rsyslogd|"
            r"nv-hostengine|nv-fabricmanager|nvidia-persistenced|unattended-upgrades|"
            r"chronyd|dhclient|NetworkManager|python3?|torchrun|"
            r"smartd|mcelog|rasdaemon|mstflint|opensm|ipmievd|su|sudo)(?:\[\d{1,8}\])?: (?:\[ *\d{1,9}\.\d{1,9}\] )?",
            _syslog,
        ),
        (r"NCCL (?:WARN|ERROR) ", _nothing),
        (r"kernel: (?:\[ *\d{1,9}\.\d{1,9}\] )?", _nothing),
        (r"std(?:out|err) [FP] ", _nothing),
        (r"\[(?:std(?:out|err)|main|root|__main__|default)\][ :]{0,2}", _nothing),
        (
            r"\[?\b(?P<level>INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|CRITICAL|NOTICE|"
            r"TRACE|信息|警告|错误)\b\]?(?::(?=[\s\w.])|\s*\|| ?-)?\s{0,8}",
            _level,
        ),
        (r"[a-z][\w.]{1,60} (?P<level>INFO|WARNING|ERROR|CRITICAL) (?=[(\[\w])", _level),
        (r"(?:- )?(?P<level>INFO|WARNING|ERROR|CRITICAL|DEBUG) - ", _level),
        (r"\|\s{0,4}(?P<level>INFO|WARNING|ERROR|DEBUG|CRITICAL|SUCCESS)\s{0,8}\|\s{0,4}", _level),
        (r"\[(?P<level>E|W|I|F)(?= |\])\]? ?", _level),
        (r"\[[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,30}\] ?", _nothing),
        (r"\[\w{1,40}/[\w-]{1,60}/\d{1,12} \(pid (?P<pid>\d{1,8})\)\] ?", _process),
        (r"\[(?P<host>(?:node|host|worker|server|gpu|npu|compute|cn|gn)[\w.-]{0,60})\]:? ?", _node),
        (r"\[(?P<n>\d{1,5})\]:? ?(?=[^\s:]| )", _number),
        (r" {0,6}(?P<n>\d{1,5}): (?=\S| )", _number),
        (r"\[(?:[A-Za-z_][\w.]{0,60}:)?\d{1,9}\] ?", _nothing),
        (rf"(?P<host>{_HOST})(?:: | {{0,12}}\| ?)", _plausible_node),
        (r"(?:TP|DP|PP|EP)(?P<n>\d{1,4})(?: (?:TP|DP|PP|EP)\d{1,4}){0,3}\] ?", _local),
        (r"(?:<\d{1,3}>)(?=[A-Z\d])", _nothing),
        (r"[|>-]{1,2} +(?=\S)", _nothing),
    )
)
_PLAIN = re.compile(
    r"(?:  +|\t)(?! {0,6}\d{1,5}: )|File |Traceback |[a-z_]+ [a-z]|[A-Za-z_.]{1,80}(?:Error|Exception)\b"
)


def peel(entry: Entry) -> None:
    """Take the prefixes off `entry.text` and note what they say."""
    text, at = entry.text, 0
    for _ in range(MOST_PREFIXES):
        if _PLAIN.match(text, at):
            break
        ahead = _step(entry, text, at)
        if ahead == at:
            break
        at = ahead
    if at:
        entry.text = text[at:]
        entry.lower = entry.text.lower()


def _step(entry: Entry, text: str, at: int) -> int:
    """Where the text goes on after one prefix; `at` if there is none."""
    clock = read_clock(text, at)
    if clock:
        if entry.at is None:
            entry.at = clock[0]
        return clock[1]
    for pattern, taker in _PREFIXES:
        found = pattern.match(text, at)
        if found and found.end() > at and taker(entry, found):
            return found.end()
    return at
