"""The engine's order: `order.json` as frozen values, or a sentence that names the key, the value and what was expected.

Decides nothing about how the order is carried out. Unknown keys are ignored: an older agent reads a newer order.
"""

from __future__ import annotations

import os

from headway.agent import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NUMBER = (int, float)
_NONE = type(None)
_REQUIRED = object()

# key, accepted types, what stands in for a missing key
_FIELDS: tuple[tuple[str, tuple[type, ...], Any], ...] = (
    ("attempt", (str,), _REQUIRED),
    ("job", (str,), _REQUIRED),
    ("number", (int,), _REQUIRED),
    ("node", (str,), _REQUIRED),
    ("node_rank", (int,), 0),
    ("node_count", (int,), 1),
    ("server", (str,), _REQUIRED),
    ("ca_file", (str, _NONE), None),
    ("launcher", (str,), "ranks"),
    ("command", (list,), _REQUIRED),
    ("workdir", (str, _NONE), None),
    ("env", (dict,), {}),
    ("ranks", (list,), _REQUIRED),
    ("world_size", (int,), _REQUIRED),
    ("master_addr", (str,), "127.0.0.1"),
    ("master_port", (int,), 29400),
    ("visible_devices", (dict,), {}),
    ("device_maker", (str,), "cpu"),
    ("devices", (list,), []),
    ("user", (dict, _NONE), None),
    ("cgroup", (str, list, _NONE), None),
    ("grace_s", _NUMBER, 30.0),
    ("log_limits", (dict,), {}),
    ("readings_s", _NUMBER, 2.0),
    ("report_s", _NUMBER, 1.0),
    ("checkpoint_dir", (str, _NONE), None),
    ("resume_from", (str, _NONE), None),
    ("port", (int, _NONE), None),
)


class OrderError(Exception):
    """The order cannot be read; the text says which key, what it holds and what was expected."""


class _Frozen:
    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an order is frozen: {name}")


class Rank(_Frozen):
    """One process to start: its rank, its place on the node, and the devices it may use."""

    rank: int
    local_rank: int
    devices: tuple[int, ...]

    def __init__(self, entry: dict[str, Any]) -> None:
        self.__dict__["rank"] = _value(entry, "rank", (int,), _REQUIRED)
        self.__dict__["local_rank"] = _value(entry, "local_rank", (int,), _REQUIRED)
        self.__dict__["devices"] = tuple(_value(entry, "devices", (list,), []))


class User(_Frozen):
    """The Unix user the ranks run as."""

    uid: int
    gid: int
    groups: tuple[int, ...]
    name: str
    home: str

    def __init__(self, entry: dict[str, Any]) -> None:
        self.__dict__["uid"] = _value(entry, "uid", (int,), _REQUIRED)
        self.__dict__["gid"] = _value(entry, "gid", (int,), _REQUIRED)
        self.__dict__["groups"] = tuple(_value(entry, "groups", (list,), []))
        self.__dict__["name"] = _value(entry, "name", (str,), str(entry.get("uid")))
        self.__dict__["home"] = _value(entry, "home", (str,), "/")


class LogLimits(_Frozen):
    """What one rank may print: a rate with a burst, and a ceiling for its whole life, in bytes."""

    bytes_per_s: int
    burst_bytes: int
    max_bytes: int

    def __init__(self, entry: dict[str, Any]) -> None:
        for key, default in (("bytes_per_s", 1 << 20), ("burst_bytes", 8 << 20), ("max_bytes", 1 << 30)):
            value = _value(entry, key, (int,), default)
            if value <= 0:
                raise OrderError(f"log_limits.{key} is {value}: expected more than 0")
            self.__dict__[key] = value


class Order(_Frozen):
    """What to run on this node, as whom, on which devices, within which limits; times in seconds."""

    attempt: str
    job: str
    number: int
    node: str
    node_rank: int
    node_count: int
    server: str
    ca_file: str | None
    launcher: str
    command: tuple[str, ...]
    workdir: str | None
    env: dict[str, str]
    ranks: tuple[Rank, ...]
    world_size: int
    master_addr: str
    master_port: int
    visible_devices: dict[str, str]
    device_maker: str
    devices: tuple[int, ...]
    user: User | None
    cgroup: tuple[str, ...]
    grace_s: float
    log_limits: LogLimits
    readings_s: float
    report_s: float
    checkpoint_dir: str | None
    resume_from: str | None
    port: int | None

    def __init__(self, entry: dict[str, Any]) -> None:
        own = self.__dict__
        for key, kinds, default in _FIELDS:
            own[key] = _value(entry, key, kinds, default)
        own["command"] = tuple(str(word) for word in own["command"])
        own["devices"] = tuple(own["devices"])
        own["ranks"] = tuple(Rank(rank) for rank in own["ranks"])
        own["user"] = User(own["user"]) if own["user"] else None
        own["log_limits"] = LogLimits(own["log_limits"])
        cgroup = own["cgroup"] or []
        own["cgroup"] = (cgroup,) if isinstance(cgroup, str) else tuple(cgroup)
        own["env"] = {str(key): str(value) for key, value in own["env"].items()}
        _check(self)


def read_order(directory: str) -> Order:
    """The order in a node directory. Raises OrderError."""
    path = os.path.join(directory, "order.json")
    try:
        entry = files.read_json(path)
    except (OSError, ValueError) as error:
        raise OrderError(f"{path} cannot be read: {error}") from error
    if entry is None:
        raise OrderError(f"{path} is not there: the engine writes it before it starts the agent")
    if not isinstance(entry, dict):
        raise OrderError(f"{path} holds a {type(entry).__name__}: expected an object")
    return Order(entry)


def _value(entry: dict[str, Any], key: str, kinds: tuple[type, ...], default: Any) -> Any:
    value = entry.get(key, default)
    if value is _REQUIRED:
        raise OrderError(f"{key} is missing")
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        expected = " or ".join("null" if kind is _NONE else kind.__name__ for kind in kinds)
        raise OrderError(f"{key} is {value!r}: expected {expected}")
    return value


def _check(order: Order) -> None:
    """Refuse what has the right types and still cannot be carried out."""
    if not order.command:
        raise OrderError("command is []: expected a program and its arguments")
    if not order.ranks:
        raise OrderError("ranks is []: expected at least one rank")
    if order.launcher not in ("ranks", "torchrun"):
        raise OrderError(f"launcher is {order.launcher!r}: expected 'ranks' or 'torchrun'")
    if not order.server.startswith(("http://", "https://")):
        raise OrderError(f"server is {order.server!r}: expected http://... or https://...")
    for key, name in (("attempt", order.attempt), ("node", order.node)):
        if not name or set(name) & set("/?#% \r\n"):
            raise OrderError(f"{key} is {name!r}: expected a name without blanks, '/', '?', '#' and '%'")
    for key, seconds in (("report_s", order.report_s), ("readings_s", order.readings_s)):
        if seconds <= 0:
            raise OrderError(f"{key} is {seconds}: expected more than 0 seconds")
