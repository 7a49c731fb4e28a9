"""The words of `headway-agent node` as frozen values, or a sentence in zh or en that says what is wrong with them."""

from __future__ import annotations

import os
import re

from headway.agent.probes.port import MAKERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HELP = {
    "en": """usage: headway-agent node --server URL --token-file FILE [options]

Watch this node: its cards, processors, memory, disks, mounts and network, whether a job runs or not, and what its
kernel says. Reports wait on disk while the server is away; each is recorded once.

  --server URL         where the server answers, as http[s]://host:port
  --token-file FILE    the node's credential: `headway node token NODE` prints it
  --ca-file FILE       what to trust for https
  --node NAME          the node's name at its engine [this host's name]
  --engine NAME        the engine the node belongs to [local]
  --maker M            whose cards: {makers} [whose tool is there]
  --exporter URL       metrics of a card exporter on this node, asked where the maker's own tool is missing:
                       dcgm-exporter, npu-exporter, mlu-exporter, as http://127.0.0.1:9400/metrics
  --devices 0,1        only these cards, where one machine is several nodes [all]
  --mount PATH         a directory to watch for space and answers, again for more [/]
  --kernel-log PATH    /dev/kmsg, a file or a pipe of kernel lines, `journal`, or `none` [/dev/kmsg, else journal]
  --state DIR          where reports wait [/var/lib/headway-node]
  --every SECONDS      between samples [15]
""",
    "zh": """用法：headway-agent node --server URL --token-file FILE [选项]

看护本节点：无论是否有作业在跑，都采集卡、处理器、内存、磁盘、挂载与网络的读数，并记录内核事件。
服务器不在时报告落盘等待；每份报告只记录一次。

  --server URL         服务器地址，如 http[s]://host:port
  --token-file FILE    本节点的凭据：由 `headway node token 节点` 给出
  --ca-file FILE       https 时信任的证书
  --node NAME          节点在其引擎中的名字 [本机名]
  --engine NAME        节点所属引擎 [local]
  --maker M            卡的厂商：{makers} [看哪家的工具在]
  --exporter URL       本节点上卡指标导出器的地址，厂商自己的工具不在时才用：
                       dcgm-exporter、npu-exporter、mlu-exporter，如 http://127.0.0.1:9400/metrics
  --devices 0,1        只看这些卡（一台机器分成几个节点时） [全部]
  --mount PATH         要看空间与应答的目录，可重复 [/]
  --kernel-log PATH    /dev/kmsg、内核行的文件或管道、`journal` 或 `none` [/dev/kmsg，否则 journal]
  --state DIR          报告等待的目录 [/var/lib/headway-node]
  --every SECONDS      采样间隔秒数 [15]
""",
}
SAYS = {
    "missing": {"en": "{option} is needed. See --help", "zh": "缺少 {option}。见 --help"},
    "unknown": {"en": "{option} is no option of this command. See --help", "zh": "没有选项 {option}。见 --help"},
    "invalid": {
        "en": "{option}: “{value}” is not {rule}",
        "zh": "{option}：“{value}”不符合要求（{rule}）",
    },
    "unreadable": {"en": "{option}: {value} cannot be read: {rule}", "zh": "{option}：无法读取 {value}：{rule}"},
    "held": {
        "en": "another node daemon holds {value}. Stop it, or give --state another directory",
        "zh": "另一个节点守护进程正占用 {value}。请先停止它，或用 --state 换一个目录",
    },
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_URL = r"https?://\S+"
_SINGLE = (
    *("server", "token-file", "ca-file", "node", "engine", "maker", "exporter", "devices", "kernel-log", "state"),
    "every",
)


class OptionError(Exception):
    """The words cannot be carried out: `code` of `SAYS` and what it names."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code = code
        self.params = params


class Options:
    """What to watch and whom to tell. Times in seconds; `devices` None: every card."""

    __slots__ = (
        "ca_file",
        "devices",
        "engine",
        "every_s",
        "exporter",
        "kernel_log",
        "maker",
        "mounts",
        "node",
        "server",
        "state",
        "token",
    )

    def __init__(self, given: dict[str, str], mounts: Sequence[str]) -> None:
        self.server = _checked(given, "server", _URL, "http[s]://host:port")
        self.token = _token(given.get("token-file"))
        self.ca_file = given.get("ca-file")
        self.node = _name(given, "node", os.uname().nodename)
        self.engine = _name(given, "engine", "local")
        self.maker = given.get("maker")
        if self.maker is not None and self.maker not in (*MAKERS, "cpu"):
            raise OptionError("invalid", option="--maker", value=self.maker, rule=", ".join(MAKERS))
        self.exporter = (
            _checked(given, "exporter", _URL, "http[s]://host:port/metrics") if "exporter" in given else None
        )
        self.devices = _devices(given.get("devices"))
        self.mounts = tuple(mounts) or ("/",)
        self.kernel_log = given.get("kernel-log", "auto")
        self.state = given.get("state", "/var/lib/headway-node")
        self.every_s = _seconds(given.get("every", "15"))


def parse(words: Sequence[str]) -> Options:
    """The options that these words give. Raises OptionError."""
    given: dict[str, str] = {}
    mounts: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        key = name[2:] if name.startswith("--") else ""
        if key not in (*_SINGLE, "mount"):
            raise OptionError("unknown", option=word)
        if not equals and not rest:
            raise OptionError("missing", option=f"{name} …")
        value = value if equals else rest.pop(0)
        if key == "mount":
            mounts.append(value)
        else:
            given[key] = value
    return Options(given, mounts)


def _checked(given: dict[str, str], key: str, pattern: str, rule: str) -> str:
    if key not in given:
        raise OptionError("missing", option=f"--{key}")
    if not re.fullmatch(pattern, given[key]):
        raise OptionError("invalid", option=f"--{key}", value=given[key], rule=rule)
    return given[key]


def _name(given: dict[str, str], key: str, default: str) -> str:
    return _checked({key: given.get(key, default)}, key, NAME.pattern, "[A-Za-z0-9._-]")


def _token(path: str | None) -> str:
    if path is None:
        raise OptionError("missing", option="--token-file")
    try:
        with open(path, encoding="ascii") as file:
            token = file.read().strip()
    except (OSError, ValueError) as error:
        raise OptionError("unreadable", option="--token-file", value=path, rule=str(error)) from error
    if not token or any(char.isspace() for char in token):
        raise OptionError("invalid", option="--token-file", value=path, rule="one line, hwn_…")
    return token


def _devices(text: str | None) -> frozenset[int] | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise OptionError("invalid", option="--devices", value=text, rule="0,1,…")
    return frozenset(int(word) for word in text.split(","))


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.05 <= value <= 3600:
        raise OptionError("invalid", option="--every", value=text, rule="0.05 … 3600")
    return value
