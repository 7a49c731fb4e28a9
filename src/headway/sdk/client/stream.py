"""Server-sent events from lines: what the API streams, as values. Reads no network."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `id` is where the stream goes on after it, `data` its JSON."""

    kind: str
    id: str | None
    data: Any


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Events from the lines of a stream; comments (keep-alives) and half an event at its end are passed over."""
    kind, place, parts = "message", None, list[str]()
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if parts:
                yield Event(kind, place, json.loads("\n".join(parts)))
            kind, parts = "message", []
        elif name == "event":
            kind = value
        elif name == "id":
            place = value
        elif name == "data":
            parts.append(value)
