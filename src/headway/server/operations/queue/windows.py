"""Maintenance windows and advance reservations: set and cancelled by operators."""

from sqlalchemy import Connection

from headway.domain.errors import PlatformError
from headway.domain.ids import check_name
from headway.domain.queue_events import WindowCancelled, WindowSet
from headway.scheduler.snapshot import Window
from headway.server.operations.people.directory import Change, require_project
from headway.server.secrets import make_id
from headway.store import facts, nodes, windows
from headway.store.windows import KeptWindow


def set_window(c: Connection, change: Change, window: Window, reason: str) -> KeptWindow:
    """Keep a window. Raises `window-period`, and `not-found` for a node, device type or project that is not there."""
    check_name("name", window.name)
    if window.ends <= max(window.begins, change.at):
        ends, begins = window.ends.isoformat(timespec="seconds"), window.begins.isoformat(timespec="seconds")
        raise PlatformError("window-period", begins=begins, ends=ends)
    if window.project is not None:
        require_project(c, window.project)
    _check_scope(c, window)
    kept = KeptWindow(make_id("w"), window, reason, change.by, change.at)
    windows.insert(c, kept)
    said = WindowSet(
        at=change.at,
        by=change.by,
        window=kept.id,
        name=window.name,
        begins=window.begins,
        ends=window.ends,
        project=window.project,
    )
    facts.append(c, said)
    return kept


def cancel(c: Connection, change: Change, id: str) -> None:
    """Let a window be over. Repeating it changes nothing. Raises `not-found`."""
    kept = windows.get(c, id)
    if kept is None:
        known = ", ".join(window.id for window in windows.ahead(c, change.at))
        raise PlatformError("not-found", what="window", value=id, near=known)
    if kept.cancelled_at is None:
        windows.cancel(c, id, change.at)
        facts.append(c, WindowCancelled(at=change.at, by=change.by, window=id))


def _check_scope(c: Connection, window: Window) -> None:
    known = nodes.all(c)
    names, types = {node.name for node in known}, {node.device_type for node in known}
    for name in sorted(window.nodes - names):
        raise PlatformError("not-found", what="node", value=name, near=", ".join(sorted(names)))
    if window.device_type is not None and window.device_type not in types:
        near = ", ".join(sorted(types))
        raise PlatformError("not-found", what="device type", value=window.device_type, near=near)
