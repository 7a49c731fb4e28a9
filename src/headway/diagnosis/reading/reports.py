"""Reports of many lines whose head says whom they are about: gives the rest of the report the head's node, pod, rank.

Never beyond the report's own file, and never against what a line itself says.
"""

import re
from collections.abc import Sequence

from headway.diagnosis.reading.entry import Entry

_REPORT = re.compile(r"(?P<node>[\w.-]{1,80}-\d{1,6}) restart \d{1,4} fails?: \{$")
_OF_RANK = re.compile(r'\s{0,8}"(?P<rank>\d{1,6})": \{$')


def _failures(entries: Sequence[Entry]) -> None:
    """A master's report on a worker spreads a JSON object over lines: its head names the node, a key the rank."""
    node: str | None = None
    rank: int | None = None
    for entry in entries:
        if found := _REPORT.search(entry.text):
            node, rank = found["node"], None
        elif node is not None and (found := _OF_RANK.match(entry.text)):
            rank = int(found["rank"])
        elif entry.text.startswith("}") or entry.at is not None:
            node = rank = None
        if node is not None:
            entry.node, entry.rank = entry.node or node, entry.rank if entry.rank is not None else rank


_POD = re.compile(r"Name: {2,20}(?P<pod>[a-z0-9][\w.-]{0,120})$")
_ON = re.compile(r"Node: {2,20}(?P<node>[\w.-]{1,80})(?:/[\w.:]{1,64})?$")


def spread(entries: Sequence[Entry]) -> None:
    """Give the lines of every report what its head says."""
    _failures(entries)
    _descriptions(entries)


def _descriptions(entries: Sequence[Entry]) -> None:
    """What `kubectl describe` says of a pod: its name, its node, then its containers and events."""
    pod: str | None = None
    node: str | None = None
    file = -1
    for entry in entries:
        if entry.file != file:
            pod, node, file = None, None, entry.file
        if found := _POD.match(entry.text):
            pod, node = found["pod"], None
        elif pod is not None and (found := _ON.match(entry.text)):
            node = found["node"]
        entry.pod, entry.node = entry.pod or pod, entry.node or node
