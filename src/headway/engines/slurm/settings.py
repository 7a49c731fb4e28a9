"""What can be set for a Slurm site. Values only: nothing here asks Slurm or looks at a disk."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from headway.domain.errors import PlatformError
from headway.domain.resources import Maker
from headway.engines.protocol import EngineConfig

OPTIONS = frozenset(
    {
        "account",
        "accounts",
        "agent",
        "become",
        "cpus_per_device",
        "makers",
        "memory_mb_per_device",
        "notice_s",
        "partition",
        "path",
        "pending_s",
        "ports",
        "python",
        "qos",
        "qoses",
        "server_url",
        "share",
        "slurm_conf",
        "time_limit_min",
    }
)


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """One site.

    `records`: the engine's own notes, on the server's disk. `share`: a directory that the server and every node see
    under the same path; node directories go there. `agent`: the zipapp; `sbcast`: Slurm copies it to each node.
    `become`: whether a server that is not root acts as its users by sudo. `accounts`, `qoses`: by project,
    else `account`, `qos`.
    `time_limit` None: the partition's own. `notice`: how long before a time limit ranks hear of it. `pending`: how long
    a launch may wait in Slurm's queue. `cpus_per_device` and `memory_per_device` (MiB) None: the node's even share.
    `look`: at least and at most so long between two questions of one kind to slurmctld, longer the more jobs it has.
    `settle`: how long what Slurm does not know of may still come up; `kill_after`: what a stop waits beyond its grace.
    """

    records: Path
    share: Path
    agent: Path
    python: str = "python3"
    sbcast: bool = False
    become: bool = False
    path: str = "/usr/local/bin:/usr/bin:/bin"
    partition: str | None = None
    account: str | None = None
    accounts: Mapping[str, str] = field(default_factory=dict)
    qos: str | None = None
    qoses: Mapping[str, str] = field(default_factory=dict)
    server_url: str | None = None
    slurm_conf: str | None = None
    ca_file: str | None = None
    ports: range = range(20000, 32000)
    makers: Mapping[str, Maker] = field(default_factory=dict)
    cpus_per_device: int | None = None
    memory_per_device: int | None = None
    time_limit: timedelta | None = None
    notice: timedelta = timedelta(seconds=120)
    pending: timedelta = timedelta(seconds=120)
    readings: timedelta = timedelta(seconds=2)
    report: timedelta = timedelta(seconds=1)
    look: tuple[timedelta, timedelta] = (timedelta(seconds=2), timedelta(seconds=15))
    settle: timedelta = timedelta(seconds=10)
    kill_after: timedelta = timedelta(seconds=5)
    timeout: timedelta = timedelta(seconds=30)


def read_settings(config: EngineConfig) -> SlurmSettings:
    """A site from an engine's options. Raises `missing-field`, `invalid-field`, `unknown-field`."""
    options = {name: value for name, value in config.options.items() if value}
    if unknown := sorted(set(options) - OPTIONS - {"nodes"}):
        raise PlatformError(
            "unknown-field", field=unknown[0], value=options[unknown[0]], allowed=", ".join(sorted(OPTIONS))
        )
    if "share" not in options:
        raise PlatformError("missing-field", field="share")
    limit = _number(options, "time_limit_min")
    return SlurmSettings(
        records=config.run_dir,
        share=_folder(options["share"]),
        agent=config.agent,
        python=options.get("python", config.python),
        sbcast=_word(options, "agent", "share", "sbcast") == "sbcast",
        become=_word(options, "become", "root", "sudo") == "sudo",
        path=options.get("path", "/usr/local/bin:/usr/bin:/bin"),
        partition=options.get("partition"),
        account=options.get("account"),
        accounts=_pairs(options, "accounts"),
        qos=options.get("qos"),
        qoses=_pairs(options, "qoses"),
        server_url=options.get("server_url"),
        slurm_conf=options.get("slurm_conf"),
        ca_file=config.ca_file,
        ports=_ports(options.get("ports", "20000-31999")),
        makers={kind: _maker(name) for kind, name in _pairs(options, "makers").items()},
        cpus_per_device=_number(options, "cpus_per_device"),
        memory_per_device=_number(options, "memory_mb_per_device"),
        time_limit=None if limit is None else timedelta(minutes=limit),
        notice=timedelta(seconds=_number(options, "notice_s") or 120),
        pending=timedelta(seconds=_number(options, "pending_s") or 120),
        report=config.report,
    )


def _folder(text: str) -> Path:
    """Blanks and the like are refused: Slurm expands `%` in file names, and the path goes through two shells."""
    if not re.fullmatch(r"/[A-Za-z0-9._/+-]*", text):
        raise PlatformError("invalid-field", field="share", value=text, rule="/letters/digits/._+-")
    return Path(text)


def _word(options: Mapping[str, str], name: str, *known: str) -> str:
    """One of the known words; the first where nothing is said."""
    value = options.get(name, known[0])
    if value not in known:
        raise PlatformError("invalid-field", field=name, value=value, rule=" | ".join(known))
    return value


def _number(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise PlatformError("invalid-field", field=name, value=text, rule="rule-integer")
    return int(text)


def _pairs(options: Mapping[str, str], name: str) -> dict[str, str]:
    pairs = [entry.strip().partition("=") for entry in options.get(name, "").split(",") if entry.strip()]
    if wrong := [key for key, _, value in pairs if not key or not value]:
        raise PlatformError("invalid-field", field=name, value=wrong[0], rule="key=value,key=value")
    return {key: value for key, _, value in pairs}


def _maker(name: str) -> Maker:
    if name not in set(Maker):
        raise PlatformError("invalid-field", field="makers", value=name, rule=" | ".join(Maker))
    return Maker(name)


def _ports(text: str) -> range:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and 1024 <= int(first) < int(last) < 65536):
        raise PlatformError("invalid-field", field="ports", value=text, rule="first-last")
    return range(int(first), int(last) + 1)
