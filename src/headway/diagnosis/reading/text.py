"""From the bytes of a line to its text: encoding, colours, NULs, and wrappers that are data (JSON). Never raises."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_COLOURS = re.compile(r"\x1b(?:\[[0-9;:?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-_])")
_INVISIBLE = dict.fromkeys([*range(9), *range(11, 32), 127, 0xFEFF, 0x200B])
_TEXT_KEYS = ("message", "msg", "log", "line", "text", "MESSAGE", "content", "body", "@message", "err_msg", "event")
_TIME_KEYS = ("time", "timestamp", "ts", "@timestamp", "lastTimestamp", "eventTime", "asctime", "datetime", "date", "t")
_NODE_KEYS = ("node", "node_name", "nodeName", "host", "hostname", "_HOSTNAME", "source_host", "instance")
_POD_KEYS = ("pod", "pod_name", "podName", "kubernetes.pod_name", "container_name")
_RANK_KEYS = ("rank", "RANK", "global_rank", "rank_id", "replica_rank")
_ROLE_KEYS = ("role", "component", "replica_type")
_DEEPEST = 6
_LONGEST_JSON = 1 << 16


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """One line of text out of a wrapper, with what the wrapper's fields say."""

    text: str
    time: str | None = None
    node: str | None = None
    pod: str | None = None
    rank: int | None = None
    role: str | None = None


def decode(data: bytes) -> str:
    """UTF-8, else GB18030, else UTF-8 with what cannot be read replaced."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode(errors="replace")


def clean(text: str) -> str:
    """The same without colours and invisible characters."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return text if text.isprintable() else text.translate(_INVISIBLE)


def unwrap(text: str) -> Iterator[Unwrapped]:
    """The lines in a line: itself, or those a JSON object carries."""
    bare = text.strip()
    if bare.startswith("{") and bare.endswith("}") and len(bare) <= _LONGEST_JSON:
        try:
            value = json.loads(bare)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield from _from_object(value)
            return
    if '"message": "' in text and "\\n" in text:
        for part in text.split("\\n"):
            yield Unwrapped(part.replace('\\"', '"'))
        return
    yield Unwrapped(text)


def _from_object(value: Mapping[str, Any]) -> Iterator[Unwrapped]:
    fields = {
        "time": _first(value, _TIME_KEYS) or _time_within(value),
        "node": _first(value, _NODE_KEYS)
        or _within(value, "kubernetes", _NODE_KEYS)
        or _within(value, "source", ("host",)),
        "pod": _pod(value),
        "role": _first(value, _ROLE_KEYS),
    }
    rank = _first(value, _RANK_KEYS)
    number = int(rank) if rank and rank.isdigit() else None
    lines = [line for part in _texts(value, 0) for line in part.splitlines() if line.strip()]
    reason = value.get("reason")
    if isinstance(reason, str) and lines and reason not in lines[0]:
        lines[0] = f"{reason}: {lines[0]}"
    for line in lines:
        yield Unwrapped(line, rank=number, **fields)


def _texts(value: Mapping[str, Any], depth: int) -> Iterator[str]:
    """What an object says, in the order of its fields: messages, then call stacks below them."""
    for key, inner in value.items():
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _texts(inner, depth + 1)
        elif isinstance(inner, list) and depth < _DEEPEST:
            for each in inner:
                if isinstance(each, dict):
                    yield from _texts(each, depth + 1)
        elif isinstance(inner, str) and (
            key in _TEXT_KEYS or key in ("py_callstack", "traceback", "exc_info", "stack")
        ):
            yield inner


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    found = (value.get(key) for key in keys)
    return next(
        (str(each) for each in found if isinstance(each, (str, int, float)) and not isinstance(each, bool)), None
    )


def _within(value: Mapping[str, Any], key: str, keys: tuple[str, ...]) -> str | None:
    inner = value.get(key)
    return _first(inner, keys) if isinstance(inner, dict) else None


def _time_within(value: Mapping[str, Any]) -> str | None:
    inner: Any = value
    for key in ("message", "extraInfo"):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return _first(inner, _TIME_KEYS) if isinstance(inner, dict) else None


def _pod(value: Mapping[str, Any]) -> str | None:
    about = value.get("involvedObject") or value.get("regarding")
    if isinstance(about, dict):
        return str(about.get("name")) if about.get("name") else None
    if isinstance(about, str):
        return about.rpartition("/")[2]
    return _first(value, _POD_KEYS) or _within(value, "kubernetes", ("pod_name", "podName"))
